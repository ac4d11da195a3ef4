// A tally: a sum for each of a container's 65,536 values. From one value to the next, the sum rarely changes.
// It is stored as its changes, so adding a container takes time for its members or runs, not for 65,536
// counters. The layout of a tally at `tally` in memory 0:
//
//   +0      summary: a bit for each of the 1024 words below that has been written
//   +128    places: a bit for each value at which the sum differs from that of the value before; a word is
//           written when first used
//   +8320   changes: i32 for each value, by how much; written when its bit is set
//
// So starting a tally only clears the summary. Containers that are read word by word go to planes
// (counters.ts) instead, behind the tally, from Tally.planes() on. The sum of a value is then that of the tally
// plus that of the planes.

import { right } from "../env/memory";
import { BITSET_BYTES, Container } from "./limits";
import { Bitset, differenceBitsets, intersectBitsets, unionBitsets } from "./bitset";
import { Runs } from "./run";

/** Where the parts of a tally are, as above. */
const enum TallyField { SUMMARY = 0, PLACES = 128, CHANGES = 8320 }
// @ts-ignore: decorator
@inline export const TALLY_BYTES: usize = <usize>Container.UNIVERSE * 4 + TallyField.CHANGES;

/** A sum of weights for each value of a container, kept as its changes from one value to the next. */
export abstract class Tally {
  /** The result of tallyToRuns() if there are too many runs. */
  @inline static readonly TOO_MANY_RUNS: u32 = u32.MAX_VALUE;

  /** Places of a bitset that a tally takes, with STATE_ROOM bytes behind it for its user. */
  @inline static readonly PLACES: u32 = 34;
  @inline static readonly STATE_ROOM: usize = <usize>Tally.PLACES * BITSET_BYTES - TALLY_BYTES;
  /** Where the planes begin that add to the tally. */
  @inline static planes(tally: usize): usize { return tally + <usize>Tally.PLACES * BITSET_BYTES; }

  static start(tally: usize): void { memory.fill(tally, 0, TallyField.PLACES); }

  @inline private static summaryAt(tally: usize, word: u32): usize {
    return tally + (<usize>(word >> 6) << 3);
  }

  @inline private static placesAt(tally: usize, word: u32): usize {
    return tally + TallyField.PLACES + (<usize>word << 3);
  }

  @inline static changeAt(tally: usize, value: u32): usize {
    return tally + TallyField.CHANGES + (<usize>value << 2);
  }

  /** Changes the sums from `value` on. */
  static from(tally: usize, value: u32, by: i32): void {
    const word = value >> 6, summary = Tally.summaryAt(tally, word);
    const places = Tally.placesAt(tally, word), change = Tally.changeAt(tally, value);
    const wordBit = (<u64>1) << (word & 63), bit = (<u64>1) << (value & 63), written = load<u64>(summary);
    if (!(written & wordBit)) {
      store<u64>(summary, written | wordBit);
      store<u64>(places, bit);
      store<i32>(change, by);
      return;
    }
    const held = load<u64>(places);
    store<u64>(places, held | bit);
    store<i32>(change, held & bit ? load<i32>(change) + by : by);
  }

  /** Changes the sums of low .. high. */
  @inline static run(tally: usize, low: u32, high: u32, by: i32): void {
    Tally.from(tally, low, by);
    if (high < Container.LOW_MAX) Tally.from(tally, high + 1, -by);
  }

  /** Changes the sums of the members of right array `a`. */
  static array(tally: usize, a: usize, members: u32, by: i32): void {
    const end = a + Container.arrayBytes(members);
    while (a < end) {
      const low = right.load16(a, 0);
      let high = low;
      for (a += Container.MEMBER_BYTES; a < end && right.load16(a, 0) == high + 1;
        a += Container.MEMBER_BYTES) high++;
      Tally.run(tally, low, high, by);
    }
  }

  /** Changes the sums of the members of right runs `a`. */
  static runs(tally: usize, a: usize, by: i32): void {
    for (let at = a + Container.RUNS_HEADER_BYTES, end = a + Container.runsBytes(right.load16(a, 0));
      at < end; at += Container.RUN_BYTES) {
      const low = right.load16(at, 0);
      Tally.run(tally, low, low + right.load16(at, 2), by);
    }
  }

  /** The first value from `from` on at which the sum changes; UNIVERSE if there is none. */
  static nextChange(tally: usize, from: u32): u32 {
    if (from >= Container.UNIVERSE) return Container.UNIVERSE;
    let word = from >> 6;
    if ((load<u64>(Tally.summaryAt(tally, word)) >> (word & 63)) & 1) {
      const rest = load<u64>(Tally.placesAt(tally, word)) >> (from & 63);
      if (rest) return from + <u32>ctz<u64>(rest);
    }
    for (word++; word < Container.WORDS; word = (word | 63) + 1) {
      const rest = load<u64>(Tally.summaryAt(tally, word)) >> (word & 63);
      if (!rest) continue;
      word += <u32>ctz<u64>(rest);
      return (word << 6) + <u32>ctz<u64>(load<u64>(Tally.placesAt(tally, word)));
    }
    return Container.UNIVERSE;
  }

  /** Whether the sum is the same for all values. */
  @inline static isUniform(tally: usize): bool { return Tally.nextChange(tally, 0) == Container.UNIVERSE; }

  /** The amount that has been added to the sum of value 0. */
  @inline static changeOfFirst(tally: usize): i32 {
    return Tally.nextChange(tally, 0) ? 0 : load<i32>(Tally.changeAt(tally, 0));
  }

  @inline static reaches(sum: i32, least: i32, exactly: bool): bool {
    return exactly ? sum == least : sum >= least;
  }

  /**
   * Which of 64 counters, whose bits are the words at `at` of `count` planes,
   * are at least `wanted`, or with `exactly` just `wanted`.
   */
  @inline static planesReach(at: usize, count: u32, wanted: i32, exactly: bool): u64 {
    if (wanted < 0) return exactly ? 0 : u64.MAX_VALUE;
    if (wanted >> count) return 0;
    // For each counter, from the lowest bit on: whether its bits so far are more than those of `wanted`, or
    // differ.
    let more = u64.MAX_VALUE, differs: u64 = 0;
    for (let i: u32 = 0; i < count; i++, at += BITSET_BYTES) {
      const word = load<u64>(at), ones: u64 = -(<u64>((wanted >> i) & 1));
      more = ones ? word & more : word | more;
      differs |= word ^ ones;
    }
    return exactly ? ~differs : more;
  }

  /** Changes the sums of the members of right words `a`, `words` of a bitset from word `first` on. */
  static words(tally: usize, a: usize, first: u32, words: u32, by: i32): void {
    let before: u64 = 0;
    for (let word = first, end = first + words; word < end; word++, a += 8) {
      const bits = right.load64(a, 0);
      for (let edges = bits ^ ((bits << 1) | before); edges; edges &= edges - 1) {
        const bit = <u32>ctz<u64>(edges);
        Tally.from(tally, (word << 6) + bit, (bits >> bit) & 1 ? by : -by);
      }
      before = bits >> 63;
    }
    if (before && first + words < Container.WORDS) Tally.from(tally, (first + words) << 6, -by);
  }
}

/**
 * Writes the values whose sum is at least `least`, or with `exactly` just `least`, to `out` as a runs payload
 * of up to `most` runs. Returns the number of values, or TOO_MANY_RUNS.
 */
export function tallyToRuns(tally: usize, least: i32, exactly: bool, out: usize, most: u32): u32 {
  let sum = Tally.changeOfFirst(tally), low: u32 = 0, members: u32 = 0,
    next = out + Container.RUNS_HEADER_BYTES;
  let inside: bool = false;
  const end = out + Container.runsBytes(most);
  for (let value: u32 = 0; ;) {
    const covered = value < Container.UNIVERSE && Tally.reaches(sum, least, exactly);
    if (covered && !inside) low = value;
    else if (inside && !covered) {
      if (next == end) return Tally.TOO_MANY_RUNS;
      next = Runs.put(next, low, value - 1);
      members += value - low;
    }
    inside = covered;
    if (value >= Container.UNIVERSE) break;
    value = Tally.nextChange(tally, value + 1);
    if (value < Container.UNIVERSE) sum += load<i32>(Tally.changeAt(tally, value));
  }
  Runs.close(out, next);
  return members;
}

/** Writes the same values to `out` as a bitset. */
export function tallyToBitset(tally: usize, least: i32, exactly: bool, out: usize): void {
  memory.fill(out, 0, BITSET_BYTES);
  for (let value: u32 = 0, sum = Tally.changeOfFirst(tally); value < Container.UNIVERSE;) {
    const next = Tally.nextChange(tally, value + 1);
    if (Tally.reaches(sum, least, exactly)) Bitset.setBits(out, value, next - 1);
    value = next;
    if (value < Container.UNIVERSE) sum += load<i32>(Tally.changeAt(tally, value));
  }
}

/** The same where the tally's `count` planes, which begin at 0 and do not overflow, add to the sums. */
export function tallyWithPlanes(tally: usize, count: u32, least: i32, exactly: bool, out: usize): void {
  const planes = Tally.planes(tally);
  memory.fill(out, 0, BITSET_BYTES);
  for (let value: u32 = 0, sum = Tally.changeOfFirst(tally); value < Container.UNIVERSE;) {
    const next = Tally.nextChange(tally, value + 1), last = next - 1, wanted = least - sum;
    for (let word = value >> 6, end = last >> 6; word <= end; word++) {
      let bits = Tally.planesReach(planes + (<usize>word << 3), count, wanted, exactly);
      if (word == value >> 6) bits &= u64.MAX_VALUE << (value & 63);
      if (word == end) bits &= u64.MAX_VALUE >> (63 - (last & 63));
      const at = out + (<usize>word << 3);
      store<u64>(at, load<u64>(at) | bits);
    }
    value = next;
    if (value < Container.UNIVERSE) sum += load<i32>(Tally.changeAt(tally, value));
  }
}

/**
 * tallyWithPlanes() where the tally's sum is 0 for all values. Returns the number of values.
 * `left` and `right` show memory 0.
 */
export function planesToBitset(tally: usize, count: u32, wanted: i32, exactly: bool, out: usize): u32 {
  let planes = Tally.planes(tally), none: bool = (wanted >> count) != 0;
  if (wanted < 0) none = exactly;
  memory.fill(out, none ? 0 : 0xff, BITSET_BYTES);
  let members = none ? 0 : Container.UNIVERSE;
  if (none || wanted < 0) return members;
  for (let i: u32 = 0; i < count; i++, planes += BITSET_BYTES) {
    if ((wanted >> i) & 1) members = intersectBitsets(out, planes, out);
    else members = exactly ? differenceBitsets(out, planes, out) : unionBitsets(out, planes, out);
  }
  return members;
}
