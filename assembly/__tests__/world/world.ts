// The core's surroundings in a unit test: functions to set up its memories and arguments, and to read its
// replies and output. The tested code imports the same functions as in production (assembly/env/memory.ts).
//
//   clear();                          removes all operands and arguments
//   setArena(40);                     memory 0 is 40 bytes, the first 16 zero: an empty bitmap
//   const k = addOperandCopy(at, n);  adds an operand: a copy of n bytes of the test's memory
//   enter();                          does what the host does before it calls an exported function
//   insert(7);
//   expect(memberAt(0)).toBe(7);

import { ARGUMENTS, MEMBERS, OUTPUT } from "./layout";

/**
 * Makes both views show memory 0 and discards the reply and the output.
 * Call it before each function that the core exports.
 */
// @ts-ignore: decorator
@external("world", "enter") export declare function enter(): void;
/** Does enter(), and removes all operands, arguments and limits. The arena stays. */
// @ts-ignore: decorator
@external("world", "clear") export declare function clear(): void;
/** Sets the size of memory 0 and leaves its contents alone. */
// @ts-ignore: decorator
@external("world", "setArenaSize") export declare function setArenaSize(bytes: u32): void;
/** Limits the size of memory 0 until clear(). A call that needs more traps. */
// @ts-ignore: decorator
@external("world", "setArenaLimit") export declare function setArenaLimit(bytes: u32): void;
/** Number of times that arena.grow has made memory 0 larger since clear(). */
// @ts-ignore: decorator
@external("world", "growCount") export declare function growCount(): u32;
/** Units of work that work.spend has counted since the last call of this function. */
// @ts-ignore: decorator
@external("world", "spent") export declare function spent(): u64;
/** Adds an operand of that many bytes, contents undefined, and returns its number. */
// @ts-ignore: decorator
@external("world", "addOperand") export declare function addOperand(bytes: u32): u32;
/** Adds operand `k` once more, as a key that is given twice, and returns its new number. */
// @ts-ignore: decorator
@external("world", "repeatOperand") export declare function repeatOperand(k: u32): u32;
/** The address of operand `k` in the test's memory. */
// @ts-ignore: decorator
@external("world", "operandAt") export declare function operandAt(k: u32): usize;
/** Adds a value for argument.value and returns its index. */
// @ts-ignore: decorator
@external("world", "addArgument") export declare function addArgument(value: u64): u32;
// @ts-ignore: decorator
@external("world", "clearArguments") export declare function clearArguments(): void;
/** Number of values that argument.handBack has taken since enter(). */
// @ts-ignore: decorator
@external("world", "argumentsHandedBack") export declare function argumentsHandedBack(): u32;
/** Number of members that reply.member has taken since enter(). */
// @ts-ignore: decorator
@external("world", "members") export declare function members(): u32;
/** Limits the output to that many bytes; writing more traps. */
// @ts-ignore: decorator
@external("world", "setOutputLimit") export declare function setOutputLimit(bytes: u32): void;
/** Number of bytes that output.* has taken since enter(). */
// @ts-ignore: decorator
@external("world", "outputBytes") export declare function outputBytes(): u32;
/** The seed of this run: $SEED, or a random one. Every message of a random test shows it. */
// @ts-ignore: decorator
@external("world", "seed") export declare function seed(): u32;

/**
 * How many of `most` rounds a long test has:
 * with asserts a third, because the run without them, with the settings of the real build, has all of them.
 */
export function rounds(most: i32): i32 { return ASC_NO_ASSERT ? most : (most + 2) / 3; }

// @ts-ignore: decorator
@external("__aspect", "tryCall") declare function tryCall(call: () => void): bool;

/**
 * Calls the function; false if it trapped. Functions that a trap ends do not restore the stack on which the
 * garbage collector looks for references. Without doing that here, the caller would overwrite some of its own
 * references there, and the collector would free objects in use.
 */
export function succeeds(call: () => void): bool {
  const top = __stack_pointer, done = tryCall(call);
  __stack_pointer = top;
  return done;
}

/** Makes memory 0 a new arena of that many bytes that holds an empty bitmap. */
export function setArena(bytes: u32): void {
  memory.fill(0, 0xa7, bytes);
  memory.fill(0, 0, 16);
  setArenaSize(bytes);
}

/**
 * Adds a copy of the `bytes` bytes at `from` in the test's memory (memory 0 is at 0) as an
 * operand and returns its number.
 */
export function addOperandCopy(from: usize, bytes: u32): u32 {
  const k = addOperand(bytes);
  memory.copy(operandAt(k), from, bytes);
  return k;
}

/** The `i`-th member handed to reply.member. */
export function memberAt(i: u32): u64 { return load<u64>(MEMBERS + (<usize>i << 3)); }
/** Argument `i`, as the call has left it. */
export function argumentAt(i: u32): u64 { return load<u64>(ARGUMENTS + (<usize>i << 3)); }
/** The `i`-th value handed to argument.handBack. */
export function handedBackAt(i: u32): u64 { return argumentAt(i); }
/** The address of the output in the test's memory. */
export function outputAt(): usize { return OUTPUT; }

/** A random number generator (splitmix64). */
export class Random {
  constructor(private state: u64) {}
  next(): u64 {
    this.state += 0x9e3779b97f4a7c15;
    let z = this.state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /** 0 .. limit - 1. */
  below(limit: u32): u32 { return <u32>(((this.next() >> 32) * <u64>limit) >> 32); }
  /** low .. high. */
  between(low: u32, high: u32): u32 { return low + this.below(high - low + 1); }
}
