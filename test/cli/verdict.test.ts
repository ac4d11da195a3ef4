// What is taken for a bitmap, and what is not.

import { describe, expect, it } from "vitest";
import { generalized, nameBytes, patternOf, shown, slotOf, tagOf } from "../../cli/src/names.ts";
import { Members, verdictOnString } from "../../cli/src/verdict.ts";
import { deflateSync, gzipSync } from "node:zlib";
import { bitmapOf } from "./keyspace.ts";

const hll = Buffer.concat([Buffer.from("HYLL\x01"), Buffer.alloc(11), Buffer.from([0x7f, 0xff])]);

describe("a string", () => {
  it.each<[string, Buffer]>([
    ["one bit", bitmapOf([0])], ["a few far apart", bitmapOf([7, 100_000])], ["all of the first 64", Buffer.alloc(8, 0xff)],
    ["zeros", Buffer.alloc(100)], ["every third", bitmapOf(Array.from({ length: 1000 }, (_, i) => 3 * i))],
    ["the bits of a letter behind zeros", Buffer.from("\0\0\0A")],
  ])("is a bitmap: %s", (_, value) => expect(verdictOnString(value)).toBe("bitmap"));

  it.each<[string, string, Buffer]>([
    ["empty", "nothing", Buffer.alloc(0)], ["number", "zero", Buffer.from("0")], ["number", "the least", Buffer.from("-9223372036854775808")],
    ["text", "a letter", Buffer.from("A")], ["text", "several scripts", Buffer.from("na\u00efve \u65e5\u672c \u{1f600}\n")], ["text", "a number with a leading zero", Buffer.from("007")],
    ["text", "what begins like JSON", Buffer.from("[draft] hello")], ["JSON", "an object", Buffer.from('{"a": [1, 2]}')], ["JSON", "a list", Buffer.from("[]")],
    ["HyperLogLog", "sparse", hll], ["compressed or encoded", "gzip", gzipSync("hello hello")], ["compressed or encoded", "zlib", deflateSync("hello hello")],
    ["mostly text", "latin1", Buffer.from("caf\xe9 cr\xe8me br\xfbl\xe9e, s'il vous pla\xeet", "latin1")],
    ["mostly text", "fields with lengths", Buffer.from("\x0a\x0cHello, world\x12\x0bsecond text\x18\x2a")],
  ])("is %s: %s", (verdict, _, value) => expect(verdictOnString(value)).toBe(verdict));

  it("is text too if only its beginning is known, cut inside of a character", () => {
    const text = Buffer.from("\u65e5\u672c\u8a9e ".repeat(2000));
    for (let bytes = 4000; bytes < 4010; bytes++) expect(verdictOnString(text.subarray(0, bytes), false)).toBe("text");
  });
});

describe("members of a set", () => {
  const membersOf = (...texts: string[]): Members => {
    const members = new Members();
    for (const text of texts) members.add(Buffer.from(text));
    return members;
  };

  it("stay narrow up to 2^32 - 1, and get wide in between", () => {
    expect(membersOf("0", "4294967295").offsets).toEqual(Uint32Array.of(0, 4_294_967_295));
    const many = Array.from({ length: 200 }, (_, i) => String(i));
    expect(membersOf(...many, "4294967296", "18446744073709551615", "7").offsets)
      .toEqual(BigUint64Array.of(...many.map(BigInt), 4_294_967_296n, 18_446_744_073_709_551_615n, 7n));
  });

  it.each(["", "-1", "+1", "01", "00", "1.0", " 1", "1 ", "1e3", "18446744073709551616", "99999999999999999999999", "x", "\u0661"])("may not be %j", (text) => {
    expect(membersOf("1", text, "2").refused).toBe(text);
  });
});

describe("names", () => {
  it.each([
    ["user:42:tags", "user:*:tags"], ["a:2024-05-01", "a:*"], ["{user:7}:x", "{user:*}:x"], ["s:9f8e7d6c5b4a3f2e", "s:*"], ["42", "*"],
    ["t:123e4567-e89b-12d3-a456-426614174000:v", "t:*:v"], ["v2beta", "v*beta"], ["plain", "plain"], ["", ""],
  ])("%s is like %s", (name, pattern) => expect(patternOf(Buffer.from(name))).toBe(pattern));

  it("with any bytes are shown as text, and read back", () => {
    for (const bytes of [[0, 255, 92, 65], [0xc3, 0x28], [10, 13], [0xef, 0xbf, 0xbd], [...Array(256).keys()]]) {
      expect(nameBytes(shown(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
    }
    expect(shown(Buffer.from("\u65e5"))).toBe("\u65e5");
  });

  it("of many users become one pattern, and those of few things do not", () => {
    const users = Array.from({ length: 30 }, (_, i) => `likes:${String.fromCharCode(97 + i % 26)}${i}x:posts`.replace(/\d/g, (d) => "abcdefghij"[Number(d)]!));
    const general = generalized([...users, "likes:all", "config:a", "config:b"]);
    expect(new Set(users.map((name) => general.get(name)))).toEqual(new Set(["likes:*:posts"]));
    expect(general.get("config:a")).toBeUndefined();
  });

  it("have the slots of the cluster specification", () => {
    expect(slotOf(Buffer.from("123456789"))).toBe(0x31c3);
    expect(slotOf(Buffer.from("{user1000}.following"))).toBe(slotOf(Buffer.from("user1000")));
    expect(slotOf(Buffer.from("foo{}{bar}"))).not.toBe(slotOf(Buffer.from("bar")));
    for (const slot of [0, 1, 8191, 16_383]) expect(slotOf(Buffer.from(`x{${tagOf(slot)}}y`))).toBe(slot);
  });
});
