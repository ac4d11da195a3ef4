// The world around the core, as a unit test sets it up and looks at it. The tested code calls the same functions through
// assembly/memory.ts as in production.
//
//   clear();                          no operands, no arguments
//   setArena(40);                     memory 0: [0, 40), the first 16 bytes zero: an empty bitmap
//   const k = addOperandCopy(at, n);  an operand with n bytes from the test's memory
//   enter();                          what the host does before it calls an exported function
//   insert(7);
//   expect(memberAt(0)).toBe(7);

import { ARGUMENTS, MEMBERS, OUTPUT } from "./world/layout";

/** Shows memory 0 in both views, forgets reply and output. Before each call of a function that the core exports. */
// @ts-ignore: decorator
@external("world", "enter") export declare function enter(): void;
/** enter(), and no operands, no arguments, no limit to the output. The arena stays. */
// @ts-ignore: decorator
@external("world", "clear") export declare function clear(): void;
/** Makes memory 0 [0, bytes) without touching what it holds. */
// @ts-ignore: decorator
@external("world", "setArenaSize") export declare function setArenaSize(bytes: u32): void;
/** Lets memory 0 grow to no more than `bytes`, until clear(); a call that needs more is cut short. */
// @ts-ignore: decorator
@external("world", "setArenaLimit") export declare function setArenaLimit(bytes: u32): void;
/** How often arena.grow had to grow since clear(). */
// @ts-ignore: decorator
@external("world", "growCount") export declare function growCount(): u32;
/** Adds an operand of that many bytes, whatever they hold, and returns its number. */
// @ts-ignore: decorator
@external("world", "addOperand") export declare function addOperand(bytes: u32): u32;
/** Where a test can write operand `k`. */
// @ts-ignore: decorator
@external("world", "operandAt") export declare function operandAt(k: u32): usize;
// @ts-ignore: decorator
@external("world", "operandSize") export declare function operandSize(k: u32): u32;
/** Adds a value for argument.value and returns its index. */
// @ts-ignore: decorator
@external("world", "addArgument") export declare function addArgument(value: u64): u32;
// @ts-ignore: decorator
@external("world", "clearArguments") export declare function clearArguments(): void;
/** How many values argument.handBack took since enter(). */
// @ts-ignore: decorator
@external("world", "argumentsHandedBack") export declare function argumentsHandedBack(): u32;
/** How many members reply.member took since enter(). */
// @ts-ignore: decorator
@external("world", "members") export declare function members(): u32;
/** Bytes that output.* takes before it traps. */
// @ts-ignore: decorator
@external("world", "setOutputLimit") export declare function setOutputLimit(bytes: u32): void;
/** Bytes that output.* took since enter(). */
// @ts-ignore: decorator
@external("world", "outputBytes") export declare function outputBytes(): u32;
/** The seed of this run: $SEED, or another one each time. To be in the message of every random test. */
// @ts-ignore: decorator
@external("world", "seed") export declare function seed(): u32;

/** A fresh arena of that many bytes: an empty bitmap. */
export function setArena(bytes: u32): void {
  memory.fill(0, 0xa7, bytes);
  memory.fill(0, 0, 16);
  setArenaSize(bytes);
}

/** Adds an operand with the `bytes` at `from` of the test's memory (the arena is at 0) and returns its number. */
export function addOperandCopy(from: usize, bytes: u32): u32 {
  const k = addOperand(bytes);
  memory.copy(operandAt(k), from, bytes);
  return k;
}

/** The member that was handed to reply.member as number `i`. */
export function memberAt(i: u32): u64 { return load<u64>(MEMBERS + (<usize>i << 3)); }
/** The value that was handed to argument.handBack as number `i`. */
export function handedBackAt(i: u32): u64 { return load<u64>(ARGUMENTS + (<usize>i << 3)); }
/** Where the output can be read. */
export function outputAt(): usize { return OUTPUT; }

/** Numbers that follow from a seed (splitmix64). */
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
