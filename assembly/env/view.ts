// Loads from a memory that the caller chooses, so that one function can read memory 0 and operands alike. The
// memory is a type parameter, and the compiler builds the function once for each.

import { Side, left, right } from "./memory";

/**
 * A memory that a function reads. Its classes are type arguments and have no objects; they differ in size
 * because AssemblyScript evaluates `offsetof`, the size of a class, at compile time.
 */
@unmanaged export abstract class Memory { protected memory!: u8; }
/** Memory 0, read by plain loads. */
@unmanaged export abstract class Own extends Memory { protected own!: u8; }
/** The operand that `right` shows. */
@unmanaged export abstract class Right extends Memory { protected right!: u16; }
/** The operand that `left` shows. */
@unmanaged export abstract class Left extends Memory { protected left!: u32; }

/** The number of memory M. */
// @ts-ignore: decorator
@inline export function sideOf<M extends Memory>(): Side {
  if (offsetof<M>() == offsetof<Own>()) return Side.OWN;
  return offsetof<M>() == offsetof<Right>() ? Side.RIGHT : Side.LEFT;
}

/** Loads the byte at `at + offset` of memory M. `offset` must be a constant, here and below. */
// @ts-ignore: decorator
@inline export function view8<M extends Memory>(at: usize, offset: u32): u32 {
  if (offsetof<M>() == offsetof<Own>()) return load<u8>(at + offset);
  if (offsetof<M>() == offsetof<Right>()) return right.load8(at, offset);
  return left.load8(at, offset);
}

// @ts-ignore: decorator
@inline export function view16<M extends Memory>(at: usize, offset: u32): u32 {
  if (offsetof<M>() == offsetof<Own>()) return load<u16>(at + offset);
  if (offsetof<M>() == offsetof<Right>()) return right.load16(at, offset);
  return left.load16(at, offset);
}

// @ts-ignore: decorator
@inline export function view32<M extends Memory>(at: usize, offset: u32): u32 {
  if (offsetof<M>() == offsetof<Own>()) return load<u32>(at + offset);
  if (offsetof<M>() == offsetof<Right>()) return right.load32(at, offset);
  return left.load32(at, offset);
}

// @ts-ignore: decorator
@inline export function view64<M extends Memory>(at: usize, offset: u32): u64 {
  if (offsetof<M>() == offsetof<Own>()) return load<u64>(at + offset);
  if (offsetof<M>() == offsetof<Right>()) return right.load64(at, offset);
  return left.load64(at, offset);
}

// @ts-ignore: decorator
@inline export function view128<M extends Memory>(at: usize, offset: u32): v128 {
  if (offsetof<M>() == offsetof<Own>()) return v128.load(at + offset);
  if (offsetof<M>() == offsetof<Right>()) return right.load128(at, offset);
  return left.load128(at, offset);
}
