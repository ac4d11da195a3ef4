// How long one command holds up all other clients: every command of the command table with its greatest arguments, on bitmaps of every
// shape and of up to 1 MB, with the default settings. Meanwhile another client sends PINGs.

import { setTimeout as sleep } from "node:timers/promises";
import { commands, type Command as CommandRow } from "../../host/table/commands.ts";
import { families } from "../../test/support/family.ts";
import { type Command, encode } from "../../test/support/resp.ts";
import { Server } from "../../test/support/server.ts";
import { greatestCalls } from "../calls.ts";
import { OURS } from "../contender.ts";
import { Pinging, type Wait } from "../pinging.ts";
import type { Row } from "../row.ts";
import { casts, restoring } from "../shapes.ts";

export const COSTS = "worst calls";
/** How the names of rows end that tell what the main thread computed, not what a PING waited. */
export const MAIN_THREAD = ", main thread";

/** Milliseconds that a PING may wait. */
export const BOUND = 50;
/** A wait above this is measured again, since any machine is sometimes late, unless the main thread computed for so long. */
const SUSPECT = 20, LONG = 200, TIMES = 3;
/** A client that has no reply after so many milliseconds leaves. What holds the server by then has been felt. */
const PATIENCE = 2000;

interface Cell extends Wait {
  /** Without the family's prefix. */
  readonly command: string;
  /** The call, on which data. */
  readonly what: string;
  /** How the reply begins; empty if the client left. */
  readonly reply: string;
}

const WORD_SHOWN = 40, WORDS_SHOWN = 8;

/** A call in brief. */
export function inBrief(call: Command): string {
  const cut = (text: string): string => (text.length > WORD_SHOWN ? `${text.slice(0, WORD_SHOWN - 8)}...${text.slice(-8)}` : text);
  const words = call.map((word) => (Buffer.isBuffer(word) ? `(${word.length} bytes)` : cut(String(word))));
  return words.length <= WORDS_SHOWN ? words.join(" ") : `${words.slice(0, WORDS_SHOWN - 2).join(" ")} ... ${words.slice(-2).join(" ")}`;
}

/** The name of a row; `DESCRIPTION` takes it apart. */
export const describe = (call: Command, data: number, shape: string): string =>
  `${inBrief(call)}; ${encode(call).length} bytes, on ${data} bytes, ${shape}`;
export const DESCRIPTION = /^(.*); (\d+) bytes, on (\d+) bytes, (.*)$/;

async function once(server: Server, pinging: Pinging, call: Command): Promise<Wait & { readonly reply: string }> {
  const bytes = encode(call), connection = await server.connect(), left = new AbortController();
  let reply = "";
  const wait = await pinging.during(async () => {
    const answered = connection.drain(bytes).then((head) => void (reply = head.toString("latin1", 0, 100).split("\r\n")[0]!), () => {});
    await Promise.race([answered, sleep(PATIENCE, undefined, { signal: left.signal }).catch(() => {})]);
    left.abort();
    connection.close();
  });
  return { ...wait, reply };
}

async function measured(server: Server, pinging: Pinging, call: Command): Promise<Wait & { readonly reply: string }> {
  let least: Awaited<ReturnType<typeof once>> | undefined;
  for (let time = 0; time < TIMES; time++) {
    await server.connection.pipeline(restoring);
    const found = await once(server, pinging, call);
    if (!least || found.ping < least.ping) least = found;
    if (least.ping <= SUSPECT || least.main > LONG) break;
  }
  return least!;
}

/** All calls of the commands in both families, one after the other. */
async function* measureCells(rows: readonly CommandRow[], full: boolean): AsyncGenerator<Cell> {
  const server = await Server.start(), pinging = await Pinging.of(server);
  try {
    for (const family of families) {
      for await (const cast of casts(server.connection, family)) {
        for (const row of rows) {
          for (const words of greatestCalls(row, cast, full ? 1 : undefined)) {
            if (cast.sameAsSmaller && !words.includes(cast.many[0]!)) continue;
            const call = [`${family.name}.${row.name}`, ...words];
            const data = [...new Set(words)].reduce<number>((sum, word) => sum + (cast.bytes.get(String(word)) ?? 0), 0);
            yield { command: row.name, what: describe(call, data, cast.shape), ...await measured(server, pinging, call) };
          }
        }
      }
    }
  } finally {
    pinging.close();
    await server.stop();
  }
}

/**
 * Of the commands whose names match, each one's worst call, and all others that hold up other clients for longer than the bound. With
 * `full`, all data is asked all kinds of long expressions.
 */
export async function* measureCosts(pattern: string, full: boolean): AsyncGenerator<Row> {
  const rows = function* ({ what, ping, main }: Cell): Generator<Row> {
    const row = (name: string, value: number): Row => ({ data: COSTS, what: name, unit: "ms", values: { [OURS]: value } });
    yield row(what, ping);
    yield row(what + MAIN_THREAD, main);
  };
  const worst = new Map<string, Cell>();
  for await (const cell of measureCells(commands.filter(({ name }) => new RegExp(pattern).test(name)), full)) {
    if (cell.ping > BOUND) yield* rows(cell);
    if (cell.ping > (worst.get(cell.command)?.ping ?? 0)) worst.set(cell.command, cell);
  }
  for (const cell of worst.values()) if (cell.ping <= BOUND) yield* rows(cell);
}
