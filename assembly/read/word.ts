// The two orders in which bits stand in words.

/** Converts between the two orders of bits in words. */
export abstract class Words {
  /**
   * The bits of each byte in reverse order.
   * This converts between the order of bitsets and that of native bitmaps, both ways.
   */
  @inline static nativeOrder(bits: u64): u64 {
    bits = ((bits >> 1) & 0x5555555555555555) | ((bits & 0x5555555555555555) << 1);
    bits = ((bits >> 2) & 0x3333333333333333) | ((bits & 0x3333333333333333) << 2);
    return ((bits >> 4) & 0x0f0f0f0f0f0f0f0f) | ((bits & 0x0f0f0f0f0f0f0f0f) << 4);
  }

  /** All bits in reverse order. */
  @inline static reversed(bits: u64): u64 { return bswap(Words.nativeOrder(bits)); }
}
