// Sums of weights at one key: which values of a container weigh enough, or exactly so much. Containers are
// added in the shape they have: members and runs to a tally (container/tally.ts), and what is read word by
// word to planes (container/counters.ts), once for each binary digit of its weight. So no container costs
// more than its bytes do, however much it weighs.
//
// The tally lies behind the named places of the scratch room, and the planes behind it. In between are
//
//   +0  i32 weight of every value         +4  u32 1 once there are planes
//   +8  i32 the sum of positive weights   +12 i32 the sum of negative weights; both of what is at the key
//                                                 and not full
//   +16 u32 containers                    +20 u32 terms
//   +24 u32 containers that weigh 1       +28 u32 containers that weigh -1
//   +32 u32 arrays and buckets            +36 u32 members of these
//
// Arrays alone of some hundred members are counted in bytes instead, one for each value, in the room of the
// tally.

import { SELF, left, right, work } from "../../env/memory";
import { Offset } from "../../arena/layout/entry";
import { Kind } from "../../container/kind";
import { bitsetCardinality, complementBitset, PART_BYTES } from "../../container/bitset";
import {
  BYTE_COUNTERS_BYTES, BYTE_COUNTERS_MAX, countInBytes, reachedInBytes,
} from "../../container/counters";
import { BITSET_BYTES, MEMBER_BYTES, UNIVERSE, arrayBytes, SHORT_HEADER_BYTES } from "../../container/limits";
import {
  TALLY_BYTES, TOO_MANY_RUNS, isUniform, planesToBitset, startTally, tallyArray, tallyFrom, tallyRuns,
  tallyToBitset, tallyToRuns, tallyWithPlanes, tallyWords,
} from "../../container/tally";
import { firstWord, wordCount } from "../../container/short";
import { Right } from "../../env/view";
import { asBitset, expandedRight } from "../shape/expand";
import { FOLD_BYTES, RUNS_MAX, Scratch, scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Rule, stepConstant, stepCount, stepOffset, termLeast, termRule, totalWeight } from "../term/term";
import { countAlone, partLocation, stagedPart } from "./parts";

/** Places of the tally, with what is counted besides. */
// @ts-ignore: decorator
@inline const TALLY_PLACES: u32 = 34;
/** Arrays of more members, and short bitsets of more words, are read word by word: as bitsets. */
// @ts-ignore: decorator
@inline const TALLIED_MEMBERS: u32 = 512;
// @ts-ignore: decorator
@inline const TALLIED_WORDS: u32 = 32;

/** Arrays and buckets of fewer members together are tallied. */
// @ts-ignore: decorator
@inline const BYTES_FROM: u32 = 96;
// @ts-ignore: decorator
@inline const STATE_BYTES: usize = 40;

// @ts-ignore: decorator
@inline function tallyAt(): usize { return scratch(Scratch.PLACES); }
// @ts-ignore: decorator
@inline function stateAt(): usize { return tallyAt() + TALLY_BYTES; }
// @ts-ignore: decorator
@inline function planesAt(): usize { return tallyAt() + <usize>TALLY_PLACES * FOLD_BYTES; }

/** Planes that no sum of the term's weights overflows, and one more: the adder works on two at once. */
// @ts-ignore: decorator
@inline function sumPlanes(term: u32): u32 { return 33 - <u32>clz<u32>(totalWeight(term) | 1); }

/** The places that a sum takes. */
export function sumPlaces(term: u32): u32 { return TALLY_PLACES + sumPlanes(term) + 1; }

// @ts-ignore: decorator
@inline export function sumBase(): i32 { return load<i32>(stateAt()); }
// @ts-ignore: decorator
@inline export function sumUp(): i32 { return load<i32>(stateAt(), 8); }
// @ts-ignore: decorator
@inline export function sumDown(): i32 { return load<i32>(stateAt(), 12); }
// @ts-ignore: decorator
@inline export function sumContainers(): u32 { return load<u32>(stateAt(), 16); }
// @ts-ignore: decorator
@inline export function sumTerms(): u32 { return load<u32>(stateAt(), 20); }
/** Whether all containers weigh the same: 1, or with `negative` -1. */
// @ts-ignore: decorator
@inline export function weighAlike(negative: bool): bool {
  return load<u32>(stateAt() + (negative ? 28 : 24)) == sumContainers();
}

// @ts-ignore: decorator
@inline function addBase(by: i32): void { store<i32>(stateAt(), sumBase() + by); }

/** Begins a sum in which `base` weighs in all values. */
export function startSum(base: i32): void {
  memory.fill(stateAt(), 0, STATE_BYTES);
  addBase(base);
}

/** Notes what is at the key: a term, or a container of a kind. */
export function noteItem(isTerm: bool, s: u64, weight: i32): void {
  const state = stateAt(), kind = isTerm ? Kind.RUNS : Shape.kind(s);
  if (kind == Kind.FULL) { addBase(weight); return; }
  if (weight > 0) store<i32>(state, sumUp() + weight, 8); else store<i32>(state, sumDown() + weight, 12);
  if (isTerm) { store<u32>(state, sumTerms() + 1, 20); return; }
  store<u32>(state, sumContainers() + 1, 16);
  if (weight == 1) store<u32>(state, load<u32>(state, 24) + 1, 24);
  if (weight == -1) store<u32>(state, load<u32>(state, 28) + 1, 28);
  if (kind != Kind.ARRAY && kind != Kind.BUCKETS) return;
  store<u32>(state, load<u32>(state, 32) + 1, 32);
  store<u32>(state, load<u32>(state, 36) + Shape.count(s), 36);
}

/**
 * Whether all that is at the key can be counted in bytes, and better is. Not for `least` = the least sum that
 * there can be: bytes do not look for values that no item has.
 */
export function suitsBytes(least: i32): bool {
  const state = stateAt();
  if (least == sumBase() + sumDown() || sumTerms()) return false;
  return load<u32>(state, 32) == sumContainers() && load<u32>(state, 36) >= BYTES_FROM
    && <u32>(sumUp() - sumDown()) <= BYTE_COUNTERS_MAX;
}

/** Begins to count in bytes: from the negative weights on, so that no counter goes below 0. */
export function beginBytes(): void { memory.fill(tallyAt(), <u8>-sumDown(), BYTE_COUNTERS_BYTES); }

/** Adds the array or buckets `s` of operand `operand`. */
export function addToBytes(operand: u32, s: u64, weight: i32): void {
  const counters = tallyAt(), array = expandedRight(operand, s);
  if (weight == 1) { countInBytes(counters, Shape.at(array), Shape.count(array)); return; }
  for (let a = Shape.at(array), end = a + arrayBytes(Shape.count(array)); a < end; a += MEMBER_BYTES) {
    const at = counters + right.load16(a, 0);
    store<u8>(at, <u8>(<i32>load<u8>(at) + weight));
  }
}

/**
 * weighed() of what was counted in bytes: more than all that weighs in all values, and less than that with
 * all positive weights.
 */
export function weighedInBytes(term: u32): u64 {
  const wanted = <i32>termLeast(term) - sumBase() - sumDown(), out = scratch(Scratch.FIRST);
  return Shape.bitset(reachedInBytes(tallyAt(), <u32>wanted, termRule(term) == Rule.SUM_EXACTLY, out), out);
}

/** Whether a step of the term's constant, behind step `step`, begins inside the container `key`. */
// @ts-ignore: decorator
@inline export function stepsInside(term: u32, key: u64, step: u32): bool {
  return step + 1 < stepCount(term) && Offset.key(stepOffset(term, step + 1)) == key;
}

/** Makes the tally ready: with the steps behind step `step` that begin inside the container `key`. */
export function beginTally(term: u32, key: u64, step: u32): void {
  startTally(tallyAt());
  for (let next = step + 1; stepsInside(term, key, next - 1); next++) {
    const change = stepConstant(term, next) - stepConstant(term, next - 1);
    tallyFrom(tallyAt(), Offset.low(stepOffset(term, next)), change);
  }
}

/** Adds the container `s` of operand `operand`, which `right` shows. */
export function addContainer(term: u32, operand: u32, s: u64, weight: i32): void {
  const kind = Shape.kind(s), count = Shape.count(s), at = Shape.at(s);
  work.spend(1 + (count >> 8));
  if (kind == Kind.FULL) {
    addBase(weight);
  } else if (kind == Kind.RUNS) {
    tallyRuns(tallyAt(), at, weight);
  } else if (kind == Kind.ARRAY && count <= TALLIED_MEMBERS) {
    tallyArray(tallyAt(), at, count, weight);
  } else if (kind == Kind.SHORT && wordCount<Right>(at) <= TALLIED_WORDS) {
    tallyWords(tallyAt(), at + SHORT_HEADER_BYTES, firstWord<Right>(at), wordCount<Right>(at), weight);
  } else {
    addAsWords(term, operand, s, weight);
  }
}

/** Adds the container `s` of operand `operand`, which `right` shows, word by word. */
function addAsWords(term: u32, operand: u32, s: u64, weight: i32): void {
  if (weight < 0) {                           // planes only count up: less in `s` is more outside of it
    const rest = complementOf(operand, s);
    addBase(weight);
    addWords(term, SELF, rest, -weight);
    return;
  }
  if (Shape.kind(s) == Kind.BITSET || Shape.kind(s) == Kind.SHORT) addWords(term, operand, s, weight);
  else addWords(term, SELF, asBitset(operand, s, scratch(Scratch.FIRST)), weight);
}

/**
 * The complement of the container `s` of operand `operand`, which `right` shows, as a bitset in
 * Scratch.FIRST.
 */
function complementOf(operand: u32, s: u64): u64 {
  const out = scratch(Scratch.FIRST);
  asBitset(operand, s, out);
  left.select(SELF);
  complementBitset(out, out);
  return Shape.of(Kind.BITSET, UNIVERSE, out);
}

/** Adds the bitset or short bitset `s` to the planes. `weight` is positive. */
function addWords(term: u32, operand: u32, s: u64, weight: i32): void {
  const planes = planesAt(), count = sumPlanes(term);
  if (!load<u32>(stateAt(), 4)) {
    memory.fill(planes, 0, <usize>(count + 1) * FOLD_BYTES);
    store<u32>(stateAt(), 1, 4);
  }
  for (let digits = <u32>weight; digits; digits &= digits - 1) {
    const digit = <u32>ctz<u32>(digits), counters = planes + <usize>digit * FOLD_BYTES;
    work.spend(1);
    for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
      const only = partLocation(operand, s, part, stagedPart(true));
      if (only) countAlone(counters, count - digit, only, part);
    }
  }
}

/** The values that weigh enough, in Scratch.FIRST. */
export function weighed(term: u32): u64 {
  const least = <i32>termLeast(term), exactly = termRule(term) == Rule.SUM_EXACTLY;
  const out = scratch(Scratch.FIRST), base = sumBase();
  if (load<u32>(stateAt(), 4) && isUniform(tallyAt())) {
    left.select(SELF);
    right.select(SELF);
    return Shape.bitset(planesToBitset(base, least, exactly, planesAt(), sumPlanes(term), out), out);
  }
  if (load<u32>(stateAt(), 4)) {
    tallyWithPlanes(tallyAt(), base, least, exactly, planesAt(), sumPlanes(term), out);
  } else {
    const members = tallyToRuns(tallyAt(), base, least, exactly, out, RUNS_MAX);
    if (members != TOO_MANY_RUNS) return Shape.runs(members, out);
    tallyToBitset(tallyAt(), base, least, exactly, out);
  }
  left.select(SELF);
  return Shape.bitset(bitsetCardinality(out), out);
}
