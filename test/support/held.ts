// Long queries that wait on their way to a thread (ROAR.HOLD of the test build), so that what happens meanwhile does not depend on time.

import type { Command, Connection, Reply } from "./resp.ts";
import type { Server } from "./server.ts";
import { waitUntil } from "./waiting.ts";

export type Answer = Promise<Reply | Error>;

export class Held {
  readonly server: Server;

  constructor(server: Server) { this.server = server; }

  readonly count = (field: string): Promise<number> => this.server.number(`redis-roar_${field}`);

  /** Holds queries on their way to a thread, or before each of their parts, or releases them. */
  readonly hold = (held: boolean | "parts"): Promise<Reply> => this.server.run("ROAR.HOLD", held === "parts" ? 2 : held ? 1 : 0);

  readonly settled = (): Promise<void> =>
    waitUntil(async () => (await this.count("questions_running")) + (await this.count("questions_waiting")) === 0);

  /** Asks while queries are held, does something, releases them, and returns what will be the answer, or why there will be none. */
  readonly askDuring = async (query: Command, action: () => Promise<unknown>, connection?: Connection): Promise<{ answer: Answer }> => {
    const client = connection ?? await this.server.connect();
    const waiting = await this.count("questions_waiting");
    await this.hold(true);
    const answer = client.run(...query).catch((error: Error) => error);
    await waitUntil(async () => (await this.count("questions_waiting")) === waiting + 1);
    await action();
    await this.hold(false);
    return { answer };
  };

  readonly during = async (query: Command, action: () => Promise<unknown>, connection?: Connection): Answer =>
    (await this.askDuring(query, action, connection)).answer;
}
