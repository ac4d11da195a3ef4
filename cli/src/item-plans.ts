// Sorted sets and hashes that become integers for ids, and sets of strings that become bitmaps with a dictionary.

import { adding, LONGEST_NAME, memberNamePages } from "./dictionary.js";
import { ErrorAnswer } from "./failure.js";
import { LAST_VALUE, LEAST_VALUE, pairPages, storing } from "./integers.js";
import { Changed, Different, type Plan, Skipped } from "./plan.js";
import { readPages } from "./reading.js";
import { type Connection } from "./servers.js";
import { isOffset } from "./verdict.js";

/** A score as an integer; undefined if it is none of 64 bits. A score is a double, so Number() has all of it. */
function ofScore(text: string): bigint | undefined {
  const score = Number(text);
  return Number.isInteger(score) ? within(BigInt(score)) : undefined;
}

/** A value of a hash as an integer; undefined if it would come back as another text, or needs more than 64 bits. */
const ofValue = (text: string): bigint | undefined => (/^(0|-?[1-9]\d{0,18})$/.test(text) ? within(BigInt(text)) : undefined);

const within = (value: bigint): bigint | undefined => (value >= LEAST_VALUE && value <= LAST_VALUE ? value : undefined);

/** Throws if fields of a hash expire by themselves, which integers cannot. Servers before Redis 7.4 and Valkey 9.0 have no such fields. */
async function needLastingFields(connection: Connection, name: Buffer, fields: readonly Buffer[]): Promise<void> {
  const times = await connection.ask("HPTTL", name, "FIELDS", fields.length, ...fields);
  if (times instanceof ErrorAnswer && /^ERR unknown command/.test(times.message)) return;
  if (times instanceof ErrorAnswer) throw times;
  if (Array.isArray(times) && times.some((time) => Number(time) >= 0)) throw new Skipped("a hash with fields that expire");
}

/** What a sorted set or a hash becomes; throws Skipped unless all members are ids, and all scores or values integers. */
export async function planIntegers(watcher: Connection, name: Buffer, type: string): Promise<Plan> {
  if (type !== "zset" && type !== "hash") throw new Changed();
  const isHash = type === "hash", what = isHash ? "a hash" : "a sorted set", pairs = new Map<string, string>();
  const isRead = await readPages(watcher, isHash ? "HSCAN" : "ZSCAN", name, async (list) => {
    const ids = list.filter((_, i) => i % 2 === 0);
    for (const [i, bytes] of ids.entries()) {
      const id = bytes.toString("latin1"), text = list[2 * i + 1]!.toString("latin1"), value = isHash ? ofValue(text) : ofScore(text);
      if (!isOffset(id)) throw new Skipped(`${what} with ${isHash ? "fields" : "members"} that are not ids`);
      if (value === undefined) throw new Skipped(`${what} with ${isHash ? "values" : "scores"} that are not integers of 64 bits`);
      pairs.set(id, String(value));
    }
    if (isHash && ids.length > 0) await needLastingFields(watcher, name, ids);
  });
  if (!isRead || pairs.size === 0) throw new Changed();
  return {
    kind: "integers",
    build: (temporary) => storing(temporary, [...pairs]),
    bytesAfter: 0,
    verify: async (_, connection, temporary) => {
      let same = 0;
      for await (const page of pairPages(connection, temporary)) same += page.filter(([id, value]) => pairs.get(id) === value).length;
      if (same !== pairs.size || String(await connection.run("RI.CARD", temporary)) !== String(pairs.size)) throw new Different();
    },
  };
}

/** What a set of strings becomes; throws Skipped if one of them cannot be a name. */
export async function planNames(watcher: Connection, name: Buffer, type: string, dictionary: Buffer): Promise<Plan> {
  if (type !== "set") throw new Changed();
  const names = new Map<string, Buffer>();
  const isRead = await readPages(watcher, "SSCAN", name, (list) => {
    for (const member of list) {
      if (member.length === 0) throw new Skipped("a set with an empty member, which cannot be a name");
      if (member.length > LONGEST_NAME) throw new Skipped("a set with a member that is too long for a name");
      names.set(member.toString("latin1"), member);
    }
  });
  if (!isRead || names.size === 0) throw new Changed();
  return {
    kind: "R",
    build: (temporary) => adding(dictionary, temporary, [...names.values()]),
    bytesAfter: 0,
    verify: async (_, connection, temporary) => {
      let same = 0;
      for await (const page of memberNamePages(connection, dictionary, temporary)) {
        same += page.filter((one) => names.has(one.toString("latin1"))).length;
      }
      // The pages leave out members without a name.
      if (same !== names.size || String(await connection.run("R.BITCOUNT", temporary)) !== String(names.size)) throw new Different();
    },
  };
}
