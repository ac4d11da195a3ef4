// Parsing of offsets: valid ones of every length, invalid ones, and long lists in any order.

import { describe, expect, it } from "vitest";
import { asReply, ascending, families, member, range, sorted } from "../support/family.ts";
import { seeded } from "../support/random.ts";
import { ReplyError } from "../support/resp.ts";
import { roarOn } from "../support/roar.ts";
import { withDebug } from "../support/server.ts";
import { byName, expectValid, offsetError, useServer } from "../support/suite.ts";

describe.each(byName(families))("%s: offsets", (_family, family) => {
  const server = useServer({ moduleArguments: withDebug });
  const roar = roarOn(server, family);
  const { last, bits } = family, digits = String(last).length;
  /** Whether the text is a valid offset: only digits without leading zeros; R64 also accepts a plus sign and leading zeros. */
  const isOffset = (text: string): boolean =>
    (bits === 64 ? /^\+?[0-9]+$/ : /^(0|[1-9][0-9]*)$/).test(text) && BigInt(text.replace("+", "")) <= last;

  const check = async (texts: readonly string[]): Promise<void> => {
    const commands = texts.flatMap((text) => [[roar.name("SETINTARRAY"), "k", Buffer.from(text, "latin1")], [roar.name("MIN"), "k"]]);
    const replies = await roar.connection.pipeline(commands);
    for (const [i, text] of texts.entries()) {
      const [set, least] = replies.slice(2 * i), refusal = set instanceof ReplyError && set.message;
      if (isOffset(text)) expect([text, set, least]).toEqual([text, "OK", asReply(member(BigInt(text.replace("+", ""))))]);
      else expect([text, refusal]).toEqual([text, offsetError(family, "value")]);
    }
  };

  it("of every length are accepted", () => check(
    ["0", ...range(1, digits).flatMap((length) => ["12345678901234567890".slice(0, length), "9".repeat(length), "1".padEnd(length, "0")])],
  ));

  it("are refused beyond the last offset of the family", () => check([0n, 1n, 2n, 10n, 2n ** 32n, 2n ** 63n].flatMap((more) =>
    [String(last + more), String(last - (more % last)), `${last}0`, `1${last}`])));

  it("are refused with a character other than a digit at any position", () => check(
    Array.from({ length: digits }, (_, i) => i + 1).flatMap((length) => Array.from({ length }, (_, at) => at).flatMap((at) =>
      ["/", ":", "\0", "\xb0", " ", "-", "a", "\xff"].map((strange) => `${"1".repeat(at)}${strange}${"1".repeat(length - 1 - at)}`))),
  ));

  it("are accepted or refused correctly for random texts", seeded((random) => check(Array.from({ length: 3000 }, () => {
    const text = String((random.u64() >> BigInt(random.below(64))) + BigInt(random.below(3)));
    return random.chance(0.3) ? random.pick(["+", "0", "00000", "0".repeat(30), "+0", " ", "-"]) + text : text;
  }))));

  it("in lists may come in any order and repeat", seeded(async (random) => {
    for (let round = 0; round < 60; round++) {
      const most = Math.min(Number(last), 2 ** random.pick([10, 17, 22, 32, 52])), model = new Set<number>();
      const some = (): number[] => {
        const found = Array.from({ length: 1 + random.below(random.pick([20, 200, 3000])) }, () => random.below(most));
        return random.chance(0.3) ? found.sort(ascending) : found;
      };
      const first = some(), added = some(), asked = [...first.slice(0, 20), ...some()];
      const removed = [...some(), ...first.slice(0, first.length / 2)];
      await roar.run("SETINTARRAY", "k", ...first);
      for (const value of first) model.add(value);
      const before = model.size;
      for (const value of added) model.add(value);
      expect(await roar.run("SETBITS", "k", ...added)).toBe(model.size - before);
      expect(await roar.members("k")).toEqual(sorted(model));
      expect(await roar.run("GETBITS", "k", ...asked)).toEqual(asked.map((value) => Number(model.has(value))));
      expect(await roar.run("CLEARBITS", "k", ...removed, "COUNT")).toBe(removed.filter((value) => model.delete(value)).length);
      expect(await roar.members("k")).toEqual(sorted(model));
      await expectValid(server);
    }
  }));
});
