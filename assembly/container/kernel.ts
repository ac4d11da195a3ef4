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

/** What a kernel's type parameters say. */
export abstract class Kernel {
  /** Whether the type argument `T` is the type `U`, of those above. */
  @inline static is<T, U>(): bool { return sizeof<T>() == sizeof<U>(); }

  @inline static stores<S>(): bool { return !Kernel.is<S, Count>(); }
  @inline static counts<S>(): bool { return !Kernel.is<S, StoreOnly>(); }
  @inline static isUnary<O>(): bool { return isSigned<O>(); }

  /** For And and AndNot: whether a member of the left set is kept if the right set does not have it, 0 or 1. */
  @inline static lacks<O>(): u32 { return u32(Kernel.is<O, AndNot>()); }

  @inline static combineWords<O>(x: u64, y: u64): u64 {
    if (Kernel.is<O, And>()) return x & y;
    if (Kernel.is<O, Or>()) return x | y;
    if (Kernel.is<O, Xor>()) return x ^ y;
    return x & ~y;
  }

  /** Kernel.combineWords() for vectors. */
  @inline static combineVectors<O>(x: v128, y: v128): v128 {
    if (Kernel.is<O, And>()) return v128.and(x, y);
    if (Kernel.is<O, Or>()) return v128.or(x, y);
    if (Kernel.is<O, Xor>()) return v128.xor(x, y);
    return v128.andnot(x, y);
  }

  @inline static changeWord<O>(x: u64): u64 { return Kernel.is<O, Not>() ? ~x : x; }
}
