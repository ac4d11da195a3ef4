// bench: times queries on the user's keys, as roaring bitmaps and as other types.
//
// A contender is a list of keys of one type; all contenders have the same members, in the same order of keys. Each query is run
// on each contender in many short turns, so that other load on the machine affects all of them alike.

import { type Core, Format } from "./core/core.js";
import { Exit, ErrorAnswer, Failure, interruption } from "./failure.js";
import { readKey } from "./inspect.js";
import { shown, slotOf } from "./names.js";
import { type Answer, type Connection, information, type Node, type Servers, type Word } from "./servers.js";
import { exec, Temporaries, TEMPORARY_MS } from "./transaction.js";

export interface BenchOptions {
  /** Other keys with the same members as the keys given. */
  beside: Buffer[];
  /** Whether temporary keys may be written: copies, and results of native BITOP. */
  temporaryKeys: boolean;
  /** An expression over the keys, in addition to the standard queries. */
  query?: string;
  /** Time for each query on each contender. */
  seconds: number;
  /** The number of turns of each contender. */
  rounds: number;
}

type Form = "R" | "R64" | "native" | "set";

interface Contender {
  form: Form;
  keys: Buffer[];
}

export interface Timing {
  form: Form;
  calls: number;
  /** Microseconds in the server for all commands of a query, by INFO commandstats; null if the user lacks the right. */
  server: number | null;
  /** Other clients called the same commands meanwhile, and are part of the mean. */
  isShared: boolean;
  /** Round trips in microseconds, the median and the 99th of 100. */
  p50: number;
  p99: number;
}

export interface BenchRow {
  question: string;
  timings: Timing[];
  /** Two different answers to the same query. */
  differs: string | null;
}

export interface Bench {
  server: string;
  forms: Form[];
  keys: string[];
  rows: BenchRow[];
  /** Why something was not measured. */
  notes: string[];
}

/** The commands of a query. Its answer is the reply to the last one; the same `turn` gives the same answer. */
type Ask = (turn: number) => Word[][];

interface Question {
  name: string;
  ask(contender: Contender): Ask | undefined;
}

/** The maximum length of a native copy. */
const COPY_BYTES_MOST = 64 * 1024 * 1024;
/** The number of offsets of each key for GETBIT: one half are members. */
const OFFSETS = 256;
/** Answers that are compared before anything is measured. */
const COMPARED = 64;

export class Bencher {
  readonly #servers: Servers;
  readonly #core: Core;
  readonly #options: BenchOptions;
  readonly #temporaries: Temporaries;
  readonly #made: Buffer[] = [];
  readonly #notes: string[] = [];
  #node!: Node;
  #offsets: bigint[][] = [];

  constructor(servers: Servers, core: Core, options: BenchOptions) {
    this.#servers = servers;
    this.#core = core;
    this.#options = options;
    this.#temporaries = new Temporaries(servers);
  }

  async bench(keys: Buffer[]): Promise<Bench> {
    const { beside, temporaryKeys } = this.#options, all = [...keys, ...beside];
    if (beside.length > 0 && beside.length !== keys.length) throw new Failure(`--beside needs the same number of keys: ${keys.length}`, Exit.USAGE);
    if (this.#servers.isCluster && new Set(all.map(slotOf)).size > 1) throw new Failure("in a cluster, the keys have to be in one slot", Exit.USAGE);
    this.#node = this.#servers.nodeOf(keys[0]!);
    const contenders = [{ form: await this.#measureKeys(keys), keys }];
    try {
      if (beside.length > 0) contenders.push({ form: await this.#formOf(beside), keys: beside });
      else if (temporaryKeys) await this.#addCopy(contenders);
      const rows: BenchRow[] = [];
      for (const question of this.#questions(keys.length)) {
        if (interruption.asked) break;
        rows.push(await this.#measure(question, contenders));
      }
      if (contenders.length === 1 && !temporaryKeys) this.#notes.push("--temporary-keys compares with a copy, and --beside with existing keys");
      else if (!temporaryKeys && keys.length > 1 && contenders.some(({ form }) => form === "native" || form === "set")) this.#notes.push("native BITOP and set operations have to store their results: --temporary-keys allows this");
      const { version, connection } = this.#node;
      return { server: `${connection.address} (${version.name} ${version.version})`, forms: contenders.map(({ form }) => form), keys: keys.map(shown), rows, notes: this.#notes };
    } finally {
      if (this.#made.length > 0) await this.#node.connection.ask("UNLINK", ...this.#made).catch(() => {});
    }
  }

  /** The type that all keys have. */
  async #formOf(keys: Buffer[]): Promise<Form> {
    const types = await Promise.all(keys.map((key) => this.#node.connection.run("TYPE", key)));
    const forms: Record<string, Form> = { reroaring: "R", roaring64: "R64", string: "native", set: "set" };
    for (const [i, type] of types.entries()) {
      if (type === "none") throw new Failure(`${shown(keys[i]!)}: there is no such key`);
      if (!forms[String(type)]) throw new Failure(`${shown(keys[i]!)}: of type ${String(type)}, not a bitmap`);
      if (type !== types[0]) throw new Failure(`${shown(keys[i]!)} is a ${String(type)}, and ${shown(keys[0]!)} a ${String(types[0])}: give keys of the same type`);
    }
    return forms[String(types[0])]!;
  }

  /** Reads the keys given, and draws offsets that they have and others. */
  async #measureKeys(keys: Buffer[]): Promise<Form> {
    const form = await this.#formOf(keys);
    for (const key of keys) {
      await readKey(this.#core, this.#node, key);
      const low = this.#core.minimum(), high = this.#core.maximum();
      if (low === undefined || high === undefined) throw new Failure(`${shown(key)}: an empty bitmap`);
      const random = (): bigint => low + BigInt(Math.floor(Math.random() * 2 ** 53)) * (high - low + 1n) / 2n ** 53n;
      this.#offsets.push(Array.from({ length: OFFSETS }, (_, i) => (i % 2 === 0 ? random() : this.#memberFrom(random()))));
    }
    return form;
  }

  #memberFrom(offset: bigint): bigint {
    let found = offset;
    this.#core.members((members) => { found = members[0] ?? found; }, offset, 1n);
    return found;
  }

  /** Adds copies of the keys in the other form, as temporary keys. */
  async #addCopy(contenders: Contender[]): Promise<void> {
    const [{ form, keys }] = contenders as [Contender], { connection } = this.#node;
    await this.#temporaries.check(connection, "bench --temporary-keys");
    const other: Form = form === "native" || form === "set" ? "R" : "native", copies: Buffer[] = [];
    const isWide = form === "set" && this.#offsets.some((offsets) => offsets.some((offset) => offset > 0xffff_ffffn));
    for (const key of keys) {
      const copy = this.#temporaries.nameFor(key);
      this.#made.push(copy);
      copies.push(copy);
      let build: Word[];
      if (form === "native") {
        build = ["R.FROMBITMAP", copy, key];
      } else {
        await readKey(this.#core, this.#node, key);
        const bytes = (this.#core.maximum() ?? 0n) / 8n + 1n;
        if (form !== "set" && bytes > COPY_BYTES_MOST) {
          this.#notes.push(`${shown(key)} would take ${bytes} bytes as a native bitmap, so there is no copy`);
          return;
        }
        build = form === "set" ? [isWide ? "R64.IMPORT" : "R.IMPORT", copy, Buffer.from(this.#core.write(isWide ? Format.PORTABLE_WIDE : Format.PORTABLE))]
          : [`${form}.TOBITMAP`, copy, key];
      }
      await exec(connection, [build, ["PEXPIRE", copy, TEMPORARY_MS]]);
    }
    contenders.push({ form: isWide ? "R64" : other, keys: copies });
  }

  /** A new temporary key for results; the same for all calls of a question. */
  #result(keys: Buffer[]): Buffer {
    const name = this.#temporaries.nameFor(keys[0]!);
    this.#made.push(name);
    return name;
  }

  #questions(count: number): Question[] {
    const { temporaryKeys, query } = this.#options;
    const keyAt = (turn: number, keys: Buffer[]): Buffer => keys[turn % keys.length]!;
    const offsetAt = (turn: number): string => {
      const offsets = this.#offsets[turn % count]!;
      return String(offsets[Math.floor(turn / count) % offsets.length]);
    };
    const isRoaring = (form: Form): boolean => form === "R" || form === "R64";
    const name = (form: Form, native: string, set: string): string => (form === "native" ? native : form === "set" ? set : `${form}.${native}`);
    const ofRoaring = (title: string, words: (form: Form, keys: Buffer[]) => Word[]): Question => ({
      name: title, ask: ({ form, keys }) => (isRoaring(form) ? () => [words(form, keys)] : undefined),
    });
    const operation = (op: "AND" | "OR" | "XOR"): Question => ({
      name: `${op} of ${count}, counted`,
      ask: ({ form, keys }) => {
        if (isRoaring(form)) return () => [[`${form}.BITOPCARD`, op, ...keys]];
        if (!temporaryKeys || (form === "set" && op === "XOR")) return undefined;
        const result = this.#result(keys);
        if (form === "set") return () => [[op === "AND" ? "SINTERSTORE" : "SUNIONSTORE", result, ...keys]];
        return () => [["BITOP", op, result, ...keys], ["BITCOUNT", result]];
      },
    });
    const difference: Question = {
      name: count > 2 ? "QUERY #1 - any(others)" : "QUERY #1 - #2",
      ask: ({ form, keys }) => {
        if (isRoaring(form)) return () => [[`${form}.QUERY`, count > 2 ? `#1 - any(#2..#${count})` : "#1 - #2", count, ...keys]];
        if (!temporaryKeys) return undefined;
        const result = this.#result(keys);
        if (form === "set") return () => [["SDIFFSTORE", result, ...keys]];
        // Before Redis 8.2, BITOP has no DIFF. The difference is the union of all without that of the others.
        const whole = this.#result(keys);
        return () => [["BITOP", "OR", result, ...keys.slice(1)], ["BITOP", "OR", whole, keys[0]!, result], ["BITOP", "XOR", result, result, whole], ["BITCOUNT", result]];
      },
    };
    return [
      { name: "GETBIT", ask: ({ form, keys }) => (turn) => [[name(form, "GETBIT", "SISMEMBER"), keyAt(turn, keys), offsetAt(turn)]] },
      { name: "BITCOUNT", ask: ({ form, keys }) => (turn) => [[name(form, "BITCOUNT", "SCARD"), keyAt(turn, keys)]] },
      ...(count > 1 ? [operation("AND"), operation("OR"), operation("XOR"), difference] : []),
      ...(count > 2 ? [ofRoaring(`QUERY atleast(2, all ${count})`, (form, keys) => [`${form}.QUERY`, `atleast(2, #1..#${count})`, count, ...keys])] : []),
      ...(query === undefined ? [] : [ofRoaring(`QUERY ${query}`, (form, keys) => [`${form}.QUERY`, query, count, ...keys])]),
    ];
  }

  async #measure(question: Question, contenders: Contender[]): Promise<BenchRow> {
    const { connection } = this.#node, { seconds, rounds } = this.#options;
    const asked = contenders.flatMap((contender) => {
      const ask = question.ask(contender);
      return ask ? [{ ask, form: contender.form, times: [] as number[], server: 0, stats: 0, isShared: false, tells: true }] : [];
    });
    const differs = await this.#compare(asked.map(({ ask }) => ask));
    for (let round = 0; round < rounds; round++) {
      for (const one of asked) {
        const before = await commandTimes(connection), begun = performance.now(), calls = new Map<string, number>();
        let turn = one.times.length;
        do {
          const words = one.ask(turn++), start = performance.now();
          await run(connection, words);
          one.times.push((performance.now() - start) * 1000);
          for (const [command] of words) calls.set(String(command).toLowerCase(), (calls.get(String(command).toLowerCase()) ?? 0) + 1);
        } while (performance.now() - begun < seconds * 1000 / rounds && !interruption.asked);
        const after = await commandTimes(connection);
        if (!before || !after) {
          one.tells = false;
          continue;
        }
        for (const [command, own] of calls) {
          const now = after.get(command), then = before.get(command) ?? { calls: 0, microseconds: 0 };
          if (!now || now.calls <= then.calls) continue;
          one.server += (now.microseconds - then.microseconds) * own / (now.calls - then.calls);
          one.isShared ||= now.calls - then.calls > own;
        }
      }
    }
    return {
      question: question.name, differs,
      timings: asked.map(({ form, times, server, isShared, tells }) => {
        const sorted = Float64Array.from(times).sort();
        const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
        return { form, calls: times.length, server: tells ? server / times.length : null, isShared, p50: at(0.5), p99: at(0.99) };
      }),
    };
  }

  /** Runs the same query on each contender; returns two different answers, if there are any. */
  async #compare(asks: Ask[]): Promise<string | null> {
    for (let turn = 0; turn < COMPARED; turn++) {
      const words = asks.map((ask) => ask(turn)), answers: string[] = [];
      for (const one of words) answers.push(String(await run(this.#node.connection, one)));
      const other = answers.find((answer) => answer !== answers[0]);
      if (other !== undefined) return `${answers[0]} and ${other}`;
      if (JSON.stringify(asks.map((ask) => ask(turn + 1))) === JSON.stringify(words)) break;
    }
    return null;
  }
}

/** Sends the commands together; returns the reply to the last one. */
async function run(connection: Connection, commands: Word[][]): Promise<Answer> {
  const answers = await Promise.all(commands.map((words) => connection.run(...words)));
  return answers.at(-1)!;
}

/** Calls and microseconds of each command so far; undefined if the user lacks the right. */
async function commandTimes(connection: Connection): Promise<Map<string, { calls: number; microseconds: number }> | undefined> {
  let fields: Map<string, string>;
  try {
    fields = await information(connection, "commandstats");
  } catch (error) {
    if (error instanceof ErrorAnswer) return undefined;
    throw error;
  }
  return new Map(Array.from(fields, ([name, text]) => {
    const [, calls, microseconds] = /calls=(\d+),usec=(\d+)/.exec(text) ?? [];
    return [name.replace(/^cmdstat_/, "").toLowerCase(), { calls: Number(calls ?? 0), microseconds: Number(microseconds ?? 0) }];
  }));
}
