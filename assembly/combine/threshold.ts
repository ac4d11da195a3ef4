// What is in at least, or in exactly, so many of a term's items: at one key.

import { SELF, left, right } from "../env/memory";
import { Kind } from "../arena/entry";
import { countArray, countParts, keepRepeated, planesFor, startCounters } from "../container/counters";
import { differenceBitsets, intersectBitsets, PART_BYTES } from "../container/bitset";
import { BITSET_BYTES, arrayBytes, isArraySized } from "../container/limits";
import { bucketsToArray } from "../container/buckets";
import { shortToArray } from "../container/short";
import { listedCount, listedKind, listedOperand, listedShape, toBitset } from "./list";
import { FOLD_BYTES, Scratch, scratch } from "./scratch";
import { arrayShape, bitsetShape, shapeAt, shapeCount, shapeKind } from "./shape";
import { Rule, listedAt, termLeast, termRule } from "./term";
import { unpackedRight } from "./unpack";

/** So few members are sorted rather than counted in planes. */
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

/** What `least` of the list's `count` containers have, with `exactly` no more, if they have FEW members in all; otherwise MANY. */
export function repeatedOfFew(list: usize, count: u32, least: u32, exactly: bool): u64 {
  let members: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const kind = listedKind(list, i);
    if (kind == Kind.RUNS || kind == Kind.BITSET) return MANY;
    members += listedCount(list, i);
    if (members > FEW) return MANY;
  }
  const all = scratch(Scratch.FIRST);
  let to = all;
  for (let i: u32 = 0; i < count; i++) {
    const s = listedShape(list, i), bytes = arrayBytes(shapeCount(s));
    if (shapeKind(s) == Kind.BUCKETS) {
      left.select(listedOperand(list, i));
      bucketsToArray(shapeAt(s), shapeCount(s), to);
    } else if (shapeKind(s) == Kind.SHORT) {
      left.select(listedOperand(list, i));
      shortToArray(shapeAt(s), to);
    } else right.copy(to, shapeAt(s), bytes);
    to += bytes;
  }
  return arrayShape(keepRepeated(all, members, least, exactly), all);
}

/** repeatedOfFew()'s answer where there are too many. */
// @ts-ignore: decorator
@inline export const MANY: u64 = u64.MAX_VALUE;

/**
 * Counts the list's `count` containers, to find what `least` of them have, with `exactly` no more. Returns how many planes that takes.
 * Bitsets come first, by turns and two at once.
 */
export function countListed(list: usize, count: u32, least: u32, exactly: bool): u32 {
  const counters = countersAt(), overflow = overflowsAt(least, exactly), planes = planesFor(overflow);
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
    startCounters(counters, planes, overflow, part);
    let waiting = SELF;                       // a bitset that has no second one yet
    for (let i: u32 = 0; i < count; i++) {
      if (listedKind(list, i) != Kind.BITSET) continue;
      if (waiting == SELF) { waiting = i; continue; }
      left.select(listedOperand(list, waiting));
      const a = shapeAt(load<u64>(listedAt(list, waiting))) + part;
      countPair(counters, planes, a, shapeAt(listedShape(list, i)) + part, part);
      waiting = SELF;
    }
    if (waiting != SELF) countAlone(counters, planes, shapeAt(listedShape(list, waiting)) + part, part);
  }
  for (let i: u32 = 0; i < count; i++) {
    if (listedKind(list, i) != Kind.BITSET) countOne(planes, listedOperand(list, i), listedShape(list, i));
  }
  return planes;
}

/** Counts a part of left `a` and one of right `b`, which are brought into the cache first. */
function countPair(counters: usize, planes: u32, a: usize, b: usize, part: usize): void {
  const carry = scratch(Scratch.SPARE);
  store<u64>(carry, touchLeft(a) | touchRight(b));
  countParts(counters, planes, a, b, part, carry);
}

// Adding does much with each word, so it would wait for memory again and again. A short loop that loads one word of each cache line waits
// but once. What it returns must be stored, or else the loop would be left out.

// @ts-ignore: decorator
@inline const LINE: usize = 64;

// @ts-ignore: decorator
@inline function touchLeft(a: usize): u64 {
  let all: u64 = 0;
  for (let at: usize = 0; at < PART_BYTES; at += LINE) all |= left.load64(a + at, 0);
  return all;
}

// @ts-ignore: decorator
@inline function touchRight(b: usize): u64 {
  let all: u64 = 0;
  for (let at: usize = 0; at < PART_BYTES; at += LINE) all |= right.load64(b + at, 0);
  return all;
}

/** Counts a part of right `b` alone. */
function countAlone(counters: usize, planes: u32, b: usize, part: usize): void {
  const none = scratch(Scratch.SPARE) + PART_BYTES;
  memory.fill(none, 0, PART_BYTES);
  left.select(SELF);
  countPair(counters, planes, none, b, part);
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

/** The values that were counted often enough since countListed() began, in Scratch.FIRST. */
export function reached(planes: u32, exactly: bool): u64 {
  const counters = countersAt(), over = counters + <usize>planes * FOLD_BYTES, out = scratch(Scratch.FIRST);
  left.select(SELF);
  right.select(SELF);
  if (!exactly) return bitsetShape(intersectBitsets(over, over, out), out);
  for (let i: u32 = 1; i < planes; i++) intersectBitsets(counters, counters + <usize>i * FOLD_BYTES, counters);
  return bitsetShape(differenceBitsets(counters, over, out), out);
}
