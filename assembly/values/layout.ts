// The arena of a key that has integers for ids: an id is a u64, and its value an i64. Such an arena is a
// relocatable block like that of a bitmap, and uses the same imports, but its content is another one. Its first
// byte says so, and the server has a type of its own for such keys. Three forms:
//
//   empty   16 zero bytes, as for a bitmap
//
//   tiny    one list of pairs (pairs.ts)
//     +0   u8  form = 2     +1  u8 bytes of an id | bytes of a value << 4
//     +2   u16 pairs        +4  pairs
//
//   full    leaves: each has the ids of a range, in pairs or in bit slices
//     +0   u8  form = 3     +4  u32 bump mark: everything from here on is unused
//     +8   u64 ids          +16 i128 sum of all values
//     +32  u32 bytes in freed blocks below the bump mark
//     +36  u32 leaves       +40 u32 address of the directory    +44 u32 room of the directory, in leaves
//     +48  u32 head of a list of free blocks for each size, in units of Block.UNIT
//
// The directory is one array of leaves in the order of their ids. An arena is a segment of a large key, so it
// has some hundred leaves; a B+-tree would save nothing. Each leaf has 40 bytes there:
//
//     +0   u64 first: the least id that the leaf may have; it ends where the next leaf begins
//     +8   i64 least value  +16 i64 greatest value
//     +24  i64 base: the number that slices do not store (0 for pairs)
//     +32  u32 address      +36 u16 ids    +38 u8 bytes of an id, 0 for slices
//     +39  u8  bytes of a value, or number of slices; high bit: least and greatest value are bounds only
//
// Slices hold up to 512 ids, whose upper 55 bits are the same, in units of 64 bytes with a bit for each of
// them: first the presence, and then bit 0 of value - base, bit 1, and so on. An id that is not there has
// zeros. So a value lies in adjacent cache lines, a comparison is a few vector operations for 512 ids, and a
// sum is one count of bits for each slice.

import { Memory, Own, view16, view32, view64, view8 } from "../env/view";

/** The first byte of an arena of values. */
export const enum Form { EMPTY, TINY = 2, FULL = 3 }

/** The head of an arena of values. */
export abstract class Values {
  @inline private static readonly WIDTHS: u32 = 1;
  @inline private static readonly PAIRS: u32 = 2;
  /** Address of a tiny arena's pairs. */
  @inline static readonly PAIRS_AT: usize = 4;
  @inline private static readonly BUMP: u32 = 4;
  @inline private static readonly COUNT: u32 = 8;
  @inline private static readonly SUM: u32 = 16;
  @inline private static readonly SUM_HIGH: u32 = 24;
  @inline private static readonly FREED: u32 = 32;
  @inline private static readonly LEAVES: u32 = 36;
  @inline private static readonly DIRECTORY: u32 = 40;
  @inline private static readonly ROOM: u32 = 44;
  @inline static readonly LISTS: u32 = 48;
  /** Bytes of a full arena's header. Blocks behind it begin at cache lines, because the host has a prefix. */
  @inline static readonly BYTES: usize = 376;

  @inline static form<M extends Memory>(): Form { return <Form>view8<M>(0, 0); }
  /** Whether memory 0 holds values and not a bitmap; false for an empty arena, which is both. */
  @inline static are<M extends Memory>(): bool { return (view8<M>(0, 0) | 1) == Form.FULL; }
  @inline static isFull<M extends Memory>(): bool { return view8<M>(0, 0) == Form.FULL; }
  /** Pairs of a tiny or empty arena. */
  @inline static pairs<M extends Memory>(): u32 { return view16<M>(0, Values.PAIRS); }
  @inline static idBytes<M extends Memory>(): u32 { return view8<M>(0, Values.WIDTHS) & 15; }
  @inline static valueBytes<M extends Memory>(): u32 { return view8<M>(0, Values.WIDTHS) >> 4; }
  @inline static setTiny(pairs: u32, idBytes: u32, valueBytes: u32): void {
    store<u32>(0, Form.TINY | (idBytes | valueBytes << 4) << 8 | pairs << 16);
  }

  @inline static bump(): usize { return load<u32>(0, Values.BUMP); }
  @inline static setBump(at: usize): void { store<u32>(0, <u32>at, Values.BUMP); }
  @inline static count<M extends Memory>(): u64 {
    return Values.isFull<M>() ? view64<M>(0, Values.COUNT) : Values.pairs<M>();
  }

  @inline static addCount(ids: i64): void { store<u64>(0, load<u64>(0, Values.COUNT) + ids, Values.COUNT); }
  @inline static sumLow<M extends Memory>(): u64 { return view64<M>(0, Values.SUM); }
  @inline static sumHigh<M extends Memory>(): i64 { return <i64>view64<M>(0, Values.SUM_HIGH); }
  /** Address of the sum of a full arena, a Wide number. */
  @inline static sumAt(): usize { return Values.SUM; }

  @inline static freed(): usize { return load<u32>(0, Values.FREED); }
  @inline static addFreed(bytes: usize): void {
    store<u32>(0, load<u32>(0, Values.FREED) + <u32>bytes, Values.FREED);
  }

  @inline static leaves<M extends Memory>(): u32 { return view32<M>(0, Values.LEAVES); }
  @inline static setLeaves(leaves: u32): void { store<u32>(0, leaves, Values.LEAVES); }
  @inline static directory<M extends Memory>(): usize { return view32<M>(0, Values.DIRECTORY); }
  @inline static room(): u32 { return load<u32>(0, Values.ROOM); }
  @inline static setDirectory(at: usize, room: u32): void {
    store<u32>(0, <u32>at, Values.DIRECTORY);
    store<u32>(0, room, Values.ROOM);
  }

  @inline static leafAt<M extends Memory>(index: u32): Leaf {
    return changetype<Leaf>(Values.directory<M>() + <usize>index * Leaf.BYTES);
  }

  /** Makes memory 0 an arena without ids. */
  @inline static reset(): void { memory.fill(0, 0, 16); }
}

/** A leaf of a full arena, by its place in the directory, which changes when leaves are added or removed. */
@final @unmanaged
export class Leaf {
  @inline static readonly BYTES: usize = 40;
  /** A pass reads a leaf from memory while it works on the one so many places before. */
  @inline static readonly AHEAD: u32 = 2;
  @inline private static readonly LEAST: u32 = 8;
  @inline private static readonly GREATEST: u32 = 16;
  @inline private static readonly BASE: u32 = 24;
  @inline private static readonly AT: u32 = 32;
  @inline private static readonly COUNT: u32 = 36;
  @inline private static readonly ID_BYTES: u32 = 38;
  @inline private static readonly WIDTH: u32 = 39;
  @inline private static readonly LOOSE: u32 = 0x80;
  @inline private static readonly SMALL: usize = 768;
  @inline private static readonly STEP: usize = 128;

  @inline first<M extends Memory>(): u64 { return view64<M>(changetype<usize>(this), 0); }
  @inline least<M extends Memory>(): i64 { return <i64>view64<M>(changetype<usize>(this), Leaf.LEAST); }
  @inline greatest<M extends Memory>(): i64 { return <i64>view64<M>(changetype<usize>(this), Leaf.GREATEST); }
  @inline base<M extends Memory>(): i64 { return <i64>view64<M>(changetype<usize>(this), Leaf.BASE); }
  @inline at<M extends Memory>(): usize { return view32<M>(changetype<usize>(this), Leaf.AT); }
  @inline count<M extends Memory>(): u32 { return view16<M>(changetype<usize>(this), Leaf.COUNT); }
  @inline idBytes<M extends Memory>(): u32 { return view8<M>(changetype<usize>(this), Leaf.ID_BYTES); }
  @inline isSliced<M extends Memory>(): bool { return !this.idBytes<M>(); }
  /** The number of slices, or the bytes of a value of pairs. */
  @inline width<M extends Memory>(): u32 { return view8<M>(changetype<usize>(this), Leaf.WIDTH) & 0x7f; }
  @inline isLoose<M extends Memory>(): bool {
    return (view8<M>(changetype<usize>(this), Leaf.WIDTH) & Leaf.LOOSE) != 0;
  }

  /** Whether the id belongs to the leaf, which is the last one that begins at or before the id. */
  @inline covers(id: u64): bool { return !this.isSliced<Own>() || id - this.first<Own>() < 512; }
  @inline setFirst(id: u64): void { store<u64>(changetype<usize>(this), id); }
  @inline setBounds(least: i64, greatest: i64): void {
    store<i64>(changetype<usize>(this), least, Leaf.LEAST);
    store<i64>(changetype<usize>(this), greatest, Leaf.GREATEST);
  }

  @inline setBase(base: i64): void { store<i64>(changetype<usize>(this), base, Leaf.BASE); }
  @inline setAt(at: usize): void { store<u32>(changetype<usize>(this), <u32>at, Leaf.AT); }
  @inline setCount(count: u32): void { store<u16>(changetype<usize>(this), <u16>count, Leaf.COUNT); }
  @inline setWidths(idBytes: u32, width: u32): void {
    const loose = load<u8>(changetype<usize>(this), Leaf.WIDTH) & Leaf.LOOSE;
    store<u8>(changetype<usize>(this), <u8>idBytes, Leaf.ID_BYTES);
    store<u8>(changetype<usize>(this), <u8>width | loose, Leaf.WIDTH);
  }

  @inline setLoose(loose: bool): void {
    store<u8>(changetype<usize>(this), <u8>(this.width<Own>() | (loose ? Leaf.LOOSE : 0)), Leaf.WIDTH);
  }

  /**
   * Bytes to allocate for pairs of `bytes` bytes. Leaves that random ids fill grow at the same pace, so the
   * blocks that they leave fit few others; but rewriting a segment now and then costs less than room that
   * each leaf would have to spare.
   */
  @inline static room(bytes: usize): usize {
    return bytes <= Leaf.SMALL ? max(bytes, 1) : (bytes + Leaf.STEP - 1) & ~(Leaf.STEP - 1);
  }

  /** Bytes that its block was allocated for. */
  @inline bytes<M extends Memory>(): usize {
    const ids = this.idBytes<M>(), width = this.width<M>();
    return ids ? Leaf.room(<usize> this.count<M>() * (ids + width)) : (1 + <usize>width) << 6;
  }
}
