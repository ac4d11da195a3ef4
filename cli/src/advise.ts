// advise: the memory that values would take as roaring bitmaps. Reads only.

import { type Core, Format } from "./core/core.js";
import { blockBytes, keyBytes, keyLayout } from "./core/sizes.js";
import { ErrorAnswer, Exit, Failure, interruption, isForbiddenCommand } from "./failure.js";
import { generalized, patternOf } from "./names.js";
import { Pace } from "./pace.js";
import { CORE_BITMAP, PART_BYTES, readCoreBitmap, readSet, readString, scan } from "./reading.js";
import { type Answer, information, isRedirection, type Node, type Servers, type Word } from "./servers.js";
import { countText } from "./text.js";
import { isConvertible, type Verdict, verdictOnString } from "./verdict.js";

export interface AdviseOptions {
  match?: Buffer;
  /** The number of values of each group that are read; all if undefined. */
  sample?: number;
  /** Keys a second. */
  maxRate: number;
  /** The share of time in which a server may work for the tool. */
  share: number;
  onProgress?: (done: number, expected: number) => void;
}

/** Values of one kind that were read. */
interface Found {
  keys: number;
  /** Bytes by MEMORY USAGE with the key, now and as roaring bitmaps. */
  now: number;
  roaring: number;
  /** Keys whose members need 64 bits. */
  wide: number;
  /** Keys that would become larger, and by how much together. */
  largerKeys: number;
  largerBytes: number;
  /** Sums for the error of a sample: squares and products of now and roaring. */
  nowNow: number;
  nowRoaring: number;
  roaringRoaring: number;
}

/** Keys of one pattern and type. */
interface Group {
  pattern: string;
  type: string;
  keys: number;
  now: number;
  read: Map<Verdict, Found>;
}

export interface AdviceRow {
  pattern: string;
  type: string;
  /** What the values are; the server's type if they were not read. */
  kind: string;
  isConvertible: boolean;
  /** `R` or `R64`; "R, R64" if some need 64 bits. */
  family: string | null;
  keys: number;
  keysRead: number;
  bytesNow: number;
  bytesRoaring: number | null;
  /** The 95 % confidence interval of bytesRoaring is that many bytes to each side; 0 if all values were read. */
  uncertainty: number;
  saved: number | null;
  /** Keys that would become larger, and by how much together. */
  largerKeys: number;
  largerBytes: number;
}

export interface Advice {
  servers: string[];
  keys: number;
  seconds: number;
  /** The search was ended before all keys were seen. */
  isPartial: boolean;
  rows: AdviceRow[];
  bytesNow: number;
  bytesConvertible: number;
  bytesRoaring: number;
  /** Keys that disappeared while they were read, or that the user may not read. */
  vanished: number;
  notPermitted: number;
  /** What makes the figures less exact, and what they leave out. */
  notes: string[];
}

const BATCH = 50;
/** Values of one batch that are read together. */
const TOGETHER_BYTES = 1024 * 1024;
/** The bytes of a long string that are read first; these reveal most text. */
const PEEK_BYTES = 4096;
/** Of a larger set, only this many members are measured, and the rest is extrapolated. */
const MEMORY_SAMPLES = 1000;
/** With more groups, similar ones are joined. */
const GROUPS_MOST = 2000;

interface Key {
  name: Buffer;
  group: Group;
  type: string;
  now: number;
  expires: boolean;
  /** Bytes of a string, members of a set or of a bitmap of the server's own. */
  length: number;
}

/** The types of keys that are read, and the commands that tell how long they are: bytes, or members. */
const READ = new Map([["string", "STRLEN"], ["set", "SCARD"], [CORE_BITMAP, "BITCOUNT"]]);

const newFound = (): Found =>
  ({ keys: 0, now: 0, roaring: 0, wide: 0, largerKeys: 0, largerBytes: 0, nowNow: 0, nowRoaring: 0, roaringRoaring: 0 });

function addFound(to: Found, more: Found): void {
  for (const field of Object.keys(to) as (keyof Found)[]) to[field] += more[field];
}

export class Adviser {
  readonly #servers: Servers;
  readonly #core: Core;
  readonly #options: AdviseOptions;
  readonly #groups = new Map<string, Group>();
  /** The general pattern of patterns that were joined. */
  readonly #joined = new Map<string, string>();
  /** Sizes that only a quantum of 8 explains, and those that only one of 16 explains. */
  readonly #votes: Record<8 | 16, number> = { 8: 0, 16: 0 };
  #keys = 0;
  #vanished = 0;
  #notPermitted = 0;

  constructor(servers: Servers, core: Core, options: AdviseOptions) {
    this.#servers = servers;
    this.#core = core;
    this.#options = options;
  }

  async advise(): Promise<Advice> {
    const begun = performance.now();
    const sizes = await Promise.all(this.#servers.nodes.map(({ connection }) => connection.ask("DBSIZE")));
    const expected = sizes.reduce<number>((sum, size) => sum + (typeof size === "number" ? size : 0), 0);
    await Promise.all(this.#servers.nodes.map((node) => this.#adviseNode(node, expected)));
    this.#join(1);
    return this.#result((performance.now() - begun) / 1000, await this.#elsewhere());
  }

  /** A note on keys in other databases, if there are any and the user may know. */
  async #elsewhere(): Promise<string[]> {
    const [{ connection, options: { db } }] = this.#servers.nodes as [Node], fields = await information(connection, "keyspace").catch((error: unknown) => {
      if (error instanceof ErrorAnswer) return new Map<string, string>();
      throw error;
    });
    const others = Array.from(fields, ([name, text]) => ({ name: name.replace(/^db/, ""), keys: Number(/^keys=(\d+)/.exec(text)?.[1]) }))
      .filter(({ name, keys }) => name !== String(db) && keys > 0).map(({ name, keys }) => `${name} (${countText(keys)})`);
    return others.length > 0 ? [`this is database ${db}; others have keys, too: ${others.join(", ")}. Select one with -n`] : [];
  }

  async #adviseNode(node: Node, expected: number): Promise<void> {
    const { maxRate, share, match, onProgress } = this.#options, pace = new Pace(maxRate / this.#servers.nodes.length, share);
    // Keeps reading from changing which keys are evicted. Servers before 7.2 do not support it.
    await node.connection.ask("CLIENT", "NO-TOUCH", "ON");
    for await (const names of scan(node.connection, { match })) {
      for (let i = 0; i < names.length && !interruption.asked; i += BATCH) {
        const batch = names.slice(i, i + BATCH);
        await this.#adviseBatch(node, batch, pace);
        this.#keys += batch.length;
        onProgress?.(this.#keys, expected);
      }
      if (this.#groups.size > GROUPS_MOST) this.#join(1);
      if (interruption.asked) return;
    }
  }

  async #adviseBatch(node: Node, names: Buffer[], pace: Pace): Promise<void> {
    const keys = await pace.spend(names.length, () => this.#describe(node, names));
    let together: Key[] = [], bytes = 0;
    const flush = async (): Promise<void> => {
      const list = together;
      together = [];
      bytes = 0;
      if (list.length > 0) await pace.spend(0, () => Promise.all(list.map((key) => this.#readOne(node, key))));
    };
    for (const key of keys) {
      if (!this.#isRead(key)) continue;
      const size = key.type === "string" ? key.length : key.length * 16;
      if (size > PART_BYTES) {
        await pace.spend(0, () => this.#readOne(node, key));
        continue;
      }
      together.push(key);
      bytes += size;
      if (bytes > TOGETHER_BYTES) await flush();
    }
    await flush();
  }

  #isRead(key: Key): boolean {
    if (!READ.has(key.type)) return false;
    const { sample } = this.#options;
    if (sample === undefined) return true;
    let read = 0;
    for (const { keys } of key.group.read.values()) read += keys;
    return read < sample;
  }

  /** The types and sizes of keys; without those that are gone. */
  async #describe(node: Node, names: Buffer[]): Promise<Key[]> {
    const { connection, version } = node;
    const all = (words: (name: Buffer) => Word[]): Promise<Answer[]> => Promise.all(names.map((name) => connection.ask(...words(name))));
    const tellsExpiry = keyLayout(version) === "object";
    const [types, usages, times] = await Promise.all([
      all((name) => ["TYPE", name]), all((name) => ["MEMORY", "USAGE", name, "SAMPLES", MEMORY_SAMPLES]),
      tellsExpiry ? all((name) => ["PTTL", name]) : Promise.resolve(names.map(() => -1)),
    ]);
    const lengthOf = async (name: Buffer, type: Answer | undefined): Promise<Answer> =>
      READ.has(String(type)) ? connection.ask(READ.get(String(type))!, name) : 0;
    const lengths = await Promise.all(names.map((name, i) => lengthOf(name, types[i])));
    const keys: Key[] = [];
    for (const [i, name] of names.entries()) {
      const type = types[i]!, now = usages[i]!, length = lengths[i]!, time = times[i]!;
      if (![type, now, length, time].every((answer) => this.#isFine(answer))) continue;
      if (type === "none" || now === null) {
        this.#vanished++;
        continue;
      }
      const group = this.#count(name, String(type), Number(now));
      const key = { name, group, type: String(type), now: Number(now), expires: Number(time) >= 0, length: Number(length) };
      this.#vote(node, key);
      keys.push(key);
    }
    return keys;
  }

  /** Whether an answer is not an error; counts keys that the user may not read. */
  #isFine(answer: Answer): boolean {
    if (!(answer instanceof ErrorAnswer)) return true;
    if (isForbiddenCommand(answer)) throw new Failure(`advise needs SCAN, TYPE, MEMORY USAGE, PTTL, STRLEN, GETRANGE, SCARD and SSCAN, for core bitmaps BITCOUNT and BITRANGEINTARRAY: ${answer.message}`, Exit.PERMISSION);
    if (answer.code === "NOPERM") this.#notPermitted++;
    else if (answer.code === "WRONGTYPE" || isRedirection(answer)) this.#vanished++;
    else throw answer;
    return false;
  }

  #count(name: Buffer, type: string, now: number): Group {
    const own = patternOf(name), pattern = this.#joined.get(own) ?? own, id = `${type} ${pattern}`;
    let group = this.#groups.get(id);
    if (!group) this.#groups.set(id, group = { pattern, type, keys: 0, now: 0, read: new Map() });
    group.keys++;
    group.now += now;
    return group;
  }

  /** Joins groups whose patterns are alike, if there are more than so many. */
  #join(most: number): void {
    if (this.#groups.size <= most) return;
    const general = generalized(new Set(Array.from(this.#groups.values(), ({ pattern }) => pattern)));
    for (const [own, pattern] of this.#joined) {
      const wider = general.get(pattern);
      if (wider) this.#joined.set(own, wider);
    }
    for (const [pattern, wider] of general) this.#joined.set(pattern, wider);
    for (const [id, group] of [...this.#groups]) {
      const pattern = general.get(group.pattern);
      if (!pattern) continue;
      this.#groups.delete(id);
      const wider = this.#groups.get(`${group.type} ${pattern}`);
      if (!wider) {
        this.#groups.set(`${group.type} ${pattern}`, { ...group, pattern });
        continue;
      }
      wider.keys += group.keys;
      wider.now += group.now;
      for (const [verdict, found] of group.read) {
        const same = wider.read.get(verdict);
        if (same) addFound(same, found);
        else wider.read.set(verdict, found);
      }
    }
  }

  async #readOne(node: Node, key: Key): Promise<void> {
    let measured: { verdict: Verdict; used?: number; wide?: boolean } | undefined;
    try {
      measured = key.type === "string" ? await this.#measureString(node, key) : await this.#measureMembers(node, key);
    } catch (error) {
      if (!(error instanceof ErrorAnswer)) throw error;
      this.#isFine(error);
      return;
    }
    if (!measured) {
      this.#vanished++;
      return;
    }
    const { verdict, used, wide } = measured, layout = keyLayout(node.version);
    let found = key.group.read.get(verdict);
    if (!found) key.group.read.set(verdict, found = newFound());
    const roaring = used === undefined ? key.now : blockBytes(used) + keyBytes(layout, this.#quantum, key.name.length, key.expires);
    addFound(found, {
      keys: 1, now: key.now, roaring, wide: wide ? 1 : 0,
      largerKeys: roaring > key.now ? 1 : 0, largerBytes: Math.max(0, roaring - key.now),
      nowNow: key.now ** 2, nowRoaring: key.now * roaring, roaringRoaring: roaring ** 2,
    });
  }

  async #measureString({ connection }: Node, { name, length }: Key): Promise<{ verdict: Verdict; used?: number } | undefined> {
    if (length > PART_BYTES) {
      const peek = await readString(connection, name, PEEK_BYTES);
      if (!peek) return undefined;
      const verdict = verdictOnString(peek, false);
      if (!isConvertible(verdict)) return { verdict };
    }
    const value = await readString(connection, name, length);
    if (!value) return length === 0 ? { verdict: "empty" } : undefined;
    const verdict = verdictOnString(value);
    if (!isConvertible(verdict)) return { verdict };
    this.#core.read(Format.BITS, value);
    return { verdict, used: this.#core.used() };
  }

  async #measureMembers(
    { connection }: Node, { name, type }: Key,
  ): Promise<{ verdict: Verdict; used?: number; wide?: boolean } | undefined> {
    const members = await (type === CORE_BITMAP ? readCoreBitmap : readSet)(connection, name);
    if (!members) return undefined;
    if (members.refused !== undefined) return { verdict: "not integers" };
    if (members.count === 0) return { verdict: "empty" };
    this.#core.collect(members.offsets);
    return { verdict: type === CORE_BITMAP ? "core bitmap" : "integers", used: this.#core.used(), wide: members.areWide };
  }

  /** Learns the allocator's quantum from a string that is longer than 64 bytes: what it takes without its key is a multiple of 16. */
  #vote(node: Node, key: Key): void {
    if (key.type !== "string" || key.length <= 64) return;
    const layout = keyLayout(node.version), rests = ([8, 16] as const).map((quantum) => {
      return (key.now - keyBytes(layout, quantum, key.name.length, key.expires)) % 16 === 0;
    });
    if (rests[0] && !rests[1]) this.#votes[8]++;
    if (rests[1] && !rests[0]) this.#votes[16]++;
  }

  get #quantum(): 8 | 16 { return this.#votes[8] > this.#votes[16] ? 8 : 16; }

  #rows(group: Group): AdviceRow[] {
    const { pattern, type, read } = group;
    const none = {
      pattern, type, isConvertible: false, family: null, bytesRoaring: null, uncertainty: 0, saved: null, largerKeys: 0, largerBytes: 0,
    };
    if (read.size === 0) return [{ ...none, kind: type, keys: group.keys, keysRead: 0, bytesNow: group.now }];
    let keysRead = 0, nowRead = 0;
    for (const { keys, now } of read.values()) {
      keysRead += keys;
      nowRead += now;
    }
    const unread = group.keys - keysRead;
    return Array.from(read, ([verdict, found]) => {
      const keys = found.keys + Math.round(unread * found.keys / keysRead);
      const rest = (group.now - nowRead) * found.now / nowRead, bytesNow = Math.round(found.now + rest);
      const row = { ...none, kind: verdict, keys, keysRead: found.keys, bytesNow };
      if (!isConvertible(verdict)) return row;
      const { slope, variance } = regressionOf(found), scale = keys / found.keys, others = keys - found.keys;
      const unreadRoaring = others * (found.roaring - slope * found.now) / found.keys + slope * rest;
      const bytesRoaring = Math.round(found.roaring + (others > 0 ? Math.max(0, unreadRoaring) : 0));
      return {
        ...row, isConvertible: true, bytesRoaring, saved: bytesNow - bytesRoaring,
        family: found.wide === 0 ? "R" : found.wide === found.keys ? "R64" : "R, R64",
        uncertainty: unread > 0 ? Math.round(1.96 * keys * Math.sqrt(variance / found.keys * (1 - found.keys / keys))) : 0,
        largerKeys: Math.round(found.largerKeys * scale), largerBytes: Math.round(found.largerBytes * scale),
      };
    });
  }

  #result(seconds: number, notes: string[]): Advice {
    const rows = Array.from(this.#groups.values(), (group) => this.#rows(group)).flat()
      .sort((a, b) => (b.saved ?? -Infinity) - (a.saved ?? -Infinity) || b.bytesNow - a.bytesNow || (a.pattern < b.pattern ? -1 : 1));
    const convertible = rows.filter((row) => row.isConvertible);
    const sum = (list: AdviceRow[], field: "bytesNow" | "bytesRoaring"): number => list.reduce((total, row) => total + (row[field] ?? 0), 0);
    for (const { allocator, connection } of this.#servers.nodes) {
      if (!allocator || allocator.startsWith("jemalloc")) continue;
      notes.push(`${connection.address} uses the allocator ${allocator}; figures for roaring bitmaps assume jemalloc`);
    }
    const core = rows.reduce((keys, row) => keys + (row.kind === "core bitmap" ? row.keys : 0), 0);
    if (core > 0) {
      const are = core === 1 ? "key is a bitmap" : "keys are bitmaps", more = "docs/choosing.md says what redis-roar adds to it";
      notes.push(`${countText(core)} ${are} of the server's own type, which is compressed, too; ${more}`);
    }
    if (rows.some((row) => row.keys > row.keysRead && row.isConvertible)) notes.push("figures of sampled groups are estimates");
    return {
      servers: this.#servers.nodes.map(({ connection, version }) => `${connection.address} (${version.name} ${version.version})`),
      keys: this.#keys, seconds, isPartial: interruption.asked, rows, notes,
      bytesNow: sum(rows, "bytesNow"), bytesConvertible: sum(convertible, "bytesNow"), bytesRoaring: sum(convertible, "bytesRoaring"),
      vanished: this.#vanished, notPermitted: this.#notPermitted,
    };
  }
}

/**
 * How bytes of roaring bitmaps depend on bytes now, by least squares, and the variance of what this leaves unexplained: infinite for fewer
 * than three values. Values of equal size say nothing of the dependence; each then counts as the mean of all.
 */
function regressionOf({ keys, now, roaring, nowNow, nowRoaring, roaringRoaring }: Found): { slope: number; variance: number } {
  const spread = nowNow - now ** 2 / keys, common = nowRoaring - now * roaring / keys;
  const own = roaringRoaring - roaring ** 2 / keys;
  // Sums of squares of equal numbers differ by rounding only.
  const slope = spread > nowNow * 1e-9 ? common / spread : 0;
  return { slope, variance: keys < 3 ? Infinity : Math.max(0, own - slope * common) / (keys - 2) };
}
