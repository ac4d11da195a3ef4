// join: native bitmaps that were split by hand become one roaring bitmap.
// First all shards are checked; if one cannot be joined, nothing is changed. Then each shard is moved separately, in these steps:
//
//   1  WATCH the shard, read it
//   2  build a bitmap of its members, at their offsets, in a temporary key; read that back and compare
//   3  MULTI, a script, EXEC: it adds the members to the bitmap, verifies that the shard's range of the bitmap has exactly its
//      old members and those of the shard, and deletes the shard; nothing happens if the shard has changed since 1
//
// So at each moment a member is in the shard or in the bitmap, and running the command again continues where it stopped. In a cluster the
// bitmap may be in another slot than the shard. Then across.ts replaces step 3.

import { type Backup } from "../backup.js";
import { haveSameMembers } from "../comparing.js";
import { type Core, Format } from "../core/core.js";
import { ErrorAnswer, Exit, Failure, failureAt, interruption, isForbiddenCommand, isHopeless } from "../failure.js";
import { shown, slotOf } from "../names.js";
import { Pace } from "../pace.js";
import { readWhole, scan } from "../reading.js";
import { type Answer, Connection, expiryOf, isRedirection, type Node, type Servers, type Word } from "../servers.js";
import { isTemporary, Temporaries, TEMPORARY_MS, transact } from "../transaction.js";
import { isConvertible, verdictOnString } from "../verdict.js";
import { Across } from "./across.js";
import { hasBitsFrom, type ShardNames } from "./names.js";
import { JOIN } from "./script.js";
import { Changed, type Found, type Joining, type ScriptKeys, type Shard } from "./shard.js";

export interface JoinOptions {
  key: Buffer;
  names: ShardNames;
  wide: boolean;
  /** How the bitmap's TTL follows from those of the shards; undefined: they must have none. */
  expiry: "latest" | "none" | undefined;
  /** Shards are bitmaps, even if they look like text. */
  assumeBitmaps: boolean;
  dryRun: boolean;
  maxRate: number;
  parallel: number;
  backup?: Backup | undefined;
  onProgress?: (done: number, expected: number) => void;
}

export interface Joined {
  shards: number;
  joined: number;
  /** Keys with similar names that are not shards. */
  others: number;
  /** Members of the bitmap; in a dry run, of the shards. */
  members: string;
  bytesBefore: number;
  /** By MEMORY USAGE; estimated in a dry run. */
  bytesAfter: number;
  failed: { key: string; why: string }[];
  isPartial: boolean;
}

/** A bitmap to make of a shard, or of a copy of it. */
interface Piece {
  source: Buffer;
  offset: bigint;
  piece: Buffer;
}

const ATTEMPTS = 8, TOGETHER = 64, SMALL_BYTES = 64 * 1024;
/** The number of shards that are checked together, and the bytes of each that are read for the verdict. */
const LOOKED = 200, HEAD_BYTES = 4096;
/** Bytes of a shard that are compared at a time: up to a million members. */
const SLICE = 128 * 1024;
/** Clients may create shards again while they are moved. After this many rounds, such shards stay. */
const ROUNDS = 4;

export class Joiner implements Joining {
  readonly servers: Servers;
  readonly options: JoinOptions;
  readonly temporaries: Temporaries;
  readonly home: Node;
  readonly family: "R" | "R64";
  readonly #core: Core;
  readonly #format: Format;
  readonly #last: bigint;
  readonly #result: Joined = { shards: 0, joined: 0, others: 0, members: "0", bytesBefore: 0, bytesAfter: 0, failed: [], isPartial: false };
  #fatal: unknown;

  constructor(servers: Servers, core: Core, options: JoinOptions) {
    this.servers = servers;
    this.options = options;
    this.temporaries = new Temporaries(servers);
    this.home = servers.nodeOf(options.key);
    this.family = options.wide ? "R64" : "R";
    this.#core = core;
    this.#format = options.wide ? Format.PORTABLE_WIDE : Format.PORTABLE;
    this.#last = options.wide ? 2n ** 64n - 1n : 2n ** 32n - 1n;
  }

  async join(): Promise<Joined> {
    const { key, names, dryRun } = this.options, { connection } = this.home;
    if (names.numberOf(key) !== undefined) throw new Failure(`${shown(key)} is also the name of a shard; choose another one`, Exit.USAGE);
    const type = String(await connection.run("TYPE", key)), wanted = this.options.wide ? "roaring64" : "reroaring";
    if (type !== "none" && type !== wanted) {
      const hint = type === "reroaring" || type === "roaring64" ? `a bitmap of ${type === "reroaring" ? "R, join without" : "R64, join with"} --wide` : `of type ${type}`;
      throw new Failure(`${shown(key)} is ${hint}`, Exit.USAGE);
    }
    if (!dryRun) await this.temporaries.check(connection, "join");
    const across = new Across(this);
    try {
      if (!dryRun) await across.finish();
      for (let round = 0; round < ROUNDS && !this.#isOver; round++) {
        const { shards, problems, others } = await this.#survey();
        if (round === 0) {
          const [first, ...rest] = problems;
          if (first) throw new Failure(`${first.key}: ${first.why}${rest.length > 0 ? `; and ${rest.length} more` : ""}. Nothing was changed`);
          Object.assign(this.#result, { others, bytesBefore: shards.reduce((sum, { bytes }) => sum + bytes, 0) });
          if (dryRun) {
            this.#result.shards = shards.length;
            await this.#estimate(shards);
            return { ...this.#result, isPartial: interruption.asked };
          }
        } else {
          this.#result.failed.push(...problems);
        }
        if (shards.length === 0) break;
        this.#result.shards += shards.length;
        const before = this.#result.joined;
        await this.#moveAll(shards, across);
        if (this.#result.joined === before) break;
      }
    } finally {
      await across.close();
    }
    if (this.#fatal) throw this.#fatal;
    const [members, bytes] = await Promise.all([connection.run(`${this.family}.BITCOUNT`, key), connection.run("MEMORY", "USAGE", key)]);
    return { ...this.#result, members: String(members), bytesAfter: Number(bytes ?? 0), isPartial: interruption.asked };
  }

  get #isOver(): boolean { return interruption.asked || this.#fatal !== undefined; }

  /** Bits that a shard may have: its width, or less at the end of all offsets. */
  #limit(offset: bigint): bigint {
    const rest = this.#last + 1n - offset;
    return rest < this.options.names.width ? rest : this.options.names.width;
  }

  // --- Looking at all shards ------------------------------------------------------------------------------------------------------

  async #survey(): Promise<{ shards: Found[]; problems: Joined["failed"]; others: number }> {
    const { names } = this.options, found = new Map<string, Shard>(), problems: Joined["failed"] = [], shards: Found[] = [];
    let others = 0;
    for (const node of this.servers.nodes) {
      for await (const some of scan(node.connection, { match: names.glob })) {
        for (const name of some) {
          const number = names.numberOf(name);
          if (number !== undefined) found.set(name.toString("latin1"), { name, node, offset: names.offsetOf(number) });
          else if (!isTemporary(name) && !name.equals(this.options.key)) others++;
        }
      }
    }
    const all = Array.from(found.values()).sort((a, b) => (a.offset < b.offset ? -1 : 1));
    for (let at = 0; at < all.length && !interruption.asked; at += LOOKED) {
      await Promise.all(all.slice(at, at + LOOKED).map(async (shard) => {
        const looked = await this.#look(shard);
        if (typeof looked === "string") problems.push({ key: shown(shard.name), why: looked });
        else if (looked) shards.push(looked);
      }));
    }
    return { shards: shards.sort((a, b) => (a.offset < b.offset ? -1 : 1)), problems, others };
  }

  /** The shard, or the reason why it cannot be joined. */
  async #look(shard: Shard): Promise<Found | string | undefined> {
    const { name, offset, node: { connection } } = shard, { expiry, wide, names, assumeBitmaps } = this.options;
    const [type, expires, bytes] = await Promise.all([
      connection.run("TYPE", name), expiryOf(shard.node, connection, name), connection.run("MEMORY", "USAGE", name),
    ]);
    if (type === "none" || bytes === null) return undefined;
    if (type !== "string") return `of type ${String(type)}, and not a native bitmap`;
    if (offset < 0n) return "its number is below that of the first shard, --first";
    if (offset > this.#last) return `its offsets are above those of ${this.family}${wide ? "" : "; join with --wide"}`;
    if (expires >= 0 && expiry === undefined) return "it has a TTL; choose the bitmap's with --expiry";
    const [length, head] = await Promise.all([connection.run("STRLEN", name), connection.run("GETRANGE", name, 0, HEAD_BYTES - 1)]);
    const verdict = verdictOnString(head as Buffer, Number(length) <= HEAD_BYTES);
    if (!isConvertible(verdict) && verdict !== "empty" && !assumeBitmaps) {
      return `a string that is not a bitmap: ${verdict}; use --assume-bitmaps if it is one`;
    }
    const limit = this.#limit(offset);
    if (BigInt(Number(length)) * 8n > limit) {
      const from = Number(limit / 8n), [first, rest] = await Promise.all([
        connection.run("GETRANGE", name, from, from), connection.run("BITCOUNT", name, from + 1, -1),
      ]);
      if (Number(rest) > 0 || hasBitsFrom(first as Buffer, limit % 8n)) {
        if (limit < names.width) return `it has bits above the offsets of ${this.family}${wide ? "" : "; join with --wide"}`;
        return `it has bits from ${names.width} on; check the width`;
      }
    }
    return { ...shard, length: Number(length), bytes: Number(bytes), expires };
  }

  /** The number of members, and an estimate of their bytes: containers that shards share are counted once for each million members. */
  async #estimate(shards: Found[]): Promise<void> {
    const CONTAINER_BYTES = 8192, MOST = 1_000_000;
    let members = 0n, bytes = 0, offsets: number[] = [];
    const count = (): void => {
      this.#core.collect(Uint32Array.from(offsets));
      bytes += this.#core.used();
      offsets = [];
    };
    for (const [i, { name, offset, length, node }] of shards.entries()) {
      if (interruption.asked) return;
      for (let from = 0; from < length; from += SLICE) {
        this.#core.read(Format.BITS, await node.connection.run("GETRANGE", name, from, from + SLICE - 1) as Buffer);
        members += this.#core.cardinality();
        if (length >= CONTAINER_BYTES) bytes += this.#core.used();
        // High halves do not matter here.
        else this.#core.members((list) => { for (const member of list) offsets.push(Number((member + offset) & 0xffff_ffffn)); });
        if (offsets.length > MOST) count();
      }
      this.options.onProgress?.(i + 1, shards.length);
    }
    if (offsets.length > 0) count();
    Object.assign(this.#result, { members: String(members), bytesAfter: bytes });
  }

  // --- Moving them -----------------------------------------------------------------------------------------------------------------

  async #moveAll(shards: Found[], across: Across): Promise<void> {
    const { maxRate, parallel } = this.options, pace = new Pace(maxRate, 1);
    const most = Math.max(1, Math.min(TOGETHER, Math.floor(maxRate / 10)));
    const groups: Found[][] = [];
    let small: Found[] | undefined;
    for (const shard of shards) {
      if (this.#isAcross(shard) || shard.length > SMALL_BYTES) groups.push([shard]);
      else if (small && small.length < most) small.push(shard);
      else groups.push(small = [shard]);
    }
    const expected = this.#result.shards, work = async (): Promise<void> => {
      const watchers = new Map<Node, Connection>();
      const watcherOf = async (node: Node): Promise<Connection> => {
        const opened = watchers.get(node) ?? await Connection.open(node.options);
        watchers.set(node, opened);
        return opened;
      };
      try {
        for (let group = groups.shift(); group && !this.#isOver; group = groups.shift()) {
          const some = group;
          await pace.spend(some.length, () => this.#moveThese(some, watcherOf, across));
          this.options.onProgress?.(this.#result.joined + this.#result.failed.length, expected);
        }
      } catch (error) {
        this.#fatal ??= error;
      } finally {
        for (const connection of watchers.values()) connection.close();
      }
    };
    if (groups.some(([shard]) => this.#isAcross(shard!))) await across.begin();
    await Promise.all(Array.from({ length: parallel }, work));
  }

  #isAcross({ name }: Shard): boolean { return this.servers.isCluster && slotOf(name) !== slotOf(this.options.key); }

  /** Moves shards together, and then, one by one, those that have changed meanwhile. */
  async #moveThese(group: Found[], watcherOf: (node: Node) => Promise<Connection>, across: Across): Promise<void> {
    const attempt = async (shards: Found[]): Promise<Found[]> => {
      const watcher = await watcherOf(shards[0]!.node);
      try {
        if (shards.length > 1) return await this.#moveHere(watcher, shards);
        return await this.#moveAlone(watcher, shards[0]!, across);
      } catch (error) {
        if (error instanceof Changed) return shards;
        if (!(error instanceof ErrorAnswer)) throw error;
        if (shards.length > 1) return shards;
        if (isHopeless(error) || error.code === "LOCKED") throw failureAt(shown(shards[0]!.name), error);
        this.#fail(shards[0]!, isRedirection(error) ? "it is moving to another node; run the command again" : error.message);
        return [];
      } finally {
        const unwatched = await watcher.ask("UNWATCH").catch(() => {});
        if (isForbiddenCommand(unwatched)) this.#fatal ??= unwatched;
      }
    };
    let again = group;
    if (group.length > 1) again = await attempt(group);
    for (const shard of again) {
      for (let n = 1; !this.#isOver && (await attempt([shard])).length > 0; n++) {
        if (n < ATTEMPTS) continue;
        this.#fail(shard, "it changes too often; run the command again");
        break;
      }
    }
  }

  async #moveAlone(watcher: Connection, shard: Found, across: Across): Promise<Found[]> {
    const { name } = shard, isAcross = this.#isAcross(shard);
    await watcher.run("WATCH", name);
    const [type, length] = await Promise.all([watcher.run("TYPE", name), watcher.ask("STRLEN", name)]);
    if (type === "none") {
      if (isAcross) await across.undo(name);
      return [];
    }
    if (type !== "string") throw new ErrorAnswer(`WRONGTYPE it has become a ${String(type)}`);
    const now = { ...shard, length: Number(length) };
    return isAcross ? this.#moveAcross(watcher, now, across) : this.#moveHere(watcher, [now]);
  }

  #fail({ name }: Shard, why: string): void { this.#result.failed.push({ key: shown(name), why }); }

  /** Moves shards in the bitmap's slot. Returns those that have to be tried again. */
  async #moveHere(watcher: Connection, shards: Found[]): Promise<Found[]> {
    const { connection } = this.home, { key } = this.options, made: Buffer[] = [];
    try {
      const [, ...values] = await Promise.all([
        watcher.run("WATCH", ...shards.map(({ name }) => name)), ...shards.map((shard) => this.#value(watcher, shard)),
      ]);
      const jobs = await Promise.all(shards.map(async (shard, i) => ({
        shard: await this.#timed(watcher, shard), value: values[i],
        piece: this.temporaries.nameFor(key), before: this.temporaries.nameFor(key),
      })));
      const pieces = jobs.map(({ shard, piece }) => ({ source: shard.name, offset: shard.offset, piece }));
      const built = await this.#buildPieces(connection, pieces, made);
      for (const [i, { shard, value, piece }] of jobs.entries()) await this.#verify(watcher, shard, value, piece, built[i]);
      await this.#backUp(watcher, shards);
      const scripts = jobs.map(({ shard, piece, before }): Word[] =>
        this.script("MOVE", shard, { added: shard.name, lock: shard.name, source: shard.name, piece, before }));
      const replies = await transact(watcher, scripts);
      if (!replies) return shards;
      for (const [i, reply] of replies.entries()) this.#note(shards[i]!, reply);
      return [];
    } finally {
      if (made.length > 0) await connection.ask("UNLINK", ...made);
    }
  }

  #note(shard: Shard, reply: Answer): void {
    if (reply instanceof ErrorAnswer && isHopeless(reply)) throw failureAt(shown(shard.name), reply);
    if (reply instanceof ErrorAnswer) this.#fail(shard, reply.message);
    else if (Number(reply) === 1) this.#result.joined++;
  }

  /** The shard with its current TTL, if that matters. */
  async #timed(watcher: Connection, shard: Found): Promise<Found> {
    return this.options.expiry === "latest" ? { ...shard, expires: await expiryOf(shard.node, watcher, shard.name) } : shard;
  }

  /** A shard's bytes; undefined if they are too many to hold. Throws if the shard now has bits beyond the width. */
  async #value(watcher: Connection, { name, length, offset }: Found): Promise<Buffer | undefined> {
    if (length > SLICE) return undefined;
    const value = await readWhole(watcher, name);
    if (!value || value.length > SLICE) throw new Changed();
    if (hasBitsFrom(value, this.#limit(offset))) throw new ErrorAnswer(`DIFFERENT it has bits from ${this.#limit(offset)} on; check the width`);
    return value;
  }

  /** Makes a bitmap of each source's members; returns the contents of the small ones. */
  async #buildPieces(connection: Connection, pieces: Piece[], made: Buffer[]): Promise<Answer[]> {
    made.push(...pieces.map(({ piece }) => piece));
    const answers = (await transact(connection, pieces.flatMap(({ source, offset, piece }): Word[][] => [
      [`${this.family}.FROMBITMAP`, piece, source, "OFFSET", String(offset)], ["PEXPIRE", piece, TEMPORARY_MS],
      pieces.length === 1 ? ["PING"] : [`${this.family}.EXPORT`, piece],
    ])))!;
    const failed = answers.find((answer) => answer instanceof ErrorAnswer);
    if (failed) throw failed;
    if (pieces.length === 1) return [await connection.run(`${this.family}.EXPORT`, pieces[0]!.piece)];
    return pieces.map((_, i) => answers[3 * i + 2]!);
  }

  /** Throws unless a piece has exactly the members of the shard. */
  async #verify(watcher: Connection, shard: Found, value: Buffer | undefined, piece: Buffer, exported: Answer | undefined): Promise<void> {
    const { name, offset, length } = shard, { connection } = this.home, different = new ErrorAnswer("DIFFERENT the copy differs from the shard, which stays");
    const compare = (expected: Uint8Array, stored: Answer | undefined): void => {
      if (!Buffer.isBuffer(stored) || !haveSameMembers(this.#core, stored, expected, this.#format)) throw different;
    };
    try {
      if (value) return compare(this.#membersOf(value, offset).payload, exported);
      let members = 0n;
      for (let from = 0; from < length; from += SLICE) {
        const low = offset + BigInt(from) * 8n, high = low + BigInt(SLICE) * 8n - 1n;
        const bits = await watcher.run("GETRANGE", name, from, from + SLICE - 1) as Buffer;
        const limit = this.#limit(offset) - BigInt(from) * 8n;
        if (hasBitsFrom(bits, limit > 0n ? limit : 0n)) throw new ErrorAnswer(`DIFFERENT it has bits from ${this.#limit(offset)} on; check the width`);
        const stored = await connection.run(`${this.family}.QUERY`, `#1 & [${low}..${high < this.#last ? high : this.#last}]`, 1, piece, "EXPORT");
        const expected = this.#membersOf(bits, low);
        compare(expected.payload, stored);
        members += expected.count;
      }
      if (BigInt(String(await connection.run(`${this.family}.BITCOUNT`, piece))) !== members) throw different;
    } catch (error) {
      // The piece is made of the shard as it is at that time, so a change explains a difference.
      if (error === different && !await transact(watcher, [["PING"]])) throw new Changed();
      throw error;
    }
  }

  /** The members of a native bitmap whose bit 0 is at `offset`. */
  #membersOf(bits: Buffer, offset: bigint): { payload: Uint8Array; count: bigint } {
    this.#core.read(Format.BITS, bits);
    const count = this.#core.cardinality();
    const offsets = this.options.wide ? new BigUint64Array(Number(count)) : new Uint32Array(Number(count));
    let at = 0;
    this.#core.members((members) => {
      for (const member of members) offsets[at++] = (this.options.wide ? member + offset : Number(member + offset));
    });
    this.#core.collect(offsets);
    return { payload: this.#core.write(this.#format), count };
  }

  async #backUp(watcher: Connection, shards: Found[]): Promise<void> {
    const { backup } = this.options;
    if (!backup) return;
    const values = await Promise.all(shards.map(({ name }) => watcher.run("DUMP", name)));
    await backup.add(...shards.flatMap(({ name, expires }, i) => {
      const value = values[i];
      return Buffer.isBuffer(value) ? [{ name, expires, value }] : [];
    }));
  }

  /** The command that adds a source's members to the bitmap. */
  script(how: "MOVE" | "COPY", { offset, expires }: Found, keys: ScriptKeys, holder = ""): Word[] {
    const last = offset + this.#limit(offset) - 1n, { added, lock, source, piece, before } = keys;
    const time = this.options.expiry === "latest" ? String(expires) : "KEEP";
    return ["EVAL", JOIN, 6, this.options.key, added, lock, source, piece, before, this.family, holder, how, String(offset), String(last), time];
  }

  /** Moves a shard of another slot. */
  async #moveAcross(watcher: Connection, shard: Found, across: Across): Promise<Found[]> {
    const { connection } = this.home, { key } = this.options, made: Buffer[] = [];
    const copy = this.temporaries.nameFor(key), piece = this.temporaries.nameFor(key), before = this.temporaries.nameFor(key);
    try {
      const value = await this.#value(watcher, shard), { length } = shard;
      made.push(copy);
      for (let from = 0; from < Math.max(length, 1); from += SLICE) {
        const part = value ?? await watcher.run("GETRANGE", shard.name, from, from + SLICE - 1) as Buffer;
        const answers = await transact(connection, [["APPEND", copy, part], ["PEXPIRE", copy, TEMPORARY_MS]]);
        const failed = answers?.find((answer) => answer instanceof ErrorAnswer);
        if (failed) throw failed;
      }
      const [exported] = await this.#buildPieces(connection, [{ source: copy, offset: shard.offset, piece }], made);
      await this.#verify(watcher, shard, value, piece, exported);
      await this.#backUp(watcher, [shard]);
      this.#note(shard, await across.move(watcher, await this.#timed(watcher, shard), { source: copy, piece, before }));
      return [];
    } finally {
      if (made.length > 0) await connection.ask("UNLINK", ...made);
    }
  }
}
