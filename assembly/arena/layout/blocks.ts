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
import { Arena, Header } from "./header";
import { Page } from "../packed/layout";

/** Sizes of blocks, and where they lie. */
export abstract class Block {
  /** The most bytes in use after a tiny arena has become a full one. */
  @inline static readonly PROMOTED_MAX: usize = 312;
  // Multiples of 8 up to 128, then eight classes per doubling, up to 8192:
  // 64 classes, so that one u64 can say which lists have blocks.

  @inline static readonly CLASSES: u32 = 64;
  @inline private static readonly LINEAR_CLASSES: u32 = 16;
  /** The largest block: a bitset, an array of 4096 members, or the most runs that are worth keeping. */
  @inline static readonly MAX: usize = 8192;
  /** Bytes of a cache line. Bitsets are aligned to cache lines in the host's memory. */
  @inline static readonly LINE: usize = 64;
  /** Bytes that the host keeps before a large arena, from a cache line's start on. */
  @inline static readonly PREFIX: usize = 8;
  // The block of the free lists: a u64 mask of the classes whose list is not empty, then a u32 head for each
  // class. The first word of a free block is the address of the next one. An arena below LISTS_FROM has no
  // lists: rewriting it costs less than the memory for the lists.

  @inline static readonly LISTS_BYTES: usize = 8 + 4 * Block.CLASSES;
  /** Bytes of the block that holds them: the size of a class. */
  @inline static readonly LISTS_BLOCK: usize = 288;
  @inline static readonly LISTS_FROM: usize = 4096;
  @inline static readonly HEADS: u32 = 8;
  /** The most bytes that allocating a page takes. */
  @inline static readonly PAGE_ROOM: usize = 2 * Page.BYTES;

  /** The smallest class whose blocks hold `bytes` (1 .. Block.MAX) bytes. */
  @inline static classFor(bytes: usize): u32 {
    const last = <u32>bytes - 1;
    if (last < Block.LINEAR_CLASSES * 8) return last >> 3;
    const top = 31 - clz(last);                 // 7 .. 12
    return Block.LINEAR_CLASSES + ((top - 7) << 3) + ((last >> (top - 3)) & 7);
  }

  @inline static classBytes(index: u32): usize {
    if (index < Block.LINEAR_CLASSES) return (<usize>index + 1) << 3;
    const k = index - Block.LINEAR_CLASSES;
    return <usize>(9 + (k & 7)) << ((k >> 3) + 4);
  }

  /** Bytes of the smallest block that holds `bytes` bytes. */
  @inline static bytes(bytes: usize): usize { return Block.classBytes(Block.classFor(bytes)); }

  /**
   * Whether the next page's block is a freed one. Other blocks of this class may lie anywhere, but pages are
   * usually freed and allocated in turn, so checking the first block is enough.
   */
  @inline static hasFreePage(): bool {
    const lists = Header.lists(), index = Block.classFor(Page.BYTES);
    if (!lists || !((load<u64>(lists) >> index) & 1)) return false;
    const first = <usize>load<u32>(lists + (<usize>index << 2), Block.HEADS);
    return Page.upTo(first) == first;
  }
}

/** Allocates and frees blocks. */
export abstract class Allocator {
  /** Where the next bitset would lie if its block came from above the bump mark. */
  @inline static alignedBump(): usize {
    return ((Header.bump() + Block.PREFIX + Block.LINE - 1) & ~(Block.LINE - 1)) - Block.PREFIX;
  }

  /** Allocates a block for `bytes` bytes; its contents are undefined. */
  static allocate(bytes: usize): usize {
    const index = Block.classFor(bytes);
    const size = Block.classBytes(index);
    const lists = Header.lists();
    if (lists) {
      const mask = load<u64>(lists);
      if ((mask >> index) & 1) return Allocator.takeFree(lists, index);
      if (Header.isPaged() || Header.bump() + size > Arena.heldAt()) {
        // There is no fresh room, or a fresh block would lie between pages:
        // split a larger free block if there is one.
        const larger = mask & ~(((<u64>1) << index) - 1);
        if (larger) {
          const from = <u32>ctz(larger);
          const at = Allocator.takeFree(lists, from);
          Allocator.releasePieces(at + size, Block.classBytes(from) - size);
          return at;
        }
      }
    }
    return Allocator.allocateFresh(size);
  }

  /**
   * Allocates a block of `size` bytes, the size of a class, at the bump mark; for a bitset at
   * Allocator.alignedBump().
   */
  static allocateFresh(size: usize): usize {
    Arena.makeRoom(size == Block.MAX ? size + Block.LINE : size);
    const from = Header.bump();
    const at = size == Block.MAX ? Allocator.alignedBump() : from;
    Header.setBump(at + size);
    if (at != from) {
      if (Header.lists()) Allocator.releasePieces(from, at - from);
      else Header.addFreed(at - from);            // too little to begin the free lists for
    }
    return at;
  }

  /** Where the next page would lie if its block came from above the bump mark. */
  @inline static pageAfter(mark: usize): usize { return Page.upTo(mark + Page.BYTES - 1); }

  /** The most bytes that allocating a page takes, together with blocks of `more` bytes before it. */
  static roomForPage(more: usize): usize {
    if (more) return more + Block.PAGE_ROOM;
    return Block.hasFreePage() ? 0 : Allocator.pageAfter(Header.bump()) + Page.BYTES - Header.bump();
  }

  /** Allocates the block of a packed leaf, where a page may begin. */
  static allocatePage(): usize {
    store<u8>(0, 1, Header.PAGED);
    if (Block.hasFreePage()) return Allocator.takeFree(Header.lists(), Block.classFor(Page.BYTES));
    const from = Header.bump(), at = Allocator.pageAfter(from);
    Arena.makeRoom(at + Page.BYTES - from);
    Header.setBump(at + Page.BYTES);
    if (at != from) {
      if (Header.lists()) Allocator.releasePieces(from, at - from);
      else Header.addFreed(at - from);
    }
    return at;
  }

  /**
   * Makes room, so that allocating blocks of `bytes` bytes in all will not grow the arena,
   * including alignment and the free lists.
   */
  static prepare(bytes: usize): void {
    if (bytes >= Block.MAX) bytes += Block.LINE;
    if (Header.isTiny<Own>()) { Arena.reserve(Block.PROMOTED_MAX + bytes + Block.LISTS_BLOCK); return; }
    Arena.makeRoom(Header.lists()
      || Header.bump() + bytes < Block.LISTS_FROM ? bytes : bytes + Block.LISTS_BLOCK);
  }

  private static takeFree(lists: usize, index: u32): usize {
    const head = lists + (<usize>index << 2);
    const at = <usize>load<u32>(head, Block.HEADS);
    const next = load<u32>(at);
    store<u32>(head, next, Block.HEADS);
    if (!next) store<u64>(lists, load<u64>(lists) & ~((<u64>1) << index));
    Header.addFreed(-Block.classBytes(index));
    return at;
  }

  /** Frees the block at `at`, which was allocated for `bytes` bytes. */
  @inline static release(at: usize, bytes: usize): void { Allocator.releasePieces(at, Block.bytes(bytes)); }

  /**
   * Frees what is behind the first `used` bytes, a multiple of 8, of the block of `bytes` bytes at `at`.
   * `used` is less than `bytes`.
   */
  static releaseTail(at: usize, used: usize, bytes: usize): void {
    Allocator.releasePieces(at + used, bytes - used);
  }

  /** Frees `bytes` bytes at `at`, a multiple of 8, as one block or several. */
  private static releasePieces(at: usize, bytes: usize): void {
    if (at + bytes == Header.bump()) { Header.setBump(at); return; }
    Header.addFreed(bytes);
    let lists = Header.lists();
    if (!lists) {
      // Without lists, the block is unusable until the arena is rewritten.
      if (Header.bump() < Block.LISTS_FROM || Header.bump() + Block.LISTS_BLOCK > Arena.heldAt()) return;
      lists = Allocator.allocateFresh(Block.LISTS_BLOCK);
      memory.fill(lists, 0, Block.LISTS_BYTES);
      store<u32>(0, <u32>lists, Header.LISTS);
    }
    while (bytes) {
      let index = Block.classFor(bytes);
      if (Block.classBytes(index) > bytes) index--;   // the largest class that fits
      const size = Block.classBytes(index);
      const head = lists + (<usize>index << 2);
      store<u32>(at, load<u32>(head, Block.HEADS));
      store<u32>(head, <u32>at, Block.HEADS);
      store<u64>(lists, load<u64>(lists) | ((<u64>1) << index));
      at += size;
      bytes -= size;
    }
  }

  /**
   * Resizes the block at `at` from one for `from` bytes to one for `to` bytes, keeping the first min(from, to)
   * bytes. Returns where it is then. Shrinking never moves it, and growing does not if it is the topmost block.
   */
  static resize(at: usize, from: usize, to: usize): usize {
    // With one member more or less, the payload usually stays within the same eight bytes.
    if ((from - 1) >> 3 == (to - 1) >> 3) return at;
    const old = Block.bytes(from), size = Block.bytes(to);
    if (size == old) return at;
    if (size < old) { Allocator.releasePieces(at + size, old - size); return at; }
    if (at + old == Header.bump() && size < Block.MAX) {
      Arena.makeRoom(size - old);
      Header.setBump(at + size);
      return at;
    }
    const moved = Allocator.allocate(to);
    memory.copy(moved, at, from);
    Allocator.releasePieces(at, old);
    return moved;
  }

  /** Bytes of the block that holds the free lists, 0 without one. */
  static freeListsBytes(): usize { return Header.lists() ? Block.LISTS_BLOCK : 0; }

  /**
   * Whether the free lists hold blocks of the used part only,
   * together no more bytes than were freed, and agree with the mask.
   */
  static freeListsAreSound(): bool {
    const lists = Header.lists();
    if (!lists) return true;
    if (lists & 7 || lists < Header.BYTES || lists + Allocator.freeListsBytes() > Header.bump()) return false;
    const mask = load<u64>(lists);
    let listed: usize = 0;
    for (let index: u32 = 0; index < Block.CLASSES; index++) {
      const size = Block.classBytes(index);
      let at = <usize>load<u32>(lists + (<usize>index << 2), Block.HEADS);
      if (((mask >> index) & 1) != u64(at != 0)) return false;
      while (at) {
        listed += size;
        if (at & 7 || at < Header.BYTES || at + size > Header.bump() || listed > Header.freed()) return false;
        at = load<u32>(at);
      }
    }
    return true;
  }
}
