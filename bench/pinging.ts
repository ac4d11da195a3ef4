// A client in a process of its own that sends PING after PING: how long the longest one waits while another client's command runs, and
// how long the server's main thread computed meanwhile. A wait without computing is not the server's own: the processor was elsewhere.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openSync, readSync } from "node:fs";
import { createConnection } from "node:net";
import type { Server } from "../test/support/server.ts";

/** Milliseconds. */
export interface Wait {
  /** What the longest PING waited. */
  readonly ping: number;
  /** The most processor time of the main thread during one PING. */
  readonly main: number;
}

export class Pinging {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async of(server: Server): Promise<Pinging> {
    const child = fork(import.meta.filename, [server.socket, String(server.pid)], { execArgv: ["--import", "tsx"] });
    await once(child, "message");
    return new Pinging(child);
  }

  /** The longest wait from before the work begins until it has ended. */
  async during(work: () => Promise<void>): Promise<Wait> {
    await this.#tell("begin");
    await work();
    return await this.#tell("end") as Wait;
  }

  async #tell(word: "begin" | "end"): Promise<unknown> {
    const answer = once(this.#child, "message");
    this.#child.send(word);
    return (await answer)[0];
  }

  close(): void {
    this.#child.kill();
  }
}

async function ping(socketPath: string, pid: string): Promise<void> {
  const socket = createConnection({ path: socketPath });
  await once(socket, "connect");
  const statistics = openSync(`/proc/${pid}/task/${pid}/schedstat`, "r"), bytes = Buffer.alloc(64);
  /** Milliseconds that the main thread has computed: the first number of the file, in nanoseconds. */
  const computed = (): number => {
    const length = readSync(statistics, bytes, 0, bytes.length, 0);
    return Number.parseInt(bytes.toString("latin1", 0, length), 10) / 1e6;
  };
  let pinging = false, longest = { ping: 0, main: 0 };
  const once1 = async (): Promise<void> => {
    const sent = performance.now(), before = computed();
    socket.write("PING\r\n");
    await once(socket, "data");
    longest = { ping: Math.max(longest.ping, performance.now() - sent), main: Math.max(longest.main, computed() - before) };
  };
  const loop = async (): Promise<void> => {
    longest = { ping: 0, main: 0 };
    for (pinging = true; pinging;) await once1();
    await once1();
    process.send!(longest);
  };
  process.on("message", (word) => {
    if (word === "end") pinging = false;
    else {
      process.send!("begun");
      void loop();
    }
  });
  process.on("disconnect", () => process.exit());
  process.send!("ready");
}

const [, program, path, pid] = process.argv;
if (program === import.meta.filename) await ping(path!, pid!);
