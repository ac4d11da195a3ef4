// Runs payload:
//   +0 u16 run count   +2 u16 start, u16 length - 1   +6 next run ...
//
// Runs are ascending, with at least one absent value between two of them. Their block may be larger than
// runsBytes(run count). The payload is in memory 0 unless a comment says otherwise. Left `a` is the one at
// `a` of the operand that `left` shows, right `b` the one at `b` of the operand that `right` shows.

import { left, right } from "../env/memory";
import { Fault } from "../env/fault";
import { Memory, view16 } from "../env/view";
import { And, AndNot, Kernel, Or, SetOperation, Xor } from "./kernel";
import { BITSET_BYTES, Container } from "./limits";

/** Kernels for runs. */
export abstract class Runs {
  // ---- Edges: a bitset of the first value of each run and the first value behind it. Behind the
  // bitset come MARKS_BYTES of marks, a bit for each 64-bit word of the bitset that may not be 0, so
  // that only those words are read.

  @inline private static readonly MARKS_BYTES: usize = BITSET_BYTES / 64;
  /** Values that one word of marks covers, as a shift: 64 words of 64 bits. */
  @inline private static readonly MARKED_SHIFT: u32 = 12;

  @inline static count(at: usize): u32 { return <u32>load<u16>(at); }
  /** First member of run `i`. */
  @inline static start(at: usize, i: u32): u32 { return <u32>load<u16>(at + (<usize>i << 2), 2); }
  /** Members of run `i`, minus one. */
  @inline private static extent(at: usize, i: u32): u32 { return <u32>load<u16>(at + (<usize>i << 2), 4); }
  /** Last member of run `i`. */
  @inline static end(at: usize, i: u32): u32 { return Runs.start(at, i) + Runs.extent(at, i); }

  /** Writes the run low .. high at `at` and returns the address behind it. */
  @inline static put(at: usize, low: u32, high: u32): usize {
    store<u32>(at, low | ((high - low) << 16));
    return at + Container.RUN_BYTES;
  }

  /** Makes run `i` low .. high. */
  @inline static set(at: usize, i: u32, low: u32, high: u32): void {
    Runs.put(at + Container.runsBytes(i), low, high);
  }

  /** Makes room for a run before run `i` and counts it. The payload's block has room for one run more. */
  static insert(at: usize, i: u32): void {
    const runs = Runs.count(at);
    memory.copy(at + Container.runsBytes(i + 1), at + Container.runsBytes(i), <usize>(runs - i) << 2);
    store<u16>(at, runs + 1);
  }

  /** Removes run `i`. */
  static remove(at: usize, i: u32): void {
    const runs = Runs.count(at);
    memory.copy(at + Container.runsBytes(i), at + Container.runsBytes(i + 1), <usize>(runs - i - 1) << 2);
    store<u16>(at, runs - 1);
  }

  /** Joins runs that touch, of which a payload normally has none. Returns how many runs are left. */
  static join(at: usize): u32 {
    let last: u32 = 0;
    for (let i: u32 = 1, runs = Runs.count(at); i < runs; i++) {
      const touches = Runs.end(at, last) + 1 == Runs.start(at, i), end = Runs.end(at, i);
      if (touches) Runs.set(at, last, Runs.start(at, last), end);
      else Runs.set(at, ++last, Runs.start(at, i), end);
    }
    store<u16>(at, last + 1);
    return last + 1;
  }

  /** Writes the payload of a single run low .. high at `at`. */
  @inline static write(at: usize, low: u32, high: u32): void {
    store<u16>(at, 1);
    Runs.put(at + Container.RUNS_HEADER_BYTES, low, high);
  }

  /** Writes and returns the run count of the payload at `at`, whose runs end before `end`. */
  @inline static close(at: usize, end: usize): u32 {
    const runs = <u32>(end - at - Container.RUNS_HEADER_BYTES) >> 2;
    store<u16>(at, runs);
    return runs;
  }

  /** Counts the members of left `at`. */
  static cardinality(at: usize): u32 {
    const runs = left.load16(at, 0), end = at + Container.runsBytes(runs);
    let members = runs;
    for (at += Container.RUNS_HEADER_BYTES; at < end;
      at += Container.RUN_BYTES) members += left.load16(at, 2);
    return members;
  }

  /**
   * The fault of the runs at `at` of memory M, which should have `count` members; Fault.NONE if they are valid.
   * All runs must lie in the memory.
   */
  static check<M extends Memory>(at: usize, count: u32): Fault {
    const runs = view16<M>(at, 0), end = at + Container.runsBytes(runs);
    if (!runs) return Fault.NO_RUNS;
    let members: u32 = 0, next: u32 = 0;        // `next`: the first value behind the previous run
    for (let run = at + Container.RUNS_HEADER_BYTES; run < end; run += Container.RUN_BYTES) {
      const low = view16<M>(run, 0), high = low + view16<M>(run, 2);
      if (members && low <= next) return Fault.RUNS_NOT_ASCENDING;
      if (high >= Container.UNIVERSE) return Fault.RUN_TOO_LONG;
      members += high - low + 1;
      next = high + 1;
    }
    return members == count ? Fault.NONE : Fault.RUNS_CARDINALITY;
  }

  /** The last member of the runs at `at` of memory M. */
  static last<M extends Memory>(at: usize): u32 {
    const last = at + Container.runsBytes(view16<M>(at, 0)) - Container.RUN_BYTES;
    return view16<M>(last, 0) + view16<M>(last, 2);
  }

  /** The index of the last run that does not start above `value`, or -1. */
  static find(at: usize, value: u32): i32 {
    let base: u32 = 0, count = Runs.count(at);
    while (count > 0) {
      const half = count >> 1, middle = base + half;
      const reached = Runs.start(at, middle) <= value;
      base = reached ? middle + 1 : base;
      count = reached ? count - half - 1 : half;
    }
    return <i32>base - 1;
  }

  static has(at: usize, value: u32): bool {
    const i = Runs.find(at, value);
    return i >= 0 && value <= Runs.end(at, i);
  }

  /** The least member from `from` on, or UNIVERSE. */
  static nextSet(at: usize, from: u32): u32 {
    const i = Runs.find(at, from);
    if (i >= 0 && from <= Runs.end(at, i)) return from;
    return <u32>(i + 1) < Runs.count(at) ? Runs.start(at, i + 1) : Container.UNIVERSE;
  }

  /** The least value from `from` on that is absent, or UNIVERSE. */
  static nextClear(at: usize, from: u32): u32 {
    const i = Runs.find(at, from);
    return i >= 0 && from <= Runs.end(at, i) ? Runs.end(at, i) + 1 : from;
  }

  /** Counts the members in low .. high. */
  static rangeCardinality(at: usize, low: u32, high: u32): u32 {
    const first = max(Runs.find(at, low), 0), last = Runs.find(at, high);
    let members: u32 = 0;
    for (let i = first; i <= last; i++) {
      const from = max(Runs.start(at, i), low), to = min(Runs.end(at, i), high);
      if (from <= to) members += to - from + 1;
    }
    return members;
  }

  /** The member with `rank` members below it. There must be more than `rank` members. */
  static select(at: usize, rank: u32): u32 {
    let i: u32 = 0;
    while (rank > Runs.extent(at, i)) { rank -= Runs.extent(at, i) + 1; i++; }
    return Runs.start(at, i) + rank;
  }

  // A run in a register is one word: the start in the low half, length - 1 in the high half.
  // Its edge is the first value behind it, at most UNIVERSE.
  @inline private static startOf(run: u32): u32 { return run & 0xffff; }
  @inline private static edgeOf(run: u32): u32 { return (run & 0xffff) + (run >> 16) + 1; }
  @inline private static bytesIf(condition: u32): usize { return <usize>condition << 2; }

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
  @inline static combine<O extends SetOperation>(a: usize, b: usize, out: usize): u32 {
    const aEnd = a + Container.runsBytes(left.load16(a, 0)),
      bEnd = b + Container.runsBytes(right.load16(b, 0)), start = out;
    // Values below `done` are dealt with; `high` is 0 before the first piece.
    let done: u32 = 0, low: u32 = 0, high: u32 = 0;
    a += Container.RUNS_HEADER_BYTES;
    b += Container.RUNS_HEADER_BYTES;
    out += Container.RUNS_HEADER_BYTES;
    while (a < aEnd && b < bEnd) {
      const x = left.load32(a, 0), y = right.load32(b, 0);
      const xLow = max(Runs.startOf(x), done), yLow = max(Runs.startOf(y), done);
      const xEdge = Runs.edgeOf(x), yEdge = Runs.edgeOf(y), second = max(xLow, yLow),
        edge = min(xEdge, yEdge);
      let from = min(xLow, yLow), to = min(second, edge);
      if (Kernel.is<O, And>()) { from = second; to = edge; }
      if (Kernel.is<O, Or>()) to = edge;
      if (Kernel.is<O, AndNot>()) from = xLow;
      const isPiece = u32(from < to), apart = isPiece & u32(from != high);
      Runs.put(out, low, high - 1);
      out += Runs.bytesIf(apart & u32(high != 0));
      low = select(from, low, apart);
      high = select(to, high, isPiece);
      done = edge;
      a += Runs.bytesIf(u32(xEdge <= yEdge));
      b += Runs.bytesIf(u32(yEdge <= xEdge));
    }
    // The runs that are left are on one side:
    // drop those that the operation does not keep, and append the others.
    if (Kernel.is<O, And>()) a = aEnd;
    if (Kernel.is<O, And>() || Kernel.is<O, AndNot>()) b = bEnd;
    while (a < aEnd || b < bEnd) {
      const ofA = a < aEnd, run = ofA ? left.load32(a, 0) : right.load32(b, 0),
        from = max(Runs.startOf(run), done);
      if (from != high) {
        if (high) out = Runs.put(out, low, high - 1);
        low = from;
      }
      high = Runs.edgeOf(run);
      a += Runs.bytesIf(u32(ofA));
      b += Runs.bytesIf(u32(!ofA));
    }
    if (high) out = Runs.put(out, low, high - 1);
    return Runs.close(start, out);
  }

  /** Clears the edges at `at`, which take BITSET_BYTES + MARKS_BYTES. */
  static clearEdges(at: usize): void { memory.fill(at, 0, BITSET_BYTES + Runs.MARKS_BYTES); }

  /** Flips the edges of right `b`. */
  static flipEdges(to: usize, b: usize): void {
    const end = b + Container.runsBytes(right.load16(b, 0));
    for (b += Container.RUNS_HEADER_BYTES; b < end; b += Container.RUN_BYTES) {
      const run = right.load32(b, 0);
      Runs.flipEdge(to, Runs.startOf(run));
      if (Runs.edgeOf(run) < Container.UNIVERSE) Runs.flipEdge(to, Runs.edgeOf(run));
    }
  }

  @inline private static flipEdge(to: usize, value: u32): void {
    const word = to + ((value >> 6) << 3), mark = to + ((value >> Runs.MARKED_SHIFT) << 3);
    store<u64>(word, load<u64>(word) ^ ((<u64>1) << (value & 63)));
    store<u64>(mark, load<u64>(mark, BITSET_BYTES) | ((<u64>1) << ((value >> 6) & 63)), BITSET_BYTES);
  }

  /**
   * Writes the runs that begin and end at the edges, alternately; returns their number.
   * `out` needs room for a run per two edges.
   */
  static edgesToRuns(edges: usize, out: usize): u32 {
    const start = out;
    let inside = false, low: u32 = 0;
    out += Container.RUNS_HEADER_BYTES;
    for (let part: u32 = 0; part < Container.UNIVERSE >> Runs.MARKED_SHIFT; part++) {
      let marks = load<u64>(edges + BITSET_BYTES + (<usize>part << 3));
      while (marks) {
        const word = (part << 6) + <u32>ctz<u64>(marks);
        let bits = load<u64>(edges + (<usize>word << 3));
        while (bits) {
          const at = (word << 6) + <u32>ctz<u64>(bits);
          if (inside) out = Runs.put(out, low, at - 1); else low = at;
          inside = !inside;
          bits &= bits - 1;
        }
        marks &= marks - 1;
      }
    }
    if (inside) out = Runs.put(out, low, Container.UNIVERSE - 1);
    return Runs.close(start, out);
  }

  /**
   * Writes the gaps between the runs of left `a`; returns their number.
   * `out` needs room for one more run and must not overlap `a`.
   */
  static complement(a: usize, out: usize): u32 {
    const end = a + Container.runsBytes(left.load16(a, 0)), start = out;
    let low: u32 = 0;
    out += Container.RUNS_HEADER_BYTES;
    for (a += Container.RUNS_HEADER_BYTES; a < end; a += Container.RUN_BYTES) {
      const first = left.load16(a, 0);
      if (first > low) out = Runs.put(out, low, first - 1);
      low = first + left.load16(a, 2) + 1;
    }
    if (low < Container.UNIVERSE) out = Runs.put(out, low, Container.UNIVERSE - 1);
    return Runs.close(start, out);
  }

  /** The members low .. low + 63 of the runs of memory 0 at `at` as bits; the least is the lowest bit. */
  static word(at: usize, low: u32): u64 {
    const high = low + 63, runs = Runs.count(at);
    let bits: u64 = 0;
    for (let i = <u32>max(Runs.find(at, low), 0); i < runs && Runs.start(at, i) <= high; i++) {
      const from = max(Runs.start(at, i), low), to = min(Runs.end(at, i), high);
      if (from <= to) bits |= (u64.MAX_VALUE >> (63 - (to - from))) << (from - low);
    }
    return bits;
  }
}

/**
 * Intersects left `a` with right `b`; returns the number of runs. `out` needs runsBytes(runs of a + runs of
 * b + 1) and must not overlap either. The next three work the same way.
 */
export function intersectRuns(a: usize, b: usize, out: usize): u32 { return Runs.combine<And>(a, b, out); }
export function unionRuns(a: usize, b: usize, out: usize): u32 { return Runs.combine<Or>(a, b, out); }
export function differenceRuns(a: usize, b: usize, out: usize): u32 {
  return Runs.combine<AndNot>(a, b, out);
}
/** Symmetric difference. */
export function xorRuns(a: usize, b: usize, out: usize): u32 { return Runs.combine<Xor>(a, b, out); }
