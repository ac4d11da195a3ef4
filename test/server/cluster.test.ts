// Redis Cluster: commands are routed by their keys and refuse keys in different slots. A slot can be migrated while clients write to it.

import { describe, expect, it } from "vitest";
import { type commands } from "../../host/table/commands.ts";
import { callsOf, isKey, rows } from "../support/calls.ts";
import { ClusterWriters, type Node } from "../support/cluster.ts";
import { families, type Family, type Member, R, R64, range, sorted } from "../support/family.ts";
import { type Argument, type Command, type Reply, ReplyError } from "../support/resp.ts";
import { byName, expectEqual, useCluster } from "../support/suite.ts";

const cluster = useCluster(3);
const follow = (command: Command, first: Node) => cluster.follow(command, first);

/** The valid calls of a command, whose keys get these hash tags in turn. */
const tagged = (row: (typeof commands)[number], family: Family, tags: readonly string[]): { call: Argument[]; keys: string[] }[] =>
  callsOf(row, family).map((form) => {
    const keys: string[] = [];
    const call = form.map((word) => {
      if (!isKey(word)) return word;
      keys.push(`{${tags[keys.length % tags.length]!}}${family.name}:${word}`);
      return keys.at(-1)!;
    });
    return { call, keys };
  });

describe("routing", () => {
  it.each(byName(rows))("%s is routed by its keys", async (_, { row, family, name }) => {
    const nodes = cluster.primaries;
    for (const { call, keys } of ["a", "b", "c"].flatMap((tag) => tagged(row, family, [tag]))) {
      for (const key of keys) {
        await follow(["DEL", key], nodes[0]!);
        if (key.endsWith("s:1")) await follow(["SET", key, "ab"], nodes[0]!);
        else if (!key.endsWith("none")) await follow([`${family.name}.SETINTARRAY`, key, 1, 7, 8], nodes[0]!);
      }
      const slot = await cluster.slotOf(keys[0]!);
      const home = cluster.firstHome(slot);
      for (const first of [nodes[(home + 1) % nodes.length]!, nodes[home]!]) {
        if (row.name === "SETFULL") await follow(["DEL", ...keys], first);
        const { reply, moved } = await follow([name, ...call], first);
        if (reply instanceof ReplyError) throw reply;
        expect(moved).toBe(first === nodes[home] ? undefined : slot);
      }
    }
  });

  const several = rows.filter(({ row }) => row.keys.length > 1 || row.keys.some(({ to, numbered }) => to !== undefined || numbered));
  it.each(byName(several))("%s refuses keys in different slots", async (_, { row, family, name }) => {
    const calls = tagged(row, family, ["a", "b"]).filter(({ keys }) => keys.length > 1);
    expect(calls).not.toEqual([]);
    for (const { connection } of cluster.primaries) {
      for (const { call } of calls) expect(await connection.refusal(name, ...call)).toMatch(/^CROSSSLOT /);
    }
  });

  it.each(families.map(({ name }) => name))("%s.BITOP NOT takes a `last` that hashes to any slot", async (name) => {
    for (const first of cluster.primaries) {
      const run = async (...command: Command): Promise<Reply> => (await follow(command, first)).reply;
      expect(await run(`${name}.SETINTARRAY`, `{t}${name}b`, 1, 3)).toBe("OK");
      for (const last of [99, 100, 101]) {
        expect(await run(`${name}.BITOP`, "NOT", `{t}${name}a`, `{t}${name}b`, last)).toBe(last - 1);
        expect(await run(`${name}.BITOPCARD`, "NOT", `{t}${name}b`, last)).toBe(last - 1);
      }
    }
  });
});

describe("a slot that is migrated while clients write to it", () => {
  it("keeps every acknowledged member", async () => {
    const slot = await cluster.slotOf("{moving}");
    const from = cluster.firstHome(slot), nodes = cluster.primaries;
    const [source, target] = [nodes[from]!, nodes[(from + 1) % nodes.length]!];
    const keys = range(0, 40).map((i) => ({ family: i % 2 ? R64 : R, key: `{moving}${i}`, acknowledged: new Set<Member>() }));
    const writers = new ClusterWriters(cluster, keys);
    try {
      await writers.more(500);
      await target.connection.run("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id);
      await source.connection.run("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id);
      for (;;) {
        const some = (await source.connection.run("CLUSTER", "GETKEYSINSLOT", slot, 3)) as string[];
        if (some.length === 0) break;
        expect(await source.connection.run("MIGRATE", "127.0.0.1", target.server.port, "", 0, 5000, "KEYS", ...some)).toBe("OK");
        await writers.more(20);
      }
      for (const { connection } of [target, source, ...nodes]) await connection.run("CLUSTER", "SETSLOT", slot, "NODE", target.id);
      await writers.more(200);
    } finally {
      await writers.stop();
    }

    expect(await source.connection.run("CLUSTER", "COUNTKEYSINSLOT", slot)).toBe(0);
    for (const { family, key, acknowledged } of keys) {
      const expected = sorted(acknowledged);
      expectEqual(await target.connection.run(`${family.name}.GETINTARRAY`, key), expected, key);
      expect(await target.connection.run(`${family.name}.BITCOUNT`, key)).toBe(expected.length);
    }
  });
});
