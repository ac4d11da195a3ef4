// Tests of the test harness, on a server without the module. A wrong model or client could hide errors of the module.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { World } from "../model/oracle/call.ts";
import { Edges } from "../model/oracle/edges.ts";
import { foretell } from "../model/oracle/foretell.ts";
import { crc64, dumpOf, payloadOf } from "../support/dump.ts";
import { type Member, R, range, sorted } from "../support/family.ts";
import { Bytes, type Container, containersOf, croaringArray, croaringContainers, portable32, portable64, readExport, readPayload, runsOf } from "../support/format.ts";
import { combine, keeps } from "../support/model.ts";
import { noEffects, Observer } from "../support/observer.ts";
import { type random, seeded } from "../support/random.ts";
import { bytesOf, encode, Parser, type Reply, ReplyError } from "../support/resp.ts";
import { Server, projectRoot } from "../support/server.ts";
import { useServer } from "../support/suite.ts";

const plain = { module: null };

describe("RESP", () => {
  const stream =
    "+OK\r\n-ERR no\r\n:7\r\n:9223372036854775807\r\n$3\r\na\r\n\r\n$-1\r\n*2\r\n:1\r\n*1\r\n$0\r\n\r\n*0\r\n_\r\n#t\r\n"
    + ",1.5\r\n(18446744073709551615\r\n=7\r\ntxt:abc\r\n%1\r\n+a\r\n:1\r\n~2\r\n:1\r\n:2\r\n>1\r\n+p\r\n";
  const expected: Reply[] = [
    "OK", new ReplyError("ERR no"), 7, 9223372036854775807n, "a\r\n", null, [1, [""]], [], null, true,
    1.5, 18446744073709551615n, "abc", new Map([["a", 1]]), new Set([1, 2]), ["p"],
  ];

  it.each([1, 2, 3, 7, 1000])("is parsed in chunks of %i bytes without losing any", (size) => {
    const replies: Reply[] = [];
    const bytes: Buffer[] = [];
    const pushes: boolean[] = [];
    const parser = new Parser((reply, raw, push) => {
      replies.push(reply);
      bytes.push(raw);
      pushes.push(push);
    }, () => true);
    for (let i = 0; i < stream.length; i += size) parser.feed(Buffer.from(stream.slice(i, i + size), "latin1"));
    expect(replies).toEqual(expected);
    expect(Buffer.concat(bytes).toString("latin1")).toBe(stream);
    expect(pushes.indexOf(true)).toBe(expected.length - 1);
  });
});

describe("a server", () => {
  const server = useServer(plain);

  it.each([2, 3] as const)("replies in RESP%i", async (protocol) => {
    const connection = server.speaking(protocol);
    expect(await connection.run("SET", "k", Buffer.from([0, 255, 13, 10]))).toBe("OK");
    expect(await connection.run("GET", "k")).toBe("\0\xff\r\n");
    expect(String(await connection.bytes("GET", "none"))).toBe(protocol === 2 ? "$-1\r\n" : "_\r\n");
    await expect(connection.run("HGET", "k", "f")).rejects.toThrow(/^WRONGTYPE/);
    expect(await connection.refusal("GET")).toBe("ERR wrong number of arguments for 'get' command");
    await expect(connection.refusal("GET", "k")).rejects.toThrow(/not refused/);
    const replies = await connection.pipeline([["INCR", "n"], ["INCR", "k"], ["INCR", "n"]]);
    expect(replies).toEqual([1, new ReplyError("ERR value is not an integer or out of range"), 2]);
  });

  it("has run all commands when drain returns, even those that failed", async () => {
    const connection = server.speaking(2), long = "x".repeat(200_000);
    const commands = [["SET", "drained", long], ["GET", "drained"], ["HGET", "drained", "f"], ["INCR", "drains"]];
    await connection.drain(Buffer.concat(commands.map(encode)));
    expect(await connection.run("GET", "drains")).toBe("1");
    const increment = encode(["INCR", "drains"]);
    const [, again] = await Promise.all([connection.drain(increment), connection.drain(increment).catch(String)]);
    expect(again).toMatch(/under way/);
    expect(await connection.run("GET", "drains")).toBe("2");
  });

  it("keeps its directory when it restarts", async () => {
    await server.run("SET", "k", "v");
    await server.run("SAVE");
    await server.restart();
    expect(await server.run("GET", "k")).toBe("v");
  });

  it("reports the side effects of a command through an Observer", async () => {
    const observer = await Observer.of(server);
    const set = (value: number) => () => server.run("SETBIT", "k", 9, value);
    expect(await observer.effects("k", set(1))).toEqual({
      dirty: 1,
      events: [["setbit", "k"]],
      propagated: [["SETBIT", "k", "9", "1"]],
      touched: true,
    });
    expect(await observer.effects("k", set(1))).toEqual(noEffects);
    expect(await observer.effects("other", set(0))).toMatchObject({ dirty: 1, touched: false });
    observer.close();
  });

  it("fails the test with its log when it dies, and rejects pending commands", async () => {
    const victim = await Server.start(plain);
    await expect(victim.run("DEBUG", "SEGFAULT")).rejects.toThrow(/redis-server died[^]*(REDIS|VALKEY) BUG REPORT START/);
    expect(() => victim.assertAlive()).toThrow(/redis-server died/);
    await expect(victim.run("PING")).rejects.toThrow(/redis-server died/);
    await expect(victim.stop()).rejects.toThrow(/redis-server died/);
  });

  it("starts while another process still holds its socket open", async () => {
    const restarted = new Server(plain), orphan = createServer((connection) => connection.destroy());
    await once(orphan.listen(restarted.socket), "listening");
    await restarted.start();
    expect(await restarted.run("PING")).toBe("PONG");
    await restarted.stop();
    orphan.close();
  });

  it("reports why it cannot start", async () => {
    const victim = new Server({ module: "/none.so" });
    await expect(victim.start()).rejects.toThrow(/none\.so/);
    victim.remove();
  });

  it("leaves no directory behind when the process is terminated, whether it was started or not", async () => {
    const temporary = mkdtempSync(join(tmpdir(), "redis-roar-harness-"));
    const program = `
      import { Server } from ${JSON.stringify(join(projectRoot, "test/support/server.ts"))};
      new Server();
      await Server.start({ module: null });
      process.stdout.write("up");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type", "module", "--eval", program], {
      cwd: projectRoot, env: { ...process.env, TMPDIR: temporary }, stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    expect(readdirSync(temporary).filter((name) => name.startsWith("redis-roar-"))).toHaveLength(1);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([143, null]);
    expect(readdirSync(temporary).filter((name) => name.startsWith("redis-roar-"))).toEqual([]);
    rmSync(temporary, { recursive: true });
  });
});

describe("the model", () => {
  const server = useServer(plain);
  const setBits = (key: string, model: Iterable<Member>) =>
    server.connection.pipeline([["DEL", key], ...[...model].map((m) => ["SETBIT", key, m, 1])]);

  const shapes = (rng: ReturnType<typeof random>): Set<Member> => {
    const members = new Set<Member>();
    for (let i = rng.below(20); i >= 0; i--) members.add(rng.below(200));
    if (rng.chance(0.3)) for (let m = rng.below(40), to = rng.below(200); m < to; m++) members.add(m);
    return members;
  };

  it("predicts BITCOUNT and BITPOS as native commands reply", seeded(async (rng) => {
    for (let round = 0; round < 60; round++) {
      const model = shapes(rng);
      await setBits("k", model);
      const world: World = new Map([["k", { family: R, set: Edges.of([...model].map(BigInt)) }]]);
      const expectAgreement = async (name: string, ...args: (string | number)[]): Promise<void> => {
        const foretold = foretell(world, [`R.${name}`, "k", ...args.map(String)]);
        expect(await server.run(name, "k", ...args), `${sorted(model).join()} ${name} ${args.join(" ")}`).toBe(foretold);
      };
      await expectAgreement("BITCOUNT");
      for (const bit of [0, 1]) await expectAgreement("BITPOS", bit);
      for (let i = 0; i < 40; i++) {
        const unit = rng.pick(["BYTE", "BIT"] as const);
        const [start, end] = [rng.below(500) - 250, rng.below(500) - 250].map((n) => (unit === "BYTE" ? n >> 3 : n)) as [number, number];
        await expectAgreement("BITCOUNT", start, end, unit);
        await expectAgreement("BITPOS", rng.below(2), start, end, unit);
        await expectAgreement("BITPOS", rng.below(2), start);
      }
    }
  }));

  it("combines bitmaps as native BITOP does", seeded(async (rng) => {
    for (let round = 0; round < 60; round++) {
      const sources = [shapes(rng), shapes(rng), shapes(rng)].slice(0, 1 + rng.below(3));
      await Promise.all(sources.map((source, i) => setBits(`s${i}`, source)));
      const bitsOf = async (): Promise<Member[]> => {
        const bytes = bytesOf((await server.run("GET", "d")) ?? "");
        return [...bytes].flatMap((byte, i) => [0, 1, 2, 3, 4, 5, 6, 7].filter((b) => byte & (128 >> b)).map((b) => 8 * i + b));
      };
      for (const operation of ["AND", "OR", "XOR"] as const) {
        await server.run("BITOP", operation, "d", ...sources.map((_, i) => `s${i}`));
        const expected = combine(operation, sources);
        expect(await bitsOf()).toEqual(expected);
        const edges = sources.map((source) => Edges.of([...source].map(BigInt)));
        const keeping = Edges.combine(edges, (count, inFirst) => keeps(operation, sources.length, count, inFirst));
        expect(keeping.members().map(Number)).toEqual(expected);
      }
    }
  }));

  it("computes the operations that native BITOP lacks", () => {
    const [x, y, z] = [new Set([1, 2, 3]), new Set([2, 3, 4]), new Set([3, 5])];
    expect(combine("DIFF", [x, y, z])).toEqual([1]);
    expect(combine("DIFF1", [x, y, z])).toEqual([4, 5]);
    expect(combine("ANDOR", [x, y, z])).toEqual([2, 3]);
    expect(combine("ONE", [x, y, z])).toEqual([1, 4, 5]);
  });

  it("represents sets by edges, up to the last offset", () => {
    const all = 2n ** 64n, set = Edges.of([5n, 7n, 6n, 5n, all - 1n]);
    expect([...set.stretches()]).toEqual([[5n, 8n], [all - 1n, all]]);
    set.assign(8n, 10n, true);
    set.assign(6n, 9n, false);
    set.flip(9n, 12n);
    expect(set.members()).toEqual([5n, 10n, 11n, all - 1n]);
    expect([set.has(4n), set.has(5n), set.has(6n), set.has(all - 1n)]).toEqual([false, true, false, true]);
    expect([set.count(), set.count(6n), set.count(0n, 11n), set.containers()]).toEqual([4n, 3n, 2n, 2n]);
    expect([set.select(0n), set.select(2n), set.select(3n), set.select(4n)]).toEqual([5n, 11n, all - 1n, undefined]);
    set.flip(0n, all);
    expect([set.count(), set.min, set.max]).toEqual([all - 4n, 0n, all - 2n]);
  });
});

describe("the formats", () => {
  it("use the checksum of the server", () => {
    expect(crc64(Buffer.from("123456789"))).toBe(0xe9c6d914c4b8d9can);
  });

  it.each([
    ["values", croaringArray([3, 4, 100]), "0103000000030000000400000064000000"],
    ["no values", croaringArray([]), "0100000000"],
    [
      "one run",
      croaringContainers([{ key: 0, kind: "run", values: range(0, 5000) }]),
      "023b300000010000871301000000" + "8713",
    ],
    ["no buckets", portable64([]), "0000000000000000"],
  ])("write %s as specified", (_, bytes, hex) => expect(bytes.toString("hex")).toBe(hex));

  it("read back what they write, also from an envelope", seeded(async (rng) => {
    expect(runsOf([1, 2, 3, 7, 9, 10])).toEqual([[1, 2], [7, 0], [9, 1]]);
    for (const size of [0, 1, 100, 5000, 100_000]) {
      const members = [...new Set(Array.from({ length: size }, () => rng.below(300_000)))].sort((a, b) => a - b);
      const stored = croaringContainers(containersOf(members));
      expect(readPayload(32, payloadOf(R.type, dumpOf(R.type, stored)))).toEqual(members);
      const wide = portable64([{ high: 5, containers: containersOf(members) }].slice(0, size ? 1 : 0));
      expect(readPayload(64, wide)).toEqual(members.map((m) => m + 5 * 2 ** 32));
    }
  }));

  it("take no reply of EXPORT whose containers, values or runs are out of order, or whose runs are larger than the same without them", () => {
    const two = (first: Container, second: Container): Buffer => portable32([first, second]);
    const run: Container = { key: 1, kind: "run", values: [3, 4, 5, 6] }, array: Container = { key: 0, kind: "array", values: [1, 9] };
    const touching = portable32([{ key: 0, kind: "run", values: range(0, 20) }]), at = touching.length - 4;
    touching[at - 2] = 2; // one run of 20 becomes two of 10
    const torn = Buffer.concat([touching.subarray(0, at), new Bytes().u16(0).u16(9).u16(10).u16(9).take()]);
    expect(readExport(32, two(array, run))).toEqual([1, 9, 65_539, 65_540, 65_541, 65_542]);
    expect(readExport(64, portable64([{ high: 1, containers: [array] }]))).toEqual([2 ** 32 + 1, 2 ** 32 + 9]);
    for (const [refused, message] of [
      [two(run, array), /not after/], [two(array, { ...array, values: [2] }), /not after/], [two(array, { ...run, values: [6, 5] }), /values of run/],
      [two({ ...array, values: [9, 1] }, run), /values of array/], [two(array, { ...run, values: [1, 5, 9] }), /14 bytes, and without runs 6/],
      [torn, /touch/], [Buffer.concat([two(array, run), Buffer.from("x")]), /1 bytes left over/],
    ] as const) expect(() => readExport(32, refused)).toThrow(message);
  });
});
