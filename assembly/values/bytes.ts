// Numbers of 0 to 8 bytes, at any address, in little-endian order.

import { Memory, view16, view32, view64, view8 } from "../env/view";

/** Numbers of a width that is not known at compile time. */
export abstract class Bytes {
  /** The number of `bytes` bytes at `at`, without a sign. Reads nothing behind it. */
  static load<M extends Memory>(at: usize, bytes: u32): u64 {
    switch (bytes) {
      case 0: return 0;
      case 1: return view8<M>(at, 0);
      case 2: return view16<M>(at, 0);
      case 3: return <u64>view16<M>(at, 0) | <u64>view8<M>(at, 2) << 16;
      case 4: return view32<M>(at, 0);
      case 5: return <u64>view32<M>(at, 0) | <u64>view8<M>(at, 4) << 32;
      case 6: return <u64>view32<M>(at, 0) | <u64>view16<M>(at, 4) << 32;
      case 7: return <u64>view32<M>(at, 0) | <u64>view32<M>(at, 3) >> 8 << 32;
      default: return view64<M>(at, 0);
    }
  }

  /** The same with a sign: the two's complement of that many bytes. */
  @inline static loadSigned<M extends Memory>(at: usize, bytes: u32): i64 {
    if (!bytes) return 0;
    const shift = <u64>(64 - 8 * bytes);
    return <i64>(Bytes.load<M>(at, bytes) << shift) >> shift;
  }

  /** Stores the low `bytes` bytes of the number, and nothing behind them. */
  static store(at: usize, bytes: u32, value: u64): void {
    switch (bytes) {
      case 0: return;
      case 1: store<u8>(at, <u8>value); return;
      case 2: store<u16>(at, <u16>value); return;
      case 3: store<u16>(at, <u16>value); store<u8>(at, <u8>(value >> 16), 2); return;
      case 4: store<u32>(at, <u32>value); return;
      case 5: store<u32>(at, <u32>value); store<u8>(at, <u8>(value >> 32), 4); return;
      case 6: store<u32>(at, <u32>value); store<u16>(at, <u16>(value >> 32), 4); return;
      case 7: store<u32>(at, <u32>value); store<u32>(at, <u32>(value >> 24), 3); return;
      default: store<u64>(at, value);
    }
  }

  /** Bytes that the number needs; 0 for 0. */
  @inline static needed(value: u64): u32 { return (71 - <u32>clz(value)) >> 3; }
  /** Bytes that the number needs with a sign; 0 for 0. */
  @inline static neededSigned(value: i64): u32 {
    return value ? (72 - <u32>clz(<u64>(value ^ (value >> 63)))) >> 3 : 0;
  }

  /** Bits that the number needs; 0 for 0. */
  @inline static bits(value: u64): u32 { return 64 - <u32>clz(value); }
}
