// Roaring bitmaps on a server that are read part by part: their payload may be longer than a reply can be.

import type { ContainerStatistics } from "./core/core.js";
import { interruption } from "./failure.js";
import type { Answer, Connection } from "./servers.js";

export type RoaringFamily = "R" | "R64";

/** The family of a type of the server; undefined if it is no type of roaring bitmaps. */
export const familyOf = (type: string): RoaringFamily | undefined => (type === "reroaring" ? "R" : type === "roaring64" ? "R64" : undefined);

export const lastOf = (family: RoaringFamily): bigint => (family === "R64" ? 2n ** 64n - 1n : 2n ** 32n - 1n);

/**
 * Hands all members on as text, ascending, so many at a time. A member that is there throughout is handed on once, whatever is written
 * meanwhile.
 */
export async function memberPages(
  connection: Connection, family: RoaringFamily, name: Buffer, size: number, take: (page: readonly string[]) => Promise<void>,
): Promise<void> {
  const last = lastOf(family);
  for (let from = 0n; from <= last && !interruption.asked;) {
    const page = await connection.exactly(`${family}.RANGE`, name, String(from), String(last), "LIMIT", size) as string[];
    if (page.length === 0) return;
    await take(page);
    from = BigInt(page.at(-1)!) + 1n;
  }
}

/** The number of members of a bitmap of either family; 0 if the key is missing. */
export async function cardinalityOf(connection: Connection, name: Buffer): Promise<bigint> {
  const family = familyOf(String(await connection.run("TYPE", name))) ?? "R";
  return BigInt(String(await connection.exactly(`${family}.BITCOUNT`, name)));
}

/** What STAT tells of a bitmap. */
export interface Summary {
  cardinality: bigint;
  minimum: bigint;
  maximum: bigint;
  containers: ContainerStatistics[];
  /** The bytes of its payload; for R64, at least so many. */
  bytesExported: bigint;
}

type Numbers = Record<string, string>;

/** Undefined if the key is gone. */
export async function summaryOf(connection: Connection, family: RoaringFamily, name: Buffer): Promise<Summary | undefined> {
  const text: Answer = await connection.exactly(`${family}.STAT`, name, "JSON");
  if (text === null) return undefined;
  const found = JSON.parse(String(text)) as Record<string, string & Numbers>, number = (of: string | undefined): bigint => BigInt(of ?? 0);
  const containers = (["array", "bitset", "run"] as const).map((kind) => {
    const of = found[`${kind}_container`]!;
    const members = number(of.container_cardinality), bytes = number(of.container_allocated_bytes);
    return { kind, containers: number(of.number_of_containers), members, bytes };
  });
  const count = containers.reduce((sum, of) => sum + of.containers, 0n), bytes = containers.reduce((sum, of) => sum + of.bytes, 0n);
  const hasRuns = containers[2]!.containers > 0n, buckets = (count + 65_535n) / 65_536n;
  const heads = hasRuns ? 4n + (count + 7n) / 8n + (count < 4n ? 4n : 8n) * count : 8n + 8n * count;
  return {
    cardinality: number(found.cardinality), minimum: number(found.min_value), maximum: number(found.max_value), containers,
    bytesExported: bytes + heads + (family === "R64" ? 8n + 4n * buckets : 0n),
  };
}

/** The number of members in each of these ranges, which lie side by side. */
export async function countParts(
  connection: Connection, family: RoaringFamily, name: Buffer, parts: readonly { from: bigint; to: bigint }[],
): Promise<bigint[]> {
  const rank = async (offset: bigint): Promise<bigint> =>
    (offset < 0n ? 0n : BigInt(String(await connection.exactly(`${family}.RANK`, name, String(offset)))));
  const ranks = await Promise.all([...parts.slice(0, 1).map(({ from }) => rank(from - 1n)), ...parts.map(({ to }) => rank(to))]);
  // What is written between two answers may make a later rank smaller.
  return parts.map((_, i) => (ranks[i + 1]! > ranks[i]! ? ranks[i + 1]! - ranks[i]! : 0n));
}
