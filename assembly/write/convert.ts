// Changes of a container's kind, and the one place that puts another container into an entry.
// The set stays the same in a conversion, which allocates before it changes anything.

import { Own } from "../env/view";
import { Allocator, Block } from "../arena/layout/blocks";
import { Header } from "../arena/layout/header";
import { Entry } from "../arena/layout/entry";
import { Places, Scratch } from "../combine/shape/scratch";
import { Shape } from "../combine/shape/shape";
import { Arrays } from "../container/array";
import { toArray, toBitset, toShort } from "../container/convert";
import { Choice, Kind } from "../container/kind";
import { BITSET_BYTES, Container } from "../container/limits";
import { Runs } from "../container/run";
import { ShortBitset, bitsetBecomesShort, spanOfBitset } from "../container/short";
import { Sparse, arrayToSparse, bitsetToSparse } from "../container/sparse";

/** Releases the container's block, if it has one. */
export function releaseContainer(entry: Entry): void {
  const bytes = entry.payloadBytes<Own>();
  if (bytes && !Header.isTiny<Own>()) Allocator.release(entry.payload<Own>(), bytes);
}

/**
 * Gives the entry the container `form`, a shape that is not empty, normalized and in scratch room,
 * in the block that the entry has or in another one. The caller adjusts the sums.
 */
export function replaceContainer(entry: Entry, form: u64): void {
  const kind = Shape.kind(form), count = Shape.count(form), at = Shape.at(form);
  if (kind == Kind.FULL) { releaseContainer(entry); entry.setFull(1); return; }
  if (kind == Kind.ARRAY && count <= 2) {
    const first = load<u16>(at), second = load<u16>(at, Container.MEMBER_BYTES);
    releaseContainer(entry);
    if (count == 1) entry.setSingle(first); else entry.setPair(first, second);
    return;
  }
  const bytes = Shape.bytes<Own>(form), oldBytes = entry.payloadBytes<Own>(), old = entry.payload<Own>();
  const fits = oldBytes && Block.bytes(oldBytes) == Block.bytes(bytes),
    to = fits ? old : Allocator.allocate(bytes);
  memory.copy(to, at, bytes);                 // a new block may begin where the shape does, or below
  entry.setBlock(kind, count, to);
  // Only now: free lists may begin where the scratch room is.
  if (oldBytes && !fits) Allocator.release(old, oldBytes);
}

/**
 * Converts the container to another kind `to`, one with a payload other than runs. A sparse bitset that would
 * be too large is a bitset, and one or two members of an array live in the entry.
 */
export function convertTo(entry: Entry, to: Kind): void {
  switch (to) {
    case Kind.ARRAY: intoArray(entry); return;
    case Kind.BITSET: intoBitset(entry); return;
    case Kind.SHORT: intoShort(entry, Container.LOW_MAX, 0); return;
    case Kind.SPARSE: intoSparse(entry); return;
    case Kind.RUNS:
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: unreachable();
  }
}

/** Converts runs to the kind that suits them, unless that is runs. */
export function convertToSuitable(entry: Entry): void {
  const count = entry.count<Own>(), words = wordsWith(entry, Container.LOW_MAX, 0);
  convertTo(entry, Choice.prefersShort(count, words) ? Kind.SHORT : Choice.listKind(count));
}

// --- To an array -------------------------------------------------------------------------------------------

function intoArray(entry: Entry): void {
  const kind = entry.kind<Own>(), count = entry.count<Own>(), payload = entry.payload<Own>();
  const bytes = entry.payloadBytes<Own>(), at = Allocator.allocate(Container.arrayBytes(count));
  toArray(kind, payload, count, at);
  Allocator.release(payload, bytes);
  if (count > 2) { entry.setBlock(Kind.ARRAY, count, at); return; }
  setInEntry(entry, count, at);
  Allocator.release(at, Container.arrayBytes(count));
}

/** Puts the one or two members of the array at `at` into the entry. */
// @ts-ignore: decorator
@inline function setInEntry(entry: Entry, count: u32, at: usize): void {
  if (count == 1) entry.setSingle(Arrays.member(at, 0));
  else entry.setPair(Arrays.member(at, 0), Arrays.member(at, 1));
}

// --- To a sparse bitset ------------------------------------------------------------------------------------

/** An array directly, other kinds by way of a bitset in scratch room, which they become if it is too large. */
function intoSparse(entry: Entry): void {
  const kind = entry.kind<Own>(), count = entry.count<Own>(), payload = entry.payload<Own>();
  if (kind == Kind.ARRAY && count < SCATTERED_FROM) {
    const counts = Sparse.measureArray(payload, count);
    const at = Allocator.allocate(Sparse.sizeOf(counts & 0xffff, counts >> 16));
    arrayToSparse(payload, count, counts, at);
    releaseContainer(entry);
    entry.setBlock(Kind.SPARSE, count, at);
    return;
  }
  Places.make(Scratch.SECOND);
  let bits = payload;
  if (kind != Kind.BITSET) toBitset(kind, payload, count, bits = Places.at(Scratch.FIRST));
  replaceByBits(entry, count, bits);
}

/** Arrays of as many members or more become a bitset first: they might be too large for a sparse bitset. */
// @ts-ignore: decorator
@inline const SCATTERED_FROM: u32 = 2048;

/**
 * Gives the entry the `count` members of the bitset at `bits`, which is the entry's payload or in
 * Scratch.FIRST, as a sparse bitset or, if that would be too large, as a bitset. Uses Scratch.SECOND.
 */
export function replaceByBits(entry: Entry, count: u32, bits: usize): void {
  const sparse = Places.at(Scratch.SECOND);
  if (bitsetToSparse(bits, sparse)) replaceContainer(entry, Shape.sparse(count, sparse));
  else if (bits != entry.payload<Own>()) replaceContainer(entry, Shape.bitset(count, bits));
}

/** Bytes that converting to an array or a sparse bitset of `count` members allocates and works in at most. */
// @ts-ignore: decorator
@inline export function plainRoom(count: u32): usize {
  return Block.bytes(Choice.plainMost(count)) + (Choice.staysSparse(count) ? Places.bytes(Scratch.SECOND) : 0);
}

// --- To a bitset -------------------------------------------------------------------------------------------

function intoBitset(entry: Entry): void {
  const kind = entry.kind<Own>(), count = entry.count<Own>(), payload = entry.payload<Own>();
  const at = Allocator.allocate(BITSET_BYTES);
  toBitset(kind, payload, count, at);
  releaseContainer(entry);
  entry.setBlock(Kind.BITSET, count, at);
}

// --- To a short bitset -------------------------------------------------------------------------------------

/** The least member of an array, a sparse bitset or runs. */
// @ts-ignore: decorator
@inline function least(kind: Kind, payload: usize): u32 {
  if (kind == Kind.RUNS) return Runs.start(payload, 0);
  return kind == Kind.SPARSE ? Sparse.first(payload) : Arrays.member(payload, 0);
}

/** The greatest member of an array, a sparse bitset or runs. */
// @ts-ignore: decorator
@inline function greatest(kind: Kind, payload: usize, count: u32): u32 {
  if (kind == Kind.RUNS) return Runs.last<Own>(payload);
  return kind == Kind.SPARSE ? Sparse.last<Own>(payload) : Arrays.member(payload, count - 1);
}

/**
 * Words from the first to the last one that the entry's array,
 * sparse bitset or runs have, or that has one of the values `low` and `high`.
 */
export function wordsWith(entry: Entry, low: u32, high: u32): u32 {
  const kind = entry.kind<Own>(), payload = entry.payload<Own>(), count = entry.count<Own>();
  return Choice.wordsBetween(min(low, least(kind, payload)),
    max(high, greatest(kind, payload, count)));
}

/**
 * Makes the entry's container a short bitset that has the words of its members and, unless it is a
 * bitset, those of the values from `low` to `high`.
 */
export function intoShort(entry: Entry, low: u32, high: u32): void {
  const kind = entry.kind<Own>(), payload = entry.payload<Own>(), count = entry.count<Own>();
  if (kind == Kind.BITSET) { bitsetIntoShort(entry); return; }
  low = min(low, least(kind, payload));
  high = max(high, greatest(kind, payload, count));
  const header = ShortBitset.headerOver(low, high);
  const at = Allocator.allocate(Container.shortBytes(ShortBitset.wordsOf(header)));
  toShort(kind, payload, count, header, at);
  releaseContainer(entry);
  entry.setBlock(Kind.SHORT, count, at);
}

/** Makes a bitset a short bitset of the words that have members, within its block. Needs no memory. */
function bitsetIntoShort(entry: Entry): void {
  const payload = entry.payload<Own>(), count = entry.count<Own>(), span = spanOfBitset<Own>(payload);
  bitsetBecomesShort(payload, span);
  Allocator.resize(payload, BITSET_BYTES, Container.shortBytes(ShortBitset.wordsOf(span)));
  entry.setBlock(Kind.SHORT, count, payload);
}
