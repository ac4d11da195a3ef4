// Reading values without stopping a server for long: long strings and large sets in parts.

import { type Connection } from "./servers.js";
import { ErrorAnswer } from "./failure.js";
import { Members } from "./verdict.js";

/** A string up to this length is read at once. */
export const PART_BYTES = 512 * 1024;
const PART_MEMBERS = 1000;

/** The bytes of a string that has `length` bytes, or had them. Undefined if it is missing or no longer a string. */
export async function readString(connection: Connection, name: Buffer, length: number): Promise<Buffer | undefined> {
  const value = Buffer.alloc(length);
  for (let from = 0; from < length; from += PART_BYTES) {
    const part = await connection.ask("GETRANGE", name, from, Math.min(length, from + PART_BYTES) - 1);
    if (part instanceof ErrorAnswer && part.code !== "WRONGTYPE") throw part;
    if (!Buffer.isBuffer(part)) return undefined;
    part.copy(value, from);
    // It has become shorter in the meantime.
    const end = from + part.length;
    if (end < Math.min(from + PART_BYTES, length)) return end > 0 ? value.subarray(0, end) : undefined;
  }
  return value;
}

/** The bytes of a string; undefined if it is not a string, or changes meanwhile. A short one is read in one round trip. */
export async function readWhole(connection: Connection, name: Buffer): Promise<Buffer | undefined> {
  const [length, first] = await Promise.all([connection.ask("STRLEN", name), connection.ask("GETRANGE", name, 0, PART_BYTES - 1)]);
  for (const answer of [length, first]) if (answer instanceof ErrorAnswer && answer.code !== "WRONGTYPE") throw answer;
  if (typeof length !== "number" || !Buffer.isBuffer(first)) return undefined;
  const value = length > first.length ? await readString(connection, name, length) : first;
  return value?.length === length ? value : undefined;
}

/**
 * Hands on what SSCAN, ZSCAN or HSCAN lists, page by page, until `take` returns false. An element may come twice. Returns whether the key
 * had the type of the command throughout.
 */
export async function readPages(
  connection: Connection, command: "SSCAN" | "ZSCAN" | "HSCAN", name: Buffer, take: (list: Buffer[]) => boolean | void | Promise<boolean | void>,
): Promise<boolean> {
  let cursor = "0";
  do {
    const page = await connection.ask(command, name, cursor, "COUNT", PART_MEMBERS);
    if (page instanceof ErrorAnswer && page.code !== "WRONGTYPE") throw page;
    if (!Array.isArray(page)) return false;
    const [next, list] = page as [Buffer, Buffer[]];
    if (await take(list) === false) return true;
    cursor = String(next);
  } while (cursor !== "0");
  return true;
}

/** Whether fields of a hash expire by themselves. Those of servers before Redis 7.4 and Valkey 9.0 do not. */
export async function doExpire(connection: Connection, name: Buffer, fields: readonly Buffer[]): Promise<boolean> {
  const times = await connection.ask("HPTTL", name, "FIELDS", fields.length, ...fields);
  if (times instanceof ErrorAnswer && /^ERR unknown command/.test(times.message)) return false;
  if (times instanceof ErrorAnswer) throw times;
  return Array.isArray(times) && times.some((time) => Number(time) >= 0);
}

/** The members of a set; undefined if it is missing or no longer a set. Ends early at a member that is not an integer. */
export async function readSet(connection: Connection, name: Buffer): Promise<Members | undefined> {
  const members = new Members();
  const isSet = await readPages(connection, "SSCAN", name, (list) => {
    for (const member of list) members.add(member);
    return members.refused === undefined;
  });
  return isSet && (members.count > 0 || members.refused !== undefined) ? members : undefined;
}

/** The type that a server gives to the compressed bitmaps of its own, from Redis 8.12 on. */
export const CORE_BITMAP = "bitmap";
/** Offsets in one reply of BITRANGEINTARRAY. */
const PAGE_OFFSETS = 10_000;

/** The members of a bitmap of the server's own type, in pages; undefined if it is no longer of that type, or missing. */
export async function readCoreBitmap(connection: Connection, name: Buffer): Promise<Members | undefined> {
  const members = new Members();
  for (let from = 0; ;) {
    const page = await connection.ask("BITRANGEINTARRAY", name, from, -1, "BIT", "LIMIT", PAGE_OFFSETS);
    if (page instanceof ErrorAnswer && page.code !== "WRONGTYPE") throw page;
    if (!Array.isArray(page)) return undefined;
    for (const offset of page) members.addOffset(Number(offset));
    if (page.length < PAGE_OFFSETS) break;
    from = Number(page.at(-1)) + 1;
  }
  return String(await connection.ask("TYPE", name)) === CORE_BITMAP ? members : undefined;
}

export interface ScanOptions {
  match?: string | Buffer | undefined;
  type?: string | undefined;
  /** Keys that one SCAN looks at. */
  count?: number;
}

/** Names of keys, in batches. A key may appear twice. */
export async function* scan(connection: Connection, { match, type, count = 500 }: ScanOptions = {}): AsyncGenerator<Buffer[]> {
  let cursor = "0";
  do {
    const filters = [...(match === undefined ? [] : ["MATCH", match]), ...(type === undefined ? [] : ["TYPE", type])];
    const [next, names] = await connection.run("SCAN", cursor, ...filters, "COUNT", count) as [Buffer, Buffer[]];
    cursor = String(next);
    if (names.length > 0) yield names;
  } while (cursor !== "0");
}
