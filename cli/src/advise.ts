// advise: the memory that values would take as roaring bitmaps, as integers for ids, or with a dictionary of names. Reads only.

import { type Group, joinGroups, type Measured, noteFound } from "./advising/found.js";
import { type Budget, GroupNames, NAMES_MOST } from "./advising/names.js";
import { readPairsToMeasure } from "./advising/pairs.js";
import { type Advice, type AdviceRow, notesOn, rowsOf } from "./advising/rows.js";
import { readSetToMeasure } from "./advising/sets.js";
import { type Core, Format } from "./core/core.js";
import { blocksBytes, keyBytes, keyLayout, SEGMENT_BYTES } from "./core/sizes.js";
import { ErrorAnswer, Exit, Failure, interruption, isForbiddenCommand } from "./failure.js";
import { generalized, patternOf } from "./names.js";
import { Pace } from "./pace.js";
import { CORE_BITMAP, PART_BYTES, readCoreBitmap, readString, scan } from "./reading.js";
import { type Answer, information, isRedirection, type Node, type Servers, type Word } from "./servers.js";
import { countText } from "./text.js";
import { isConvertible, verdictOnString } from "./verdict.js";

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
  /** Bytes of a string, members of a set or of a bitmap of the server's own, fields of a hash. */
  length: number;
}

/** The types of keys that are read, and the commands that tell how long they are: bytes, or members. */
const READ = new Map([["string", "STRLEN"], ["set", "SCARD"], ["zset", "ZCARD"], ["hash", "HLEN"], [CORE_BITMAP, "BITCOUNT"]]);

/** About how many bytes a reader takes for a byte or a member of a key. */
const MEMBER_BYTES: Record<string, number> = { string: 1, set: 16, [CORE_BITMAP]: 16, zset: 32, hash: 32 };
/** Types of keys that are only counted if the user may not read them. */
const OPTIONAL = new Set(["zset", "hash"]);
/** The bytes of the name of a dictionary. */
const DICTIONARY_NAME_BYTES = 12;

export class Adviser {
  readonly #servers: Servers;
  readonly #core: Core;
  readonly #options: AdviseOptions;
  readonly #groups = new Map<string, Group>();
  /** The general pattern of patterns that were joined. */
  readonly #joined = new Map<string, string>();
  /** Sizes that only a quantum of 8 explains, and those that only one of 16 explains. */
  readonly #votes: Record<8 | 16, number> = { 8: 0, 16: 0 };
  readonly #budget: Budget = { left: NAMES_MOST };
  /** By type, the command that this user may not run, without which keys of the type are not read. */
  readonly #forbidden = new Map<string, string>();
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
      if (list.length > 0) await pace.spend(0, () => this.#readAll(node, list));
    };
    for (const key of keys) {
      if (!this.#isRead(key)) continue;
      const size = key.length * MEMBER_BYTES[key.type]!;
      if (size > PART_BYTES) {
        await pace.spend(0, () => this.#readAll(node, [key]));
        continue;
      }
      together.push(key);
      bytes += size;
      if (bytes > TOGETHER_BYTES) await flush();
    }
    await flush();
  }

  #isRead(key: Key): boolean {
    if (!READ.has(key.type) || this.#forbidden.has(key.type) || (key.type === "set" && key.group.names.isFull)) return false;
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
    const lengthOf = async (name: Buffer, type: Answer | undefined): Promise<Answer> => {
      const command = READ.get(String(type));
      if (!command) return 0;
      const length = this.#forbidden.has(String(type)) ? 0 : await connection.ask(command, name);
      return this.#isForbidden(String(type), length) ? 0 : length;
    };
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
      if (this.#forbidden.has(key.type)) this.#notPermitted++;
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

  /** Whether the user may not run a command that only keys of this type need; then notes it. */
  #isForbidden(type: string, answer: Answer): boolean {
    if (!OPTIONAL.has(type) || !isForbiddenCommand(answer)) return false;
    this.#forbidden.set(type, /'(\S+)' command/.exec((answer as ErrorAnswer).message)?.[1]?.toUpperCase() ?? "what reads them");
    return true;
  }

  #count(name: Buffer, type: string, now: number): Group {
    const own = patternOf(name), pattern = this.#joined.get(own) ?? own, id = `${type} ${pattern}`;
    let group = this.#groups.get(id);
    if (!group) this.#groups.set(id, group = { pattern, type, keys: 0, now: 0, read: new Map(), names: new GroupNames(this.#budget) });
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
      joinGroups(wider, group);
    }
  }

  /** Reads keys together, and then notes them in their order: names in sets get ids in the order in which they come. */
  async #readAll(node: Node, keys: readonly Key[]): Promise<void> {
    const readings = await Promise.all(keys.map((key) => this.#read(node, key)));
    for (const [i, key] of keys.entries()) {
      const reading = readings[i];
      if (reading === "refused") continue;
      const measured = reading?.();
      if (measured) this.#note(node, key, measured);
      else if (!key.group.names.isFull) this.#vanished++;
    }
  }

  /** Reads a key; the result measures it. Undefined if it has gone or changed its type; "refused" after an error, which is counted. */
  async #read(node: Node, key: Key): Promise<(() => Measured | undefined) | "refused" | undefined> {
    const { connection } = node;
    try {
      switch (key.type) {
        case "string": return await this.#readString(node, key);
        case "set": return await readSetToMeasure(connection, key, this.#core, key.group.names);
        case CORE_BITMAP: return await this.#readBitmap(node, key);
        default: return await readPairsToMeasure(connection, key, this.#core);
      }
    } catch (error) {
      if (!(error instanceof ErrorAnswer)) throw error;
      if (this.#isForbidden(key.type, error)) this.#notPermitted++;
      else this.#isFine(error);
      return "refused";
    }
  }

  #note(node: Node, key: Key, measured: Measured): void {
    noteFound(key.group, measured, key.now, keyBytes(keyLayout(node.version), this.#quantum, key.name.length, key.expires));
  }

  async #readString({ connection }: Node, { name, length }: Key): Promise<(() => Measured) | undefined> {
    if (length > PART_BYTES) {
      const peek = await readString(connection, name, PEEK_BYTES);
      if (!peek) return undefined;
      const verdict = verdictOnString(peek, false);
      if (!isConvertible(verdict)) return () => ({ verdict });
    }
    const value = await readString(connection, name, length);
    if (!value) return length === 0 ? () => ({ verdict: "empty" }) : undefined;
    return () => {
      const verdict = verdictOnString(value);
      if (!isConvertible(verdict)) return { verdict };
      this.#core.read(Format.BITS, value, SEGMENT_BYTES);
      return { verdict, bytes: blocksBytes(this.#core.arenas) };
    };
  }

  async #readBitmap({ connection }: Node, { name }: Key): Promise<(() => Measured) | undefined> {
    const members = await readCoreBitmap(connection, name);
    if (!members) return undefined;
    return () => {
      if (members.count === 0) return { verdict: "empty" };
      this.#core.collect(members.offsets, SEGMENT_BYTES);
      return { verdict: "core bitmap", bytes: blocksBytes(this.#core.arenas), wide: members.areWide };
    };
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

  #result(seconds: number, notes: string[]): Advice {
    const { version } = this.#servers.nodes[0]!, dictionaryKey = keyBytes(keyLayout(version), this.#quantum, DICTIONARY_NAME_BYTES, false);
    const rows = Array.from(this.#groups.values(), (group) => rowsOf(this.#core, group, dictionaryKey)).flat()
      .sort((a, b) => (b.saved ?? -Infinity) - (a.saved ?? -Infinity) || b.bytesNow - a.bytesNow || (a.pattern < b.pattern ? -1 : 1));
    const convertible = rows.filter((row) => row.isConvertible);
    const sum = (list: AdviceRow[], field: "bytesNow" | "bytesRoaring"): number => list.reduce((total, row) => total + (row[field] ?? 0), 0);
    for (const { allocator, connection } of this.#servers.nodes) {
      if (!allocator || allocator.startsWith("jemalloc")) continue;
      notes.push(`${connection.address} uses the allocator ${allocator}; figures for roaring bitmaps assume jemalloc`);
    }
    notes.push(...notesOn(rows, this.#groups.values()));
    if (this.#servers.isCluster && rows.some(({ kind }) => kind === "names")) {
      notes.push("in a cluster, a dictionary has to be in the slot of its bitmaps, so sets without a common hash tag need a dictionary for each slot");
    }
    for (const [type, command] of this.#forbidden) {
      notes.push(`this user may not run ${command}, so ${type === "zset" ? "sorted sets" : "hashes"} are only counted`);
    }
    return {
      servers: this.#servers.nodes.map(({ connection, version: { name, version: number } }) => `${connection.address} (${name} ${number})`),
      keys: this.#keys, seconds, isPartial: interruption.asked, rows, notes,
      bytesNow: sum(rows, "bytesNow"), bytesConvertible: sum(convertible, "bytesNow"), bytesRoaring: sum(convertible, "bytesRoaring"),
      vanished: this.#vanished, notPermitted: this.#notPermitted,
    };
  }
}
