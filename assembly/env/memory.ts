// The core's view of the world outside its linear memory: every import there is, and nothing else.
//
// Memory 0 is an arena: the bitmap being read or written (see arena.ts). Two more memories are read through imported
// functions, which the native build inlines into bounds-checked loads:
//
//   left, right   each shows one of the call's operands (other keys' arenas, or a payload), or memory 0 itself
//
// On entry to an exported function both show memory 0. They are selected, not passed: selecting stores two words.
// `offset` is a compile-time constant everywhere, and so is the width of a load.

/** The operand number that stands for memory 0 itself. It stays right when the arena grows and moves. */
// @ts-ignore: decorator
@inline export const SELF: u32 = 0xffffffff;

/** The first of the two readable memories. */
export namespace left {
  /** Shows operand `k` (or SELF). A number the host did not hand over traps. */
  // @ts-ignore: decorator
  @external("left", "select") export declare function select(k: u32): void;
  /** Bytes that the selected operand holds. */
  // @ts-ignore: decorator
  @external("left", "size") export declare function size(): u32;
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
  /** Copies `bytes` from the operand into memory 0; the two may overlap when the operand is SELF. */
  // @ts-ignore: decorator
  @external("left", "copy") export declare function copy(to: usize, from: usize, bytes: usize): void;
}

/** The second of the two readable memories. */
export namespace right {
  // @ts-ignore: decorator
  @external("right", "select") export declare function select(k: u32): void;
  // @ts-ignore: decorator
  @external("right", "size") export declare function size(): u32;
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
}

/** What vectors can do in machine code but not in wasm. It touches no memory. */
export namespace vector {
  /** Moves the 16-bit lanes whose bits are set in the low byte of `mask` to the front, in their order; what is behind them is undefined. */
  // @ts-ignore: decorator
  @external("vector", "compact") export declare function compact(lanes: v128, mask: u32): v128;
  /** A bit for each 16-bit lane of `x` that equals any lane of `y`. Neither has a lane of 0: what follows one may go uncompared. */
  // @ts-ignore: decorator
  @external("vector", "lanesIn") export declare function lanesIn(x: v128, y: v128): u32;
}

/** The block that memory 0 is. */
export namespace arena {
  /** Bytes of memory 0, exact to the byte. */
  // @ts-ignore: decorator
  @external("arena", "size") export declare function size(): u32;
  /**
   * Makes memory 0 at least `bytes` large, keeping what it holds; new bytes are not zeroed. Does not return when the
   * memory cannot be had.
   */
  // @ts-ignore: decorator
  @external("arena", "grow") export declare function grow(bytes: u32): void;
}

/**
 * Bits of memory 0: four of the 65,536 that begin at the byte `at`, which are numbered from the least significant of each byte up, and of
 * which the 16-bit lanes of `four` name one each. Returns how many were set. The 8 KiB are checked once for the four.
 */
export namespace bits {
  // @ts-ignore: decorator
  @external("bits", "set") export declare function set(at: usize, four: u64): u32;
  // @ts-ignore: decorator
  @external("bits", "clear") export declare function clear(at: usize, four: u64): u32;
  // @ts-ignore: decorator
  @external("bits", "flip") export declare function flip(at: usize, four: u64): u32;
}

/** The values that a variadic command brought, already parsed and checked by the host. */
export namespace argument {
  // @ts-ignore: decorator
  @external("argument", "value") export declare function value(index: u32): u64;
  /**
   * Hands a value back to the host; there may be no more of them than were read already. Of a call that changes offsets, it is those that
   * were changed: should the call be cut short for want of memory, the host undoes it.
   */
  // @ts-ignore: decorator
  @external("argument", "handBack") export declare function handBack(value: u64): void;
}

/** Where members go that a call answers with, in the order in which they are handed over. */
export namespace reply {
  // @ts-ignore: decorator
  @external("reply", "member") export declare function member(offset: u64): void;
  /** Hands over the first `count` (0 to 8) of eight 16-bit lanes, each raised by `base`. */
  // @ts-ignore: decorator
  @external("reply", "lanes") export declare function lanes(base: u64, lanes: v128, count: u32): void;
}

/** The byte stream that a call serialises into. Writing more than was announced traps. */
export namespace output {
  /** Appends `bytes` of memory 0, beginning at `from`. */
  // @ts-ignore: decorator
  @external("output", "write") export declare function write(from: usize, bytes: usize): void;
  /** Appends `count` bytes of that value. */
  // @ts-ignore: decorator
  @external("output", "fill") export declare function fill(value: u32, count: u64): void;
  /** Appends the `bytes` (1 to 8) low bytes of `value`, little endian. */
  // @ts-ignore: decorator
  @external("output", "put") export declare function put(value: u64, bytes: u32): void;
  /** Appends the first `bytes` (0 to 16) bytes of `value`. */
  // @ts-ignore: decorator
  @external("output", "put128") export declare function put128(value: v128, bytes: u32): void;
  /** Sets bits of byte `at` of what has been appended. */
  // @ts-ignore: decorator
  @external("output", "mark") export declare function mark(at: u64, bits: u32): void;
}
