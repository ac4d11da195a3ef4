// The calls of a command with its greatest arguments, made from its row of the command table.

import type { Arg, Command as Row } from "../host/commands.ts";
import { range } from "../test/support/family.ts";
import { type Argument, encode } from "../test/support/resp.ts";
import type { Cast } from "./shapes.ts";

/** About how long a command may be: as long as a client's first buffer at the server, and an expression. */
const COMMAND_BYTES = 64_000;
/** Members of 20 digits and of 10 that just fit in a reply, the most that may be in one, and the greatest number. */
const NUMBERS = [9_900_000n, 20_000_000n, 100_000_000n, 2n ** 63n - 1n];

type Words = readonly Argument[];
/** The words of an argument; of one that is repeated, the words at index `i` of `n`. */
type Part = (i: number, n: number) => Words;

const bytesOfWords = (words: Words): number => words.reduce<number>((sum, word) => sum + 6 + String(word).length, 0);
const always = (...words: Words): Part => () => words;

/** The part repeated until there are so many bytes. */
function repeated(part: Part, bytes: number): Words {
  const n = Math.max(1, Math.floor(bytes / bytesOfWords(part(1, 2))));
  return range(0, n).flatMap((i) => part(i, n));
}

const product = (parts: readonly (readonly Part[])[]): Part[] =>
  parts.reduce<Part[]>((all, some) => all.flatMap((first) => some.map((then): Part => (i, n) => [...first(i, n), ...then(i, n)])), [always()]);

/** Offsets in all of the span, ascending. */
const spread = ({ span }: Cast, i: number, n: number): bigint => (span - 64n) * BigInt(i) / BigInt(n);

/** Keys for an argument that takes any number of them. The first are many small ones. */
function lists({ many, shape }: Cast, bytes: number): Words[] {
  const of = (...keys: string[]): Words => repeated((i) => [keys[i % keys.length]!], bytes);
  if (shape === "missing") return [of(...many), of("A")];
  return [of(...many), of("A"), of("A", "B"), ["A", "B"]];
}

/** The values of an argument that stands alone, or in a block. */
function values(arg: Arg, row: Row, cast: Cast): Part[] {
  const { family } = cast;
  switch (arg.kind) {
    case "offset": return [always(0), always(family.last)];
    case "end": return [always(family.last + 1n)];
    case "bit": return [always(0), always(1)];
    case "rank": return [always(cast.span - 1n), always(-1), always(2n ** 63n - 1n)];
    case "number": return NUMBERS.map((number) => always(number));
    case "draws": return NUMBERS.flatMap((number) => [always(number), always(-number)]);
    case "range": return [always(0), always(0, -1, "BYTE"), always(1, -2, "BIT"), always(1, cast.span - 1n < 2n ** 63n ? cast.span - 1n : 2n ** 63n - 1n, "BIT")];
    case "bytes": return [always(cast.payload)];
  }
  switch (arg.type) {
    case "token": return [always(arg.token!)];
    case "oneof": return arg.of!.flatMap((one) => worded(one, row, cast));
    case "block": return product(arg.of!.map((one) => (one.optional ? [always(), ...worded(one, row, cast)] : worded(one, row, cast))));
    case "integer": return [always(1)];
    case "key": return [always(keyFor(arg, row))];
    case "string":
      switch (arg.name) {
        case "encoding": return [always("i64")];
        case "offset": return [(i, n) => [spread(cast, i, n)]];
        case "string": return [always("1".repeat(COMMAND_BYTES)), always("01".repeat(COMMAND_BYTES / 2))];
        default: return [always("0")];
      }
  }
}

/** With the keyword, if there is one. */
function worded(arg: Arg, row: Row, cast: Cast): Part[] {
  const word = arg.type === "token" || arg.token === undefined ? [] : [arg.token];
  return values(arg, row, cast).map((part) => (i, n) => [...word, ...part(i, n)]);
}

/** Only `W` is missing: it is what a command that replaces a value may write to. */
function keyFor({ name }: Arg, row: Row): string {
  if (name === "stringkey") return row.args[0]!.name === name ? "W" : "S";
  return name === "destkey" ? "W" : name === "key2" ? "B" : "A";
}

/** What an argument may be, or several that belong together. Nothing, too, if it may be left out. */
interface Slot {
  readonly optional: boolean;
  readonly alternatives: readonly Words[];
  /** Lists of keys: all of a command's have the same alternative. */
  readonly keys?: true;
}

function slots(row: Row, args: readonly Arg[], cast: Cast): Slot[] {
  const found: Slot[] = [], severals = args.filter(({ multiple, type }) => multiple && type === "key").length;
  const bytes = COMMAND_BYTES / Math.max(1, severals);
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!, next = args[at + 1], optional = arg.optional === true;
    const put = (...alternatives: Words[]): void => void found.push({ optional, alternatives });
    if (arg.name === "expression") {
      put(...asked(cast, row, severals > 1));
      at += 2;
    } else if (arg.kind === "question") {
      put(...asked(cast, row, true).map((words) => [arg.of![0]!.token!, ...words]));
    } else if (arg.type === "integer" && !arg.kind && next?.multiple) {
      found.push({ optional, keys: true, alternatives: lists(cast, bytes).map((keys) => [keys.length, ...keys]) });
      at++;
    } else if (arg.type === "key" && arg.multiple) found.push({ optional, keys: true, alternatives: lists(cast, bytes) });
    else if (arg.kind === "offset" && arg.multiple) {
      const parts: Part[] = [(i, n) => [spread(cast, i, n)], (i, n) => [spread(cast, n - 1 - i, n)], always(cast.family.last)];
      put(...parts.map((part) => repeated(part, COMMAND_BYTES)));
    } else if (arg.multiple) put(...values({ ...arg, kind: undefined, multiple: undefined } as Arg, row, cast).map((part) => repeated(part, COMMAND_BYTES)));
    else if (isOffset(arg) && next && isOffset(next) && !optional && !next.optional && !next.multiple) {
      const [greatest] = next.kind === "end" ? [cast.family.last + 1n] : [cast.family.last];
      put([0, greatest!], [1, greatest! - 1n]);
      at++;
    } else put(...worded(arg, row, cast).map((part) => part(0, 1)));
  }
  return found;
}

const isOffset = ({ kind }: Arg): boolean => kind === "offset" || kind === "end";

/** The argument lists of a command: one, or one for the operation that takes a single key, and one for the others. */
function argumentLists({ args, keys }: Row): Arg[][] {
  const single = keys.find(({ oneKeyFor }) => oneKeyFor !== undefined)?.oneKeyFor;
  if (single === undefined) return [args];
  const [operation, ...rest] = args;
  const having = (named: boolean): Arg => ({ ...operation!, of: operation!.of!.filter(({ token }) => (token === single) === named) });
  return [
    [having(false), ...rest.filter(({ name }) => name !== "last")],
    [having(true), ...rest.map((arg) => (arg.multiple ? { ...arg, multiple: undefined } as unknown as Arg : arg))],
  ];
}

/**
 * Every combination of what the command requires, without options; each option alone, and all of them, with the first of these
 * combinations.
 */
export function greatestCalls(row: Row, cast: Cast): Words[] {
  return argumentLists(row).flatMap((args) => {
    const all = slots(row, args, cast);
    /** One word list for each slot. */
    const combine = (choices: (slot: Slot, at: number) => readonly Words[]): Words[] =>
      all.reduce<Words[]>((calls, slot, at) => calls.flatMap((call) => choices(slot, at).map((words) => [...call, ...words])), [[]]);
    const list = all.find(({ keys }) => keys)?.alternatives.keys() ?? [0];
    const required = [...list].flatMap((nth) =>
      combine(({ optional, keys, alternatives }) => (optional ? [[]] : keys ? [alternatives[nth]!] : alternatives)));
    const options = all.flatMap((own, chosen) => (own.optional
      ? combine(({ optional, alternatives }, at) => (at === chosen ? alternatives : optional ? [[]] : [alternatives[0]!])) : []));
    const many = all.filter(({ optional }) => optional).length > 1;
    const everything = many ? combine(({ optional, alternatives }) => [optional ? alternatives.at(-1)! : alternatives[0]!]) : [];
    return [...required, ...options, ...everything];
  });
}

// --- Expressions ---------------------------------------------------------------------------------------------------------

/** Texts of operands number i of n, over so many keys, with a width that ranges are cut from. */
type Term = (i: number, n: number, keys: number, width: bigint) => string;

const other = (i: number, keys: number): number => (keys === 1 ? 1 : 2 + i % (keys - 1));
const nested = (i: number, n: number, width: bigint): string => {
  const step = BigInt(i) * width / BigInt(2 * n);
  return `[${step}..${width - 1n - step}]`;
};

const INFIX = ["&", "-", "^", "|"];

const terms: readonly Term[] = [
  (i, _, keys) => `#${1 + i % keys}`,
  (i, _, keys) => `~#${1 + i % keys}`,
  ...INFIX.map((operator): Term => (i, _, keys) => `(#1${operator}#${other(i, keys)})`),
  ...INFIX.map((operator): Term => (i, n, keys, width) => `(#${1 + i % keys}${operator}${nested(i, n, width)})`),
  (i, n, keys, width) => (i < keys ? `#${i + 1}` : nested(i, n, width)),
];

type Combiner = (texts: readonly string[]) => string;
const combiners: readonly Combiner[] = [
  ...INFIX.map((operator): Combiner => (texts) => texts.join(operator)),
  ...["all", "any", "one"].map((name): Combiner => (texts) => `${name}(${texts.join(",")})`),
  ...["atleast", "atmost", "exactly"].map((name): Combiner => (texts) => `${name}(${Math.ceil(texts.length / 2)},${texts.join(",")})`),
];

/** As deep as parentheses may be. */
const LEVELS = 60;
const deep = (name: string): string =>
  range(0, LEVELS).reduce((text, i) => (name === "" ? `(${text}${INFIX[i % 4]!}#${1 + i % 2})` : `${name}(2,${text},#1,~#2)`), "#1|#2");

const short = ["#1|#2", "#1^#2", "#1&#2", "#1-#2", "~#1|#2", "#1^~#2", "exactly(1,#1,~#2)", "atleast(2,#1,#2,[9..99999999])", deep(""), deep("exactly")];

/** As many keys as leave room for terms that name each of them. */
const KEYS_MOST = 1500;
const EXPRESSION_BYTES = 60_000;

/** An expression of one kind of terms, as many as fit, and its keys. */
function long(term: Term, combiner: Combiner, keys: Words, width: bigint): Words {
  const sample = term(keys.length - 1, 100_000, keys.length, width).length + 1, room = COMMAND_BYTES - bytesOfWords(keys);
  const n = Math.max(keys.length, Math.floor(Math.min(room, EXPRESSION_BYTES) / sample));
  return [combiner(range(0, n).map((i) => term(i, n, keys.length, width))), keys.length, ...keys];
}

/** Of so many long expressions of each kind one is asked of a cast; others are asked of other casts. */
const ONE_IN = 8;

/** Expressions and their keys. The first is a short one. */
function asked(cast: Cast, row: Row, few: boolean): Words[] {
  const both = ["A", "B"], shorts = short.map((text): Words => [text, 2, ...both]);
  if (few) return shorts.slice(0, 2);
  const longs = terms.flatMap((term) => combiners.flatMap((combiner) => [both, ["A", ...cast.many.slice(0, KEYS_MOST)]].map((keys) => (): Words => long(term, combiner, keys, cast.span))));
  return [...shorts, ...longs.filter((_, i) => (i + cast.index + row.name.length) % ONE_IN === 0).map((make) => make())];
}

export const bytesOfCommand = (words: Words): number => encode(words).length;
