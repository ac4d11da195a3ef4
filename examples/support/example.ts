// What all examples share: a scale and a seed, servers that end with the example, checks, tables and a chart.
//
//   SCALE=0.01   the size of the data; 1 is the size that the example is about
//   SEED=1       the seed of the data
//   RECORD=1     write result.json, chart.svg and the section of README.md beside the example, and not below build/examples

import { type EChartsOption, init } from "echarts";
import { type Call, type RoarClient } from "redis-roar-client";
import { roar } from "redis-roar-client/ioredis";
import { type Cluster as ClusterClient, Redis } from "ioredis";
import { isDeepStrictEqual } from "node:util";
import { thisMachine } from "../../bench/machine.ts";
import { type Random, random } from "../../test/support/random.ts";
import { Server, type ServerOptions } from "../../test/support/server.ts";
import { type Cell, type Figures, inMarkdown, type Result, store } from "./record.ts";

/** A connection to a server. */
export interface Connected extends RoarClient {
  redis: Redis;
}

const SIZE = { width: 800, height: 400 };

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

  /** Draws the chart of the example. */
  chart(option: EChartsOption, size: { width: number; height: number } = SIZE): void {
    const chart = init(null, null, { renderer: "svg", ssr: true, ...size });
    chart.setOption({ animation: false, backgroundColor: "#fff", ...option });
    this.svg = chart.renderToSVGString();
    chart.dispose();
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

/** The bytes of a key in memory, 0 if it is missing. */
export async function memoryOf(redis: Redis | ClusterClient, key: string): Promise<number> {
  return Number(await redis.call("MEMORY", "USAGE", key, "SAMPLES", "0") ?? 0);
}
