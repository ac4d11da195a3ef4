// The bytes that a dictionary of names takes in a server, as MEMORY USAGE says, without its key. It follows assembly/names/: heap.ts for
// names, table.ts and change.ts for what finds them by their hashes. Servers hash names with a secret, so how full their tables are differs
// a little; here hashes are drawn as well. test/cli/advise-names.test.ts compares it with servers.

import { blockBytes, rootBytes, SEGMENT_BYTES } from "./sizes.js";

// --- records: assembly/names/record.ts, code.ts, text.ts ---------------------------------------------------------------------------------

/** The bytes of the record that begins with these three bytes. */
export function recordBytes([code = 0, low = 0, high = 0]: Uint8Array): number {
  if (code < 0x80) return 1 + code;
  if (code < 0xc0) return 2 + (code & 31);
  if (code < 0xc8) return 2 + (code & 7);
  if (code < 0xca) return 17;
  if (code === 0xff) return 3 + low + 256 * high;
  const [first, least, bits] = code < 0xda ? [0xca, 4, 5] as const : code < 0xeb ? [0xda, 4, 6] as const : [0xeb, 5, 6] as const;
  return 1 + Math.ceil((code - first + least) * bits / 8);
}

// --- heaps -------------------------------------------------------------------------------------------------------------------------------

/** The most bytes of a segment of names. */
const LIMIT = Math.floor(SEGMENT_BYTES / 16) * 8;
/** The most names of a dictionary that is one heap, and their bytes. */
const FEW = 64, FEW_BYTES = 2048;
/** The bytes before the records; those of a new heap, from which on a heap grows by a quarter at a time. */
const BEFORE_RECORDS = 28, HEAP_BYTES = 4096;

/** The bytes of an arena in the block that a server allocates for so many. */
const arenaBytes = (bytes: number): number => blockBytes(bytes) - (bytes > 4096 ? 8 : 0);

class Heap {
  count = 0;
  #used = BEFORE_RECORDS;
  #room: number;
  block: number;

  constructor(bytes: number) {
    this.#room = arenaBytes(bytes);
    this.block = blockBytes(bytes);
  }

  /** The bytes that the heap needs with a record more: each 16th record has four bytes that say where it begins. */
  needed(record: number): number { return this.#used + record + Math.floor(this.count / 16) * 4; }

  add(record: number): void {
    const needed = this.needed(record);
    if (needed > this.#room) {
      const bytes = Math.max(needed, this.#room < HEAP_BYTES ? 0 : Math.min(this.#room + Math.floor(this.#room / 4), LIMIT));
      this.#room = arenaBytes(bytes);
      this.block = blockBytes(bytes);
    }
    this.#used += record;
    this.count++;
  }
}

// --- tables ------------------------------------------------------------------------------------------------------------------------------

/** The bytes around the slots of a table, and slots behind those in which entries belong. */
const AROUND_SLOTS = 32, SPARE = 16;

class Table {
  readonly depth: number;
  entries = 0;
  #slots = 0;
  #idBytes = 2;
  block = 0;

  constructor(depth: number, room: number, id: number) {
    this.depth = depth;
    this.#build(room, id);
  }

  get #entryBytes(): number { return (this.depth < 8 ? 4 : this.depth < 16 ? 3 : 2) + this.#idBytes; }

  #bytesFor(entries: number): number { return AROUND_SLOTS + (Math.floor(entries * 10 / 8) + SPARE) * this.#entryBytes; }

  #widen(id: number): void { this.#idBytes = Math.max(this.#idBytes, id < 0xffff ? 2 : id < 0xff_ffff ? 3 : 4); }

  #build(entries: number, id: number): void {
    this.#widen(id);
    const bytes = this.#bytesFor(entries);
    this.block = blockBytes(bytes);
    this.#slots = Math.floor((arenaBytes(bytes) - AROUND_SLOTS) / this.#entryBytes);
  }

  takes(id: number): boolean { return id < 256 ** this.#idBytes - 1 && (this.entries + 1) * 10 <= this.#slots * 9; }

  /** Makes room for an entry; false if the table has to be divided. */
  rebuild(id: number): boolean {
    this.#widen(id);
    if (this.#bytesFor(this.entries + 1) > LIMIT) return false;
    this.#build(this.entries + 1, id);
    return true;
  }
}

// --- dictionaries ------------------------------------------------------------------------------------------------------------------------

export class DictionarySize {
  names = 0;
  #records = 0;
  #last = new Heap(0);
  #heaps = 1;
  /** Blocks of all heaps but the last, and of all tables. */
  #blocks = 0;
  #tables: Table[] = [];
  /** The tables by the first `#depth` bits of hashes. */
  #byHash: Table[] = [];
  #depth = 0;
  #hash = 1;

  /** Adds a name whose record takes so many bytes. */
  add(record: number): void {
    const few = this.#last;
    if (this.#tables.length === 0 && few.count > 0 && (few.count >= FEW || few.needed(record) > FEW_BYTES)) this.#addTable();
    if (this.#tables.length > 0) {
      if (this.#last.count > 0 && this.#last.needed(record) > LIMIT) {
        this.#blocks += this.#last.block;
        this.#last = new Heap(HEAP_BYTES);
        this.#heaps++;
      }
      this.#addEntry(this.names);
    }
    this.#last.add(record);
    this.#records += record;
    this.names++;
  }

  /** The mean bytes of a record. */
  get meanRecord(): number { return this.names > 0 ? this.#records / this.names : 0; }

  /** Whether the size does not depend on hashes. */
  get isSmall(): boolean { return this.#tables.length === 0; }

  get bytes(): number {
    return this.isSmall ? this.#last.block : this.#blocks + this.#last.block + rootBytes(this.#heaps + this.#tables.length, 4);
  }

  #addTable(): void {
    const table = new Table(0, this.names + FEW, this.names);
    table.entries = this.names;
    this.#tables = this.#byHash = [table];
    this.#blocks += table.block;
  }

  #addEntry(id: number): void {
    this.#hash = (Math.imul(this.#hash, 1_664_525) + 1_013_904_223) >>> 0;
    const at = (): Table => this.#byHash[this.#depth === 0 ? 0 : this.#hash >>> (32 - this.#depth)]!;
    let table = at();
    while (!table.takes(id)) {
      const { block } = table;
      if (table.rebuild(id)) this.#blocks += table.block - block;
      else this.#divide(table, id);
      table = at();
    }
    table.entries++;
  }

  #divide(table: Table, id: number): void {
    const lower = Math.floor(table.entries / 2), halves = [lower, table.entries - lower].map((entries) => {
      const half = new Table(table.depth + 1, entries + 1, id);
      half.entries = entries;
      return half;
    });
    if (table.depth === this.#depth) {
      this.#byHash = this.#byHash.flatMap((one) => [one, one]);
      this.#depth++;
    }
    const first = this.#byHash.indexOf(table), span = 2 ** (this.#depth - table.depth);
    for (let i = 0; i < span; i++) this.#byHash[first + i] = halves[i < span / 2 ? 0 : 1]!;
    this.#tables = [...this.#tables.filter((one) => one !== table), ...halves];
    this.#blocks += halves[0]!.block + halves[1]!.block - table.block;
  }
}
