// The model for everything above the kernels:
// a set of 64-bit offsets as plain intervals, and random sets of many styles. Nothing here calls the core.

import { Random } from "../world/world";

export const KEY_MAX: u64 = 0xffffffffffff;
export const OFFSET_MAX: u64 = 0xffffffffffffffff;

// --- Sets --------------------------------------------------------------------------------------------------

/** A set of offsets: closed intervals, ascending, with at least one absent offset between two. */
export class Model {
  private bounds: StaticArray<u64> = new StaticArray<u64>(16);
  intervals: i32 = 0;
  /** Whether all intervals were appended in ascending order. */
  ordered: bool = true;

  @inline low(i: i32): u64 { return unchecked(this.bounds[2 * i]); }
  @inline high(i: i32): u64 { return unchecked(this.bounds[2 * i + 1]); }

  @inline private put(i: i32, low: u64, high: u64): void {
    unchecked(this.bounds[2 * i] = low);
    unchecked(this.bounds[2 * i + 1] = high);
  }

  /** Makes room for `change` intervals at `i`, or removes -change intervals there. */
  private move(i: i32, change: i32): void {
    const size = 2 * (this.intervals + change);
    let to = this.bounds;
    if (size > to.length) {
      to = new StaticArray<u64>(2 * size);
      memory.copy(changetype<usize>(to), changetype<usize>(this.bounds), <usize>(2 * i) << 3);
    }
    const from = change < 0 ? i - change : i;
    memory.copy(
      changetype<usize>(to) + (<usize>(2 * (from + change)) << 3),
      changetype<usize>(this.bounds) + (<usize>(2 * from) << 3),
      <usize>(2 * (this.intervals - from)) << 3,
    );
    this.bounds = to;
    this.intervals += change;
  }

  /** Adds [low, high], which must lie above all members. */
  append(low: u64, high: u64): Model {
    const last = this.intervals - 1;
    if (low > high || (last >= 0 && low <= this.high(last))) { this.ordered = false; return this; }
    if (last >= 0 && this.high(last) + 1 == low) { this.put(last, this.low(last), high); return this; }
    this.move(last + 1, 1);
    this.put(last + 1, low, high);
    return this;
  }

  /** The last interval that starts at or below `offset`, -1 if there is none. */
  find(offset: u64): i32 {
    let from = 0, to = this.intervals;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.low(middle) <= offset) from = middle + 1; else to = middle;
    }
    return from - 1;
  }

  has(offset: u64): bool {
    const i = this.find(offset);
    return i >= 0 && offset <= this.high(i);
  }

  /** Adds a member; false if it already was one. */
  add(offset: u64): bool {
    const i = this.find(offset), next = i + 1;
    if (i >= 0 && offset <= this.high(i)) return false;
    const joinsLeft = i >= 0 && this.high(i) + 1 == offset;
    const joinsRight = next < this.intervals && this.low(next) - 1 == offset;
    if (joinsLeft && joinsRight) {
      this.put(i, this.low(i), this.high(next));
      this.move(next, -1);
    } else if (joinsLeft) this.put(i, this.low(i), offset);
    else if (joinsRight) this.put(next, offset, this.high(next));
    else { this.move(next, 1); this.put(next, offset, offset); }
    return true;
  }

  /** Removes a member; false if it was none. */
  remove(offset: u64): bool {
    const i = this.find(offset);
    if (i < 0 || offset > this.high(i)) return false;
    const low = this.low(i), high = this.high(i);
    if (low == high) { this.move(i, -1); return true; }
    if (offset == low) { this.put(i, low + 1, high); return true; }
    if (offset < high) { this.move(i + 1, 1); this.put(i + 1, offset + 1, high); }
    this.put(i, low, offset - 1);
    return true;
  }

  /** Number of members, modulo 2^64. */
  cardinality(): u64 {
    let members: u64 = 0;
    for (let i = 0; i < this.intervals; i++) members += this.high(i) - this.low(i) + 1;
    return members;
  }

  /** Members of [low, high], modulo 2^64. */
  countRange(low: u64, high: u64): u64 {
    let members: u64 = 0;
    for (let i = 0; i < this.intervals; i++) {
      const from = max(this.low(i), low), to = min(this.high(i), high);
      if (from <= to) members += to - from + 1;
    }
    return members;
  }

  maximum(): u64 { return this.high(this.intervals - 1); }

  /** The first difference to the expected set, "" if there is none. */
  differs(other: Model): string {
    if (!this.ordered || !other.ordered) return "members are not ascending";
    for (let i = 0; i < min(this.intervals, other.intervals); i++) {
      if (this.low(i) != other.low(i) || this.high(i) != other.high(i)) {
        return "got " + this.text(i) + ", expected " + other.text(i);
      }
    }
    if (this.intervals == other.intervals) return "";
    return "got " + this.intervals.toString() + " intervals, expected " + other.intervals.toString();
  }

  private text(i: i32): string { return "[" + this.low(i).toString() + ", " + this.high(i).toString() + "]"; }
}

/** The set [low, high]. */
export function range(low: u64, high: u64): Model { return new Model().append(low, high); }

export const OPERATIONS: i32 = 8;
/**
 * Whether an offset is in the result; `rest` is how many sources after the first have it.
 * The numbers are those of combine/term/operation.ts.
 */
function truth(op: i32, first: bool, rest: i32, sources: i32): bool {
  const all = i32(first) + rest;
  if (op == 0) return all == sources;                         // AND
  if (op == 1) return all > 0;                                // OR
  if (op == 2) return all % 2 == 1;                           // XOR
  if (op == 4) return first && rest == 0;                     // DIFF
  if (op == 5) return !first && rest > 0;                     // DIFF1
  if (op == 6) return first && rest > 0;                      // ANDOR
  return all == 1;                                            // ONE
}

/** The result of the operation. */
export function combineModels(op: i32, sources: Model[]): Model { return sweep(op, sources, 0, 0); }

/** The offsets that `least` to `most` of the sources have. */
export function repeatedModels(sources: Model[], least: i32, most: i32): Model {
  return sweep(OPERATIONS, sources, least, most);
}

/** Evaluates an operation, or counts, once for each stretch of offsets where no source changes. */
function sweep(op: i32, sources: Model[], least: i32, most: i32): Model {
  const made = new Model(), count = sources.length, at = new StaticArray<i32>(count);
  let from: u64 = 0;
  while (true) {
    let end = OFFSET_MAX, first = false, rest = 0;            // nothing changes in [from, end]
    for (let s = 0; s < count; s++) {
      const source = unchecked(sources[s]);
      let i = unchecked(at[s]);
      if (i < source.intervals && source.high(i) < from) unchecked(at[s] = ++i);
      if (i == source.intervals) continue;
      const low = source.low(i);
      if (low > from) { end = min(end, low - 1); continue; }
      end = min(end, source.high(i));
      if (s) rest++; else first = true;
    }
    const times = i32(first) + rest;
    if (op == OPERATIONS ? times >= least && times <= most : truth(op, first, rest, count)) {
      made.append(from, end);
    }
    if (end == OFFSET_MAX) return made;
    from = end + 1;
  }
}

// --- Containers of all styles ------------------------------------------------------------------------------

export const enum Style {
  SINGLE, PAIR, FEW,
  /** 33 to 4095 members. */
  ARRAY,
  ARRAY_MOST, BITSET_LEAST,
  /** About 30,000 members, random. */
  BITSET,
  /** A few long runs. */
  RUNS,
  /** 1,500 runs or more. */
  MANY_RUNS,
  /** About 1,200 runs of one to five members, no more members than an array holds. */
  SHORT_RUNS,
  /** All members but one. */
  LACKING, FULL,
  /** A few members at both ends of the container. */
  ENDS,
  STYLES,
}

/** Appends container `key` in that style to the model. */
export function appendContainer(model: Model, key: u64, style: i32, random: Random): void {
  const base = key << 16;
  if (style == Style.SINGLE) scatter(model, base, 1, 1, 65536, random);
  else if (style == Style.PAIR) scatter(model, base, 2, 1, 32768, random);
  else if (style == Style.FEW) scatter(model, base, random.between(3, 32), 1, 2000, random);
  else if (style == Style.ARRAY) {
    scatter(model, base, random.between(33, 4095), 1, random.between(1, 15), random);
  } else if (style == Style.ARRAY_MOST) scatter(model, base, 4096, 1, 15, random);
  else if (style == Style.BITSET_LEAST) scatter(model, base, 4097, 1, 15, random);
  else if (style == Style.BITSET) scatter(model, base, 65536, 3, 4, random);
  else if (style == Style.RUNS) scatter(model, base, 65536, 9000, 6000, random);
  else if (style == Style.MANY_RUNS) scatter(model, base, 65536, 22, 18, random);
  else if (style == Style.SHORT_RUNS) scatter(model, base, random.between(3000, 4096), 5, 30, random);
  else if (style == Style.FULL) model.append(base, base + 65535);
  else if (style == Style.LACKING) {
    const gap = base + random.below(65536);
    if (gap > base) model.append(base, gap - 1);
    if (gap < base + 65535) model.append(gap + 1, base + 65535);
  } else {
    model.append(base, base + random.below(40));
    model.append(base + 65535 - random.below(40), base + 65535);
  }
}

/**
 * Appends up to `count` members: runs of up to `lengthMost` members, with gaps of up to `gapMost` offsets.
 */
function scatter(model: Model, base: u64, count: u32, lengthMost: u32, gapMost: u32, random: Random): void {
  for (let at = random.below(gapMost); at < 65536 && count;) {
    const length = min(min(random.between(1, lengthMost), count), 65536 - at);
    model.append(base + at, base + at + length - 1);
    count -= length;
    at += length + random.between(1, gapMost);
  }
}

/**
 * Containers of random styles at about three in four of the keys key, key + step, ...:
 * `containers` keys in all.
 */
export function anyModel(key: u64, step: u64, containers: i32, random: Random): Model {
  const made = new Model();
  for (let i = 0; i < containers; i++) {
    if (random.below(4)) appendContainer(made, key + <u64>i * step, random.below(Style.STYLES), random);
  }
  return made;
}

/**
 * Random ranges, containers and gaps from key `first` to key `last`.
 * Half of a range's ends are at a container's border.
 */
export function anyRanges(first: u64, last: u64, random: Random): Model {
  const model = new Model(), step = (last - first) / 12 + 1;
  for (let key = first; key <= last;) {
    const end = min(key + <u64>(random.next() % step), last);
    if (random.below(2)) {
      const low = random.below(2) ? 0 : random.below(65536);
      const high = random.below(2) ? 65535 : random.below(65536);
      if (key < end || low <= high) model.append((key << 16) + low, (end << 16) + high);
    } else if (random.below(2)) {
      appendContainer(model, end, random.below(Style.STYLES), random);
    }
    key = end + 1;
  }
  return model;
}

// --- Sizes of containers -----------------------------------------------------------------------------------

/** Bytes of that many runs. */
export function runsOf(count: u32): usize { return 2 + 4 * <usize>count; }
/** Bytes of that many members in a portable stream when they are not stored as runs. */
export function streamedOf(count: u32): usize { return count <= 4096 ? 2 * <usize>count : 8192; }
/** Bytes of that many members in an arena, at most, when they are not stored as runs. */
export function plainOf(count: u32): usize {
  return count < 576 ? 2 * <usize>count : min<usize>(132 + <usize>(min(count, 1024) + count), 8192);
}

/** Number of runs of container `key`, which must exist. */
export function runsWithin(model: Model, key: u64): u32 {
  const base = key << 16, first = max(model.find(base), 0);
  return <u32>(model.find(base + 65535) - first) + u32(model.high(first) >= base);
}
