// Sends the commands that native bitmaps also have, with the same random arguments, to native bitmaps and to both families. Replies must
// be equal, errors too except for the command's name, and so must the bits afterwards.
//
//   SEED    repeats a run
//   STEPS   commands in a sequence (default 3000)

import { describe, expect, it } from "vitest";
import { families, range } from "../support/family.ts";
import { type Random, seeded } from "../support/random.ts";
import { type Argument, type Command, type Reply, ReplyError } from "../support/resp.ts";
import { expectEqual, useServer } from "../support/suite.ts";
import { since } from "../support/version.ts";

const STEPS = Number(process.env.STEPS ?? 3000);
const BATCH = 60;
const KEYS = ["a", "b", "c", "d"];
/** Offsets span five containers, so that native strings stay short. */
const LAST = 300_000;
/** The last bit of a byte, after every bit that a step writes. */
const END = 400_007;

/** Operations of BITOP that not every server has natively. */
const newer = since({ Redis: "8.2" }) ? ["DIFF", "DIFF1", "ANDOR", "ONE"] : [];

/** The sides that are compared. Each is the prefix of its commands and keys: "" for native. */
const sides = ["", ...families.map(({ name }) => `${name}.`)];
type Side = (typeof sides)[number];
const at = (side: Side, key: string): string => `${side}key:${key}`;

/** Removes zero bytes from the end of a native bitmap. Ours ends with the byte of its greatest member, a native one may be longer. */
const TRIM = `
  local s = redis.call('GET', KEYS[1]) or ''
  local n = #s
  while n > 0 and s:byte(n) == 0 do n = n - 1 end
  if n < #s then redis.call('SET', KEYS[1], s:sub(1, n)) end
  return 0`;

/** What one step sends: `command` to each side, whose replies are compared, and before that commands whose replies are ignored. */
interface Step {
  readonly command: (side: Side) => Command;
  readonly before?: Command[];
}

const trim = (key: string): Command => ["EVAL", TRIM, 1, at("", key)];

/** Texts that are not integers, for arguments that must be parsed as native commands parse them. */
const NO_INTEGERS = ["x", "", "1.5", "+1", "01", " 1", "9223372036854775808"];

class Steps {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): Step {
    const weights: [number, () => Step][] = [
      [10, () => this.#onKey("SETBIT", [this.#offset(), this.#random.below(2)])],
      [6, () => this.#onKey("GETBIT", [this.#offset()])],
      [6, () => this.#count()],
      [8, () => this.#position()],
      [6, () => this.#combine()],
      [10, () => this.#onKey("BITFIELD", this.#fields(["GET", "SET", "INCRBY"]))],
      [4, () => this.#onKey("BITFIELD_RO", this.#fields(this.#random.chance(0.9) ? ["GET"] : ["GET", "SET"]))],
      [2, () => this.#fill()],
      [1, () => ({ command: (side) => ["DEL", at(side, "d")] })],
      [1, () => this.#onKey(this.#random.pick(["SETBIT", "GETBIT", "BITPOS", "BITOP"]), [])],
      [1, () => this.#nameAlone(this.#random.pick(["BITCOUNT", "BITFIELD", "BITFIELD_RO"]))],
    ];
    let left = this.#random.below(weights.reduce((sum, [weight]) => sum + weight, 0));
    return weights.find(([weight]) => (left -= weight) < 0)![1]();
  }

  #key = (): string => this.#random.pick(KEYS);

  #offset = (): number => this.#random.pick([this.#random.below(64), 65_500 + this.#random.below(72), this.#random.below(LAST)]);

  #onKey(name: string, args: Argument[]): Step {
    const key = this.#key();
    return { command: (side) => [`${side}${name}`, at(side, key), ...args] };
  }

  #nameAlone = (name: string): Step => ({ command: (side) => [`${side}${name}`] });

  /** An index that may be negative, past the end, or not an integer. */
  #index(mayBeBad: boolean): Argument {
    const { below, pick, chance } = this.#random;
    if (mayBeBad && chance(0.05)) return pick(NO_INTEGERS);
    const index = pick([below(10), below(LAST / 8), below(LAST), 8192, 65_536]);
    return pick([index, -index, pick(["9223372036854775807", "-9223372036854775808"])]);
  }

  /** Sets a bit first. For a missing key native commands reply before they parse all arguments, and an empty string has no clear bit. */
  #ranged(name: string, before: Argument[], args: Argument[]): Step {
    const key = this.#key(), offset = this.#offset();
    const set = sides.map((side) => [`${side}SETBIT`, at(side, key), offset, 1]);
    return { before: [...set, trim(key)], command: (side) => [`${side}${name}`, at(side, key), ...before, ...args] };
  }

  #range(): Argument[] {
    const { pick, chance } = this.#random, unit = pick(["BYTE", "BIT", "bit", "Byte"]);
    // For two negative indexes in descending order, native BITCOUNT returns 0 before it finds that the unit is invalid. With an invalid
    // end and an invalid unit, Redis reports the end, and Valkey 8 the unit.
    if (chance(0.03)) return [0, this.#index(false), pick(["BITS", "", "B"])];
    return [this.#index(true), this.#index(true), ...(chance(0.5) ? [unit] : [])];
  }

  /** Without BITCOUNT with only a start, which native Redis refuses and Valkey accepts. */
  #count = (): Step => this.#ranged("BITCOUNT", [], this.#random.pick([[], this.#range(), this.#range(), [0, -1, "BIT", 1]]));

  #position(): Step {
    const { chance, pick, below } = this.#random;
    const args = pick([[], this.#range().slice(0, 1), this.#range(), this.#range(), [0, -1, "BIT", 1]]);
    // Without a range the error texts differ, because ours is that of the C module.
    const bit = args.length > 0 && chance(0.05) ? pick([2, -1, ...NO_INTEGERS]) : below(2);
    return this.#ranged("BITPOS", [bit], args);
  }

  /** Compares the bits of the result: native BITOP replies with a length, and leaves no key for an empty result. */
  #combine(): Step {
    const operation = this.#random.pick(["AND", "OR", "XOR", "and", "NOT", ...newer]), to = this.#key();
    const least = newer.includes(operation) ? 2 : 1;
    const sources = range(0, operation === "NOT" ? 1 : least + this.#random.below(4)).map(() => this.#key());
    const combine = sides.map((side) => [`${side}BITOP`, operation, at(side, to), ...sources.map((key) => at(side, key))]);
    // Native NOT flips up to the end of the last byte, ours up to the greatest member. END makes both the same.
    const ended = operation === "NOT" ? sides.map((side) => [`${side}SETBIT`, at(side, sources[0]!), END, 1]) : [];
    if (this.#random.chance(0.05)) return { command: (side) => [`${side}BITOP`, "NAND", at(side, to), at(side, to)] };
    return { before: [...ended, ...combine, ["APPEND", at("", to), ""]], command: (side) => [`${side}BITCOUNT`, at(side, to)] };
  }

  /** Stores a string with stretches of zeros, ones and random bytes, and imports it into both families. */
  #fill(): Step {
    const { below, pick } = this.#random, key = this.#key();
    const bytes = Buffer.alloc(pick([3, 100, 20_000]));
    for (let from = 0; from < bytes.length;) {
      const kind = below(3), to = from + 1 + below(9000);
      for (; from < Math.min(to, bytes.length); from++) bytes[from] = [0, 255, below(256)][kind]!;
    }
    const made = families.map(({ name }) => [`${name}.FROMBITMAP`, at(`${name}.`, key), at("", key)]);
    return { before: [["SET", at("", key), bytes], ...made], command: (side) => [`${side}BITCOUNT`, at(side, key)] };
  }

  #field(): Argument[] {
    const { below, pick, chance } = this.#random;
    if (chance(0.02)) return [pick(["u64", "i65", "u0", "i", "x8", "I8", "u08", ""]), 0];
    if (chance(0.02)) return ["u8", pick(["x", "-1", "", "#", "#-1", "01", "##1"])];
    const signed = chance(0.5), width = 1 + below(signed ? 64 : 63);
    return [`${signed ? "i" : "u"}${width}`, chance(0.3) ? `#${below(1000)}` : this.#offset()];
  }

  #fields(kinds: string[]): Argument[] {
    const { below, pick, chance } = this.#random;
    // Without -2^63: for it, an overflow in native's check of i64 fields makes SAT store the greatest value.
    const numbers = [0, 1, -1, 2, 127, 128, 255, 256, -128, -129, 2 ** 31, 2n ** 63n - 1n, -(2n ** 62n), 2n ** 62n];
    const args = range(0, below(5)).flatMap((): Argument[] => {
      const kind = pick(kinds), word = chance(0.2) ? kind.toLowerCase() : kind;
      const overflow = chance(0.4) ? ["OVERFLOW", pick(["WRAP", "SAT", "FAIL", "sat", ...(chance(0.05) ? ["", "MAX"] : [])])] : [];
      const value = chance(0.02) ? pick(NO_INTEGERS) : pick(numbers);
      return [...overflow, word, ...this.#field(), ...(kind === "GET" ? [] : [value])];
    });
    return chance(0.03) ? args.slice(0, -1) : args;
  }
}

/** The reply, or an error's text with the command's name in lower case and without the prefix. */
const nameless = (reply: Reply): unknown =>
  reply instanceof ReplyError ? reply.message.replace(/'(?:R\.|R64\.)?(\w+)'/i, (_, name: string) => name.toLowerCase()) : reply;

describe("native commands and the commands of both families", () => {
  const server = useServer();

  it("give equal replies and equal bits for random arguments", seeded(async (random) => {
    const steps = new Steps(random);
    for (let done = 0; done < STEPS; done += BATCH) {
      const batch = range(0, BATCH).map(() => steps.next());
      const sent = batch.flatMap(({ before = [], command }) => [...before, ...sides.map(command)]);
      const replies = (await server.connection.pipeline(sent)).values();
      for (const { before = [], command } of batch) {
        before.forEach(() => replies.next());
        const [native, ...ours] = sides.map(() => nameless(replies.next().value!));
        for (const [i, reply] of ours.entries()) expectEqual(reply, native, command(sides[i + 1]!).join(" "));
      }
      for (const key of KEYS) await expectSameBits(key);
    }
  }));

  /** Compares the bitmaps, exported as native strings, with the native bitmap. */
  async function expectSameBits(key: string): Promise<void> {
    await server.connection.call(trim(key));
    const native = (await server.run("GET", at("", key))) ?? "";
    for (const { name } of families) {
      const length = await server.connection.pipeline([[`${name}.TOBITMAP`, "string", at(`${name}.`, key)]]);
      const ours = length[0] instanceof ReplyError ? "" : await server.run("GET", "string");
      expect(ours === native, `${name}, key ${key}`).toBe(true);
    }
  }
});
