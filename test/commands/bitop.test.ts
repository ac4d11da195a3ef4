import { describe, expect, it } from "vitest";
import { itWrites, keyAt, refusals } from "../support/contract.ts";
import { asReply, member, type Member, notOffsets, otherThan, range, sorted } from "../support/family.ts";
import { combine, leastSources, type Operation, operations } from "../support/model.ts";
import { noEffects, oneChange } from "../support/observer.ts";
import { ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { loadSources, sourceModel as model, sourceNames as names, sources } from "../support/sources.ts";
import { again, arityError, describeCommand, expectEqual, lastError, SYNTAX, WRONGTYPE } from "../support/suite.ts";
import { noKeyRights, serverName } from "../support/version.ts";

const everyOperation = [...operations, "NOT"] as const;

/** Missing keys, as many as the operation needs: NOT takes one source, every other operation accepts two. */
const missingSources = (operation: string) => (operation === "NOT" ? ["none"] : ["none", "none2"]);

const known = new Map<string, Member[]>();

/** The members that the operation yields for these sources. Computed once and used for both families. */
function expectedOf(operation: Operation, keys: readonly string[]): Member[] {
  const question = [operation, ...keys].join();
  const answer = known.get(question) ?? combine(operation, keys.map(model));
  known.set(question, answer);
  return answer;
}

describeCommand("BITOP", (suite) => {
  const { run, refusal, roar, family, server, effects, name, protocol } = suite;
  const loadAll = () => loadSources(suite);

  it.each(everyOperation)("%s of missing keys creates an empty destination", async (operation) => {
    await roar.load("d", [1, 2]);
    expect(await run(operation, "d", ...missingSources(operation))).toBe(0);
    expect(await server.run("EXISTS", "d", "none", "none2")).toBe(1);
    expect(await server.run("TYPE", "d")).toBe(family.type);
    expect(await roar.members("d")).toEqual([]);
  });

  it("treats a missing source as an empty bitmap", async () => {
    await roar.load("a", [1, 2]);
    expect(await run("OR", "d", "none", "a")).toBe(2);
    expect(await run("XOR", "d", "a", "none")).toBe(2);
    expect(await run("ONE", "d", "a", "none")).toBe(2);
    expect(await run("DIFF", "d", "a", "none")).toBe(2);
    expect(await run("DIFF1", "d", "none", "a")).toBe(2);
    expect(await run("AND", "d", "a", "none")).toBe(0);
    expect(await run("ANDOR", "d", "a", "none")).toBe(0);
  });

  it.each([["DIFF", []], ["DIFF1", [1, 2, 9]], ["ANDOR", []]] as const)("%s knows a missing first source from those that follow", async (operation, left) => {
    await roar.load("a", [1, 2]);
    await roar.load("b", [2, 9]);
    await roar.load("d", [5]);
    expect(await run(operation, "d", "none", "a", "b")).toBe(left.length);
    expect(await roar.members("d")).toEqual(left);
    expect(await roar.run("BITOPCARD", operation, "none", "a", "b")).toBe(left.length);
    expect(await run(operation, "a", "none", "a")).toBe(operation === "DIFF1" ? 2 : 0);
    expect(await roar.members("a")).toEqual(operation === "DIFF1" ? [1, 2] : []);
  });

  it.skipIf(protocol === 3).each(operations)("%s of every pair of sources, and of all of them, equals the model", async (operation) => {
    await loadAll();
    const expectResult = async (keys: string[]) => {
      const expected = expectedOf(operation, keys);
      expect(await run(operation, "d", ...keys), keys.join(" ")).toBe(expected.length);
      expectEqual(await roar.members("d"), expected, keys.join(" "));
    };
    for (const a of names) for (const b of names) await expectResult([a, b]);
    await expectResult(names);
    await expectResult([...names].reverse());
    if (leastSources(operation) === 1) for (const a of names) await expectResult([a]);
    else expect(await refusal(operation, "d", names[0]!)).toBe(arityError(name));
    for (const key of names) expectEqual(await roar.members(key), sorted(model(key)), "a source");
  });

  // A source that is named among eight or more is looked for among the others, up to sixteen by comparison and beyond by hashing.
  it.skipIf(protocol === 3).each(operations)("%s of sources that are named several times equals the model", async (operation) => {
    await loadAll();
    const few = ["array", "bitset", "run"], some = ["sparse", "array", "bitset", "full", "far"];
    const lists = [
      [...few, ...few, ...few], ["array", "array", "array", "array", "array", "array", "array", "array"],
      [...some, ...few], [...few, "empty", "empty", "none", "none", "sparse"], [...names, "run", "run", ...names],
      [...names, ...names, ...some, ...some, ...some], ["far", ...few, ...few, ...few, ...few, ...few, "full"],
    ];
    for (const keys of lists) {
      const expected = expectedOf(operation, keys);
      expect(await roar.run("BITOPCARD", operation, ...keys), keys.join(" ")).toBe(expected.length);
      expect(await run(operation, "d", ...keys), keys.join(" ")).toBe(expected.length);
      expectEqual(await roar.members("d"), expected, keys.join(" "));
    }
  });

  const onlyOnce = it.skipIf(protocol === 3 || (family.bits === 64 && !again));
  onlyOnce.each(operations)("%s of containers with a thousand or more runs equals the model", async (operation) => {
    // The complement of scattered members consists of runs. A result with too many runs must be stored as another kind of container.
    const universe = range(0, 65_536);
    const holes = {
      r1: range(5, 1500, 43), r2: range(20, 1550, 41), r3: range(7, 40, 1500), r4: range(5, 1100, 59), r5: range(33, 1120, 58),
    };
    const models = new Map<string, ReadonlySet<Member>>([["array", model("array")], ["bitset", model("bitset")]]);
    await loadAll();
    for (const [key, members] of Object.entries(holes)) {
      await roar.load("holes", members);
      expect(await run("NOT", key, "holes", 65_535)).toBe(65_536 - members.length);
      const gaps = new Set(members);
      models.set(key, new Set(universe.filter((m) => !gaps.has(m))));
    }
    const pairs = [["r1", "r2"], ["r4", "r5"], ["r1", "r3"], ["r1", "array"], ["r4", "bitset"]];
    const more = [["r1", "r2", "r3"], ["r4", "r5", "array"], ["r2", "r1", "bitset", "r1"], [...models.keys()]];
    for (const of of [...pairs, ...pairs.map((pair) => [...pair].reverse()), ...more]) {
      const expected = combine(operation, of.map((key) => models.get(key)!));
      expect(await run(operation, "d", ...of), of.join(" ")).toBe(expected.length);
      expectEqual(await roar.members("d"), expected, of.join(" "));
    }
  });

  it.each(operations)("%s can store into one of its sources", async (operation) => {
    for (const at of [0, 1, 2]) {
      await loadAll();
      const keys = ["bitset", "run", "array"];
      const expected = expectedOf(operation, keys);
      expect(await run(operation, keys[at]!, ...keys)).toBe(expected.length);
      expect(await roar.members(keys[at]!)).toEqual(expected);
    }
    await loadAll();
    const twice = combine(operation, [model("array"), model("array")]);
    expect(await run(operation, "array", "array", "array")).toBe(twice.length);
    expect(await roar.members("array")).toEqual(twice);
  });

  it("accepts the operation in upper, lower and mixed case", async () => {
    await roar.load("a", [1, 2]);
    expect(await run("or", "d", "a")).toBe(2);
    expect(await run("AnDoR", "d", "a", "a")).toBe(2);
    expect(await run("Not", "d", "a")).toBe(1);
  });

  it.each(["AND", "OR", "XOR", "ONE"])("%s of one source copies it", async (operation) => {
    await loadAll();
    for (const key of names) {
      expect(await run(operation, "d", key), key).toBe(sources[key]!.length);
      expectEqual(await roar.members("d"), sorted(model(key)), key);
      expect(await run(operation, key, key), key).toBe(sources[key]!.length);
      expectEqual(await roar.members(key), sorted(model(key)), key);
    }
    await roar.run("SETFULL", "everything");
    await run(operation, "d", "everything");
    expect(await roar.run("CONTAINS", "d", "everything", "EQ")).toBe(1);
  });

  it("accepts a thousand sources, and refuses 70,000", async () => {
    const keys = range(0, 1000).map((i) => `s${i}`);
    await server.connection.pipeline(keys.map((key, i) => [roar.name("SETINTARRAY"), key, i * 1000, 7, 65_536 * i]));
    const models = keys.map((_, i) => new Set([i * 1000, 7, 65_536 * i]));
    for (const operation of operations) {
      expect(await run(operation, "d", ...keys)).toBe(combine(operation, models).length);
    }
    const flood = Array<string>(70_000).fill("s1"); // more than one call into the core accepts
    await expect(roar.connection.call([name, "OR", "d2", ...flood])).rejects.toThrow(/^ERR .*sources/);
    expect(await server.run("EXISTS", "d2")).toBe(0);
  });

  describe("NOT", () => {
    it("flips up to the greatest member", async () => {
      await roar.load("a", [1, 3, 70_000]);
      expect(await run("NOT", "d", "a")).toBe(69_998);
      const flipped = await roar.members("d");
      expect(flipped.slice(0, 4)).toEqual([0, 2, 4, 5]);
      expect(flipped.at(-1)).toBe(69_999);
      await roar.load("a", range(0, 10));
      expect(await run("NOT", "d", "a")).toBe(0);
    });

    it("flips up to a given last offset, or up to the greatest member if that is larger", async () => {
      await roar.load("a", [1, 3]);
      expect(await run("NOT", "d", "a", 5)).toBe(4);
      expect(await roar.members("d")).toEqual([0, 2, 4, 5]);
      expect(await run("NOT", "d", "a", 0)).toBe(2);
      expect(await roar.members("d")).toEqual([0, 2]);
      expect(await run("NOT", "d", "none", 3)).toBe(4);
      expect(await run("NOT", "d", "none", 65_535)).toBe(65_536);
      expect(await run("NOT", "d", "none", 65_536)).toBe(65_537);
    });

    it.each([
      [["NOT", "a", "b", 100], ["a", "b"]],
      [["not", "a", "b", 100], ["a", "b"]],
      [["NOT", "a", "b"], ["a", "b"]],
      [["NOT", "a", "b", "x", 2], ["a", "b"]],
      [["NOTE", "a", "b", 100], ["a", "b", "100"]],
      [["", "a", "b", 100], ["a", "b", "100"]],
      ...operations.map((operation) => [[operation, "NOT", "b", "NOT", 100], ["NOT", "b", "NOT", "100"]]),
    ])("has its keys found by COMMAND GETKEYS, and `last` is none of them: %j", async (call, keys) => {
      expect(await server.run("COMMAND", "GETKEYS", name, ...call)).toEqual(keys);
    });

    it("needs the right to write its destination and to read its source, and no right for `last`", async ({ skip }) => {
      if (noKeyRights) skip(noKeyRights);
      await server.run("ACL", "SETUSER", "guest", "on", "nopass", "reset", "on", "nopass", "+@all", "%W~a", "%R~b");
      await roar.load("b", [1]);
      const connection = await server.connect();
      await connection.run("AUTH", "guest", "any");
      expect(await connection.run(name, "NOT", "a", "b", 100)).toBe(100);
      for (const [to, from] of [["c", "b"], ["b", "b"], ["a", "a"], ["a", "c"], ["a", 100]]) {
        expect(await connection.refusal(name, "NOT", to!, from!, 100), `${to} ${from}`).toMatch(/^NOPERM/);
      }
      expect(await connection.refusal(name, "OR", "a", "b", 100)).toMatch(/^NOPERM/);
      expect(await connection.refusal(name, "NOTE", "a", "b", 100)).toMatch(/^NOPERM/);
      expect(await connection.refusal(name, "NOT", "a", "b", 100, "c")).toBe(arityError(name));
      connection.close();
    });

    it("flips a bitmap in place and restores it when applied again", async () => {
      await roar.load("a", sources.bitset!);
      const last = 200_000;
      expect(await run("NOT", "a", "a", last)).toBe(last + 1 - 6000);
      expect(await run("NOT", "a", "a", last)).toBe(6000);
      expect(await roar.members("a")).toEqual(sources.bitset);
    });

    it("flips the whole 32-bit range", async () => {
      await roar.load("a", [5, 4_000_000_000]);
      expect(await run("NOT", "d", "a", 4_294_967_295)).toBe(2 ** 32 - 2);
      expect(await roar.run("GETBIT", "d", 5)).toBe(0);
      expect(await roar.run("GETBIT", "d", 4_294_967_295)).toBe(1);
      expect(await roar.run("BITPOS", "d", 0)).toBe(5);
      await roar.load("a", []);
      await run("NOT", "d", "a", 4_294_967_295);
      expect(await roar.run("BITPOS", "d", 0)).toBe(family.bits === 32 ? -1 : 2 ** 32);
    });

    // Any number of consecutive full containers takes one entry, so the size of the range does not matter.
    it.skipIf(family.bits === 32).each([2n ** 40n - 1n, 2n ** 40n, 2n ** 53n + 7n, 2n ** 63n, 2n ** 64n - 2n, 2n ** 64n - 1n])(
      "flips the range up to %i in less than 10 kB",
      async (last) => {
        const cardinality = (members: bigint) => (members < 2n ** 63n ? member(members) : members.toString());
        expect(await run("NOT", "d", "none", last)).toEqual(cardinality(last + 1n));
        expect(await roar.run("BITCOUNT", "d")).toEqual(cardinality(last + 1n));
        expect(await roar.run("BITPOS", "d", 0)).toEqual(last === family.last ? -1 : asReply(member(last + 1n)));
        expect(await roar.run("SETBIT", "d", 5, 0)).toBe(1);
        expect(await roar.run("BITCOUNT", "d")).toEqual(cardinality(last));
        expect(await roar.run("BITPOS", "d", 0)).toBe(5);
        expect(await server.usage("d")).toBeLessThan(10_000);
        expect(await run("NOT", "back", "d", last)).toBe(1);
        expect(await roar.members("back")).toEqual([5]);
        expect(await server.run("RESTORE", "restored", 0, (await roar.dump("d"))!)).toBe("OK");
        expect(await run("XOR", "difference", "restored", "d")).toBe(0);
        await server.run("DEBUG", "RELOAD");
        expect(await roar.run("BITCOUNT", "restored")).toEqual(cardinality(last));
        await roar.load("far", [last]);
        expect(await run("NOT", "d", "far")).toEqual(cardinality(last));
      },
    );
  });

  it("overwrites a destination of any type and drops its TTL", async () => {
    await roar.load("a", [1, 2]);
    await server.run("SET", "d", "a string", "EX", 1000);
    expect(await run("OR", "d", "a")).toBe(2);
    expect(await server.run("TTL", "d")).toBe(-1);
    await roarOn(server, otherThan(family)).load("d", [5]);
    expect(await run("AND", "d", "a", "a")).toBe(2);
    await server.run("EXPIRE", "d", 1000);
    expect(await run("NOT", "d", "a")).toBe(1);
    expect(await server.run("TTL", "d")).toBe(-1);
    expect(await roar.members("d")).toEqual([0]);
  });

  it("raises a set event for its destination and propagates the call", async () => {
    await roar.load("a", [1, 2]);
    const set = (...args: string[]) => oneChange("set", name, ...args);
    expect(await effects(() => run("OR", "k", "a"))).toEqual(set("OR", "k", "a"));
    expect(await effects(() => run("OR", "k", "a"))).toEqual(set("OR", "k", "a"));
    expect(await effects(() => run("NOT", "k", "a", "9"))).toEqual(set("NOT", "k", "a", "9"));
    expect(await effects(() => run("AND", "k", "none"))).toEqual(set("AND", "k", "none"));
    await server.run("DEL", "k");
    expect(await effects(() => run("AND", "k", "none"))).toEqual(set("AND", "k", "none"));
    expect(await effects(() => run("OR", "d", "a"), "a")).toMatchObject({ touched: false });
  });

  it("refuses a source of another type with one reply, and changes nothing", async () => {
    await roar.load("a", [1, 2]);
    await roar.load("d", [9]);
    await server.run("SET", "string", "s");
    await roarOn(server, otherThan(family)).load("other", [1]);
    for (const operation of everyOperation) {
      for (const wrong of ["string", "other"]) {
        const keys = operation === "NOT" ? [wrong] : ["a", wrong, "a"];
        const refused = [name, operation, "d", ...keys];
        const act = () => roar.connection.pipeline([refused, ["PING"]]);
        expect(await act()).toEqual([expect.objectContaining({ message: WRONGTYPE }), "PONG"]);
        expect(await effects(act, "d")).toEqual(noEffects);
        expect(await refusal(operation, wrong, ...keys)).toBe(WRONGTYPE);
      }
    }
    expect(await roar.members("d")).toEqual([9]);
    expect(await server.run("GET", "string")).toBe("s");
  });

  itWrites(suite, {
    arity: -4,
    flags: ["movablekeys"],
    keys: [keyAt(2, "RW"), keyAt(3, "RO", -1)],
    call: ["OR", "d", "k", "none"],
    miscounted: [...["DIFF", "DIFF1", "ANDOR", "andor"].map((operation) => [operation, "k", "k"]), ["NOT", "k", "k", 1, 2]],
    bad: [
      ...refusals(["NAND", "", "AN", "ANDD", "OR "], SYNTAX, (bad) => [[bad, "k", "k"]]),
      ...refusals([...notOffsets(family), "k"], lastError(family), (bad) => [["NOT", "k", "k", bad]]),
    ],
  });

  it("accepts one source for the same operations as native BITOP, where the server has them (Redis 8.2)", async ({ skip }) => {
    await server.run("SETBIT", "native", 7, 1);
    await roar.load("a", [7]);
    const native = server.speaking(protocol);
    const accepted = async (words: string[]) => !((await native.pipeline([words]))[0] instanceof ReplyError);
    if (!(await accepted(["BITOP", "ONE", "copy", "native"]))) skip(`${serverName}: native BITOP has no ONE`);
    for (const operation of operations) {
      expect(await accepted([name, operation, "d", "a"]), operation).toBe(await accepted(["BITOP", operation, "copy", "native"]));
    }
  });

  it("replies with its own arity error when a lower-case operation lacks sources", async () => {
    expect(await refusal("diff", "d", "a")).toBe(arityError(name));
  });
});
