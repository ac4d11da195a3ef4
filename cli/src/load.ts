// load: items from text, CSV or a portable roaring file into a key; unload: back to the same.
//
// Loading adds what was loaded before once more, which does no harm: after a failure or Ctrl-C, the same command is right, and --skip with
// the number that was printed saves time. Memory stays flat: one batch at a time.

import { type Readable } from "node:stream";
import { parse } from "csv-parse";
import { type Core, Format } from "./core/core.js";
import { Exit, Failure, interruption } from "./failure.js";
import { type Connection } from "./servers.js";
import { type Offsets } from "./sharded.js";

const ZERO = 0x30, LINE_FEED = 10, RETURN = 13;
const LAST_64 = 2n ** 64n - 1n, LAST_32 = 0xffff_ffff;
/** Numbers with so many digits are exact. */
const EXACT_DIGITS = 15;

/** A batch that is being collected. */
export interface Collector<T, Batch> {
  readonly isEmpty: boolean;
  readonly isFull: boolean;
  add(item: T): void;
  /** The batch; the collector is empty then. The batch is valid until the next item is added. */
  take(): Batch;
}

/** Collects ids. They stay 32 bits wide as long as all of them fit. */
export class Ids implements Collector<number | bigint, Offsets> {
  readonly #size: number;
  #narrow: Uint32Array;
  #wide: BigUint64Array | undefined;
  #used = 0;

  constructor(size: number) {
    this.#size = size;
    this.#narrow = new Uint32Array(size);
  }

  get isEmpty(): boolean { return this.#used === 0; }
  get isFull(): boolean { return this.#used === this.#size; }

  add(id: number | bigint): void {
    if (!this.#wide && id > LAST_32) this.#wide = BigUint64Array.from(this.#narrow, BigInt);
    if (this.#wide) this.#wide[this.#used++] = BigInt(id);
    else this.#narrow[this.#used++] = Number(id);
  }

  take(): Offsets {
    const batch = this.#wide?.subarray(0, this.#used) ?? this.#narrow.subarray(0, this.#used);
    this.#used = 0;
    this.#wide = undefined;
    return batch;
  }
}

/** A batch of other items ends early when it has so many bytes. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** Collects items of any length. */
export class Items<T> implements Collector<T, T[]> {
  readonly #size: number;
  readonly #bytesOf: (item: T) => number;
  #items: T[] = [];
  #bytes = 0;

  constructor(size: number, bytesOf: (item: T) => number) {
    this.#size = size;
    this.#bytesOf = bytesOf;
  }

  get isEmpty(): boolean { return this.#items.length === 0; }
  get isFull(): boolean { return this.#items.length === this.#size || this.#bytes >= BATCH_BYTES; }

  add(item: T): void {
    this.#items.push(item);
    this.#bytes += this.#bytesOf(item);
  }

  take(): T[] {
    const batch = this.#items;
    this.#items = [];
    this.#bytes = 0;
    return batch;
  }
}

/** Takes items, and hands them on in batches. */
export class Batches<T, Batch> {
  readonly #collector: Collector<T, Batch>;
  readonly #skip: number;
  readonly #take: (batch: Batch) => Promise<void>;
  /** Items that came, those that were skipped included. */
  count = 0;

  constructor(collector: Collector<T, Batch>, skip: number, take: (batch: Batch) => Promise<void>) {
    this.#collector = collector;
    this.#skip = skip;
    this.#take = take;
  }

  get isFull(): boolean { return this.#collector.isFull; }

  /** Adds an item; call flush() when it is full. */
  add(item: T): void {
    if (++this.count > this.#skip) this.#collector.add(item);
  }

  async flush(): Promise<void> {
    if (!this.#collector.isEmpty) await this.#take(this.#collector.take());
  }
}

/** A list in parts of so many items. */
export const inParts = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/** How lines of text and rows of CSV write items. Both methods throw if they do not. */
export interface Form<T> {
  /** What a line is, such as "an id", and the most bytes that it has. */
  what: string;
  longest: number;
  /** The item in the bytes [start, end) of a chunk; not all of them are blank. */
  ofLine(chunk: Buffer, start: number, end: number, line: number): T;
  /** The item in the cells of the columns; undefined if they have none. */
  ofRow(cells: readonly string[], row: number): T | undefined;
}

/** An id as text; throws if it is none. */
export function idOf(text: string, where: string): number | bigint {
  if (!/^\d{1,20}$/.test(text)) throw new Failure(`${where}: ${JSON.stringify(text.slice(0, 40))} is not an id`, Exit.SOME_FAILED);
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  if (BigInt(text) > LAST_64) throw new Failure(`${where}: ${text} is above 2^64 - 1`, Exit.SOME_FAILED);
  return BigInt(text);
}

/** One id. */
export const ID_FORM: Form<number | bigint> = {
  what: "an id",
  longest: 4096,
  ofLine(chunk, start, end, line) {
    let value = 0;
    for (let at = start; at < end; at++) {
      const digit = chunk[at]! - ZERO;
      if (digit < 0 || digit > 9 || end - start > EXACT_DIGITS) return idOf(chunk.toString("latin1", start, end), `line ${line}`);
      value = value * 10 + digit;
    }
    return value;
  },
  ofRow([cell = ""], row) {
    const text = cell.trim();
    return text === "" ? undefined : idOf(text, `row ${row}`);
  },
};

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Reads one item a line. Empty lines do not count, and neither does a byte order mark. */
export async function readLines<T, Batch>(input: Readable, form: Form<T>, batches: Batches<T, Batch>): Promise<void> {
  let line = 1, rest: Buffer = Buffer.alloc(0);
  for await (const part of input as AsyncIterable<Buffer>) {
    const chunk = rest.length > 0 ? Buffer.concat([rest, part]) : part;
    let start = line === 1 && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    for (let at = chunk.indexOf(LINE_FEED, start); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      const end = at > start && chunk[at - 1] === RETURN ? at - 1 : at;
      if (end > start) batches.add(form.ofLine(chunk, start, end, line));
      if (batches.isFull) await batches.flush();
      if (interruption.asked) return;
      line++;
      start = at + 1;
    }
    rest = chunk.subarray(start);
    if (rest.length > form.longest + 1) throw new Failure(`line ${line} is not ${form.what}: it is too long`);
  }
  const end = rest.at(-1) === RETURN ? rest.length - 1 : rest.length;
  if (end > 0) batches.add(form.ofLine(rest, 0, end, line));
}

/** Reads columns of CSV whose first line has the names of columns. */
export async function readCsv<T, Batch>(
  input: Readable, columns: readonly string[], form: Form<T>, batches: Batches<T, Batch>,
): Promise<void> {
  let row = 1;
  const records = input.pipe(parse({ columns: (names: string[]) => {
    for (const column of columns) {
      const those = names.filter((name) => name === column).length;
      if (those === 0) throw new Failure(`there is no column ${JSON.stringify(column)}; the columns are ${names.map((name) => JSON.stringify(name)).join(", ")}`, Exit.USAGE);
      if (those > 1) throw new Failure(`${those} columns are named ${JSON.stringify(column)}`, Exit.USAGE);
    }
    return names;
  }, bom: true, skip_empty_lines: true }));
  input.once("error", (error) => records.destroy(error));
  for await (const record of records as AsyncIterable<Record<string, string>>) {
    const item = form.ofRow(columns.map((column) => record[column] ?? ""), ++row);
    if (item !== undefined) batches.add(item);
    if (batches.isFull) await batches.flush();
    if (interruption.asked) return;
  }
}

/** Adds members to a key. */
export async function addTo(core: Core, connection: Connection, name: Buffer, wide: boolean, batch: Offsets): Promise<void> {
  core.collect(batch);
  await importTo(connection, name, wide, core.write(wide ? Format.PORTABLE_WIDE : Format.PORTABLE));
}

/** Adds the members of a portable payload. */
export async function importTo(connection: Connection, name: Buffer, wide: boolean, payload: Uint8Array): Promise<void> {
  await connection.run(wide ? "R64.IMPORT" : "R.IMPORT", name, Buffer.from(payload));
}

/** Hands the core's members on, so many at a time. The core must not be used for something else meanwhile. */
export async function inPages(core: Core, size: number, take: (page: BigUint64Array) => Promise<void>): Promise<bigint> {
  const greatest = core.maximum();
  let from = 0n, count = 0n;
  while (greatest !== undefined && !interruption.asked) {
    const page = new BigUint64Array(size);
    let used = 0;
    core.members((members) => {
      page.set(members, used);
      used += members.length;
    }, from, BigInt(size));
    await take(page.subarray(0, used));
    count += BigInt(used);
    const last = page[used - 1]!;
    if (last >= greatest) break;
    from = last + 1n;
  }
  return count;
}

/** Hands the core's members on as lines, as fast as `write` takes them. */
export const writeLines = (core: Core, write: (text: string) => Promise<void>): Promise<bigint> =>
  inPages(core, 65_536, (page) => write(`${page.join("\n")}\n`));
