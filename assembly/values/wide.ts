// A sum of 128 bits with a sign, in memory 0: sums of 64-bit values are exact.

export abstract class Wide {
  @inline static readonly HIGH: u32 = 8;

  @inline static add(at: usize, value: i64): void {
    const before = load<u64>(at), after = before + <u64>value;
    store<u64>(at, after);
    store<i64>(at, load<i64>(at, Wide.HIGH) + (value >> 63) + i64(after < before), Wide.HIGH);
  }

  @inline static subtract(at: usize, value: i64): void {
    const before = load<u64>(at), after = before - <u64>value;
    store<u64>(at, after);
    store<i64>(at, load<i64>(at, Wide.HIGH) - (value >> 63) - i64(after > before), Wide.HIGH);
  }

  /** Adds another such number. */
  @inline static addWide(at: usize, low: u64, high: i64): void {
    const after = load<u64>(at) + low;
    store<u64>(at, after);
    store<i64>(at, load<i64>(at, Wide.HIGH) + high + i64(after < low), Wide.HIGH);
  }

  /** Adds `times` (up to 512) times a number without a sign. */
  @inline static addTimes(at: usize, times: u32, value: u64): void {
    const low = (value & 0xffffffff) * times, middle = (value >> 32) * times + (low >> 32);
    Wide.addWide(at, middle << 32 | (low & 0xffffffff), <i64>(middle >> 32));
  }

  /** The same for a number with a sign. */
  @inline static addSignedTimes(at: usize, times: u32, value: i64): void {
    Wide.addTimes(at, times, <u64>value);
    if (value < 0) store<i64>(at, load<i64>(at, Wide.HIGH) - times, Wide.HIGH);
  }
}
