// Runs a random sequence of commands on a server and in the oracle's world.

import { commands as table } from "../../../host/table/commands.ts";
import type { Random } from "../../support/random.ts";
import { type Connection, ReplyError } from "../../support/resp.ts";
import type { Server } from "../../support/server.ts";
import { type Answer, TooMuch, type World } from "./call.ts";
import { awaitsReply, compare, compareAll, foretell, replay, type Words } from "./foretell.ts";
import { type Domain, Generator } from "./generate.ts";

const BATCH = 100;
const CHECK_EVERY = 1000;
const MOST_EDGES = 20_000;
const SHRINKING_MS = 20_000;

/** Relative frequency of commands, 1 if not listed: those that combine members from many commands are more frequent. */
const often: Readonly<Record<string, number>> = {
  SETBIT: 4, BITOP: 4, SETRANGE: 2, CLEARRANGE: 2, FLIPRANGE: 2, APPENDINTARRAY: 2, CLEARBITS: 2, CLEAR: 0.5,
};

export class Sequence {
  readonly #server: Server;
  readonly #world: World = new Map();
  readonly #generator: Generator;
  readonly #random: Random;
  readonly #done: Words[] = [];
  /** How often each command was sent and expected to succeed. */
  readonly answered = new Map<string, number>();

  constructor(server: Server, random: Random, domain: Domain) {
    this.#server = server;
    this.#random = random;
    this.#generator = new Generator(random, this.#world, domain);
  }

  get #connection(): Connection {
    return this.#server.connection;
  }

  /** Sends `count` commands and compares every reply, and regularly every key. The failure lists a short sequence that reproduces it. */
  async run(count: number): Promise<void> {
    try {
      for (let done = 0; done < count; done += BATCH) {
        await this.#batch();
        if ((done + BATCH) % CHECK_EVERY > 0) continue;
        await compareAll(this.#connection, this.#world);
        await this.#send([["DEBUG", "RELOAD"]], ["OK"]);
      }
      await compareAll(this.#connection, this.#world);
    } catch (error) {
      if (!this.#server.dead) await this.#explain(error as Error);
      throw error;
    }
  }

  async #batch(): Promise<void> {
    for (let left = BATCH; left > 0;) left -= await this.#pipeline(left);
  }

  /** Sends up to `most` commands, and returns how many. */
  async #pipeline(most: number): Promise<number> {
    const sent: Words[] = [], expected: Answer[] = [];
    for (let words: Words = [""]; sent.length < most && !awaitsReply(words);) {
      words = this.#next();
      try {
        const foretold = foretell(this.#world, words);
        if (!(foretold instanceof ReplyError)) this.answered.set(words[0]!, (this.answered.get(words[0]!) ?? 0) + 1);
        expected.push(foretold);
        sent.push(words);
      } catch (error) {
        if (!(error instanceof TooMuch)) throw error;
      }
    }
    await this.#send(sent, expected);
    return sent.length;
  }

  async #send(sent: readonly Words[], expected: readonly Answer[]): Promise<void> {
    const replies = await this.#connection.pipeline(sent);
    sent.forEach((words, i) => {
      this.#done.push(words);
      compare(replies[i]!, expected[i]!);
    });
  }

  #next(): Words {
    const tidied = this.#generator.tidy(MOST_EDGES);
    if (tidied) return tidied;
    if (this.#random.chance(0.06)) return this.#generator.plain();
    const total = table.reduce((sum, { name }) => sum + (often[name] ?? 1), 0);
    let at = this.#random.unit() * total;
    return this.#generator.command(table.find(({ name }) => (at -= often[name] ?? 1) < 0)!.name);
  }

  /** Adds to the message the shortest list of commands found that fails on an empty server. */
  async #explain(error: Error): Promise<void> {
    const commands = await shortest(this.#connection, this.#done, Date.now() + SHRINKING_MS);
    error.message += `\n  after:\n${commands.map((words) => `    ${line(words)}`).join("\n")}`;
  }
}

/** Finds the shortest tail that fails, and then, until the deadline, leaves out commands that the failure does not need. */
async function shortest(connection: Connection, done: readonly Words[], deadline: number): Promise<readonly Words[]> {
  let found = done;
  for (let length = 1; length < done.length; length *= 2) {
    const failing = await replay(connection, done.slice(-length));
    if (failing === undefined) continue;
    found = failing;
    break;
  }
  for (let chunk = found.length >> 1; chunk > 0; chunk >>= 1) {
    for (let at = 0; at < found.length && Date.now() < deadline;) {
      const failing = await replay(connection, found.toSpliced(at, chunk));
      if (failing === undefined) at += chunk;
      else found = failing;
    }
  }
  return found;
}

const LONGEST_LINE = 1000;

function line(words: Words): string {
  const text = words.map((word) => (/^[\x21-\x7e]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}... (${words.length} words)` : text;
}
