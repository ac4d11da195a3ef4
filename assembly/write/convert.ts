// Changes of a container's kind, and the one place that puts another container into an entry.
// The set stays the same in a conversion, which allocates before it changes anything.

import { Own } from "../env/view";
import { Allocator, Block } from "../arena/layout/blocks";
import { Header } from "../arena/layout/header";
import { Entry } from "../arena/layout/entry";
import { Shape } from "../combine/shape/shape";
import { Arrays } from "../container/array";
import { Buckets, arrayToBuckets } from "../container/buckets";
import { toArray, toBitset, toShort } from "../container/convert";
import { Choice, Kind } from "../container/kind";
import { BITSET_BYTES, Container } from "../container/limits";
import { Runs } from "../container/run";
import { ShortBitset, bitsetBecomesShort, spanOfBitset } from "../container/short";

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
 * Converts the container to another kind `to`, one with a payload other than runs.
 * Buckets that cannot hold the members are an array, and one or two members of an array live in the entry.
 */
export function convertTo(entry: Entry, to: Kind): void {
  switch (to) {
    case Kind.ARRAY: intoArray(entry); return;
    case Kind.BITSET: intoBitset(entry); return;
    case Kind.SHORT: intoShort(entry, Container.LOW_MAX, 0); return;
    case Kind.BUCKETS:
      Allocator.prepare(plainRoom(entry.count<Own>()));
      intoArray(entry);
      intoBuckets(entry);
      return;
    case Kind.RUNS:
    case Kind.FULL:
    case Kind.SINGLE:
    case Kind.PAIR:
    default: unreachable();
  }
}

/** Converts an array, buckets or runs to the kind that suits them, unless that is runs. */
export function convertToSuitable(entry: Entry): void {
  convertTo(entry, Choice.suitable(entry.count<Own>(), wordsWith(entry, Container.LOW_MAX, 0)));
}

// --- To an array or buckets --------------------------------------------------------------------------------

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

/** Turns an array of three members or more into buckets. False if buckets cannot hold it. */
export function intoBuckets(entry: Entry): bool {
  const count = entry.count<Own>(), payload = entry.payload<Own>();
  const at = Allocator.allocate(Container.bucketsBytes(count));
  if (!arrayToBuckets(payload, count, at, at)) {
    Allocator.release(at, Container.bucketsBytes(count));
    return false;
  }
  Allocator.release(payload, Container.arrayBytes(count));
  entry.setBlock(Kind.BUCKETS, count, at);
  return true;
}

/** Bytes that converting to an array or buckets of `count` members allocates at most. */
// @ts-ignore: decorator
@inline export function plainRoom(count: u32): usize {
  return Block.bytes(Container.arrayBytes(count))
    + (Choice.staysBuckets(count) ? Block.bytes(Container.bucketsBytes(count)) : 0);
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

/** The least member of an array, buckets or runs. */
// @ts-ignore: decorator
@inline function least(kind: Kind, payload: usize, count: u32): u32 {
  if (kind == Kind.RUNS) return Runs.start(payload, 0);
  return kind == Kind.BUCKETS ? Buckets.select(payload, count, 0) : Arrays.member(payload, 0);
}

/** The greatest member of an array, buckets or runs. */
// @ts-ignore: decorator
@inline function greatest(kind: Kind, payload: usize, count: u32): u32 {
  if (kind == Kind.RUNS) return Runs.last<Own>(payload);
  return kind == Kind.BUCKETS ? Buckets.last<Own>(payload, count) : Arrays.member(payload, count - 1);
}

/**
 * Words from the first to the last one that the entry's array,
 * buckets or runs have, or that has one of the values `low` and `high`.
 */
export function wordsWith(entry: Entry, low: u32, high: u32): u32 {
  const kind = entry.kind<Own>(), payload = entry.payload<Own>(), count = entry.count<Own>();
  return Choice.wordsBetween(min(low, least(kind, payload, count)),
    max(high, greatest(kind, payload, count)));
}

/**
 * Makes the entry's container a short bitset that has the words of its members and, unless it is a
 * bitset, those of the values from `low` to `high`.
 */
export function intoShort(entry: Entry, low: u32, high: u32): void {
  const kind = entry.kind<Own>(), payload = entry.payload<Own>(), count = entry.count<Own>();
  if (kind == Kind.BITSET) { bitsetIntoShort(entry); return; }
  low = min(low, least(kind, payload, count));
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
