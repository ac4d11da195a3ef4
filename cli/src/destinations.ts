// Where load puts what it reads: a bitmap, a sharded one, a key of integers, or a dictionary of names.

import { type Readable } from "node:stream";
import { type Core } from "./core/core.js";
import { adding, NAME_FORM } from "./dictionary.js";
import { Exit, Failure } from "./failure.js";
import { type Pair, PAIR_FORM, storing } from "./integers.js";
import { addTo, Batches, type Collector, type Form, ID_FORM, Ids, Items, readCsv, readLines } from "./load.js";
import { type Things } from "./resuming.js";
import { cardinalityOf } from "./roaring.js";
import { type Connection, type Word } from "./servers.js";
import { type Offsets, type ShardedBitmap } from "./sharded.js";

/** What is read, and how. */
interface Task {
  input: Readable;
  /** The columns of CSV; undefined: lines. */
  columns: readonly string[] | undefined;
  skip: number;
  /** The number of items that are sent together. */
  batch: number;
  /** Called after each batch with the number of its items. */
  sent: (items: number) => Promise<void>;
}

export interface Destination {
  things: Things;
  /** How many members, ids or names it has. */
  count(): Promise<bigint>;
  /** Sends all items of the input, or those before an interruption; returns how many it had, with those that were skipped. */
  load(task: Task): Promise<number>;
}

export const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

async function loadItems<T, Batch extends { length: number }>(
  { input, columns, skip, sent }: Task, form: Form<T>, collector: Collector<T, Batch>, send: (batch: Batch) => Promise<void>,
): Promise<number> {
  const batches = new Batches<T, Batch>(collector, skip, async (batch) => {
    await send(batch);
    await sent(batch.length);
  });
  await (columns ? readCsv(input, columns, form, batches) : readLines(input, form, batches)).catch((error: unknown) => {
    if (!isAbort(error)) throw error;
  });
  await batches.flush();
  return batches.count;
}

/** A bitmap that takes ids; `send` is also for ids that were read in another way. */
export interface BitmapDestination extends Destination {
  send(batch: Offsets): Promise<void>;
}

export function bitmapDestination(
  core: Core, connection: Connection, name: Buffer, wide: boolean, sharded: ShardedBitmap | undefined,
): BitmapDestination {
  const send = async (batch: Offsets): Promise<void> => {
    if (!wide && batch instanceof BigUint64Array) throw new Failure("an id is above 2^32 - 1: load it with --wide", Exit.USAGE);
    await (sharded ? sharded.add(batch) : addTo(core, connection, name, wide, batch));
  };
  return {
    things: "ids",
    count: async () => sharded?.count() ?? BigInt(String(await connection.exactly(wide ? "R64.BITCOUNT" : "R.BITCOUNT", name))),
    load: (task) => loadItems(task, ID_FORM, new Ids(task.batch), send),
    send,
  };
}

/** Sends commands together; throws if one fails. */
async function sendAll(connection: Connection, commands: readonly Word[][]): Promise<void> {
  await Promise.all(commands.map((words) => connection.run(...words)));
}

export const integersDestination = (connection: Connection, name: Buffer): Destination => ({
  things: "ids",
  count: async () => BigInt(String(await connection.exactly("RI.CARD", name))),
  load: (task) => {
    const items = new Items<Pair>(task.batch, ([id, value]) => id.length + value.length);
    return loadItems(task, PAIR_FORM, items, (pairs) => sendAll(connection, storing(name, pairs)));
  },
});

/** A dictionary, and, if one is given, the bitmap in which the bits of the names are set. */
export const namesDestination = (connection: Connection, dictionary: Buffer, bitmap: Buffer | undefined): Destination => ({
  things: "names",
  count: async () => {
    const names = BigInt(String(await connection.exactly("RN.CARD", dictionary)));
    return bitmap ? cardinalityOf(connection, bitmap) : names;
  },
  load: (task) => {
    const items = new Items<Buffer>(task.batch, ({ length }) => length);
    return loadItems(task, NAME_FORM, items, (names) => sendAll(connection, adding(dictionary, bitmap, names)));
  },
});
