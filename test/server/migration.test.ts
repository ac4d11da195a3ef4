// Atomic slot migration, which Valkey has since 9.0: CLUSTER MIGRATESLOTS moves a slot at once, while clients write to it. The primary
// sends the commands that a rewritten AOF would contain, then what was written in the meantime.

import { describe, expect, it } from "vitest";
import { ClusterWriters, type Node } from "../support/cluster.ts";
import { families, type Family, type Member, R, R64, range, sorted } from "../support/family.ts";
import type { Reply } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { samples } from "../support/samples.ts";
import { expectEqual, record, useCluster } from "../support/suite.ts";
import { serverName } from "../support/version.ts";
import { inStep, waitUntil } from "../support/waiting.ts";

const TAG = "{moving}";
const IN_A_YEAR = Date.now() + 365 * 86_400_000;

describe("a slot that CLUSTER MIGRATESLOTS moves while clients write to it", () => {
  const cluster = useCluster(2);

  /** Bitmaps of every kind, half of them with a TTL. Returns their keys. */
  async function load({ server }: Node): Promise<string[]> {
    const keys: string[] = [];
    for (const family of families) {
      const roar = roarOn(server, family), key = (name: string): string => `${TAG}${family.name}:${name}`;
      for (const [name, members] of Object.entries(samples(family))) await roar.load(key(name), members);
      await roar.run("SETFULL", key("every offset"));
      await roar.run("SETBITARRAY", key("large"), "0110".repeat(30_000_000));         // 15 MB of bitsets
      for (const name of [...Object.keys(samples(family)), "every offset", "large"]) {
        await server.run("COPY", key(name), `${key(name)} for a year`);
        await server.run("PEXPIREAT", `${key(name)} for a year`, IN_A_YEAR);
        keys.push(key(name), `${key(name)} for a year`);
      }
    }
    return keys;
  }

  const digests = async ({ server }: Node, keys: string[]): Promise<Reply> => server.run("DEBUG", "DIGEST-VALUE", ...keys);
  const expiry = async ({ server }: Node, keys: string[]): Promise<Reply[]> =>
    server.connection.pipeline(keys.map((key) => ["PEXPIRETIME", key]));

  it("keeps every member and every TTL, also on replicas", { timeout: 120_000 }, async ({ skip }) => {
    const slot = await cluster.slotOf(TAG), home = cluster.firstHome(slot);
    const source = cluster.primaries[home]!, target = cluster.primaries[1 - home]!;
    if (!String(await source.connection.run("CLUSTER", "HELP")).includes("MIGRATESLOTS")) {
      skip(`${serverName}: no CLUSTER MIGRATESLOTS`);
    }
    const replicas = [await cluster.addReplica(source), await cluster.addReplica(target)] as const;
    const keys = await load(source);
    const [expected, times] = [await digests(source, keys), await expiry(source, keys)];
    await inStep(replicas[0].server, source.server);

    const written = range(0, 40).map((i) => ({ family: i % 2 ? R64 : R, key: `${TAG}${i}`, acknowledged: new Set<Member>() }));
    const writers = new ClusterWriters(cluster, written);
    try {
      await writers.more(500);
      const before = writers.count;
      expect(await source.connection.run("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.id)).toBe("OK");
      const state = async (): Promise<Map<string, Reply>> =>
        record(((await source.connection.run("CLUSTER", "GETSLOTMIGRATIONS")) as Reply[])[0]!);
      await waitUntil(async () => ["success", "failed"].includes((await state()).get("state") as string));
      expect((await state()).get("state"), (await state()).get("message") as string).toBe("success");
      expect(writers.count).toBeGreaterThan(before);
      await writers.more(500);
    } finally {
      await writers.stop();
    }

    const intact = async (node: Node, read: (family: Family, key: string) => Promise<Reply>): Promise<void> => {
      expect(await digests(node, keys)).toEqual(expected);
      expect(await expiry(node, keys)).toEqual(times);
      for (const { family, key, acknowledged } of written) {
        expectEqual(await read(family, key), sorted(acknowledged), key);
      }
    };
    await intact(target, (family, key) => target.server.run(`${family.name}.GETINTARRAY`, key));
    expect(await source.server.run("DBSIZE")).toBe(0);
    for (const [i, primary] of [source, target].entries()) await inStep(replicas[i]!.server, primary.server);
    expect(await replicas[0].server.run("DBSIZE")).toBe(0);
    await replicas[1].connection.run("READONLY");
    await intact(replicas[1], (family, key) => replicas[1].server.run(`${family.name}.GETINTARRAY`, key));
  });
});
