// Redis Cluster on this machine: primaries that share all slots, and commands that follow redirections between them.

import { waitUntil } from "./waiting.ts";
import { type Command, type Connection, type Reply, ReplyError } from "./resp.ts";
import { freePort, Server } from "./server.ts";

const SLOTS = 16_384;

export interface Node {
  readonly server: Server;
  readonly busPort: number;
  readonly connection: Connection;
  readonly id: string;
}

/** How long a node may be silent before the others ask whether it has failed. */
const PATIENCE_MS = 5000;

async function startNode(patience: number): Promise<Node> {
  const busPort = await freePort();
  const server = await Server.start({
    listens: true,
    // A node that no other has met does not know its own address, and ioredis leaves out nodes without one.
    config: ["cluster-enabled yes", "cluster-announce-ip 127.0.0.1", `cluster-port ${busPort}`, `cluster-node-timeout ${patience}`],
  });
  return { server, busPort, connection: server.connection, id: (await server.run("CLUSTER", "MYID")) as string };
}

export class Cluster {
  /** The primaries, in the order of their slots. */
  readonly primaries: readonly Node[];
  readonly #patience: number;
  #nodes: Node[];

  private constructor(primaries: Node[], patience: number) {
    this.primaries = primaries;
    this.#patience = patience;
    this.#nodes = [...primaries];
  }

  static async start(count: number, patience = PATIENCE_MS): Promise<Cluster> {
    const nodes: Node[] = [];
    for (let i = 0; i < count; i++) nodes.push(await startNode(patience));
    for (const [i, { connection }] of nodes.entries()) {
      await connection.run("CLUSTER", "ADDSLOTSRANGE", Math.floor((i * SLOTS) / count), Math.floor(((i + 1) * SLOTS) / count) - 1);
      await connection.run("CLUSTER", "SET-CONFIG-EPOCH", i + 1); // nodes with equal epochs could dispute the ownership of a migrated slot
      for (const { server, busPort } of nodes.slice(0, i)) await connection.run("CLUSTER", "MEET", "127.0.0.1", server.port, busPort);
    }
    const cluster = new Cluster(nodes, patience);
    await cluster.#joined();
    return cluster;
  }

  /** Waits until all nodes know of all others and agree that the cluster works. */
  async #joined(): Promise<void> {
    const count = this.#nodes.length;
    const knowsAll = async ({ server }: Node): Promise<boolean> => {
      const info = (await server.run("CLUSTER", "INFO")) as string;
      return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${count}\r`);
    };
    await waitUntil(async () => (await Promise.all(this.#nodes.map(knowsAll))).every(Boolean));
  }

  async addReplica(primary: Node): Promise<Node> {
    const replica = await startNode(this.#patience);
    this.#nodes.push(replica);
    await replica.connection.run("CLUSTER", "MEET", "127.0.0.1", primary.server.port, primary.busPort);
    await this.#joined();
    await replica.connection.run("CLUSTER", "REPLICATE", primary.id);
    return replica;
  }

  async slotOf(key: string): Promise<number> {
    return (await this.primaries[0]!.connection.run("CLUSTER", "KEYSLOT", key)) as number;
  }

  /** The index of the primary that had the slot at the start. */
  firstHome(slot: number): number {
    const count = this.primaries.length;
    return Math.floor(((slot + 1) * count - 1) / SLOTS);
  }

  /** Sends a command to a node and follows MOVED and ASK redirections. `moved` is the slot of the last one. */
  async follow(command: Command, first: Node): Promise<{ reply: Reply; moved?: number }> {
    let [reply] = await first.connection.pipeline([command]);
    let moved: number | undefined;
    for (let hops = 0; hops < 100 && reply instanceof ReplyError; hops++) {
      const pointer = /^(MOVED|ASK) (\d+) .*:(\d+)$/.exec(reply.message);
      if (!pointer) break;
      moved = Number(pointer[2]);
      const { connection } = this.#nodes.find(({ server }) => server.port === Number(pointer[3]))!;
      reply = (pointer[1] === "ASK" ? await connection.pipeline([["ASKING"], command]) : await connection.pipeline([command])).at(-1);
    }
    return { reply: reply!, ...(moved === undefined ? {} : { moved }) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ server }) => server.stop()));
  }
}
