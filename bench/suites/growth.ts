// Keys that grow and shrink by floods of commands from one client that does not wait: how many a second, and how long the longest takes.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Command } from "../../test/support/resp.ts";
import { range } from "../../test/support/family.ts";
import { type Random, random } from "../../test/support/random.ts";
import { type Contender, SETS } from "../contender.ts";
import { figures, type Row } from "../row.ts";
import { median, parseTails } from "../statistics.ts";
import { text } from "./small.ts";

/** What the names of most of these data sets begin with. */
export const GROWTH = "growth: ";

/** Members per turn of a contender. */
const TURN = 100_000;
/** Members of a list. */
const LIST = 100;
/** Threshold of the slow log, from which the longest call of a turn is taken; microseconds. */
const SLOW = 100;

/**
 * Passes over the whole flood, each on an empty key. A growing value delays the same command in every pass, but disturbances by other
 * processes do not recur. Therefore the longest call of a turn counts with its shortest time over all passes.
 */
const PASSES = 2;

setFlagsFromString("--expose-gc");
/** Otherwise threads that collect the garbage of this process would take the server's processor for some milliseconds, in the same turns of
 * each pass. */
const collectGarbage = runInNewContext("gc") as () => void;

/** The members of turn `turn` of `turns`. */
type Members = (turn: number, turns: number, random: Random) => readonly (number | bigint)[];

interface Growth {
  readonly data: string;
  readonly members: Members;
  /** Whether some members need 64 bits. */
  readonly wide?: boolean;
  /** Whether the members are added in lists. */
  readonly lists?: boolean;
  /** Whether they are removed again in the same order. */
  readonly shrinks?: boolean;
}

/** Members ascend, and half of the ids are members. */
const ascending: Members = (turn) => range(turn * TURN, TURN).map((i) => 2 * i);

const growths: readonly Growth[] = [
  { data: "random SETBITs", members: (_, turns, { below }) => range(0, TURN).map(() => below(10 * turns * TURN)) },
  { data: `${GROWTH}random 64-bit members`, members: (_, _turns, { u64 }) => range(0, TURN).map(u64), wide: true, shrinks: true },
  { data: `${GROWTH}ascending, half of the ids`, members: ascending, shrinks: true },
  { data: `${GROWTH}descending, half of the ids`, members: (turn, turns) => ascending(turns - 1 - turn, turns, random(0)).toReversed() },
  {
    data: `${GROWTH}lists of ${LIST}, half of the ids, random`, lists: true,
    members: (_, turns, { below }) => range(0, TURN).map(() => below(2 * turns * TURN)),
  },
];

export const growthNames: readonly string[] = growths.map(({ data }) => data);

/** Native sets share a server with native bitmaps. */
const keyOf = (contender: Contender): string => contender.key(contender.name === SETS ? "growth of a set" : "growth");

/** The commands that a contender adds or removes the members with; none if it cannot. */
function commandsOf(
  contender: Contender, { wide, lists }: Growth, members: readonly (number | bigint)[], adds: boolean,
): Command[] | undefined {
  const key = keyOf(contender);
  if (contender.name === SETS) {
    const command = adds ? "SADD" : "SREM";
    return lists ? listed(members, (list) => [command, key, ...list]) : members.map((member) => [command, key, member]);
  }
  if (wide && contender.prefix !== "R64.") return undefined;
  if (!lists) return members.map((member) => [contender.named("SETBIT"), key, member, adds ? 1 : 0]);
  const command = ["SETBITS", "APPENDINTARRAY"].find((name) => contender.has(name));
  return command === undefined ? undefined : listed(members, (list) => [contender.named(command), key, ...list]);
}

const listed = (members: readonly (number | bigint)[], command: (list: readonly (number | bigint)[]) => Command): Command[] =>
  range(0, members.length / LIST).map((i) => command(members.slice(i * LIST, (i + 1) * LIST)));

/** What the turns of one contender took. */
class Turns {
  /** Members a second. */
  readonly rates: number[] = [];
  /** Microseconds of the longest call of each turn, in the pass where it was shortest. */
  readonly longest: number[] = [];
  /** 99.9 % of the calls take at most so many microseconds, in the best pass. */
  tail = Infinity;
  #command = "";

  async take(contender: Contender, turn: number, commands: readonly Command[]): Promise<void> {
    this.#command = String(commands[0]![0]);
    const encoded = Buffer.from(commands.map((command) => text(...command.map(String))).join(""), "latin1");
    await contender.run([["SLOWLOG", "RESET"]]);
    collectGarbage();
    this.rates.push(TURN / (await contender.flood(encoded, commands.length)) * 1000);
    this.longest[turn] = Math.min(this.longest[turn] ?? Infinity, await longestOf(contender, this.#command));
  }

  async endPass(contender: Contender): Promise<void> {
    const [info] = await contender.run([["INFO", "latencystats"]]);
    this.tail = Math.min(this.tail, parseTails(String(info)).get(this.#command.toLowerCase())!);
  }
}

/** Microseconds of the longest call of the command in the slow log, or SLOW if there is none. */
async function longestOf(contender: Contender, command: string): Promise<number> {
  const [entries] = await contender.run([["SLOWLOG", "GET", -1]]);
  return (entries as [id: number, time: number, microseconds: number, words: string[]][])
    .reduce((most, [, , microseconds, [name]]) => (name === command ? Math.max(most, microseconds) : most), SLOW);
}

const SETTINGS = ["slowlog-log-slower-than", SLOW, "slowlog-max-len", TURN, "latency-tracking", "yes", "latency-tracking-info-percentiles", "99.9"];

export async function* measureGrowth(contenders: readonly Contender[], data: string, count: number): AsyncGenerator<Row> {
  const growth = growths.find((one) => one.data === data)!, turns = count / TURN;
  const phases = (growth.shrinks ? ["added", "removed"] : ["added"]).map((what) => ({ what, took: new Map<Contender, Turns>() }));
  for (const contender of contenders) await contender.run([["CONFIG", "SET", ...SETTINGS]]);
  for (let pass = 0; pass < PASSES; pass++) {
    for (const contender of contenders) await contender.run([["DEL", keyOf(contender)]]);
    for (const { what, took } of phases) {
      for (const contender of contenders) await contender.resetStatistics();
      const numbers = random(10);
      for (let turn = 0; turn < turns; turn++) {
        const members = growth.members(turn, turns, numbers);
        for (const contender of contenders) {
          const commands = commandsOf(contender, growth, members, what === "added");
          if (!commands) continue;
          if (!took.has(contender)) took.set(contender, new Turns());
          await took.get(contender)!.take(contender, turn, commands);
        }
      }
      for (const [contender, of] of took) await of.endPass(contender);
    }
  }
  for (const { what, took } of phases) {
    yield { data, what: `${what}`, unit: "commands/s", values: figures(took, ({ rates }) => median(rates)) };
    yield { data, what: `${what}, p99.9 of the calls`, unit: "µs", values: figures(took, ({ tail }) => tail) };
    yield { data, what: `${what}, the longest call`, unit: "µs", values: figures(took, ({ longest }) => Math.max(...longest)) };
  }
}
