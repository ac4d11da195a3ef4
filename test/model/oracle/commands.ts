// What every command must reply, and how it changes the keys.

import { expect } from "vitest";
import { readAny } from "../../support/format.ts";
import { keeps, leastSources, type Operation, operations } from "../../support/model.ts";
import { SYNTAX, WRONGTYPE } from "../../support/suite.ts";
import { bytesOf, type Reply, ReplyError } from "../../support/resp.ts";
import { type Answer, type Call, integer, list, MOST_LISTED, page, refuse, REPLY_LIMIT, stringLength, TOO_MANY, TooMuch } from "./call.ts";
import { Edges } from "./edges.ts";
import { bitfield } from "./fields.ts";
import { crosscard, facet } from "./many.ts";
import { query, querystore } from "./questions.ts";
import { ratio } from "./ratio.ts";
import { exportedSet } from "./streams.ts";

const BEYOND = "ERR Roaring: a bit of the string would become an offset above the last";

interface Rule {
  /** As in COMMAND INFO: including the name, negative if more arguments may follow. */
  readonly arity: number;
  readonly expected: (call: Call) => Answer;
}

const rule = (arity: number, expected: (call: Call) => Answer): Rule => ({ arity, expected });

// --- Indexes -------------------------------------------------------------------------------------------------------------

/** The length of the native bitmap with these members, in bits. */
const length = (set: Edges): bigint => (set.max === undefined ? 0n : (set.max / 8n + 1n) * 8n);

/** The bits [low, high) that the indexes of a native command select. */
function indexed(set: Edges, start: bigint, end: bigint, unit: "BYTE" | "BIT"): [low: bigint, high: bigint] {
  const scale = unit === "BIT" ? 1n : 8n, total = length(set) / scale;
  const fromEnd = (index: bigint): bigint => (index < 0n ? (index + total < 0n ? 0n : index + total) : index);
  const low = fromEnd(start), high = fromEnd(end) + 1n;
  return [low * scale, (high > total ? total : high) * scale];
}

function bitcount(call: Call): Answer {
  const { args } = call;
  if (args.length > 5) refuse(SYNTAX);
  if (args.length === 2) return integer(call.source(1).count());
  const start = call.index(2), end = args.length > 3 ? call.index(3) : -1n, unit = args.length > 4 ? call.unit(4) : "BYTE";
  const set = call.source(1);
  if (start < 0n && end < 0n && start > end) return 0;
  return integer(set.count(...indexed(set, start, end, unit)));
}

function bitpos(call: Call): Answer {
  const { args } = call;
  const bit = args.length === 3 ? BigInt(call.bit(2, "bit")) : call.index(2);
  if (bit !== 0n && bit !== 1n) refuse("ERR The bit argument must be 1 or 0.");
  if (args.length > 6) refuse(SYNTAX);
  const start = args.length > 3 ? call.index(3) : 0n;
  const unit = args.length > 5 ? call.unit(5) : "BYTE";
  const end = args.length > 4 ? call.index(4) : -1n;
  const set = call.read(1)?.set;
  if (set === undefined) return bit === 1n ? -1 : 0;
  if (set.max === undefined && args.length === 3 && bit === 0n) return 0;
  const [low, high] = indexed(set, start, end, unit);
  if (low >= high) return -1;
  const [from, to] = set.stretches(low, high).next().value ?? [];
  if (bit === 1n) return from === undefined ? -1 : integer(from);
  const clear = from === low ? to! : low;
  if (clear >= high && args.length > 4) return -1;
  return clear > call.family.last ? -1 : integer(clear);
}

// --- Combinations --------------------------------------------------------------------------------------------------------

/** The result of BITOP on the source keys at `at` and after. `check` looks at arguments before the keys are looked at. */
function combined(call: Call, at: number, check: () => void = () => {}): Edges {
  const name = call.args[1]!.toUpperCase(), sources = call.args.length - at;
  if (name === "NOT") {
    if (sources < 1 || sources > 2) call.refuseArity();
    check();
    const last = sources > 1 ? call.last(at + 1) : -1n;
    const set = call.source(at).clone(), max = set.max ?? -1n;
    set.flip(0n, (max > last ? max : last) + 1n);
    return set;
  }
  const operation = operations.find((known) => known === name) ?? refuse(SYNTAX);
  if (sources < leastSources(operation)) call.refuseArity();
  check();
  return combine(operation, call.args.slice(at).map((_, i) => call.source(at + i)));
}

function bitopcard(call: Call): Answer {
  const limited = call.is(2, "LIMIT");
  let most = 0n;
  const members = combined(call, limited ? 4 : 2, () => { if (limited) most = call.limit(3); }).count();
  return integer(most > 0n && members > most ? most : members);
}

const combine = (operation: Operation, sources: Edges[]): Edges =>
  Edges.combine(sources, (count, inFirst) => keeps(operation, sources.length, count, inFirst));

const sharedCount = (a: Edges, b: Edges): bigint => combine("AND", [a, b]).count();

function contains(call: Call): Answer {
  if (call.args.length > 4) call.refuseArity();
  const mode = call.args[3]?.replace(/\0[^]*$/, "");
  if (mode !== undefined && !["ALL", "ALL_STRICT", "EQ"].includes(mode)) {
    refuse(`ERR invalid mode argument: ${mode.replace(/[\r\n]/g, " ")}`);
  }
  const a = call.existing(1), b = call.existing(2), shared = sharedCount(a, b);
  const all = shared === b.count();
  switch (mode) {
    case "ALL": return Number(all);
    case "ALL_STRICT": return Number(all && a.count() > b.count());
    case "EQ": return Number(all && a.count() === b.count());
    default: return Number(shared > 0n);
  }
}

function jaccard(call: Call): Answer {
  const a = call.existing(1), b = call.existing(2), shared = sharedCount(a, b);
  const any = a.count() + b.count() - shared;
  return ratio(shared, any);
}

// --- Changes -------------------------------------------------------------------------------------------------------------

function assignAll(set: Edges, offsets: readonly bigint[], value: boolean): bigint {
  const before = set.count();
  for (const offset of offsets) set.assign(offset, offset + 1n, value);
  const after = set.count();
  return after > before ? after - before : before - after;
}

function clearbits(call: Call): Answer {
  const counts = call.is(call.args.length - 1, "COUNT");
  const offsets = call.offsets(2, "offset", call.args.length - Number(counts));
  const set = call.read(1)?.set;
  if (set === undefined) return null;
  const cleared = assignAll(set, offsets, false);
  return counts ? integer(cleared) : "OK";
}

function clearAll(call: Call): Answer {
  const bitmap = call.read(1);
  if (bitmap === undefined) return null;
  const removed = bitmap.set.count();
  bitmap.set = new Edges();
  return integer(removed);
}

// --- Lists ---------------------------------------------------------------------------------------------------------------

function rangeintarray(call: Call): Answer {
  const start = call.offset(2, "start"), end = call.offset(3, "end");
  if (end - start >= REPLY_LIMIT) refuse(`Roaring: range too large: maximum ${REPLY_LIMIT} elements (redis-roar.reply-limit)`);
  const set = call.source(1), from = start > end ? undefined : set.select(start), size = set.count();
  return from === undefined ? [] : list(set, from, 2n ** 64n, (end < size ? end + 1n : size) - start);
}

function range(call: Call): Answer {
  const min = call.offset(2, "min"), max = call.offset(3, "max");
  const { down, limit } = page(call, 4, ["REV", "LIMIT"]);
  const set = call.source(1), count = set.count(min, max + 1n);
  return list(set, min, max + 1n, count < limit ? count : limit, down);
}

function ranges(call: Call): Answer {
  const min = call.offset(2, "min"), max = call.offset(3, "max"), { limit } = page(call, 4, ["LIMIT"]);
  const runs = [...call.source(1).stretches(min, max + 1n)].slice(0, Number(limit));
  if (2 * runs.length > REPLY_LIMIT) refuse(TOO_MANY);
  if (2 * runs.length > MOST_LISTED) throw new TooMuch();
  return runs.map(([from, to]) => [integer(from), integer(to - 1n)]);
}

function rangeCounts(call: Call): Answer {
  const { args } = call, number = args[2]!;
  if (!/^[1-9][0-9]*$/.test(number) || Number(number) >= 2 ** 32) refuse("ERR numranges should be greater than 0");
  if (args.length !== 3 + 2 * Number(number)) refuse("ERR syntax error: numranges is not the number of ranges");
  const bounds = Array.from({ length: Number(number) }, (_, i) => [call.offset(3 + 2 * i, "min"), call.offset(4 + 2 * i, "max") + 1n] as const);
  const set = call.source(1);
  return bounds.map(([low, high]) => integer(low < high ? set.count(low, high) : 0n));
}

function scan(call: Call): Answer {
  const { args } = call, cursor = call.offset(2, "cursor");
  if (args.length > 3 && (args.length !== 5 || !call.is(3, "COUNT"))) refuse(SYNTAX);
  const count = args.length > 3 ? call.limit(4) : 10n;
  if (count === 0n) refuse(SYNTAX);
  const set = call.source(1), rest = set.count(cursor), taken = count < rest ? count : rest;
  const members = list(set, cursor, 2n ** 64n, taken < REPLY_LIMIT ? taken : REPLY_LIMIT);
  const next = taken < rest ? set.select(set.count(0n, cursor) + taken)! : 0n;
  return [String(next), members];
}

function select(call: Call): Answer {
  const negative = /^-[1-9][0-9]*$/.test(call.args[2]!) && call.index(2);
  const rank = negative === false ? call.limit(2) : negative + call.source(1).count();
  const found = call.source(1).select(rank);
  return rank < 0n || found === undefined ? null : integer(found);
}

// --- Samples -------------------------------------------------------------------------------------------------------------

/** Which members are drawn is left to chance; how many, their order, and whether they repeat is not. */
function randmember(call: Call): Answer {
  const { args } = call;
  if (args.length > 3) refuse(SYNTAX);
  const count = args.length > 2 ? call.index(2) : undefined, set = call.source(1).clone(), size = set.count();
  const drawn = (reply: Reply): bigint => {
    expect(set.has(BigInt(reply as number)), `${String(reply)} is a member`).toBe(true);
    return BigInt(reply as number);
  };
  if (count === undefined) return size === 0n ? null : drawn;
  if (size === 0n || count === 0n) return [];
  const wanted = count < 0n ? -count : count < size ? count : size;
  if (wanted > REPLY_LIMIT) refuse(TOO_MANY);
  if (count > 0n && wanted === size) return list(set, 0n, 2n ** 64n, size);
  if (wanted > MOST_LISTED) throw new TooMuch();
  return (reply) => {
    const members = (reply as Reply[]).map(drawn);
    expect(members).toHaveLength(Number(wanted));
    if (count > 0n) members.forEach((member, i) => expect(i === 0 || members[i - 1]! < member).toBe(true));
  };
}

/** What is drawn shows in the reply: the check of the reply removes it from the oracle's world. */
function randpop(call: Call): Answer {
  const { args, world } = call;
  if (args.length > 3) refuse(SYNTAX);
  const count = args.length > 2 ? call.limit(2) : undefined, set = call.source(1), size = set.count();
  const wanted = count ?? 1n, taken = wanted < size ? wanted : size;
  if (taken === 0n) return count === undefined ? null : [];
  if (taken > REPLY_LIMIT) refuse(TOO_MANY);
  if (taken > MOST_LISTED) throw new TooMuch();
  if (taken === size) {
    world.delete(args[1]!);
    const all = list(set, 0n, 2n ** 64n, size);
    return count === undefined ? all[0]! : all;
  }
  return (reply) => {
    const drawn = (count === undefined ? [reply] : reply as Reply[]).map((one) => BigInt(one as number));
    expect(drawn).toHaveLength(Number(taken));
    drawn.forEach((one, i) => {
      expect(set.has(one) && (i === 0 || drawn[i - 1]! < one), `${one} is a member, above the one before it`).toBe(true);
      set.assign(one, one + 1n, false);
    });
  };
}

function pop(call: Call, greatest: boolean): Answer {
  const { args } = call;
  if (args.length > 3) refuse(SYNTAX);
  const count = args.length > 2 ? call.limit(2) : undefined, set = call.source(1), size = set.count();
  const wanted = count === undefined ? 1n : count;
  const taken = wanted < size ? wanted : size;
  if (taken === 0n) return count === undefined ? null : [];
  const first = greatest ? set.select(size - taken)! : 0n;
  const members = list(set, first, 2n ** 64n, taken), last = set.select(greatest ? size - 1n : taken - 1n)!;
  set.assign(first, last + 1n, false);
  return count === undefined ? members[0]! : greatest ? members.reverse() : members;
}

// --- Exchange ------------------------------------------------------------------------------------------------------------

function exported(call: Call): Answer {
  const set = call.read(1)?.set;
  return set === undefined ? null : exportedSet(call.family, set);
}

/** Streams that were read before: sequences send the same ones many times. */
const known = new Map<string, Edges | undefined>();
const MOST_KNOWN = 200;

/** The members of the stream; undefined if it is invalid. */
function imported({ family, args }: Call): Edges | undefined {
  const text = args[2]!, question = `${family.bits} ${text}`;
  if (known.size > MOST_KNOWN) known.clear();
  if (!known.has(question)) known.set(question, edgesOf(family.bits, bytesOf(text)));
  return known.get(question)?.clone();
}

function edgesOf(bits: 32 | 64, stream: Buffer): Edges | undefined {
  try {
    return Edges.of(readAny(bits, stream).map(BigInt));
  } catch {
    return undefined;
  }
}

function importStream(call: Call): Answer {
  if (call.args.length > 4 || (call.args.length > 3 && !call.is(3, "REPLACE"))) refuse(SYNTAX);
  const set = imported(call);
  if (set === undefined) return (reply) => expect((reply as Error).message).toMatch(/^ERR invalid roaring payload: ./);
  if (call.args.length > 3) return integer(call.store(1, set).count());
  return integer(call.store(1, combine("OR", [call.source(1), set])).count());
}

const ofString = (text: string, isMember: (text: string, offset: number) => boolean, size: number): Edges => {
  const offsets: bigint[] = [];
  for (let offset = 0; offset < size; offset++) if (isMember(text, offset)) offsets.push(BigInt(offset));
  return Edges.of(offsets);
};

function getbitarray(call: Call): Answer {
  const set = call.read(1)?.set;
  if (set === undefined) return "";
  const text = Buffer.alloc(stringLength((set.max ?? 0n) + 1n), "0");
  for (const [from, to] of set.stretches()) text.fill("1", Number(from), Number(to));
  return text.toString("latin1");
}

/** OFFSET n, MERGE and LSB, in any order. */
function placing(call: Call): { first: bigint; merges: boolean; low: boolean } {
  const open = new Set(["OFFSET", "MERGE", "LSB"]);
  let first = 0n, at = 3;
  for (; at < call.args.length; at++) {
    const word = [...open].find((one) => call.is(at, one));
    if (word === undefined || (word === "OFFSET" && at + 1 >= call.args.length)) refuse(SYNTAX);
    open.delete(word);
    if (word === "OFFSET") first = call.offset(++at, "offset");
  }
  return { first, merges: !open.has("MERGE"), low: !open.has("LSB") };
}

/** The bit of an offset in its byte. */
const bitOf = (offset: number, low: boolean): number => (low ? 1 << (offset & 7) : 128 >> (offset & 7));

function frombitmap(call: Call): Answer {
  const { first, merges, low } = placing(call);
  const value = call.world.get(call.args[2]!) ?? Buffer.alloc(0);
  if (!Buffer.isBuffer(value)) refuse(WRONGTYPE);
  const text = value.toString("latin1");
  const bit = (_: string, offset: number): boolean => (text.charCodeAt(offset >> 3) & bitOf(offset, low)) !== 0;
  const read = ofString(text, bit, value.length * 8).moved(first);
  if (read.max !== undefined && read.max > call.family.last) refuse(BEYOND);
  if (!merges) return integer(call.overwrite(1, read).count());
  return integer(call.store(1, combine("OR", [call.source(1), read])).count());
}

function tobitmap(call: Call): Answer {
  if (call.args.length > 4 || (call.args.length > 3 && !call.is(3, "LSB"))) refuse(SYNTAX);
  const set = call.existing(2), bytes = Buffer.alloc(stringLength(length(set) / 8n));
  for (const x of set.members().map(Number)) bytes[x >> 3]! |= bitOf(x, call.args.length > 3);
  call.world.set(call.args[1]!, bytes);
  return bytes.length;
}

// --- Form ----------------------------------------------------------------------------------------------------------------

/** The oracle does not predict the kinds of containers, but it knows their sums. */
function stat(call: Call): Answer {
  if (call.args.length > 3) call.refuseArity();
  const value = call.world.get(call.args[1]!);
  if (value === undefined) return null;
  if (Buffer.isBuffer(value)) refuse(WRONGTYPE);
  const { family, set } = value, json = call.is(2, "JSON");
  const head = [
    family.bits === 32 ? "bitmap" : "bitmap64", set.count(), set.containers(), set.max ?? 0n, set.min ?? family.last,
  ].map(String);
  return (reply) => {
    const values = json ? jsonValues(reply as string) : [...(reply as string).matchAll(/: (.*)\n/g)].map(([, text]) => text!);
    expect(values).toHaveLength(14);
    expect(values.slice(0, 5)).toEqual(head);
    const sum = (from: number): string => String([0, 3, 6].reduce((total, kind) => total + BigInt(values[from + kind]!), 0n));
    expect([sum(5), sum(6)]).toEqual([head[2], head[1]]);
  };
}

function jsonValues(text: string): string[] {
  const flat = (value: unknown): unknown[] => (typeof value === "object" ? Object.values(value!).flatMap(flat) : [value]);
  return flat(JSON.parse(text)) as string[];
}

function optimize(call: Call): Answer {
  if (call.args.length > 3) call.refuseArity();
  call.existing(1);
  return "OK";
}

// --- All -----------------------------------------------------------------------------------------------------------------

export const rules: Readonly<Record<string, Rule>> = {
  SETBIT: rule(4, (call) => {
    const offset = call.offset(2, "offset"), bit = call.bit(3, "value"), set = call.create(1), before = set.has(offset);
    set.assign(offset, offset + 1n, bit === 1);
    return Number(before);
  }),
  GETBIT: rule(3, (call) => {
    const offset = call.offset(2, "offset");
    return Number(call.source(1).has(offset));
  }),
  BITCOUNT: rule(-2, bitcount),
  MBITCOUNT: rule(-2, (call) => call.args.slice(1).map((_, i) => integer(call.source(i + 1).count()))),
  BITPOS: rule(-3, bitpos),
  BITOP: rule(-4, (call) => integer(call.overwrite(2, combined(call, 3)).count())),
  SETINTARRAY: rule(-3, (call) => {
    const values = call.offsets(2, "value");
    call.store(1, Edges.of(values));
    return "OK";
  }),
  APPENDINTARRAY: rule(-3, (call) => {
    const values = call.offsets(2, "value");
    assignAll(call.create(1), values, true);
    return "OK";
  }),
  GETINTARRAY: rule(2, (call) => {
    const set = call.source(1);
    return list(set, 0n, 2n ** 64n, set.count());
  }),
  GETBITS: rule(-3, (call) => {
    const offsets = call.offsets(2, "offset"), set = call.read(1)?.set;
    return set === undefined ? [] : offsets.map((offset) => Number(set.has(offset)));
  }),
  MGETBIT: rule(-3, (call) => {
    const offset = call.offset(1, "offset");
    return call.args.slice(2).map((_, i) => Number(call.source(i + 2).has(offset)));
  }),
  SETBITS: rule(-3, (call) => {
    const offsets = call.offsets(2, "offset");
    return integer(assignAll(call.create(1), offsets, true));
  }),
  CLEARBITS: rule(-3, clearbits),
  CLEAR: rule(2, clearAll),
  DELETEINTARRAY: rule(-3, (call) => {
    const values = call.offsets(2, "value");
    assignAll(call.create(1), values, false);
    return "OK";
  }),
  RANGEINTARRAY: rule(4, rangeintarray),
  SETRANGE: rule(4, (call) => {
    const [start, end] = call.range(2);
    call.create(1).assign(start, end, true);
    return "OK";
  }),
  CLEARRANGE: rule(4, (call) => {
    const [start, end] = call.range(2), set = call.source(1), cleared = set.count(start, end);
    set.assign(start, end, false);
    return integer(cleared);
  }),
  FLIPRANGE: rule(4, (call) => {
    const [start, end] = call.range(2), set = call.create(1);
    set.flip(start, end);
    return integer(set.count());
  }),
  SETFULL: rule(2, (call) => {
    if (call.read(1)) refuse("Roaring: key already exist");
    call.store(1, new Edges([0n, call.family.last + 1n]));
    return "OK";
  }),
  MIN: rule(2, (call) => integer(call.source(1).min ?? -1n)),
  MAX: rule(2, (call) => integer(call.source(1).max ?? -1n)),
  RANK: rule(3, (call) => {
    const offset = call.offset(2, "offset");
    return integer(call.source(1).count(0n, offset + 1n));
  }),
  SELECT: rule(3, select),
  RANGE: rule(-4, range),
  RANGES: rule(-4, ranges),
  COUNTS: rule(-4, rangeCounts),
  SCAN: rule(-3, scan),
  RANDMEMBER: rule(-2, randmember),
  RANDPOP: rule(-2, randpop),
  POPMIN: rule(-2, (call) => pop(call, false)),
  POPMAX: rule(-2, (call) => pop(call, true)),
  BITOPCARD: rule(-3, bitopcard),
  DIFF: rule(4, (call) => {
    call.read(1);
    call.store(1, combine("DIFF", [call.existing(2), call.existing(3)]));
    return "OK";
  }),
  CONTAINS: rule(-3, contains),
  JACCARD: rule(3, jaccard),
  SETBITARRAY: rule(3, (call) => {
    const text = call.args[2]!;
    call.store(1, ofString(text, (_, offset) => text[offset] === "1", text.length));
    return "OK";
  }),
  GETBITARRAY: rule(2, getbitarray),
  EXPORT: rule(2, exported),
  IMPORT: rule(-3, importStream),
  FROMBITMAP: rule(-3, frombitmap),
  TOBITMAP: rule(-3, tobitmap),
  BITFIELD: rule(-2, (call) => bitfield(call, true)),
  BITFIELD_RO: rule(-2, (call) => bitfield(call, false)),
  STAT: rule(-2, stat),
  OPTIMIZE: rule(-2, optimize),
  QUERY: rule(-4, query),
  QUERYSTORE: rule(-5, querystore),
  FACET: rule(-6, facet),
  CROSSCARD: rule(-5, crosscard),
};

/** Predicts the reply of a call and applies it to the world. A refusal changes nothing. */
export function answer(call: Call): Answer {
  const { arity, expected } = rules[call.name]!, given = call.args.length;
  try {
    if (arity < 0 ? given < -arity : given !== arity) call.refuseArity();
    return expected(call);
  } catch (error) {
    if (error instanceof ReplyError) return error;
    throw error;
  }
}
