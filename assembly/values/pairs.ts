// Pairs of an id and its value: the ids in ascending order, all of one width, and behind them the values in the
// same order, of another width. Ids are counted from the first one of the leaf; values have a sign. In code, a
// list of pairs is one number:
//
//   address, 32 bits | pairs, 16 | bytes of an id, 1 to 8, 8 bits | bytes of a value, 0 to 8, 8 bits

import { Memory, Own, view16 } from "../env/view";
import { Bytes } from "./bytes";
import { Leaf, Values } from "./layout";

export abstract class Pairs {
  /** The most bytes of a list. Moving that many takes less than reading them from memory. */
  @inline static readonly BYTES_MAX: usize = 2048;
  /** The same where all could be slices of one leaf, which take up to 65 units. */
  @inline static readonly WINDOW_BYTES_MAX: usize = 4096;

  @inline static of(at: usize, count: u32, idBytes: u32, valueBytes: u32): u64 {
    return <u64>at | <u64>count << 32 | <u64>idBytes << 48 | <u64>valueBytes << 56;
  }

  @inline static ofTiny<M extends Memory>(): u64 {
    return Pairs.of(Values.PAIRS_AT, Values.pairs<M>(), Values.idBytes<M>(), Values.valueBytes<M>());
  }

  @inline static ofLeaf<M extends Memory>(leaf: Leaf): u64 {
    return Pairs.of(leaf.at<M>(), leaf.count<M>(), leaf.idBytes<M>(), leaf.width<M>());
  }

  @inline static at(p: u64): usize { return <usize>(<u32>p); }
  @inline static count(p: u64): u32 { return <u32>(p >> 32) & 0xffff; }
  @inline static idBytes(p: u64): u32 { return <u32>(p >> 48) & 0xff; }
  @inline static valueBytes(p: u64): u32 { return <u32>(p >> 56); }
  /** Bytes of a pair. */
  @inline static pairBytes(p: u64): u32 { return Pairs.idBytes(p) + Pairs.valueBytes(p); }
  @inline static bytes(p: u64): usize { return <usize>Pairs.count(p) * Pairs.pairBytes(p); }
  @inline private static valuesAt(p: u64): usize {
    return Pairs.at(p) + <usize>Pairs.count(p) * Pairs.idBytes(p);
  }

  @inline static id<M extends Memory>(p: u64, i: u32): u64 {
    const bytes = Pairs.idBytes(p), at = Pairs.at(p) + <usize>i * bytes;
    return bytes == 2 ? <u64>view16<M>(at, 0) : Bytes.load<M>(at, bytes);
  }

  @inline static value<M extends Memory>(p: u64, i: u32): i64 {
    const bytes = Pairs.valueBytes(p);
    return Bytes.loadSigned<M>(Pairs.valuesAt(p) + <usize>i * bytes, bytes);
  }

  @inline static setId(p: u64, i: u32, id: u64): void {
    const bytes = Pairs.idBytes(p);
    Bytes.store(Pairs.at(p) + <usize>i * bytes, bytes, id);
  }

  @inline static setValue(p: u64, i: u32, value: i64): void {
    const bytes = Pairs.valueBytes(p);
    Bytes.store(Pairs.valuesAt(p) + <usize>i * bytes, bytes, <u64>value);
  }

  /** How many ids are less than `id`. */
  static below<M extends Memory>(p: u64, id: u64): u32 {
    let from: u32 = 0, rest = Pairs.count(p);
    if (!rest) return 0;
    while (rest > 1) {
      const half = rest >> 1;
      from = Pairs.id<M>(p, from + half - 1) < id ? from + half : from;
      rest -= half;
    }
    return from + u32(Pairs.id<M>(p, from) < id);
  }

  /** Gives ids and values these widths, which are no less than they have, and adds `more` to the ids. */
  static widen(p: u64, idBytes: u32, valueBytes: u32, more: u64): u64 {
    const count = Pairs.count(p), wide = Pairs.of(Pairs.at(p), count, idBytes, valueBytes);
    if (wide == p && !more) return p;
    // Each number moves up, or stays: so the last one goes first.
    for (let i = count; i > 0; i--) Pairs.setValue(wide, i - 1, Pairs.value<Own>(p, i - 1));
    for (let i = count; i > 0; i--) Pairs.setId(wide, i - 1, Pairs.id<Own>(p, i - 1) + more);
    return wide;
  }

  /** Makes room for a pair at `index`. The block has room for it, and the pair fits the widths. */
  static insert(p: u64, index: u32, id: u64, value: i64): u64 {
    const idBytes = Pairs.idBytes(p), valueBytes = Pairs.valueBytes(p), count = Pairs.count(p);
    const at = Pairs.at(p), values = Pairs.valuesAt(p), middle = values + <usize>index * valueBytes;
    const moved = middle + idBytes;
    memory.copy(moved + valueBytes, middle, <usize>(count - index) * valueBytes);
    memory.copy(values + idBytes, values, <usize>index * valueBytes);
    const there = at + <usize>index * idBytes;
    memory.copy(there + idBytes, there, <usize>(count - index) * idBytes);
    const larger = Pairs.of(at, count + 1, idBytes, valueBytes);
    Pairs.setId(larger, index, id);
    Pairs.setValue(larger, index, value);
    return larger;
  }

  /** Makes room for `more` pairs at the end, whose content is undefined. The block has room for them. */
  static extend(p: u64, more: u32): u64 {
    const values = Pairs.valuesAt(p), count = Pairs.count(p);
    memory.copy(values + <usize>more * Pairs.idBytes(p), values, <usize>count * Pairs.valueBytes(p));
    return Pairs.of(Pairs.at(p), count + more, Pairs.idBytes(p), Pairs.valueBytes(p));
  }

  /** Removes pair `index`. */
  static remove(p: u64, index: u32): u64 {
    const idBytes = Pairs.idBytes(p), valueBytes = Pairs.valueBytes(p), count = Pairs.count(p);
    const there = Pairs.at(p) + <usize>index * idBytes, values = Pairs.valuesAt(p);
    memory.copy(there, there + idBytes, <usize>(count - index - 1) * idBytes);
    memory.copy(values - idBytes, values, <usize>index * valueBytes);
    const middle = values + <usize>index * valueBytes;
    memory.copy(middle - idBytes, middle + valueBytes, <usize>(count - index - 1) * valueBytes);
    return Pairs.of(Pairs.at(p), count - 1, idBytes, valueBytes);
  }

  /** The least value of the pairs from .. to - 1, of which there is one. */
  static least<M extends Memory>(p: u64, from: u32, to: u32): i64 {
    let least = Pairs.value<M>(p, from);
    for (let i = from + 1; i < to; i++) least = min(least, Pairs.value<M>(p, i));
    return least;
  }

  static greatest<M extends Memory>(p: u64, from: u32, to: u32): i64 {
    let greatest = Pairs.value<M>(p, from);
    for (let i = from + 1; i < to; i++) greatest = max(greatest, Pairs.value<M>(p, i));
    return greatest;
  }
}
