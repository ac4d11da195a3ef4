// Copies of a bitmap, container by container,
// in an arena without freed blocks whose payloads lie in the order of their keys.

import { SELF, left, reply, right } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { Header, TINY_PAYLOAD } from "../../arena/layout/header";
import { Block } from "../../arena/layout/blocks";
import { Forms } from "../../arena/change/forms";
import { Entry, Offset } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { appendFull, closeIfFull, endLeaf, finish } from "../../arena/builder/builder";
import { begin, limitSegments } from "../../arena/builder/state";
import { appendLone, appendPage } from "../../arena/builder/waiting";
import { Node } from "../../arena/layout/node";
import { PageGroups } from "../../arena/packed/groups";
import { Group, Page } from "../../arena/packed/layout";
import { emit, emitArray, emitAs, emitCopy } from "../shape/emit";
import { Shape } from "../shape/shape";
import { Places, Scratch } from "../shape/scratch";
import { Choice, Kind } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import {
  arrayToRuns, bitsetToRuns, countRunsOfArray, countRunsOfBitset, toArray, toBitset,
} from "../../container/convert";
import { ShortBitset, bitsetToShort, spanOfBitset } from "../../container/short";
import { bitsetToSparse } from "../../container/sparse";

/**
 * Makes memory 0, which is fresh, the bitmap of operand 0 in the least space:
 * each container in its smallest form, leaves full.
 */
export function pack(): void {
  right.select(0);
  const entries = Directory.entriesExactly<Right>();
  begin(entries, 0);
  for (let place = Directory.seek<Right>(0); place; place = Place.next<Right>(place)) {
    const entry = Place.entry(place), key = entry.key<Right>();
    if (entry.kind<Right>() == Kind.FULL) appendFull(key, entry.span<Right>());
    else packContainer(key, entry, entries == 1);
  }
  finish();
}

/**
 * Appends the container in its smallest form. The form depends on the members only. `alone`:
 * it is the only container.
 */
function packContainer(key: u64, entry: Entry, alone: bool): void {
  const s = Shape.ofEntry<Right>(entry), at = Shape.at(s), kind = Shape.kind(s), count = Shape.count(s);
  Places.make(Scratch.SPARE);
  const first = Places.at(Scratch.FIRST);
  left.select(0);
  if (count >= Choice.SPARSE_FROM) packLarge(key, entry, s);
  else if (kind == Kind.ARRAY) packArray(key, entry, at, 0, alone);
  else {
    toArray(kind, at, count, first);
    packArray(key, entry, first, SELF, alone);
  }
}

/**
 * packContainer() for an array at `from` of operand `operand`: the entry's own in operand 0, or its members in
 * Scratch.FIRST of memory 0.
 */
function packArray(key: u64, entry: Entry, from: usize, operand: u32, alone: bool): void {
  const kind = entry.kind<Right>(), count = entry.count<Right>();
  const first = Places.at(Scratch.FIRST), second = Places.at(Scratch.SECOND);
  left.select(operand);
  const runs = countRunsOfArray(from, count);
  const words = Choice.wordsBetween(left.load16(from, 0),
    left.load16(from + Container.arrayBytes(count - 1), 0));
  if (Container.runsBytes(runs) < Choice.leastBytes(count, words)
    && !(alone && tinyIsSmaller(count, words, runs))) {
    arrayToRuns(from, count, second);
    emitAs(key, Shape.of(Kind.RUNS, count, second));
    return;
  }
  if (kind == Kind.ARRAY && !Choice.prefersShort(count, words)) { emitCopy(key, entry); return; }
  if (operand != SELF) left.copy(first, from, Container.arrayBytes(count));
  emit(key, Shape.of(Kind.ARRAY, count, first));
}

/** packContainer() for as many members as a sparse bitset has, or more. */
function packLarge(key: u64, entry: Entry, s: u64): void {
  const at = Shape.at(s), kind = Shape.kind(s), count = Shape.count(s);
  const first = Places.at(Scratch.FIRST), second = Places.at(Scratch.SECOND);
  // Bitsets of all forms have a bit for each member, and more.
  if (kind == Kind.RUNS && entry.payloadBytes<Right>() <= <usize>count >> 3) { emitCopy(key, entry); return; }
  toBitset(kind, at, count, first);
  left.select(SELF);
  const runs = Container.runsBytes(countRunsOfBitset(first)), span = spanOfBitset<Own>(first);
  const words = ShortBitset.wordsOf(span);
  const short = words <= Container.SHORT_MAX ? Container.shortBytes(words) : BITSET_BYTES;
  const sparse = bitsetToSparse(first, second), least = min(short, sparse ? sparse : BITSET_BYTES);
  if (runs < least) {
    if (kind == Kind.RUNS) { emitCopy(key, entry); return; }
    bitsetToRuns(first, second);
    emitAs(key, Shape.of(Kind.RUNS, count, second));
  } else if (sparse == least) {
    emitAs(key, Shape.sparse(count, second));
  } else if (short < BITSET_BYTES) {
    bitsetToShort(first, span, second);
    emitAs(key, Shape.of(Kind.SHORT, count, second));
  } else {
    emitAs(key, Shape.of(Kind.BITSET, count, first));
  }
}

/** Whether a tiny arena's short bitset is smaller than a full arena whose only container is `runs` runs. */
function tinyIsSmaller(count: u32, words: u32, runs: u32): bool {
  const full = Header.BYTES + Block.bytes(Node.bytes(0, 1)) + Block.bytes(Container.runsBytes(runs));
  return Choice.prefersShort(count, words) && words <= Forms.TINY_WORDS
    && TINY_PAYLOAD + (<usize>words << 3) < full;
}

/**
 * Appends a copy of the page that begins at `place`, or of its members, if its keys are at most `last` and that
 * is faster than group by group. Returns the place of its last group, otherwise 0.
 */
function copyPage(place: u64, last: u64): u64 {
  const group = Place.entry(place).group, end = <usize>(place >> 32);
  const page = changetype<Page>(Group.leaf<Right>(group));
  if (!page || Group.index(page, group)) return 0;
  const final = Directory.lastBefore<Right>(Place.entry(place), changetype<Group>(end));
  if (final.key<Right>() > last || !(appendPage(page) || appendLone(page))) return 0;
  closeIfFull();
  return Place.of(final, end);
}

/**
 * Appends copies of the groups from `place` to the end of its packed leaf whose keys are at most `last`, as
 * that of `place` is. Returns the place of the last one.
 */
function copyGroups(place: u64, last: u64): u64 {
  const group = Place.entry(place).group, leaf = changetype<Page>(Group.leaf<Right>(group));
  let from = Group.index(leaf, group), next = from;
  for (const count = leaf.count<Right>(); next < count && leaf.keyAt<Right>(next) <= last;) {
    from = next;
    next = PageGroups.end<Right>(leaf, from);
    emitArray(leaf.keyAt<Right>(from), leaf.lowsFrom<Right>(from), next - from);
  }
  return Place.of(changetype<Entry>(Group.at(leaf, from)), <usize>(place >> 32));
}

/** Bytes of a container in a payload, beside its members. */
// @ts-ignore: decorator
@inline const HEAD_BYTES: u64 = 16;

/**
 * Makes memory 0, which is fresh, a copy of part of operand 0: from container `key` on, as many entries as
 * take about `bytes` bytes in a payload that can name spans, and at least one. Adds the first key that is
 * left to the reply and returns 1, or returns 0 if none is left.
 */
export function slice(key: u64, bytes: u32): u32 {
  right.select(0);
  begin(min<u64>(Directory.entriesHeld<Right>(), bytes / HEAD_BYTES + 1), 0);
  let taken: u64 = 0, rest: u64 = Offset.KEY_MAX + 1;
  for (let place = key > Offset.KEY_MAX ? 0 : Directory.seek<Right>(key); place;
    place = Place.next<Right>(place)) {
    const entry = Place.entry(place), first = entry.key<Right>();
    if (taken >= bytes) { rest = first; break; }
    if (entry.kind<Right>() == Kind.FULL) {
      appendFull(first, entry.span<Right>());
    } else {
      emitCopy(first, entry);
    }
    const isArray = entry.isGroup();           // its members have no block
    taken += HEAD_BYTES + (isArray ? Container.arrayBytes(entry.count<Right>())
      : entry.payloadBytes<Right>());
  }
  finish();
  reply.member(rest);
  return u32(rest <= Offset.KEY_MAX);
}

/**
 * Makes memory 0, which is fresh, a copy of the bitmap of operand 0, with leaves that keep room. `most` is the
 * most bytes of a segment.
 */
export function rewrite(most: u32): void {
  right.select(0);
  begin(Directory.entriesHeld<Right>(), 0);
  limitSegments(most);
  copyKeys(0, Offset.KEY_MAX);
  finish();
}

/**
 * Appends copies of the containers [first, last] of operand 0, which `right` shows. Their leaves end where
 * the source's end and keep room: if they were packed full, the next insertion into each would split it, and
 * the arena would soon be as wasteful as before.
 */
export function copyKeys(first: u64, last: u64): void {
  for (let place = Directory.seek<Right>(first); place; place = Place.next<Right>(place)) {
    const entry = Place.entry(place), key = max(entry.key<Right>(), first);
    if (key > last) return;
    if (entry.isGroup()) {
      const end = copyPage(place, last);
      place = end ? end : copyGroups(place, last);
    } else if (entry.kind<Right>() != Kind.FULL) emitCopy(key, entry);
    else appendFull(key, min(entry.lastKey<Right>(), last) - key + 1);
    if (Place.isLastOfLeaf<Right>(place)) endLeaf();
  }
}
