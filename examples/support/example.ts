// What all examples share: a scale and a seed, servers that end with the example, checks, tables and a chart.
//
//   SCALE=0.01   the size of the data; 1 is the size that the example is about
//   SEED=1       the seed of the data
//   RECORD=1     write result.json, chart.svg and the section of README.md beside the example, and not below build/examples

import { type Call, type RoarClient } from "redis-roar-client";
import { roar } from "redis-roar-client/ioredis";
import { type Cluster as ClusterClient, Redis } from "ioredis";
import { isDeepStrictEqual } from "node:util";
import { inWords, thisMachine } from "../../bench/machine.ts";
import { parseCommandStatistics } from "../../bench/statistics.ts";
import { type Random, random } from "../../test/support/random.ts";
import { Server, type ServerOptions } from "../../test/support/server.ts";
import { type Cell, type Figures, inMarkdown, type Result, store } from "./record.ts";

/** A connection to a server. */
export interface Connected extends RoarClient {
  redis: Redis;
}

/** One run of an example. */
export class Run {
  readonly scale = Number(process.env.SCALE ?? 0.01);
  readonly seed = Number(process.env.SEED ?? 1);
  readonly random: Random = random(this.seed);
  checks = 0;
  svg = "";
  readonly tables: Figures[] = [];
  readonly #endings: (() => unknown)[] = [];

  /** `full` times the scale as an integer, at least `least`. */
  scaled(full: number, least: number): number {
    return Math.max(least, Math.round(full * this.scale));
  }

  /** Compares an answer with what it must be. A difference ends the example. */
  check(what: string, actual: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(actual, expected)) {
      throw new Error(`${what}: ${short(actual)}, expected ${short(expected)} (SEED=${this.seed} SCALE=${this.scale})`);
    }
    this.checks++;
  }

  /** Prints a table, and keeps it for the record. */
  table(title: string, head: string[], rows: Cell[][]): void {
    const figures = { title, head, rows };
    this.tables.push(figures);
    console.log(`${inMarkdown(figures)}\n`);
  }

  /** What stands below the chart of the example: the machine, the scale and the seed. */
  get footnote(): string {
    return `${inWords(thisMachine())}, SCALE=${this.scale}, SEED=${this.seed}`;
  }

  /** A server with the module, on a unix socket. It ends with the example. */
  async server(options?: ServerOptions): Promise<Server> {
    const server = await Server.start(options);
    this.atEnd(() => server.stop());
    return server;
  }

  /** A client of a server. It is closed when the example ends. */
  connect(server: Server): Connected {
    const redis = new Redis(server.socket, { stringNumbers: true });
    this.atEnd(() => redis.disconnect());
    return { redis, ...roar(redis) };
  }

  /** Something to do when the example ends; the last comes first. */
  atEnd(ending: () => unknown): void {
    this.#endings.unshift(ending);
  }

  async end(): Promise<void> {
    for (const ending of this.#endings) await ending();
  }
}

const short = (value: unknown): string => {
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? String(item) : item)) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
};

/** Runs an example, and records what it found. */
export async function example(name: string, body: (run: Run) => Promise<void>): Promise<void> {
  const run = new Run(), start = performance.now();
  try {
    await body(run);
  } finally {
    await run.end();
  }
  const { scale, seed, checks, tables, svg } = run, seconds = Math.round((performance.now() - start) / 100) / 10;
  const result: Result = { example: name, scale, seed, checks, seconds, machine: thisMachine(), tables };
  console.log(`${name}: ${checks} checks passed in ${seconds} seconds. Wrote ${store(result, svg)}/chart.svg`);
}

/** Sends calls in pipelines of `size`, and answers what they answer. The first error is thrown. */
export async function inBatches<T>({ pipeline }: Pick<RoarClient, "pipeline">, calls: Iterable<Call<T>>, size = 1000): Promise<T[]> {
  const answers: T[] = [];
  let batch: Call<T>[] = [];
  const send = async (): Promise<void> => {
    for (const answer of await pipeline(batch)) {
      if (answer.status === "rejected") throw answer.reason;
      answers.push(answer.value);
    }
    batch = [];
  };
  for (const call of calls) if (batch.push(call) === size) await send();
  await send();
  return answers;
}

/** What `body` answers, and how long it took, in milliseconds. */
export async function timed<T>(body: () => Promise<T>): Promise<[answer: T, milliseconds: number]> {
  const start = performance.now(), answer = await body();
  return [answer, performance.now() - start];
}

/** The same for a question, which is asked 9 times. The time is the median, so that what else the machine does counts less. */
export async function asked<T>(question: () => Promise<T>): Promise<[answer: T, milliseconds: number]> {
  const runs: [answer: T, milliseconds: number][] = [];
  for (let n = 0; n < 9; n++) runs.push(await timed(question));
  return runs.sort(([, a], [, b]) => a - b)[4]!;
}

/** Commands that belong to the measurement. */
const OVERHEAD = new Set(["config|resetstat", "info", "fcall"]);

/** Server time of a round of `served`, and its most and least questions. */
const ROUND = 2000, MOST = 100, ROUNDS = 5;

/** Microseconds of a processor that the server has had, with the threads that answer long queries. */
async function processorTime(redis: Redis): Promise<number> {
  const info = await redis.info("cpu");
  return sum([...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, seconds]) => Number(seconds) * 1e6));
}

/**
 * What `question` answers, and how many microseconds the server spends in the commands that it sends, without network and client. The
 * least of several rounds counts, because whatever else the machine does only adds to it. The time is that of INFO commandstats, which goes
 * on while another process has the processor; it counts no more than the processor time of the server. A question is asked many times at
 * once, so if it takes several commands that need one another, they belong into one pipeline.
 */
export async function served<T>(redis: Redis, question: () => Promise<T>): Promise<[answer: T, microseconds: number]> {
  let answer: T = await question();
  const round = async (times: number): Promise<number> => {
    await redis.config("RESETSTAT");
    const before = await processorTime(redis);
    answer = (await Promise.all(Array.from({ length: times }, question)))[0]!;
    const processor = await processorTime(redis) - before;
    const statistics = parseCommandStatistics(await redis.info("commandstats"));
    const counted = [...statistics].reduce((total, [name, { microseconds }]) => (OVERHEAD.has(name) ? total : total + microseconds), 0);
    return Math.min(counted, processor) / times;
  };
  const times = Math.max(1, Math.min(MOST, Math.floor(ROUND / (await round(1) + 1))));
  let least = Infinity;
  for (let n = 0; n < ROUNDS; n++) least = Math.min(least, await round(times));
  return [answer, least];
}

/** The bytes of a key in memory, 0 if it is missing. */
export async function memoryOf(redis: Redis | ClusterClient, key: string): Promise<number> {
  return Number(await redis.call("MEMORY", "USAGE", key, "SAMPLES", "0") ?? 0);
}

/** The bytes of each of these keys. */
export async function memoryOfEach(redis: Redis, keys: readonly string[]): Promise<number[]> {
  const bytes: number[] = [];
  for (let at = 0; at < keys.length; at += 1000) {
    const usages = redis.pipeline();
    for (const key of keys.slice(at, at + 1000)) usages.call("MEMORY", "USAGE", key, "SAMPLES", "0");
    for (const [error, reply] of (await usages.exec())!) {
      if (error) throw error;
      bytes.push(Number(reply ?? 0));
    }
  }
  return bytes;
}

export const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/** A native bitmap with these members. */
export function nativeBitmap(members: Iterable<number>): Buffer {
  const all = [...members], bytes = Buffer.alloc((all.reduce((most, member) => Math.max(most, member), -1) >> 3) + 1);
  for (const member of all) bytes[member >> 3]! |= 0x80 >> (member & 7);
  return bytes;
}

/** Bytes in few words, for charts. */
export function inBytes(value: number): string {
  const [unit, size] = value < 1000 ? ["B", 1] : value < 1e6 ? ["kB", 1e3] : value < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(value / Number(size)).toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
}
