// a
import type { Command as Row } from "../../host/commands.ts";
import { commands } from "../../host/commands.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { families, type Family } from "../../test/support/family.ts";
import { Server } from "../../test/support/server.ts";
import { type Command, type Connection, encode } from "../../test/support/resp.ts";
import { greatestCalls } from "../greatest.ts";
import { Pinging, type Wait } from "../pinging.ts";
import { type Cast, casts } from "../shapes.ts";

/** Milliseconds. */
const SUSPECT = 20, PATIENCE = Number(process.env.PATIENCE ?? 10_000), TIMES = 3;

export interface Cell extends Wait {
  readonly command: string;
  readonly call: string;
  readonly bytes: number;
  readonly shape: string;
  readonly size: number;
  readonly data: number;
  readonly reply: string;
  readonly took: number;
}

const abridged = (command: Command): string => {
  const text = command.map((word) => (Buffer.isBuffer(word) ? `(${word.length} bytes)` : String(word).length > 60 ? `${String(word).slice(0, 50)}...${String(word).slice(-8)}` : String(word)));
  return text.length > 12 ? `${text.slice(0, 6).join(" ")} ... ${text.slice(-3).join(" ")} (${text.length} words)` : text.join(" ");
};

export class Costs {
  readonly #server: Server;
  readonly #pinging: Pinging;
  constructor(server: Server, pinging: Pinging) {
    this.#server = server;
    this.#pinging = pinging;
  }

  async #once(command: Command): Promise<{ wait: Wait; reply: string; took: number }> {
    const bytes = encode(command), connection = await this.#server.connect();
    await this.#server.connection.pipeline([["DEL", "W", "A"], ["COPY", "original", "A"]]);
    let reply = "", took = 0;
    const wait = await this.#pinging.during(async () => {
      const start = performance.now(), stopping = new AbortController();
      const answered = connection.drain(bytes).then((head) => void (reply = head.toString("latin1", 0, 90)), () => {});
      await Promise.race([answered, sleep(PATIENCE, undefined, { signal: stopping.signal }).catch(() => {})]);
      stopping.abort();
      took = performance.now() - start;
      if (reply === "") connection.close();
    });
    connection.close();
    return { wait, reply: (reply || "(not within the time)").split("\r\n").slice(0, 2).join(" ").slice(0, 90), took };
  }

  async cell(cast: Cast, name: string, call: Command): Promise<Cell> {
    const command = [name, ...call];
    let found = await this.#once(command);
    for (let more = 1; more < TIMES && found.wait.ping > SUSPECT && !(found.wait.main > 100 && found.wait.main > 0.7 * found.wait.ping); more++) {
      const again = await this.#once(command);
      if (again.wait.ping < found.wait.ping) found = again;
    }
    const data = [...new Set(call)].reduce<number>((sum, word) => sum + (cast.bytes.get(String(word)) ?? 0), 0);
    return { command: name, call: abridged(command), bytes: encode(command).length, shape: cast.shape, size: cast.size, data, ...found.wait, reply: found.reply, took: found.took };
  }
}

export async function* measureCells(server: Server, rows: readonly Row[], of: readonly Family[] = families): AsyncGenerator<Cell> {
  const pinging = await Pinging.of(server), costs = new Costs(server, pinging);
  try {
    for (const family of of) {
      for await (const cast of casts(server.connection, family)) {
        await server.connection.pipeline([["COPY", "A", "original"]]);
        for (const row of rows) {
          for (const call of greatestCalls(row, cast)) {
            if (cast.sameAsSmaller && !call.includes(cast.many[0]!)) continue;
            yield await costs.cell(cast, `${family.name}.${row.name}`, call);
          }
        }
      }
    }
  } finally {
    pinging.close();
  }
}
export { commands };
