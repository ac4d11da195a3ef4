// What a bitmap is saved, sent and read as.

import { Fault } from "../env/fault";
import { nativeBytes, readNative, writeNative } from "./native";
import { Parts, readWide, wideBytes, writeWide } from "./wide";
import { readPortable, portableBytes, writePortable } from "./portable";
import { bitsBytes, charactersBytes, readBits, readCharacters, writeBits, writeCharacters } from "./text";

export const enum Format {
  /** CRoaring's native form of a 32-bit bitmap: the payload of a `reroaring` value. */
  NATIVE = 0,
  /** The payload of a `roaring64` value: the portable 64-bit stream, or parts. */
  WIDE = 1,
  /** The portable 32-bit stream. */
  PORTABLE = 2,
  /** The portable 64-bit stream, whatever its length. */
  PORTABLE_WIDE = 3,
  /** A native Redis bitmap. */
  BITS = 4,
  /** '0' and '1'. */
  CHARACTERS = 5,
  /** As WIDE, in parts wherever that is shorter. */
  WIDE_PARTS = 6,
}

/** Bytes that serialize() will write of memory 0. */
export function serializedBytes(format: Format): u64 {
  if (format == Format.NATIVE) return nativeBytes();
  if (format == Format.WIDE) return wideBytes(Parts.WHEN_LONG);
  if (format == Format.WIDE_PARTS) return wideBytes(Parts.WHEN_ANY);
  if (format == Format.PORTABLE) return portableBytes();
  if (format == Format.PORTABLE_WIDE) return wideBytes(Parts.NEVER);
  return format == Format.BITS ? bitsBytes() : charactersBytes();
}

/** Writes memory 0 to the output. */
export function serialize(format: Format): void {
  if (format == Format.NATIVE) writeNative();
  else if (format == Format.WIDE) writeWide(Parts.WHEN_LONG);
  else if (format == Format.WIDE_PARTS) writeWide(Parts.WHEN_ANY);
  else if (format == Format.PORTABLE) writePortable();
  else if (format == Format.PORTABLE_WIDE) writeWide(Parts.NEVER);
  else if (format == Format.BITS) writeBits();
  else writeCharacters();
}

/**
 * Makes memory 0, which is fresh, the bitmap of the payload of `size` bytes that lies in the operands, in windows that begin 1 << shift
 * bytes apart (see wide.ts); on a fault memory 0 is of no use.
 */
export function deserialize(format: Format, size: u64, shift: u32): Fault {
  if (format == Format.WIDE || format == Format.WIDE_PARTS) return readWide(true, size, shift);
  if (format == Format.PORTABLE_WIDE) return readWide(false, size, shift);
  if (size > u32.MAX_VALUE) return Fault.TOO_LONG;            // these are in the first window
  if (format == Format.NATIVE) return readNative();
  if (format == Format.PORTABLE) return readPortable();
  if (format == Format.BITS) readBits(); else readCharacters();
  return Fault.NONE;
}
