// Shards in other slots of a cluster than the bitmap. No transaction reaches both, so a shard goes in these steps, and each kill between
// two of them leaves a state from which the next run continues:
//
//   1  in the bitmap's slot, a script adds the members, and keeps those that are new in a key `added`
//   2  in the shard's slot, a transaction renames the shard to `taken`; nothing happens if it has changed since it was read
//   3  `added` is deleted, then `taken`
//
//   added  taken   the next run
//   no     no      has not begun with the shard, or is done
//   yes    no      removes the new members again, and starts over with the current shard; if the shard is gone, it was deleted
//   yes    yes     does step 3
//   no     yes     deletes `taken`
//
// A member is in the shard, in the bitmap, or for a moment in both. Two runs at once could mistake each other's keys for those of a kill,
// so there is a lock in the bitmap's slot, and the scripts look at it.

import { randomBytes } from "node:crypto";
import { ErrorAnswer, Failure, interruption } from "../failure.js";
import { shown, slotOf, tagOf } from "../names.js";
import { scan } from "../reading.js";
import { type Answer, type Connection, type Word } from "../servers.js";
import { transact } from "../transaction.js";
import { KEEP_ADDED, UNDO_ADDED } from "./script.js";
import { Changed, type Found, type Joining, type ScriptKeys } from "./shard.js";

/** A lock expires after this time if it is not renewed. */
const LOCK_MS = 5000;
const PREFIX = "redis-roar:join:";

/** Names of the keys for a bitmap, which begin with the length of its name. */
function keysFor(bitmap: Buffer) {
  const name = (slot: number, what: string, shard: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`${PREFIX}{${tagOf(slot)}}:${what}:${bitmap.length}:`), bitmap, Buffer.from(":"), shard]);
  return {
    lock: name(slotOf(bitmap), "lock", Buffer.alloc(0)),
    added: (shard: Buffer): Buffer => name(slotOf(bitmap), "added", shard),
    taken: (shard: Buffer): Buffer => name(slotOf(shard), "taken", shard),
    /** The shard whose key this is. */
    shardOf: (key: Buffer, what: "added" | "taken"): Buffer | undefined => {
      const from = key.indexOf(`}:${what}:${bitmap.length}:`), begin = from + `}:${what}:${bitmap.length}:`.length;
      if (from < 0 || !key.subarray(begin, begin + bitmap.length).equals(bitmap) || key[begin + bitmap.length] !== 0x3a) return undefined;
      return key.subarray(begin + bitmap.length + 1);
    },
  };
}

export class Across {
  readonly #joiner: Joining;
  readonly #keys: ReturnType<typeof keysFor>;
  readonly #id = randomBytes(12).toString("hex");
  #renewing: NodeJS.Timeout | undefined;

  constructor(joiner: Joining) {
    this.#joiner = joiner;
    this.#keys = keysFor(joiner.options.key);
  }

  get #home(): Connection { return this.#joiner.home.connection; }

  /** Takes the lock. Waits long enough for the lock of a killed process to expire. */
  async begin(): Promise<void> {
    if (this.#renewing) return;
    for (const end = performance.now() + LOCK_MS + 2000; ;) {
      if (await this.#home.run("SET", this.#keys.lock, this.#id, "NX", "PX", LOCK_MS) !== null) break;
      if (interruption.asked) return;
      if (performance.now() > end) throw new Failure(`${shown(this.#joiner.options.key)}: another join to this key is running`);
      await interruption.pause(200);
    }
    const renew = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
    this.#renewing = setInterval(() => void this.#home.ask("EVAL", renew, 1, this.#keys.lock, this.#id, LOCK_MS).catch(() => {}), LOCK_MS / 4);
    this.#renewing.unref();
  }

  async close(): Promise<void> {
    if (!this.#renewing) return;
    clearInterval(this.#renewing);
    const release = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('UNLINK', KEYS[1]) end return 0";
    await this.#home.ask("EVAL", release, 1, this.#keys.lock, this.#id).catch(() => {});
  }

  /** Removes the members that an earlier attempt had added, because the shard was deleted. */
  async undo(shard: Buffer): Promise<void> { await this.#ended(UNDO_ADDED, shard); }

  #ended(script: string, shard: Buffer): Promise<Answer> {
    const { options: { key }, family } = this.#joiner, words: Word[] = [key, this.#keys.added(shard), this.#keys.lock, family, this.#id];
    return this.#home.run("EVAL", script, 3, ...words);
  }

  /** Steps 1 to 3. Throws Changed if the shard has changed. */
  async move(watcher: Connection, shard: Found, keys: Omit<ScriptKeys, "added" | "lock">): Promise<Answer> {
    const { name } = shard, { added, taken, lock } = this.#keys;
    await this.#home.run(...this.#joiner.script("COPY", shard, { ...keys, added: added(name), lock }, this.#id));
    const renamed = await transact(watcher, [["RENAME", name, taken(name)], ["PERSIST", taken(name)]]);
    if (!renamed || renamed[0] instanceof ErrorAnswer) throw new Changed();
    await this.#ended(KEEP_ADDED, name);
    await watcher.run("UNLINK", taken(name));
    return 1;
  }

  /** Finishes the work of an earlier run on shards that are gone. */
  async finish(): Promise<void> {
    const { servers, home } = this.#joiner;
    if (!servers.isCluster) return;
    const found = async (connection: Connection, what: "added" | "taken"): Promise<Buffer[]> => {
      const shards: Buffer[] = [];
      for await (const names of scan(connection, { match: `${PREFIX}*` })) {
        for (const name of names) {
          const shard = this.#keys.shardOf(name, what);
          if (shard) shards.push(shard);
        }
      }
      return shards;
    };
    const look = async (): Promise<{ taken: { connection: Connection; shards: Buffer[] }[]; added: Buffer[]; isClean: boolean }> => {
      const taken = await Promise.all(servers.nodes.map(async ({ connection }) => ({ connection, shards: await found(connection, "taken") })));
      const added = await found(home.connection, "added");
      return { taken, added, isClean: added.length === 0 && taken.every(({ shards }) => shards.length === 0) };
    };
    if ((await look()).isClean) return;
    await this.begin();
    // Only now does no other process work on them.
    const { taken, added } = await look();
    for (const { connection, shards } of taken) {
      for (const shard of shards) {
        await this.#ended(KEEP_ADDED, shard);
        await connection.run("UNLINK", this.#keys.taken(shard));
      }
    }
    const isThere = async (shard: Buffer): Promise<boolean> => Number(await servers.nodeOf(shard).connection.run("EXISTS", shard)) === 1;
    const gone = new Set(taken.flatMap(({ shards }) => shards.map((shard) => shard.toString("latin1"))));
    for (const shard of added) if (!gone.has(shard.toString("latin1")) && !await isThere(shard)) await this.undo(shard);
  }
}
