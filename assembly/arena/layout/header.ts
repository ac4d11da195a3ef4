// The arena: one bitmap in one relocatable block. This file has its two forms and the header's fields;
// blocks.ts allocates the blocks inside it.
//
// Every pointer is a u32 offset from the arena's start. A zeroed header is an empty bitmap.
// An arena has one of two forms (arena/change/forms.ts says when one becomes the other):
//
//   tiny   at most ITEMS_MAX members, or one short bitset of at most TINY_WORDS words: for applications that
//          keep a key with ten members, or a bit for each day of a year, for each user. It is a packed leaf
//          (arena/packed/layout.ts), or
//     +0   u8  form = 0     +1 u8 0
//     +2   u16 entries: 0 or 1           (+0 .. +15 are laid out as a leaf of the directory, see node.ts)
//     +4   directory entry, 12 bytes, which ends with the short bitset's header
//     +16  words
//
//   full   any number of containers
//     +0   u8  form = 1     +1 u8 0
//     +2   u8  paged: 1 if there may be packed leaves
//     +4   u32 root node of the directory
//     +8   u64 cardinality
//     +16  u32 bump mark: everything from here on is unused
//     +20  u32 bytes in freed blocks below the bump mark
//     +24  u32 block of the free lists, 0 while there is none
//     +28  u32 entries in the directory
//     +32  u32 bytes held back at the arena's very end while a builder works (see arena/builder/state.ts),
//          otherwise 0
//     +36  u32 bytes by which scratch room is raised while a builder works (see combine/shape/scratch.ts),
//          otherwise 0
//     +40  blocks

import { arena } from "../../env/memory";
import { Memory, view32, view64, view8 } from "../../env/view";

/** The header of a full arena, and the form of any. */
export abstract class Header {
  @inline static readonly TINY: u32 = 0;
  @inline static readonly FULL: u32 = 1;
  @inline static readonly FORM: u32 = 0;
  @inline static readonly PAGED: u32 = 2;
  /** Address of the word that holds the address of a full arena's root node. */
  @inline static readonly ROOT: u32 = 4;
  @inline private static readonly CARDINALITY: u32 = 8;
  @inline private static readonly BUMP: u32 = 16;
  @inline private static readonly FREED: u32 = 20;
  @inline static readonly LISTS: u32 = 24;
  @inline private static readonly ENTRIES: u32 = 28;
  @inline static readonly HELD: u32 = 32;
  @inline private static readonly LIFT: u32 = 36;
  /** Bytes of a full arena's header. */
  @inline static readonly BYTES: usize = 40;

  @inline static isTiny<M extends Memory>(): bool { return view8<M>(0, Header.FORM) == Header.TINY; }
  @inline static cardinality<M extends Memory>(): u64 { return view64<M>(0, Header.CARDINALITY); }
  @inline static setCardinality(members: u64): void { store<u64>(0, members, Header.CARDINALITY); }
  @inline static entries<M extends Memory>(): u32 { return view32<M>(0, Header.ENTRIES); }
  @inline static setEntries(entries: u32): void { store<u32>(0, entries, Header.ENTRIES); }
  /** Whether a full arena may have packed leaves. */
  @inline static isPaged(): bool { return load<u8>(0, Header.PAGED) != 0; }
  @inline static bump(): usize { return load<u32>(0, Header.BUMP); }
  @inline static setBump(at: usize): void { store<u32>(0, <u32>at, Header.BUMP); }
  @inline static freed(): usize { return load<u32>(0, Header.FREED); }
  @inline static addFreed(bytes: usize): void {
    store<u32>(0, load<u32>(0, Header.FREED) + <u32>bytes, Header.FREED);
  }

  @inline static lists(): usize { return load<u32>(0, Header.LISTS); }
  @inline static held(): usize { return load<u32>(0, Header.HELD); }
  @inline static lift(): usize { return load<u32>(0, Header.LIFT); }
  @inline static setLift(bytes: usize): void { store<u32>(0, <u32>bytes, Header.LIFT); }
  /** Gives the bytes that were held back to the allocator. */
  @inline static release(): void { store<u32>(0, 0, Header.HELD); }
}
/**
 * The host marks an arena with this when a trap has cut a write short, and never passes it to the core again.
 */
// @ts-ignore: decorator
@inline export const FORM_DAMAGED: u32 = 255;
/** Where a tiny arena's members begin; also the bytes that an empty arena takes. */
// @ts-ignore: decorator
@inline export const TINY_PAYLOAD: usize = 16;
/** More bytes than an arena has. */
// @ts-ignore: decorator
@inline export const ARENA_MAX: u64 = 0xffff0000;

/** The arena as a whole: its room, and what is held back at its end. */
export abstract class Arena {
  /** Makes memory 0 the empty bitmap. */
  static resetToEmpty(): void {
    memory.fill(0, 0, TINY_PAYLOAD);
  }

  /** Makes memory 0 a full arena without blocks. The caller sets the root. */
  static resetToFull(): void {
    Arena.reserve(Header.BYTES);
    memory.fill(0, 0, Header.BYTES);
    store<u8>(0, Header.FULL, Header.FORM);
    Header.setBump(Header.BYTES);
  }

  /** Makes memory 0 at least `bytes` large. */
  @inline static reserve(bytes: usize): void {
    if (arena.size() < <u32>bytes) arena.grow(<u32>bytes);
  }

  /**
   * Keeps `bytes` bytes at the end of the arena out of the allocator's reach;
   * they stay at the end when it grows.
   */
  static holdBack(bytes: usize): void {
    Arena.reserve(Header.bump() + bytes);
    store<u32>(0, <u32>bytes, Header.HELD);
  }

  /** Holds back `more` bytes more, which are above the bump mark. */
  @inline static holdBackMore(more: usize): void {
    store<u32>(0, <u32>(Header.held() + more), Header.HELD);
  }

  /**
   * Where the bytes held back begin. This moves whenever the arena grows, so call this again after an
   * allocation.
   */
  @inline static heldAt(): usize { return <usize>arena.size() - Header.held(); }

  /**
   * Makes memory 0 at least `bytes` large. No arena reaches 4 GiB: the host ends a call that requests the
   * greatest u32.
   */
  static growTo(bytes: u64): void {
    arena.grow(<u32>min<u64>(bytes, u32.MAX_VALUE));
  }

  /** Makes room for `bytes` bytes above the bump mark. */
  static makeRoom(bytes: usize): void {
    const held = Header.held();
    const size = <u64>arena.size();
    const need = <u64>Header.bump() + <u64>bytes + <u64>held;
    if (need <= size) return;
    Arena.growTo(need);
    if (held) memory.copy(<usize>arena.size() - held, <usize>size - held, held);
  }
}
