// A site with users, who register in some order, and articles, few of which have most of the readers.

import { createHash } from "node:crypto";
import type { Random } from "../../test/support/random.ts";

/** Ids such as a login service gives them, in the order in which the users registered. */
export const registered = (random: Random, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `user-${n.toString(36)}-${random.below(2 ** 32).toString(16)}`);

/** Zipf's law: the article at this rank, counted from 1, has so many views if the first one has `most`. */
export const viewsAt = (rank: number, most: number): number => Math.max(1, Math.round(most / rank ** 1.2));

/** Who reads an article, once for each view, as positions in the list of users. Some users read much more than others. */
export const views = (random: Random, users: number, count: number): number[] =>
  Array.from({ length: count }, () => Math.floor(users * random.unit() ** 2));

/** The first 64 bits of a string's SHA-256, as an offset that needs no table of ids. */
export const hashOf = (id: string): bigint => createHash("sha256").update(id).digest().readBigUInt64BE();
