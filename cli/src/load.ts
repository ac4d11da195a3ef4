// load: ids from text, CSV or a portable roaring file into a bitmap; unload: back to the same.
//
// Loading adds members, so what was loaded before does no harm when it is loaded again: after a failure or Ctrl-C, the same command is
// right, and --skip with the number that was printed saves time. Memory stays flat: one batch of ids at a time.

import { type Readable } from "node:stream";
import { parse } from "csv-parse";
import { type Core, Format } from "./core/core.js";
import { Exit, Failure, interruption } from "./failure.js";
import { type Connection } from "./servers.js";

const ZERO = 0x30, NINE = 0x39, LINE_FEED = 10, RETURN = 13;
const LAST_64 = 2n ** 64n - 1n, LAST_32 = 0xffff_ffff;
/** Numbers up to here are exact while digits are added. */
const EXACT = (Number.MAX_SAFE_INTEGER - 9) / 10;

/** Takes ids, and hands them on in batches. */
export class Batches {
  readonly #size: number;
  readonly #skip: number;
  readonly #take: (batch: Uint32Array | BigUint64Array) => Promise<void>;
  #narrow: Uint32Array;
  #wide: BigUint64Array | undefined;
  #used = 0;
  /** Ids that came, those that were skipped included. */
  count = 0;

  constructor(size: number, skip: number, take: (batch: Uint32Array | BigUint64Array) => Promise<void>) {
    this.#size = size;
    this.#skip = skip;
    this.#take = take;
    this.#narrow = new Uint32Array(size);
  }

  get isFull(): boolean { return this.#used === this.#size; }

  /** Adds an id; call flush() when it is full. */
  add(id: number | bigint): void {
    if (++this.count <= this.#skip) return;
    if (!this.#wide && id > LAST_32) this.#wide = BigUint64Array.from(this.#narrow, BigInt);
    if (this.#wide) this.#wide[this.#used++] = BigInt(id);
    else this.#narrow[this.#used++] = Number(id);
  }

  async flush(): Promise<void> {
    if (this.#used === 0) return;
    const batch = this.#wide?.subarray(0, this.#used) ?? this.#narrow.subarray(0, this.#used);
    this.#used = 0;
    await this.#take(batch);
    this.#wide = undefined;
  }
}

/** An id as text; throws if it is none. */
function idOf(text: string, where: string): number | bigint {
  if (!/^\d{1,20}$/.test(text)) throw new Failure(`${where}: ${JSON.stringify(text.slice(0, 40))} is not an id`, Exit.SOME_FAILED);
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  if (BigInt(text) > LAST_64) throw new Failure(`${where}: ${text} is above 2^64 - 1`, Exit.SOME_FAILED);
  return BigInt(text);
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Reads one id a line. Empty lines do not count, and neither does a byte order mark. */
export async function readLines(input: Readable, batches: Batches): Promise<void> {
  let line = 1, rest: Buffer = Buffer.alloc(0);
  for await (const part of input as AsyncIterable<Buffer>) {
    const chunk = rest.length > 0 ? Buffer.concat([rest, part]) : part;
    let start = line === 1 && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0, value = 0, isPlain = true;
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte >= ZERO && byte <= NINE) {
        if (value > EXACT) isPlain = false;
        value = value * 10 + byte - ZERO;
      } else if (byte === LINE_FEED) {
        const end = at > start && chunk[at - 1] === RETURN ? at - 1 : at;
        if (end > start) batches.add(isPlain && end - start <= 16 ? value : idOf(chunk.toString("latin1", start, end), `line ${line}`));
        if (batches.isFull) await batches.flush();
        if (interruption.asked) return;
        line++;
        start = at + 1;
        value = 0;
        isPlain = true;
      } else if (byte !== RETURN) {
        isPlain = false;
      }
    }
    rest = chunk.subarray(start);
    if (rest.length > 4096) throw new Failure(`line ${line} is not an id: it is too long`);
  }
  const last = rest.toString("latin1").replace(/\r$/, "");
  if (last !== "") batches.add(idOf(last, `line ${line}`));
}

/** Reads a column of CSV whose first line has the names of columns. */
export async function readCsv(input: Readable, column: string, batches: Batches): Promise<void> {
  let row = 1;
  const records = input.pipe(parse({ columns: (names: string[]) => {
    const those = names.filter((name) => name === column).length;
    if (those === 0) throw new Failure(`there is no column ${JSON.stringify(column)}; the columns are ${names.map((name) => JSON.stringify(name)).join(", ")}`, Exit.USAGE);
    if (those > 1) throw new Failure(`${those} columns are named ${JSON.stringify(column)}`, Exit.USAGE);
    return names;
  }, bom: true, skip_empty_lines: true }));
  input.once("error", (error) => records.destroy(error));
  for await (const record of records as AsyncIterable<Record<string, string>>) {
    row++;
    const text = (record[column] ?? "").trim();
    if (text !== "") batches.add(idOf(text, `row ${row}`));
    if (batches.isFull) await batches.flush();
    if (interruption.asked) return;
  }
}

/** Adds members to a key; returns how many it has then. */
export async function addTo(
  core: Core, connection: Connection, name: Buffer, wide: boolean, batch: Uint32Array | BigUint64Array,
): Promise<bigint> {
  core.collect(batch);
  return importTo(connection, name, wide, core.write(wide ? Format.PORTABLE_WIDE : Format.PORTABLE));
}

/** Adds the members of a portable payload; returns how many the key has then. */
export async function importTo(connection: Connection, name: Buffer, wide: boolean, payload: Uint8Array): Promise<bigint> {
  return BigInt(String(await connection.run(wide ? "R64.IMPORT" : "R.IMPORT", name, Buffer.from(payload))));
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
