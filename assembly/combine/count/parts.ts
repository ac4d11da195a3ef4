// Parts of bitsets and short bitsets, wherever they are, and how they are counted in planes
// (container/counters.ts). A location is where a part lies, in one number: u32 address, u32 operand.

import { SELF, left, right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { PART_BYTES } from "../../container/bitset";
import { countParts } from "../../container/counters";
import { copyShortPart, shortPart } from "../../container/short";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";

/** The location of a part without members. */
// @ts-ignore: decorator
@inline export const NOWHERE: u64 = 0;

// @ts-ignore: decorator
@inline export function location(operand: u32, at: usize): u64 { return (<u64>operand << 32) | at; }
// @ts-ignore: decorator
@inline function locationOperand(p: u64): u32 { return <u32>(p >> 32); }
// @ts-ignore: decorator
@inline function locationAddress(p: u64): usize { return <u32>p; }

// Scratch.SPARE has room for the carry of countParts(), a part without members, and two parts of short
// bitsets.
// @ts-ignore: decorator
@inline function carryAt(): usize { return Places.at(Scratch.SPARE); }
// @ts-ignore: decorator
@inline export function noPart(): usize { return Places.at(Scratch.SPARE) + PART_BYTES; }
// @ts-ignore: decorator
@inline export function stagedPart(first: bool): usize {
  return Places.at(Scratch.SPARE) + (first ? 2 : 3) * PART_BYTES;
}

/**
 * Where part `part` of `s` is, a bitset or short bitset of operand `operand`: there, or at `staged` if the
 * words cover only part of it.
 */
export function partLocation(operand: u32, s: u64, part: usize, staged: usize): u64 {
  const at = Shape.at(s);
  if (Shape.kind(s) == Kind.BITSET) return location(operand, at + part);
  right.select(operand);
  const words = shortPart(at, part);
  if (words) return location(operand, words);
  return copyShortPart(at, part, staged) ? location(SELF, staged) : NOWHERE;
}

/** countParts() of the parts at these locations. */
// @ts-ignore: decorator
@inline export function countTwo(
  counters: usize, planes: u32, least: u32, first: u64, second: u64, part: usize,
): void {
  const a = locationAddress(first), b = locationAddress(second);
  left.select(locationOperand(first));
  right.select(locationOperand(second));
  left.prefetch(a + PART_BYTES, PART_BYTES);
  right.prefetch(b + PART_BYTES, PART_BYTES);
  countParts(counters, planes, least, a, b, part, carryAt());
}

/** Counts the part at a location alone. */
export function countAlone(counters: usize, planes: u32, only: u64, part: usize): void {
  memory.fill(noPart(), 0, PART_BYTES);
  countTwo(counters, planes, 0, location(SELF, noPart()), only, part);
}
