// The ids of a key in ascending order, one by one, in all its segments. A spot is a place in the segment that
// the memory shows: the number of a leaf in the high half, and in the low half a place in slices, or the number
// of a pair.

import { segments } from "../env/memory";
import { Memory, sideOf, view64 } from "../env/view";
import { Leaves } from "./directory";
import { Values } from "./layout";
import { Pairs } from "./pairs";
import { Slices } from "./slices";

export abstract class Spot {
  /** Behind the last id. */
  @inline static readonly NONE: u64 = u64.MAX_VALUE;

  @inline static of(leaf: u32, place: u32): u64 { return <u64>leaf << 32 | place; }
  @inline static leaf(spot: u64): u32 { return <u32>(spot >> 32); }
  @inline static place(spot: u64): u32 { return <u32>spot; }

  /** The spot of the first id that is at least `id`. */
  static from<M extends Memory>(id: u64): u64 {
    if (segments.are(sideOf<M>())) segments.seek(sideOf<M>(), id);
    return Spot.fromHere<M>(id);
  }

  private static fromHere<M extends Memory>(id: u64): u64 {
    if (!Values.isFull<M>()) return Spot.inLeaf<M>(0, Pairs.below<M>(Pairs.ofTiny<M>(), id));
    const upTo = Leaves.upTo<M>(id);
    if (!upTo) return Spot.inLeaf<M>(0, 0);
    const leaf = Values.leafAt<M>(upTo - 1), place = id - leaf.first<M>();
    if (!leaf.isSliced<M>()) return Spot.inLeaf<M>(upTo - 1, Pairs.below<M>(Pairs.ofLeaf<M>(leaf), place));
    return Spot.inLeaf<M>(upTo - 1, <u32>min<u64>(place, Slices.IDS));
  }

  @inline static next<M extends Memory>(spot: u64): u64 {
    return Spot.inLeaf<M>(Spot.leaf(spot), Spot.place(spot) + 1);
  }

  /** The first spot at or after a place, which may be behind the end of its leaf. */
  static inLeaf<M extends Memory>(index: u32, place: u32): u64 {
    while (true) {
      if (!Values.isFull<M>()) {
        if (place < Values.pairs<M>()) return Spot.of(0, place);
      } else {
        for (const leaves = Values.leaves<M>(); index < leaves; index++, place = 0) {
          const leaf = Values.leafAt<M>(index);
          if (leaf.isSliced<M>()) {
            place = Spot.present<M>(leaf.at<M>(), place);
            if (place < Slices.IDS) return Spot.of(index, place);
          } else if (place < leaf.count<M>()) return Spot.of(index, place);
        }
      }
      if (!segments.next(sideOf<M>())) return Spot.NONE;
      index = place = 0;
    }
  }

  /** The first place from `place` on that is there; 512 if there is none. */
  private static present<M extends Memory>(at: usize, place: u32): u32 {
    for (; place < Slices.IDS; place = (place | 63) + 1) {
      const rest = view64<M>(at + (place >> 6 << 3), 0) >> (place & 63);
      if (rest) return place + <u32>ctz(rest);
    }
    return Slices.IDS;
  }

  @inline static id<M extends Memory>(spot: u64): u64 {
    const place = Spot.place(spot);
    if (!Values.isFull<M>()) return Pairs.id<M>(Pairs.ofTiny<M>(), place);
    const leaf = Values.leafAt<M>(Spot.leaf(spot));
    return leaf.first<M>() + (leaf.isSliced<M>() ? place : Pairs.id<M>(Pairs.ofLeaf<M>(leaf), place));
  }

  @inline static value<M extends Memory>(spot: u64): i64 {
    const place = Spot.place(spot);
    if (!Values.isFull<M>()) return Pairs.value<M>(Pairs.ofTiny<M>(), place);
    const leaf = Values.leafAt<M>(Spot.leaf(spot));
    return leaf.isSliced<M>()
      ? leaf.base<M>() + <i64>Slices.get<M>(leaf.at<M>(), leaf.width<M>(), place)
      : Pairs.value<M>(Pairs.ofLeaf<M>(leaf), place);
  }

  /** The last id of the segment that the memory shows, which is not empty. */
  static lastId<M extends Memory>(): u64 {
    if (!Values.isFull<M>()) return Pairs.id<M>(Pairs.ofTiny<M>(), Values.pairs<M>() - 1);
    const leaf = Values.leafAt<M>(Values.leaves<M>() - 1), first = leaf.first<M>();
    if (!leaf.isSliced<M>()) return first + Pairs.id<M>(Pairs.ofLeaf<M>(leaf), leaf.count<M>() - 1);
    let word = leaf.at<M>() + 56;
    while (!view64<M>(word, 0)) word -= 8;
    return first + ((<u64>(word - leaf.at<M>())) << 3) + 63 - <u64>clz(view64<M>(word, 0));
  }
}
