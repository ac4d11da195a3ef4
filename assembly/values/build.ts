// Builds values in memory 0 from windows of ids that arrive in ascending order (column.ts): for what one pass
// over whole keys makes. Nothing is freed on the way. While leaves arrive, the directory lies in scratch room;
// it follows them when a segment ends.

import { arena } from "../env/memory";
import { Memory, Own, view128 } from "../env/view";
import { Arena } from "../arena/layout/header";
import { BITSET_BYTES } from "../container/limits";
import { Blocks, Units } from "./blocks";
import { Bytes } from "./bytes";
import { Column } from "./column";
import { Leaves } from "./directory";
import { FILTER_COPY } from "./filter";
import { Form, Leaf, Values } from "./layout";
import { Pairs } from "./pairs";
import { BEGINS_FROM, fitPairs, setValue } from "./point";
import { addSum } from "./rewrite";
import { Slices } from "./slices";
import { Spot } from "./spot";
import { Wide } from "./wide";

/** Scratch room above the segment that is being built. */
abstract class Room {
  /** Segments that are built have no more bytes, however many they may have. */
  @inline private static readonly SEGMENT_MOST: u32 = 1 << 20;
  /** The most bytes that a window adds: slices of 64 bits, or two leaves of pairs. */
  @inline static readonly WINDOW: u32 = 4352;
  /** The least bytes of a leaf, its block and its place in the directory. */
  @inline private static readonly LEAF_LEAST: u32 = 64 + <u32>Leaf.BYTES;

  @inline static most(): u32 { return min(arena.most(), Room.SEGMENT_MOST); }
  @inline static column(): usize { return <usize>(Room.most() + 2 * Room.WINDOW + 63) & ~63; }
  @inline static filter(): usize { return Room.column() + Column.BYTES; }
  @inline static copy(): usize { return Room.filter() + BITSET_BYTES; }
  @inline static directory(): usize { return Room.copy() + FILTER_COPY; }
  @inline static leaves(): u32 { return (Room.most() + Room.WINDOW) / Room.LEAF_LEAST + 2; }
  @inline static end(): usize { return Room.directory() + Leaves.bytes(Room.leaves()); }
}

export abstract class Build {
  /** An arena of fewer ids becomes a tiny one: they fit, whatever they are. */
  @inline private static readonly FEW: u64 = 64;

  @inline static column(): Column { return Column.at(Room.column()); }
  /** Where layFilter() may write a bitset. */
  @inline static filter(): usize { return Room.filter(); }
  @inline static copy(): usize { return Room.copy(); }
  /** Address of further scratch room, up to which memory 0 is reserved. */
  @inline static end(): usize { return Room.end(); }

  /** Begins a segment in memory 0, which is fresh. */
  static begin(): void {
    Arena.reserve(Room.end());
    memory.fill(0, 0, Values.BYTES);
    store<u8>(0, Form.FULL);
    Values.setBump(Values.BYTES);
    Values.setDirectory(Room.directory(), Room.leaves());
  }

  /** Whether the segment may have no room for another window. */
  static isFull(): bool {
    const leaves = Values.leaves<Own>();
    return leaves != 0 && <u32>(Values.bump() + Leaves.bytes(leaves + 2))
      + min(Room.WINDOW, Room.most() >> 1) > Room.most();
  }

  /** Ends the segment, which has ids, and begins another one. Scratch room is then undefined. */
  static close(): void {
    Build.addDirectory();
    arena.close(<u32>Values.bump(), 0, Values.leafAt<Own>(0).first<Own>(), Values.count<Own>());
    Build.begin();
  }

  /** Ends the last segment, which may have no ids. */
  static finish(closed: bool): void {
    const ids = Values.count<Own>();
    if (!ids) { Values.reset(); return; }
    Build.addDirectory();
    if (closed || ids >= Build.FEW) return;
    const list = Room.column();
    let end = list;
    for (let spot = Spot.from<Own>(0); spot != Spot.NONE; spot = Spot.next<Own>(spot), end += 16) {
      store<u64>(end, Spot.id<Own>(spot));
      store<i64>(end, Spot.value<Own>(spot), 8);
    }
    Values.reset();
    for (let at = list; at < end; at += 16) setValue(load<u64>(at), load<i64>(at, 8), 0);
  }

  private static addDirectory(): void {
    const leaves = Values.leaves<Own>(), from = Values.directory<Own>();
    const at = Blocks.allocateFresh(Leaves.bytes(leaves));
    memory.copy(at, from, <usize>leaves * Leaf.BYTES);
    Values.setDirectory(at, leaves);
  }

  /** Appends the ids of the column, of the window that begins with `window`. */
  static append(window: u64): void {
    const column = Build.column(), count = column.count();
    if (!count) return;
    let least = i64.MAX_VALUE, greatest = i64.MIN_VALUE, last: u32 = 0;
    for (let place = column.next(0); place < Slices.IDS; place = column.next(place + 1)) {
      const value = column.value(place);
      least = min(least, value);
      greatest = max(greatest, value);
      Wide.add(Values.sumAt(), value);
      last = place;
    }
    Values.addCount(count);
    const valueBytes = max(Bytes.neededSigned(least), Bytes.neededSigned(greatest));
    const width = Bytes.bits(<u64>(greatest - least));
    const bytes = <usize>count * (max(Bytes.needed(last), 1) + valueBytes);
    if (Slices.blockBytes(width) + Leaf.BYTES <= bytes || bytes > Pairs.WINDOW_BYTES_MAX) {
      const leaf = Build.leafFor(window, least, greatest);
      leaf.setAt(Blocks.allocateFresh(Slices.blockBytes(width)));
      leaf.setBase(least);
      leaf.setWidths(0, width);
      leaf.setCount(count);
      column.laySlices(leaf.at<Own>(), width, least);
    } else Build.appendPairs(window, count, last, least, greatest);
  }

  /** A new leaf, with these bounds. */
  private static leafFor(window: u64, least: i64, greatest: i64): Leaf {
    const index = Values.leaves<Own>();
    Values.setLeaves(index + 1);
    const leaf = Values.leafAt<Own>(index);
    memory.fill(changetype<usize>(leaf), 0, Leaf.BYTES);
    leaf.setFirst(window);
    leaf.setBounds(least, greatest);
    return leaf;
  }

  /** Appends the column's ids as pairs: to the last leaf if it can take them. */
  private static appendPairs(window: u64, count: u32, last: u32, least: i64, greatest: i64): void {
    const valueBytes = max(Bytes.neededSigned(least), Bytes.neededSigned(greatest));
    const leaves = Values.leaves<Own>();
    if (leaves) {
      const leaf = Values.leafAt<Own>(leaves - 1), before = leaf.count<Own>();
      const needed = Bytes.needed(window + last - leaf.first<Own>());
      if (!leaf.isSliced<Own>() && Build.fits(leaf, count, needed, valueBytes)) {
        Pairs.extend(Pairs.ofLeaf<Own>(leaf), count);
        leaf.setCount(before + count);
        leaf.setBounds(min(leaf.least<Own>(), least), max(leaf.greatest<Own>(), greatest));
        Build.layPairs(leaf, before, window);
        return;
      }
    }
    const leaf = Build.leafFor(window, least, greatest), idBytes = max(Bytes.needed(last), 1);
    leaf.setAt(Blocks.allocateFresh(Units.bytes(Leaf.room(<usize>count * (idBytes + valueBytes)))));
    leaf.setWidths(idBytes, valueBytes);
    leaf.setCount(count);
    Build.layPairs(leaf, 0, window);
  }

  /** Whether `more` pairs of these widths fit a leaf of pairs, whose block then has room for them. */
  private static fits(leaf: Leaf, more: u32, idBytes: u32, valueBytes: u32): bool {
    const count = leaf.count<Own>(), ownBytes = leaf.idBytes<Own>();
    if (idBytes > max(ownBytes, 2) && count >= BEGINS_FROM) return false;
    const width = max(valueBytes, leaf.width<Own>());
    return fitPairs(leaf, count + more, max(idBytes, ownBytes), width, Pairs.BYTES_MAX);
  }

  /** Writes the column's ids and values from pair `at` of the leaf on. */
  private static layPairs(leaf: Leaf, at: u32, window: u64): void {
    const p = Pairs.ofLeaf<Own>(leaf), column = Build.column(), less = window - leaf.first<Own>();
    for (let place = column.next(0); place < Slices.IDS; place = column.next(place + 1), at++) {
      Pairs.setId(p, at, less + place);
      Pairs.setValue(p, at, column.value(place));
    }
  }

  /**
   * Appends leaf `index`, of slices, of what memory M shows without the places of the mask at `mask`, unless
   * the rest would take less as pairs, or all of it in fewer slices.
   */
  static appendSlices<M extends Memory>(index: u32, mask: usize): bool {
    const from = Values.leafAt<M>(index), width = from.width<M>(), at = from.at<M>(), base = from.base<M>();
    const gone = Slices.countIn<M>(at, mask), count = from.count<M>() - gone;
    if (<usize>count * (2 + ((width + 8) >> 3)) < Slices.blockBytes(width) + Leaf.BYTES) return false;
    if (!gone && Bytes.bits(<u64>(from.greatest<M>() - from.least<M>())) < width) return false;
    const leaf = Build.leafFor(from.first<M>(), from.least<M>(), from.greatest<M>());
    const to = Blocks.allocateFresh(Slices.blockBytes(width));
    for (let i: usize = 0, end = Slices.blockBytes(width); i < end; i += 16) {
      v128.store(to + i, v128.andnot(view128<M>(at + i, 0), v128.load(mask + (i & 63))));
    }
    leaf.setAt(to);
    leaf.setBase(base);
    leaf.setWidths(0, width);
    leaf.setCount(count);
    if (gone) {
      leaf.setBounds(base + <i64>Slices.ownExtreme(to, width, false),
        base + <i64>Slices.ownExtreme(to, width, true));
    }
    Values.addCount(count);
    addSum(leaf);
    return true;
  }
}
