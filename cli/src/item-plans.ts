// Sorted sets and hashes that become integers for ids, and sets of strings that become bitmaps with a dictionary.

import { type Core } from "./core/core.js";
import { keyBytes, keyLayout } from "./core/sizes.js";
import { adding, LONGEST_NAME, memberNamePages } from "./dictionary.js";
import { ofScore, ofValue, type Pair, pairPages, sizeOfIntegers, storing } from "./integers.js";
import { Changed, Different, type Place, type Plan, Skipped, type Subject } from "./plan.js";
import { doExpire, readPages } from "./reading.js";
import { isOffset } from "./verdict.js";

/** What a key takes beside its value. */
const keyOf = ({ node, quantum }: Place, { name, expires }: Subject): number =>
  keyBytes(keyLayout(node.version), quantum, name.length, expires >= 0);

/** What a sorted set or a hash becomes; throws Skipped unless all members are ids, and all scores or values integers. */
export async function planIntegers(core: Core, place: Place, subject: Subject): Promise<Plan> {
  const { watcher } = place, { name, type } = subject;
  if (type !== "zset" && type !== "hash") throw new Changed();
  const isHash = type === "hash", what = isHash ? "a hash" : "a sorted set", found = new Map<string, bigint>();
  const isRead = await readPages(watcher, isHash ? "HSCAN" : "ZSCAN", name, async (list) => {
    const ids = list.filter((_, i) => i % 2 === 0);
    for (const [i, bytes] of ids.entries()) {
      const id = bytes.toString("latin1"), text = list[2 * i + 1]!.toString("latin1"), value = isHash ? ofValue(text) : ofScore(text);
      if (!isOffset(id)) throw new Skipped(`${what} with ${isHash ? "fields" : "members"} that are not ids`);
      if (value === undefined) throw new Skipped(`${what} with ${isHash ? "values" : "scores"} that are not integers of 64 bits`);
      found.set(id, value);
    }
    if (isHash && ids.length > 0 && await doExpire(watcher, name, ids)) throw new Skipped("a hash with fields that expire");
  });
  if (!isRead || found.size === 0) throw new Changed();
  const { bytes, packs } = sizeOfIntegers(core, BigUint64Array.from(found.keys(), BigInt), BigInt64Array.from(found.values()));
  // Ascending ids are stored sooner, and make the key as large as the core says.
  const pairs = Array.from(found, ([id, value]): Pair => [id, String(value)]).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  return {
    kind: "integers",
    build: (temporary) => [...storing(temporary, pairs), ...(packs ? [["RI.OPTIMIZE", temporary]] : [])],
    bytesAfter: bytes + keyOf(place, subject),
    verify: async (_, connection, temporary) => {
      let same = 0;
      for await (const page of pairPages(connection, temporary)) {
        same += page.filter(([id, value]) => String(found.get(id)) === value).length;
      }
      if (same !== found.size || String(await connection.run("RI.CARD", temporary)) !== String(found.size)) throw new Different();
    },
  };
}

/** What a set of strings becomes; throws Skipped if one of them cannot be a name. */
export async function planNames({ watcher }: Place, { name, type }: Subject, dictionary: Buffer): Promise<Plan> {
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
    // Bit by bit, a bitmap may have become larger than it need be.
    build: (temporary) => [...adding(dictionary, temporary, [...names.values()]), ["R.OPTIMIZE", temporary]],
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
