// The ids of one window, and their values: ids whose upper 55 bits are the same, so that they could be slices
// of one leaf. A mask says which of the 512 places are there, and each place has 8 bytes for its value, in
// scratch room of memory 0.

import { Memory, view8 } from "../env/view";
import { Values } from "./layout";
import { Slices } from "./slices";
import { Spot } from "./spot";

/** What becomes of the values that an id has in several keys. */
export const enum Aggregate { SUM, MIN, MAX }

@final @unmanaged
export class Column {
  @inline private static readonly VALUES: u32 = 64;
  @inline private static readonly TURN: u32 = Column.VALUES + 8 * Slices.IDS;
  @inline static readonly BYTES: usize = <usize>Column.TURN + 64;

  @inline static at(at: usize): Column { return changetype<Column>(at); }
  @inline mask(): usize { return changetype<usize>(this); }
  @inline clear(): void { memory.fill(changetype<usize>(this), 0, Slices.BYTES); }
  @inline count(): u32 { return Slices.count(this.mask()); }
  @inline valueAt(place: u32): usize { return changetype<usize>(this) + Column.VALUES + (<usize>place << 3); }
  @inline value(place: u32): i64 { return load<i64>(this.valueAt(place)); }

  /** Adds a value. Returns false, and changes nothing, if the place has one and their sum would overflow. */
  @inline private add(place: u32, value: i64, how: Aggregate): bool {
    const byte = this.mask() + (place >> 3), bit = <u8>(<u32>1 << (place & 7)), at = this.valueAt(place);
    if (load<u8>(byte) & bit) {
      const before = load<i64>(at);
      if (how == Aggregate.SUM) {
        const sum = before + value;
        if (((before ^ sum) & (value ^ sum)) < 0) return false;
        value = sum;
      } else value = how == Aggregate.MIN ? min(before, value) : max(before, value);
    } else store<u8>(byte, load<u8>(byte) | bit);
    store<i64>(at, value);
    return true;
  }

  /**
   * Adds the ids and values that memory M shows from the spot on, to the end of the window from `window` on.
   * Returns the spot behind them, or OVERFLOW if a sum would overflow.
   */
  take<M extends Memory>(spot: u64, window: u64, how: Aggregate): u64 {
    const last = window | (Slices.IDS - 1);
    while (spot != Spot.NONE) {
      const index = Spot.leaf(spot);
      if (!Values.isFull<M>() || !Values.leafAt<M>(index).isSliced<M>()) {
        if (Spot.id<M>(spot) > last) return spot;
        if (!this.add(<u32>(Spot.id<M>(spot) - window), Spot.value<M>(spot), how)) return Column.OVERFLOW;
        spot = Spot.next<M>(spot);
        continue;
      }
      if (Values.leafAt<M>(index).first<M>() != window) return spot;
      if (!this.takeSlices<M>(index, how)) return Column.OVERFLOW;
      spot = Spot.inLeaf<M>(index + 1, 0);
    }
    return spot;
  }

  /** What take() returns if a sum would overflow; no spot. */
  @inline static readonly OVERFLOW: u64 = u64.MAX_VALUE - 1;

  private takeSlices<M extends Memory>(index: u32, how: Aggregate): bool {
    const leaf = Values.leafAt<M>(index), at = leaf.at<M>(), width = leaf.width<M>(), base = leaf.base<M>();
    const turn = changetype<usize>(this) + Column.TURN;
    for (let byte: u32 = 0; byte < Slices.IDS >> 3; byte++) {
      const bits = view8<M>(at + byte, 0);
      if (!bits) continue;
      Slices.eight<M>(at, width, byte, turn);
      for (let rest = bits; rest; rest &= rest - 1) {
        const place = <u32>ctz(rest);
        if (!this.add(byte << 3 | place, base + load<i64>(turn + (<usize>place << 3)), how)) return false;
      }
    }
    return true;
  }

  @inline remove(place: u32): void {
    const byte = this.mask() + (place >> 3);
    store<u8>(byte, load<u8>(byte) & ~<u8>(<u32>1 << (place & 7)));
  }

  /** The first place from `place` on that is there; 512 if there is none. */
  next(place: u32): u32 {
    for (; place < Slices.IDS; place = (place | 63) + 1) {
      const rest = load<u64>(this.mask() + (place >> 6 << 3)) >> (place & 63);
      if (rest) return place + <u32>ctz(rest);
    }
    return Slices.IDS;
  }

  /** Writes the values, each less `base`, as slices to `at`; and zeros where none is there. */
  laySlices(at: usize, width: u32, base: i64): void {
    memory.copy(at, this.mask(), Slices.BYTES);
    memory.fill(at + Slices.BYTES, 0, Slices.blockBytes(width) - Slices.BYTES);
    for (let byte: u32 = 0; byte < Slices.IDS >> 3; byte++) {
      const bits = <u32>load<u8>(this.mask() + byte);
      if (!bits) continue;
      for (let rest = ~bits & 0xff; rest; rest &= rest - 1) {
        store<i64>(this.valueAt(byte << 3 | <u32>ctz(rest)), base);
      }
      Slices.setEight(at, width, byte, this.valueAt(byte << 3), base);
    }
  }
}
