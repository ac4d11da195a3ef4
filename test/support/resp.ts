// A connection to a server that speaks RESP2 or RESP3. Replies keep their types, error replies can be had as values or as exceptions,
// and the raw bytes of a reply are available, which no library keeps and test/commands/wire.test.ts compares. Client libraries are under
// test themselves, so that a reply that one of them reads in its own way would go unnoticed.

import { createConnection, type Socket } from "node:net";

export type Argument = string | number | bigint | Buffer;
export type Command = readonly Argument[];

/** An error reply; its text is the message. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/**
 * A parsed reply. Strings hold one byte per character (latin1), so no byte is lost. Integers that a number cannot represent are bigints.
 * Maps and sets occur in RESP3 only.
 */
export type Reply =
  | string
  | number
  | bigint
  | boolean
  | null
  | ReplyError
  | Reply[]
  | Map<Reply, Reply>
  | Set<Reply>;

export function encode(command: Command): Buffer {
  const parts: Buffer[] = [];
  let text = `*${command.length}\r\n`;
  for (const argument of command) {
    if (Buffer.isBuffer(argument)) {
      parts.push(Buffer.from(`${text}$${argument.length}\r\n`, "latin1"), argument);
      text = "\r\n";
    } else {
      const word = String(argument);
      text += `$${word.length}\r\n${word}\r\n`;
    }
  }
  parts.push(Buffer.from(text, "latin1"));
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** The bytes of a bulk string reply. */
export const bytesOf = (reply: Reply): Buffer => Buffer.from(reply as string, "latin1");

/** An integer as a number where that is exact, else as a bigint. */
export function integer(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

const [COLON, ZERO, CR, LF] = [0x3a, 0x30, 0x0d, 0x0a];

interface Aggregate {
  readonly kind: string;
  readonly size: number;
  readonly items: Reply[];
  filled: number;
}

/** Longer lists than this are not trusted to come, and grow. */
const AT_ONCE_MOST = 10_000_000;

const aggregate = (kind: string, size: number): Aggregate =>
  ({ kind, size, items: size <= AT_ONCE_MOST ? new Array<Reply>(size) : [], filled: 0 });

/** Parses a byte stream, in chunks of any size, into replies. Delivers each with its raw bytes. */
export class Parser {
  #chunks: Buffer[] = [];
  #waiting = 0;
  #needed = 0;
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;
  #open: Aggregate[] = [];
  #raw: Buffer[] = [];

  readonly #deliver: (reply: Reply, raw: Buffer, push: boolean) => void;
  readonly #keepRaw: () => boolean;

  /** `keepRaw` is asked while a reply is parsed whether its raw bytes are needed. */
  constructor(deliver: (reply: Reply, raw: Buffer, push: boolean) => void, keepRaw = () => false) {
    this.#deliver = deliver;
    this.#keepRaw = keepRaw;
  }

  feed(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting < this.#needed) return; // a long string arrives in many chunks, which are joined only once
    this.#buffer = Buffer.concat([this.#buffer.subarray(this.#at), ...this.#chunks]);
    this.#chunks = [];
    this.#waiting = this.#needed = this.#at = 0;
    while (this.#shortInteger() || this.#item());
  }

  /** Reads an integer of up to 15 digits, of which long replies consist, without a string. Returns false if there is none. */
  #shortInteger(): boolean {
    const buffer = this.#buffer, first = this.#at + 1;
    if (buffer[this.#at] !== COLON) return false;
    let at = first, value = 0;
    for (let digit = 0; at < first + 15 && (digit = buffer[at]! - ZERO) >= 0 && digit <= 9; at++) value = value * 10 + digit;
    if (at === first || buffer[at] !== CR || buffer[at + 1] !== LF) return false;
    this.#consume(at + 2);
    this.#place(value);
    return true;
  }

  /** Reads one scalar or the head of one aggregate. Returns false if more bytes are needed. */
  #item(): boolean {
    const buffer = this.#buffer;
    const lineEnd = buffer.indexOf("\r\n", this.#at);
    if (lineEnd < 0) return false;
    const kind = String.fromCharCode(buffer[this.#at]!);
    const line = buffer.toString("latin1", this.#at + 1, lineEnd);
    let end = lineEnd + 2;
    let value: Reply;
    switch (kind) {
      case "+": value = line; break;
      case "-": value = new ReplyError(line); break;
      case ":": value = integer(line); break;
      case "(": value = BigInt(line); break;
      case ",": value = Number(line); break;
      case "#": value = line === "t"; break;
      case "_": value = null; break;
      case "$":
      case "=":
      case "!": {
        const length = Number(line);
        if (length < 0) {
          value = null;
          break;
        }
        if (buffer.length < end + length + 2) {
          this.#needed = end + length + 2 - buffer.length;
          return false;
        }
        const text = buffer.toString("latin1", end, end + length);
        value = kind === "!" ? new ReplyError(text) : kind === "=" ? text.slice(4) : text;
        end += length + 2;
        break;
      }
      case "*":
      case "~":
      case ">":
      case "%": {
        const size = Number(line) * (kind === "%" ? 2 : 1);
        this.#consume(end);
        if (size < 0) this.#place(null);
        else if (size === 0) this.#place(close(aggregate(kind, 0)));
        else this.#open.push(aggregate(kind, size));
        return true;
      }
      default:
        throw new Error(`not RESP: ${JSON.stringify(kind + line)}`);
    }
    this.#consume(end);
    this.#place(value);
    return true;
  }

  #consume(end: number): void {
    if (this.#keepRaw()) this.#raw.push(this.#buffer.subarray(this.#at, end));
    this.#at = end;
  }

  #place(value: Reply): void {
    let last = "";
    for (let top = this.#open.at(-1); top !== undefined; top = this.#open.at(-1)) {
      top.items[top.filled++] = value;
      if (top.filled < top.size) return;
      this.#open.pop();
      last = top.kind;
      value = close(top);
    }
    const raw = Buffer.concat(this.#raw);
    this.#raw = [];
    this.#deliver(value, raw, last === ">");
  }
}

function close({ kind, items }: Aggregate): Reply {
  if (kind === "~") return new Set(items);
  if (kind !== "%") return items;
  const map = new Map<Reply, Reply>();
  for (let i = 0; i < items.length; i += 2) map.set(items[i]!, items[i + 1]!);
  return map;
}

interface Request {
  readonly wantsBytes: boolean;
  readonly resolve: (reply: Reply, raw: Buffer) => void;
  readonly reject: (reason: Error) => void;
}

export class Connection {
  #requests: Request[] = [];
  #head = 0;
  #closed: Error | undefined;
  #drained: ((chunk: Buffer) => void) | undefined;
  /** Replies without a request: pushes, and a subscriber's messages. */
  readonly pushes: Reply[] = [];

  readonly #socket: Socket;

  private constructor(socket: Socket, reasonOfClose: () => Promise<Error>) {
    this.#socket = socket;
    const parser = new Parser(
      (reply, raw, push) => {
        if (push || this.#head === this.#requests.length) this.pushes.push(reply);
        else this.#answer(reply, raw);
      },
      () => this.#requests[this.#head]?.wantsBytes ?? false,
    );
    socket.on("data", (chunk) => this.#drained ? this.#drained(chunk) : parser.feed(chunk));
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => void reasonOfClose().then((reason) => this.#fail(reason)));
  }

  /** Connects to a unix socket. When the connection breaks, `reasonOfClose` gives the error for pending requests. */
  static async open(path: string, protocol: 2 | 3, reasonOfClose: () => Promise<Error>): Promise<Connection> {
    const socket = createConnection({ path });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    const connection = new Connection(socket, reasonOfClose);
    if (protocol === 3) await connection.run("HELLO", 3);
    return connection;
  }

  /** The reply of one command. An error reply is thrown. */
  run(...command: Argument[]): Promise<Reply> {
    return this.call(command);
  }

  /** The same for commands with more words than a JavaScript call can have arguments. */
  async call(command: Command): Promise<Reply> {
    const [reply] = await this.pipeline([command]);
    if (reply instanceof ReplyError) throw reply;
    return reply!;
  }

  /** The text of the error reply of a command. Throws if it succeeds. */
  async refusal(...command: Argument[]): Promise<string> {
    const [reply] = await this.pipeline([command]);
    if (reply instanceof ReplyError) return reply.message;
    throw new Error(`not refused: ${command.join(" ").slice(0, 200)} -> ${String(reply).slice(0, 200)}`);
  }

  /** Sends all commands in one write. Returns the replies in order, with errors as values. */
  pipeline(commands: readonly Command[]): Promise<Reply[]> {
    const replies = commands.map(() => this.#request(false, (reply) => reply));
    this.#socket.write(Buffer.concat(commands.map(encode)));
    return Promise.all(replies);
  }

  /**
   * Sends encoded commands and waits until all are answered, ignoring the replies but for the beginning, which it returns. No other
   * request may be pending.
   */
  async drain(bytes: Buffer): Promise<Buffer> {
    if (this.#requests.length > 0) throw new Error("drain: something else is under way");
    const end = Buffer.from("all of it drained\r\n"), request = this.#request(false, () => {});
    let tail = Buffer.alloc(0), head: Buffer | undefined;
    this.#drained = (chunk) => {
      head ??= chunk;
      tail = Buffer.concat([tail, chunk.subarray(-end.length)]).subarray(-end.length);
      if (!tail.equals(end)) return;
      this.#drained = undefined;
      this.#answer(null, tail);
    };
    this.#socket.write(Buffer.concat([bytes, encode(["PING", end.subarray(0, -2)])]));
    await request;
    return head!;
  }

  /** The raw bytes of the reply of one command. */
  bytes(...command: Argument[]): Promise<Buffer> {
    const raw = this.#request(true, (_, bytes) => bytes);
    this.#socket.write(encode(command));
    return raw;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Rejects all pending requests and all later ones. */
  #fail(reason: Error): void {
    this.#closed = reason;
    for (const request of this.#requests.slice(this.#head)) request.reject(reason);
    this.#requests = [];
    this.#head = 0;
  }

  #answer(reply: Reply, raw: Buffer): void {
    const request = this.#requests[this.#head]!;
    if (++this.#head === this.#requests.length) {
      this.#requests = [];
      this.#head = 0;
    }
    request.resolve(reply, raw);
  }

  #request<T>(wantsBytes: boolean, pick: (reply: Reply, raw: Buffer) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed) reject(this.#closed);
      else this.#requests.push({ wantsBytes, resolve: (reply, raw) => resolve(pick(reply, raw)), reject });
    });
  }
}
