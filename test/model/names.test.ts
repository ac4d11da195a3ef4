// Names for ids: random sequences of commands, compared with a Map and an array. Names are drawn such that all forms in which they are
// kept occur, and names that differ in little: letters of either case, zeros at the beginning, a last character.

import { describe, expect, it } from "vitest";
import { type Random, seeded } from "../support/random.ts";
import { type Argument, bytesOf, type Reply } from "../support/resp.ts";
import { Sequence } from "../support/sequence.ts";
import { withDebug } from "../support/server.ts";
import { expectNoDamage, expectValid, useServer } from "../support/suite.ts";

/** What a sequence draws from. */
interface Shape {
  readonly name: string;
  /** A name, of one byte per character. */
  readonly draw: (random: Random) => string;
  /** How many names a call adds. */
  readonly most: number;
  readonly steps: number;
  /** One of so many names drawn is one that was drawn before. */
  readonly repeats: number;
}

const digits = (random: Random, count: number, of: string): string => Array.from({ length: count }, () => of[random.below(of.length)]).join("");
const LOWER = "0123456789abcdef", UPPER = "0123456789ABCDEF", DECIMAL = "0123456789";

const uuid = (random: Random, of = LOWER): string => [8, 4, 4, 4, 12].map((count) => digits(random, count, of)).join("-");
const bytes = (random: Random, count: number): string => String.fromCharCode(...Array.from({ length: count }, () => random.below(256)));

const forms: ((random: Random) => string)[] = [
  (random) => uuid(random),
  (random) => uuid(random, UPPER),
  (random) => uuid(random, DECIMAL),
  (random) => uuid(random, LOWER + UPPER),
  (random) => digits(random, 2 * random.below(36) + 2, LOWER),
  (random) => digits(random, 2 * random.below(36) + 2, UPPER),
  (random) => digits(random, random.below(24) + 1, DECIMAL),
  (random) => String(random.u64() >> BigInt(random.below(64))),
  (random) => String(2n ** BigInt(random.below(65)) - BigInt(random.below(2))),
  (random) => `0${digits(random, random.below(20) + 1, DECIMAL)}`,
  (random) => `user:${random.below(1000)}`,
  (random) => digits(random, random.below(26) + 1, "abcdefghijklmnopqrstuvwxyz.-_:@ "),
  (random) => digits(random, random.below(26) + 1, "abcdefghijklmnopqrstuvwxyz0123456789 !\"#$%&'()*+,-./:;<=>?@_{|}~"),
  (random) => digits(random, random.below(26) + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
  (random) => digits(random, random.below(26) + 1, "abcdefghijklmnopqrstuvwxyz[\\]^`\x7f"),
  (random) => bytes(random, random.below(40) + 1),
  (random) => bytes(random, random.below(300) + 1),
  (random) => uuid(random).replace(/./, "g"),
  (random) => uuid(random).slice(0, 35),
  (random) => uuid(random).replace("-", "_"),
];

/** A name of any form, or one with a byte changed. */
function any(random: Random): string {
  const name = random.pick(forms)(random), at = random.below(name.length);
  return random.chance(0.1) ? name.slice(0, at) + bytes(random, 1) + name.slice(at + 1) : name;
}

const shapes: Shape[] = [
  { name: "few names", draw: any, most: 3, steps: 150, repeats: 2 },
  { name: "names of all forms", draw: any, most: 300, steps: 150, repeats: 4 },
  { name: "many UUIDs", draw: (random) => uuid(random), most: 4000, steps: 60, repeats: 10 },
  { name: "short decimals", draw: (random) => String(random.below(20_000)), most: 500, steps: 120, repeats: 5 },
  { name: "long names", draw: (random) => bytes(random, random.chance(0.02) ? 65_535 : random.below(3000) + 1), most: 60, steps: 80, repeats: 4 },
];

class NameSequence extends Sequence<Shape> {
  ids = new Map<string, number>();
  names: (string | undefined)[] = [];
  /** The ids whose bits are set. */
  readonly bits = new Set<number>();
  readonly drawn: string[] = [];

  name(): string {
    if (this.drawn.length > 0 && this.random.below(this.shape.repeats) === 0) return this.random.pick(this.drawn);
    const name = this.shape.draw(this.random);
    this.drawn.push(name);
    return name;
  }

  batch(most = this.shape.most): string[] {
    return Array.from({ length: this.random.chance(0.3) ? 1 : this.random.below(most) + 1 }, () => this.name());
  }

  async add(): Promise<void> {
    const batch = this.batch();
    const expected = batch.map((name) => this.give(name));
    this.same(await this.run("RN.ADD", "k", ...batch), expected, "ADD");
  }

  /** The id of a name, which gets one if it has none. */
  give(name: string): number {
    const known = this.ids.get(name);
    if (known !== undefined) return known;
    this.ids.set(name, this.names.length);
    return this.names.push(name) - 1;
  }

  async setBits(): Promise<void> {
    const batch = this.batch(), before = this.bits.size;
    for (const name of batch) this.bits.add(this.give(name));
    this.same(await this.run("RN.SETBITS", "k", "bits", ...batch), this.bits.size - before, "SETBITS");
  }

  async getBits(): Promise<void> {
    const batch = this.batch();
    this.same(await this.run("RN.GETBITS", "k", "bits", ...batch), batch.map((name) => Number(this.bits.has(this.ids.get(name) ?? -1))), "GETBITS");
  }

  async clearBits(): Promise<void> {
    const batch = this.batch(), there = new Set(batch.map((name) => this.ids.get(name) ?? -1).filter((id) => this.bits.delete(id)));
    this.same(await this.run("RN.CLEARBITS", "k", "bits", ...batch), there.size, "CLEARBITS");
  }

  async id(): Promise<void> {
    const batch = this.batch();
    this.same(await this.run("RN.ID", "k", ...batch), batch.map((name) => this.ids.get(name) ?? null), "ID");
  }

  async name_(): Promise<void> {
    const ids = Array.from({ length: this.random.below(50) + 1 }, () => this.random.below(this.names.length + 2));
    this.same(await this.run("RN.NAME", "k", ...ids), ids.map((id) => this.names[id] ?? null), "NAME");
  }

  /** The names of members, in pages of random lengths. */
  async query(): Promise<void> {
    const found: string[] = [];
    let from: Reply = 0;
    do {
      const limit: Argument[] = this.random.chance(0.5) ? ["LIMIT", this.random.below(2000)] : [];
      const [next, page] = (await this.run("RN.QUERY", "k", "#1 - #2", 2, "bits", "none", "FROM", from as number, ...limit)) as [Reply, string[]];
      found.push(...page);
      from = next;
    } while (from !== null);
    const ids = [...this.bits].sort((a, b) => a - b);
    this.same(found, ids.flatMap((id) => this.names[id] ?? []), "QUERY");
  }

  /** Some names, or most of them, or those in a range of ids, of which whole segments may be. */
  async del(): Promise<void> {
    const from = this.random.below(this.names.length + 1), many = this.random.chance(0.2);
    const range = this.names.slice(from, from + this.random.below(many ? 3000 : 30)).filter((text) => text !== undefined);
    const batch = this.random.chance(0.5) ? this.batch(20) : range;
    if (batch.length === 0) return;
    let there = 0;
    for (const name of batch) {
      const id = this.ids.get(name);
      if (id === undefined) continue;
      there++;
      this.ids.delete(name);
      this.names[id] = undefined;
    }
    this.same(await this.run("RN.DEL", "k", ...batch), there, "DEL");
  }

  async card(): Promise<void> {
    this.same(await this.run("RN.CARD", "k"), this.ids.size, "CARD");
  }

  async all(key = "k"): Promise<void> {
    const found: [number, string][] = [];
    let cursor: Argument = 0;
    do {
      const [next, page] = (await this.run("RN.SCAN", key, cursor, "COUNT", this.random.below(2000) + 1)) as [string, Reply[]];
      for (let i = 0; i < page.length; i += 2) found.push([page[i] as number, page[i + 1] as string]);
      cursor = next;
    } while (cursor !== "0");
    this.same(found, this.names.flatMap((text, id) => (text === undefined ? [] : [[id, text]])), "SCAN");
  }

  /** A copy, or what DUMP and RESTORE make of the key, replaces it or is compared with it. */
  async copy(): Promise<void> {
    await this.run("DEL", "other");
    if (this.random.chance(0.5)) await this.run("COPY", "k", "other");
    else await this.run("RESTORE", "other", 0, bytesOf(await this.run("DUMP", "k")));
    await expectValid(this.server, "other");
    this.same(await this.run("DEBUG", "DIGEST-VALUE", "other"), await this.run("DEBUG", "DIGEST-VALUE", "k"), "digest");
    if (this.random.chance(0.5)) await this.run("RENAME", "other", "k");
    else if (this.random.chance(0.3)) await this.run("RN.ADD", "other", "only in the other one");
    else await this.all("other");
  }

  async reload(): Promise<void> {
    await this.run("DEBUG", "RELOAD");
  }

  async step(): Promise<void> {
    const steps = [
      ...Array<() => Promise<void>>(6).fill(() => this.add()), () => this.id(), () => this.id(), () => this.name_(),
      () => this.setBits(), () => this.setBits(), () => this.getBits(), () => this.clearBits(),
      () => this.query(), () => this.del(), () => this.del(), () => this.card(),
      () => (this.random.chance(0.3) ? this.all() : Promise.resolve()), () => this.copy(),
      () => (this.random.chance(0.2) ? this.reload() : Promise.resolve()),
    ];
    await this.random.pick(steps)();
  }
}

describe("random sequences of RN.*", () => {
  const server = useServer({ moduleArguments: withDebug, config: ["enable-debug-command yes"] });

  it.each(shapes.map((shape) => [shape.name, shape] as const))("%s", (_name, shape) => seeded(async (random) => {
    const sequence = new NameSequence(server, random, shape);
    if (random.chance(0.5)) await server.run("R64.SETBITS", "bits", 0);
    await server.run("R64.CLEARBITS", "bits", 0);
    await sequence.add();
    for (let i = 0; i < shape.steps; i++) {
      await sequence.step();
      await expectValid(server, "k");
    }
    await sequence.all();
    await expectNoDamage(server);
    expect(sequence.comparisons).toBeGreaterThan(0);
  })(), 120_000);
});
