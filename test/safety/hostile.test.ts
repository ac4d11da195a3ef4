// Payloads that were tampered with. The server must survive, reply in time, and use no more memory than the size of the payload
// justifies. Whatever it accepts must be a valid bitmap.
//
//   MUTATIONS   number of payloads per command (default 20000)

import { describe, expect, it } from "vitest";
import { dumpOf, payloadOf } from "../support/dump.ts";
import { families, type Family, fromReply, R } from "../support/family.ts";
import { croaringContainers, portable64, readPayload } from "../support/format.ts";
import { mutated, portable, values } from "../support/mutation.ts";
import { seeded } from "../support/random.ts";
import { bytesOf, type Command, type Reply, ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectEqual, useServer } from "../support/suite.ts";

const MUTATIONS = Number(process.env.MUTATIONS ?? 20_000);
const BATCH = 500;
/** Bitmaps with more members are not listed. */
const LISTED = 10_000;
const SLOW_MICROSECONDS = 1_000_000;

const server = useServer({
  moduleArguments: withDebug,
  config: ["sanitize-dump-payload yes", `slowlog-log-slower-than ${SLOW_MICROSECONDS}`],
});

/** A command that accepts payloads. */
interface Way {
  readonly name: string;
  readonly originals: (family: Family) => Buffer[];
  readonly command: (family: Family, key: string, payload: Buffer) => Command;
  readonly refusal: RegExp;
}

const ways: Way[] = [
  {
    name: "RESTORE",
    originals: values,
    command: (family, key, payload) => ["RESTORE", key, 0, dumpOf(family.type, payload)],
    refusal: /^ERR Bad data format$/,
  },
  {
    name: "IMPORT",
    originals: portable,
    command: (family, key, payload) => [`${family.name}.IMPORT`, key, payload],
    refusal: /^ERR invalid roaring payload: [a-z]/,
  },
];

/** Bytes that a bitmap may take: a container of 6 bytes in the payload needs an entry of 12, leaves may be partly empty, plus a header. */
const memoryFor = (payload: Buffer): number => 8 * payload.length + 500;

const variants = families.flatMap((family) => ways.map((way) => ({ family, way, name: `${family.name}: ${way.name}` })));

describe.each(byName(variants))("%s", (_variant, { family, way }) => {
  const roar = roarOn(server, family);

  /** Expects that each key is a valid bitmap and that all queries about it agree. */
  async function expectValid(accepted: readonly { key: string; payload: Buffer }[]): Promise<void> {
    const questions = (key: string): Command[] => [
      ["R.DEBUG", "VALIDATE", key],
      ["MEMORY", "USAGE", key],
      [roar.name("BITCOUNT"), key],
      [roar.name("BITCOUNT"), key, 0, 99_999, "BIT"],
      [roar.name("BITCOUNT"), key, 100_000, 2 ** 31, "BIT"],
      [roar.name("BITCOUNT"), key, 2 ** 31 + 1, -1, "BIT"],
    ];
    const answers = await server.connection.pipeline(accepted.flatMap(({ key }) => questions(key)));
    const few: { key: string; payload: Buffer }[] = [];
    accepted.forEach(({ key, payload }, i) => {
      const [validated, bytes, members, ...parts] = answers.slice(6 * i, 6 * i + 6);
      const what = payload.toString("hex").slice(0, 400);
      expect(validated, what).toBe("OK");
      expect(bytes, what).toBeLessThanOrEqual(memoryFor(payload));
      expect(parts.reduce<bigint>((sum, part) => sum + BigInt(String(part)), 0n), what).toBe(BigInt(String(members)));
      if (BigInt(String(members)) <= LISTED) few.push({ key, payload });
    });
    const listed = await server.connection.pipeline(
      few.flatMap(({ key }): Command[] => [[roar.name("GETINTARRAY"), key], [roar.name("BITCOUNT"), key], ["DUMP", key]]),
    );
    few.forEach(({ payload }, i) => {
      const [reply, count, dump] = listed.slice(3 * i, 3 * i + 3);
      const members = (reply as Reply[]).map(fromReply);
      const what = payload.toString("hex").slice(0, 400);
      expect(members.length, what).toBe(count);
      expectEqual(readPayload(family.bits, payloadOf(family.type, bytesOf(dump!))), members, what);
    });
  }

  it("accepts only valid bitmaps among mutated payloads", seeded(async (random) => {
    const originals = way.originals(family);
    let accepted = 0;
    for (let done = 0; done < MUTATIONS; done += BATCH) {
      const payloads = Array.from({ length: BATCH }, (_, i) => ({ key: `k${i}`, payload: mutated(random.pick(originals), random) }));
      const replies = await server.connection.pipeline(payloads.map(({ key, payload }) => way.command(family, key, payload)));
      for (const reply of replies) if (reply instanceof ReplyError) expect(reply.message).toMatch(way.refusal);
      const taken = payloads.filter((_, i) => !(replies[i] instanceof ReplyError));
      accepted += taken.length;
      await expectValid(taken);
      expect(await server.run("DBSIZE")).toBe(taken.length);
      await server.run("FLUSHALL", "SYNC");
    }
    expect(accepted).toBeGreaterThan(MUTATIONS / 100);
    expect(accepted).toBeLessThan(MUTATIONS);
    expect(await server.run("SLOWLOG", "LEN")).toBe(0);
  }));

  it("allocates memory by the bytes that a payload has, not by the counts that it claims", async () => {
    const large = Array.from({ length: 65_536 }, (_, key) => ({ key, kind: "array" as const, values: [key] }));
    const good = family === R ? croaringContainers(large) : portable64([{ high: 0, containers: large }]);
    const stream = family === R ? good.subarray(1) : good;
    const payload = way.name === "RESTORE" ? good : stream;
    const counts = family === R ? (way.name === "RESTORE" ? [5] : [4]) : [0, 16];
    const lies = counts.map((at) => {
      const lie = Buffer.from(payload);
      lie.writeUInt32LE(0xffff, at);
      return lie;
    });
    for (const bytes of [payload, payload.subarray(0, -1), Buffer.concat([payload, payload]), ...lies]) {
      await server.run("FLUSHALL", "SYNC");
      await server.run("CONFIG", "RESETSTAT");
      const before = await server.number("used_memory_peak");
      const [reply] = await server.connection.pipeline([way.command(family, "k", bytes)]);
      if (bytes === payload) expect(reply).not.toBeInstanceOf(ReplyError);
      else expect((reply as ReplyError).message).toMatch(way.refusal);
      expect(await server.number("used_memory_peak") - before).toBeLessThan(16 * bytes.length);
    }
  });
});
