// A client in a process of its own that sends one PING after the other: how long the longest waits while another client's command runs,
// and how long the server's main thread computes meanwhile. The second is the server's own; a wait without it may be the machine's.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openSync, readSync } from "node:fs";
import { createConnection } from "node:net";
import type { Server } from "../test/support/server.ts";

/** Milliseconds. */
export interface Wait {
  /** How long the longest PING waited. */
  readonly ping: number;
  /** The most that the main thread computed during one PING. */
  readonly main: number;
}

export class Pinging {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async of(server: Server): Promise<Pinging> {
    const child = fork(import.meta.filename, [server.socket, String(server.pid)], { execArgv: ["--import", "tsx"] });
    const pinging = new Pinging(child);
    await pinging.#heard();
    return pinging;
  }

  /** The longest wait from before the work begins until after it has ended. */
  async during(work: () => Promise<void>): Promise<Wait> {
    this.#child.send("begin");
    await this.#heard();
    await work();
    this.#child.send("end");
    return await this.#heard() as Wait;
  }

  async #heard(): Promise<unknown> {
    const ended = new AbortController(), options = { signal: ended.signal };
    const death = once(this.#child, "exit", options).then(() => { throw new Error("the process that sends PINGs has ended"); });
    try {
      return (await Promise.race([once(this.#child, "message", options), death]))[0];
    } finally {
      ended.abort();
      death.catch(() => {});
    }
  }

  close(): void {
    this.#child.kill();
  }
}

/** The program of the process: it answers "begin" when it begins, and "end" with the longest wait since. */
async function ping(path: string, pid: string): Promise<void> {
  const socket = createConnection({ path });
  await once(socket, "connect");
  const statistics = openSync(`/proc/${pid}/task/${pid}/schedstat`, "r"), bytes = Buffer.alloc(100);
  /** Milliseconds. The file begins with the nanoseconds that the thread has had a processor. */
  const computed = (): number => {
    readSync(statistics, bytes, 0, bytes.length, 0);
    return Number.parseInt(bytes.toString("latin1"), 10) / 1e6;
  };
  let ended = false;
  const pings = async (): Promise<Wait> => {
    const longest = { ping: 0, main: 0 };
    for (let last = false; !last;) {
      last = ended; // one PING is sent after the end
      const sent = performance.now(), before = computed();
      socket.write("PING\r\n");
      await once(socket, "data");
      longest.ping = Math.max(longest.ping, performance.now() - sent);
      longest.main = Math.max(longest.main, computed() - before);
    }
    return longest;
  };
  process.on("message", (word) => {
    ended = word === "end";
    if (ended) return;
    process.send!("begun");
    void pings().then((longest) => process.send!(longest));
  });
  process.on("disconnect", () => process.exit());
  process.send!("ready");
}

const [, program, path, pid] = process.argv;
if (program === import.meta.filename) await ping(path!, pid!);
