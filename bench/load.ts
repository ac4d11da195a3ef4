// Data sets, and how they are loaded into servers.

import { range } from "../test/support/family.ts";
import { bytesOf, type Command } from "../test/support/resp.ts";
import type { Contender } from "./contender.ts";
import { bitmapOf, membersOf } from "./generators.ts";
import { addTo } from "./statistics.ts";

export interface DataSet {
  readonly name: string;
  readonly count: number;
  /** The ascending members of a set. Absent if there are too many to list; then only `bitmap` exists. */
  readonly members?: (index: number) => number[];
  readonly bitmap: (index: number) => Buffer;
}

export const ofMembers = (name: string, sets: readonly number[][]): DataSet =>
  ({ name, count: sets.length, members: (i) => sets[i]!, bitmap: (i) => bitmapOf(sets[i]!) });

export const ofBitmaps = (name: string, bitmaps: readonly Buffer[]): DataSet =>
  ({ name, count: bitmaps.length, bitmap: (i) => bitmaps[i]! });

/** Bitmaps that are made anew whenever they are asked for, because there are too many to keep. */
export const ofMade = (name: string, count: number, make: (seed: number) => Buffer): DataSet =>
  ({ name, count, bitmap: (i) => make(i + 1) });

/** Members per command. */
const BATCH = 10_000;

/** Commands that load a key with these members, of which there is one at least. */
export function loading(contender: Pick<Contender, "named">, key: string, members: readonly (number | bigint)[]): Command[] {
  const commands: Command[] = [];
  for (let at = 0; at < members.length; at += BATCH) {
    commands.push([contender.named(at === 0 ? "SETINTARRAY" : "APPENDINTARRAY"), key, ...members.slice(at, at + BATCH)]);
  }
  return commands;
}

/** DUMPs of a set that has no list of members, by the contender's prefix. */
export type Dumps = Map<string, Buffer>;

export async function loadSet(contender: Contender, data: DataSet, index: number, bitmap: Buffer, dumps: Dumps): Promise<void> {
  const key = contender.key(data.name, index), members = data.members?.(index), dump = dumps.get(contender.prefix);
  if (contender.native) await contender.run([["SET", key, bitmap]]);
  else if (members) await contender.run(loading(contender, key, members));
  else if (contender.has("FROMBITMAP")) {
    const from = `${key}:native`;
    await contender.run([["SET", from, bitmap], [contender.named("FROMBITMAP"), key, from], ["DEL", from]]);
    const [dumped] = await contender.run([["DUMP", key]]);
    dumps.set(contender.prefix, bytesOf(dumped!));
  } else if (dump) await contender.run([["RESTORE", key, 0, dump, "REPLACE"]]);
  else await contender.run(loading(contender, key, membersOf(bitmap)));
}

/**
 * Loads a data set into every contender, each set as `<name>:<index>`, and returns the rise of used_memory per contender. Sets are
 * loaded as lists of members, as a user would do it, and large bitmaps as native strings through FROMBITMAP. A module without that
 * command gets the DUMP of another one. Every set is loaded twice and the second time counts, because a server may keep what it
 * allocates for a first command.
 */
export async function load(contenders: readonly Contender[], data: DataSet): Promise<Map<Contender, number>> {
  const risen = new Map<Contender, number>();
  for (let i = 0; i < data.count; i++) {
    const bitmap = data.bitmap(i), dumps: Dumps = new Map();
    for (const contender of contenders) {
      await loadSet(contender, data, i, bitmap, dumps);
      await contender.run([["DEL", contender.key(data.name, i)]]);
      const bytes = await contender.memoryOf(() => loadSet(contender, data, i, bitmap, dumps));
      addTo(risen, contender, bytes);
    }
  }
  return risen;
}

/** Runs OPTIMIZE MEM on all sets in all modules and returns the fall of used_memory. Here too, a first run on a copy does not count. */
export async function optimise(contenders: readonly Contender[], data: DataSet): Promise<Map<Contender, number>> {
  const fallen = new Map<Contender, number>();
  for (const contender of contenders.filter((one) => !one.native)) {
    const keys = range(0, data.count).map((i) => contender.key(data.name, i)), scratch = contender.key("scratch");
    const repack = (key: string): Command => [contender.named("OPTIMIZE"), key, "MEM"];
    for (const key of keys) await contender.run([[contender.named("BITOP"), "OR", scratch, key, key], repack(scratch), ["DEL", scratch]]);
    fallen.set(contender, -(await contender.memoryOf(async () => void (await contender.run(keys.map(repack))))));
  }
  return fallen;
}
