// Reading members from shards in either order: the first ones, pages, and runs.

import type { Family, Member } from "../family.js";
import { type Members, membersFor } from "../containers.js";
import type { Bounds, Layout } from "./layout.js";
import { merged, type Order, type Stream } from "./merging.js";

/**
 * Answers up to `limit` members of shards, all if there is none, each in its bounds; with `down` the greatest first. Members and bounds are
 * offsets in the shard.
 */
export type Ask<M> = (parts: readonly Part[], limit: number | undefined, down?: boolean) => Promise<M[][]>;

/** Answers up to `limit` runs of members of shards, each in its bounds. */
export type AskForRuns<M> = (parts: readonly Part[], limit: number | undefined) => Promise<Run<M>[][]>;

/** A run of consecutive members. */
export type Run<M> = [first: M, last: M];

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

/** Members in ascending order, or in descending order. */
export function sorted<M extends Member>(family: Family<M>, members: readonly M[], down = false): M[] {
  const array = membersFor(family, members.length);
  for (const [i, member] of members.entries()) array[i] = member;
  const list = Array.from(array.sort() as Members<M> as Iterable<M>);
  return down ? list.reverse() : list;
}

/** What is left of the bounds of a shard that was read up to a member. */
function leftOf({ low, high }: Bounds, member: bigint, down: boolean): Bounds | undefined {
  const left = down ? { low, high: member - 1n } : { low: member + 1n, high };
  return left.low <= left.high ? left : undefined;
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

/** A shard that is read beside others: members are those of the bitmap. */
interface MemberStream<M> extends Stream<M> {
  left: Bounds;
}

/** Members of shards that have offsets from everywhere, page by page. A page has `size` members, and the last one less. */
function pagesMerged<M extends Member>(
  family: Family<M>, layout: Layout, parts: readonly Part[], size: number, ask: Ask<M>, down = false,
): AsyncGenerator<M[], void, undefined> {
  const streams = parts.map(({ shard, low, high }): MemberStream<M> => ({ shard, read: [], isOpen: true, left: { low, high } }));
  const order: Order<M> = { isAfter: (a, b) => (down ? a < b : a > b), sorted: (members) => sorted(family, members, down) };
  return merged(streams, size, order, async (short, share) => {
    const answers = await ask(short.map(({ shard, left }) => ({ shard, ...left })), share, down);
    for (const [i, stream] of short.entries()) {
      const answer = answers[i]!;
      for (const local of answer) stream.read.push(family.member(layout.globalOf(stream.shard, BigInt(local))));
      const left = answer.length < share ? undefined : leftOf(stream.left, BigInt(answer.at(-1)!), down);
      stream.isOpen = left !== undefined;
      stream.left = left ?? stream.left;
    }
  });
}

/** Members in ascending order, page by page. */
export const pagesOf = <M extends Member>(
  family: Family<M>, layout: Layout, parts: readonly Part[], size: number, ask: Ask<M>,
): AsyncGenerator<M[], void, undefined> =>
  (layout.width === undefined ? pagesMerged(family, layout, parts, size, ask) : pagesInOrder(parts, size, ask));

/** The most members that are asked for at once. */
const MOST = 100_000;

/**
 * The first `limit` members, or all; with `down` the greatest first. Of shards with consecutive offsets it asks 1, 2, 4 and so on at a
 * time.
 */
export async function firstOf<M extends Member>(
  family: Family<M>, layout: Layout, given: readonly Part[], limit: number | undefined, ask: Ask<M>, down = false,
): Promise<M[]> {
  const parts = down ? [...given].reverse() : given;
  if (layout.width === undefined && limit === undefined) {
    const answers = await ask(parts, undefined, down);
    const global = (shard: number) => (local: M): M => family.member(layout.globalOf(shard, BigInt(local)));
    return sorted(family, answers.flatMap((answer, i) => answer.map(global(parts[i]!.shard))), down);
  }
  if (limit === undefined) return (await ask(parts, undefined, down)).flat();
  const members: M[] = [];
  /** Not by push(...some): a call with so many arguments could overflow the stack. */
  const add = (some: readonly M[]): void => {
    for (let i = 0; i < some.length && members.length < limit; i++) members.push(some[i]!);
  };
  if (layout.width === undefined) {
    if (limit === 0) return members;
    for await (const page of pagesMerged(family, layout, parts, Math.min(limit, MOST), ask, down)) {
      add(page);
      if (members.length === limit) break;
    }
    return members;
  }
  for (let at = 0, some = 1; at < parts.length && members.length < limit; at += some, some *= 2) {
    for (const part of await ask(parts.slice(at, at + some), limit - members.length, down)) add(part);
  }
  return members;
}

/** Adds a run behind the others, or to the last one if it continues that. */
function addRun<M extends Member>(runs: Run<M>[], [first, last]: Run<M>): void {
  const before = runs.at(-1);
  if (before && BigInt(before[1]) + 1n === BigInt(first)) before[1] = last;
  else runs.push([first, last]);
}

/**
 * The first `limit` runs, or all. Of shards with consecutive offsets it asks 1, 2, 4 and so on at a time, and one run more, since the first
 * of a shard can continue the last of the shard before. Of other shards it reads the members.
 */
export async function runsOf<M extends Member>(
  family: Family<M>, layout: Layout, parts: readonly Part[], limit: number, ask: Ask<M>, askForRuns: AskForRuns<M>,
): Promise<Run<M>[]> {
  const runs: Run<M>[] = [];
  if (limit === 0) return runs;
  if (layout.width === undefined) {
    for await (const page of pagesMerged(family, layout, parts, MOST, ask)) {
      for (const member of page) {
        addRun(runs, [member, member]);
        if (runs.length > limit) return runs.slice(0, limit);
      }
    }
    return runs;
  }
  for (let at = 0, some = limit === Infinity ? parts.length : 1; at < parts.length; at += some, some *= 2) {
    const asked = parts.slice(at, at + some), answers = await askForRuns(asked, limit === Infinity ? undefined : limit - runs.length + 1);
    for (const [i, answer] of answers.entries()) {
      for (const run of answer) addRun(runs, run);
      const isComplete = runs.length === limit && runs.at(-1)![1] < asked[i]!.high;
      if (runs.length > limit || isComplete) return runs.slice(0, limit);
    }
  }
  return runs;
}
