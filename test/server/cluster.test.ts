// Redis Cluster: commands are routed by their keys and refuse keys in different slots. A slot can be migrated while clients write to it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../host/commands.ts";
import { callsOf, isKey } from "../support/calls.ts";
import { families, type Family, type Member, R, R64, range } from "../support/family.ts";
import { waitUntil } from "../support/waiting.ts";
import { type Argument, type Command, type Connection, type Reply, ReplyError } from "../support/resp.ts";
import { freePort, Server } from "../support/server.ts";
import { byName, expectEqual } from "../support/suite.ts";

const SLOTS = 16_384;
const NODES = 3;

interface Node {
  readonly server: Server;
  readonly busPort: number;
  readonly connection: Connection;
  readonly id: string;
}

async function startNode(): Promise<Node> {
  const busPort = await freePort();
  const server = await Server.start({
    listens: true,
    config: ["cluster-enabled yes", `cluster-port ${busPort}`, "cluster-node-timeout 5000"],
  });
  return { server, busPort, connection: server.connection, id: (await server.run("CLUSTER", "MYID")) as string };
}

let nodes: Node[] = [];
beforeAll(async () => {
  nodes = [await startNode(), await startNode(), await startNode()];
  for (const [i, { connection }] of nodes.entries()) {
    await connection.run("CLUSTER", "ADDSLOTSRANGE", Math.floor((i * SLOTS) / NODES), Math.floor(((i + 1) * SLOTS) / NODES) - 1);
    await connection.run("CLUSTER", "SET-CONFIG-EPOCH", i + 1); // nodes with equal epochs could dispute the ownership of a migrated slot
    for (const { server, busPort } of nodes.slice(0, i)) await connection.run("CLUSTER", "MEET", "127.0.0.1", server.port, busPort);
  }
  const joined = async ({ server }: Node): Promise<boolean> =>
    /cluster_state:ok[^]*cluster_known_nodes:3/.test((await server.run("CLUSTER", "INFO")) as string);
  await waitUntil(async () => (await Promise.all(nodes.map(joined))).every(Boolean));
});
afterAll(() => Promise.all(nodes.map(({ server }) => server.stop())));

const nodeAt = (port: string | number): Node => nodes.find(({ server }) => server.port === Number(port))!;

/** Sends a command to a node and follows MOVED and ASK redirections. `moved` is the slot of the last one. */
async function follow(command: Command, first: Node): Promise<{ reply: Reply; moved?: number }> {
  let [reply] = await first.connection.pipeline([command]);
  let moved: number | undefined;
  for (let hops = 0; hops < 100 && reply instanceof ReplyError; hops++) {
    const pointer = /^(MOVED|ASK) (\d+) .*:(\d+)$/.exec(reply.message);
    if (!pointer) break;
    moved = Number(pointer[2]);
    const { connection } = nodeAt(pointer[3]!);
    reply = (pointer[1] === "ASK" ? await connection.pipeline([["ASKING"], command]) : await connection.pipeline([command])).at(-1);
  }
  return { reply: reply!, ...(moved === undefined ? {} : { moved }) };
}

/** The valid calls of a command. Their keys take these hash tags in turn. */
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

const rows = families.flatMap((family) => commands.map((row) => ({ row, family, name: `${family.name}.${row.name}` })));

describe("routing", () => {
  it.each(byName(rows))("%s is routed by its keys", async (_, { row, family, name }) => {
    for (const { call, keys } of ["a", "b", "c"].flatMap((tag) => tagged(row, family, [tag]))) {
      for (const key of keys) {
        await follow(["DEL", key], nodes[0]!);
        if (key.endsWith("s:1")) await follow(["SET", key, "ab"], nodes[0]!);
        else if (!key.endsWith("none")) await follow([`${family.name}.SETINTARRAY`, key, 1, 7, 8], nodes[0]!);
      }
      const slot = (await nodes[0]!.connection.run("CLUSTER", "KEYSLOT", keys[0]!)) as number;
      const home = Math.floor(((slot + 1) * NODES - 1) / SLOTS);
      for (const first of [nodes[(home + 1) % NODES]!, nodes[home]!]) {
        if (row.name === "SETFULL") await follow(["DEL", ...keys], first);
        const { reply, moved } = await follow([name, ...call], first);
        if (reply instanceof ReplyError) throw reply;
        expect(moved).toBe(first === nodes[home] ? undefined : slot);
      }
    }
  });

  const several = rows.filter(({ row }) => row.keys.length > 1 || row.keys.some(({ to }) => to !== undefined));
  it.each(byName(several))("%s refuses keys in different slots", async (_, { row, family, name }) => {
    const calls = tagged(row, family, ["a", "b"]).filter(({ keys }) => keys.length > 1);
    expect(calls).not.toEqual([]);
    for (const { connection } of nodes) {
      for (const { call } of calls) expect(await connection.refusal(name, ...call)).toMatch(/^CROSSSLOT /);
    }
  });

  it.each(families.map(({ name }) => name))("%s.BITOP NOT takes a `last` that hashes to any slot", async (name) => {
    for (const first of nodes) {
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
    const slot = (await nodes[0]!.connection.run("CLUSTER", "KEYSLOT", "{moving}")) as number;
    const from = nodes.findIndex((_, i) => slot < Math.floor(((i + 1) * SLOTS) / NODES));
    const [source, target] = [nodes[from]!, nodes[(from + 1) % NODES]!];
    const keys = range(0, 40).map((i) => ({ family: i % 2 ? R64 : R, key: `{moving}${i}` }));
    const acknowledged = new Map<string, Set<Member>>(keys.map(({ key }) => [key, new Set()]));

    let over = false;
    /** Writes ascending members to the keys in turn. Each writer uses its own offsets. */
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; !over; n++) {
        const { family, key } = keys[(n * 7 + writer) % keys.length]!;
        const offset = writer * 1_000_000 + n * 3;
        const { reply } = await follow([`${family.name}.SETBIT`, key, offset, 1], nodes[n % NODES]!);
        if (reply instanceof ReplyError) throw reply;
        acknowledged.get(key)!.add(offset);
      }
    };
    const members = (): number => [...acknowledged.values()].reduce((sum, { size }) => sum + size, 0);
    const writing = range(0, 4).map(write);
    try {
      await waitUntil(async () => members() > 500);
      await target.connection.run("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id);
      await source.connection.run("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id);
      for (;;) {
        const some = (await source.connection.run("CLUSTER", "GETKEYSINSLOT", slot, 3)) as string[];
        if (some.length === 0) break;
        expect(await source.connection.run("MIGRATE", "127.0.0.1", target.server.port, "", 0, 5000, "KEYS", ...some)).toBe("OK");
        const before = members();
        await waitUntil(async () => members() > before + 20);
      }
      for (const { connection } of [target, source, ...nodes]) await connection.run("CLUSTER", "SETSLOT", slot, "NODE", target.id);
      const before = members();
      await waitUntil(async () => members() > before + 200);
    } finally {
      over = true;
    }
    await Promise.all(writing);

    expect(await source.connection.run("CLUSTER", "COUNTKEYSINSLOT", slot)).toBe(0);
    for (const { family, key } of keys) {
      const expected = [...acknowledged.get(key)!].map(Number).sort((a, b) => a - b);
      expectEqual(await target.connection.run(`${family.name}.GETINTARRAY`, key), expected, key);
      expect(await target.connection.run(`${family.name}.BITCOUNT`, key)).toBe(expected.length);
    }
  });
});
