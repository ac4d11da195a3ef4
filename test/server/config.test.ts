// Settings: module arguments, configuration parameters, and what they do.

import { arch, availableParallelism } from "node:os";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { families, R, range } from "../support/family.ts";
import type { Argument, Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { builtModule, cpuLevel, Server, type ServerOptions } from "../support/server.ts";
import { byName, record, useServer } from "../support/suite.ts";
import { inStep, rewriteAof } from "../support/waiting.ts";

const DEFAULTS = {
  cpu: cpuLevel ?? "auto", debug: "no", "reply-limit": "100000000", "reply-limit-bytes": String(256 * 2 ** 20), "question-ms": "5000",
  "r64-replies": "compatible", threads: String(Math.min(availableParallelism() - 1, 4)), "threads-from-bytes": String(2 ** 20),
  "segment-bytes": String(2 ** 18 - 8),
};
const MOST = 2 ** 32 - 1, MOST_BYTES = 2n ** 63n - 1n, DAY = 86_400_000;
/** The lowest level of this machine's architecture, and that of another one. */
const [OWN, FOREIGN] = arch() === "x64" ? ["v2", "neon"] : ["neon", "v2"];
const NOT_SUPPORTED = `<redis-roar> CPU level ${FOREIGN} is not supported by this CPU\n`;

async function settingsOf(server: Server): Promise<Record<string, Reply>> {
  const found = record(await server.run("CONFIG", "GET", "redis-roar.*"));
  return Object.fromEntries([...found].map(([name, value]) => [name.replace("redis-roar.", ""), value]));
}

const loadex = (...options: Argument[]): Argument[] => ["MODULE", "LOADEX", builtModule, ...options];
const parameters = (settings: Record<string, Argument>): Argument[] =>
  Object.entries(settings).flatMap(([name, value]) => ["CONFIG", `redis-roar.${name}`, value]);
const lines = (settings: Record<string, Argument>): string[] =>
  Object.entries(settings).map(([name, value]) => `redis-roar.${name} ${String(value)}`);

const hasDebug = async (server: Server): Promise<boolean> => ((await server.run("COMMAND", "INFO", "R.DEBUG")) as Reply[])[0] !== null;

describe("settings at load", () => {
  let server: Server;
  const start = async (options: ServerOptions = {}): Promise<void> => void (server = await Server.start(options));
  afterEach(() => server.remove());

  it("have defaults", async () => {
    await start();
    expect(await settingsOf(server)).toEqual(DEFAULTS);
    expect(await hasDebug(server)).toBe(false);
  });

  it("are read from the configuration file", async () => {
    const given = { cpu: OWN.toUpperCase(), debug: "yes", "reply-limit": 7, "reply-limit-bytes": "3mb", "question-ms": "0", "r64-replies": "strings", threads: "3", "threads-from-bytes": "2mb", "segment-bytes": "4096" };
    await start({ moduleArguments: [], config: lines(given) });
    expect(await settingsOf(server)).toEqual({ ...given, cpu: OWN, "reply-limit": "7", "reply-limit-bytes": String(3 * 2 ** 20), "threads-from-bytes": String(2 ** 21) });
    expect(await server.info("redis-roar_cpu_level")).toBe(OWN);
    expect(await hasDebug(server)).toBe(true);
  });

  it("are read from module arguments, in any case", async () => {
    await start({ moduleArguments: ["reply-limit", "9", "debug", "cpu", "Auto", "r64-Replies", "STRINGS", "Reply-Limit-Bytes", "1024", "question-Ms", "20", "Threads", "0", "THREADS-FROM-bytes", "0", "segment-BYTES", "5000"] });
    expect(await settingsOf(server)).toEqual({
      cpu: "auto", debug: "yes", "reply-limit": "9", "reply-limit-bytes": "1024", "question-ms": "20", "r64-replies": "strings", threads: "0",
      "threads-from-bytes": "0", "segment-bytes": "5000",
    });
    expect(await hasDebug(server)).toBe(true);
  });

  it("are read from MODULE LOADEX", async () => {
    await start({ module: null });
    expect(await server.run(...loadex(...parameters({ debug: "yes", "reply-limit": 8 }), "ARGS", "CPU", cpuLevel ?? "auto"))).toBe("OK");
    expect(await settingsOf(server)).toEqual({ ...DEFAULTS, debug: "yes", "reply-limit": "8" });
    expect(await hasDebug(server)).toBe(true);
  });

  it("come from the parameters if there are arguments too, even if the argument's level is not supported", async () => {
    await start({ module: null });
    const given = parameters({ ...DEFAULTS, cpu: "auto" });
    const args = ["CPU", FOREIGN, "DEBUG", "REPLY-LIMIT", 5, "REPLY-LIMIT-BYTES", 5000, "QUESTION-MS", 1, "R64-REPLIES", "strings"];
    expect(await server.run(...loadex(...given, "ARGS", ...args))).toBe("OK");
    expect(await settingsOf(server)).toEqual({ ...DEFAULTS, cpu: "auto" });
    expect(await hasDebug(server)).toBe(false);
  });

  it("refuse a level that the processor does not support, in the configuration file or as an argument", async () => {
    for (const options of [{ moduleArguments: [], config: lines({ cpu: FOREIGN }) }, { moduleArguments: ["CPU", FOREIGN] }]) {
      server = new Server(options);
      await expect(server.start()).rejects.toThrow(/Can't load module/);
      expect(server.log()).toContain(NOT_SUPPORTED);
      server.remove();
    }
  });

  it("refuse what is invalid in the configuration file or as an argument", async () => {
    const inFile: Record<string, Argument>[] = [
      { cpu: "v9" }, { debug: "perhaps" }, { "reply-limit": 0 }, { "reply-limit": MOST + 1 }, { "reply-limit": "many" }, { speed: 11 },
      { "reply-limit-bytes": 1023 }, { "reply-limit-bytes": "2 gb" }, { "r64-replies": "integers" },
      { threads: -1 }, { threads: 65 }, { "threads-from-bytes": -1 }, { "question-ms": -1 }, { "question-ms": DAY + 1 }, { "question-ms": "5s" },
    ];
    for (const settings of inFile) {
      server = new Server({ config: lines(settings) });
      await expect(server.start(), JSON.stringify(settings)).rejects.toThrow(/redis-roar\.|Module Configuration detected/);
      server.remove();
    }
    const asArguments: [argument: string, value: string, logged: string][] = [
      ...["0", "-1", String(MOST + 1), "many"].map((number): [string, string, string] =>
        ["REPLY-LIMIT", number, `invalid REPLY-LIMIT '${number}': must be a number from 1 to ${MOST}`]),
      ...["1023", "-1", String(MOST_BYTES + 1n), "2gb"].map((number): [string, string, string] =>
        ["REPLY-LIMIT-BYTES", number, `invalid REPLY-LIMIT-BYTES '${number}': must be a number from 1024 to ${MOST_BYTES}`]),
      ...["-1", String(DAY + 1), "5s"].map((number): [string, string, string] =>
        ["QUESTION-MS", number, `invalid QUESTION-MS '${number}': must be a number from 0 to ${DAY}`]),
      ["R64-REPLIES", "integers", "unknown R64-REPLIES 'integers': must be compatible or strings"],
    ];
    for (const [argument, value, logged] of asArguments) {
      server = new Server({ moduleArguments: [argument, value] });
      await expect(server.start()).rejects.toThrow(`<redis-roar> ${logged}\n`);
      server.remove();
    }
  });

  it("refuse what is invalid in MODULE LOADEX, after which the module can still be loaded", async () => {
    await start({ module: null });
    const refused: [Argument[], string][] = [
      [parameters({ cpu: FOREIGN }), NOT_SUPPORTED],
      [parameters({ cpu: "v9" }), "redis-roar.cpu"],
      [parameters({ "reply-limit": 0 }), "redis-roar.reply-limit"],
      [parameters({ "reply-limit": 5, debug: "perhaps" }), "redis-roar.debug"],
      [["ARGS", "CPU", "v9"], "<redis-roar> unknown CPU level 'v9': must be auto, v2, v3, v4 or neon\n"],
      [["ARGS", "REPLY-LIMIT", "0"], "<redis-roar> invalid REPLY-LIMIT '0'"],
      [["ARGS", "DEBUG", "REPLY-LIMIT", "5", "SPEED"], "<redis-roar> unknown or incomplete module argument 'SPEED'\n"],
    ];
    for (const [options, logged] of refused) {
      const before = server.log().length;
      expect(await server.connection.refusal(...loadex(...options)), options.join(" ")).toMatch(/^ERR Error loading/);
      expect(server.log().slice(before)).toContain(logged);
      expect(await settingsOf(server)).toEqual({});
      expect(await server.run("MODULE", "LIST")).not.toContainEqual(expect.arrayContaining(["redis-roar"]));
    }
    expect(await server.run(...loadex())).toBe("OK");
    expect(await settingsOf(server)).toEqual({ ...DEFAULTS, cpu: "auto" });
    expect(await hasDebug(server)).toBe(false);
  });

  it("survive CONFIG REWRITE and a restart, whether or not they are the defaults of the arguments", async () => {
    const argued = { moduleArguments: ["REPLY-LIMIT", "5", "R64-REPLIES", "strings", "REPLY-LIMIT-BYTES", "5000", "QUESTION-MS", "60", "THREADS", "2"], config: lines({ debug: "yes" }) };
    for (const limit of ["6", "5", "100000000"]) {
      await start(argued);
      const changed = { "reply-limit": limit, "reply-limit-bytes": "2097152", "question-ms": limit === "5" ? "60" : "0",
        "r64-replies": limit === "5" ? "strings" : "compatible", threads: limit === "5" ? "2" : "0", "threads-from-bytes": "3145728" };
      await server.run("CONFIG", "SET", ...lines(changed).flatMap((line) => line.split(" ")));
      await server.run("CONFIG", "REWRITE");
      const written = readFileSync(join(server.directory, "redis.conf"), "utf8");
      expect(written).toMatch(/^loadmodule .*redis-roar(-trap)?\.so REPLY-LIMIT 5 R64-REPLIES strings REPLY-LIMIT-BYTES 5000 QUESTION-MS 60 THREADS 2$/m);
      expect(written.includes("redis-roar.reply-limit ")).toBe(limit !== "5");
      expect(written.includes("redis-roar.r64-replies ")).toBe(limit !== "5");
      expect(written.includes("redis-roar.question-ms ")).toBe(limit !== "5");
      expect(written.includes("redis-roar.threads ")).toBe(limit !== "5");
      expect(written).toMatch(/^redis-roar.reply-limit-bytes 2mb$/m);
      expect(written).toMatch(/^redis-roar.threads-from-bytes 3mb$/m);
      writeFileSync(join(server.directory, "rewritten.conf"), written);
      await server.restart({ module: null, config: ["include rewritten.conf"] });
      expect(await settingsOf(server)).toEqual({ cpu: "auto", debug: "yes", "segment-bytes": DEFAULTS["segment-bytes"], ...changed });
      await server.stop();
    }
  });
});

describe("CONFIG SET", () => {
  const server = useServer();
  const name = "redis-roar.reply-limit";
  const set = (...values: Argument[]): Promise<Reply> => server.run("CONFIG", "SET", ...values);

  it("accepts reply limits from 1 to 2^32 - 1", async () => {
    for (const limit of ["1", String(MOST), DEFAULTS["reply-limit"]]) {
      await set(name, limit);
      expect(await settingsOf(server)).toEqual({ ...DEFAULTS, "reply-limit": limit });
    }
  });

  it("accepts byte limits from 1024 on, with units", async () => {
    for (const [limit, bytes] of [["1024", 1024], ["64mb", 64 * 2 ** 20], [MOST_BYTES, MOST_BYTES], [DEFAULTS["reply-limit-bytes"], 2 ** 28]]) {
      await set(`${name}-bytes`, limit!);
      expect(await settingsOf(server)).toEqual({ ...DEFAULTS, "reply-limit": "100000000", "reply-limit-bytes": String(bytes) });
    }
  });

  it("accepts times for questions up to a day, and 0 for no limit", async () => {
    for (const time of ["0", "1", String(DAY), DEFAULTS["question-ms"]]) {
      await set("redis-roar.question-ms", time);
      expect(await settingsOf(server)).toEqual({ ...DEFAULTS, "question-ms": time });
    }
  });

  it("refuses anything else, and changes nothing", async () => {
    for (const value of [0, -1, MOST + 1, "many", "", "1e3"]) {
      const text = await server.connection.refusal("CONFIG", "SET", name, value);
      expect(text).toMatch(/^ERR CONFIG SET failed .*redis-roar\.reply-limit.* - argument /);
    }
    for (const value of [0, 1023, "many", ""]) {
      expect(await server.connection.refusal("CONFIG", "SET", `${name}-bytes`, value)).toMatch(/^ERR CONFIG SET failed .*reply-limit-bytes/);
    }
    expect(await server.connection.refusal("CONFIG", "SET", "redis-roar.r64-replies", "integers")).toMatch(/^ERR CONFIG SET .*r64-replies/);
    expect(await server.connection.refusal("CONFIG", "SET", "redis-roar.question-ms", -1)).toMatch(/^ERR CONFIG SET .*question-ms/);
    expect(await server.connection.refusal("CONFIG", "SET", name, 7, "hz", "often")).toMatch(/^ERR CONFIG SET failed .*'hz'/);
    expect(await settingsOf(server)).toEqual(DEFAULTS);
  });

  it("cannot change the CPU level, nor register R.DEBUG", async () => {
    for (const [immutable, value] of [["cpu", "v2"], ["debug", "yes"]]) {
      expect(await server.connection.refusal("CONFIG", "SET", `redis-roar.${immutable}`, value!)).toMatch(/can't set immutable config/);
    }
    expect(await settingsOf(server)).toEqual(DEFAULTS);
    expect(await hasDebug(server)).toBe(false);
  });

  it("is not undone by CONFIG RESETSTAT", async () => {
    await set(name, 77);
    await server.run("CONFIG", "RESETSTAT");
    expect(await settingsOf(server)).toEqual({ ...DEFAULTS, "reply-limit": "77" });
    await set(name, DEFAULTS["reply-limit"]);
  });
});

describe.each(byName(families))("the reply limit: %s", (_, family) => {
  const LIMIT = 5;
  const server = useServer({ config: lines({ "reply-limit": LIMIT }) });
  const roar = roarOn(server, family);
  const TOO_LARGE = (limit: number): string => `ERR Roaring: reply too large: maximum ${limit} elements (redis-roar.reply-limit)`;
  const NO_RANGE = (limit: number): string => `Roaring: range too large: maximum ${limit} elements (redis-roar.reply-limit)`;

  it("applies to every command that lists members", async () => {
    await roar.load("at", range(0, LIMIT, 3));
    await roar.load("over", range(0, LIMIT + 1, 3));
    const five = range(0, LIMIT, 3);
    expect(await roar.run("GETINTARRAY", "at")).toEqual(five);
    expect(await roar.refusal("GETINTARRAY", "over")).toBe(TOO_LARGE(LIMIT));
    expect(await roar.run("RANGE", "at", 0, 1000)).toEqual(five);
    expect(await roar.refusal("RANGE", "over", 0, 1000)).toBe(TOO_LARGE(LIMIT));
    expect(await roar.refusal("RANGE", "over", 0, 1000, "LIMIT", LIMIT + 1)).toBe(TOO_LARGE(LIMIT));
    expect(await roar.run("RANGE", "over", 0, 1000, "LIMIT", LIMIT)).toEqual(five);
    expect(await roar.run("RANGEINTARRAY", "over", 0, LIMIT - 1)).toEqual(five);
    expect(await roar.refusal("RANGEINTARRAY", "over", 0, LIMIT)).toBe(NO_RANGE(LIMIT));
    expect(await roar.refusal("RANGEINTARRAY", "none", 0, LIMIT)).toBe(NO_RANGE(LIMIT));
    expect(await roar.run("SCAN", "over", 0, "COUNT", 1000)).toEqual([String(3 * LIMIT), five]);
    expect(await roar.run("SCAN", "over", 3 * LIMIT)).toEqual(["0", [3 * LIMIT]]);
  });

  it("holds in scripts and transactions, and from the next command on", async () => {
    await roar.load("k", range(0, 3));
    const script = `redis.call("CONFIG", "SET", "redis-roar.reply-limit", 2) return redis.call("${roar.name("GETINTARRAY")}", "k")`;
    const call = [roar.name("GETINTARRAY"), "k"];
    const [, , , , replies] = await server.connection.pipeline(
      [["MULTI"], call, ["CONFIG", "SET", "redis-roar.reply-limit", 2], call, ["EXEC"]]);
    expect((replies as Reply[]).map((reply) => (reply instanceof Error ? reply.message : reply))).toEqual([[0, 1, 2], "OK", TOO_LARGE(2)]);
    expect(await server.connection.refusal("EVAL", `return redis.call("${call[0]!}", "k")`, 1, "k")).toContain(TOO_LARGE(2).slice(4));
    expect(await server.connection.refusal("EVAL", script, 1, "k")).toMatch(/not allowed from script/);
    await server.run("CONFIG", "SET", "redis-roar.reply-limit", LIMIT);
    expect(await roar.run("GETINTARRAY", "k")).toEqual([0, 1, 2]);
  });
});

describe("the reply limit", () => {
  it("does not apply to replicas, RDB files and AOF files", async () => {
    const members = range(0, 20_000, 7);
    const limited = (limit: number, ...config: string[]): Promise<Server> =>
      Server.start({ listens: true, config: [...lines({ "reply-limit": limit }), ...config] });
    const primary = await limited(1, "appendonly yes", "aof-use-rdb-preamble no");
    const replica = await limited(2, `replicaof 127.0.0.1 ${primary.port}`);
    try {
      for (const family of families) {
        const roar = roarOn(primary, family);
        await roar.load(`full:${family.name}`, members);
        await roar.run("BITOP", "OR", `or:${family.name}`, `full:${family.name}`, `full:${family.name}`);
      }
      await inStep(replica, primary);
      const check = async (server: Server): Promise<void> => {
        const before = (await settingsOf(server))["reply-limit"] as string;
        await server.run("CONFIG", "SET", "redis-roar.reply-limit", DEFAULTS["reply-limit"]);
        for (const family of families) {
          for (const key of ["full", "or"]) expect(await roarOn(server, family).members(`${key}:${family.name}`)).toEqual(members);
        }
        await server.run("CONFIG", "SET", "redis-roar.reply-limit", before);
      };
      await check(primary);
      await check(replica);
      expect(await roarOn(replica, R).refusal("GETINTARRAY", "full:R")).toMatch(/maximum 2 elements \(redis-roar\.reply-limit\)$/);
      await rewriteAof(primary);
      await primary.restart();
      await check(primary);
      await primary.run("DEBUG", "RELOAD");
      await check(primary);
    } finally {
      await replica.stop();
      await primary.stop();
    }
  });
});
