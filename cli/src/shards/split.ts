// split: a roaring bitmap becomes native bitmaps of `width` bits each, the reverse of join.
//
// For each range that has members: a temporary key gets them, another one the native bitmap, and a script compares both with the range as
// it is then, gives the shard its name, and clears the range. So at each moment a member is in the bitmap or in its shard, and running
// the command again continues where it stopped.

import { type Core, Format } from "../core/core.js";
import { Exit, Failure, interruption } from "../failure.js";
import { shown, slotOf } from "../names.js";
import { Pace } from "../pace.js";
import { type Connection, type Servers } from "../servers.js";
import { exec, Temporaries, TEMPORARY_MS } from "../transaction.js";
import { type ShardNames } from "./names.js";
import { SPLIT } from "./script.js";

export interface SplitOptions {
  key: Buffer;
  names: ShardNames;
  dryRun: boolean;
  maxRate: number;
  onProgress?: (done: number, expected: number) => void;
}

export interface Split {
  shards: number;
  members: string;
  isPartial: boolean;
}

/** A range that changes again and again ends the run after so many attempts. */
const ATTEMPTS = 100;
/** The longest native bitmap has so many bits. */
const MOST_BITS = 2n ** 32n;

export async function split(servers: Servers, core: Core, options: SplitOptions): Promise<Split> {
  const { key, names, dryRun, maxRate } = options, { connection } = servers.nodeOf(key);
  const temporaries = new Temporaries(servers), pace = new Pace(maxRate, 1);
  if (names.width > MOST_BITS) throw new Failure(`a native bitmap has at most ${MOST_BITS} bits`, Exit.USAGE);
  const type = String(await connection.run("TYPE", key));
  if (type !== "reroaring" && type !== "roaring64") throw new Failure(`${shown(key)}: ${type === "none" ? "there is no such key" : `of type ${type}, not a roaring bitmap`}`);
  const family = type === "roaring64" ? "R64" : "R", last = family === "R64" ? 2n ** 64n - 1n : 2n ** 32n - 1n;
  if (!dryRun) await temporaries.check(connection, "split");
  const greatest = await connection.run(`${family}.MAX`, key), most = greatest === null ? -1n : BigInt(String(greatest));
  let shards = 0, members = 0n;
  for (let from = 0n; from <= most && !interruption.asked;) {
    const [least] = await connection.run(`${family}.RANGE`, key, String(from), String(last), "LIMIT", 1) as [unknown];
    if (least === undefined) break;
    const number = BigInt(String(least)) / names.width, low = number * names.width, end = low + names.width - 1n;
    const high = end < last ? end : last, shard = names.nameOf(number + names.first);
    if (servers.isCluster && slotOf(shard) !== slotOf(key)) {
      throw new Failure(`${shown(shard)} is in another slot of the cluster than ${shown(key)}, and split needs both in one; unload and load members instead`);
    }
    if (dryRun) members += BigInt(String(await connection.run(`${family}.QUERY`, `#1 & [${low}..${high}]`, 1, key)));
    else members += await pace.spend(1, () => move({ core, connection, temporaries, family, key, shard, low, high }));
    shards++;
    options.onProgress?.(Number(number + 1n), Number(most / names.width + 1n));
    from = high + 1n;
  }
  if (!dryRun && !interruption.asked) await removeEmpty(connection, family, key);
  return { shards, members: String(members), isPartial: interruption.asked };
}

interface Part {
  core: Core;
  connection: Connection;
  temporaries: Temporaries;
  family: "R" | "R64";
  key: Buffer;
  shard: Buffer;
  low: bigint;
  high: bigint;
}

/** Moves a range; returns how many members it had. */
async function move({ core, connection, temporaries, family, key, shard, low, high }: Part): Promise<bigint> {
  for (let attempt = 1; ; attempt++) {
    const [piece, made, check] = [temporaries.nameFor(key), temporaries.nameFor(key), temporaries.nameFor(key)];
    try {
      const [, , payload] = (await exec(connection, [
        [`${family}.QUERYSTORE`, piece, `#1 & [${low}..${high}]`, 1, key], ["PEXPIRE", piece, TEMPORARY_MS], [`${family}.EXPORT`, piece],
      ]))!;
      core.read(family === "R" ? Format.PORTABLE : Format.PORTABLE_WIDE, payload as Buffer);
      const count = core.cardinality(), offsets = new Uint32Array(Number(count));
      let at = 0;
      core.members((some) => { for (const member of some) offsets[at++] = Number(member - low); });
      core.collect(offsets);
      await connection.run("SET", made, Buffer.from(core.write(Format.BITS)), "PX", TEMPORARY_MS);
      const words = [family, String(low), String(high), String(high + 1n)];
      if (Number(await connection.run("EVAL", SPLIT, 5, key, shard, made, piece, check, ...words)) === 1) return count;
      if (attempt === ATTEMPTS) throw new Failure(`${shown(key)}: offsets from ${low} on change too often; run the command again`);
    } finally {
      await connection.ask("UNLINK", piece, made, check).catch(() => {});
    }
  }
}

/** Deletes the bitmap, unless it has members again. */
async function removeEmpty(connection: Connection, family: "R" | "R64", key: Buffer): Promise<void> {
  const script = "if tonumber(redis.call(ARGV[1] .. '.BITCOUNT', KEYS[1])) == 0 then return redis.call('UNLINK', KEYS[1]) end return 0";
  await connection.run("EVAL", script, 1, key, family);
}
