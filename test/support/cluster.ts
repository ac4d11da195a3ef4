// Redis Cluster on this machine: primaries that share all slots, and commands that follow redirections between them.

import type { Family, Member } from "./family.ts";
import { waitUntil } from "./waiting.ts";
import { type Argument, type Command, type Connection, type Reply, ReplyError } from "./resp.ts";
import { freePort, Server } from "./server.ts";
import { isSeven } from "./version.ts";

const SLOTS = 16_384;

export interface Node {
  readonly server: Server;
  readonly busPort: number;
  readonly connection: Connection;
  readonly id: string;
}

/** How long a node may be silent before the others ask whether it has failed. */
const PATIENCE_MS = 5000;

/** How far the bus port is from the port on a server before 7.0, which cannot be told another one. */
const BUS_DISTANCE = 10_000;

/** The command that gives a node the slots from `first` to `last`. Before 7.0, there is none for ranges. */
function addSlots(first: number, last: number): Command {
  if (isSeven) return ["CLUSTER", "ADDSLOTSRANGE", first, last];
  return ["CLUSTER", "ADDSLOTS", ...Array.from({ length: last - first + 1 }, (_, i) => first + i)];
}

async function startNode(patience: number): Promise<Node> {
  const busPort = isSeven ? await freePort() : undefined;
  const server = await Server.start({
    listens: true,
    // A node that no other has met does not know its own address, and ioredis leaves out nodes without one.
    config: ["cluster-enabled yes", "cluster-announce-ip 127.0.0.1", `cluster-node-timeout ${patience}`, ...(busPort ? [`cluster-port ${busPort}`] : [])],
  });
  return { server, busPort: busPort ?? server.port + BUS_DISTANCE, connection: server.connection, id: (await server.run("CLUSTER", "MYID")) as string };
}

/** The epoch and the slots of a node, as another one knows them. */
async function knownOf({ id }: Node, { connection }: Node): Promise<string> {
  const nodes = (await connection.run("CLUSTER", "NODES")) as string, line = nodes.split("\n").find((one) => one.startsWith(id)) ?? "";
  return line.split(" ").slice(6).filter((slots) => !slots.startsWith("[")).join(" ");
}

export class Cluster {
  /** The primaries, in the order of their slots. */
  primaries: readonly Node[] = [];
  readonly #patience: number;
  #nodes: Node[] = [];
  readonly #replicas = new Map<string, Node>();

  constructor(patience = PATIENCE_MS) {
    this.#patience = patience;
  }

  static async start(count: number, patience?: number): Promise<Cluster> {
    const cluster = new Cluster(patience);
    await cluster.start(count);
    return cluster;
  }

  /** Starts so many primaries. */
  async start(count: number): Promise<void> {
    const nodes: Node[] = [];
    for (let i = 0; i < count; i++) nodes.push(await startNode(this.#patience));
    for (const [i, { connection }] of nodes.entries()) {
      await connection.run(...addSlots(Math.floor((i * SLOTS) / count), Math.floor(((i + 1) * SLOTS) / count) - 1));
      await connection.run("CLUSTER", "SET-CONFIG-EPOCH", i + 1); // nodes with equal epochs could dispute the ownership of a migrated slot
      for (const { server, busPort } of nodes.slice(0, i)) await connection.run("CLUSTER", "MEET", "127.0.0.1", server.port, busPort);
    }
    this.primaries = nodes;
    this.#nodes = [...nodes];
    await this.#joined();
  }

  /** The ports of the primaries. */
  get ports(): number[] {
    return this.primaries.map(({ server }) => server.port);
  }

  /** Runs a command on every primary. */
  onAll(...command: Argument[]): Promise<Reply[]> {
    return Promise.all(this.primaries.map(({ connection }) => connection.run(...command)));
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
    this.#replicas.set(primary.id, replica);
    return replica;
  }

  /** The replica of the primary with this index. */
  replicaOf(index: number): Node {
    return this.#replicas.get(this.primaries[index]!.id)!;
  }

  /** Has the replica of a primary take over, without loss: the primary becomes its replica. */
  async takeOver(index: number): Promise<void> {
    const primary = this.primaries[index]!, replica = this.replicaOf(index);
    const isReplica = async ({ server }: Node): Promise<boolean> =>
      (await server.info("role")) === "slave" && (await server.info("master_link_status")) === "up";
    const isMaster = async ({ server }: Node): Promise<boolean> => (await server.info("role")) === "master";
    // A replica takes the slots over that it knows of. If its primary has others, or an epoch that it does not know, both stay primaries.
    const epochOf = async ({ connection }: Node): Promise<string | undefined> =>
      /current_epoch:(\d+)/.exec((await connection.run("CLUSTER", "INFO")) as string)?.[1];
    const agrees = async (): Promise<boolean> =>
      (await knownOf(primary, replica)) === (await knownOf(primary, primary))
      && new Set(await Promise.all([...this.primaries, replica].map(epochOf))).size === 1;
    for (;;) {
      await waitUntil(async () => (await isReplica(replica)) && agrees());
      await replica.connection.run("CLUSTER", "FAILOVER");
      // It lapses if the others do not vote in time, or if an epoch of the primary was on its way. Then it is asked again.
      const patience = performance.now() + 2 * this.#patience;
      await waitUntil(async () => ((await isMaster(replica)) && (await isReplica(primary))) || performance.now() > patience);
      if (await isMaster(replica)) break;
    }
    await this.#promoted(index, replica, this.primaries);
    this.#replicas.set(replica.id, primary);
  }

  /** Kills a primary, and waits until its replica has taken over. */
  async kill(index: number): Promise<void> {
    const replica = this.replicaOf(index);
    await this.primaries[index]!.server.kill();
    await waitUntil(async () => (await replica.server.info("role")) === "master");
    await this.#promoted(index, replica, this.primaries.filter((_, i) => i !== index));
  }

  /** Waits until these nodes know that a replica is a primary now. */
  async #promoted(index: number, replica: Node, others: readonly Node[]): Promise<void> {
    const known = new RegExp(`^${replica.id} \\S+ \\S*master`, "m");
    const knows = async ({ connection }: Node): Promise<boolean> => known.test((await connection.run("CLUSTER", "NODES")) as string);
    await waitUntil(async () => (await Promise.all(others.map(knows))).every(Boolean));
    this.primaries = this.primaries.map((one, i) => (i === index ? replica : one));
  }

  /** Moves a slot with its keys to another primary, as a cluster is resharded. */
  async moveSlot(slot: number, source: Node, target: Node): Promise<void> {
    await target.connection.run("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id);
    await source.connection.run("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id);
    for (;;) {
      const some = (await source.connection.run("CLUSTER", "GETKEYSINSLOT", slot, 10)) as string[];
      if (some.length === 0) break;
      await source.connection.run("MIGRATE", "127.0.0.1", target.server.port, "", 0, 5000, "KEYS", ...some);
    }
    for (const { connection } of [target, source, ...this.primaries]) await connection.run("CLUSTER", "SETSLOT", slot, "NODE", target.id);
  }

  async slotOf(key: string): Promise<number> {
    return (await this.primaries[0]!.connection.run("CLUSTER", "KEYSLOT", key)) as number;
  }

  /** The primary that had the slot of a key at the start. */
  async homeOf(key: string): Promise<Node> {
    return this.primaries[this.firstHome(await this.slotOf(key))]!;
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

/** A key that clients write to, and the members that the cluster acknowledged. */
export interface WrittenKey {
  readonly family: Family;
  readonly key: string;
  readonly acknowledged: Set<Member>;
}

/** Clients that write to keys of a cluster until they are stopped. */
export class ClusterWriters {
  readonly #cluster: Cluster;
  readonly #keys: readonly WrittenKey[];
  readonly #writing: Promise<unknown>;
  #over = false;

  /** Starts four writers. */
  constructor(cluster: Cluster, keys: readonly WrittenKey[]) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#writing = Promise.all([0, 1, 2, 3].map((writer) => this.#write(writer)));
  }

  /** Writes ascending members to the keys in turn. Each writer uses its own offsets. */
  async #write(writer: number): Promise<void> {
    const { primaries } = this.#cluster;
    for (let n = 0; !this.#over; n++) {
      const { family, key, acknowledged } = this.#keys[(n * 7 + writer) % this.#keys.length]!;
      const offset = writer * 1_000_000 + n * 3;
      const { reply } = await this.#cluster.follow([`${family.name}.SETBIT`, key, offset, 1], primaries[n % primaries.length]!);
      if (reply instanceof ReplyError) throw reply;
      acknowledged.add(offset);
    }
  }

  /** How many members have been acknowledged. */
  get count(): number {
    return this.#keys.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  }

  /** Waits until more than so many members have been acknowledged from now on. */
  more(members: number): Promise<void> {
    const goal = this.count + members;
    return waitUntil(async () => this.count > goal);
  }

  /** Ends the writers, and throws what made one fail. */
  async stop(): Promise<void> {
    this.#over = true;
    await this.#writing;
  }
}
