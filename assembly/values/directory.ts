// The directory of a full arena of values: finds leaves, and adds and removes them.

import { Memory, Own } from "../env/view";
import { Blocks, Units } from "./blocks";
import { Leaf, Values } from "./layout";

export abstract class Leaves {
  /** Leaves for which a new directory has room. */
  @inline private static readonly ROOM_FIRST: u32 = 8;

  /** How many leaves begin at or before `id`. The search has no branches that could be mispredicted. */
  static upTo<M extends Memory>(id: u64): u32 {
    const first = Values.directory<M>(), leaves = Values.leaves<M>();
    let base = first, rest = leaves;
    if (!rest) return 0;
    while (rest > 1) {
      const half = rest >> 1, middle = base + <usize>half * Leaf.BYTES;
      base = changetype<Leaf>(middle).first<M>() <= id ? middle : base;
      rest -= half;
    }
    return <u32>((base - first) / Leaf.BYTES) + u32(changetype<Leaf>(base).first<M>() <= id);
  }

  /** Bytes of a directory with room for that many leaves. */
  @inline static bytes(room: u32): usize { return Units.bytes(<usize>room * Leaf.BYTES); }

  @inline private static roomFor(leaves: u32): u32 {
    return max(leaves + (leaves >> 2), Leaves.ROOM_FIRST);
  }

  /** Bytes of the first directory. */
  @inline static firstBytes(): usize { return Leaves.bytes(Leaves.ROOM_FIRST); }

  /** The most bytes that adding `more` leaves allocates. */
  @inline static bytesToAdd(more: u32): usize {
    const leaves = Values.leaves<Own>() + more;
    return leaves <= Values.room() ? 0 : Leaves.bytes(Leaves.roomFor(leaves));
  }

  /** Makes room for `more` leaves at `index`, with undefined content. */
  static open(index: u32, more: u32): void {
    const leaves = Values.leaves<Own>(), all = leaves + more;
    if (all > Values.room()) {
      const room = Leaves.roomFor(all), from = Values.directory<Own>(), old = Values.room();
      const at = Blocks.allocateFresh(Leaves.bytes(room));
      if (old) {
        memory.copy(at, from, <usize>leaves * Leaf.BYTES);
        Blocks.release(from, Leaves.bytes(old));
      }
      Values.setDirectory(at, room);
    }
    const at = changetype<usize>(Values.leafAt<Own>(index));
    memory.copy(at + <usize>more * Leaf.BYTES, at, <usize>(leaves - index) * Leaf.BYTES);
    Values.setLeaves(all);
  }

  /** Removes leaf `index`, whose block the caller has freed. */
  static close(index: u32): void {
    const leaves = Values.leaves<Own>(), at = changetype<usize>(Values.leafAt<Own>(index));
    memory.copy(at, at + Leaf.BYTES, <usize>(leaves - index - 1) * Leaf.BYTES);
    Values.setLeaves(leaves - 1);
  }

  /** Whether a leaf may have to take old values again: of a list of changes that has not ended. */
  static anyIsLoose<M extends Memory>(): bool {
    for (let i: u32 = 0, leaves = Values.leaves<M>(); i < leaves; i++) {
      if (Values.leafAt<M>(i).isLoose<M>()) return true;
    }
    return false;
  }
}
