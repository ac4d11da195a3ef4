// Loads from a memory that the caller chooses, so that one function can read memory 0 and operands alike. The
// memory is a type parameter, and the compiler builds the function once for each. The types that name the
// memories differ in size, because AssemblyScript evaluates `sizeof` at compile time.

import { left, right } from "./memory";

/** Memory 0, read by plain loads. */
export type Own = u8;
/** The operand that `right` shows. */
export type Right = u16;
/** The operand that `left` shows. */
export type Left = u32;

/** Loads the byte at `at + offset` of memory M. `offset` must be a constant, here and below. */
// @ts-ignore: decorator
@inline export function view8<M>(at: usize, offset: u32): u32 {
  if (sizeof<M>() == sizeof<Own>()) return load<u8>(at + offset);
  if (sizeof<M>() == sizeof<Right>()) return right.load8(at, offset);
  return left.load8(at, offset);
}

// @ts-ignore: decorator
@inline export function view16<M>(at: usize, offset: u32): u32 {
  if (sizeof<M>() == sizeof<Own>()) return load<u16>(at + offset);
  if (sizeof<M>() == sizeof<Right>()) return right.load16(at, offset);
  return left.load16(at, offset);
}

// @ts-ignore: decorator
@inline export function view32<M>(at: usize, offset: u32): u32 {
  if (sizeof<M>() == sizeof<Own>()) return load<u32>(at + offset);
  if (sizeof<M>() == sizeof<Right>()) return right.load32(at, offset);
  return left.load32(at, offset);
}

// @ts-ignore: decorator
@inline export function view64<M>(at: usize, offset: u32): u64 {
  if (sizeof<M>() == sizeof<Own>()) return load<u64>(at + offset);
  if (sizeof<M>() == sizeof<Right>()) return right.load64(at, offset);
  return left.load64(at, offset);
}

// @ts-ignore: decorator
@inline export function view128<M>(at: usize, offset: u32): v128 {
  if (sizeof<M>() == sizeof<Own>()) return v128.load(at + offset);
  if (sizeof<M>() == sizeof<Right>()) return right.load128(at, offset);
  return left.load128(at, offset);
}
