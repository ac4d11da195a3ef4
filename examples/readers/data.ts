// Readers with string ids, and the articles that they read.

import { createHash } from "node:crypto";
import type { Random } from "../../test/support/random.ts";

/** Ids such as a login service gives them. */
export const readers = (random: Random, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `user-${n.toString(36)}-${random.below(2 ** 32).toString(16)}`);

/** A reader for each view. Some readers come often. */
export const views = (random: Random, of: readonly string[], count: number): string[] =>
  Array.from({ length: count }, () => of[Math.floor(of.length * random.unit() ** 2)]!);

/** The first 64 bits of a string's SHA-256, as an offset that needs no table of ids. */
export const hashOf = (id: string): bigint => createHash("sha256").update(id).digest().readBigUInt64BE();
