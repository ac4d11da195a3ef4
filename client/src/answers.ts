// What replies mean. A reply's integers may arrive as numbers, bigints, text or bytes, depending on the client library and its settings.

import type { Answer, Form, Word } from "./call.js";
import { InexactReplyError } from "./errors.js";
import { type Count, described, type Family, type Member, type Name, type NameFamily } from "./family.js";
import type { Bit, EntryPage, FoundNames, IntegerStatistics, Key, NamePage, Page, Statistics, Sum, Summary } from "./types.js";

/**
 * The largest integer that every client library reads exactly as a number. node-redis adds the character code of a digit before it
 * subtracts that of "0", and so may round numbers that are up to 48 less than 2^53.
 */
const LARGEST_EXACT = 2 ** 53 - 64;

const isText = (reply: unknown): reply is string | Buffer => typeof reply === "string" || Buffer.isBuffer(reply);

function integerOf(reply: unknown): bigint {
  if (typeof reply === "bigint") return reply;
  if (typeof reply === "number" && !(Math.abs(reply) <= LARGEST_EXACT && Number.isInteger(reply))) {
    throw new InexactReplyError(`the client library may have rounded an integer to ${reply}: see the section "Types" of redis-roar-client's README`);
  }
  if (typeof reply === "number" || (isText(reply) && /^-?\d+$/.test(String(reply)))) return BigInt(String(reply));
  return unexpected("an integer", reply);
}

function textOf(reply: unknown): string {
  return isText(reply) ? String(reply) : unexpected("text", reply);
}

function bytesOf(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  if (typeof reply === "string") throw new InexactReplyError("the client library has decoded bytes as text: map strings to Buffers for this command");
  return unexpected("bytes", reply);
}

function listOf(reply: unknown): unknown[] {
  return Array.isArray(reply) ? reply : unexpected("an array", reply);
}

/** A flat list as pairs. */
function pairsOf(reply: unknown): [unknown, unknown][] {
  const list = listOf(reply);
  return Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]);
}

/** A map, which libraries read as a Map, an object or a list of names and values. */
function fieldsOf(reply: unknown): Record<string, unknown> {
  const pairs = Array.isArray(reply) ? pairsOf(reply) : reply instanceof Map ? [...reply as Map<unknown, unknown>]
    : typeof reply === "object" && reply !== null ? Object.entries(reply) : unexpected("a map", reply);
  return Object.fromEntries(pairs.map(([name, value]) => [textOf(name), value]));
}

function unexpected(wanted: string, reply: unknown): never {
  throw new InexactReplyError(`expected ${wanted}, and the client library answered ${described(reply)}`);
}

/** Which of the keys that a program gave a reply names. */
type Named = (name: unknown) => Key;

/** Keys that are all text: as the program calls them. The server knows them with the prefix. */
function namedText(prefix: Word | undefined): Named {
  const before = prefix === undefined ? "" : Buffer.from(prefix).toString();
  return (name) => {
    const key = textOf(name);
    return key.startsWith(before) ? key.slice(before.length) : key;
  };
}

/** The bytes of a key as text that has a character for each. */
const asLatin1 = (key: Key): string => Buffer.from(key).toString("latin1");

/** Keys of which some are bytes: the same objects. A key that was given twice is named in the order given. */
function namedBytes(given: readonly Key[], prefix: Word | undefined): Named {
  const before = prefix === undefined ? 0 : Buffer.byteLength(prefix), keys = new Map<string, Key[]>();
  for (const key of given) {
    const name = asLatin1(key), same = keys.get(name);
    if (same) same.push(key);
    else keys.set(name, [key]);
  }
  return (name) => keys.get(asLatin1(bytesOf(name).subarray(before)))?.shift() ?? unexpected("a key that was given", name);
}

/** Keys as the program gave them, each with a number. */
function rankingOf<T>(form: Form, decode: (number: unknown) => T) {
  return (_listed: number, given: readonly Key[]): Answer<[key: Key, number: T][]> => {
    const allText = given.every((key) => typeof key === "string");
    return {
      form: allText ? form : "bytes",
      decode: (reply, prefix) => {
        const named = allText ? namedText(prefix) : namedBytes(given, prefix);
        return listOf(reply).map((pair) => {
          const [name, number] = listOf(pair);
          return [named(name), decode(number)];
        });
      },
    };
  };
}

const orNull = <T>({ form, decode }: Answer<T>): Answer<T | null> => ({ form, decode: (reply) => (reply === null ? null : decode(reply)) });

/** How each kind of reply of a family is read. All throw {@link InexactReplyError}, as {@link Answer} says. */
export class Answers<M extends Member> {
  readonly ok: Answer<"OK"> = { form: "plain", decode: (reply) => (String(reply) === "OK" ? "OK" : unexpected("OK", reply)) };
  readonly okOrNull = orNull(this.ok);
  readonly bit: Answer<Bit> = { form: "plain", decode: (reply) => (reply === 0 || reply === 1 ? reply : integerOf(reply) === 0n ? 0 : 1) };
  /** As many bits as were asked for. A missing key is replied with none, and has no members. */
  readonly bits = (asked: number): Answer<Bit[]> => ({
    form: "plain",
    decode: (reply) => {
      const bits = listOf(reply).map((bit) => this.bit.decode(bit));
      return bits.length > 0 ? bits : Array.from({ length: asked }, () => 0);
    },
  });

  readonly boolean: Answer<boolean> = { form: "plain", decode: (reply) => integerOf(reply) === 1n };
  readonly length: Answer<number> = { form: "plain", decode: (reply) => Number(integerOf(reply)) };
  readonly text: Answer<string> = { form: "plain", decode: textOf };
  readonly textOrNull = orNull(this.text);
  readonly bytes: Answer<Uint8Array> = { form: "bytes", decode: bytesOf };
  readonly bytesOrNull: Answer<Uint8Array | null> = orNull(this.bytes);
  /** -1 stands for "both are empty". */
  readonly ratioOrNull: Answer<number | null> = {
    form: "plain",
    decode: (reply) => { const ratio = Number(textOf(reply)); return ratio < 0 ? null : ratio; },
  };

  readonly ratios: Answer<(number | null)[]> = { form: "plain", decode: (reply) => listOf(reply).map((ratio) => this.ratioOrNull.decode(ratio)) };
  readonly ratioRanking = rankingOf("plain", (ratio) => Number(textOf(ratio)));

  readonly fields: Answer<(bigint | null)[]> = {
    form: "wide",
    decode: (reply) => listOf(reply).map((value) => (value === null ? null : integerOf(value))),
  };

  readonly count: Answer<Count<M>>;
  readonly countOrNull: Answer<Count<M> | null>;
  readonly counts: Answer<Count<M>[]>;
  readonly table: Answer<Count<M>[][]>;
  readonly ranking: ReturnType<typeof rankingOf<Count<M>>>;
  /** -1 and nil stand for "there is none". */
  readonly offsetOrNull: Answer<M | null>;
  readonly offsets: Answer<M[]>;
  readonly ranges: Answer<[first: M, last: M][]>;
  readonly page: Answer<Page<M>>;
  readonly statisticsOrNull: Answer<Statistics<M> | null>;

  readonly value: Answer<M>;
  readonly valueOrNull: Answer<M | null>;
  readonly values: Answer<(M | null)[]>;
  readonly entries: Answer<[id: M, value: M][]>;
  readonly sum: Answer<Sum<M>>;
  readonly summary: Answer<Summary<M>>;
  readonly histogram: Answer<[value: M, ids: Count<M>][]>;
  readonly rankOrNull: Answer<Count<M> | null>;
  readonly entryPage: Answer<EntryPage<M>>;
  readonly integerStatisticsOrNull: Answer<IntegerStatistics<M> | null>;

  constructor(family: Family<M, string>) {
    const form: Form = family.name === "R" || family.name === "RN" ? "plain" : "wide", small = form === "plain";
    const member = (reply: unknown): M =>
      small && typeof reply === "number" && Number.isSafeInteger(reply) ? reply as M : family.member(integerOf(reply));
    const offsets = (reply: unknown): M[] => listOf(reply).map(member);
    this.count = { form, decode: member };
    this.countOrNull = orNull(this.count);
    this.counts = { form, decode: offsets };
    this.table = { form, decode: (reply) => listOf(reply).map(offsets) };
    this.ranking = rankingOf(form, member);
    this.offsetOrNull = orNull({ form, decode: (reply) => (integerOf(reply) === -1n ? null : member(reply)) });
    this.offsets = { form, decode: offsets };
    this.ranges = { form, decode: (reply) => listOf(reply).map((pair) => offsets(pair) as [M, M]) };
    this.page = {
      form,
      decode: (reply) => {
        const [cursor, members] = listOf(reply), next = member(cursor);
        return { members: offsets(members), cursor: next > 0 ? next : null };
      },
    };
    const statistics = <T>(): Answer<T> => ({
      form: "plain",
      decode: (reply) => JSON.parse(textOf(reply), (_, value: unknown) => (/^-?\d+$/.test(String(value)) ? member(value) : value)) as T,
    });
    this.statisticsOrNull = orNull(statistics<Statistics<M>>());
    this.value = this.count;
    this.valueOrNull = this.rankOrNull = this.countOrNull;
    this.values = { form, decode: (reply) => listOf(reply).map((value) => this.valueOrNull.decode(value)) };
    const entries = (reply: unknown): [M, M][] => pairsOf(reply).map(([id, value]) => [member(id), member(value)]);
    this.entries = { form, decode: entries };
    const sum = (count: unknown, of: unknown): Sum<M> => ({ count: member(count), sum: integerOf(of) });
    this.sum = { form, decode: (reply) => { const [count, of] = listOf(reply); return sum(count, of); } };
    this.summary = {
      form,
      decode: (reply) => {
        const { count, sum: of, min, max, mean } = fieldsOf(reply), { decode } = this.valueOrNull;
        return { ...sum(count, of), min: decode(min), max: decode(max), mean: mean === null ? null : Number(textOf(mean)) };
      },
    };
    this.histogram = { form, decode: (reply) => listOf(reply).map((pair) => offsets(pair) as [M, M]) };
    this.entryPage = {
      form,
      decode: (reply) => {
        const [cursor, list] = listOf(reply), next = member(cursor);
        return { entries: entries(list), cursor: next > 0 ? next : null };
      },
    };
    this.integerStatisticsOrNull = orNull(statistics<IntegerStatistics<M>>());
  }
}

/** How the replies of commands of names are read. A name can be any bytes, so replies with names are bytes. */
export class NameAnswers<N extends Name> extends Answers<number> {
  readonly names: Answer<(N | null)[]>;
  readonly namePage: Answer<NamePage<N>>;
  readonly foundNames: Answer<FoundNames<N>>;

  constructor(family: NameFamily<N>) {
    super(family);
    const form = "bytes", id = this.count.decode, nameOf = (reply: unknown): N => (isText(reply) ? family.nameOf(reply) : unexpected("a name", reply));
    this.names = { form, decode: (reply) => listOf(reply).map((name) => (name === null ? null : nameOf(name))) };
    this.namePage = {
      form,
      decode: (reply) => {
        const [cursor, list] = listOf(reply), next = id(cursor);
        return { entries: pairsOf(list).map(([one, name]) => [id(one), nameOf(name)]), cursor: next > 0 ? next : null };
      },
    };
    this.foundNames = {
      form,
      decode: (reply) => {
        const [next, list] = listOf(reply);
        return { names: listOf(list).map(nameOf), cursor: next === null ? null : id(next) };
      },
    };
  }
}
