// The names in the sets of a group, and the dictionary that would give them ids. Names are known by their hashes, so that a name takes some
// 20 bytes of memory, however long it is.

import { type Core } from "../core/core.js";
import { DictionarySize, recordBytes } from "../core/dictionary-size.js";
import { blocksBytes, SEGMENT_BYTES } from "../core/sizes.js";

/** The bytes of a bitmap of these ids, packed, without its key. */
export function packedBytes(core: Core, ids: Uint32Array | BigUint64Array): number {
  core.collect(ids);
  core.pack(SEGMENT_BYTES);
  return blocksBytes(core.arenas);
}

/** How many names a run may keep; shared by all groups. */
export interface Budget { left: number }
export const NAMES_MOST = 5_000_000;

/** From hashes of names, of 64 bits, to ids. */
class NameTable {
  #high = new Uint32Array(16);
  #low = new Uint32Array(16);
  #ids = new Uint32Array(16);
  /** How many keys have the name, up to 3. */
  #keys = new Uint8Array(16);
  names = 0;
  /** Names in one key, and in two. */
  once = 0;
  twice = 0;

  #slotOf(high: number, low: number): number {
    const mask = this.#low.length - 1;
    let slot = low & mask;
    while (this.#keys[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high)) slot = (slot + 1) & mask;
    return slot;
  }

  /** The id of a name that one more key has; undefined if there is none. */
  find(high: number, low: number): number | undefined {
    const slot = this.#slotOf(high, low), keys = this.#keys[slot]!;
    if (keys === 0) return undefined;
    if (keys === 1) this.once--;
    if (keys === 2) this.twice--;
    if (keys === 1) this.twice++;
    this.#keys[slot] = Math.min(3, keys + 1);
    return this.#ids[slot]!;
  }

  /** Gives a name that is new the next id. */
  add(high: number, low: number, keys = 1): number {
    if (this.names * 5 >= this.#low.length * 3) this.#grow();
    this.#put(high, low, this.names, keys);
    if (keys === 1) this.once++;
    if (keys === 2) this.twice++;
    return this.names++;
  }

  #put(high: number, low: number, id: number, keys: number): void {
    const slot = this.#slotOf(high, low);
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#ids[slot] = id;
    this.#keys[slot] = keys;
  }

  #grow(): void {
    const high = this.#high, low = this.#low, ids = this.#ids, keys = this.#keys, size = low.length * 2;
    this.#high = new Uint32Array(size);
    this.#low = new Uint32Array(size);
    this.#ids = new Uint32Array(size);
    this.#keys = new Uint8Array(size);
    for (const [slot, count] of keys.entries()) if (count > 0) this.#put(high[slot]!, low[slot]!, ids[slot]!, count);
  }

  /** Hashes, and how many keys have the name. */
  *entries(): Generator<[high: number, low: number, keys: number]> {
    for (const [slot, keys] of this.#keys.entries()) if (keys > 0) yield [this.#high[slot]!, this.#low[slot]!, keys];
  }
}

/** Two hashes of 32 bits. */
function hashesOf(name: Uint8Array): [high: number, low: number] {
  let a = 0xdead_beef ^ name.length, b = 0x41c6_ce57 ^ name.length;
  for (const byte of name) {
    a = Math.imul(a ^ byte, 0x9e37_79b1);
    b = Math.imul(b ^ byte, 0x5f35_6495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85eb_ca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2_ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85eb_ca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2_ae35);
  return [(a ^ (a >>> 16)) >>> 0, (b ^ (b >>> 15)) >>> 0];
}

/** Up to so many names, an estimate adds them one by one; of more, it takes the mean. */
const SIMULATED = 1_000_000;

export class GroupNames {
  readonly #budget: Budget;
  readonly #table = new NameTable();
  #size = new DictionarySize();
  /** Sets that were read, by the logarithm of the number of their names: how many they are, and how many names they have together. */
  readonly #sets = new Map<number, { sets: number; names: number }>();
  /** Names that keys probably have which were not read to their ends. */
  #beyond = 0;
  /** Whether a key was not read to its end, because there were too many names. */
  isFull = false;
  /** Whether the names were those of several groups, with a dictionary each. */
  isJoined = false;

  constructor(budget: Budget) { this.#budget = budget; }

  get names(): number { return this.#table.names; }

  /** The id of a name of 1 to 65,535 bytes; undefined if it would be one too many. */
  idOf(core: Core, name: Uint8Array): number | undefined {
    const [high, low] = hashesOf(name), known = this.#table.find(high, low);
    if (known !== undefined) return known;
    if (this.#budget.left === 0) {
      this.isFull = true;
      return undefined;
    }
    this.#budget.left--;
    this.#size.add(recordBytes(core.recordOf(name)));
    return this.#table.add(high, low);
  }

  /** Notes a set of so many names. */
  addSet(names: number): void { this.#addSets(Math.floor(4 * Math.log2(names)), 1, names); }

  #addSets(size: number, sets: number, names: number): void {
    const alike = this.#sets.get(size) ?? { sets: 0, names: 0 };
    this.#sets.set(size, { sets: alike.sets + sets, names: alike.names + names });
  }

  /** Notes that a key has about so many new names beyond those that were read. */
  addBeyond(names: number): void { this.#beyond += names; }

  /** Adds the names of another group. As bitmaps were measured with ids of two dictionaries, bytesOfSets() is to replace their sizes. */
  join(other: GroupNames): void {
    const record = other.#size.meanRecord;
    this.isJoined = true;
    this.isFull ||= other.isFull;
    this.#beyond += other.#beyond;
    for (const [size, { sets, names }] of other.#sets) this.#addSets(size, sets, names);
    for (const [high, low, keys] of other.#table.entries()) {
      if (this.#table.find(high, low) !== undefined) this.#budget.left++;
      else {
        this.#size.add(Math.round(record));
        this.#table.add(high, low, keys);
      }
    }
  }

  /**
   * The names, and the bytes of the dictionary, once `more` keys like the `keys` that were read have been read, too. How many names are
   * new in them is extrapolated from how many of the names are in one key only, and in two (Chao2, as by Colwell and others, 2012).
   */
  with(more: number, keys: number): { names: number; bytes: number } {
    const { once, twice } = this.#table, { names, bytes } = this.#size;
    let unseen = this.#beyond;
    if (more > 0 && once > 0) {
      const missing = (keys - 1) / keys * (twice > 0 ? once ** 2 / (2 * twice) : once * (once - 1) / 2);
      unseen += missing > 0 ? missing * (1 - (1 - once / (keys * missing + once)) ** more) : once * more / keys;
    }
    const all = names + Math.round(unseen);
    if (all === names) return { names, bytes };
    const larger = new DictionarySize(), record = this.#size.meanRecord;
    for (let i = 1; i <= Math.min(all, SIMULATED); i++) larger.add(Math.floor(i * record) - Math.floor((i - 1) * record));
    return { names: all, bytes: Math.round(larger.bytes * all / larger.names) };
  }

  /** The bytes of the bitmaps of all sets that were read, if each has names that are drawn at random from all. */
  bytesOfSets(core: Core): number {
    return [...this.#sets.values()].reduce((sum, { sets, names }) => sum + sets * this.#typicalBytes(core, names / sets), 0);
  }

  /** The bytes of a bitmap of so many ids, one in each of as many parts of the ids. */
  #typicalBytes(core: Core, names: number): number {
    const ids = new Uint32Array(Math.min(this.names, Math.round(names)));
    let draw = 1;
    for (let i = 0; i < ids.length; i++) {
      draw = (Math.imul(draw, 1_664_525) + 1_013_904_223) >>> 0;
      ids[i] = Math.floor((i + draw / 2 ** 32) * this.names / ids.length);
    }
    return packedBytes(core, ids);
  }
}
