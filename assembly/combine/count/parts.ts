// Parts of bitsets and short bitsets, wherever they are, and how they are counted in planes
// (container/counters.ts). A location is where a part lies, in one number: u32 address, u32 operand.

import { SELF, left, right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { Bitset } from "../../container/bitset";
import { countFirstParts, countParts } from "../../container/counters";
import { copyShortPart, shortPart } from "../../container/short";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";

/** Where a part of a bitset is: an operand and an address, packed in a u64. */
export abstract class Location {
  /** The location of a part without members. */
  @inline static readonly NOWHERE: u64 = 0;

  @inline static of(operand: u32, at: usize): u64 { return (<u64>operand << 32) | at; }
  @inline private static operand(p: u64): u32 { return <u32>(p >> 32); }
  @inline private static address(p: u64): usize { return <u32>p; }

  // Scratch.SPARE has room for the carry of countParts(), a part without members, and two parts of short
  // bitsets.
  @inline private static carryAt(): usize { return Places.at(Scratch.SPARE); }
  @inline static noPart(): usize { return Places.at(Scratch.SPARE) + Bitset.PART_BYTES; }
  @inline static stagedPart(first: bool): usize {
    return Places.at(Scratch.SPARE) + (first ? 2 : 3) * Bitset.PART_BYTES;
  }

  /**
   * Where part `part` of `s` is, a bitset or short bitset of operand `operand`: there, or at `staged` if the
   * words cover only part of it.
   */
  static ofPart(operand: u32, s: u64, part: usize, staged: usize): u64 {
    const at = Shape.at(s);
    if (Shape.kind(s) == Kind.BITSET) return Location.of(operand, at + part);
    right.select(operand);
    const words = shortPart(at, part);
    if (words) return Location.of(operand, words);
    return copyShortPart(at, part, staged) ? Location.of(SELF, staged) : Location.NOWHERE;
  }

  /** Shows the parts at these locations on the left and on the right, and asks for what is behind them. */
  @inline private static show(first: u64, second: u64): void {
    left.select(Location.operand(first));
    right.select(Location.operand(second));
    left.prefetch(Location.address(first) + Bitset.PART_BYTES, Bitset.PART_BYTES);
    right.prefetch(Location.address(second) + Bitset.PART_BYTES, Bitset.PART_BYTES);
  }

  /** countParts() of the parts at these locations. */
  @inline static countTwo(at: usize, planes: u32, first: u64, second: u64): void {
    Location.show(first, second);
    countParts(at, planes, Location.address(first), Location.address(second), Location.carryAt());
  }

  /** countFirstParts() of the parts at these locations. */
  @inline static countFirstTwo(at: usize, planes: u32, least: u32, first: u64, second: u64): void {
    Location.show(first, second);
    countFirstParts(at, planes, least, Location.address(first), Location.address(second));
  }

  /** Counts the part at a location alone. */
  static countAlone(at: usize, planes: u32, only: u64): void {
    memory.fill(Location.noPart(), 0, Bitset.PART_BYTES);
    Location.countTwo(at, planes, Location.of(SELF, Location.noPart()), only);
  }
}
