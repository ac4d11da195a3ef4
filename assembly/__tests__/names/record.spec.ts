import { left, right } from "../../env/memory";
import { Left, Own, Right } from "../../env/view";
import { hashRecord } from "../../names/hash";
import { packName } from "../../names/pack";
import { Record } from "../../names/record";
import { unpackName } from "../../names/unpack";
import {
  Random, addOperand, addOperandCopy, clear, enter, operandAt, rounds, seed, setArenaSize,
} from "../world/world";

/** Where records and names are written in memory 0, and a byte behind them that must stay. */
const RECORD: usize = 1024, NAME: usize = 70_000 * 2, ROOM: u32 = 70_000 * 4;

/** expect() takes long, so it is left for what is wrong. */
function same<T>(actual: T, expected: T, what: string): void {
  if (actual != expected) expect(actual).toBe(expected, what);
}

function stringOf(at: usize, length: u32): string { return String.UTF8.decodeUnsafe(at, length); }

/** Packs the name, checks that unpacking gives it back, and returns the bytes of its record. */
function pack(name: string): usize {
  const length = String.UTF8.byteLength(name);
  clear();
  setArenaSize(ROOM);
  String.UTF8.encodeUnsafe(changetype<usize>(name), name.length, operandAt(addOperand(length)));
  enter();
  right.select(0);
  const bytes = packName(RECORD, 0, length), k = addOperandCopy(RECORD, <u32>bytes);
  left.select(k);
  right.select(k);
  same(Record.bytes<Own>(RECORD), bytes, name);
  same(Record.bytes<Right>(0), bytes, name);
  same(Record.isDead<Left>(0), false, name);
  same(stringOf(NAME, unpackName(0, NAME)), name, "the name itself");
  return bytes;
}

/** Checks how many bytes the record of a name takes. */
function takes(name: string, bytes: usize): void { same(pack(name), bytes, name); }

const HEX = "0123456789abcdefABCDEF";

/** `count` characters, of which `alphabet` has those from `from` to `to` - 1. */
function draw(random: Random, count: u32, alphabet: string, from: u32 = 0, to: u32 = alphabet.length): string {
  let text = "";
  for (let i: u32 = 0; i < count; i++) text += alphabet.charAt(from + random.below(to - from));
  return text;
}

function uuid(random: Random, from: u32, to: u32): string {
  let text = draw(random, 8, HEX, from, to);
  for (let i = 0; i < 3; i++) text += "-" + draw(random, 4, HEX, from, to);
  return text + "-" + draw(random, 12, HEX, from, to);
}

describe("records", () => {
  it("hold UUIDs in 17 bytes, and what is almost one as it is", () => {
    const random = new Random(seed());
    for (let i = 0; i < rounds(2000); i++) {
      takes(uuid(random, 0, 16), 17);
      takes(uuid(random, 0, 10), 17);
      const upper = uuid(random, 0, 16).toUpperCase();
      takes(upper, 17);
      const at = random.below(36), wrong = upper.substring(0, at) + "g" + upper.substring(at + 1);
      takes(wrong, 37);
    }
    takes("6f1c5b0e-96a6-4b9a-8f0e-3b2f5b1c9D10", 37);
  });

  it("hold hexadecimal digits of one case in half", () => {
    const random = new Random(seed());
    for (let i = 0; i < rounds(2000); i++) {
      const count = 2 * random.between(1, 32);
      takes("0a" + draw(random, count - 2, HEX, 0, 16), 1 + count / 2);
      takes("0A" + draw(random, count - 2, HEX, 0, 16).toUpperCase(), 1 + count / 2);
    }
    takes("aB".repeat(12), 25);
    takes("a".repeat(64), 33);
    takes("a".repeat(66), 67);
  });

  it("hold decimal numbers of 64 bits in the bytes that they take", () => {
    const random = new Random(seed());
    for (let i = 0; i < rounds(2000); i++) {
      const number = random.next() >> random.below(64);
      const bytes = max<usize>((71 - <usize>clz<u64>(number)) >> 3, 1);
      takes(number.toString(), number < 10 ? 2 : 1 + bytes);
    }
    takes("18446744073709551615", 9);
    takes("18446744073709551616", 11);
    takes("99999999999999999999", 11);
    takes("00", 2);
    takes("010", 4);
  });

  it("hold short names in five or six bits a character", () => {
    const random = new Random(seed()), five = "abcdefghijklmnopqrstuvwxyz.-_:@ ";
    const lower = five + "0123456789!\"#$%&'()*+,/;<=>?{|}~";
    const mixed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let count: u32 = 3; count < 26; count++) {
      for (let i = 0; i < rounds(300); i++) {
        const raw: usize = 1 + count;
        const inFive: usize = count <= 19 ? 1 + <usize>((5 * count + 7) >> 3) : count == 20 ? 16 : raw;
        takes(draw(random, count - 2, five) + ".z", count < 4 ? raw : inFive);
        const inSix: usize = 1 + <usize>((6 * count + 7) >> 3);
        takes(draw(random, count - 2, lower) + "7~", count >= 4 && count <= 20 ? inSix : raw);
        takes(draw(random, count - 2, mixed) + "Zg", count >= 5 && count <= 22 ? inSix : raw);
      }
    }
  });

  it("hold any other name as it is, behind its length", () => {
    for (let count = 1; count < 300; count++) takes("^".repeat(count), count < 128 ? 1 + count : 3 + count);
    takes("^".repeat(65_535), 65_538);
  });

  it("of deleted names keep their bytes", () => {
    setArenaSize(ROOM);
    for (let bytes: usize = 2; bytes < 66_000; bytes += bytes < 600 ? 1 : 997) {
      if (bytes > 65_538) break;
      Record.kill(RECORD, bytes);
      same(Record.bytes<Own>(RECORD), bytes, "bytes");
      same(Record.isDead<Own>(RECORD), true, bytes.toString());
    }
  });
});

// --- SipHash, as its authors describe it, with bytes and any number of rounds -------------------------------

class Sip {
  a: u64; b: u64; c: u64; d: u64;
  constructor(k0: u64, k1: u64) {
    this.a = k0 ^ 0x736f6d6570736575;
    this.b = k1 ^ 0x646f72616e646f6d;
    this.c = k0 ^ 0x6c7967656e657261;
    this.d = k1 ^ 0x7465646279746573;
  }

  rounds(count: i32): void {
    for (; count > 0; count--) {
      this.a += this.b; this.b = rotl(this.b, 13); this.b ^= this.a; this.a = rotl(this.a, 32);
      this.c += this.d; this.d = rotl(this.d, 16); this.d ^= this.c;
      this.a += this.d; this.d = rotl(this.d, 21); this.d ^= this.a;
      this.c += this.b; this.b = rotl(this.b, 17); this.b ^= this.c; this.c = rotl(this.c, 32);
    }
  }

  hash(at: usize, bytes: u32, ofWord: i32, atEnd: i32): u64 {
    let word: u64 = 0;
    for (let i: u32 = 0; i <= (bytes | 7); i++) {
      const byte: u64 = i < bytes ? load<u8>(at + i) : i == (bytes | 7) ? bytes & 0xff : 0;
      word |= byte << (8 * (i & 7));
      if ((i & 7) < 7) continue;
      this.d ^= word; this.rounds(ofWord); this.a ^= word;
      word = 0;
    }
    this.c ^= 0xff;
    this.rounds(atEnd);
    return this.a ^ this.b ^ this.c ^ this.d;
  }
}

describe("hashes of records", () => {
  it("are SipHash-1-3", () => {
    const random = new Random(seed());
    setArenaSize(ROOM);
    for (let i: usize = 0; i < 64; i++) store<u8>(RECORD + i, <u8>i);
    const example = new Sip(0x0706050403020100, 0x0f0e0d0c0b0a0908).hash(RECORD, 15, 2, 4);
    expect(example).toBe(0xa129ca6149be45e5, "the example of SipHash-2-4 in the paper");
    for (let i = 0; i < rounds(2000); i++) {
      const bytes = random.below(64), k0 = random.next(), k1 = random.next();
      for (let at: usize = 0; at < 64; at++) store<u8>(RECORD + at, <u8>random.next());
      const expected = <u32>(new Sip(k0, k1).hash(RECORD, bytes, 1, 3) >> 32);
      same(hashRecord<Own>(RECORD, bytes, k0, k1), expected, "seed " + seed().toString());
    }
  });
});
