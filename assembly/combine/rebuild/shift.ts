// All members of a bitmap moved by a distance. If that is a multiple of 65,536, containers keep what they hold
// and get other keys. Otherwise a new container consists of the upper part of one container and the lower part
// of the next one. In this file, `low` and `high` are these two, and `by` is how far members move within their
// containers: members of `low` from 65,536 - by on move into the container above. If the bitmap has segments,
// the two may be in different ones, so operand `source` shows that of `low`, and operand 0 that of `high`.

import { SELF, Side, left, right, segments, work } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { Directory, Place } from "../../arena/read/directory";
import { appendFull, finish } from "../../arena/builder/builder";
import { begin } from "../../arena/builder/state";
import { mostEntries } from "../estimate";
import { emit, emitAs, emitCopy } from "../shape/emit";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { bitsetToRuns, countRunsOfBitset, toBitset } from "../../container/convert";
import { Bitset } from "../../container/bitset";
import { Choice, Kind } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Runs } from "../../container/run";
import { ShortBitset, spanOfBitset } from "../../container/short";

/** Units of work for a container that is joined from two. */
// @ts-ignore: decorator
@inline const JOIN_WORK: u32 = 4;

/**
 * Makes memory 0, which is fresh, the bitmap of operand 0 with all members moved up by 65,536 * keys + by,
 * where `keys` may be negative. No member may leave the range of offsets.
 */
export function shift(keys: i64, by: u32): void {
  right.select(0);
  begin(mostEntries(3 * <u64>Directory.entriesHeld<Right>() + 1), 0);
  if (by) shiftContainers(<u64>keys, by); else moveKeys(<u64>keys);
  finish();
}

function moveKeys(keys: u64): void {
  for (let place = Directory.seek<Right>(0); place; place = Place.next<Right>(place)) {
    const entry = Place.entry(place), key = entry.key<Right>() + keys;
    work.spend(1);
    if (entry.kind<Right>() == Kind.FULL) appendFull(key, entry.span<Right>());
    else emitCopy(key, entry);
  }
}

function shiftContainers(keys: u64, by: u32): void {
  let low = Shape.NOTHING, next: u64 = 0;             // `next`: the key after that of `low`
  const source = segments.view(0);
  for (let place = Directory.seek<Right>(0); place; place = Place.next<Right>(place)) {
    const entry = Place.entry(place), key = entry.key<Right>(), last = entry.lastKey<Right>();
    const high = Shape.ofEntry<Right>(entry);
    if (low && next < key) {
      emitJoined(next + keys, source, low, Shape.NOTHING, by);
      low = Shape.NOTHING;
    }
    emitJoined(key + keys, source, low, high, by);
    if (last > key) appendFull(key + keys + 1, last - key);
    low = high;
    next = last + 1;
    const segment = segments.at(Side.RIGHT);
    right.select(source);
    segments.show(Side.RIGHT, segment);
    right.select(0);
  }
  if (low) emitJoined(next + keys, source, low, Shape.NOTHING, by);
}

/**
 * Appends what comes from two neighboring containers, if there is any. `right` shows operand 0, here and below.
 */
function emitJoined(key: u64, source: u32, low: u64, high: u64, by: u32): void {
  work.spend(JOIN_WORK);
  Places.make(Scratch.SPARE);
  const hasRuns = isRuns(low) || isRuns(high);
  if (!hasRuns && isArray(low) && isArray(high) && Shape.count(low) + Shape.count(high) <= ARRAY_MAX) {
    emit(key, joinArrays(source, low, high, by));
  } else if ((!low || isRuns(low)) && (!high || isRuns(high))
    && runsOf(source, low) + runsOf(0, high) <= Places.RUNS_MAX) {
    emit(key, joinRuns(source, low, high, by));
  } else {
    emitBitset(key, joinBitsets(source, low, high, by), hasRuns);
  }
  right.select(0);
}

/** The most members of an array that is joined: it fits a place of scratch room. */
// @ts-ignore: decorator
@inline const ARRAY_MAX: u32 = <u32>BITSET_BYTES / 2;

// @ts-ignore: decorator
@inline function isArray(s: u64): bool { return !s || Shape.kind(s) == Kind.ARRAY; }
// @ts-ignore: decorator
@inline function isRuns(s: u64): bool {
  return s != 0 && (Shape.kind(s) == Kind.RUNS || Shape.kind(s) == Kind.FULL);
}

/** Runs of a shape of runs of operand `source`, 0 without a shape; a full container is one run. */
function runsOf(source: u32, s: u64): u32 {
  if (!s || Shape.kind(s) == Kind.FULL) return u32(s != 0);
  right.select(source);
  const runs = right.load16(Shape.at(s), 0);
  right.select(0);
  return runs;
}

/** The array of what comes from two arrays, in Scratch.FIRST. */
function joinArrays(source: u32, low: u64, high: u64, by: u32): u64 {
  const start = Places.at(Scratch.FIRST), cut = Container.UNIVERSE - by;
  let out = start;
  const lowEnd = Shape.at(low) + Container.arrayBytes(Shape.count(low));
  right.select(source);
  for (let at = Shape.at(low); at < lowEnd; at += Container.MEMBER_BYTES) {
    const member = right.load16(at, 0);
    store<u16>(out, member - cut);                     // kept only if it moves up: without a branch
    out += usize(member >= cut) << 1;
  }
  right.select(0);
  const highEnd = Shape.at(high) + Container.arrayBytes(Shape.count(high));
  for (let at = Shape.at(high); at < highEnd; at += Container.MEMBER_BYTES) {
    const member = right.load16(at, 0);
    if (member >= cut) break;
    store<u16>(out, member + by);
    out += Container.MEMBER_BYTES;
  }
  return Shape.array(Container.memberCount(start, out), start);
}

/** The runs of what comes from two containers of runs, in Scratch.FIRST. */
function joinRuns(source: u32, low: u64, high: u64, by: u32): u64 {
  const start = Places.at(Scratch.FIRST), cut = Container.UNIVERSE - by;
  let out = start + Container.RUNS_HEADER_BYTES, members: u32 = 0;
  const lowRuns = runsOf(source, low);
  right.select(source);
  for (let i: u32 = 0; i < lowRuns; i++) {
    const from = max(startOf(low, i), cut), to = endOf(low, i);
    if (to < cut) continue;
    out = Runs.put(out, from - cut, to - cut);
    members += to - from + 1;
  }
  right.select(0);
  for (let i: u32 = 0, runs = runsOf(0, high); i < runs; i++) {
    const from = startOf(high, i), to = min(endOf(high, i), cut - 1);
    if (from >= cut) break;
    out = Runs.put(out, from + by, to + by);
    members += to - from + 1;
  }
  if (!members) return Shape.NOTHING;
  Runs.close(start, out);
  Runs.join(start);                                    // where the two containers meet
  return Shape.of(Kind.RUNS, members, start);
}

/** The first value of run `i` of a shape of runs. */
// @ts-ignore: decorator
@inline function startOf(s: u64, i: u32): u32 {
  return Shape.kind(s) == Kind.FULL ? 0 : right.load16(Shape.at(s) + (<usize>i << 2), 2);
}

/** The last one. */
// @ts-ignore: decorator
@inline function endOf(s: u64, i: u32): u32 {
  return Shape.kind(s) == Kind.FULL ? Container.LOW_MAX
    : startOf(s, i) + right.load16(Shape.at(s) + (<usize>i << 2), 4);
}

/**
 * The bitset of what comes from two containers of any kind, in Scratch.FIRST: 65,536 of the bits of both, which
 * are written side by side.
 */
function joinBitsets(source: u32, low: u64, high: u64, by: u32): u64 {
  const both = Places.at(Scratch.SECOND), to = Places.at(Scratch.FIRST), cut = Container.UNIVERSE - by;
  expand(source, low, both);
  expand(0, high, both + BITSET_BYTES);
  const bits = <i32>(cut & 63);
  let from = both + (<usize>(cut >> 6) << 3);
  if (!bits) memory.copy(to, from, BITSET_BYTES);
  else {
    for (let out = to; out < to + BITSET_BYTES; out += 16, from += 16) {
      v128.store(out, v128.or(i64x2.shr_u(v128.load(from), bits), i64x2.shl(v128.load(from, 8), 64 - bits)));
    }
  }
  left.select(SELF);
  return Shape.bitset(Bitset.cardinality(to), to);
}

/** Writes the shape, of operand `source`, as a bitset. */
function expand(source: u32, s: u64, to: usize): void {
  if (!s) memory.fill(to, 0, BITSET_BYTES);
  else if (Shape.kind(s) == Kind.FULL) memory.fill(to, 0xff, BITSET_BYTES);
  else {
    left.select(source);
    toBitset(Shape.kind(s), Shape.at(s), Shape.count(s), to);
  }
}

/** Appends a bitset that is in Scratch.FIRST; as runs, which emit() does not look for, if that is better. */
function emitBitset(key: u64, s: u64, mayBeRuns: bool): void {
  const count = Shape.count(s), at = Shape.at(s);
  if (mayBeRuns && count && count < Container.UNIVERSE) {
    left.select(SELF);
    const runs = countRunsOfBitset(at), words = ShortBitset.wordsOf(spanOfBitset<Own>(at));
    if (runs <= Places.RUNS_MAX && Choice.prefersRuns(runs, count, words)) {
      bitsetToRuns(at, Places.at(Scratch.SECOND));
      emitAs(key, Shape.of(Kind.RUNS, count, Places.at(Scratch.SECOND)));
      return;
    }
  }
  emit(key, s);
}
