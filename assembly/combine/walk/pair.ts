// Two operands into one. This does what combine/walkterm.ts does for any number, but without terms and lists.
// Most combinations are of two bitmaps, often of small containers, and then the walk costs as much as the
// folds. Here it is the merge of two sorted lists.

import { reply, right, work } from "../../env/memory";
import { appendFull } from "../../arena/builder/builder";
import { begin } from "../../arena/builder/state";
import { Kind } from "../../container/kind";
import { Kernel, Sink } from "../../container/kernel";
import { intersectPairToArray } from "../fold/toarray";
import { Cursor } from "./cursor";
import { emit, emitShape } from "../shape/emit";
import { fold, foldCardinality } from "../fold/fold";
import { LeafMerge, Sought } from "./packedleaves";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, Sides, show, sidesOf } from "../fold/sides";

/** A walk over two operands. */
export abstract class PairWalk {
  /**
   * Opens cursors 0 and 1 on operands `a` and `b` at container `key`, and begins a result of at most `entries`
   * entries.
   */
  static open(a: u32, b: u32, entries: u64, key: u64): void {
    begin(entries, 2 * Cursor.BYTES);
    Cursor.open(0, a, key);
    Cursor.open(1, b, key);
  }

  /**
   * Folds the operands of cursors 0 and 1 up to container `end`: appends all containers of the result
   * (S = Store) or only counts them (S = Count). Returns the members, modulo 2^64; if they are 2^64, and
   * S = Count, adds a member to the reply. Counting stops once there are `most` or more, unless `most` is 0.
   */
  static walk<S extends Sink>(op: Fold, most: u64, end: u64): u64 {
    let members: u64 = !Kernel.stores<S>() && op == Fold.AND
      ? LeafMerge.leaves(Sought.SHARED, false, most, end) : 0;
    let any = members;                          // 0 only if there are none, while `members` is 0 for 2^64, too
    while (true) {
      const x = Cursor.keyOf(0), y = Cursor.keyOf(1);
      let more: u64 = 0;
      if (x == y) {
        if (x > end) break;
        more = PairWalk.foldBoth<S>(op, x, end);
      } else if (x < y) {
        if ((op == Fold.AND ? y : x) > end) break;
        if (op != Fold.AND) more = PairWalk.takeLone<S>(0, x, min(y - 1, end));
        else Cursor.seek(0, y);
      } else if (op == Fold.OR || op == Fold.XOR) {
        if (y > end) break;
        more = PairWalk.takeLone<S>(1, y, min(x - 1, end));
      } else if (x > end) break;
      else Cursor.seek(1, x);
      members += more;
      any |= more;
      if (!Kernel.stores<S>() && members > most - 1) break;
    }
    if (!Kernel.stores<S>() && !members && any) reply.member(0);
    return members;
  }

  /**
   * The containers that the cursor covers from `key` to `end`, before the other cursor. Moves the cursor past
   * them.
   */
  @inline private static takeLone<S extends Sink>(item: u32, key: u64, end: u64): u64 {
    const s = Cursor.shapeOf(item), last = min(Cursor.lastKeyOf(item), end);
    let members = <u64>Shape.count(s);
    if (Shape.kind(s) == Kind.FULL) {
      members = (last - key + 1) << 16;
      if (Kernel.stores<S>()) appendFull(key, last - key + 1);
    } else if (Kernel.stores<S>()) {
      right.select(Cursor.operandOf(item));
      emitShape(key, s);
    }
    Cursor.seek(item, last + 1);
    return members;
  }

  /**
   * The result where both have `key`, up to the end of the shorter entry, and at most to `end`. Moves both
   * cursors past it.
   */
  @inline private static foldBoth<S extends Sink>(op: Fold, key: u64, end: u64): u64 {
    const last = min(min(Cursor.lastKeyOf(0), Cursor.lastKeyOf(1)), end);
    let members: u64;
    work.spend(1);
    if (last > key) {                           // both are full
      members = op == Fold.AND || op == Fold.OR ? (last - key + 1) << 16 : 0;
      if (Kernel.stores<S>() && members) appendFull(key, last - key + 1);
    } else {
      Places.make(Scratch.RIGHT);
      members = Kernel.stores<S>() ? PairWalk.storeFold(op, key) : PairWalk.countFold(op);
    }
    Cursor.seek(0, last + 1);
    Cursor.seek(1, last + 1);
    return members;
  }

  @inline private static operandsOfBoth(): Sides { return sidesOf(Cursor.operandOf(0), Cursor.operandOf(1)); }

  @inline private static storeFold(op: Fold, key: u64): u64 {
    const sides = PairWalk.operandsOfBoth(), l = Cursor.shapeOf(0), r = Cursor.shapeOf(1);
    let s = Shape.UNSUITED;
    if (op == Fold.AND && Shape.kind(l) == Kind.BITSET && Shape.kind(r) == Kind.BITSET) {
      show(sides);
      s = intersectPairToArray(l, r);
    }
    if (s == Shape.UNSUITED) s = fold(op, sides, l, r);
    emit(key, s);
    return Shape.count(s);
  }

  @inline private static countFold(op: Fold): u64 {
    const l = Cursor.shapeOf(0), r = Cursor.shapeOf(1),
      both = foldCardinality(PairWalk.operandsOfBoth(), l, r);
    const x = Shape.count(l);
    if (op == Fold.AND) return both;
    if (op == Fold.ANDNOT) return x - both;
    return op == Fold.OR ? x + Shape.count(r) - both : x + Shape.count(r) - 2 * both;
  }
}
