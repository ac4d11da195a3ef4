// Runs payload:
//   +0 u16 run count   +2 u16 start, u16 length - 1   +6 next run ...
//
// Runs are ascending, with at least one absent value between two of them. Their block may be larger than
// runsBytes(run count). The payload is in memory 0 unless a comment says otherwise. Left `a` is the one at
// `a` of the operand that `left` shows, right `b` the one at `b` of the operand that `right` shows.

import { left, right } from "../env/memory";
import { Fault } from "../env/fault";
import { view16 } from "../env/view";
import { And, Or, Xor, AndNot, is } from "./kernel";
import { BITSET_BYTES, UNIVERSE, RUNS_HEADER_BYTES, RUN_BYTES, runsBytes } from "./limits";

// @ts-ignore: decorator
@inline export function runsCount(at: usize): u32 { return <u32>load<u16>(at); }
/** First member of run `i`. */
// @ts-ignore: decorator
@inline export function runStart(at: usize, i: u32): u32 { return <u32>load<u16>(at + (<usize>i << 2), 2); }
/** Members of run `i`, minus one. */
// @ts-ignore: decorator
@inline function runExtent(at: usize, i: u32): u32 { return <u32>load<u16>(at + (<usize>i << 2), 4); }
/** Last member of run `i`. */
// @ts-ignore: decorator
@inline export function runEnd(at: usize, i: u32): u32 { return runStart(at, i) + runExtent(at, i); }

/** Writes the run low .. high at `at` and returns the address behind it. */
// @ts-ignore: decorator
@inline export function putRun(at: usize, low: u32, high: u32): usize {
  store<u32>(at, low | ((high - low) << 16));
  return at + RUN_BYTES;
}

/** Makes run `i` low .. high. */
// @ts-ignore: decorator
@inline export function setRun(at: usize, i: u32, low: u32, high: u32): void {
  putRun(at + runsBytes(i), low, high);
}

/** Makes room for a run before run `i` and counts it. The payload's block has room for one run more. */
export function insertRunAt(at: usize, i: u32): void {
  const runs = runsCount(at);
  memory.copy(at + runsBytes(i + 1), at + runsBytes(i), <usize>(runs - i) << 2);
  store<u16>(at, runs + 1);
}

/** Removes run `i`. */
export function removeRunAt(at: usize, i: u32): void {
  const runs = runsCount(at);
  memory.copy(at + runsBytes(i), at + runsBytes(i + 1), <usize>(runs - i - 1) << 2);
  store<u16>(at, runs - 1);
}

/** Joins runs that touch, of which a payload normally has none. Returns how many runs are left. */
export function joinRuns(at: usize): u32 {
  let last: u32 = 0;
  for (let i: u32 = 1, runs = runsCount(at); i < runs; i++) {
    const touches = runEnd(at, last) + 1 == runStart(at, i), end = runEnd(at, i);
    if (touches) setRun(at, last, runStart(at, last), end); else setRun(at, ++last, runStart(at, i), end);
  }
  store<u16>(at, last + 1);
  return last + 1;
}

/** Writes the payload of a single run low .. high at `at`. */
// @ts-ignore: decorator
@inline export function writeRun(at: usize, low: u32, high: u32): void {
  store<u16>(at, 1);
  putRun(at + RUNS_HEADER_BYTES, low, high);
}

/** Writes and returns the run count of the payload at `at`, whose runs end before `end`. */
// @ts-ignore: decorator
@inline export function closeRuns(at: usize, end: usize): u32 {
  const runs = <u32>(end - at - RUNS_HEADER_BYTES) >> 2;
  store<u16>(at, runs);
  return runs;
}

/** Counts the members of left `at`. */
export function runsCardinality(at: usize): u32 {
  const runs = left.load16(at, 0), end = at + runsBytes(runs);
  let members = runs;
  for (at += RUNS_HEADER_BYTES; at < end; at += RUN_BYTES) members += left.load16(at, 2);
  return members;
}

/**
 * The fault of the runs at `at` of memory M, which should have `count` members; Fault.NONE if they are valid.
 * All runs must lie in the memory.
 */
export function checkRuns<M>(at: usize, count: u32): Fault {
  const runs = view16<M>(at, 0), end = at + runsBytes(runs);
  if (!runs) return Fault.NO_RUNS;
  let members: u32 = 0, next: u32 = 0;        // `next`: the first value behind the previous run
  for (let run = at + RUNS_HEADER_BYTES; run < end; run += RUN_BYTES) {
    const low = view16<M>(run, 0), high = low + view16<M>(run, 2);
    if (members && low <= next) return Fault.RUNS_NOT_ASCENDING;
    if (high >= UNIVERSE) return Fault.RUN_TOO_LONG;
    members += high - low + 1;
    next = high + 1;
  }
  return members == count ? Fault.NONE : Fault.RUNS_CARDINALITY;
}

/** The last member of the runs at `at` of memory M. */
export function runsLast<M>(at: usize): u32 {
  const last = at + runsBytes(view16<M>(at, 0)) - RUN_BYTES;
  return view16<M>(last, 0) + view16<M>(last, 2);
}

/** The index of the last run that does not start above `value`, or -1. */
export function runsFind(at: usize, value: u32): i32 {
  let base: u32 = 0, count = runsCount(at);
  while (count > 0) {
    const half = count >> 1, middle = base + half;
    const reached = runStart(at, middle) <= value;
    base = reached ? middle + 1 : base;
    count = reached ? count - half - 1 : half;
  }
  return <i32>base - 1;
}

export function runsHas(at: usize, value: u32): bool {
  const i = runsFind(at, value);
  return i >= 0 && value <= runEnd(at, i);
}

/** The least member from `from` on, or UNIVERSE. */
export function runsNextSet(at: usize, from: u32): u32 {
  const i = runsFind(at, from);
  if (i >= 0 && from <= runEnd(at, i)) return from;
  return <u32>(i + 1) < runsCount(at) ? runStart(at, i + 1) : UNIVERSE;
}

/** The least value from `from` on that is absent, or UNIVERSE. */
export function runsNextClear(at: usize, from: u32): u32 {
  const i = runsFind(at, from);
  return i >= 0 && from <= runEnd(at, i) ? runEnd(at, i) + 1 : from;
}

/** Counts the members in low .. high. */
export function runsRangeCardinality(at: usize, low: u32, high: u32): u32 {
  const first = max(runsFind(at, low), 0), last = runsFind(at, high);
  let members: u32 = 0;
  for (let i = first; i <= last; i++) {
    const from = max(runStart(at, i), low), to = min(runEnd(at, i), high);
    if (from <= to) members += to - from + 1;
  }
  return members;
}

/** The member with `rank` members below it. There must be more than `rank` members. */
export function runsSelect(at: usize, rank: u32): u32 {
  let i: u32 = 0;
  while (rank > runExtent(at, i)) { rank -= runExtent(at, i) + 1; i++; }
  return runStart(at, i) + rank;
}

/**
 * Intersects left `a` with right `b`; returns the number of runs. `out` needs runsBytes(runs of a + runs of
 * b + 1) and must not overlap either. The next three work the same way.
 */
export function intersectRuns(a: usize, b: usize, out: usize): u32 { return combineRuns<And>(a, b, out); }
export function unionRuns(a: usize, b: usize, out: usize): u32 { return combineRuns<Or>(a, b, out); }
export function differenceRuns(a: usize, b: usize, out: usize): u32 { return combineRuns<AndNot>(a, b, out); }
/** Symmetric difference. */
export function xorRuns(a: usize, b: usize, out: usize): u32 { return combineRuns<Xor>(a, b, out); }

// A run in a register is one word: the start in the low half, length - 1 in the high half.
// Its edge is the first value behind it, at most UNIVERSE.
// @ts-ignore: decorator
@inline function startOf(run: u32): u32 { return run & 0xffff; }
// @ts-ignore: decorator
@inline function edgeOf(run: u32): u32 { return (run & 0xffff) + (run >> 16) + 1; }
// @ts-ignore: decorator
@inline function runBytesIf(condition: u32): usize { return <usize>condition << 2; }

/**
 * Each step takes a run of each side, x and y, without what previous steps have dealt with,
 * and deals with all values below the first edge:
 *
 *      first      second     edge
 *        |   one    |  both   |
 *
 * From `first` on, values are in one of the two; from `second` on, in both. The later steps deal with the
 * rest of the run that goes on at `edge`.
 *
 * If x and y are disjoint, no value is in both, and the values in one of the two end at `edge`.
 *
 * Which run ends first is unpredictable, so none of this branches. The values that a step adds to the result
 * are a piece low .. high - 1. A piece that touches the one before it extends it. The last piece is written
 * in each step, but `out` moves on only if the next is apart.
 */
// @ts-ignore: decorator
@inline function combineRuns<O>(a: usize, b: usize, out: usize): u32 {
  const aEnd = a + runsBytes(left.load16(a, 0)), bEnd = b + runsBytes(right.load16(b, 0)), start = out;
  // Values below `done` are dealt with; `high` is 0 before the first piece.
  let done: u32 = 0, low: u32 = 0, high: u32 = 0;
  a += RUNS_HEADER_BYTES;
  b += RUNS_HEADER_BYTES;
  out += RUNS_HEADER_BYTES;
  while (a < aEnd && b < bEnd) {
    const x = left.load32(a, 0), y = right.load32(b, 0);
    const xLow = max(startOf(x), done), yLow = max(startOf(y), done);
    const xEdge = edgeOf(x), yEdge = edgeOf(y), second = max(xLow, yLow), edge = min(xEdge, yEdge);
    let from = min(xLow, yLow), to = min(second, edge);
    if (is<O, And>()) { from = second; to = edge; }
    if (is<O, Or>()) to = edge;
    if (is<O, AndNot>()) from = xLow;
    const isPiece = u32(from < to), apart = isPiece & u32(from != high);
    putRun(out, low, high - 1);
    out += runBytesIf(apart & u32(high != 0));
    low = select(from, low, apart);
    high = select(to, high, isPiece);
    done = edge;
    a += runBytesIf(u32(xEdge <= yEdge));
    b += runBytesIf(u32(yEdge <= xEdge));
  }
  // The runs that are left are on one side:
  // drop those that the operation does not keep, and append the others.
  if (is<O, And>()) a = aEnd;
  if (is<O, And>() || is<O, AndNot>()) b = bEnd;
  while (a < aEnd || b < bEnd) {
    const ofA = a < aEnd, run = ofA ? left.load32(a, 0) : right.load32(b, 0), from = max(startOf(run), done);
    if (from != high) {
      if (high) out = putRun(out, low, high - 1);
      low = from;
    }
    high = edgeOf(run);
    a += runBytesIf(u32(ofA));
    b += runBytesIf(u32(!ofA));
  }
  if (high) out = putRun(out, low, high - 1);
  return closeRuns(start, out);
}

// ---- Edges: a bitset of the first value of each run and the first value behind it. Behind the
// bitset come MARKS_BYTES of marks, a bit for each 64-bit word of the bitset that may not be 0, so
// that only those words are read.

// @ts-ignore: decorator
@inline const MARKS_BYTES: usize = BITSET_BYTES / 64;
/** Values that one word of marks covers, as a shift: 64 words of 64 bits. */
// @ts-ignore: decorator
@inline const MARKED_SHIFT: u32 = 12;

/** Clears the edges at `at`, which take BITSET_BYTES + MARKS_BYTES. */
export function clearEdges(at: usize): void { memory.fill(at, 0, BITSET_BYTES + MARKS_BYTES); }

/** Flips the edges of right `b`. */
export function flipEdges(to: usize, b: usize): void {
  const end = b + runsBytes(right.load16(b, 0));
  for (b += RUNS_HEADER_BYTES; b < end; b += RUN_BYTES) {
    const run = right.load32(b, 0);
    flipEdge(to, startOf(run));
    if (edgeOf(run) < UNIVERSE) flipEdge(to, edgeOf(run));
  }
}

// @ts-ignore: decorator
@inline function flipEdge(to: usize, value: u32): void {
  const word = to + ((value >> 6) << 3), mark = to + ((value >> MARKED_SHIFT) << 3);
  store<u64>(word, load<u64>(word) ^ ((<u64>1) << (value & 63)));
  store<u64>(mark, load<u64>(mark, BITSET_BYTES) | ((<u64>1) << ((value >> 6) & 63)), BITSET_BYTES);
}

/**
 * Writes the runs that begin and end at the edges, alternately; returns their number.
 * `out` needs room for a run per two edges.
 */
export function edgesToRuns(edges: usize, out: usize): u32 {
  const start = out;
  let inside = false, low: u32 = 0;
  out += RUNS_HEADER_BYTES;
  for (let part: u32 = 0; part < UNIVERSE >> MARKED_SHIFT; part++) {
    let marks = load<u64>(edges + BITSET_BYTES + (<usize>part << 3));
    while (marks) {
      const word = (part << 6) + <u32>ctz<u64>(marks);
      let bits = load<u64>(edges + (<usize>word << 3));
      while (bits) {
        const at = (word << 6) + <u32>ctz<u64>(bits);
        if (inside) out = putRun(out, low, at - 1); else low = at;
        inside = !inside;
        bits &= bits - 1;
      }
      marks &= marks - 1;
    }
  }
  if (inside) out = putRun(out, low, UNIVERSE - 1);
  return closeRuns(start, out);
}

/**
 * Writes the gaps between the runs of left `a`; returns their number.
 * `out` needs room for one more run and must not overlap `a`.
 */
export function complementRuns(a: usize, out: usize): u32 {
  const end = a + runsBytes(left.load16(a, 0)), start = out;
  let low: u32 = 0;
  out += RUNS_HEADER_BYTES;
  for (a += RUNS_HEADER_BYTES; a < end; a += RUN_BYTES) {
    const first = left.load16(a, 0);
    if (first > low) out = putRun(out, low, first - 1);
    low = first + left.load16(a, 2) + 1;
  }
  if (low < UNIVERSE) out = putRun(out, low, UNIVERSE - 1);
  return closeRuns(start, out);
}

/** The members low .. low + 63 of the runs of memory 0 at `at` as bits; the least is the lowest bit. */
export function runsWord(at: usize, low: u32): u64 {
  const high = low + 63, runs = runsCount(at);
  let bits: u64 = 0;
  for (let i = <u32>max(runsFind(at, low), 0); i < runs && runStart(at, i) <= high; i++) {
    const from = max(runStart(at, i), low), to = min(runEnd(at, i), high);
    if (from <= to) bits |= (u64.MAX_VALUE >> (63 - (to - from))) << (from - low);
  }
  return bits;
}
