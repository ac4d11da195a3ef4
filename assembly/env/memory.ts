// All imports of the core: everything that it can reach outside its linear memory.
//
// Memory 0 is an arena: the bitmap being read or written (arena/layout/header.ts). Two more memories are
// read-only. Their functions are inlined into the machine code as bounds-checked loads:
//
//   left, right   each shows one of the call's operands (another key's arena, or a payload), or memory 0
//                 itself
//
// When an exported function starts, both show memory 0. select() changes what a memory shows,
// at the cost of two stores. The argument `offset` is a compile-time constant everywhere.

/** The operand number of memory 0 itself. It stays valid when the arena grows and moves. */
// @ts-ignore: decorator
@inline export const SELF: u32 = 0xffffffff;

/** What spread() does with the bytes that are there, and what it writes. */
export const enum Spread { STORE, OR, XOR, AND, ANDNOT }

/** The first read-only memory. */
export namespace left {
  /** Shows operand `k`, or memory 0 if `k` is SELF. Traps if the call has no such operand. */
  // @ts-ignore: decorator
  @external("left", "select") export declare function select(k: u32): void;
  // @ts-ignore: decorator
  @external("left", "load8") export declare function load8(at: usize, offset: u32): u32;
  // @ts-ignore: decorator
  @external("left", "load16") export declare function load16(at: usize, offset: u32): u32;
  // @ts-ignore: decorator
  @external("left", "load32") export declare function load32(at: usize, offset: u32): u32;
  // @ts-ignore: decorator
  @external("left", "load64") export declare function load64(at: usize, offset: u32): u64;
  // @ts-ignore: decorator
  @external("left", "load128") export declare function load128(at: usize, offset: u32): v128;
  /** Copies `bytes` from the operand to memory 0. The two ranges may overlap if the operand is SELF. */
  // @ts-ignore: decorator
  @external("left", "copy") export declare function copy(to: usize, from: usize, bytes: usize): void;
  /**
   * Combines the bitset at `to` in memory 0 with bytes of the operand, spread: bit i of the 128 bytes at
   * `summary` says whether any of the eight bytes from to + 8 * i on gets one, and then the next byte from
   * `masks` on says which of them get the next bytes from `at` on. All others get 0. `how` is a constant, one
   * of Spread. Up to 128 bytes behind those and behind the masks are read as well.
   */
  // @ts-ignore: decorator
  @external("left", "spread")
  export declare function spread(to: usize, at: usize, masks: usize, summary: usize, how: u32): void;
  /**
   * Prefetches `bytes` bytes at `at` into the CPU's cache. A hint: it changes nothing, and stops at the
   * operand's end.
   */
  // @ts-ignore: decorator
  @external("left", "prefetch") export declare function prefetch(at: usize, bytes: usize): void;
}

/** The second read-only memory, with the same functions. */
export namespace right {
  // @ts-ignore: decorator
  @external("right", "select") export declare function select(k: u32): void;
  // @ts-ignore: decorator
  @external("right", "size") export declare function size(): u32;
  /**
   * A number other than 0 for operand `k`, which two operands share if they are the same memory.
   * Does not change what is shown.
   */
  // @ts-ignore: decorator
  @external("right", "identity") export declare function identity(k: u32): u64;
  // @ts-ignore: decorator
  @external("right", "load8") export declare function load8(at: usize, offset: u32): u32;
  // @ts-ignore: decorator
  @external("right", "load16") export declare function load16(at: usize, offset: u32): u32;
  // @ts-ignore: decorator
  @external("right", "load32") export declare function load32(at: usize, offset: u32): u32;
  // @ts-ignore: decorator
  @external("right", "load64") export declare function load64(at: usize, offset: u32): u64;
  // @ts-ignore: decorator
  @external("right", "load128") export declare function load128(at: usize, offset: u32): v128;
  // @ts-ignore: decorator
  @external("right", "copy") export declare function copy(to: usize, from: usize, bytes: usize): void;
  // @ts-ignore: decorator
  @external("right", "spread")
  export declare function spread(to: usize, at: usize, masks: usize, summary: usize, how: u32): void;
  // @ts-ignore: decorator
  @external("right", "prefetch") export declare function prefetch(at: usize, bytes: usize): void;
}

/** Which of the three memories a function of `segments` is about. */
export const enum Side { OWN, LEFT, RIGHT }

/**
 * Large bitmaps are rows of arenas, called segments, in the order of their keys. A memory shows one segment of
 * such a bitmap at a time, at first the first one. Little else of the core knows of segments than the walks
 * over a directory (arena/read/directory.ts) and what builds them (arena/builder/builder.ts).
 *
 * Offsets stand for keys: `offset` is a key shifted by 16.
 */
export namespace segments {
  /** Whether the memory shows a segment; false for an arena that is a whole bitmap. */
  // @ts-ignore: decorator
  @external("segments", "are") export declare function are(side: Side): bool;
  /** Shows the segment in which the offset is, or would be. */
  // @ts-ignore: decorator
  @external("segments", "seek") export declare function seek(side: Side, offset: u64): void;
  /**
   * Does seek(side, key), and has the memory read where the key is if keys are spread evenly over the bytes of
   * the segment from `from` on.
   */
  // @ts-ignore: decorator
  @external("segments", "near") export declare function near(side: Side, from: u32, key: u64): void;
  /** Shows the segment after the one shown; false if there is none, or no segment is shown. */
  // @ts-ignore: decorator
  @external("segments", "next") export declare function next(side: Side): bool;
  /** The number of the segment shown; 0 if none is. */
  // @ts-ignore: decorator
  @external("segments", "at") export declare function at(side: Side): u32;
  /** Shows segment `index`; nothing happens if no segment is shown. Traps if there is no such segment. */
  // @ts-ignore: decorator
  @external("segments", "show") export declare function show(side: Side, index: u32): void;
  /** Shows the segment that has the member of 0-based rank `rank`, or the last one. */
  // @ts-ignore: decorator
  @external("segments", "seekRank") export declare function seekRank(side: Side, rank: u64): void;
  /** Members in the segments before the one shown, modulo 2^64. */
  // @ts-ignore: decorator
  @external("segments", "before") export declare function before(side: Side): u64;
  /** Members in all segments, modulo 2^64. */
  // @ts-ignore: decorator
  @external("segments", "members") export declare function members(side: Side): u64;
  /**
   * The number of an operand for a walk of its own over operand `k`: `k` itself if that is a single arena.
   * Walks over the same operand may be in different segments.
   */
  // @ts-ignore: decorator
  @external("segments", "view") export declare function view(k: u32): u32;

  // For calls that change several segments of operand 0. Memory 0 is then other memory of the host, until the
  // core chooses a segment. If memory runs out, the segments are as the core has left them.

  /**
   * Makes memory 0 the segment where `key` is, or would be, or operand 0 if it is a single arena, to change it.
   */
  // @ts-ignore: decorator
  @external("segments", "change") export declare function change(key: u64): void;
  /**
   * If `bytes` is not 0, memory 0 becomes a new arena of that many bytes, and `left` shows the old one until
   * the next call of renew(). If `more` is not 0, adds a segment of that many bytes, of the key `key`, behind
   * memory 0; a dictionary that was one arena has two segments then. New arenas have any content. Both happens
   * or neither.
   */
  // @ts-ignore: decorator
  @external("segments", "renew") export declare function renew(bytes: u32, key: u64, more: u32): void;
  /** Makes memory 0 what it was when the call began. */
  // @ts-ignore: decorator
  @external("segments", "leave") export declare function leave(): void;
  /** Removes the segment that is memory 0, which is not the only one, and does leave(). */
  // @ts-ignore: decorator
  @external("segments", "remove") export declare function remove(): void;
  /** Notes how many members, or names, the segment that is memory 0 has. */
  // @ts-ignore: decorator
  @external("segments", "note") export declare function note(members: u64): void;
}

/** Vector operations that wasm lacks. They access no memory. */
export namespace vector {
  /**
   * Moves the 16-bit lanes whose bits are set in the low byte of `mask` to the front, in order.
   * The lanes behind them are undefined.
   */
  // @ts-ignore: decorator
  @external("vector", "compact") export declare function compact(lanes: v128, mask: u32): v128;
  /**
   * A bit for each 16-bit lane of `x` that equals any lane of `y`.
   * No lane may be 0, because lanes behind it may not be compared.
   */
  // @ts-ignore: decorator
  @external("vector", "lanesIn") export declare function lanesIn(x: v128, y: v128): u32;
  /** Eight bytes: where the low byte of `mask` has a 1, the next of `bytes`, elsewhere 0. */
  // @ts-ignore: decorator
  @external("vector", "spread") export declare function spread(bytes: u64, mask: u32): u64;
  /** Bytes of the host's widest vectors: 16, 32 or 64. */
  // @ts-ignore: decorator
  @external("vector", "width") export declare function width(): u32;
}

/** The work that a call has done. */
export namespace work {
  /**
   * Counts `units` of work. A unit is about the work of stepping to a container, or of combining it. After
   * many units the host looks at its clock, and ends a query that takes too long: then the call does not
   * return. Costs a subtraction and a branch.
   */
  // @ts-ignore: decorator
  @external("work", "spend") export declare function spend(units: u32): void;
}

/** The block behind memory 0. */
export namespace arena {
  /** Bytes of memory 0: the exact size, not rounded to pages. */
  // @ts-ignore: decorator
  @external("arena", "size") export declare function size(): u32;
  /**
   * Makes memory 0 at least `bytes` large and keeps its contents; new bytes are not zeroed.
   * Does not return if memory runs out.
   */
  // @ts-ignore: decorator
  @external("arena", "grow") export declare function grow(bytes: u32): void;
  /** Gives back all but the first `bytes` bytes of memory 0, in a call that may change segments. */
  // @ts-ignore: decorator
  @external("arena", "cut") export declare function cut(bytes: u32): void;
  /** The most bytes of a segment, which a builder may exceed by a container. */
  // @ts-ignore: decorator
  @external("arena", "most") export declare function most(): u32;
  /**
   * Ends a segment of the bitmap that is being built: the first `used` bytes of memory 0. Its members number
   * `members` modulo 2^64, and the offset `first` is that of its first container. Memory 0 is then a fresh
   * arena of any content, except that it ends with the same `held` bytes.
   */
  // @ts-ignore: decorator
  @external("arena", "close")
  export declare function close(used: u32, held: u32, first: u64, members: u64): void;
}

/**
 * Changes four bits of the 8 KiB bitset at `at` in memory 0 and returns how many of them were set before. Each
 * 16-bit lane of `four` is the number of a bit; bit v is bit v & 7 of byte v >> 3. One bounds check covers the
 * bitset.
 */
export namespace bits {
  // @ts-ignore: decorator
  @external("bits", "set") export declare function set(at: usize, four: u64): u32;
  // @ts-ignore: decorator
  @external("bits", "clear") export declare function clear(at: usize, four: u64): u32;
  // @ts-ignore: decorator
  @external("bits", "flip") export declare function flip(at: usize, four: u64): u32;
}

/** Bytes of memory 0. */
export namespace bytes {
  /**
   * Adds 1 to four of the 65,536 bytes at `at`, modulo 256.
   * Each 16-bit lane of `four` is the number of a byte. One bounds check.
   */
  // @ts-ignore: decorator
  @external("bytes", "increment") export declare function increment(at: usize, four: u64): void;
  /**
   * Which of the 64 bytes at `at` are at least the low byte of `least`:
   * bit i of the result is for the byte at + i.
   */
  // @ts-ignore: decorator
  @external("bytes", "atLeast") export declare function atLeast(at: usize, least: u32): u64;
  /**
   * Writes those of the 512 bytes at `at` that are not 0 to `to`, in order, and returns their number. Bit i of
   * the 64 bytes at `masks` then says whether the byte at + i is not 0. `to` and `masks` may be `at`, or before
   * it. What is behind the bytes, up to 512 bytes from `to`, has no meaning afterwards.
   */
  // @ts-ignore: decorator
  @external("bytes", "gather") export declare function gather(to: usize, at: usize, masks: usize): u32;
  /**
   * Counts the bits that two bitsets share: those that spread() would make of what `left` and `right` show.
   */
  // @ts-ignore: decorator
  @external("bytes", "meet")
  export declare function meet(
    at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
  ): u32;
  /**
   * Writes what meet() would count, or another combination of the two (`how`, a constant of Spread), to the
   * bitset at `to` in memory 0, and counts it.
   */
  // @ts-ignore: decorator
  @external("bytes", "combine")
  export declare function combine(
    to: usize, at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
    how: u32,
  ): u32;
}

/** The values of a variadic command, which the host has parsed and checked. */
export namespace argument {
  // @ts-ignore: decorator
  @external("argument", "value") export declare function value(index: u32): u64;
  /** Replaces a value. */
  // @ts-ignore: decorator
  @external("argument", "put") export declare function put(index: u32, value: u64): void;
  /**
   * Hands a value back to the host: an answer, or an offset that the call changed. If the call
   * runs out of memory, the host uses these offsets to undo its changes. A call cannot hand
   * back more values than it has read.
   */
  // @ts-ignore: decorator
  @external("argument", "handBack") export declare function handBack(value: u64): void;
  /**
   * Notes that this call leaves a container of its arguments in a form that settle() or tidy() has yet to
   * change (write/undo.ts). The host keeps the note, not the arena: an arena may be rewritten, and become a
   * tiny one, between two calls for the same list.
   */
  // @ts-ignore: decorator
  @external("argument", "defer") export declare function defer(): void;
  /** Whether this call has called defer(). */
  // @ts-ignore: decorator
  @external("argument", "deferred") export declare function deferred(): bool;
}

/** The members that a call replies with, in the order in which they are added. */
export namespace reply {
  // @ts-ignore: decorator
  @external("reply", "member") export declare function member(offset: u64): void;
  /** Adds the first `count` (0 to 8) of eight 16-bit lanes to the reply, each plus `base`. */
  // @ts-ignore: decorator
  @external("reply", "lanes") export declare function lanes(base: u64, lanes: v128, count: u32): void;
}

/** The byte stream that a call serializes to. Writing more bytes than were announced traps. */
export namespace output {
  /** Appends `bytes` bytes of memory 0, from `from` on. */
  // @ts-ignore: decorator
  @external("output", "write") export declare function write(from: usize, bytes: usize): void;
  /** Appends `count` bytes, each with this value. */
  // @ts-ignore: decorator
  @external("output", "fill") export declare function fill(value: u32, count: u64): void;
  /** Appends the `bytes` (1 to 8) low bytes of `value`, in little-endian order. */
  // @ts-ignore: decorator
  @external("output", "put") export declare function put(value: u64, bytes: u32): void;
  /** Appends the first `bytes` (0 to 16) bytes of `value`. */
  // @ts-ignore: decorator
  @external("output", "put128") export declare function put128(value: v128, bytes: u32): void;
  /** Sets bits of byte `at`, which has been appended already. */
  // @ts-ignore: decorator
  @external("output", "mark") export declare function mark(at: u64, bits: u32): void;
}
