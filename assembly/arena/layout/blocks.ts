// The allocator of the blocks inside an arena.
//
// Blocks have no headers. The size of a block follows from what it holds (a container's kind and cardinality,
// a node's count), rounded up to one of 64 size classes, so its size is known where it is freed. Freed
// blocks wait in one list per class and are never coalesced: when too many bytes are in freed blocks, the
// host has the arena rewritten (combine/rebuild/rewrite.ts), which costs about as much as growing it.
//
// Growing may end the call because memory has run out, and then the bitmap must be unchanged. So an
// allocation grows the arena before it changes anything, freeing never grows it, and operations that need
// several allocations make room for all of them first (prepare()).

import { Own } from "../../env/view";
import {
  HEADER_BYTES, LISTS, PAGED, addFreedBytes, bumpMark, freeLists, freedBytes, heldAt, isPaged, isTiny,
  makeRoom, reserve, setBumpMark,
} from "./header";
import { PAGE_BYTES, pageUpTo } from "../packed/layout";

/** The most bytes in use after a tiny arena has become a full one. */
// @ts-ignore: decorator
@inline const PROMOTED_MAX: usize = 312;

// Multiples of 8 up to 128, then eight classes per doubling, up to 8192:
// 64 classes, so that one u64 can say which lists have blocks.

// @ts-ignore: decorator
@inline const CLASSES: u32 = 64;
// @ts-ignore: decorator
@inline const LINEAR_CLASSES: u32 = 16;
/** The largest block: a bitset, an array of 4096 members, or the most runs that are worth keeping. */
// @ts-ignore: decorator
@inline export const BLOCK_MAX: usize = 8192;
/** Bytes of a cache line. Bitsets are aligned to cache lines in the host's memory. */
// @ts-ignore: decorator
@inline export const LINE_BYTES: usize = 64;
/** Bytes that the host keeps before a large arena, from a cache line's start on. */
// @ts-ignore: decorator
@inline export const PREFIX_BYTES: usize = 8;

/** The smallest class whose blocks hold `bytes` (1 .. BLOCK_MAX) bytes. */
// @ts-ignore: decorator
@inline function classFor(bytes: usize): u32 {
  const last = <u32>bytes - 1;
  if (last < LINEAR_CLASSES * 8) return last >> 3;
  const top = 31 - clz(last);                 // 7 .. 12
  return LINEAR_CLASSES + ((top - 7) << 3) + ((last >> (top - 3)) & 7);
}

// @ts-ignore: decorator
@inline function classBytes(index: u32): usize {
  if (index < LINEAR_CLASSES) return (<usize>index + 1) << 3;
  const k = index - LINEAR_CLASSES;
  return <usize>(9 + (k & 7)) << ((k >> 3) + 4);
}

/** Bytes of the smallest block that holds `bytes` bytes. */
// @ts-ignore: decorator
@inline export function blockBytes(bytes: usize): usize { return classBytes(classFor(bytes)); }

// The block of the free lists: a u64 mask of the classes whose list is not empty, then a u32 head for each
// class. The first word of a free block is the address of the next one. An arena below LISTS_FROM has no
// lists: rewriting it costs less than the memory for the lists.

// @ts-ignore: decorator
@inline const LISTS_BYTES: usize = 8 + 4 * CLASSES;
/** Bytes of the block that holds them: the size of a class. */
// @ts-ignore: decorator
@inline const LISTS_BLOCK: usize = 288;
// @ts-ignore: decorator
@inline const LISTS_FROM: usize = 4096;
// @ts-ignore: decorator
@inline const HEADS: u32 = 8;

/** Where the next bitset would lie if its block came from above the bump mark. */
// @ts-ignore: decorator
@inline export function alignedBump(): usize {
  return ((bumpMark() + PREFIX_BYTES + LINE_BYTES - 1) & ~(LINE_BYTES - 1)) - PREFIX_BYTES;
}

/** Allocates a block for `bytes` bytes; its contents are undefined. */
export function allocate(bytes: usize): usize {
  const index = classFor(bytes);
  const size = classBytes(index);
  const lists = freeLists();
  if (lists) {
    const mask = load<u64>(lists);
    if ((mask >> index) & 1) return takeFree(lists, index);
    if (isPaged() || bumpMark() + size > heldAt()) {
      // There is no fresh room, or a fresh block would lie between pages:
      // split a larger free block if there is one.
      const larger = mask & ~(((<u64>1) << index) - 1);
      if (larger) {
        const from = <u32>ctz(larger);
        const at = takeFree(lists, from);
        releasePieces(at + size, classBytes(from) - size);
        return at;
      }
    }
  }
  return allocateFresh(size);
}

/**
 * Allocates a block of `size` bytes, the size of a class, at the bump mark; for a bitset at alignedBump().
 */
export function allocateFresh(size: usize): usize {
  makeRoom(size == BLOCK_MAX ? size + LINE_BYTES : size);
  const from = bumpMark();
  const at = size == BLOCK_MAX ? alignedBump() : from;
  setBumpMark(at + size);
  if (at != from) {
    if (freeLists()) releasePieces(from, at - from);
    else addFreedBytes(at - from);            // too little to begin the free lists for
  }
  return at;
}

/** Where the next page would lie if its block came from above the bump mark. */
// @ts-ignore: decorator
@inline export function pageAfter(mark: usize): usize { return pageUpTo(mark + PAGE_BYTES - 1); }

/** The most bytes that allocating a page takes. */
// @ts-ignore: decorator
@inline const PAGE_ROOM: usize = 2 * PAGE_BYTES;

/** The most bytes that allocating a page takes, together with blocks of `more` bytes before it. */
export function roomForPage(more: usize): usize {
  if (more) return more + PAGE_ROOM;
  return hasFreePage() ? 0 : pageAfter(bumpMark()) + PAGE_BYTES - bumpMark();
}

/**
 * Whether the next page's block is a freed one. Other blocks of this class may lie anywhere, but pages are
 * usually freed and allocated in turn, so checking the first block is enough.
 */
// @ts-ignore: decorator
@inline function hasFreePage(): bool {
  const lists = freeLists(), index = classFor(PAGE_BYTES);
  if (!lists || !((load<u64>(lists) >> index) & 1)) return false;
  const first = <usize>load<u32>(lists + (<usize>index << 2), HEADS);
  return pageUpTo(first) == first;
}

/** Allocates the block of a packed leaf, where a page may begin. */
export function allocatePage(): usize {
  store<u8>(0, 1, PAGED);
  if (hasFreePage()) return takeFree(freeLists(), classFor(PAGE_BYTES));
  const from = bumpMark(), at = pageAfter(from);
  makeRoom(at + PAGE_BYTES - from);
  setBumpMark(at + PAGE_BYTES);
  if (at != from) {
    if (freeLists()) releasePieces(from, at - from);
    else addFreedBytes(at - from);
  }
  return at;
}

/**
 * Makes room, so that allocating blocks of `bytes` bytes in all will not grow the arena,
 * including alignment and the free lists.
 */
export function prepare(bytes: usize): void {
  if (bytes >= BLOCK_MAX) bytes += LINE_BYTES;
  if (isTiny<Own>()) { reserve(PROMOTED_MAX + bytes + LISTS_BLOCK); return; }
  makeRoom(freeLists() || bumpMark() + bytes < LISTS_FROM ? bytes : bytes + LISTS_BLOCK);
}

function takeFree(lists: usize, index: u32): usize {
  const head = lists + (<usize>index << 2);
  const at = <usize>load<u32>(head, HEADS);
  const next = load<u32>(at);
  store<u32>(head, next, HEADS);
  if (!next) store<u64>(lists, load<u64>(lists) & ~((<u64>1) << index));
  addFreedBytes(-classBytes(index));
  return at;
}

/** Frees the block at `at`, which was allocated for `bytes` bytes. */
// @ts-ignore: decorator
@inline export function release(at: usize, bytes: usize): void { releasePieces(at, blockBytes(bytes)); }

/**
 * Frees what is behind the first `used` bytes, a multiple of 8, of the block of `bytes` bytes at `at`.
 * `used` is less than `bytes`.
 */
export function releaseTail(at: usize, used: usize, bytes: usize): void {
  releasePieces(at + used, bytes - used);
}

/** Frees `bytes` bytes at `at`, a multiple of 8, as one block or several. */
function releasePieces(at: usize, bytes: usize): void {
  if (at + bytes == bumpMark()) { setBumpMark(at); return; }
  addFreedBytes(bytes);
  let lists = freeLists();
  if (!lists) {
    // Without lists, the block is unusable until the arena is rewritten.
    if (bumpMark() < LISTS_FROM || bumpMark() + LISTS_BLOCK > heldAt()) return;
    lists = allocateFresh(LISTS_BLOCK);
    memory.fill(lists, 0, LISTS_BYTES);
    store<u32>(0, <u32>lists, LISTS);
  }
  while (bytes) {
    let index = classFor(bytes);
    if (classBytes(index) > bytes) index--;   // the largest class that fits
    const size = classBytes(index);
    const head = lists + (<usize>index << 2);
    store<u32>(at, load<u32>(head, HEADS));
    store<u32>(head, <u32>at, HEADS);
    store<u64>(lists, load<u64>(lists) | ((<u64>1) << index));
    at += size;
    bytes -= size;
  }
}

/**
 * Resizes the block at `at` from one for `from` bytes to one for `to` bytes, keeping the first min(from, to)
 * bytes. Returns where it is then. Shrinking never moves it, and growing does not if it is the topmost block.
 */
export function resize(at: usize, from: usize, to: usize): usize {
  // With one member more or less, the payload usually stays within the same eight bytes.
  if ((from - 1) >> 3 == (to - 1) >> 3) return at;
  const old = blockBytes(from), size = blockBytes(to);
  if (size == old) return at;
  if (size < old) { releasePieces(at + size, old - size); return at; }
  if (at + old == bumpMark() && size < BLOCK_MAX) {
    makeRoom(size - old);
    setBumpMark(at + size);
    return at;
  }
  const moved = allocate(to);
  memory.copy(moved, at, from);
  releasePieces(at, old);
  return moved;
}

/** Bytes of the block that holds the free lists, 0 without one. */
export function freeListsBytes(): usize { return freeLists() ? LISTS_BLOCK : 0; }

/**
 * Whether the free lists hold blocks of the used part only,
 * together no more bytes than were freed, and agree with the mask.
 */
export function freeListsAreSound(): bool {
  const lists = freeLists();
  if (!lists) return true;
  if (lists & 7 || lists < HEADER_BYTES || lists + freeListsBytes() > bumpMark()) return false;
  const mask = load<u64>(lists);
  let listed: usize = 0;
  for (let index: u32 = 0; index < CLASSES; index++) {
    const size = classBytes(index);
    let at = <usize>load<u32>(lists + (<usize>index << 2), HEADS);
    if (((mask >> index) & 1) != u64(at != 0)) return false;
    while (at) {
      listed += size;
      if (at & 7 || at < HEADER_BYTES || at + size > bumpMark() || listed > freedBytes()) return false;
      at = load<u32>(at);
    }
  }
  return true;
}
