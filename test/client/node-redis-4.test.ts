// Version 4 of node-redis rounds integers above 2^53. What the client does about it, and what stays as it was. The tests build on each
// other: `roar` changes a copy of node-redis for the rest of the program.

import { createRequire } from "node:module";
import { commandOptions, createClient } from "redis4";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Inexact } from "../../client/src/index.ts";
import { modules, roar } from "../../client/src/node-redis.ts";
import { keepDigits } from "../../client/src/node-redis-4.ts";
import { useServer } from "../support/suite.ts";

const server = useServer();
const EXACT = 2n ** 53n + 1n, ROUNDED = 2 ** 53, BELOW = 2n ** 53n - 3n;

const open = () => createClient({ modules, socket: { path: server.socket } }).connect();
let client: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  client = await open();
});
beforeEach(async () => {
  await server.run("R64.SETBIT", "k", EXACT, 1);
  await server.run("R64.SETBIT", "below", BELOW, 1);
});
afterAll(() => client.disconnect());

interface DecoderOptions {
  returnStringsAsBuffers: () => boolean;
  onReply: (reply: unknown) => unknown;
}
const { default: Decoder } = createRequire(import.meta.resolve("redis4"))("@redis/client/dist/lib/client/RESP2/decoder") as {
  default: new (options: DecoderOptions) => { write(chunk: Buffer): void };
};
const ofHalf: unknown[] = [], half = new Decoder({ returnStringsAsBuffers: () => true, onReply: (reply) => ofHalf.push(reply) });

const buffers = commandOptions({ returnBuffers: true });
const plain = { sendCommand: (args: string[], options?: object) => client.sendCommand(args, options) };

describe("before roar() has been called with a client", () => {
  it("the modules refuse what is rounded", async () => {
    expect(await client.sendCommand(["R64.MIN", "k"])).toBe(ROUNDED);
    for (const key of ["k", "below"]) {
      await expect(client.r64.min(key)).rejects.toBeInstanceOf(Inexact);
      await expect(client.r64.min(buffers, key)).rejects.toBeInstanceOf(Inexact);
    }
  });

  it("a decoder begins to read an integer", () => {
    half.write(Buffer.from(":90071992547"));
    expect(ofHalf).toEqual([]);
  });

  it("a client whose decoder is nowhere to be found is refused what is rounded", async () => {
    const { r64 } = roar(plain);
    await expect(r64.min("k")).rejects.toBeInstanceOf(Inexact);
    await expect(r64.getIntArray("k")).rejects.toBeInstanceOf(Inexact);
    expect(await r64.bitCount("k")).toBe(1n);
  });

  it("members are exact if the server replies text", async () => {
    await server.run("CONFIG", "SET", "redis-roar.r64-replies", "strings");
    const answers = [await client.r64.min("k"), await roar(plain).r64.min("below")];
    await server.run("CONFIG", "SET", "redis-roar.r64-replies", "compatible");
    expect(answers).toEqual([EXACT, BELOW]);
  });

  it("a decoder that works in another way stays as it was", () => {
    class Other {
      cursor = 0;

      parseInteger(chunk: Buffer): number {
        return Number(String(chunk));
      }

      write(chunk: Buffer): void {
        void this.parseInteger(chunk);
      }
    }
    const { parseInteger } = Other.prototype, { get } = WeakMap.prototype, hidden = new WeakMap<object, unknown>();
    const other = {
      get isOpen(): boolean {
        return hidden.get(other) !== undefined;
      },
    };
    const connection = { listeners: () => [() => hidden.get(connection)] };
    hidden.set(other, connection).set(connection, new Other());
    keepDigits(other);
    expect(Other.prototype.parseInteger).toBe(parseInteger);
    expect(WeakMap.prototype.get).toBe(get);
  });
});

describe("after it", () => {
  beforeAll(() => void roar(client));

  it("answers are exact, of the modules with returnBuffers", async () => {
    expect(await roar(client).r64.min("k")).toBe(EXACT);
    expect(await client.r64.min(buffers, "k")).toBe(EXACT);
    expect(await client.r64.min(buffers, "below")).toBe(BELOW);
    expect(await roar(plain).r64.getIntArray("k")).toEqual([EXACT]);
  });

  it("replies to other commands of the program are as before", async () => {
    expect(await client.sendCommand(["R64.MIN", "k"])).toBe(ROUNDED);
    await expect(client.r64.min("k")).rejects.toBeInstanceOf(Inexact);
    expect(await client.sendCommand(["R64.BITCOUNT", "k"], { returnBuffers: true })).toBe(1);
    expect(await client.multi().addCommand(["R64.MIN", "k"]).exec()).toEqual([ROUNDED]);
    await expect(client.multi().r64.min("k").exec()).rejects.toBeInstanceOf(Inexact);
  });

  it("a second client, opened later, is exact", async () => {
    const second = await open();
    expect(await roar(second).r64.min("k")).toBe(EXACT);
    await second.disconnect();
  });

  it("an integer that a decoder had begun to read before is a number as before", () => {
    half.write(Buffer.from("40993\r\n:9007199254740993\r\n"));
    expect(ofHalf).toEqual([ROUNDED, Buffer.from("9007199254740993")]);
  });

  it("digits are exact however the replies are cut into chunks", () => {
    const replies: unknown[] = [], onReply = (reply: unknown): unknown => replies.push(reply);
    const bytes = Buffer.from("*3\r\n:9007199254740993\r\n*1\r\n:-9223372036854775807\r\n$2\r\nab\r\n:9007199254740928\r\n:-1\r\n");
    for (const asBuffers of [true, false]) {
      const decoder = new Decoder({ returnStringsAsBuffers: () => asBuffers, onReply });
      const kept = (digits: string): unknown => (asBuffers ? Buffer.from(digits) : Number(digits));
      const expected = [[kept("9007199254740993"), [kept("-9223372036854775807")], asBuffers ? Buffer.from("ab") : "ab"], 2 ** 53 - 64, -1];
      for (let first = 0; first <= bytes.length; first++) {
        for (let second = first; second <= bytes.length; second++) {
          for (const chunk of [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]) decoder.write(chunk);
          expect(replies.splice(0), `cut at ${first} and ${second}`).toEqual(expected);
        }
      }
    }
  });
});
