// Reading members from shards in ascending order: the first ones, and pages.

import type { Family, Member } from "../family.js";
import { type Members, membersFor } from "../portable.js";
import type { Bounds, Layout } from "./layout.js";

/** Answers up to `limit` members of shards, all if there is none, each in its bounds. Members and bounds are offsets in the shard. */
export type Ask<M> = (parts: readonly Part[], limit: number | undefined) => Promise<M[][]>;

/** Bounds in a shard. */
export interface Part extends Bounds {
  readonly shard: number;
}

/** The parts of a range of the bitmap. */
export function partsOf(layout: Layout, low: bigint, high: bigint): Part[] {
  return layout.all().flatMap((shard) => {
    const bounds = layout.within(shard, low, high);
    return bounds ? [{ shard, ...bounds }] : [];
  });
}

/** Members in ascending order. */
function sorted<M extends Member>(family: Family<M>, members: readonly M[]): M[] {
  const array = membersFor(family, members.length);
  for (const [i, member] of members.entries()) array[i] = member;
  return Array.from(array.sort() as Members<M> as Iterable<M>);
}

/** Members of shards that have consecutive offsets, page by page. A page is of one shard. */
async function* pagesInOrder<M extends Member>(parts: readonly Part[], size: number, ask: Ask<M>): AsyncGenerator<M[], void, undefined> {
  for (const { shard, low, high } of parts) {
    for (let at = low; at <= high;) {
      const [page] = await ask([{ shard, low: at, high }], size);
      if (page!.length > 0) yield page!;
      if (page!.length < size) break;
      at = BigInt(page!.at(-1)!) + 1n;
    }
  }
}

/** A shard that is read beside others: members that have been read, as those of the bitmap, and what is left to read. */
interface Stream<M> {
  readonly shard: number;
  read: M[];
  left: Bounds | undefined;
}

/** The least number of members to ask a shard for. */
const LEAST = 16;

/** Members of shards that have offsets from everywhere, page by page. A page has `size` members, and the last one less. */
async function* pagesMerged<M extends Member>(
  family: Family<M>, layout: Layout, parts: readonly Part[], size: number, ask: Ask<M>,
): AsyncGenerator<M[], void, undefined> {
  const streams = parts.map(({ shard, low, high }): Stream<M> => ({ shard, read: [], left: { low, high } }));
  const share = Math.max(LEAST, Math.ceil(1.25 * size / Math.max(1, streams.length)));
  let page: M[] = [];
  while (streams.some(({ read, left }) => read.length > 0 || left)) {
    const short = streams.filter(({ read, left }) => left && 2 * read.length < share);
    const answers = await ask(short.map(({ shard, left }) => ({ shard, ...left! })), share);
    for (const [i, stream] of short.entries()) {
      const answer = answers[i]!, next = answer.length < share ? undefined : BigInt(answer.at(-1)!) + 1n;
      for (const local of answer) stream.read.push(family.member(layout.globalOf(stream.shard, BigInt(local))));
      stream.left = next !== undefined && next <= stream.left!.high ? { low: next, high: stream.left!.high } : undefined;
    }
    // Nothing below the last member of a shard that has more can still come.
    const ends = streams.flatMap(({ read, left }) => (left ? [read.at(-1)!] : []));
    const end = ends.reduce<M | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
    const ready: M[] = [];
    for (const stream of streams) {
      const after = end === undefined ? -1 : stream.read.findIndex((member) => member > end);
      const count = after < 0 ? stream.read.length : after;
      for (let i = 0; i < count; i++) ready.push(stream.read[i]!);
      stream.read = stream.read.slice(count);
    }
    for (const member of sorted(family, ready)) {
      page.push(member);
      if (page.length < size) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

/** Members in ascending order, page by page. */
export const pagesOf = <M extends Member>(
  family: Family<M>, layout: Layout, parts: readonly Part[], size: number, ask: Ask<M>,
): AsyncGenerator<M[], void, undefined> =>
  (layout.width === undefined ? pagesMerged(family, layout, parts, size, ask) : pagesInOrder(parts, size, ask));

/** The most members that are asked for at once. */
const MOST = 100_000;

/** The first `limit` members, or all. Of shards with consecutive offsets it asks 1, 2, 4 and so on at a time. */
export async function firstOf<M extends Member>(
  family: Family<M>, layout: Layout, parts: readonly Part[], limit: number | undefined, ask: Ask<M>,
): Promise<M[]> {
  if (layout.width === undefined && limit === undefined) {
    const answers = await ask(parts, undefined);
    const global = (shard: number) => (local: M): M => family.member(layout.globalOf(shard, BigInt(local)));
    return sorted(family, answers.flatMap((answer, i) => answer.map(global(parts[i]!.shard))));
  }
  if (limit === undefined) return (await ask(parts, undefined)).flat();
  const members: M[] = [];
  /** Not by push(...some): a call with so many arguments could overflow the stack. */
  const add = (some: readonly M[]): void => {
    for (let i = 0; i < some.length && members.length < limit; i++) members.push(some[i]!);
  };
  if (layout.width === undefined) {
    if (limit === 0) return members;
    for await (const page of pagesMerged(family, layout, parts, Math.min(limit, MOST), ask)) {
      add(page);
      if (members.length === limit) break;
    }
    return members;
  }
  for (let at = 0, some = 1; at < parts.length && members.length < limit; at += some, some *= 2) {
    for (const part of await ask(parts.slice(at, at + some), limit - members.length)) add(part);
  }
  return members;
}
