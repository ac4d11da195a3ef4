// Tests of the benchmark's parts. Wrong statistics, or data that differs from run to run, would give misleading figures unnoticed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { draw, drawLines } from "../../bench/chart.ts";
import { bitmapOf, clustered, membersOf, noise, randomMembers, runs, scattered, snowflakes } from "../../bench/generators.ts";
import { greatestCalls, type Words } from "../../bench/calls.ts";
import { ALL, type Batch, measure, type Timed } from "../../bench/measure.ts";
import { Pinging } from "../../bench/pinging.ts";
import { origin, renewed, type Results } from "../../bench/results.ts";
import { advantage, type Row } from "../../bench/row.ts";
import { type CommandStatistics, median, parseCommandStatistics, parseTails, quantile } from "../../bench/statistics.ts";
import { Contender } from "../../bench/contender.ts";
import { type Cast, casts, restoring, SIZES } from "../../bench/shapes.ts";
import { COSTS, describe as described, inBrief, MAIN_THREAD } from "../../bench/suites/costs.ts";
import { uses } from "../../bench/suites/commands.ts";
import { drawn, ranks, sizeOf, universes } from "../../bench/suites/longtail.ts";
import { asQuery, asScript, questionsOver } from "../../bench/suites/questions.ts";
import { asCommand, loadWorst, worstKeys, worstQuestions } from "../../bench/suites/worst.ts";
import { withTables } from "../../bench/tables.ts";
import { shortfalls } from "../../bench/targets.ts";
import { type Arg, commands } from "../../host/table/commands.ts";
import { bytesOf, type Command, encode, type Reply, ReplyError } from "../support/resp.ts";
import { byName, useServer } from "../support/suite.ts";
import { families, offsetCount, R } from "../support/family.ts";
import { projectRoot, withDebug } from "../support/server.ts";
import { Edges } from "../model/oracle/edges.ts";
import { evaluate, parse } from "../model/oracle/expression.ts";

const onesIn = (bitmap: Buffer): number => bitmap.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);

describe("statistics", () => {
  it("are parsed from INFO commandstats", () => {
    const info = "# Commandstats\r\ncmdstat_R.BITOP:calls=3,usec=17,usec_per_call=5.67,rejected_calls=0,failed_calls=2\r\n"
      + "cmdstat_config|resetstat:calls=1,usec=20,usec_per_call=20.00,rejected_calls=0,failed_calls=0\r\n";
    expect(parseCommandStatistics(info)).toEqual(new Map([
      ["r.bitop", { calls: 3, failed: 2, microseconds: 17 }],
      ["config|resetstat", { calls: 1, failed: 0, microseconds: 20 }],
    ]));
  });

  it("are parsed from INFO latencystats", () => {
    const info = "# Latencystats\r\nlatency_percentiles_usec_R.SETBIT:p99.9=12.031\r\nlatency_percentiles_usec_config|set:p99.9=20.095\r\n";
    expect(parseTails(info)).toEqual(new Map([["r.setbit", 12.031], ["config|set", 20.095]]));
  });

  it("include medians and quantiles of unsorted values", () => {
    expect(median([10, 9, 2])).toBe(9);
    expect(median([10, 9, 2, 100])).toBe(9.5);
    const values = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([0, 0.5, 0.99, 1].map((p) => quantile(values, p))).toEqual([1, 50, 99, 100]);
  });

  it("report an advantage above 1 both for less time and for a higher rate", () => {
    const row = (unit: Row["unit"], native: number, ours: number): Row => ({ data: "d", what: "w", unit, values: { native, ours } });
    expect(advantage(row("µs", 6, 2), "native", "ours")).toBe(3);
    expect(advantage(row("commands/s", 2, 6), "native", "ours")).toBe(3);
    expect(advantage(row("µs", 6, 2), "another", "ours")).toBeUndefined();
  });

  it("list the rows that are below their targets", () => {
    const row = (native: number): Row => ({ data: "census1881", what: "NOT", unit: "µs", values: { native, "redis-roar": 1 } });
    expect(shortfalls([row(5)])).toEqual([]);
    expect(shortfalls([row(4)])).toEqual(["census1881, NOT: 4.00x native, target 5x"]);
  });

  it("list the calls that hold up other clients for too long", () => {
    const row = (what: string, ours: number): Row => ({ data: COSTS, what, unit: "ms", values: { "redis-roar": ours } });
    expect(shortfalls([row("R.MIN A", 50), row(`R.MIN A${MAIN_THREAD}`, 51)])).toEqual([]);
    expect(shortfalls([row("R.MIN A", 50.06)])).toEqual(["R.MIN A: PING waited 50.1 ms, target 50 ms"]);
  });
});

describe("results that are renewed in part", () => {
  const row = (data: string, what: string, ours: number): Row => ({ data, what, unit: "µs", values: { ours } });
  const machine = { processor: "fast", cores: 2, memoryGiB: 4, redis: "7.0.15", date: "2026-01-01", commit: "aaa" };
  const whole: Results = { machine, contenders: ["ours"], rows: [row("a", "1", 1), row("b", "1", 2), row("b", "gone", 3), row("c", "1", 4)] };
  const run: Results = {
    machine: { ...machine, date: "2026-02-02", commit: "bbb" }, contenders: ["ours"], rows: [row("d", "1", 5), row("b", "1", 6), row("b", "new", 7)],
  };

  it("have the new rows where the old ones of the same data were, and new data at the end", () => {
    expect(renewed(whole, run).rows).toEqual([row("a", "1", 1), row("b", "1", 6), row("b", "new", 7), row("c", "1", 4), row("d", "1", 5)]);
  });

  it("say which rows are from when, also when they are renewed again", () => {
    const once = renewed(whole, run), last = { ...run.machine, date: "2026-03-03" };
    expect(origin(once, once.rows.filter(({ data }) => data === "a"))).toBe("fast, 2 cores, redis-server 7.0.15, 2026-01-01, commit aaa");
    expect(origin(once, once.rows.filter(({ data }) => data === "b"))).toBe("fast, 2 cores, redis-server 7.0.15, 2026-02-02, commit bbb");
    const twice = renewed(once, { machine: last, contenders: ["ours"], rows: [row("a", "1", 8)] });
    expect(origin(twice, twice.rows)).toBe(
      "fast, 2 cores, redis-server 7.0.15, 2026-01-01, commit aaa (some data: 2026-03-03, commit bbb; 2026-02-02, commit bbb)");
  });

  it("must be of the same modules", () => {
    expect(() => renewed(whole, { ...run, contenders: ["ours", "peer"] })).toThrow("the results to renew are of ours, not of ours, peer");
  });
});

describe("measuring", () => {
  /** A command takes `cost` microseconds, multiplied by `slow` in some turns. */
  interface Costs {
    readonly cost: number;
    readonly slow?: (turn: number) => number;
    readonly failed?: number;
  }
  class Fake implements Timed {
    turns = 0;
    readonly name: string;
    readonly #costs: Costs;
    #statistics = new Map<string, CommandStatistics>();
    constructor(name: string, costs: Costs) {
      this.name = name;
      this.#costs = costs;
    }

    async run(batch: readonly Command[]): Promise<Reply[]> { return batch.map(() => "OK"); }
    async drain(encoded: Buffer): Promise<void> {
      const text = encoded.toString("latin1"), { cost, slow = () => 1, failed = 0 } = this.#costs;
      for (const name of ["timed", "other"]) {
        const calls = text.split(`$5\r\n${name}\r\n`).length - 1;
        if (calls > 0) this.#statistics.set(name, { calls, failed, microseconds: calls * cost * slow(this.turns) });
      }
      log.push(this.name);
      this.turns++;
    }

    async resetStatistics(): Promise<void> { this.#statistics.clear(); }
    async statistics(): Promise<Map<string, CommandStatistics>> { return this.#statistics; }
  }
  const log: string[] = [];
  const batch = (): Batch => ({ timed: "TIMED", commands: [["other"], ["timed"]] });

  it("finds the time of a call even if many turns are disturbed", async () => {
    const few = new Fake("few", { cost: 3000, slow: (turn) => turn % 5 ? 1 : 7 });
    const many = new Fake("many", { cost: 4000, slow: (turn) => turn % 5 < 2 ? 7 : 1 });
    expect(await measure([few, many], batch)).toEqual({ few: 3000, many: 4000 });
  });

  it("uses turns of many calls if calls are short", async () => {
    const short = new Fake("short", { cost: 0.25 });
    const calls: number[] = [], drain = short.drain.bind(short);
    short.drain = async (encoded) => void (calls.push(encoded.toString("latin1").split("timed").length - 1), await drain(encoded));
    expect(await measure([short], batch)).toEqual({ short: 0.25 });
    expect(calls.slice(-2)).toEqual([1, 1000]);               // a warm-up, then a turn of 2000 calls of which half are timed
  });

  it("gives all contenders equally many turns and lets each of them begin a round", async () => {
    const contenders = ["a", "b", "c", "d"].map((name) => new Fake(name, { cost: 60_000 }));
    log.length = 0;
    await measure(contenders, (contender) => contender.name === "c" ? null : batch());
    const turns = log.slice(3).join("");                      // without the first trial of each
    expect(turns).toMatch(/^(abdbdadab)+(abd(bda)?)?$/);
    expect(turns.length).toBeGreaterThanOrEqual(15);
  });

  it("adds up the time of all commands of a batch", async () => {
    const all: Batch = { timed: ALL, commands: [["other"], ["timed"], ["other"]] };
    expect(await measure([new Fake("a", { cost: 0.5 }), new Fake("b", { cost: 3000 })], () => all))
      .toEqual({ a: 1.5, b: 9000 });
    await expect(measure([new Fake("a", { cost: 5, failed: 2 })], () => all)).rejects.toThrow(/a: 4 of \d+ \* failed/);
  });

  it("fails if a command is answered with an error or does not run", async () => {
    await expect(measure([new Fake("a", { cost: 5, failed: 2 })], batch)).rejects.toThrow(/a: 2 of \d+ TIMED failed/);
    await expect(measure([new Fake("a", { cost: 5 })], () => ({ timed: "NONE", commands: [["other"]] }))).rejects.toThrow(/no NONE/);
  });
});

describe("generators", () => {
  it.each<[string, (seed: number) => unknown]>([
    ["noise", (seed) => noise(seed, 10_000, 26)],
    ["runs", (seed) => runs(seed, 10_000, 5, 30)],
    ["clustered", clustered(10_000, 128, 10, 20, 2)],
    ["scattered", (seed) => scattered(seed, 10_000, 100)],
    ["snowflakes", (seed) => snowflakes(seed, 100)],
    ["randomMembers", (seed) => randomMembers(seed, 100)],
  ])("%s gives equal data for equal seeds and different data for different seeds", (_, make) => {
    expect(make(1)).toEqual(make(1));
    expect(make(1)).not.toEqual(make(2));
  });

  it.each([26, 128, 200])("noise sets a share of %i/256 of the bits", (share) => {
    const bits = 2 ** 20, ones = onesIn(noise(7, bits, share)), deviation = Math.sqrt(bits * (share / 256) * (1 - share / 256));
    expect(Math.abs(ones - (bits * share) / 256)).toBeLessThan(5 * deviation);
  });

  it("noise of different seeds is uncorrelated", () => {
    const bits = 2 ** 20, six = [1, 2, 3, 4, 5, 6].map((seed) => noise(seed, bits, 128));
    const ones = onesIn(Buffer.from(six[0]!.map((_, i) => six.reduce((both, bitmap) => both & bitmap[i]!, 0xff))));
    expect(Math.abs(ones - bits / 64)).toBeLessThan(5 * Math.sqrt(bits / 64));
  });

  it("runs have lengths in the given range", () => {
    const text = [...runs(3, 100_000, 20, 60)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
    const lengths = text.slice(0, text.lastIndexOf("01")).split(/0+/).filter((run) => run !== "").map((run) => run.length);
    expect(lengths.length).toBeGreaterThan(500);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(20);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(60);
  });

  it("clustered bitmaps have their clusters in common, with gaps between them", () => {
    const bits = 800_000, days = [1, 2, 3].map(clustered(bits, 128, 10, 100, 20));
    const any = days[0]!.map((byte, i) => byte | days[1]![i]! | days[2]![i]!);
    for (const day of days) expect(onesIn(day) / onesIn(Buffer.from(any))).toBeCloseTo(4 / 7, 1);
    expect(onesIn(Buffer.from(any)) / bits).toBeLessThan(1 / 15);
    expect(days[0]).toHaveLength(bits / 8);
  });

  it("bitmapOf sets the bits that native SETBIT would set", () => expect(bitmapOf([0, 9, 23])).toEqual(Buffer.from([0x80, 0x40, 0x01])));

  it("snowflakes ascend in time", () => {
    const times = snowflakes(1, 1000).map((id) => id >> 22n);
    expect(times).toEqual([...times].sort((a, b) => Number(a - b)));
  });
});

describe("the long tail", () => {
  it.each(byName([...universes]))("%s: draws as many members as asked for, none twice, in no order", (_, { ids, draw: members }) => {
    for (const count of [1, 7000, 10_000]) {
      const found = members(5, count);
      expect(new Set(found).size).toBe(count);
      if (ids !== undefined) expect(found.every((id) => id >= 0 && id < ids)).toBe(true);
      if (count > 1) expect(found).not.toEqual([...found].sort((a, b) => (a < b ? -1 : 1)));
      expect(members(5, count)).toEqual(found);
    }
  });

  it("draws few ids without more than half of them", () => expect(drawn(1, 10, 9)).toHaveLength(9));

  it("has most keys of a site with few members, and the same shape in a sample of its keys", () => {
    const share = (keys: number): number => ranks(keys).filter((rank) => sizeOf(rank) <= 20).length / keys;
    expect(sizeOf(1)).toBe(100_000);
    expect(ranks(1_000_000)[0]).toBe(1);
    expect(share(1_000_000)).toBeCloseTo(0.958, 3);
    expect(share(10_000)).toBeCloseTo(share(1_000_000), 3);
  });

  it("is drawn as lines that ascend with the values, in panels that share their scales", () => {
    const line = (...points: [number, number][]) => ({ label: "a < b", points });
    const svg = drawLines({
      title: "t", subtitle: "", xTitle: "x", footnote: "", formatX: String, formatY: String,
      panels: [{ title: "left", lines: [line([1, 1], [100, 10])] }, { title: "right", lines: [line([1, 10], [100, 1000])] }],
    });
    const paths = [...svg.matchAll(/d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"/g)].map((match) => match.slice(1).map(Number));
    expect(paths).toHaveLength(2);
    type Path = [number, number, number, number];
    const [x0, y0, x1, y1] = paths[0] as Path, [u0, v0, u1, v1] = paths[1] as Path;
    expect(x1 - x0).toBeCloseTo(u1 - u0, 0);
    expect(x1).toBeLessThan(u0);
    expect(y0 - y1).toBeCloseTo((v0 - v1) / 2, 0);
    expect(y1).toBeCloseTo(v0, 0);
    expect(svg).toContain("a &lt; b");
  });
});

describe("the worst calls", () => {
  // Small limits, so that what is refused for its size is refused at once.
  const server = useServer({ moduleArguments: [...withDebug, "REPLY-LIMIT", "1000", "QUESTION-MS", "50"] });
  const REFUSED = /^(ERR Roaring: (reply too large|string too long|the question took longer)|Roaring: (range too large|key already exist|key does not exist)|ERR Roaring: a (bit of the string|member) would)/;
  const cast: Cast = {
    index: 0, family: families[0]!, shape: "lone", size: 300, span: 2n ** 32n, many: ["aa", "ba"], sameAsSmaller: false, bytes: new Map(),
    payload: Buffer.from("payload"),
  };
  const tokensOf = ({ token, of = [] }: Arg): string[] => [...(token === undefined ? [] : [token]), ...of.flatMap(tokensOf)];
  const lengthOf = (call: Words): number => encode(call).length;

  it.each(byName(commands))("%s: its calls have all its keywords, and one of them as many arguments as 64 KB hold if it takes any number", (_, row) => {
    const calls = greatestCalls(row, cast), words = new Set(calls.flat().map(String));
    expect(calls.length).toBeGreaterThan(0);
    for (const token of row.args.flatMap(tokensOf)) expect(words).toContain(token);
    const longest = Math.max(...calls.map(lengthOf));
    if (row.args.some(({ multiple }) => multiple)) expect(longest).toBeGreaterThan(60_000);
    expect(longest).toBeLessThan(70_000);
  });

  it("count as far as any limit, in both directions", () => {
    const [draws, most] = ["RANDMEMBER", "POPMIN"].map((name) => greatestCalls(commands.find((row) => row.name === name)!, cast).map(([, count]) => count));
    expect(most).toEqual(expect.arrayContaining([undefined, 20_000_000n, 2n ** 63n - 1n]));
    expect(draws).toEqual(expect.arrayContaining([...most!, -20_000_000n, 1n - 2n ** 63n]));
  });

  it.each(byName(families))("%s: ask valid expressions, of each kind on some data", (_, family) => {
    const query = commands.find(({ name }) => name === "QUERY")!, kinds = new Set<string>();
    for (let index = 0; index < 8; index++) {
      for (const [text, keys] of greatestCalls(query, { ...cast, family, span: family.last + 1n, index })) {
        expect(parse(String(text), Number(keys), family.last), String(text).slice(0, 100)).toBeDefined();
        if (lengthOf([text!]) > 50_000) kinds.add(String(text).replaceAll(/\d+/g, "").slice(0, 20) + String(keys));
      }
    }
    expect(kinds.size).toBeGreaterThan(150);
  });

  it.each(byName(families))("%s: have keys of the shapes and sizes that they say, and are valid", async (_, family) => {
    const found: string[] = [];
    for await (const one of casts(server.connection, family)) {
      const { shape, size, bytes, many } = one, name = `${shape}, ${size}`, own = bytes.get("A") ?? 0;
      found.push(name);
      expect(await server.run("EXISTS", "A", "B", ...many), name).toBe(shape === "missing" ? 0 : 2 + many.length);
      for (const key of ["A", many[0]!]) if (bytes.has(key)) expect(await server.usage(key)).toBe(bytes.get(key));
      if (size > 0) {
        expect(own, name).toBeLessThanOrEqual(size);
        if (!one.sameAsSmaller && !(shape === "lone" && size === SIZES[2])) expect(own, name).toBeGreaterThan(size / 4);
        const sum = many.reduce((all, key) => all + bytes.get(key)!, 0);
        expect(sum, name).toBeGreaterThan(size / 2);
        expect(sum, name).toBeLessThan(size * 1.5);
      }
      if (size > SIZES[0]) expect(await kindsOf("A"), name).toEqual([KINDS[shape]]);
      if (shape === "full span") expect(String(await server.run(`${family.name}.BITCOUNT`, "A"))).toBe(String(offsetCount(family)));
      if (size <= SIZES[0]) await expectValid(one);
    }
    const shapes = family === R ? Object.keys(KINDS) : ["range", "full span", "lone", "sparse"];
    expect(new Set(found.map((name) => name.split(",")[0]))).toEqual(new Set(["missing", "empty", ...shapes]));
    expect(found).toHaveLength(2 + SIZES.length * shapes.length - (family === R ? 1 : 0));     // no bitset takes 300 bytes
  });

  const KINDS: Readonly<Record<string, string>> = {
    range: "run", "full span": "run", lone: "array", arrays: "array", sparse: "array", bitsets: "bitset", runs: "run",
  };
  /** Of which kinds the containers of a key are. */
  async function kindsOf(key: string): Promise<string[]> {
    const stat = JSON.parse(String(await server.run("R.STAT", key, "JSON"))) as Record<string, { number_of_containers: string }>;
    return ["array", "bitset", "run"].filter((kind) => stat[`${kind}_container`]!.number_of_containers !== "0");
  }

  /** The first and the last call of each command, but those with a long expression. None may be refused for its syntax. */
  async function expectValid(one: Cast): Promise<void> {
    for (const row of commands) {
      const calls = greatestCalls(row, one).filter((words) => !words.some((word) => typeof word === "string" && /^[^01].{1000}/.test(word)));
      for (const words of new Set([calls[0]!, calls.at(-1)!])) {
        const call = [`${one.family.name}.${row.name}`, ...words];
        const reply = (await server.connection.pipeline([...restoring, call])).at(-1);
        if (reply instanceof ReplyError) expect(reply.message, `${inBrief(call)}, ${one.shape}`).toMatch(REFUSED);
      }
    }
  }

  it("are named in brief", () => {
    expect(inBrief(["R.MIN", "A"])).toBe("R.MIN A");
    expect(inBrief(["R.QUERY", `one(${"#1,".repeat(50)}#2)`, 2, "A", "B"])).toBe("R.QUERY one(#1,#1,#1,#1,#1,#1,#1,#1,#1,#...1,#1,#2) 2 A B");
    expect(inBrief(["R.IMPORT", "A", Buffer.alloc(9)])).toBe("R.IMPORT A (9 bytes)");
    expect(inBrief(["R.MBITCOUNT", ..."abcdefghi"])).toBe("R.MBITCOUNT a b c d e ... h i");
  });

  it("are listed in docs/performance.md, the longest wait first", () => {
    const [page, recorded] = ["docs/performance.md", "docs/bench/results.json"].map((file) => readFileSync(join(projectRoot, file), "utf8"));
    const results = JSON.parse(recorded!) as Results, words = ["R.QUERY", "#1|#2", 2, "A", "B"];
    const rows = [["runs", 9.87], ["lone", 1234.5]].flatMap(([shape, wait]): Row[] => ["", MAIN_THREAD].map((of) =>
      ({ data: COSTS, what: described(words, 7000, String(shape)) + of, unit: "ms", values: { "redis-roar": Number(wait) / (of ? 2 : 1) } })));
    const others = results.rows.filter(({ data }) => data !== COSTS);
    expect(withTables(page!, { ...results, rows: [...others, ...rows] })).toContain([
      "| `R.QUERY #1\\|#2 2 A B` | lone | 49 | 7,000 | 1,230 | 617 |", "| `R.QUERY #1\\|#2 2 A B` | runs | 49 | 7,000 | 9.9 | 4.9 |",
    ].join("\n"));
  });

  it("are measured by what a PING waits, and by what the main thread computes meanwhile", async () => {
    const pinging = await Pinging.of(server);
    const idle = await pinging.during(async () => void await server.run("DEBUG", "SLEEP", "0.3"));
    expect(idle.ping).toBeGreaterThan(290);
    expect(idle.main).toBeLessThan(200);
    const busy = `local t = redis.call("TIME") local function now() local n = redis.call("TIME") return (n[1] - t[1]) * 1000000 + n[2] - t[2] end
      while now() < 300000 do end`;
    const computing = await pinging.during(async () => void await server.run("EVAL", busy, "0"));
    expect(computing.ping).toBeGreaterThan(290);
    expect(computing.main).toBeGreaterThan(20);
    pinging.close();
    await expect(pinging.during(async () => {})).rejects.toThrow("the process that sends PINGs has ended");
  });
});

it("the benchmark has a row for every command", () => expect(Object.keys(uses).sort()).toEqual(commands.map(({ name }) => name).sort()));

it("a chart draws values above the origin to the right and values below it to the left", () => {
  const svg = draw({
    title: "a < b", subtitle: "", origin: 1, footnote: "", format: (value) => `${value}x`,
    groups: [{ title: "g", bars: [{ label: "ahead", value: 10 }, { label: "behind", value: 0.1 }] }],
  });
  const bars = [...svg.matchAll(/<rect class="(more|less)" x="([\d.]+)" y="\d+" width="([\d.]+)"/g)]
    .map(([, side, x, width]) => ({ side, x: Number(x), width: Number(width) }));
  expect(bars.map(({ side }) => side)).toEqual(["more", "less"]);
  expect(bars[1]!.x + bars[1]!.width).toBeCloseTo(bars[0]!.x, 0);
  expect(bars[0]!.width).toBeCloseTo(bars[1]!.width, 0);
  expect(svg).toContain("a &lt; b");
});

describe("questions", () => {
  const server = useServer(), sets = 8;
  const contender = (prefix: "" | "R." | "R64."): Contender => new Contender(prefix, prefix, server, new Set());

  it("that are the worst are answered correctly, with as many operands as the suite uses", async () => {
    for (const family of families) {
      const one = contender(`${family.name}.` as "R." | "R64.");
      await loadWorst(one);
      for (const { operands, sources, ask, what } of worstQuestions) {
        for (const n of [operands, 10 * operands]) {
          expect(Number(await server.run(...asCommand(one, ask(n), worstKeys(one, sources(n)))))).not.toBeNaN();
        }
        const few = 10, keys = worstKeys(one, sources(few)), tree = parse(ask(few) || `any(#1..#${few})`, keys.length, family.last);
        const membersAt = async (key: string): Promise<bigint[]> =>
          ((await server.run(one.named("GETINTARRAY"), key)) as Reply[]).map((at) => BigInt(at as number));
        const held = (await Promise.all(keys.map(membersAt))).map((members) => Edges.of(members));
        const expected = evaluate(tree!, held, family.last).count();
        expect(BigInt(String(await server.run(...asCommand(one, ask(few), keys)))), `${family.name}: ${what}`).toBe(expected);
      }
      await server.run("FLUSHALL");
    }
  });

  it.each(byName(questionsOver(sets).map((question) => ({ name: `${question.page ? "a page of " : ""}${question.expression}`, question }))))(
    "%s has the same answer as one command and as scripts", async (_, { question }) => {
      const keysOf = (one: Contender): string[] => Array.from({ length: sets }, (_unused, i) => one.key("set", i));
      const native = contender(""), keys = keysOf(native), modules = [contender("R."), contender("R64.")];
      for (const [i, key] of keys.entries()) {
        await server.run("SET", key, noise(i + 1, 20_000 - 1000 * i, 100));
        for (const one of modules) await server.run(one.named("FROMBITMAP"), one.key("set", i), key);
      }
      const [ours] = modules, answer = await server.run(...asQuery(ours!, question, keysOf(ours!)));
      expect(question.page ? (answer as unknown[]).length : Number(answer)).toBeGreaterThanOrEqual(100);
      for (const one of [native, ...modules]) {
        const replies = await one.run(asScript(one, question, keysOf(one)));
        const found = replies.at(-2), pageOf = (reply: Reply): number[] => membersOf(bytesOf(reply)).slice(0, 100);
        expect(question.page && one.native ? pageOf(found!) : found, one.name).toEqual(answer);
        expect(replies.at(-1), "deleted").toBe(new Set(question.script(!one.native).map(([, to]) => to)).size);
      }
      expect(await server.run("KEYS", "*temporary*")).toEqual([]);
    });
});
