// Generates data, equal for equal seeds. A bitmap is a native one, as SETBIT writes it: offset o is bit 7 - (o & 7) of byte o >> 3.

import { sorted } from "../test/support/family.ts";
import { random } from "../test/support/random.ts";

/**
 * xorshift128, which takes less than a nanosecond per word, for bitmaps of many megabytes. It is linear, so that states which are sums
 * of one another would give words that are sums too. Therefore the state comes from another generator.
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

/** A bitmap of `bits` offsets, each a member with probability share / 256. */
export function noise(seed: number, bits: number, share: number): Buffer {
  const next = words(seed), bitmap = new Uint32Array(Math.ceil(bits / 32));
  // Takes one random word per binary digit of the probability, from its last 1 upwards: a 1 is an OR, a 0 an AND.
  const digits = share.toString(2).padStart(8, "0").replace(/0+$/, "").slice(0, -1).split("").reverse();
  const steps = digits.map((digit) => digit === "1");
  for (let i = 0; i < bitmap.length; i++) {
    let word = next();
    for (const or of steps) word = or ? word | next() : word & next();
    bitmap[i] = word;
  }
  return Buffer.from(bitmap.buffer, 0, Math.ceil(bits / 8));
}

/** Runs of `shortest` to `longest` members, with gaps of the same range of lengths between them. */
export function runs(seed: number, bits: number, shortest: number, longest: number): Buffer {
  const { below } = random(seed), bitmap = Buffer.alloc(Math.ceil(bits / 8));
  const length = (): number => shortest + below(longest - shortest + 1);
  for (let at = below(longest); at < bits; at += length()) {
    for (let end = Math.min(at + length(), bits); at < end; at++) bitmap[at >> 3]! |= 0x80 >> (at & 7);
  }
  return bitmap;
}

/** Runs of `length` members at random. Each offset outside begins one with the same probability, such that `share` of all are members. */
export function randomRuns(seed: number, bits: number, length: number, share: number): Buffer {
  const { unit } = random(seed), bitmap = Buffer.alloc(Math.ceil(bits / 8));
  const begins = share / (share + length * (1 - share)), scale = 1 / Math.log1p(-begins);
  const gap = (): number => Math.floor(Math.log1p(-unit()) * scale);
  for (let at = gap(); at < bits; at += gap()) {
    for (const end = Math.min(at + length, bits); at < end; at++) bitmap[at >> 3]! |= 0x80 >> (at & 7);
  }
  return bitmap;
}

/**
 * Bitmaps whose members are in the same clusters: `share` / 256 of the offsets in a cluster, and none between clusters. Clusters have
 * `shortest` to `longest` bytes, and the gaps between them are `apart` times as long.
 */
export function clustered(bits: number, share: number, shortest: number, longest: number, apart: number): (seed: number) => Buffer {
  const bytes = Math.ceil(bits / 8), { below } = random(bits), length = (): number => shortest + below(longest - shortest + 1);
  const gaps: [from: number, to: number][] = [];
  for (let at = 0; at < bytes; at += length()) gaps.push([at, Math.min(at += apart * length(), bytes)]);
  return (seed) => {
    const bitmap = noise(seed, bits, share);
    for (const [from, to] of gaps) bitmap.fill(0, from, to);
    return bitmap;
  };
}

/** Ascending random members below `bits`: `count` draws without duplicates. */
export function scattered(seed: number, bits: number, count: number): number[] {
  const { below } = random(seed);
  return sorted(new Set(Array.from({ length: count }, () => below(bits))));
}

export function bitmapOf(ascending: readonly number[]): Buffer {
  const bitmap = Buffer.alloc(((ascending.at(-1) ?? -1) >>> 3) + 1);
  for (const member of ascending) bitmap[member >>> 3]! |= 0x80 >> (member & 7);
  return bitmap;
}

/** The ascending members of a bitmap. */
export function membersOf(bitmap: Buffer): number[] {
  const members: number[] = [];
  for (const [at, byte] of bitmap.entries()) {
    for (let bit = 0; byte << bit & 0xff; bit++) if (byte << bit & 0x80) members.push(at * 8 + bit);
  }
  return members;
}

/**
 * `count` snowflake ids of one day: milliseconds since an epoch, 10 bits of machine and 12 of sequence number. They ascend in time, in
 * the order in which such ids are assigned.
 */
export function snowflakes(seed: number, count: number): bigint[] {
  const { below } = random(seed), DAY_MS = 86_400_000, EPOCH_MS = 150_000_000_000n;
  const times = sorted(Array.from({ length: count }, () => below(DAY_MS)));
  return times.map((time) => ((EPOCH_MS + BigInt(time)) << 22n) | (BigInt(below(1024)) << 12n) | BigInt(below(4)));
}

/** The members in random order. */
export function shuffled<T>(seed: number, members: readonly T[]): T[] {
  const { below } = random(seed), order = [...members];
  for (let i = order.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

export function randomMembers(seed: number, count: number): bigint[] {
  const { u64 } = random(seed);
  return Array.from({ length: count }, u64);
}
