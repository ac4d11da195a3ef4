// What sorted sets and hashes would take: as integers for ids, or, if a hash gives ids to names, as a dictionary.

import { type Core } from "../core/core.js";
import { DictionarySize, recordBytes } from "../core/dictionary-size.js";
import { isName } from "../dictionary.js";
import { ofScore, ofValue, sizeOfIntegers } from "../integers.js";
import { doExpire, readPages } from "../reading.js";
import { type Connection } from "../servers.js";
import { isOffset, Members } from "../verdict.js";
import { type Measured } from "./found.js";

/** A hash of fewer fields is taken for an object with numbers rather than for names and their ids. */
const LEAST_NAMES = 8;

class PairReader {
  readonly #core: Core;
  readonly #isHash: boolean;
  #ids: BigUint64Array<ArrayBuffer>;
  #values: BigInt64Array<ArrayBuffer>;
  #count = 0;
  /** The ids that fields would have as names, and the dictionary of these; undefined as long as fields and values are integers for ids. */
  #given: { ids: Members; dictionary: DictionarySize } | undefined;
  #isRefused = false;
  expires = false;

  constructor(core: Core, isHash: boolean, length: number) {
    this.#core = core;
    this.#isHash = isHash;
    this.#ids = new BigUint64Array(Math.max(16, length));
    this.#values = new BigInt64Array(Math.max(16, length));
  }

  /** Whether these are integers for ids so far. */
  get arePairs(): boolean { return !this.#given && !this.#isRefused; }

  /** Returns false if the rest need not be read. */
  take(list: readonly Buffer[]): boolean {
    for (let i = 0; i < list.length && !this.#isRefused; i += 2) this.#add(list[i]!, list[i + 1]!);
    return !this.#isRefused;
  }

  #add(field: Buffer, bytes: Buffer): void {
    const text = bytes.toString("latin1");
    if (!this.#given) {
      const id = field.length <= 20 ? field.toString("latin1") : "", value = this.#isHash ? ofValue(text) : ofScore(text);
      if (value !== undefined && isOffset(id)) {
        this.#push(BigInt(id), value);
        return;
      }
      this.#given = this.#namesSoFar();
    }
    if (!this.#given || !isName(field) || !isOffset(text)) this.#isRefused = true;
    else {
      this.#given.dictionary.add(recordBytes(this.#core.recordOf(field)));
      this.#given.ids.addOffset(BigInt(text));
    }
  }

  #push(id: bigint, value: bigint): void {
    if (this.#count === this.#ids.length) {
      const ids = this.#ids, values = this.#values;
      this.#ids = new BigUint64Array(this.#count * 2);
      this.#values = new BigInt64Array(this.#count * 2);
      this.#ids.set(ids);
      this.#values.set(values);
    }
    this.#ids[this.#count] = id;
    this.#values[this.#count++] = value;
  }

  /** What has been read as names and their ids; undefined if it cannot be such. */
  #namesSoFar(): { ids: Members; dictionary: DictionarySize } | undefined {
    const names = this.#ids.subarray(0, this.#count), values = this.#values.subarray(0, this.#count);
    if (!this.#isHash || values.some((value) => value < 0n)) return undefined;
    const ids = new Members(), dictionary = new DictionarySize();
    for (const name of names) dictionary.add(recordBytes(this.#core.recordOf(Buffer.from(String(name)))));
    for (const value of values) ids.addOffset(value);
    return { ids, dictionary };
  }

  /** What a value of so many pairs would take; undefined if there are none. */
  measured(length: number): Measured | undefined {
    if (this.expires) return { verdict: "fields that expire" };
    if (this.#isRefused) return { verdict: "not integers" };
    if (this.#given) {
      const { ids, dictionary } = this.#given;
      // A field that was listed twice is no second one with the same id.
      const areIds = dictionary.names >= LEAST_NAMES && distinct(ids.offsets) >= length;
      return areIds ? { verdict: "ids of names", bytes: dictionary.bytes, names: dictionary.names } : { verdict: "not integers" };
    }
    if (this.#count === 0) return undefined;
    const { bytes, isExact } = sizeOfIntegers(this.#core, this.#ids.subarray(0, this.#count), this.#values.subarray(0, this.#count));
    return { verdict: "integers for ids", bytes, isExact };
  }
}

/** How many different numbers these are, which it sorts. */
function distinct(numbers: Uint32Array | BigUint64Array): number {
  numbers.sort();
  let count = 0;
  for (let i = 0; i < numbers.length; i++) if (i === 0 || numbers[i] !== numbers[i - 1]) count++;
  return count;
}

/** Reads a sorted set or a hash; the result measures it. Undefined if it is missing or has another type now. */
export async function readPairsToMeasure(
  connection: Connection, { name, type, length }: { name: Buffer; type: string; length: number }, core: Core,
): Promise<(() => Measured | undefined) | undefined> {
  const isHash = type === "hash", reader = new PairReader(core, isHash, length);
  const isRead = await readPages(connection, isHash ? "HSCAN" : "ZSCAN", name, async (list) => {
    if (!reader.take(list)) return false;
    if (isHash && reader.arePairs && list.length > 0) reader.expires = await doExpire(connection, name, list.filter((_, i) => i % 2 === 0));
    return !reader.expires;
  });
  return isRead ? () => reader.measured(length) : undefined;
}
