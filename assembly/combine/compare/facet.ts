// One bitmap counted against many: how many members operand 0 shares with each of the others.

import { argument, work } from "../../env/memory";
import { begin } from "../../arena/builder/state";
import { Count } from "../../container/kernel";
import { Cursor } from "../walk/cursor";
import { foldCardinality } from "../fold/fold";
import { PairWalk } from "../walk/pair";
import { Prepared } from "./prepared";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, sidesOf } from "../fold/sides";

/** The walk over operand 0 and a facet, which have cursors 0 and 1. */
abstract class Facet {
  /** Operand 0 is prepared for this many facets or more: preparing takes some tens of microseconds. */
  @inline static readonly PREPARED_FROM: u32 = 32;

  @inline static share(facet: u32, first: u64, last: u64): u64 {
    Facet.openBoth(facet, first);
    return PairWalk.walk<Count>(Fold.AND, 0, last);
  }

  @inline static openBoth(facet: u32, key: u64): void {
    Cursor.open(0, 0, key);
    Cursor.open(1, facet, key);
  }

  /** Moves both cursors to the next key that both have; false if there is none. */
  @inline static meet(): bool {
    while (true) {
      const x = Cursor.keyOf(0), y = Cursor.keyOf(1);
      if (x == Cursor.NO_KEY || y == Cursor.NO_KEY) return false;
      if (x == y) return true;
      if (x < y) Cursor.seek(0, y); else Cursor.seek(1, x);
    }
  }

  /** The last key of the interval that the cursors are at: beyond their key only if both are full. */
  @inline private static intervalEnd(): u64 { return min(Cursor.lastKeyOf(0), Cursor.lastKeyOf(1)); }

  @inline static cursorsAreFull(): bool { return Facet.intervalEnd() > Cursor.keyOf(0); }

  /** The most members that the operands can share in the interval. */
  @inline static smaller(): u64 {
    if (Facet.cursorsAreFull()) return (Facet.intervalEnd() - Cursor.keyOf(0) + 1) << 16;
    return min(Shape.count(Cursor.shapeOf(0)), Shape.count(Cursor.shapeOf(1)));
  }

  /** Moves both cursors past the interval; returns `bound`. */
  @inline static pass(bound: u64): u64 {
    const next = Facet.intervalEnd() + 1;
    work.spend(1);
    Cursor.seek(0, next);
    Cursor.seek(1, next);
    return bound;
  }

  /** Members that the containers of the cursors share. */
  @inline static shared(facet: u32): u32 {
    Places.make(Scratch.RIGHT);
    return foldCardinality(sidesOf(0, facet), Cursor.shapeOf(0), Cursor.shapeOf(1));
  }
}

/**
 * Replaces each of the call's `facets` arguments by the members that operand 0 shares with operand 1, 2 and
 * so on in containers `first` to `last`, modulo 2^64. Memory 0, which is fresh, is only worked in.
 */
export function shareAll(facets: u32, first: u64, last: u64): void {
  const isPrepared = facets >= Facet.PREPARED_FROM && Prepared.make(first, last);
  if (!isPrepared) begin(0, 2 * Cursor.BYTES);
  for (let facet: u32 = 0; facet < facets; facet++) {
    work.spend(1);
    argument.put(facet, isPrepared ? Prepared.share(facet + 1) : Facet.share(facet + 1, first, last));
  }
}

/**
 * Members that operand 0, which does not have all 2^64 offsets, shares with operand `facet`; if they are
 * fewer than `need`, a number below `need`. Two containers share at most as many members as the smaller one
 * has. The sum of these bounds is known without looking at a container, and falls with each that is counted:
 * once it is below `need`, the rest is not read. Memory 0, in which the caller has begun an arena with room
 * for cursors 0 and 1, is only worked in.
 */
export function shareAtLeast(facet: u32, need: u64): u64 {
  Facet.openBoth(facet, 0);
  let most: u64 = 0, members: u64 = 0;
  while (Facet.meet()) most += Facet.pass(Facet.smaller());
  if (most < need) return most;
  Facet.openBoth(facet, 0);
  while (Facet.meet()) {
    const bound = Facet.smaller(), both = Facet.cursorsAreFull() ? bound : Facet.shared(facet);
    members += both;
    most -= bound - both;
    if (most < need) return most;
    Facet.pass(bound);
  }
  return members;
}
