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
import { view8, view32, view64 } from "../../env/view";

// @ts-ignore: decorator
@inline export const FORM_TINY: u32 = 0;
// @ts-ignore: decorator
@inline export const FORM_FULL: u32 = 1;
/**
 * The host marks an arena with this when a trap has cut a write short, and never passes it to the core again.
 */
// @ts-ignore: decorator
@inline export const FORM_DAMAGED: u32 = 255;
/** Where a tiny arena's members begin; also the bytes that an empty arena takes. */
// @ts-ignore: decorator
@inline export const TINY_PAYLOAD: usize = 16;

// @ts-ignore: decorator
@inline const FORM: u32 = 0;
// @ts-ignore: decorator
@inline export const PAGED: u32 = 2;
/** Address of the word that holds the address of a full arena's root node. */
// @ts-ignore: decorator
@inline export const ROOT: u32 = 4;
// @ts-ignore: decorator
@inline const CARDINALITY: u32 = 8;
// @ts-ignore: decorator
@inline const BUMP: u32 = 16;
// @ts-ignore: decorator
@inline const FREED: u32 = 20;
// @ts-ignore: decorator
@inline export const LISTS: u32 = 24;
// @ts-ignore: decorator
@inline const ENTRIES: u32 = 28;
// @ts-ignore: decorator
@inline const HELD: u32 = 32;
// @ts-ignore: decorator
@inline const LIFT: u32 = 36;
/** Bytes of a full arena's header. */
// @ts-ignore: decorator
@inline export const HEADER_BYTES: usize = 40;
/** More bytes than an arena has. */
// @ts-ignore: decorator
@inline export const ARENA_MAX: u64 = 0xffff0000;

// @ts-ignore: decorator
@inline export function isTiny<M>(): bool { return view8<M>(0, FORM) == FORM_TINY; }
// @ts-ignore: decorator
@inline export function totalCardinality<M>(): u64 { return view64<M>(0, CARDINALITY); }
// @ts-ignore: decorator
@inline export function setTotalCardinality(members: u64): void { store<u64>(0, members, CARDINALITY); }
// @ts-ignore: decorator
@inline export function entryTotal<M>(): u32 { return view32<M>(0, ENTRIES); }
// @ts-ignore: decorator
@inline export function setEntryTotal(entries: u32): void { store<u32>(0, entries, ENTRIES); }
/** Whether a full arena may have packed leaves. */
// @ts-ignore: decorator
@inline export function isPaged(): bool { return load<u8>(0, PAGED) != 0; }
// @ts-ignore: decorator
@inline export function bumpMark(): usize { return load<u32>(0, BUMP); }
// @ts-ignore: decorator
@inline export function setBumpMark(at: usize): void { store<u32>(0, <u32>at, BUMP); }
// @ts-ignore: decorator
@inline export function freedBytes(): usize { return load<u32>(0, FREED); }
// @ts-ignore: decorator
@inline export function addFreedBytes(bytes: usize): void {
  store<u32>(0, load<u32>(0, FREED) + <u32>bytes, FREED);
}
// @ts-ignore: decorator
@inline export function freeLists(): usize { return load<u32>(0, LISTS); }
// @ts-ignore: decorator
@inline export function heldBytes(): usize { return load<u32>(0, HELD); }
// @ts-ignore: decorator
@inline export function lift(): usize { return load<u32>(0, LIFT); }
// @ts-ignore: decorator
@inline export function setLift(bytes: usize): void { store<u32>(0, <u32>bytes, LIFT); }
/** Gives the bytes that were held back to the allocator. */
// @ts-ignore: decorator
@inline export function letGo(): void { store<u32>(0, 0, HELD); }

/** Makes memory 0 the empty bitmap. */
export function resetToEmpty(): void {
  memory.fill(0, 0, TINY_PAYLOAD);
}

/** Makes memory 0 a full arena without blocks. The caller sets the root. */
export function resetToFull(): void {
  reserve(HEADER_BYTES);
  memory.fill(0, 0, HEADER_BYTES);
  store<u8>(0, FORM_FULL, FORM);
  setBumpMark(HEADER_BYTES);
}

/** Makes memory 0 at least `bytes` large. */
// @ts-ignore: decorator
@inline export function reserve(bytes: usize): void {
  if (arena.size() < <u32>bytes) arena.grow(<u32>bytes);
}

/**
 * Keeps `bytes` bytes at the end of the arena out of the allocator's reach;
 * they stay at the end when it grows.
 */
export function holdBack(bytes: usize): void {
  reserve(bumpMark() + bytes);
  store<u32>(0, <u32>bytes, HELD);
}

/** Holds back `more` bytes more, which are above the bump mark. */
// @ts-ignore: decorator
@inline export function holdBackMore(more: usize): void {
  store<u32>(0, <u32>(heldBytes() + more), HELD);
}

/**
 * Where the bytes held back begin. This moves whenever the arena grows, so call this again after an
 * allocation.
 */
// @ts-ignore: decorator
@inline export function heldAt(): usize { return <usize>arena.size() - heldBytes(); }

/**
 * Makes memory 0 at least `bytes` large. No arena reaches 4 GiB:
 * the host ends a call whose size is the greatest u32.
 */
export function growTo(bytes: u64): void {
  arena.grow(<u32>min<u64>(bytes, u32.MAX_VALUE));
}

/** Makes room for `bytes` bytes above the bump mark. */
export function makeRoom(bytes: usize): void {
  const held = heldBytes();
  const size = <u64>arena.size();
  const need = <u64>bumpMark() + <u64>bytes + <u64>held;
  if (need <= size) return;
  growTo(need);
  if (held) memory.copy(<usize>arena.size() - held, <usize>size - held, held);
}
