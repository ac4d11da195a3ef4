// Type arguments of the kernels. One class names the operation, another whether the result is stored, counted
// or both. They have no objects; they differ in size because AssemblyScript evaluates `offsetof`, the size of a
// class, at compile time: each combination becomes a loop of its own, without these decisions.

/** Where the result of a kernel goes. */
@unmanaged export abstract class Sink { protected sink!: u8; }
/** The result is written to `out` and counted. */
@unmanaged export abstract class Store extends Sink { protected store!: u8; }
/** The result is only counted. */
@unmanaged export abstract class Count extends Sink { protected count!: u16; }
/** The result is written but not counted, because it is an intermediate one. */
@unmanaged export abstract class StoreOnly extends Sink { protected storeOnly!: u32; }

/** An operation on two sets or, if it is Same or Not, on the left set alone. */
@unmanaged export abstract class SetOperation { protected operation!: u8; }
@unmanaged export abstract class And extends SetOperation { protected and!: u8; }
@unmanaged export abstract class Or extends SetOperation { protected or!: u16; }
@unmanaged export abstract class Xor extends SetOperation { protected xor!: u32; }
@unmanaged export abstract class AndNot extends SetOperation { protected andNot!: u64; }
@unmanaged export abstract class Same extends SetOperation { protected same!: v128; }
@unmanaged export abstract class Not extends SetOperation { protected not!: v128; protected last!: u64; }

/** Reads the type parameters of a kernel. */
export abstract class Kernel {
  /** Whether the type argument `T` is the type `U`, of those above. */
  @inline static is<T, U>(): bool { return offsetof<T>() == offsetof<U>(); }

  @inline static stores<S extends Sink>(): bool { return !Kernel.is<S, Count>(); }
  @inline static counts<S extends Sink>(): bool { return !Kernel.is<S, StoreOnly>(); }
  @inline static isUnary<O extends SetOperation>(): bool { return offsetof<O>() >= offsetof<Same>(); }

  /** For And and AndNot: whether a member of the left set is kept if the right set does not have it, 0 or 1. */
  @inline static lacks<O extends SetOperation>(): u32 { return u32(Kernel.is<O, AndNot>()); }

  @inline static combineWords<O extends SetOperation>(x: u64, y: u64): u64 {
    if (Kernel.is<O, And>()) return x & y;
    if (Kernel.is<O, Or>()) return x | y;
    if (Kernel.is<O, Xor>()) return x ^ y;
    return x & ~y;
  }

  /** Kernel.combineWords() for vectors. */
  @inline static combineVectors<O extends SetOperation>(x: v128, y: v128): v128 {
    if (Kernel.is<O, And>()) return v128.and(x, y);
    if (Kernel.is<O, Or>()) return v128.or(x, y);
    if (Kernel.is<O, Xor>()) return v128.xor(x, y);
    return v128.andnot(x, y);
  }

  @inline static changeWord<O extends SetOperation>(x: u64): u64 { return Kernel.is<O, Not>() ? ~x : x; }
}
