// Which form ids take: pairs, or slices for 512 ids whose upper bits are the same. One rule decides: slices, if
// they take no more bytes than pairs. It is applied where pairs outgrow a leaf, and the other way round once
// removals have left so few ids that pairs take less than half, so that a number of ids that fluctuates does
// not change the form.

import { Own } from "../env/view";
import { Blocks, Units } from "./blocks";
import { Bytes } from "./bytes";
import { Leaves } from "./directory";
import { Leaf, Values } from "./layout";
import { Pairs } from "./pairs";
import { Slices } from "./slices";

export abstract class Reshape {
  /** Least bytes of pairs that slices can replace: the presence, one slice and a leaf. */
  @inline private static readonly WORTH: usize = 2 * 64 + Leaf.BYTES;
  /**
   * Pieces that a leaf becomes at most: each of slices replaces pairs of WORTH bytes, and others lie between.
   */
  @inline private static readonly PIECES_MAX: u32 = 27;
  /** Bytes that the new blocks take at most: those of the pairs, each rounded up, or slices of 64 bits. */
  @inline private static readonly ROOM: usize = Pairs.WINDOW_BYTES_MAX + 4096 + <usize>Reshape.PIECES_MAX * 256;

  /** Makes room for dividing a leaf of pairs, and for a leaf more. Changes nothing if memory runs out. */
  static makeRoom(): void {
    Blocks.makeRoom(Reshape.ROOM + Units.BYTES + Leaves.bytesToAdd(Reshape.PIECES_MAX + 1));
  }

  /**
   * Divides leaf `index`, of pairs that have outgrown a leaf: into slices where these take less, and the pairs
   * that are left between them; or in two leaves of pairs. Ids of one window, which could be slices of one
   * leaf, stay together. Returns false, and does nothing, if the id that is to be added, `place` behind the
   * first one, could better begin a leaf behind this one. makeRoom() has been called.
   */
  static divide(index: u32, place: u64): bool {
    const leaf = Values.leafAt<Own>(index), p = Pairs.ofLeaf<Own>(leaf), first = leaf.first<Own>();
    const count = Pairs.count(p);
    let pieces: u32 = 0, pending: u32 = 0;
    for (let from: u32 = 0, to: u32 = 0; from < count; from = to) {
      to = Reshape.windowEnd(p, first, from);
      if (Reshape.prefersSlices(leaf, p, from, to)) {
        pieces += 1 + u32(pending < from);
        pending = to;
      }
    }
    if (pending) {
      Reshape.dividePieces(index, pieces + u32(pending < count));
      return true;
    }
    const last = Pairs.id<Own>(p, count - 1);
    if (place > last && (place ^ last) >= Slices.IDS) return false;
    Reshape.halve(index, Reshape.windowNear(p, place > last ? count - 1 : count >> 1));
    return true;
  }

  /** The first pair of the window of pair `index`, or of the next window if that is the first one. */
  private static windowNear(p: u64, index: u32): u32 {
    const start = Pairs.id<Own>(p, index) & ~(<u64>Slices.IDS - 1);
    return start > Pairs.id<Own>(p, 0) ? Pairs.below<Own>(p, start) : Pairs.below<Own>(p, start + Slices.IDS);
  }

  /** Divides leaf `index` of pairs before pair `middle`. */
  private static halve(index: u32, middle: u32): void {
    const p = Pairs.ofLeaf<Own>(Values.leafAt<Own>(index));
    const place = Pairs.id<Own>(p, middle) & ~(<u64>Slices.IDS - 1);
    Leaves.open(index + 1, 1);
    const leaf = Values.leafAt<Own>(index), upper = Values.leafAt<Own>(index + 1);
    Reshape.layPairs(upper, leaf.first<Own>() + place, leaf, middle, Pairs.count(p));
    // The lower half may have narrower ids now. Its values move to their end.
    const idBytes = max(Bytes.needed(Pairs.id<Own>(p, middle - 1)), 1);
    const lower = Pairs.of(Pairs.at(p), middle, idBytes, Pairs.valueBytes(p));
    for (let i: u32 = 0; i < middle; i++) Pairs.setId(lower, i, Pairs.id<Own>(p, i));
    for (let i: u32 = 0; i < middle; i++) Pairs.setValue(lower, i, Pairs.value<Own>(p, i));
    leaf.setWidths(idBytes, Pairs.valueBytes(p));
    leaf.setAt(Blocks.resize(leaf.at<Own>(), Leaf.room(Pairs.bytes(p)), Leaf.room(Pairs.bytes(lower))));
    leaf.setCount(middle);
    Reshape.bound(leaf, leaf, lower, 0, middle);
  }

  /** Replaces the leaf by `pieces` leaves, which are laid behind it. */
  private static dividePieces(index: u32, pieces: u32): void {
    Leaves.open(index + 1, pieces);
    const old = Values.leafAt<Own>(index), p = Pairs.ofLeaf<Own>(old), first = old.first<Own>();
    const count = Pairs.count(p), mark = Values.bump();
    let start = first, pending: u32 = 0, piece = index + 1;
    for (let from: u32 = 0, to: u32 = 0; from < count; from = to) {
      to = Reshape.windowEnd(p, first, from);
      if (!Reshape.prefersSlices(old, p, from, to)) continue;
      if (pending < from) Reshape.layPairs(Values.leafAt<Own>(piece++), start, old, pending, from);
      const window = (first + Pairs.id<Own>(p, from)) & ~(<u64>Slices.IDS - 1);
      Reshape.laySlices(Values.leafAt<Own>(piece++), window, old, from, to);
      start = window + Slices.IDS;
      pending = to;
    }
    if (pending < count) Reshape.layPairs(Values.leafAt<Own>(piece), start, old, pending, count);
    Leaves.close(index);
    Reshape.releaseBelow(p, mark, index, pieces);
  }

  /**
   * Frees the block of the pairs. If it was the last one before the new leaves, which begin at `mark`, these
   * move there, so that ascending ids leave no gaps.
   */
  private static releaseBelow(p: u64, mark: usize, index: u32, pieces: u32): void {
    const bytes = Units.bytes(Leaf.room(Pairs.bytes(p))), at = Pairs.at(p);
    if (at + bytes != mark) { Blocks.release(at, bytes); return; }
    memory.copy(at, mark, Values.bump() - mark);
    Values.setBump(Values.bump() - bytes);
    for (let i = index; i < index + pieces; i++) {
      const leaf = Values.leafAt<Own>(i), there = leaf.at<Own>();
      if (there >= mark) leaf.setAt(there - bytes);
    }
  }

  /** Where the pairs of which pair `from` is the first one that share all bits of slices end. */
  private static windowEnd(p: u64, first: u64, from: u32): u32 {
    const last = (first + Pairs.id<Own>(p, from)) | (Slices.IDS - 1);
    if (Pairs.id<Own>(p, Pairs.count(p) - 1) <= last - first) return Pairs.count(p);
    return Pairs.below<Own>(p, last - first + 1);
  }

  /** Slices that the pairs from .. to - 1 of the leaf take. */
  private static widthOf(leaf: Leaf, p: u64, from: u32, to: u32): u32 {
    if (leaf.isLoose<Own>()) return Bytes.bits(<u64>(leaf.greatest<Own>() - leaf.least<Own>()));
    return Bytes.bits(<u64>(Pairs.greatest<Own>(p, from, to) - Pairs.least<Own>(p, from, to)));
  }

  /** Whether slices take no more than the pairs from .. to - 1. */
  private static prefersSlices(leaf: Leaf, p: u64, from: u32, to: u32): bool {
    const bytes = <usize>(to - from) * Pairs.pairBytes(p);
    if (to - from == Pairs.count(p)) return true;        // a single window, which has outgrown its leaf
    if (bytes < Reshape.WORTH) return false;
    return Slices.blockBytes(Reshape.widthOf(leaf, p, from, to)) + Leaf.BYTES <= bytes;
  }

  /** Sets the bounds of a leaf that gets the pairs from .. to - 1 of another one. */
  private static bound(leaf: Leaf, whole: Leaf, p: u64, from: u32, to: u32): void {
    const loose = whole.isLoose<Own>();
    const least = loose ? whole.least<Own>() : Pairs.least<Own>(p, from, to);
    const greatest = loose ? whole.greatest<Own>() : Pairs.greatest<Own>(p, from, to);
    leaf.setBounds(least, greatest);
    leaf.setLoose(loose);
  }

  /** Makes `leaf` the pairs from .. to - 1 of the leaf `whole`, in a block of their own. */
  static layPairs(leaf: Leaf, first: u64, whole: Leaf, from: u32, to: u32): void {
    const p = Pairs.ofLeaf<Own>(whole), less = first - whole.first<Own>(), count = to - from;
    const idBytes = max(Bytes.needed(Pairs.id<Own>(p, to - 1) - less), 1);
    const bytes = <usize>count * (idBytes + Pairs.valueBytes(p));
    const laid = Pairs.of(Blocks.allocate(Leaf.room(bytes)), count, idBytes, Pairs.valueBytes(p));
    for (let i: u32 = 0; i < count; i++) {
      Pairs.setId(laid, i, Pairs.id<Own>(p, from + i) - less);
      Pairs.setValue(laid, i, Pairs.value<Own>(p, from + i));
    }
    leaf.setFirst(first);
    leaf.setBase(0);
    leaf.setAt(Pairs.at(laid));
    leaf.setCount(count);
    leaf.setWidths(idBytes, Pairs.valueBytes(p));
    Reshape.bound(leaf, whole, p, from, to);
  }

  /** Makes `leaf` slices of the pairs from .. to - 1 of the leaf `whole`. */
  private static laySlices(leaf: Leaf, window: u64, whole: Leaf, from: u32, to: u32): void {
    const p = Pairs.ofLeaf<Own>(whole), less = window - whole.first<Own>();
    Reshape.bound(leaf, whole, p, from, to);
    const base = leaf.least<Own>(), width = Bytes.bits(<u64>(leaf.greatest<Own>() - base));
    const at = Blocks.allocate(Slices.blockBytes(width));
    memory.fill(at, 0, Slices.blockBytes(width));
    for (let i = from; i < to; i++) {
      const place = <u32>(Pairs.id<Own>(p, i) - less);
      Slices.addPlace(at, place);
      Slices.set(at, width, place, <u64>(Pairs.value<Own>(p, i) - base));
    }
    leaf.setFirst(window);
    leaf.setBase(base);
    leaf.setAt(at);
    leaf.setCount(to - from);
    leaf.setWidths(0, width);
  }

  /**
   * Makes leaf `index`, of slices, pairs if that takes less than half and the arena need not grow for it.
   */
  static thin(index: u32): void {
    const leaf = Values.leafAt<Own>(index), count = leaf.count<Own>(), first = leaf.first<Own>();
    const valueBytes = max(Bytes.neededSigned(leaf.least<Own>()), Bytes.neededSigned(leaf.greatest<Own>()));
    const bytes = <usize>count * (2 + valueBytes), old = leaf.bytes<Own>();
    if (<usize>2 * bytes >= old || leaf.isLoose<Own>() || !Blocks.has(Leaf.room(bytes))) return;
    const at = leaf.at<Own>(), width = leaf.width<Own>(), base = leaf.base<Own>();
    const p = Pairs.of(Blocks.allocate(Leaf.room(bytes)), count, 2, valueBytes);
    let i: u32 = 0;
    for (let word: u32 = 0; word < Slices.IDS; word += 64) {
      for (let rest = load<u64>(at + (word >> 3)); rest; rest &= rest - 1) {
        const place = word + <u32>ctz(rest);
        Pairs.setId(p, i, place);
        Pairs.setValue(p, i++, base + <i64>Slices.get<Own>(at, width, place));
      }
    }
    leaf.setBase(0);
    leaf.setAt(Pairs.at(p));
    leaf.setWidths(2, valueBytes);
    leaf.setFirst(first);
    Blocks.release(at, old);
  }
}
