// What a key becomes: the commands that build its new value, and the comparison of all members.

import { haveSameMembers } from "./comparing.js";
import { type Core, Format } from "./core/core.js";
import { blocksBytes, keyBytes, keyLayout, SEGMENT_BYTES } from "./core/sizes.js";
import { planIntegers, planNames } from "./item-plans.js";
import { Changed, Different, type Place, type Plan, Skipped, type Subject, type Target } from "./plan.js";
import { CORE_BITMAP, readCoreBitmap, readSet, readWhole } from "./reading.js";
import { type Connection, type Word } from "./servers.js";
import { isConvertible, verdictOnString } from "./verdict.js";

export interface PlanOptions {
  to: Target;
  /** All strings are bitmaps, whatever they look like. */
  assumeBitmaps: boolean;
  /** Convert values without members, too: their keys have to have the type of the others. */
  withEmpty: boolean;
  /** Use R64 for this key even where R would do. */
  isWide: (name: Buffer) => boolean;
  /** To names: the dictionary. */
  dictionary: Buffer | undefined;
}

const REMOVAL = { build: () => [], removes: true, bytesAfter: 0, verify: () => {} };

export class Planner {
  readonly #core: Core;
  readonly #options: PlanOptions;

  constructor(core: Core, options: PlanOptions) {
    this.#core = core;
    this.#options = options;
  }

  /** Reads a key, and decides what it becomes; throws Skipped if it stays. The core is used without a pause: other keys need it too. */
  async plan(place: Place, subject: Subject): Promise<Plan> {
    const { to } = this.#options, { watcher } = place, { name, type } = subject;
    if (to === "integers") return planIntegers(this.#core, place, subject);
    if (to === "names") return planNames(place, subject, this.#options.dictionary!);
    if (to !== "roaring") return this.#planBack(watcher, name, type, to);
    if (type === "string") {
      this.#core.read(Format.BITS, await this.#readBitmap(watcher, name));
      const [plan] = this.#planRoaring(place, subject, false);
      return { ...plan, build: (temporary) => [[`${plan.kind}.FROMBITMAP`, temporary, name]] };
    }
    if (type !== "set" && type !== CORE_BITMAP) throw new Changed();
    const members = await (type === "set" ? readSet : readCoreBitmap)(watcher, name);
    if (!members) throw new Changed();
    if (members.refused !== undefined) throw new Skipped("a set with members that are not integers");
    if (members.count === 0 && !this.#options.withEmpty) throw new Skipped("an empty bitmap");
    this.#core.collect(members.offsets);
    const [plan, payload] = this.#planRoaring(place, subject, members.areWide);
    return { ...plan, build: (temporary) => [[`${plan.kind}.IMPORT`, temporary, Buffer.from(payload)]] };
  }

  /** What a roaring bitmap of the members in the core takes, and how to verify that it has them. */
  #planRoaring({ node, quantum }: Place, { name, expires }: Subject, needsWide: boolean): [plan: Omit<Plan, "build">, payload: Uint8Array] {
    const isWide = needsWide || this.#options.isWide(name), format = isWide ? Format.PORTABLE_WIDE : Format.PORTABLE;
    const payload = this.#core.write(format), kind = isWide ? "R64" : "R";
    if (this.#core.used() > SEGMENT_BYTES) this.#core.read(format, payload, SEGMENT_BYTES);
    const plan: Omit<Plan, "build"> = {
      kind,
      bytesAfter: blocksBytes(this.#core.arenas) + keyBytes(keyLayout(node.version), quantum, name.length, expires >= 0),
      readBack: (temporary) => [`${kind}.EXPORT`, temporary],
      verify: (stored) => {
        if (!Buffer.isBuffer(stored) || !haveSameMembers(this.#core, stored, payload, format)) throw new Different();
      },
    };
    return [plan, payload];
  }

  /** The bytes of a native bitmap; skips a string that is none. */
  async #readBitmap(watcher: Connection, name: Buffer): Promise<Buffer> {
    const value = await readWhole(watcher, name);
    if (!value) throw new Changed();
    const verdict = verdictOnString(value);
    if (verdict === "empty" && this.#options.withEmpty) return value;
    if (verdict === "empty") throw new Skipped("an empty string");
    if (!isConvertible(verdict) && !this.#options.assumeBitmaps) throw new Skipped(`a string: ${verdict}`);
    return value;
  }

  async #planBack(watcher: Connection, name: Buffer, type: string, to: "native" | "set"): Promise<Plan> {
    if (type !== "reroaring" && type !== "roaring64") throw new Changed();
    const family = type === "reroaring" ? "R" : "R64", payload = await watcher.run(`${family}.EXPORT`, name);
    if (!Buffer.isBuffer(payload)) throw new Changed();
    this.#core.read(family === "R" ? Format.PORTABLE : Format.PORTABLE_WIDE, payload);
    const greatest = this.#core.maximum();
    if (greatest === undefined && !this.#options.withEmpty) throw new Skipped("an empty bitmap");
    if (greatest === undefined) return { ...REMOVAL, kind: to };
    return to === "native" ? this.#planNative(name, family, greatest) : this.#planSet();
  }

  #planNative(name: Buffer, family: string, greatest: bigint): Plan {
    if (greatest > 0xffff_ffffn) throw new Skipped("a bitmap with offsets too large for a native bitmap");
    const value = this.#core.write(Format.BITS);
    return {
      kind: "native",
      build: (temporary) => [[`${family}.TOBITMAP`, temporary, name]],
      bytesAfter: value.length,
      verify: async (_, connection, temporary) => {
        const stored = await readWhole(connection, temporary);
        if (!stored || Buffer.compare(stored, value) !== 0) throw new Different();
      },
    };
  }

  #planSet(): Plan {
    const commands: ((temporary: Buffer) => Word[])[] = [], PART = 1000;
    const payload = this.#core.write(Format.PORTABLE_WIDE);
    this.#core.members((members) => {
      for (let i = 0; i < members.length; i += PART) {
        const words = Array.from(members.subarray(i, i + PART), String);
        commands.push((temporary) => ["SADD", temporary, ...words]);
      }
    });
    return {
      kind: "set",
      build: (temporary) => commands.map((command) => command(temporary)),
      bytesAfter: 0,
      verify: async (_, connection, temporary) => {
        const members = await readSet(connection, temporary);
        if (!members || members.refused !== undefined) throw new Different();
        this.#core.collect(members.offsets);
        if (!haveSameMembers(this.#core, this.#core.write(Format.PORTABLE_WIDE), payload, Format.PORTABLE_WIDE)) throw new Different();
      },
    };
  }
}
