// Records: names as a dictionary keeps them (code.ts).

import { Memory, view16, view8 } from "../env/view";
import { Code } from "./code";
import { textBytes } from "./text";

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
    if (code < Code.FIVE) return 1 + UUID_BYTES;
    if (code < Code.WIDE_HOLE) return textBytes(code);
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
