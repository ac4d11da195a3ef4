// Names of native bitmaps that were split by hand: a pattern with * where the shard's number is, and how many bits each shard has.

import { Exit, Failure } from "../failure.js";
import { globOf, nameBytes } from "../names.js";

export interface Naming {
  /** Bits of a shard. */
  width: bigint;
  /** The number of the shard that begins at offset 0. */
  first: bigint;
  /** Numbers are padded with zeros to this many digits. */
  digits: number;
}

export class ShardNames {
  readonly width: bigint;
  readonly first: bigint;
  readonly #digits: number;
  readonly #before: Buffer;
  readonly #after: Buffer;

  constructor(pattern: string, { width, first, digits }: Naming) {
    const parts = pattern.split("*");
    if (parts.length !== 2) throw new Failure("the pattern needs one *, where the shard's number is; \\x2a stands for a * in a name", Exit.USAGE);
    this.width = width;
    this.first = first;
    this.#digits = digits;
    [this.#before, this.#after] = parts.map(nameBytes) as [Buffer, Buffer];
  }

  /** The pattern for SCAN. It also matches names of other keys. */
  get glob(): Buffer { return Buffer.concat([globOf(this.#before), Buffer.from("*"), globOf(this.#after)]); }

  #digitsOf(number: bigint): string { return String(number).padStart(this.#digits, "0"); }

  nameOf(number: bigint): Buffer { return Buffer.concat([this.#before, Buffer.from(this.#digitsOf(number)), this.#after]); }

  /** The number of a shard; undefined if the name is not exactly that of a shard. */
  numberOf(name: Buffer): bigint | undefined {
    const length = name.length - this.#before.length - this.#after.length, end = this.#before.length + length;
    if (length < 1 || length > Math.max(20, this.#digits)) return undefined;
    if (!name.subarray(0, this.#before.length).equals(this.#before) || !name.subarray(end).equals(this.#after)) return undefined;
    const text = name.toString("latin1", this.#before.length, end);
    return /^\d+$/.test(text) && this.#digitsOf(BigInt(text)) === text ? BigInt(text) : undefined;
  }

  /** The offset of a shard's bit 0; negative for numbers below the first. */
  offsetOf(number: bigint): bigint { return (number - this.first) * this.width; }
}

/** Whether a native bitmap has a set bit from this one on. */
export function hasBitsFrom(value: Uint8Array, bit: bigint): boolean {
  if (bit >= BigInt(value.length) * 8n) return false;
  const at = Number(bit / 8n), rest = Number(bit % 8n);
  return (value[at]! & (0xff >> rest)) !== 0 || value.subarray(at + 1).some((byte) => byte !== 0);
}
