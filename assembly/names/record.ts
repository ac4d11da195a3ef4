// Records: names as a dictionary keeps them. A record is a byte that says its form, and what the form needs:
//
//   00          nothing: a name that was deleted
//   01 .. 7f    a name of 1 to 127 bytes, as it is
//   80 .. 9f    2 to 64 hexadecimal digits with letters a to f, or without letters: 1 to 32 bytes
//   a0 .. bf    the same with letters A to F
//   c0 .. c7    a decimal number of two digits or more, without zeros before it: 1 to 8 bytes, little endian
//   c8, c9      a UUID with letters a to f, or without letters; with letters A to F: 16 bytes
//   fd          a deleted name whose record took 258 bytes or more: u16 bytes - 258, and these bytes
//   fe          a deleted name whose record took 2 to 257 bytes: u8 bytes - 2, and these bytes
//   ff          a name of 128 bytes or more: u16 length, and the name
//
// Each name has one record: of the forms that suit it, decimal comes first, then UUID, then hexadecimal. So
// equal names are equal records, which is all that is compared and hashed.

import { Memory, view16, view8 } from "../env/view";

/** The first bytes of records, for a form with several the least. */
export abstract class Code {
  @inline static readonly DEAD: u32 = 0;
  @inline static readonly LOWER: u32 = 0x80;
  @inline static readonly UPPER: u32 = 0xa0;
  @inline static readonly DECIMAL: u32 = 0xc0;
  @inline static readonly UUID: u32 = 0xc8;
  /** No form has this code, nor those up to WIDE_HOLE. */
  @inline static readonly NONE: u32 = 0xca;
  @inline static readonly WIDE_HOLE: u32 = 0xfd;
  @inline static readonly HOLE: u32 = 0xfe;
  @inline static readonly LONG: u32 = 0xff;
}

/** The bytes of a UUID, and of its record. */
// @ts-ignore: decorator
@inline export const UUID_BYTES: usize = 16;
/** The most bytes of a name. */
// @ts-ignore: decorator
@inline export const NAME_MOST: u32 = 65535;
/** The bytes of the shortest hole with two bytes of length. */
// @ts-ignore: decorator
@inline const WIDE_LEAST: u32 = 258;

/** A record in any memory. */
export abstract class Record {
  /** The bytes of the record at `at`. */
  static bytes<M extends Memory>(at: usize): usize {
    const code = view8<M>(at, 0);
    if (code < Code.LOWER) return 1 + code;
    if (code < Code.DECIMAL) return 2 + (code & 31);
    if (code < Code.UUID) return 2 + (code & 7);
    if (code < Code.NONE) return 1 + UUID_BYTES;
    if (code == Code.HOLE) return 2 + view8<M>(at, 1);
    return code == Code.LONG ? 3 + view16<M>(at, 1) : WIDE_LEAST + view16<M>(at, 1);
  }

  /** Whether the record at `at` is of a deleted name. */
  @inline static isDead<M extends Memory>(at: usize): bool {
    const code = view8<M>(at, 0);
    return code == Code.DEAD || code == Code.HOLE || code == Code.WIDE_HOLE;
  }

  /** Makes the record of `bytes` bytes at `at` in memory 0 that of a deleted name. */
  static kill(at: usize, bytes: usize): void {
    if (<u32>bytes < WIDE_LEAST) {
      store<u8>(at, Code.HOLE);
      store<u8>(at, <u32>bytes - 2, 1);
    } else {
      store<u8>(at, Code.WIDE_HOLE);
      store<u16>(at, <u32>bytes - WIDE_LEAST, 1);
    }
  }
}
