// Reading whole bitmaps in pieces.

import type { Call } from "./call.js";
import type { Calls } from "./calls.js";
import type { Member, Offset } from "./family.js";
import { integer } from "./family.js";
import { type PageOptions, pageSize } from "./paging.js";
import { containersOf } from "./payload.js";
import { type Members, membersOf } from "./containers.js";
import type { Key } from "./types.js";

/** Members in a piece unless the caller says otherwise. */
export const PIECE = 1_000_000;

/** The payloads of a bitmap's pieces in ascending order, each of `count` members, the last one less. */
export async function* payloadsOf<M extends Member>(
  calls: Calls<M>, key: Key, { from, count = PIECE }: PageOptions<M>, send: <T>(call: Call<T>) => Promise<T>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { family } = calls, size = BigInt(pageSize(count));
  const given = (value: bigint): Offset<M> => family.member(value) as unknown as Offset<M>;
  let low = integer("from", from ?? 0, 0n, family.last);
  for (;;) {
    // A write between these steps can only change how many members the piece has.
    const rank = low === 0n ? 0n : BigInt(await send(calls.rank(key, given(low - 1n))));
    const found = await send(calls.select(key, given(rank + size - 1n))), high = found === null ? family.last : BigInt(found);
    if (high < low) continue;
    const payload = await send(calls.queryExport(`#1 & [${low}..${high}]`, [key]));
    if (containersOf(family, payload).length > 0) yield payload;
    if (high === family.last) return;
    low = high + 1n;
  }
}

/** The members of a bitmap in ascending order, in pieces. */
export async function* unload<M extends Member>(
  calls: Calls<M>, key: Key, options: PageOptions<M>, send: <T>(call: Call<T>) => Promise<T>,
): AsyncGenerator<Members<M>, void, undefined> {
  for await (const payload of payloadsOf(calls, key, options, send)) {
    yield membersOf(calls.family, containersOf(calls.family, payload));
  }
}
