// Eight hexadecimal digits at a time, as the bytes of a word: the first digit is the lowest byte.

/** A byte with this value in each place. */
// @ts-ignore: decorator
@inline const ONES: u64 = 0x0101010101010101;
// @ts-ignore: decorator
@inline const NIBBLES: u64 = 0x0f0f0f0f0f0f0f0f;
/** What is added to 10 .. 15, besides the character 0, for letters a to f and A to F. */
// @ts-ignore: decorator
@inline const LOWER_GAP: u64 = 0x27, UPPER_GAP: u64 = 7;
/** Eight times the digit 0. */
// @ts-ignore: decorator
@inline export const ZEROS: u64 = 0x30 * 0x0101010101010101;

/** Eight hexadecimal digits, text and values. */
export abstract class Digits {
  /** Whether any byte may be an upper case letter: then all letters have to be. */
  @inline static areUpper(text: u64): bool {
    return (text & (ONES << 6) & ~((text & (ONES << 5)) << 1)) != 0;
  }

  /** The characters of eight values of 0 to 15. */
  @inline static text(values: u64, upper: bool): u64 {
    const letters = ((values + ONES * 6) >> 4) & ONES;
    return values + ZEROS + letters * (upper ? UPPER_GAP : LOWER_GAP);
  }

  /** What the eight digits would be worth if they are digits, a value a byte. */
  @inline static values(text: u64): u64 {
    return (text & NIBBLES) + ((text >> 6) & ONES) * 9;
  }

  /** Whether these are the values of eight digits, of which no letter is of the other case. */
  @inline static areRight(text: u64, values: u64, upper: bool): bool {
    return (values & ~NIBBLES) == 0 && Digits.text(values, upper) == text;
  }

  /** Four bytes of two values each; the first is the lowest byte. */
  @inline static pack(values: u64): u32 {
    let bytes = ((values << 4) | (values >> 8)) & 0x00ff00ff00ff00ff;
    bytes = (bytes | (bytes >> 8)) & 0x0000ffff0000ffff;
    return <u32>(bytes | (bytes >> 16));
  }

  /** Undoes pack(). */
  @inline static unpack(packed: u32): u64 {
    let bytes: u64 = packed;
    bytes = (bytes | (bytes << 16)) & 0x0000ffff0000ffff;
    bytes = (bytes | (bytes << 8)) & 0x00ff00ff00ff00ff;
    return ((bytes >> 4) | (bytes << 8)) & NIBBLES;
  }
}
