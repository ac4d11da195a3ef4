// What other clients feel: one client asks a long question again and again, without a pause, while another one measures how long its own
// short commands take. Contenders without BITOPCARD or QUERY make the result of the question with BITOP.

import { setTimeout as sleep } from "node:timers/promises";
import { range } from "../../test/support/family.ts";
import type { Command } from "../../test/support/resp.ts";
import type { Contender } from "../contender.ts";
import { noise } from "../generators.ts";
import { load, ofMade } from "../load.ts";
import { figures, type Row } from "../row.ts";
import { quantile } from "../statistics.ts";

export const FELT = "what other clients feel";

/** Eight bitmaps of 25 MB, in which half of the bits are set. */
const SETS = 8, BITS = 200 * 2 ** 20;
/** From one written bit to the next: into another segment, and nowhere twice. */
const STEP = 7_919_993;
const TURN_MILLISECONDS = 700, TURNS = 4, PAUSE_MILLISECONDS = 1;

/** A question as a contender asks it; none if it cannot. */
type Question = (contender: Contender) => readonly Command[] | undefined;

const sources = (contender: Contender): string[] => range(0, SETS).map((i) => contender.key(FELT, i));

const questions: Readonly<Record<string, Question>> = {
  "OR of 8": (contender) => {
    if (contender.has("BITOPCARD")) return [[contender.named("BITOPCARD"), "OR", ...sources(contender)]];
    const result = contender.key("result");
    return [[contender.named("BITOP"), "OR", result, ...sources(contender)], [contender.named("BITCOUNT"), result]];
  },
  "atleast 3 of 8": (contender) =>
    (contender.has("QUERY") ? [[contender.named("QUERY"), `atleast(3, #1..#${SETS})`, SETS, ...sources(contender)]] : undefined),
};

/** The n-th write to a key: all over it, each bit set and then cleared, so that one of both changes it. */
const writeTo = (contender: Contender, key: string, n: number): Command =>
  [contender.named("SETBIT"), key, Math.floor(n / 2) * STEP % BITS, 1 - n % 2];

/** The n-th command of the other client. */
const commands: Readonly<Record<string, (contender: Contender, n: number) => Command>> = {
  PING: () => ["PING"],
  "SETBIT elsewhere": (contender, n) => writeTo(contender, contender.key("elsewhere"), n),
  "SETBIT in a source": (contender, n) => writeTo(contender, contender.key(FELT, 0), n),
};

interface Waits { readonly asked: number[]; readonly felt: number[] }

/** Milliseconds of each question, and of each command of another client meanwhile. */
async function measureTurn(
  contender: Contender, question: readonly Command[], command: (n: number) => Command, waits: Waits,
): Promise<void> {
  const asking = await contender.server.connect();
  let done = false;
  const ask = async (): Promise<void> => {
    while (!done) {
      const start = performance.now();
      await asking.pipeline(question);
      waits.asked.push(performance.now() - start);
    }
  };
  let written = 0;
  const asked = ask(), end = performance.now() + TURN_MILLISECONDS;
  while (performance.now() < end) {
    const start = performance.now();
    await contender.run([command(written++)]);
    waits.felt.push(performance.now() - start);
    await sleep(PAUSE_MILLISECONDS);
  }
  done = true;
  await asked;
  asking.close();
}

export async function* measureFelt(all: readonly Contender[]): AsyncGenerator<Row> {
  const contenders = all.filter(({ prefix }) => prefix !== "R64.");
  await load(contenders, ofMade(FELT, SETS, (seed) => noise(seed, BITS, 128)));
  for (const [asked, question] of Object.entries(questions)) {
    // Once without counting: the client's own code is compiled while it runs.
    for (const contender of contenders) {
      const batch = question(contender);
      if (batch) await measureTurn(contender, batch, () => ["PING"], { asked: [], felt: [] });
    }
    const itself = new Map<Contender, number[]>();
    for (const [felt, command] of Object.entries(commands)) {
      const found = new Map<Contender, Waits>();
      for (let turn = 0; turn < TURNS; turn++) {
        for (const contender of contenders) {
          const batch = question(contender);
          if (!batch) continue;
          const waits = found.get(contender) ?? { asked: [], felt: [] };
          found.set(contender, waits);
          await measureTurn(contender, batch, (n) => command(contender, n), waits);
        }
      }
      for (const [label, part] of [["p50", 0.5], ["p99", 0.99], ["worst", 1]] as const) {
        yield { data: FELT, what: `${felt} during ${asked}, ${label}`, unit: "ms", values: figures(found, (waits) => quantile(waits.felt, part)) };
      }
      if (felt === "PING") for (const [contender, waits] of found) itself.set(contender, waits.asked);
    }
    yield { data: FELT, what: `${asked}, p50`, unit: "ms", values: figures(itself, (waited) => quantile(waited, 0.5)) };
  }
}
