// Random commands: for every command of the table, valid arguments that relate to what the keys hold, and sometimes invalid ones.

import { type Family, families, range } from "../../support/family.ts";
import { containersOf, type Container, croaringArray, croaringContainers, legacy64, portable32, portable64 } from "../../support/format.ts";
import { leastSources, operations } from "../../support/model.ts";
import type { Random } from "../../support/random.ts";
import type { World } from "./call.ts";
import type { Edges } from "./edges.ts";
import { LONGEST, render } from "./expression.ts";
import { CARRY, type Words } from "./foretell.ts";
import { named, randomTree } from "./trees.ts";

/** The offsets that a sequence uses. */
export interface Domain {
  /** Keys of the containers, offset >> 16. */
  readonly containers: (family: Family) => readonly bigint[];
  /** The most offsets in one command. */
  readonly mostAtOnce: number;
  /** The probability of a range that begins or ends at the first or last offset. */
  readonly wide: number;
  /** The offsets lie within the first `span` of a container; anywhere in it unless this is given. */
  readonly span?: number;
}

const KEYS = 4;
const STRINGS = ["string:0", "string:1"];
const GARBAGE = [
  "", "x", "0", "-1", "+1", "01", "1.5", "a\r\nb", "none", "BIT", "u64",
  "4294967296", "18446744073709551615", "18446744073709551616", "-9223372036854775809",
];
const LAST_OF_STRINGS = 100_000;
const MOST_CARRIED = 100_000n;

const keyOf = (family: Family, i: number): string => `${family.name}:${i}`;
const everyKey = [...families.flatMap((family) => range(0, KEYS).map((i) => keyOf(family, i))), ...STRINGS, "none"];

export class Generator {
  readonly random: Random;
  readonly #world: World;
  readonly #domain: Domain;
  readonly #streams = new Map<Family, string[]>();
  family: Family = families[0]!;

  constructor(random: Random, world: World, domain: Domain) {
    this.random = random;
    this.#world = world;
    this.#domain = domain;
  }

  key(): string {
    return this.random.chance(0.97) ? keyOf(this.family, this.random.below(KEYS)) : this.random.pick(everyKey);
  }

  /** A missing key of the family if there is one, else any key of it. */
  missing(): string {
    const keys = range(0, KEYS).map((i) => keyOf(this.family, i));
    return keys.find((key) => !this.#world.has(key)) ?? this.random.pick(keys);
  }

  string = (): string => (this.random.chance(0.97) ? this.random.pick(STRINGS) : this.key());

  /** The members of a key; undefined if it is not a bitmap of the family. */
  #set(key: string): Edges | undefined {
    const value = this.#world.get(key);
    return value && !Buffer.isBuffer(value) && value.family === this.family ? value.set : undefined;
  }

  #clamp = (offset: bigint): bigint => (offset < 0n ? 0n : offset > this.family.last ? this.family.last : offset);

  /** An offset of the domain, often near the ends of a container so that commands meet the same members. */
  offset(): bigint {
    const { random } = this, { span } = this.#domain;
    const low = span
      ? random.below(random.pick([span, 366]))
      : random.pick([random.pick([0, 1, 2, 65_533, 65_534, 65_535]), random.below(100), random.below(65_536)]);
    return this.#clamp(random.pick(this.#domain.containers(this.family)) * 65_536n + BigInt(low));
  }

  /** The least or greatest member of a key or an offset beside it; sometimes any offset. */
  near(key: string): bigint {
    const set = this.#set(key);
    if (set?.min === undefined || this.random.chance(0.4)) return this.offset();
    const at = this.random.chance(0.3) ? set.max! : set.min;
    return this.#clamp(at + BigInt(this.random.below(3) - 1));
  }

  /** A few scattered offsets, or many that are 1, 2 or 3 apart. */
  offsets(): bigint[] {
    const { random } = this;
    const size = 1 + Math.floor((random.chance(0.1) ? this.#domain.mostAtOnce : 20) ** random.unit());
    const start = this.offset(), step = random.pick([0n, 0n, 1n, 2n, 3n]);
    if (step === 0n) return range(0, Math.min(size, 50)).map(() => this.offset());
    const offsets = range(0, size).map((i) => this.#clamp(start + BigInt(i) * step));
    return random.chance(0.3) ? offsets.reverse() : offsets;
  }

  /** [from, to): empty, short, between two offsets of the domain, or almost everything. */
  range(): [bigint, bigint] {
    const { random, family } = this;
    const end = family.last + 1n;
    const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
    const from = this.offset();
    if (random.chance(this.#domain.wide)) return random.pick([[0n, end], [from, end], [0n, from], [1n, end - 1n]]);
    if (random.chance(0.1)) return [from, from];
    if (random.chance(0.5)) return [from, least(from + BigInt(random.below(2 ** random.below(20))), end)];
    const to = this.offset();
    return from < to ? [from, to] : [to, from];
  }

  /** A signed index of a byte or bit near the members of the key. */
  index(key: string, unit: string): bigint {
    const at = this.near(key) / (unit.toUpperCase() === "BIT" ? 1n : 8n) + BigInt(this.random.below(3) - 1);
    const small = this.random.chance(0.3) ? BigInt(this.random.below(20)) : at;
    const signed = this.random.chance(0.3) ? -small : small;
    return BigInt.asIntN(64, signed) === signed ? signed : 2n ** 63n - 1n;
  }

  rank(key: string): bigint {
    const size = this.#set(key)?.count() ?? 0n, near = BigInt(this.random.below(4));
    return this.random.pick([near, size - near, size / 2n]);
  }

  /** Keys, some of which may be the same. */
  several(): string[] {
    return range(0, 1 + this.random.below(2 * KEYS)).map(() => this.key());
  }

  /** A limit for counting near the number of members of a key. */
  limit(key: string): bigint {
    const rank = this.rank(key);
    return rank < 0n ? 0n : rank;
  }

  word = (word: string): string => (this.random.chance(0.5) ? word : word.toLowerCase());

  optional = (...words: string[]): string[] => (this.random.chance(0.4) ? words : []);

  operation(): [operation: string, sources: string[], last: bigint[]] {
    const { random } = this;
    if (random.chance(0.25)) return [this.word("NOT"), [this.key()], random.chance(0.7) ? [this.near(this.key())] : []];
    const operation = random.pick(operations), sources = leastSources(operation) + random.below(4);
    return [this.word(operation), range(0, sources).map(() => this.key()), []];
  }

  /** An expression and its sources. */
  expression(): [text: string, ...sources: string[]] {
    const { random } = this;
    const ends = (): [bigint, bigint] => {
      const [a, b] = [this.offset(), this.offset()];
      return a < b ? [a, b] : [b, a];
    };
    const [tree, keys] = named(randomTree(random, { keys: 6, depth: random.below(5), operands: 8, ends }));
    if (keys.length === 0) return ["#1", this.key()];
    const text = render(tree, random);
    return text.length > LONGEST ? this.expression() : [text, ...keys.map(() => this.key())];
  }

  /** Containers of every kind for a portable stream. */
  #containers(): Container[] {
    const { random } = this;
    const members = range(0, 1 + random.below(4)).flatMap((key) => {
      const step = random.pick([1, 1, 2, 7]), size = random.pick([1, 20, 5000, Math.floor(65_536 / step)]);
      const from = random.below(65_537 - (size - 1) * step > 0 ? 65_536 - (size - 1) * step : 1);
      return range(from, size, step).filter((low) => low < 65_536).map((low) => key * 65_536 + low);
    });
    return containersOf(members).map((container) => (random.chance(0.4) ? { ...container, kind: "run" as const } : container));
  }

  /** A payload in one of the forms that the family takes. */
  #payload(): Buffer {
    const { random, family } = this, containers = this.#containers();
    const buckets = [0, 1, 0xffff_ffff].filter(() => random.chance(0.5)).map((high) => ({ high, containers: this.#containers() }));
    const signed = [...buckets.filter(({ high }) => high > 0x7fff_ffff), ...buckets.filter(({ high }) => high <= 0x7fff_ffff)];
    const members = containers.flatMap(({ key, values }) => values.map((low) => key * 65_536 + low));
    const list = (): Buffer => croaringArray(random.shuffled(members));
    const narrow = [() => croaringContainers(containers), list], stream = (): Buffer => portable32(containers);
    if (family.bits === 32) return random.pick([stream, stream, stream, ...narrow])();
    const wide = (): Buffer => portable64(buckets), first = random.pick([0, 1] as const);
    return random.pick([wide, wide, wide, stream, ...narrow, () => legacy64(buckets, first), () => legacy64(signed, first)])();
  }

  /** A new payload or one that was sent before, sometimes as Base64 text, truncated or with a trailing byte. */
  stream(): string {
    const { random, family } = this;
    const known = this.#streams.get(family) ?? [];
    this.#streams.set(family, known);
    if (random.chance(0.8) && known.length > 0) return random.pick(known);
    const payload = this.#payload(), stream = random.chance(0.1) ? Buffer.from(payload.toString("base64")) : payload;
    const cut = random.chance(0.1) ? stream.subarray(0, random.below(stream.length)) : stream;
    known.push(cut.toString("latin1") + (random.chance(0.03) ? "\0" : ""));
    return known.at(-1)!;
  }

  #field(key: string): string[] {
    const { random, family } = this;
    const signed = random.chance(0.5), width = 1 + random.below(signed ? 64 : 63);
    const at = this.near(key);
    const most = family.last - BigInt(width - 1);
    return [`${signed ? "i" : "u"}${width}`, random.chance(0.3) ? `#${random.below(1000)}` : String(at > most ? most : at)];
  }

  #value(): string {
    const { pick, u64 } = this.random;
    return String(pick([0, 1, -1, 2, 255, -129, 2 ** 31, 2n ** 63n - 1n, -(2n ** 63n), BigInt.asIntN(64, u64())]));
  }

  fields(key: string, writes: boolean): string[] {
    const { random } = this;
    return range(0, random.below(4)).flatMap(() => {
      const overflow = random.chance(0.3) ? [this.word("OVERFLOW"), this.word(random.pick(["WRAP", "SAT", "FAIL"]))] : [];
      const kind = writes ? random.pick(["GET", "SET", "INCRBY"]) : "GET";
      return [...overflow, this.word(kind), ...this.#field(key), ...(kind === "GET" ? [] : [this.#value()])];
    });
  }

  /** Random text of `alphabet` different characters from code `from` on: for bit arrays and native bitmaps. */
  text(alphabet: number, from: number): string {
    const { random } = this;
    const size = Math.floor((random.chance(0.1) ? LAST_OF_STRINGS / 8 : 100) ** random.unit());
    return Buffer.from(range(0, size).map(() => from + random.below(alphabet))).toString("latin1");
  }

  /** A call of one of the module's commands, for a random family. */
  command(name: string): Words {
    this.family = this.random.pick(families);
    const args = this.#sometimesBad(goodArguments[name]!(this).map(String));
    return [`${this.family.name}.${name}`, ...args];
  }

  /** The arguments, or in 8 % of the calls a variant that is truncated, too long, or has one argument replaced. */
  #sometimesBad(args: string[]): string[] {
    const { random } = this;
    if (random.chance(0.92)) return args;
    const at = random.below(args.length);
    return random.pick([
      () => args.slice(0, at),
      () => [...args, random.pick(GARBAGE)],
      () => args.with(at, random.pick(GARBAGE)),
      () => args.with(at, random.pick(everyKey)),
    ])();
  }

  /** One of the server's own commands. */
  plain(): Words {
    const { random } = this;
    this.family = random.pick(families);
    const [from, to] = [this.key(), this.key()];
    const held = this.#set(from);
    return random.pick<() => Words>([
      () => ["DEL", random.pick(everyKey)],
      () => ["SET", random.pick(STRINGS), this.text(256, 0)],
      () => (from === to ? ["DEL", from] : ["COPY", from, to, "REPLACE"]),
      () => (held && held.containers() < MOST_CARRIED ? ["EVAL", CARRY, "2", from, to, this.family.name] : ["DEL", from]),
    ])();
  }

  /** Deletes a bitmap that has become too complex for the oracle. */
  tidy(most: number): Words | undefined {
    for (const [key, value] of this.#world) if (!Buffer.isBuffer(value) && value.set.complexity > most) return ["DEL", key];
    return undefined;
  }
}

type Arguments = (g: Generator) => (string | bigint | number)[];

const keyAlone: Arguments = (g) => [g.key()];
const keyAndOffsets: Arguments = (g) => [g.key(), ...g.offsets()];
const keyAndRange: Arguments = (g) => [g.key(), ...g.range()];
const keyAndNear: Arguments = (g) => {
  const key = g.key();
  return [key, g.near(key)];
};

const keyAndCount: Arguments = (g) => {
  const key = g.key(), { random } = g;
  return [key, ...g.optional(String(random.chance(0.2) ? g.rank(key) : random.below(30)))].filter((word) => !String(word).startsWith("-"));
};

/** Valid arguments for every command. */
export const goodArguments: Readonly<Record<string, Arguments>> = {
  SETBIT: (g) => [...keyAndNear(g), g.random.below(2)],
  GETBIT: keyAndNear,
  BITCOUNT: (g) => {
    const key = g.key(), unit = g.word(g.random.pick(["BYTE", "BIT"]));
    if (g.random.chance(0.3)) return [key, g.index(key, "BYTE")].slice(0, 1 + g.random.below(2));
    return [key, g.index(key, unit), g.index(key, unit), ...(unit.toUpperCase() === "BIT" ? [unit] : g.optional(unit))];
  },
  MBITCOUNT: (g) => range(0, 1 + g.random.below(2 * KEYS)).map(() => g.key()),
  BITPOS: (g) => {
    const key = g.key(), unit = g.word(g.random.pick(["BYTE", "BIT"]));
    return [key, g.random.below(2), ...[g.index(key, unit), g.index(key, unit), unit].slice(0, g.random.below(4))];
  },
  BITOP: (g) => {
    const [operation, sources, last] = g.operation();
    return [operation, g.key(), ...sources, ...last];
  },
  SETINTARRAY: keyAndOffsets,
  APPENDINTARRAY: keyAndOffsets,
  GETINTARRAY: keyAlone,
  GETBITS: (g) => [...keyAndNear(g), ...g.offsets()],
  MGETBIT: (g) => [g.near(g.key()), ...range(0, 1 + g.random.below(2 * KEYS)).map(() => g.key())],
  SETBITS: keyAndOffsets,
  CLEARBITS: (g) => [...keyAndNear(g), ...g.offsets(), ...g.optional(g.word("COUNT"))],
  CLEAR: keyAlone,
  DELETEINTARRAY: (g) => [...keyAndNear(g), ...g.offsets()],
  RANGEINTARRAY: (g) => {
    const key = g.key(), rank = g.rank(key);
    return [key, rank < 0n ? 0n : rank, (rank < 0n ? 0n : rank) + BigInt(g.random.below(3000))];
  },
  SETRANGE: keyAndRange,
  CLEARRANGE: keyAndRange,
  FLIPRANGE: keyAndRange,
  SETFULL: (g) => [g.random.chance(0.5) ? g.key() : g.missing()],
  MIN: keyAlone,
  MAX: keyAlone,
  RANK: keyAndNear,
  SELECT: (g) => {
    const key = g.key(), rank = g.rank(key);
    return [key, g.random.chance(0.4) ? -rank : rank];
  },
  RANGE: (g) => {
    const [from, to] = g.range();
    const limit = g.random.chance(0.7) ? [g.word("LIMIT"), g.random.below(2000)] : [];
    const words = [limit, g.optional(g.word("REV"))];
    return [g.key(), from, to > g.family.last ? g.family.last : to, ...(g.random.chance(0.5) ? words : words.reverse()).flat()];
  },
  RANGES: (g) => {
    const [from, to] = g.range(), limit = g.random.chance(0.7) ? [g.word("LIMIT"), g.random.below(2000)] : [];
    return [g.key(), from, to > g.family.last ? g.family.last : to, ...limit];
  },
  COUNTS: (g) => {
    const key = g.key(), inOrder = (a: bigint, b: bigint): number => (a < b || g.random.chance(0.1) ? -1 : 1);
    const bounds = range(0, 1 + g.random.below(6)).map(() => [g.near(key), g.near(key)].sort(inOrder));
    return [key, bounds.length, ...bounds.flat()];
  },
  SCAN: (g) => [...keyAndNear(g), ...(g.random.chance(0.7) ? [g.word("COUNT"), g.random.below(2000)] : [])],
  RANDMEMBER: (g) => {
    const key = g.key(), count = g.random.chance(0.5) ? g.rank(key) : BigInt(g.random.below(300));
    return [key, ...g.optional(String(g.random.chance(0.3) ? -count : count))];
  },
  RANDPOP: keyAndCount,
  POPMIN: keyAndCount,
  POPMAX: keyAndCount,
  BITOPCARD: (g) => {
    const [operation, sources, last] = g.operation();
    return [operation, ...g.optional(g.word("LIMIT"), String(g.limit(sources[0]!))), ...sources, ...last];
  },
  DIFF: (g) => [g.key(), g.key(), g.key()],
  CONTAINS: (g) => [g.key(), g.key(), ...g.optional(g.random.pick(["ALL", "ALL_STRICT", "EQ"]))],
  JACCARD: (g) => [g.key(), g.key()],
  SETBITARRAY: (g) => [g.key(), g.text(3, 0x30)],
  GETBITARRAY: keyAlone,
  EXPORT: keyAlone,
  IMPORT: (g) => [g.key(), g.stream(), ...g.optional(g.word("REPLACE"))],
  FROMBITMAP: (g) => {
    const from = g.string();
    const key = g.random.chance(0.1) ? from : g.key(), place = g.optional(g.word("OFFSET"), String(g.near(key)));
    const words = [place, g.optional(g.word("MERGE")), g.optional(g.word("LSB"))];
    return [key, from, ...g.random.shuffled(words).flat()];
  },
  TOBITMAP: (g) => [g.string(), g.key(), ...g.optional(g.word("LSB"))],
  BITFIELD: (g) => {
    const key = g.key();
    return [key, ...g.fields(key, true)];
  },
  BITFIELD_RO: (g) => {
    const key = g.key();
    return [key, ...g.fields(key, false)];
  },
  STAT: (g) => [g.key(), ...g.optional(g.word("JSON"))],
  OPTIMIZE: (g) => [g.key(), ...g.optional(g.word("MEM"))],
  QUERY: (g) => {
    const card = [[], [g.word("CARD")], [g.word("CARD"), g.word("LIMIT"), String(g.limit(g.key()))], [g.word("EXPORT")]], [text, ...sources] = g.expression();
    const from = g.optional(g.word("FROM"), String(g.offset()));
    const limit = g.random.chance(0.8) ? [g.word("LIMIT"), String(g.random.below(2000))] : [];
    const words = [g.optional(g.word("REV")), from, limit];
    const members = [g.word("MEMBERS"), ...(g.random.chance(0.8) ? words : words.reverse()).flat()];
    return [text, sources.length, ...sources, ...(g.random.chance(0.5) ? members : g.random.pick(card))];
  },
  FACET: (g) => {
    const [text, ...sources] = g.expression(), facets = g.several(), by = g.random.pick(["CARD", "JACCARD", "OVERLAP"]);
    const min = by === "CARD" ? String(g.limit(g.key())) : g.random.pick(["0", "1", "0.5", "0.001", "0.25000", "0.333333333333333333"]);
    const words = [[g.word("BY"), g.word(by)], g.optional(g.word("TOP"), String(g.random.below(5))), g.optional(g.word("MIN"), min)];
    return [text, sources.length, ...sources, facets.length, ...facets, ...(g.random.chance(0.5) ? words : words.reverse()).flat()];
  },
  CROSSCARD: (g) => {
    const rows = g.several(), columns = g.several(), [text, ...sources] = g.expression();
    const within = g.random.chance(0.5) ? [g.word("WITHIN"), text, sources.length, ...sources] : [];
    return [rows.length, ...rows, columns.length, ...columns, ...within];
  },
  QUERYSTORE: (g) => {
    const [text, ...sources] = g.expression(), { random } = g;
    const near = g.near(sources[0]!), keys = 65_536n * BigInt(1 + random.below(4));
    const by = random.pick([BigInt(random.below(200)), keys, BigInt(random.below(300_000)), near]);
    const distance = random.chance(0.6) ? [] : [g.word("OFFSET"), String(random.chance(0.5) ? -by : by)];
    const from = g.optional(g.word("FROM"), String(g.near(sources[0]!))), limit = g.optional(g.word("LIMIT"), String(g.limit(sources[0]!)));
    return [g.key(), text, sources.length, ...sources, ...random.shuffled([distance, from, limit]).flat()];
  },
};
