// What is in at least, or in exactly, so many of a term's items: at one key.

import { SELF, left, right } from "../env/memory";
import { Kind } from "../arena/entry";
import { stores } from "../container/kernel";
import { countArray, countParts, keepRepeated, planesFor, putEdges, startCounters, sweepEdges } from "../container/counters";
import { bitsetCardinality, differenceBitsets, intersectBitsets, PART_BYTES } from "../container/bitset";
import { BITSET_BYTES, MEMBER_BYTES, arrayBytes, isArraySized, memberCount, runsBytes } from "../container/limits";
import { bucketsToArray } from "../container/buckets";
import { shortToArray } from "../container/short";
import { listedCount, listedKind, listedOperand, listedShape, toBitset } from "./list";
import { FOLD_BYTES, Scratch, scratch } from "./scratch";
import { arrayShape, bitsetShape, runsShape, shapeAt, shapeCount, shapeKind } from "./shape";
import { Rule, listedAt, termLeast, termRule } from "./term";
import { unpackedRight } from "./unpack";

/** So few members, or edges of runs, are sorted rather than counted in planes. */
// @ts-ignore: decorator
@inline const FEW: u32 = 64;

/** How many items the counters of a term that counts overflow at: one more than it looks for if that must not be reached. */
// @ts-ignore: decorator
@inline function overflowsAt(least: u32, exactly: bool): u32 { return least + u32(exactly); }

/** The places that a term's counters take. They lie behind the named places of the scratch room. */
export function counterPlaces(term: u32): u32 {
  const rule = termRule(term);
  return rule == Rule.ATLEAST || rule == Rule.EXACTLY ? planesFor(overflowsAt(termLeast(term), rule == Rule.EXACTLY)) + 1 : 0;
}

// @ts-ignore: decorator
@inline function countersAt(): usize { return scratch(Scratch.PLACES); }

/** What `least` of the list's `count` containers have, with `exactly` no more, if they have FEW members or edges in all; otherwise MANY. */
export function repeatedOfFew(list: usize, count: u32, least: u32, exactly: bool): u64 {
  let members: u32 = 0, runs: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const kind = listedKind(list, i);
    if (kind == Kind.BITSET) return MANY;
    if (kind == Kind.RUNS) runs += right.load16(shapeAt(listedShape(list, i)), 0); else members += listedCount(list, i);
    if (members + runs > FEW) return MANY;
  }
  if (!runs) return repeatedMembers(list, count, least, exactly);
  return members + runs <= FEW / 2 ? repeatedRuns(list, count, least, exactly) : MANY;
}

/** repeatedOfFew() for containers other than runs. */
function repeatedMembers(list: usize, count: u32, least: u32, exactly: bool): u64 {
  const all = scratch(Scratch.FIRST);
  let to = all;
  for (let i: u32 = 0; i < count; i++) to = copyMembers(list, i, to);
  return arrayShape(keepRepeated(all, memberCount(all, to), least, exactly), all);
}

/** Copies the members of the list's element `i` to `to`; returns the address behind them. */
// @ts-ignore: decorator
@inline function copyMembers(list: usize, i: u32, to: usize): usize {
  const s = listedShape(list, i), bytes = arrayBytes(shapeCount(s));
  if (shapeKind(s) == Kind.BUCKETS) {
    left.select(listedOperand(list, i));
    bucketsToArray(shapeAt(s), shapeCount(s), to);
  } else if (shapeKind(s) == Kind.SHORT) {
    left.select(listedOperand(list, i));
    shortToArray(shapeAt(s), to);
  } else right.copy(to, shapeAt(s), bytes);
  return to + bytes;
}

/** repeatedOfFew() for runs and other containers, whose members count as runs. */
function repeatedRuns(list: usize, count: u32, least: u32, exactly: bool): u64 {
  const edges = scratch(Scratch.TEMP), members = scratch(Scratch.SPARE), out = scratch(Scratch.FIRST);
  let to = edges;
  for (let i: u32 = 0; i < count; i++) {
    const s = listedShape(list, i), at = shapeAt(s);
    if (shapeKind(s) == Kind.RUNS) {
      for (let run: u32 = 0, runs = right.load16(at, 0); run < runs; run++) {
        const low = right.load16(at + runsBytes(run), 0);
        to = putEdges(to, low, low + right.load16(at + runsBytes(run), 2));
      }
      continue;
    }
    for (let from = members, end = copyMembers(list, i, members); from < end; from += MEMBER_BYTES) {
      const member = load<u16>(from);
      to = putEdges(to, member, member);
    }
  }
  return runsShape(sweepEdges(edges, to, least, exactly, out), out);
}

/** repeatedOfFew()'s answer where there are too many. */
// @ts-ignore: decorator
@inline export const MANY: u64 = u64.MAX_VALUE;

/**
 * Counts the list's `count` containers, to find what `least` of them have, with `exactly` no more. Returns how many planes that takes.
 * Bitsets come first, by turns and two at once. Adding does much with each word, so the CPU would wait for memory at each line again if
 * the next part were not asked for in advance.
 */
export function countListed(list: usize, count: u32, least: u32, exactly: bool): u32 {
  const counters = countersAt(), overflow = overflowsAt(least, exactly), planes = planesFor(overflow);
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
    let waiting = SELF, begun = false;        // waiting: a bitset that has no second one yet
    for (let i: u32 = 0; i < count; i++) {
      if (listedKind(list, i) != Kind.BITSET) continue;
      if (waiting == SELF) { waiting = i; continue; }
      left.select(listedOperand(list, waiting));
      const a = shapeAt(load<u64>(listedAt(list, waiting))) + part;
      const b = shapeAt(listedShape(list, i)) + part;
      left.prefetch(a + PART_BYTES, PART_BYTES);
      right.prefetch(b + PART_BYTES, PART_BYTES);
      countParts(counters, planes, begun ? 0 : overflow, a, b, part, scratch(Scratch.SPARE));
      begun = true;
      waiting = SELF;
    }
    if (!begun) startCounters(counters, planes, overflow, part);
    if (waiting != SELF) countAlone(counters, planes, shapeAt(listedShape(list, waiting)) + part, part);
  }
  for (let i: u32 = 0; i < count; i++) {
    if (listedKind(list, i) != Kind.BITSET) countOne(planes, listedOperand(list, i), listedShape(list, i));
  }
  return planes;
}

/** Counts a part of right `b` alone. */
function countAlone(counters: usize, planes: u32, b: usize, part: usize): void {
  const none = scratch(Scratch.SPARE) + PART_BYTES;
  memory.fill(none, 0, PART_BYTES);
  left.select(SELF);
  right.prefetch(b + PART_BYTES, PART_BYTES);
  countParts(counters, planes, 0, none, b, part, scratch(Scratch.SPARE));
}

/** Counts the container `s` of operand `operand`, which `right` shows. */
export function countOne(planes: u32, operand: u32, s: u64): void {
  const counters = countersAt();
  const kind = shapeKind(s);
  if (kind == Kind.ARRAY || kind == Kind.BUCKETS || (kind == Kind.SHORT && isArraySized(shapeCount(s)))) {
    const a = unpackedRight(operand, s);
    countArray(counters, planes, shapeAt(a), shapeCount(a));
    return;
  }
  const bits = scratch(Scratch.FIRST);
  if (shapeKind(s) == Kind.FULL) memory.fill(bits, 0xff, BITSET_BYTES);
  else toBitset(operand, s, bits);
  right.select(SELF);
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) countAlone(counters, planes, bits + part, part);
}

/** The values that were counted often enough since countListed() began: in Scratch.FIRST, or with S = Count only how many there are. */
export function reached<S>(planes: u32, exactly: bool): u64 {
  const counters = countersAt(), over = counters + <usize>planes * FOLD_BYTES, out = scratch(Scratch.FIRST);
  left.select(SELF);
  right.select(SELF);
  if (!exactly) return bitsetShape(stores<S>() ? intersectBitsets(over, over, out) : bitsetCardinality(over), out);
  for (let i: u32 = 1; i < planes; i++) intersectBitsets(counters, counters + <usize>i * FOLD_BYTES, counters);
  return bitsetShape(differenceBitsets(counters, over, out), out);
}
