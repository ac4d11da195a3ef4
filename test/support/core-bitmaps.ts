// A stand-in for a server with compressed bitmaps in its core, as Redis 8.12 documents them: a relay to a server without them. Strings
// whose names begin with `core:` are such bitmaps to its clients: TYPE replies `bitmap`, commands for strings reply WRONGTYPE, and
// BITRANGEINTARRAY lists offsets. It shows that the tool does what the documents say; no test has run on Redis 8.12 itself.

import { connect, createServer, type Server as Listener, type Socket } from "node:net";
import { join } from "node:path";
import { bytesOf, encode, Parser, type Reply } from "./resp.ts";
import type { Server } from "./server.ts";

const PREFIX = "core:", WRONGTYPE = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
/** Commands that read a string, and where its key is among their words. */
const OF_STRINGS: Readonly<Record<string, number>> = {
  GET: 1, STRLEN: 1, GETRANGE: 1, SETRANGE: 1, APPEND: 1, "R.FROMBITMAP": 2, "R64.FROMBITMAP": 2,
};

/** Offsets in a range of a value, as BITRANGEINTARRAY replies them. Its options come in any order. */
function bitRangeIntArray(value: Buffer, words: readonly string[]): number[] | string {
  const [start, end] = words.slice(2, 4).map(Number), options = words.slice(4).map((word) => word.toUpperCase());
  let unit = "BYTE", limit = Infinity, wanted = 1;
  for (let i = 0; i < options.length; i++) {
    if (options[i] === "BIT" || options[i] === "BYTE") unit = options[i]!;
    else if (options[i] === "ZEROS") wanted = 0;
    else if (options[i] === "LIMIT" && /^[1-9]\d*$/.test(options[i + 1] ?? "")) limit = Number(options[++i]);
    else return "ERR syntax error";
  }
  if (!Number.isInteger(start) || !Number.isInteger(end)) return "ERR value is not an integer or out of range";
  const width = unit === "BYTE" ? 8 : 1, length = value.length * 8 / width, offsets: number[] = [];
  const from = start! < 0 ? Math.max(0, start! + length) : start!, to = Math.min(length - 1, end! < 0 ? end! + length : end!);
  for (let at = from * width; at < (to + 1) * width && offsets.length < limit; at++) {
    if (((value[at >> 3]! >> (7 - (at & 7))) & 1) === wanted) offsets.push(at);
  }
  return offsets;
}

export class CoreBitmaps {
  readonly #server: Server;
  readonly #listener: Listener;
  /** How often BITRANGEINTARRAY was sent. */
  pages = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.#listener = createServer((near) => this.#relay(near));
  }

  static async before(server: Server): Promise<CoreBitmaps> {
    const relay = new CoreBitmaps(server);
    await new Promise<void>((resolve) => relay.#listener.listen(relay.socket, resolve));
    return relay;
  }

  get socket(): string {
    return join(this.#server.directory, "core-bitmaps");
  }

  close(): void {
    this.#listener.close();
  }

  #relay(near: Socket): void {
    const far = connect(this.#server.socket), waiting: ((reply: Reply, raw: Buffer) => void)[] = [];
    let last: Promise<unknown> = Promise.resolve();
    const ask = (...words: Buffer[]): Promise<[reply: Reply, raw: Buffer]> => new Promise((resolve) => {
      waiting.push((reply, raw) => resolve([reply, raw]));
      far.write(encode(words));
    });
    const answers = new Parser((reply, raw) => waiting.shift()!(reply, raw), () => true);
    const requests = new Parser((request) => {
      const words = (request as string[]).map(bytesOf);
      last = last.then(async () => near.write(await this.#answer(words, ask)));
    });
    far.on("data", (chunk) => answers.feed(chunk));
    near.on("data", (chunk) => requests.feed(chunk));
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      socket.on("error", () => {});
      socket.on("close", () => other.destroy());
    }
  }

  async #answer(words: Buffer[], ask: (...words: Buffer[]) => Promise<[Reply, Buffer]>): Promise<Buffer> {
    const name = String(words[0]).toUpperCase(), at = OF_STRINGS[name] ?? 1, key = words[at];
    const isCore = async (): Promise<boolean> => String(key).startsWith(PREFIX) && (await ask(Buffer.from("TYPE"), key!))[0] === "string";
    if (name === "TYPE" && await isCore()) return Buffer.from("+bitmap\r\n");
    if (name in OF_STRINGS && await isCore()) return Buffer.from(WRONGTYPE);
    if (name !== "BITRANGEINTARRAY") return (await ask(...words))[1];
    this.pages++;
    const [value] = await ask(Buffer.from("GET"), key!);
    if (value instanceof Error) return Buffer.from(WRONGTYPE);
    const offsets = bitRangeIntArray(bytesOf(value ?? ""), words.map(String));
    return Buffer.from(typeof offsets === "string" ? `-${offsets}\r\n` : `*${offsets.length}\r\n${offsets.map((offset) => `:${offset}\r\n`).join("")}`);
  }
}
