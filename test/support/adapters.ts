// The JavaScript client over every client library and version that it supports.

import { Cluster as Ioredis5Cluster, Redis as Ioredis5 } from "ioredis";
import { Cluster as Ioredis6Cluster, Redis as Ioredis6 } from "ioredis6";
import { commandOptions as withOptions4, createClient as create4, createCluster as createCluster4 } from "redis4";
import { createClient as create5, createCluster as createCluster5 } from "redis5";
import { createClient as create6, createCluster as createCluster6 } from "redis6";
import { afterAll, beforeAll } from "vitest";
import { type Command, commands } from "../../host/table/commands.ts";
import { integers } from "../../host/table/integers.ts";
import { names } from "../../host/table/names.ts";
import type { Bitmaps, Integers, Names, RoarClient } from "../../client/src/index.ts";
import { roar as ioredis } from "../../client/src/ioredis.ts";
import { modules, roar as nodeRedis, typeMapping } from "../../client/src/node-redis.ts";
import { Roar as Sdk } from "../../client/src/sdk.ts";
import type { Server } from "./server.ts";

/** An open client, and how to close it. */
export interface Opened extends RoarClient {
  close(): Promise<unknown>;
}

export interface Adapter {
  readonly name: string;
  /** It can add a prefix to keys. */
  readonly prefixes?: true;
  /** It rounds large integers, so that members are exact only if the server replies them as text. */
  readonly rounds?: true;
  open(server: Pick<Server, "socket">, keyPrefix?: string): Promise<Opened>;
  openCluster?(ports: readonly number[], keyPrefix?: string): Promise<Opened>;
}

const methodsOf = ({ r, r64, ri, ri64, rn, rnBytes, pipeline, multi, with: limited }: RoarClient): RoarClient =>
  ({ r, r64, ri, ri64, rn, rnBytes, pipeline, multi, with: limited });

const opened = (roar: RoarClient, close: () => Promise<unknown>): Opened => ({ ...methodsOf(roar), close });

const rootNodes = (ports: readonly number[]): { url: string }[] => ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }));
const hosts = (ports: readonly number[]): { host: string; port: number }[] => ports.map((port) => ({ host: "127.0.0.1", port }));

/** Keeps lost connections of clients, which tests cause, from ending the process. */
const quiet = <C extends { on(event: "error", listener: () => void): unknown }>(client: C): C => {
  client.on("error", () => {});
  return client;
};

/** The command that makes a server reply members in the way that this adapter needs. */
export const repliesFor = ({ rounds }: Adapter): [string, ...string[]] =>
  ["CONFIG", "SET", "redis-roar.r64-replies", rounds ? "strings" : "compatible"];

/** An adapter of one version of ioredis. */
const ofIoredis = (name: string, One: typeof Ioredis5, Many: typeof Ioredis5Cluster): Adapter => ({
  name,
  prefixes: true,
  async open(server, keyPrefix) {
    const client = quiet(new One({ path: server.socket, stringNumbers: true, ...(keyPrefix && { keyPrefix }) }));
    return opened(ioredis(client), async () => client.disconnect());
  },
  async openCluster(ports, keyPrefix) {
    const client = quiet(new Many(hosts(ports), { redisOptions: { stringNumbers: true }, ...(keyPrefix && { keyPrefix }) }));
    return opened(ioredis(client), async () => client.disconnect());
  },
});

/** This package around each client library. */
export const wrappers: readonly Adapter[] = [
  {
    name: "node-redis 4",
    rounds: true,
    async open(server) {
      const client = await quiet(create4({ socket: { path: server.socket } })).connect();
      return opened(nodeRedis(client), () => client.disconnect());
    },
    async openCluster(ports) {
      const client = quiet(createCluster4({ rootNodes: rootNodes(ports) }));
      await client.connect();
      return opened(nodeRedis(client), () => client.disconnect());
    },
  },
  {
    name: "node-redis 5",
    async open(server) {
      const client = await quiet(create5({ socket: { path: server.socket, tls: false } })).connect();
      return opened(nodeRedis(client), async () => client.destroy());
    },
    async openCluster(ports) {
      const client = await quiet(createCluster5({ rootNodes: rootNodes(ports) })).connect();
      return opened(nodeRedis(client), async () => client.destroy());
    },
  },
  {
    name: "node-redis 6",
    prefixes: true,
    async open(server, keyPrefix) {
      const client = await quiet(create6({ socket: { path: server.socket, tls: false }, ...(keyPrefix && { keyPrefix }) })).connect();
      return opened(nodeRedis(client), async () => client.destroy());
    },
    async openCluster(ports, keyPrefix) {
      const client = await quiet(createCluster6({ rootNodes: rootNodes(ports), ...(keyPrefix && { keyPrefix }) })).connect();
      return opened(nodeRedis(client), async () => client.destroy());
    },
  },
  ofIoredis("ioredis 5", Ioredis5, Ioredis5Cluster),
  // The types of version 6 are not those of version 5, but what is used here is the same.
  ofIoredis("ioredis 6", Ioredis6 as unknown as typeof Ioredis5, Ioredis6Cluster as unknown as typeof Ioredis5Cluster),
  {
    name: "redis-modules-sdk",
    prefixes: true,
    async open(server, keyPrefix) {
      const client = new Sdk({ path: server.socket, ...(keyPrefix && { keyPrefix }) });
      await client.connect();
      quiet(client.redis);
      return opened(client, () => client.disconnect());
    },
  },
];

/** Libraries that speak RESP2 or RESP3, and how to open a client that does. */
export const speakers: readonly [name: string, open: (server: Pick<Server, "socket">, protocol: 2 | 3) => Promise<Opened>][] = [
  ["node-redis 5", async (server, RESP) => {
    const client = await quiet(create5({ RESP, socket: { path: server.socket, tls: false } })).connect();
    return opened(nodeRedis(client), async () => client.destroy());
  }],
  ["node-redis 6", async (server, RESP) => {
    const client = await quiet(create6({ RESP, socket: { path: server.socket, tls: false } })).connect();
    return opened(nodeRedis(client), async () => client.destroy());
  }],
  ["ioredis 6", async (server, protocol) => {
    const client = quiet(new Ioredis6({ path: server.socket, stringNumbers: true, protocol }));
    return opened(ioredis(client), async () => client.disconnect());
  }],
];

// --- node-redis's own way: modules -------------------------------------------------------------------------------------------

type Namespace = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** The commands of a module of node-redis, as if they were the wrapper's. `first` are arguments before those of a command. */
function asMethods<T>(namespace: object, rows: readonly Command[], first: readonly unknown[]): T {
  const call = (name: string) => (...args: unknown[]) => (namespace as Namespace)[name]!(...first, ...args);
  return Object.fromEntries(rows.flatMap((row) => row.methods.map(({ name }) => [name, call(name)]))) as T;
}

type Modules = Record<"r" | "r64" | "ri" | "ri64" | "rn" | "rnBytes", object>;

const ofModules = ({ r, r64, ri, ri64, rn, rnBytes }: Modules, close: () => Promise<unknown>, ...first: unknown[]): Opened => ({
  r: asMethods<Bitmaps<number>>(r, commands, first), r64: asMethods<Bitmaps<bigint>>(r64, commands, first),
  ri: asMethods<Integers<number>>(ri, integers, first), ri64: asMethods<Integers<bigint>>(ri64, integers, first),
  rn: asMethods<Names<string>>(rn, names, first), rnBytes: asMethods<Names<Uint8Array>>(rnBytes, names, first), close,
  pipeline: notOfModules, multi: notOfModules, with: notOfModules,
});

const notOfModules = (): never => {
  throw new Error("modules of node-redis have only commands");
};

/** The modules of this package in node-redis. */
export const asModules: readonly Adapter[] = [
  {
    name: "modules of node-redis 4",
    rounds: true,
    async open(server) {
      const client = await quiet(create4({ modules, socket: { path: server.socket } })).connect();
      return ofModules(client, () => client.disconnect(), withOptions4({ returnBuffers: true }));
    },
    async openCluster(ports) {
      const client = quiet(createCluster4({ modules, rootNodes: rootNodes(ports) }));
      await client.connect();
      return ofModules(client, () => client.disconnect(), withOptions4({ returnBuffers: true }));
    },
  },
  {
    name: "modules of node-redis 5",
    async open(server) {
      const client = await quiet(create5({ modules, socket: { path: server.socket, tls: false } })).connect();
      return ofModules(client.withTypeMapping(typeMapping), async () => client.destroy());
    },
    async openCluster(ports) {
      const client = await quiet(createCluster5({ modules, rootNodes: rootNodes(ports) })).connect();
      return ofModules(client.withTypeMapping(typeMapping), async () => client.destroy());
    },
  },
  {
    name: "modules of node-redis 6",
    prefixes: true,
    async open(server, keyPrefix) {
      const socket = { path: server.socket, tls: false } as const;
      const client = await quiet(create6({ modules, socket, ...(keyPrefix && { keyPrefix }) })).connect();
      return ofModules(client.withTypeMapping(typeMapping), async () => client.destroy());
    },
    async openCluster(ports, keyPrefix) {
      const client = await quiet(createCluster6({ modules, rootNodes: rootNodes(ports), ...(keyPrefix && { keyPrefix }) })).connect();
      return ofModules(client.withTypeMapping(typeMapping), async () => client.destroy());
    },
  },
];

/** Those of the adapters that can connect to a cluster. */
export const ofClusters = (adapters: readonly Adapter[]): Adapter[] => adapters.filter(({ openCluster }) => openCluster !== undefined);

/** What an iteration yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A client that is open during the tests of a block. */
export function useClient(open: () => Promise<Opened>): Opened {
  let client: Opened;
  beforeAll(async () => {
    client = await open();
  });
  afterAll(() => client.close());
  return {
    get r() { return client.r; },
    get r64() { return client.r64; },
    get ri() { return client.ri; },
    get ri64() { return client.ri64; },
    get rn() { return client.rn; },
    get rnBytes() { return client.rnBytes; },
    get pipeline() { return client.pipeline; },
    get multi() { return client.multi; },
    get with() { return client.with; },
    close: () => client.close(),
  };
}
