// convert: native bitmaps and sets of integers become roaring bitmaps, or the other way round.
//
// A key is converted in these steps, so that it has its old value or its new one at each moment, whoever dies when:
//
//   1  WATCH the key; read it; decide
//   2  build the new value in a temporary key, which expires
//   3  read the new value back and compare all members
//   4  MULTI, RENAME over the old key, its time of expiry, EXEC: nothing happens if the key has changed since 1
//
// What is converted already is no longer a native bitmap or a set, so running the command again goes on where it ended.

import { type Backup } from "./backup.js";
import { type Core, Format } from "./core/core.js";
import { blockBytes, keyBytes, keyLayout } from "./core/sizes.js";
import { ErrorAnswer, Exit, Failure, interruption, isForbiddenCommand } from "./failure.js";
import { shown } from "./names.js";
import { Pace } from "./pace.js";
import { readSet, readString, scan } from "./reading.js";
import { Connection, isRedirection, type Node, type Servers, type Word } from "./servers.js";
import { exec, isTemporary, Temporaries, TEMPORARY_MS } from "./transaction.js";
import { isConvertible, verdictOnString } from "./verdict.js";

/** What a key becomes. */
export type Target = "roaring" | "native" | "set";

export interface ConvertOptions {
  match: string;
  to: Target;
  dryRun: boolean;
  /** All strings are bitmaps, whatever they look like. */
  assumeBitmaps: boolean;
  /** Use R64 even where R would do. */
  wide: boolean;
  /** Convert a key only if that saves at least this share of its memory; at 0, if it saves anything. */
  minSaving: number;
  maxRate: number;
  parallel: number;
  backup?: Backup | undefined;
  onProgress?: (done: number, expected: number) => void;
}

export interface Conversion {
  seen: number;
  converted: number;
  bytesBefore: number;
  /** By the core for a dry run, else by MEMORY USAGE. */
  bytesAfter: number;
  /** Keys left alone, by the reason. */
  skipped: Record<string, number>;
  failed: { key: string; why: string }[];
  isPartial: boolean;
}

/** A key that changes again and again is left alone after so many attempts. */
const ATTEMPTS = 8;
/** After such an error reply there is no use in going on. */
const HOPELESS = new Set(["OOM", "READONLY", "MISCONF", "NOREPLICAS", "LOADING", "NOAUTH", "MASTERDOWN", "UNKILLABLE", "BUSY"]);

/** A key that is left alone. */
class Skipped extends Error {}
/** The key has changed while it was converted. */
class Changed extends Error {}
/** The copy has other members than the value. */
class Different extends Error {}

/** A value to build. */
interface Plan {
  /** The commands that make the temporary key. */
  build: (temporary: Buffer) => Word[][];
  /** Throws unless the temporary key has all members and no others. */
  verify: (connection: Connection, temporary: Buffer) => Promise<void>;
  bytesAfter: number;
}

interface Worker {
  node: Node;
  watcher: Connection;
  /** Another connection, since MULTI on the first one would end its WATCH. */
  builder: Connection;
}

export class Converter {
  readonly #servers: Servers;
  readonly #core: Core;
  readonly #options: ConvertOptions;
  readonly #temporaries: Temporaries;
  readonly #result: Conversion = { seen: 0, converted: 0, bytesBefore: 0, bytesAfter: 0, skipped: {}, failed: [], isPartial: false };
  #expected = 0;
  #fatal: unknown;

  constructor(servers: Servers, core: Core, options: ConvertOptions) {
    this.#servers = servers;
    this.#core = core;
    this.#options = options;
    this.#temporaries = new Temporaries(servers);
  }

  async convert(): Promise<Conversion> {
    const sizes = await Promise.all(this.#servers.nodes.map(({ connection }) => connection.ask("DBSIZE")));
    this.#expected = sizes.reduce<number>((sum, size) => sum + (typeof size === "number" ? size : 0), 0);
    await Promise.all(this.#servers.nodes.map((node) => this.#convertNode(node)));
    if (this.#fatal) throw this.#fatal;
    this.#result.isPartial = interruption.asked;
    return this.#result;
  }

  async #convertNode(node: Node): Promise<void> {
    const { match, parallel, maxRate } = this.#options, pace = new Pace(maxRate / this.#servers.nodes.length, 1);
    const connections = await Promise.all(Array.from({ length: parallel + 1 }, () => Connection.open(node.options)));
    const [builder, ...watchers] = connections as [Connection, ...Connection[]];
    try {
      if (!this.#options.dryRun) await this.#temporaries.check(builder, "convert");
      for await (const names of scan(node.connection, { match })) {
        const waiting = await this.#candidates(node, names);
        const work = async (watcher: Connection): Promise<void> => {
          for (let name = waiting.shift(); name && !interruption.asked && !this.#fatal; name = waiting.shift()) {
            const key = name;
            await pace.spend(1, () => this.#attempt({ node, watcher, builder }, key));
          }
        };
        await Promise.all(watchers.map(work));
        this.#result.seen += names.length;
        this.#options.onProgress?.(this.#result.seen, this.#expected);
        if (interruption.asked || this.#fatal) return;
      }
    } catch (error) {
      this.#fatal ??= error;
    } finally {
      for (const connection of connections) connection.close();
    }
  }

  /** The keys whose types can be converted. */
  async #candidates(node: Node, names: Buffer[]): Promise<Buffer[]> {
    const types = await Promise.all(names.map((name) => node.connection.ask("TYPE", name)));
    const wanted = this.#options.to === "roaring" ? ["string", "set"] : ["reroaring", "roaring64"];
    return names.filter((name, i) => {
      if (isTemporary(name)) return false;
      if (isForbiddenCommand(types[i])) throw types[i];
      if (wanted.includes(String(types[i]))) return true;
      this.#skip(types[i] === "none" ? "went away" : types[i] instanceof ErrorAnswer ? "may not be read" : `of type ${String(types[i])}`);
      return false;
    });
  }

  #skip(why: string): void { this.#result.skipped[why] = (this.#result.skipped[why] ?? 0) + 1; }

  async #attempt(worker: Worker, name: Buffer): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#convertKey(worker, name);
        return;
      } catch (error) {
        if (error instanceof Changed && attempt < ATTEMPTS) continue;
        if (error instanceof Skipped) this.#skip(error.message);
        else if (error instanceof Changed) this.#fail(name, "it changes too often; run the command again");
        else if (error instanceof Different) this.#fail(name, "the copy differs from the value, which stays");
        else if (isRedirection(error)) this.#fail(name, "it is moving to another node; run the command again");
        else if (error instanceof ErrorAnswer && !HOPELESS.has(error.code) && !isForbiddenCommand(error)) this.#fail(name, error.message);
        else this.#fatal ??= error instanceof ErrorAnswer && error.code !== "NOPERM" ? new Failure(`${shown(name)}: ${error.message}`, Exit.SOME_FAILED) : error;
        return;
      }
    }
  }

  #fail(name: Buffer, why: string): void { this.#result.failed.push({ key: shown(name), why }); }

  async #convertKey(worker: Worker, name: Buffer): Promise<void> {
    const { watcher, builder } = worker, { dryRun, to, minSaving, backup } = this.#options;
    await watcher.run("WATCH", name);
    let temporary: Buffer | undefined;
    try {
      const [type, expires, bytes] = await Promise.all([
        watcher.run("TYPE", name), watcher.run(...this.#timeOf(worker.node), name), watcher.run("MEMORY", "USAGE", name, "SAMPLES", 1000),
      ]);
      if (type === "none" || bytes === null) throw new Skipped("went away");
      const plan = to === "roaring" ? await this.#planRoaring(worker, name, String(type), Number(expires) >= 0)
        : await this.#planBack(worker, name, String(type), to);
      if (to === "roaring" && !(plan.bytesAfter < Number(bytes) && plan.bytesAfter <= Number(bytes) * (1 - minSaving))) throw new Skipped("smaller as it is");
      if (dryRun) return this.#converted(Number(bytes), plan.bytesAfter);

      temporary = this.#temporaries.nameFor(name);
      await exec(builder, [...plan.build(temporary), ["PEXPIRE", temporary, TEMPORARY_MS]]);
      await plan.verify(builder, temporary);
      if (backup) await this.#backUp(backup, watcher, name, worker.node, Number(expires));
      const expiry: Word[][] = Number(expires) >= 0 ? [[this.#knowsAbsoluteTimes(worker.node) ? "PEXPIREAT" : "PEXPIRE", name, Number(expires)]] : [];
      // PERSIST comes first: a key that has a time of expiry is renamed with room for one.
      const done = await exec(watcher, [["PERSIST", temporary], ["RENAME", temporary, name], ...expiry, ["MEMORY", "USAGE", name]]);
      if (!done) throw new Changed();
      temporary = undefined;
      this.#converted(Number(bytes), Number(done.at(-1) ?? 0));
    } catch (error) {
      // The copy is made of the value as it is at that time, so a change explains a difference.
      if (error instanceof Different && !await exec(watcher, [["PING"]])) throw new Changed();
      throw error;
    } finally {
      await watcher.ask("UNWATCH").catch(() => {});
      if (temporary) await builder.ask("UNLINK", temporary).catch(() => {});
    }
  }

  #converted(before: number, after: number): void {
    this.#result.converted++;
    this.#result.bytesBefore += before;
    this.#result.bytesAfter += after;
  }

  /** PEXPIRETIME is there from Redis 7.0 on. */
  #knowsAbsoluteTimes({ version }: Node): boolean { return version.name === "valkey" || Number(version.version.split(".")[0]) >= 7; }
  #timeOf(node: Node): [string] { return [this.#knowsAbsoluteTimes(node) ? "PEXPIRETIME" : "PTTL"]; }

  async #backUp(backup: Backup, connection: Connection, name: Buffer, node: Node, expires: number): Promise<void> {
    const value = await connection.run("DUMP", name);
    if (!Buffer.isBuffer(value)) throw new Changed();
    const at = expires < 0 ? -1 : this.#knowsAbsoluteTimes(node) ? expires : Date.now() + expires;
    await backup.add({ name, expires: at, value });
  }

  async #planRoaring({ watcher, node }: Worker, name: Buffer, type: string, expires: boolean): Promise<Plan> {
    let isWide = this.#options.wide, build: Plan["build"];
    if (type === "string") {
      await this.#readBitmap(watcher, name);
      build = (temporary) => [[isWide ? "R64.FROMBITMAP" : "R.FROMBITMAP", temporary, name]];
    } else if (type === "set") {
      const members = await readSet(watcher, name);
      if (!members) throw new Changed();
      if (members.refused !== undefined) throw new Skipped("a set of others than integers");
      isWide ||= members.areWide;
      this.#core.collect(members.offsets);
      build = (temporary) => [[isWide ? "R64.IMPORT" : "R.IMPORT", temporary, Buffer.from(payload)]];
    } else {
      throw new Changed();
    }
    const format = isWide ? Format.PORTABLE_WIDE : Format.PORTABLE;
    const payload = this.#core.write(format);
    const bytesAfter = blockBytes(this.#core.used()) + keyBytes(keyLayout(node.version), 16, name.length, expires);
    const verify = async (connection: Connection, temporary: Buffer): Promise<void> => {
      const stored = await connection.run(isWide ? "R64.EXPORT" : "R.EXPORT", temporary);
      if (!Buffer.isBuffer(stored) || !this.#isSame(stored, payload, format)) throw new Different();
    };
    return { build, verify, bytesAfter };
  }

  /** Makes the core hold a native bitmap; skips a string that is none. */
  async #readBitmap(watcher: Connection, name: Buffer): Promise<void> {
    const length = Number(await watcher.run("STRLEN", name)), value = await readString(watcher, name, length);
    if (!value && length > 0) throw new Changed();
    const verdict = verdictOnString(value ?? Buffer.alloc(0));
    if (verdict === "empty") throw new Skipped("an empty string");
    if (!isConvertible(verdict) && !this.#options.assumeBitmaps) throw new Skipped(`a string: ${verdict}`);
    this.#core.read(Format.BITS, value!);
  }

  /** Whether two payloads have the same members. Bitmaps with the same members may have other containers, so these are packed. */
  #isSame(a: Uint8Array, b: Uint8Array, format: Format): boolean {
    if (Buffer.compare(a, b) === 0) return true;
    const [first, second] = [a, b].map((payload) => {
      this.#core.read(format, payload);
      this.#core.pack();
      return this.#core.write(format);
    });
    return Buffer.compare(first!, second!) === 0;
  }

  async #planBack({ watcher }: Worker, name: Buffer, type: string, to: "native" | "set"): Promise<Plan> {
    if (type !== "reroaring" && type !== "roaring64") throw new Changed();
    const family = type === "reroaring" ? "R" : "R64", payload = await watcher.run(`${family}.EXPORT`, name);
    if (!Buffer.isBuffer(payload)) throw new Changed();
    this.#core.read(family === "R" ? Format.PORTABLE : Format.PORTABLE_WIDE, payload);
    const greatest = this.#core.maximum();
    if (greatest === undefined) throw new Skipped("an empty bitmap");
    return to === "native" ? this.#planNative(name, family, greatest) : this.#planSet();
  }

  #planNative(name: Buffer, family: string, greatest: bigint): Plan {
    if (greatest > 0xffff_ffffn) throw new Skipped("offsets above those of a native bitmap");
    const value = this.#core.write(Format.BITS);
    return {
      build: (temporary) => [[`${family}.TOBITMAP`, temporary, name]],
      bytesAfter: value.length,
      verify: async (connection, temporary) => {
        const length = Number(await connection.run("STRLEN", temporary)), stored = await readString(connection, temporary, length);
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
      build: (temporary) => commands.map((command) => command(temporary)),
      bytesAfter: 0,
      verify: async (connection, temporary) => {
        const members = await readSet(connection, temporary);
        if (!members || members.refused !== undefined) throw new Different();
        this.#core.collect(members.offsets);
        if (!this.#isSame(this.#core.write(Format.PORTABLE_WIDE), payload, Format.PORTABLE_WIDE)) throw new Different();
      },
    };
  }
}
