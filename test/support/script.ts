// Random sequences of commands whose replies the model foretells, sent in batches: the model goes first, the server
// has to agree, and where native has the command, native as well.

import { expect } from "vitest";
import { ascending, asReply, type Family, type Member, member } from "./family.ts";
import { bitCount, bitPosition, combine, complement, greatest, leastSources, nativeString, operations, type Range, sorted } from "./model.ts";
import type { Random } from "./random.ts";
import type { Argument, Command, Connection, Reply } from "./resp.ts";
import { expectEqual } from "./suite.ts";

/** Where a sequence takes its offsets from. */
export interface Domain {
  readonly family: Family;
  readonly keys: readonly string[];
  /** The high parts of offsets, offset >> 16. */
  readonly containers: readonly bigint[];
  /** How many low bits of an offset vary: 16, or fewer to make members meet. */
  readonly lowBits: number;
  /** Whether native keys follow: offsets must be small enough for strings. */
  readonly native: boolean;
  /** The most members an append brings. */
  readonly mostAtOnce: number;
  /** NOT is given a `last` and sources up to this; none if NOT is left out. */
  readonly mostFlipped?: bigint;
}

interface Expectation {
  readonly command: Command;
  readonly reply: Reply;
  /** What native would be asked for the same. */
  readonly native?: Command;
}

/** Removes the zero bytes at a string's end: native's length is then the module's. */
const TRIM = `
  local s = redis.call('GET', KEYS[1]) or ''
  local n = #s
  while n > 0 and s:byte(n) == 0 do n = n - 1 end
  if n < #s then redis.call('SET', KEYS[1], s:sub(1, n)) end
  return 0`;

export class Script {
  readonly models = new Map<string, Set<Member>>();
  readonly #domain: Domain;
  readonly #random: Random;
  readonly #connection: Connection;
  #batch: Expectation[] = [];

  constructor(domain: Domain, random: Random, connection: Connection) {
    this.#domain = domain;
    this.#random = random;
    this.#connection = connection;
  }

  /** Sends a batch of `count` random commands and compares every reply. */
  async run(count: number): Promise<void> {
    for (let i = 0; i < count; i++) this.#step();
    await this.#flush();
  }

  /** Compares every key with its model, member by member. */
  async compareAll(): Promise<void> {
    for (const key of this.#domain.keys) this.#expect("GETINTARRAY", [key], sorted(this.#model(key)).map(asReply));
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    const commands = batch.flatMap(({ command, native }) => (native ? [command, native] : [command]));
    const replies = (await this.#connection.pipeline(commands)).values();
    for (const { command, reply, native } of batch) {
      expectEqual(replies.next().value, reply, text(command));
      if (native) expectEqual(replies.next().value, reply, `natively: ${text(native)}`);
    }
  }

  #step(): void {
    const random = this.#random;
    const { mostFlipped } = this.#domain;
    const steps: [number, () => void][] = [
      [30, () => this.#setBit(this.#key(), this.#offset(), random.chance(0.6) ? 1 : 0)],
      [10, () => this.#getBit()],
      [8, () => this.#append()],
      [3, () => this.#clear()],
      [1, () => this.#setAll()],
      [10, () => this.#count()],
      [10, () => this.#position()],
      [5, () => this.#combine()],
      [mostFlipped === undefined ? 0 : 1, () => this.#complement(mostFlipped!)],
      [1, () => this.#delete()],
      [2, () => this.#copy()],
    ];
    let at = random.below(steps.reduce((sum, [weight]) => sum + weight, 0));
    steps.find(([weight]) => (at -= weight) < 0)![1]();
  }

  #setBit(key: string, offset: Member, value: 0 | 1): void {
    const model = this.#model(key);
    const reply = model.has(offset) ? 1 : 0;
    if (value) model.add(offset);
    else model.delete(offset);
    this.models.set(key, model);
    this.#expect("SETBIT", [key, offset, value], reply, ["SETBIT", native(key), offset, value]);
  }

  #getBit(): void {
    const [key, offset] = [this.#key(), this.#near(this.#key())];
    this.#expect("GETBIT", [key, offset], this.#model(key).has(offset) ? 1 : 0, ["GETBIT", native(key), offset]);
  }

  #append(): void {
    const key = this.#key();
    const members = this.#cluster();
    const model = this.#model(key);
    for (const m of members) model.add(m);
    this.models.set(key, model);
    this.#expect("APPENDINTARRAY", [key, ...members], "OK");
    this.#rebuild(key);
  }

  /** Clears bit by bit, runs and blocks as well: what an append may have brought. */
  #clear(): void {
    const key = this.#key();
    for (const m of this.#cluster()) this.#setBit(key, m, 0);
  }

  #setAll(): void {
    const key = this.#key();
    const members = this.#cluster();
    this.models.set(key, new Set(members));
    this.#expect("SETINTARRAY", [key, ...members], "OK");
    this.#rebuild(key);
  }

  #delete(): void {
    const key = this.#key();
    const existed = this.models.delete(key);
    this.#plain(["DEL", key], existed ? 1 : 0);
    if (this.#domain.native) this.#plain(["DEL", native(key)]);
  }

  #count(): void {
    const key = this.#key();
    const range = this.#range(key, false);
    this.#trim(key);
    this.#indexed("BITCOUNT", key, [], bitCount(this.#model(key), range), range);
  }

  #position(): void {
    const key = this.#key();
    const bit = this.#random.pick([0, 1] as const);
    const range = this.#range(key, true);
    this.#trim(key);
    const model = this.models.get(key);
    const reply = model ? asReply(bitPosition(model, bit, this.#domain.family.last, range)) : bit ? -1 : 0;
    this.#indexed("BITPOS", key, [bit], reply, range);
  }

  #indexed(command: string, key: string, before: Argument[], reply: Reply, range?: Range): void {
    const { start, end, unit } = range ?? {};
    const given = [start, end, unit].filter((argument) => argument !== undefined);
    // Native's empty string has no bits at all; upstream's and our empty bitmap is all zeros.
    const comparable = !this.models.has(key) || this.#model(key).size > 0;
    this.#expect(command, [key, ...before, ...given], reply, comparable ? [command, native(key), ...before, ...given] : undefined);
  }

  #combine(): void {
    const random = this.#random;
    const operation = random.pick(operations);
    const destination = this.#key();
    const keys = Array.from({ length: leastSources(operation) + random.below(4) }, () => this.#key());
    const result = combine(operation, keys.map((key) => this.#model(key)));
    this.models.set(destination, result);
    this.#expect("BITOP", [operation, destination, ...keys], result.size);
    if (this.#domain.native && ["AND", "OR", "XOR"].includes(operation) && result.size > 0) {
      this.#plain(["BITOP", operation, native(destination), ...keys.map(native)]);
    } else {
      this.#rebuild(destination);
    }
  }

  #complement(most: bigint): void {
    const [destination, source] = [this.#key(), this.#key()];
    if (greatest(this.#model(source)) > most) return;
    const last = BigInt(this.#random.below(Number(most)));
    const given = this.#random.chance(0.5);
    const result = complement(this.#model(source), given ? last : undefined);
    this.models.set(destination, result);
    this.#expect("BITOP", ["NOT", destination, source, ...(given ? [last] : [])], result.size);
    this.#rebuild(destination);
  }

  /** A value that was copied, or written out and read in again, must be the same value. */
  #copy(): void {
    const [from, to] = [this.#key(), this.#key()];
    if (from === to || !this.models.has(from)) return;
    this.#plain(["COPY", from, to, "REPLACE"], 1);
    if (this.#domain.native) this.#plain(["COPY", native(from), native(to), "REPLACE"]);
    this.models.set(to, new Set(this.#model(from)));
  }

  #model(key: string): Set<Member> {
    return this.models.get(key) ?? new Set();
  }

  #expect(command: string, args: Command, reply: Reply, nativeCommand?: Command): void {
    const followed = this.#domain.native && nativeCommand ? { native: nativeCommand } : {};
    this.#batch.push({ command: [`${this.#domain.family.name}.${command}`, ...args], reply, ...followed });
  }

  /** A command of the server's, whose reply is as given, or of no matter. */
  #plain(command: Command, reply?: Reply): void {
    this.#batch.push({ command, reply: reply === undefined ? expect.anything() : reply });
  }

  /** Makes the native key what the model is, after a change that native has no command for. */
  #rebuild(key: string): void {
    if (!this.#domain.native) return;
    this.#plain(["SET", native(key), nativeString(this.#model(key))]);
  }

  #trim(key: string): void {
    if (this.#domain.native && this.models.has(key)) this.#plain(["EVAL", TRIM, 1, native(key)]);
  }

  #key = (): string => this.#random.pick(this.#domain.keys);

  #offset(): Member {
    const { containers, lowBits } = this.#domain;
    return member(this.#random.pick(containers) * 65536n + BigInt(this.#random.below(2 ** lowBits)));
  }

  /** An offset of the domain, or one that is in the key, or beside one that is. */
  #near(key: string): Member {
    const model = this.#model(key);
    if (model.size === 0 || this.#random.chance(0.5)) return this.#offset();
    const max = greatest(model);
    const near = max - BigInt(this.#random.below(3)) + 1n;
    return near < 0n || near > this.#domain.family.last ? member(max) : member(near);
  }

  /** Members of one shape: scattered, a run, or every other offset, which makes each kind of container. */
  #cluster(): Member[] {
    const random = this.#random;
    const most = this.#domain.mostAtOnce;
    const size = 1 + Math.floor(most ** random.unit());
    const start = this.#offset();
    const step = random.pick([0, 0, 1, 1, 2, 3]);
    if (step === 0) return Array.from({ length: Math.min(size, 500) }, () => this.#offset());
    const members: Member[] = [];
    for (let m = BigInt(start); members.length < size && m <= this.#domain.family.last; m += BigInt(step)) members.push(member(m));
    return random.chance(0.3) ? members.sort((a, b) => -ascending(a, b)) : members;
  }

  /** Indexes around the ends, the members and the seams of a bitmap; sometimes none. */
  #range(key: string, openEnded: boolean): Range | undefined {
    const random = this.#random;
    if (random.chance(0.2)) return undefined;
    const unit = random.pick(["BYTE", "BIT", undefined] as const);
    const scale = unit === "BIT" ? 1n : 8n;
    const index = (): bigint => {
      const at = BigInt(random.pick([this.#offset(), this.#near(key), 0, 65536, 1])) / scale + BigInt(random.below(3) - 1);
      const signed = random.chance(0.3) ? -at : at;
      return signed > 2n ** 63n - 1n ? 2n ** 63n - 1n : signed < -(2n ** 63n) ? -(2n ** 63n) : signed;
    };
    if (openEnded && random.chance(0.3)) return { start: index() };
    return { start: index(), end: index(), ...(unit ? { unit } : {}) };
  }
}

const native = (key: string): string => `native:${key}`;

const text = (command: Command): string => {
  const words = command.join(" ");
  return words.length > 300 ? `${words.slice(0, 300)}... (${command.length} words)` : words;
};
