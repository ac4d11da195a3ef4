// Type arguments of the kernels. One type names the operation, another whether the result is stored, counted
// or both. The types differ in size because AssemblyScript evaluates `sizeof` at compile time: each
// combination becomes a loop of its own, without these decisions.

/** The result is written to `out` and counted. */
export type Store = u8;
/** The result is only counted. */
export type Count = u16;
/** The result is written but not counted, because it is an intermediate one. */
export type StoreOnly = u32;

// Operations on two sets.
export type And = u8;
export type Or = u16;
export type Xor = u32;
export type AndNot = u64;

// Operations on the left set alone. These types are signed.
export type Same = i8;
export type Not = i16;

/** Whether the type argument `T` is the type `U`, of those above. */
// @ts-ignore: decorator
@inline export function is<T, U>(): bool { return sizeof<T>() == sizeof<U>(); }

// @ts-ignore: decorator
@inline export function stores<S>(): bool { return !is<S, Count>(); }
// @ts-ignore: decorator
@inline export function counts<S>(): bool { return !is<S, StoreOnly>(); }
// @ts-ignore: decorator
@inline export function isUnary<O>(): bool { return isSigned<O>(); }

/** For And and AndNot: whether a member of the left set is kept if the right set does not have it, 0 or 1. */
// @ts-ignore: decorator
@inline export function lacks<O>(): u32 { return u32(is<O, AndNot>()); }

// @ts-ignore: decorator
@inline export function combineWords<O>(x: u64, y: u64): u64 {
  if (is<O, And>()) return x & y;
  if (is<O, Or>()) return x | y;
  if (is<O, Xor>()) return x ^ y;
  return x & ~y;
}

/** combineWords() for vectors. */
// @ts-ignore: decorator
@inline export function combineVectors<O>(x: v128, y: v128): v128 {
  if (is<O, And>()) return v128.and(x, y);
  if (is<O, Or>()) return v128.or(x, y);
  if (is<O, Xor>()) return v128.xor(x, y);
  return v128.andnot(x, y);
}

// @ts-ignore: decorator
@inline export function changeWord<O>(x: u64): u64 { return is<O, Not>() ? ~x : x; }
