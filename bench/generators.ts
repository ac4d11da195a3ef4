// Made-up data, the same for the same seed. A bitmap is the string that native SETBIT would make: offset o is bit 7 - (o & 7)
// of byte o >> 3.

import { random } from "../test/support/random.ts";

/**
 * xorshift128: less than a nanosecond a word, for bitmaps of many megabytes. It is linear, so its state is drawn: words that begin with
 * numbers which are sums of one another would stay so.
 */
function words(seed: number): () => number {
  const { below } = random(seed), word = (): number => below(2 ** 32) | 0;
  let a = word(), b = word(), c = word(), d = word() | 1;
  const next = (): number => {
    const t = a ^ (a << 11);
    a = b;
    b = c;
    c = d;
    d = d ^ (d >>> 19) ^ t ^ (t >>> 8);
    return d;
  };
  return next;
}

/** A bitmap in which each of `bits` offsets is a member with the probability of `share` in 256. */
export function noise(seed: number, bits: number, share: number): Buffer {
  const next = words(seed), bitmap = new Uint32Array(Math.ceil(bits / 32));
  // One random word for each binary digit of the probability, from the last 1 on: or where it is 1, and where it is 0.
  const digits = share.toString(2).padStart(8, "0").replace(/0+$/, "").slice(0, -1).split("").reverse();
  const steps = digits.map((digit) => digit === "1");
  for (let i = 0; i < bitmap.length; i++) {
    let word = next();
    for (const or of steps) word = or ? word | next() : word & next();
    bitmap[i] = word;
  }
  return Buffer.from(bitmap.buffer, 0, Math.ceil(bits / 8));
}

/** Runs of `shortest` to `longest` members, with gaps of as many offsets between them. */
export function runs(seed: number, bits: number, shortest: number, longest: number): Buffer {
  const { below } = random(seed), bitmap = Buffer.alloc(Math.ceil(bits / 8));
  const length = (): number => shortest + below(longest - shortest + 1);
  for (let at = below(longest); at < bits; at += length()) {
    for (let end = Math.min(at + length(), bits); at < end; at++) bitmap[at >> 3]! |= 0x80 >> (at & 7);
  }
  return bitmap;
}

/** `count` members or fewer, drawn from `bits` offsets, ascending. */
export function scattered(seed: number, bits: number, count: number): number[] {
  const { below } = random(seed);
  return [...new Set(Array.from({ length: count }, () => below(bits)))].sort((a, b) => a - b);
}

export function bitmapOf(ascending: readonly number[]): Buffer {
  const bitmap = Buffer.alloc(((ascending.at(-1) ?? -1) >>> 3) + 1);
  for (const member of ascending) bitmap[member >>> 3]! |= 0x80 >> (member & 7);
  return bitmap;
}

/**
 * `count` ids of a day as snowflakes: milliseconds since an epoch, ten bits of machine, twelve of sequence. Ascending in
 * time, as they are handed out.
 */
export function snowflakes(seed: number, count: number): bigint[] {
  const { below } = random(seed), DAY_MS = 86_400_000, EPOCH_MS = 150_000_000_000n;
  const times = Array.from({ length: count }, () => below(DAY_MS)).sort((a, b) => a - b);
  return times.map((time) => ((EPOCH_MS + BigInt(time)) << 22n) | (BigInt(below(1024)) << 12n) | BigInt(below(4)));
}

export function randomMembers(seed: number, count: number): bigint[] {
  const { u64 } = random(seed);
  return Array.from({ length: count }, u64);
}
