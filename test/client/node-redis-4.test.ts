// Version 4 of node-redis rounds integers above 2^53, and some just below. Answers are exact or refused, and never wrong.

import { commandOptions, createClient } from "redis4";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Bitmaps, InexactReplyError } from "../../client/src/index.ts";
import { modules, roar } from "../../client/src/node-redis.ts";
import { useServer } from "../support/suite.ts";

const server = useServer();
const EXACT = 2n ** 53n + 1n, ROUNDED = 2 ** 53, BELOW = 2n ** 53n - 3n;
const LARGE = [2n ** 53n - 48n, BELOW, 2n ** 53n, EXACT, 2n ** 53n + 2n, 2n ** 62n, 2n ** 63n - 1n];
const SMALL = [0n, 1n, 2n ** 32n, 2n ** 53n - 64n];
const LARGEST = [2n ** 63n, 2n ** 64n - 1n];

const open = () => createClient({ modules, socket: { path: server.socket } }).connect();
let client: Awaited<ReturnType<typeof open>>, r64: Bitmaps<bigint>;
beforeAll(async () => {
  client = await open();
  ({ r64 } = roar(client));
});
afterAll(() => client.disconnect());

const setReplies = (kind: string): Promise<unknown> =>
  server.run("CONFIG", "SET", "redis-roar.r64-replies", kind);

/** Every answer that contains this member of "k", the only one. */
const membersOf = (member: bigint): Promise<unknown>[] => [
  r64.min("k"), r64.max("k"), r64.select("k", 0), r64.bitPos("k", 1),
  r64.getIntArray("k").then(([one]) => one), r64.rangeIntArray("k", 0, 1).then(([one]) => one),
  r64.range("k", member, member).then(([one]) => one),
  r64.scan("k", member).then(({ members }) => members[0]),
  r64.queryMembers("#1", ["k"]).then(([one]) => one),
  client.r64.min("k"), client.multi().r64.max("k").exec().then(([one]) => one),
];

describe.each(["compatible", "strings"])("with r64-replies %s", (kind) => {
  beforeAll(() => setReplies(kind));
  afterAll(() => setReplies("compatible"));

  it("members are exact, or refused if node-redis may have rounded them", async () => {
    for (const member of [...SMALL, ...LARGE, ...LARGEST]) {
      await server.run("R64.SETINTARRAY", "k", member);
      const rounded = kind === "compatible" && LARGE.includes(member);
      for (const [i, answer] of (await Promise.allSettled(membersOf(member))).entries()) {
        const what = `answer ${i} for ${member}`;
        if (rounded) expect((answer as PromiseRejectedResult).reason, what).toBeInstanceOf(InexactReplyError);
        else expect(answer, what).toEqual({ status: "fulfilled", value: member });
      }
    }
  });

  it("counts and fields are exact, or refused if node-redis may have rounded them", async () => {
    for (const value of [...SMALL, ...LARGE]) {
      await server.run("DEL", "k", "fields");
      await r64.setRange("k", 0, value);
      await r64.bitField("fields", [["SET", "i64", 0, value]]);
      const answers = await Promise.allSettled([
        r64.bitCount("k"), r64.queryCard("#1", ["k"]), r64.rank("k", value),
        r64.bitFieldRo("fields", [["GET", "i64", 0]]).then(([one]) => one),
      ]);
      for (const [i, answer] of answers.entries()) {
        const what = `answer ${i} for ${value}`;
        if (LARGE.includes(value)) expect((answer as PromiseRejectedResult).reason, what).toBeInstanceOf(InexactReplyError);
        else expect(answer, what).toEqual({ status: "fulfilled", value });
      }
    }
  });
});

describe("roar() changes nothing for the rest of the program", () => {
  beforeEach(() => server.run("R64.SETBIT", "k", EXACT, 1));

  it("neither to JavaScript's own classes", async () => {
    const { get } = WeakMap.prototype;
    const second = await open();
    await expect(roar(second).r64.min("k")).rejects.toBeInstanceOf(InexactReplyError);
    expect(WeakMap.prototype.get).toBe(get);
    await second.disconnect();
  });

  it("nor to the replies of its other commands", async () => {
    const buffers = { returnBuffers: true };
    expect(await client.sendCommand(["R64.MIN", "k"])).toBe(ROUNDED);
    expect(await client.sendCommand(["R64.MIN", "k"], buffers)).toBe(ROUNDED);
    expect(await client.multi().addCommand(["R64.MIN", "k"]).exec()).toEqual([ROUNDED]);
  });

  it("and bytes of modules need returnBuffers", async () => {
    await expect(client.r64.export("k")).rejects.toBeInstanceOf(InexactReplyError);
    expect(await client.r64.export(commandOptions({ returnBuffers: true }), "k")).toEqual(await r64.export("k"));
  });
});
