// Offsets in text: which characters separate them, and which text is refused, however the text is cut.

import { expect, it } from "vitest";
import { type Family, InvalidArgumentError, type Member, offsetsIn, R, R64 } from "../../client/src/index.ts";
import { type Random, seeded } from "../support/random.ts";

/** What a reader finds: offsets, and the message of the error that ends them. */
interface Found {
  offsets: bigint[];
  refused?: string;
}

async function found(family: Family<Member>, chunks: Iterable<Uint8Array | string>): Promise<Found> {
  const offsets: bigint[] = [];
  try {
    for await (const some of offsetsIn(family, chunks)) for (const one of some) offsets.push(BigInt(one));
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidArgumentError);
    return { offsets, refused: (error as Error).message };
  }
  return { offsets };
}

const message = ({ last }: Family<Member>, line: number, shown: string): string =>
  `invalid offset: line ${line}: ${shown} is not a whole number from 0 to ${last} in plain digits`;

/** The same by one regular expression over the whole text, which is short. */
function model(family: Family<Member>, text: Buffer): Found {
  const one = text.toString("latin1").replace(/^\xEF\xBB\xBF/, ""), offsets: bigint[] = [];
  for (const { 0: word, index } of one.matchAll(/[^ \t\n\v\f\r,]+/g)) {
    if (!/^(?:0|[1-9]\d*)$/.test(word) || BigInt(word) > family.last) {
      const line = one.slice(0, index).split("\n").length, shown = JSON.stringify(Buffer.from(word.slice(0, 40), "latin1").toString());
      return { offsets, refused: message(family, line, word.length > 40 ? `${shown}...` : shown) };
    }
    offsets.push(BigInt(word));
  }
  return { offsets };
}

/** The text in parts of up to so many bytes. */
function* cut(text: Buffer, most: () => number): Generator<Buffer> {
  for (let at = 0; at < text.length;) {
    const end = at + most();
    yield text.subarray(at, end);
    at = end;
  }
}

it("white space, commas and a leading byte order mark separate offsets, however the text is cut", async () => {
  const text = Buffer.from("\ufeff7, 8\n\n4294967295\t0\r\n12,3\v\f,,10 ");
  const offsets = [7n, 8n, 4_294_967_295n, 0n, 12n, 3n, 10n];
  for (const size of [1, 2, 3, 5, 100]) {
    for (const family of [R, R64]) expect(await found(family, cut(text, () => size))).toEqual({ offsets });
  }
  for (const empty of ["", "\ufeff", "\ufeff\n", " ,\n"]) expect(await found(R, [empty])).toEqual({ offsets: [] });
  expect(await found(R64, ["18446744073709551615"])).toEqual({ offsets: [2n ** 64n - 1n] });
});

it.each<[text: string, line: number, shown: string]>([
  ["-2147483647", 1, "-2147483647"], ["1.5", 1, "1.5"], ["1e5", 1, "1e5"], ["1,000", 1, "000"], ["7\n01", 2, "01"], ["+1", 1, "+1"],
  ["0x10", 1, "0x10"], ["1\r\n2\r\n7,alice3\n4", 3, "alice3"], ["1;2", 1, "1;2"], ["1\0", 1, "1\0"], ["\n1\u00a02", 2, "1\u00a02"],
  ["1\n\ufeff2", 2, "\ufeff2"], ["\ufeff\ufeff1", 1, "\ufeff1"], ["1 \u0663", 1, "\u0663"], ["\u{1f600}", 1, "\u{1f600}"], ['"7"', 1, '"7"'],
  ["18446744073709551616", 1, "18446744073709551616"], ["1".repeat(21), 1, "1".repeat(21)],
  ["\n2\n 0000000000000000000000007", 3, "0000000000000000000000007"],
])("%j is refused with its line and text", async (text, line, shown) => {
  for (const family of [R, R64]) {
    const whole = await found(family, [text]);
    expect(whole.refused).toBe(message(family, line, JSON.stringify(shown)));
    for (const size of [1, 2, 3]) expect(await found(family, cut(Buffer.from(text), () => size))).toEqual(whole);
  }
});

it("shows the beginning of a long text without separators, and does not read the rest", async () => {
  let read = 0;
  function* long(): Generator<string> { for (yield "1\n"; read < 1000; read++) yield "12345é789\0"; }
  const whole = await found(R, long());
  expect(whole.offsets).toEqual([1n]);
  expect(whole.refused).toMatch(/^invalid offset: line 2: "12345é789\\u0000.*"\.\.\. is not a whole number/);
  expect(read).toBeLessThan(20);
});

it("R refuses offsets that R64 takes", async () => {
  expect(await found(R, ["1 4294967296 2"])).toEqual({ offsets: [1n], refused: message(R, 1, '"4294967296"') });
  expect(await found(R64, ["1 4294967296 2"])).toEqual({ offsets: [1n, 4_294_967_296n, 2n] });
});

/** A word of a text: nearly always an offset. */
function someWord(rng: Random, family: Family<Member>): string {
  const offset = rng.pick([BigInt(rng.below(10)), BigInt(rng.below(2 ** 32)), rng.u64() % (family.last + 1n), family.last]);
  if (rng.chance(0.98)) return String(offset);
  const bad = ["00", "1.5", "-1", "é", "\u{1f600}7", "1\u2028", "\ufeff", String(family.last + 1n)];
  return rng.pick([...bad, "x".repeat(rng.below(90)), "9".repeat(rng.below(90))]);
}

it("reads what one regular expression finds, in text that is cut at random", seeded(async (rng) => {
  for (let round = 0; round < 400; round++) {
    const family = rng.pick<Family<Member>>([R, R64]);
    let text = rng.chance(0.3) ? "\ufeff" : "";
    for (let i = rng.below(60); i >= 0; i--) text += someWord(rng, family) + rng.pick(["\n", "\r\n", ",", ", ", "\t", " ", "\n\n"]);
    if (rng.chance(0.5)) text = text.trimEnd();
    const bytes = Buffer.from(text), most = 1 + rng.below(40);
    expect(await found(family, cut(bytes, () => rng.below(most + 1)))).toEqual(model(family, bytes));
  }
}));
