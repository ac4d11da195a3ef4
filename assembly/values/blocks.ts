// The allocator of a full arena of values. Blocks are units of 64 bytes: exactly what slices need, and little
// waste for pairs. They have no headers, and freed ones wait in a list for each size, as in
// arena/layout/blocks.ts; the host has an arena with too many of them rewritten.

import { arena } from "../env/memory";
import { Values } from "./layout";

/** Sizes of blocks. */
export abstract class Units {
  @inline static readonly BYTES: usize = 64;
  /** The largest block in units: the presence and 64 slices. */
  @inline static readonly MAX: u32 = 65;

  @inline static of(bytes: usize): u32 { return <u32>((bytes + Units.BYTES - 1) >> 6); }
  @inline static bytes(bytes: usize): usize { return (bytes + Units.BYTES - 1) & ~(Units.BYTES - 1); }
}

/** Allocates and frees blocks of a full arena of values. */
export abstract class Blocks {
  /** Makes the unused part of the arena at least `bytes` large. Changes nothing if memory runs out. */
  static makeRoom(bytes: usize): void {
    const need = <u64>Values.bump() + <u64>bytes;
    if (need > <u64>arena.size()) arena.grow(<u32>min<u64>(need, u32.MAX_VALUE));
  }

  /** Whether a block for `bytes` bytes can be allocated without growing the arena. */
  static has(bytes: usize): bool {
    return load<u32>(Blocks.list(Units.of(bytes))) != 0
      || <u64>Values.bump() + Units.bytes(bytes) <= <u64>arena.size();
  }

  /** Allocates a block for `bytes` bytes, up to 65 units; its content is undefined. */
  static allocate(bytes: usize): usize {
    const units = Units.of(bytes), free = Blocks.take(units);
    if (free) return free;
    for (let larger = units + 1; Values.freed() && larger <= Units.MAX; larger++) {
      const at = Blocks.take(larger);
      if (!at) continue;
      Blocks.put(at + (<usize>units << 6), larger - units);
      return at;
    }
    return Blocks.allocateFresh(Units.bytes(bytes));
  }

  /** Allocates any number of units behind the bump mark. */
  static allocateFresh(bytes: usize): usize {
    Blocks.makeRoom(bytes);
    const at = Values.bump();
    Values.setBump(at + bytes);
    return at;
  }

  /** Frees the block at `at`, which was allocated for `bytes` bytes, however many. */
  static release(at: usize, bytes: usize): void {
    let units = Units.of(bytes);
    if (at + (<usize>units << 6) == Values.bump()) { Values.setBump(at); return; }
    while (units) {
      const piece = min(units, Units.MAX);
      Blocks.put(at, piece);
      at += <usize>piece << 6;
      units -= piece;
    }
  }

  /** Resizes a block, keeping the first min(from, to) bytes. Returns where it is then. */
  static resize(at: usize, from: usize, to: usize): usize {
    const old = Units.bytes(from), size = Units.bytes(to);
    if (old == size) return at;
    if (size < old) { Blocks.release(at + size, old - size); return at; }
    if (at + old == Values.bump()) {
      Blocks.makeRoom(size - old);
      Values.setBump(at + size);
      return at;
    }
    const moved = Blocks.allocate(to);
    memory.copy(moved, at, from);
    Blocks.release(at, from);
    return moved;
  }

  /** Address of the head of the list of free blocks of that many units. */
  @inline static list(units: u32): usize { return <usize>Values.LISTS + (<usize>units << 2); }

  private static take(units: u32): usize {
    const list = Blocks.list(units), at = <usize>load<u32>(list);
    if (!at) return 0;
    store<u32>(list, load<u32>(at));
    Values.addFreed(-(<usize>units << 6));
    return at;
  }

  private static put(at: usize, units: u32): void {
    const list = Blocks.list(units);
    store<u32>(at, load<u32>(list));
    store<u32>(list, <u32>at);
    Values.addFreed(<usize>units << 6);
  }
}
