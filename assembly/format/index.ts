// The payload formats of a bitmap, each of which can be written and read. The host uses the same numbers.

import { Fault } from "../env/fault";
import { payloadOfValues, readValues } from "../values/format";
import { readAny, readAnyWide } from "./foreign";
import { nativeBytes, readNative, writeNative } from "./native";
import { Parts, readPortableWide, readWide, wideBytes, writeWide } from "./wide";
import { readPortable, portableBytes, writePortable } from "./portable";
import { bitsBytes, charactersBytes, readBitsFrom, readCharacters, writeBits, writeCharacters, writeLowBits } from "./text";

export const enum Format {
  /** CRoaring's own serialization of a 32-bit bitmap: the payload of a `reroaring` value (native.ts). */
  NATIVE = 0,
  /**
   * The payload of a `roaring64` value: the portable 64-bit stream, or parts if that would be long (wide.ts).
   */
  WIDE = 1,
  /** The portable 32-bit stream (portable.ts). */
  PORTABLE = 2,
  /** The portable 64-bit stream, however long (wide.ts). */
  PORTABLE_WIDE = 3,
  /** A native Redis bitmap (text.ts). */
  BITS = 4,
  /** A string of '0' and '1' (text.ts). */
  CHARACTERS = 5,
  /** Like WIDE, but in parts whenever that is shorter. */
  WIDE_PARTS = 6,
  /** Like BITS, with the bits of each byte from the lowest on (text.ts). */
  LOW_BITS = 7,
  /** Any payload of 32-bit offsets that has a known form (foreign.ts). Written as PORTABLE. */
  ANY = 8,
  /** Any payload that has a known form (foreign.ts). Written as WIDE_PARTS. */
  ANY_WIDE = 9,
  /** The payload of a `roar-ints` value: integers for ids (values/format.ts). */
  INTEGERS = 10,
}

/** Bytes that serialize() will write. */
export function serializedBytes(format: Format): u64 {
  if (format == Format.NATIVE) return nativeBytes();
  if (format == Format.WIDE) return wideBytes(Parts.WHEN_LONG);
  if (format == Format.WIDE_PARTS || format == Format.ANY_WIDE) return wideBytes(Parts.WHEN_ANY);
  if (format == Format.PORTABLE || format == Format.ANY) return portableBytes();
  if (format == Format.PORTABLE_WIDE) return wideBytes(Parts.NEVER);
  if (format == Format.INTEGERS) return payloadOfValues(false);
  return format == Format.CHARACTERS ? charactersBytes() : bitsBytes();
}

/** Writes the bitmap in memory 0 to the output. */
export function serialize(format: Format): void {
  if (format == Format.NATIVE) writeNative();
  else if (format == Format.WIDE) writeWide(Parts.WHEN_LONG);
  else if (format == Format.WIDE_PARTS || format == Format.ANY_WIDE) writeWide(Parts.WHEN_ANY);
  else if (format == Format.PORTABLE || format == Format.ANY) writePortable();
  else if (format == Format.PORTABLE_WIDE) writeWide(Parts.NEVER);
  else if (format == Format.INTEGERS) payloadOfValues(true);
  else if (format == Format.BITS) writeBits();
  else if (format == Format.LOW_BITS) writeLowBits();
  else writeCharacters();
}

/**
 * Builds the bitmap of a payload of `size` bytes in memory 0, a fresh arena. The operands show
 * the payload in windows that begin 1 << shift bytes apart (wide.ts). If the payload has a
 * fault, memory 0 must be discarded.
 */
export function deserialize(format: Format, size: u64, shift: u32): Fault {
  if (format == Format.WIDE || format == Format.WIDE_PARTS) return readWide(size, shift);
  if (format == Format.PORTABLE_WIDE) return readPortableWide(size, shift);
  if (format == Format.ANY_WIDE) return readAnyWide(size, shift);
  if (format == Format.ANY) return readAny(size);
  if (size > u32.MAX_VALUE) return Fault.TOO_LONG;            // the formats below read only the first window
  if (format == Format.NATIVE) return readNative();
  if (format == Format.INTEGERS) return readValues(size);
  if (format == Format.PORTABLE) return readPortable();
  if (format == Format.CHARACTERS) readCharacters(); else readBitsFrom(0, u32(format == Format.LOW_BITS));
  return Fault.NONE;
}
