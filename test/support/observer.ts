// The side effects of a command: how many changes it counts, the keyspace events it raises, what it propagates to replicas and the
// AOF, and whether it aborts transactions that watch the key.

import { createConnection, type Socket } from "node:net";
import { type Connection, encode, Parser, type Reply } from "./resp.ts";
import type { Server } from "./server.ts";

export interface Effects {
  readonly dirty: number;
  /** [event, key] in order. */
  readonly events: readonly (readonly [string, string])[];
  readonly propagated: readonly (readonly string[])[];
  /** Whether the transaction of a client that watches the key is aborted. */
  readonly touched: boolean;
}

export const noEffects: Effects = { dirty: 0, events: [], propagated: [], touched: false };

/** The effects of a command that changes the key "k" once, raises the event, and is propagated as given. */
export const oneChange = (event: string, ...command: string[]): Effects =>
  ({ dirty: 1, events: [[event, "k"]], propagated: [command], touched: true });

const MARKER = "end-of-observation";
const EVENT_CHANNEL = "__keyevent@0__:";

/** Observes one server through a subscriber to its events, a replica that only listens, and a client that watches keys. */
export class Observer {
  readonly #server: Server;
  readonly #subscriber: Connection;
  readonly #watcher: Connection;
  readonly #replica: ReplicaStream;

  private constructor(server: Server, subscriber: Connection, watcher: Connection, replica: ReplicaStream) {
    this.#server = server;
    this.#subscriber = subscriber;
    this.#watcher = watcher;
    this.#replica = replica;
  }

  static async of(server: Server): Promise<Observer> {
    await server.run("CONFIG", "SET", "notify-keyspace-events", "KEA");
    const subscriber = await server.connect();
    await subscriber.run("PSUBSCRIBE", `${EVENT_CHANNEL}*`, MARKER);
    return new Observer(server, subscriber, await server.connect(), await ReplicaStream.of(server.socket));
  }

  async effects(key: string, action: () => Promise<unknown>): Promise<Effects> {
    await this.#drain();
    const dirtyBefore = Number(await this.#server.info("rdb_changes_since_last_save"));
    await this.#watcher.run("WATCH", key);
    await action();
    await this.#watcher.run("MULTI");
    const touched = (await this.#watcher.run("EXEC")) === null;
    const dirty = Number(await this.#server.info("rdb_changes_since_last_save")) - dirtyBefore;
    return { dirty, touched, ...(await this.#drain()) };
  }

  close(): void {
    this.#subscriber.close();
    this.#watcher.close();
    this.#replica.close();
  }

  /** Everything received since the last call. A published marker shows when it is complete. */
  async #drain(): Promise<Pick<Effects, "events" | "propagated">> {
    await this.#server.run("PUBLISH", MARKER, "");
    const commands = await until(this.#replica.commands, (command) => command[0] === "PUBLISH");
    const messages = await until(
      this.#subscriber.pushes as string[][],
      ([kind, , channel]) => kind === "pmessage" && channel === MARKER,
    );
    return {
      propagated: commands.filter(([name]) => !["SELECT", "PING"].includes(name!.toUpperCase())),
      events: messages
        .filter(([kind]) => kind === "pmessage")
        .map(([, , channel, key]) => [channel!.slice(EVENT_CHANNEL.length), key!] as const),
    };
  }
}

/** Removes and returns the items of a growing list before the first one that meets the condition. That one is dropped. */
async function until<T>(list: T[], condition: (item: T) => boolean): Promise<T[]> {
  for (let seen = 0; ;) {
    for (; seen < list.length; seen++) if (condition(list[seen]!)) return list.splice(0, seen + 1).slice(0, -1);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The commands that a replica receives after the initial synchronization, in order. */
class ReplicaStream {
  readonly commands: string[][] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Sends SYNC and drops the RDB file that comes first: any number of empty lines, then `$<length>\r\n<bytes>`. */
  static async of(path: string): Promise<ReplicaStream> {
    const socket = createConnection({ path });
    const stream = new ReplicaStream(socket);
    const parser = new Parser((command: Reply) => stream.commands.push(command as string[]));
    socket.on("error", () => {});
    await new Promise<void>((inStep) => {
      let received: Buffer | undefined = Buffer.alloc(0);
      socket.on("data", (chunk) => {
        if (received === undefined) return parser.feed(chunk);
        received = Buffer.concat([received, chunk]);
        const head = /^\n*\$(\d+)\r\n/.exec(received.toString("latin1", 0, 4096));
        const begin = head ? head[0].length + Number(head[1]) : Infinity;
        if (received.length < begin) return;
        const rest = received.subarray(begin);
        received = undefined;
        if (rest.length > 0) parser.feed(rest);
        inStep();
      });
      socket.write(encode(["SYNC"]));
    });
    return stream;
  }

  close(): void {
    this.#socket.destroy();
  }
}
