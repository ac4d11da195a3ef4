// What sets would take: as bitmaps of their members, or, if not all of these are integers, of the ids that a dictionary gives to names.

import { type Core } from "../core/core.js";
import { blocksBytes, SEGMENT_BYTES } from "../core/sizes.js";
import { isName } from "../dictionary.js";
import { readPages } from "../reading.js";
import { type Connection } from "../servers.js";
import { Members } from "../verdict.js";
import { type Measured } from "./found.js";
import { type GroupNames, packedBytes } from "./names.js";

/** Names that wait until the set is read to its end, so that the sets of a batch get ids in their order. Only longer sets have more. */
const WAITING_MOST = 50_000;

class SetReader {
  readonly #core: Core;
  readonly #names: GroupNames;
  readonly #members = new Members();
  /** Undefined as long as all members are integers. */
  #waiting: Buffer[] | undefined;
  readonly #ids = new Members();
  #added = 0;
  #isUnfit = false;
  #isCut = false;

  constructor(core: Core, names: GroupNames) {
    this.#core = core;
    this.#names = names;
  }

  /** Returns false if the rest need not be read. */
  take(list: readonly Buffer[]): boolean {
    for (const member of list) {
      if (!this.#waiting) {
        this.#members.add(member);
        if (this.#members.refused === undefined) continue;
        this.#waiting = [];
        for (const offset of this.#members.offsets) this.#await(Buffer.from(String(offset)));
      }
      this.#await(member);
    }
    return !this.#isUnfit && !this.#isCut;
  }

  #await(name: Buffer): void {
    this.#isUnfit ||= !isName(name);
    this.#waiting!.push(name);
    if (this.#waiting!.length > WAITING_MOST) this.#addNames(this.#waiting!.splice(0));
  }

  #addNames(names: readonly Buffer[]): void {
    const before = this.#names.names;
    for (const name of names) {
      const id = this.#isUnfit ? undefined : this.#names.idOf(this.#core, name);
      this.#isCut ||= id === undefined;
      if (id === undefined) break;
      this.#ids.addOffset(id);
    }
    this.#added += this.#names.names - before;
  }

  /** What a set of so many members would take; undefined if not even a part of it was read. */
  measured(length: number): Measured | undefined {
    if (!this.#waiting) {
      if (this.#members.count === 0) return undefined;
      this.#core.collect(this.#members.offsets, SEGMENT_BYTES);
      return { verdict: "integers", bytes: blocksBytes(this.#core.arenas), wide: this.#members.areWide };
    }
    if (this.#isUnfit) return { verdict: "not integers" };
    this.#addNames(this.#waiting.splice(0));
    const read = this.#ids.count;
    if (read === 0) return undefined;
    const bytes = packedBytes(this.#core, this.#ids.offsets);
    this.#names.addSet(this.#isCut ? Math.max(read, length) : read);
    if (!this.#isCut) return { verdict: "names", bytes };
    const whole = Math.max(1, length / read);
    this.#names.addBeyond(this.#added * (whole - 1));
    return { verdict: "names", bytes: Math.round(bytes * whole) };
  }
}

/** Reads a set; the result measures it. Undefined if it is missing or no longer a set. */
export async function readSetToMeasure(
  connection: Connection, { name, length }: { name: Buffer; length: number }, core: Core, names: GroupNames,
): Promise<(() => Measured | undefined) | undefined> {
  const reader = new SetReader(core, names);
  return await readPages(connection, "SSCAN", name, (list) => reader.take(list)) ? () => reader.measured(length) : undefined;
}
