// The calls of a command with its greatest arguments, made from its row of the command table.

import type { Arg, Command as Row } from "../host/table/commands.ts";
import { range } from "../test/support/family.ts";
import { type Argument, encode } from "../test/support/resp.ts";
import type { Cast } from "./shapes.ts";

/** About how long a call may be. */
const CALL_BYTES = 64_000;
/** As many members of 20 digits and of 10 as fit in a reply, the most that may be in one, and the greatest number. */
const NUMBERS = [9_900_000n, 20_000_000n, 100_000_000n, 2n ** 63n - 1n];

/** Each kind of long expression is asked of every eighth cast. */
const ONE_IN = 8;

export type Words = readonly Argument[];
/** The words of an argument: the i-th of n times if it is repeated. */
type Part = (i: number, n: number) => Words;

const always = (...words: Words): Part => () => words;
const then = (first: Part, second: Part): Part => (i, n) => [...first(i, n), ...second(i, n)];

/** The bytes of words in a call. */
const bytesOf = (words: Words): number => encode(words).length - encode([]).length;

/** The part as often as it fits in so many bytes. */
function repeated(part: Part, bytes: number): Words {
  const n = Math.max(1, Math.floor(bytes / bytesOf(part(1, 3))));
  return range(0, n).flatMap((i) => part(i, n));
}

/** Offsets in all of the span, ascending, with room for a field behind the last. */
const spread = ({ span }: Cast, i: number, n: number): bigint => (span - 64n) * BigInt(i) / BigInt(n);

/** The key for an argument that takes one. A command that replaces a value writes to `W`, which is missing. */
function keyFor({ name }: Arg, { args }: Row): string {
  if (name === "stringkey") return args[0]!.name === name ? "W" : "S";
  return name === "destkey" ? "W" : name === "key2" ? "B" : "A";
}

/** What an argument may be. An argument that may be repeated is there once. */
function partsOf(arg: Arg, row: Row, cast: Cast): Part[] {
  const parts = valuesOf(arg, row, cast);
  return arg.token === undefined || arg.type === "token" ? parts : parts.map((part) => then(always(arg.token!), part));
}

function valuesOf(arg: Arg, row: Row, cast: Cast): Part[] {
  const last = cast.family.last, greatest = NUMBERS.at(-1)!, each = (part: Arg): Part[] => partsOf(part, row, cast);
  switch (arg.kind) {
    case "offset": return [always(0), always(last), always(cast.span / 3n)];
    case "end": return [always(last + 1n)];
    case "bit": return [always(0), always(1)];
    case "rank": return [always(cast.span / 2n), always(-1), always(greatest)];
    case "number": return NUMBERS.map((number) => always(number));
    case "distance": return [1, 65_536, cast.span / 3n].map((by) => always(by));
    case "draws": return NUMBERS.flatMap((number) => [always(number), always(-number)]);
    case "range": return [always(0), always(0, -1, "BYTE"), always(1, -2, "BIT"), always(-greatest, greatest, "BIT")];
    case "bytes": return [always(cast.payload)];
  }
  switch (arg.type) {
    case "token": return [always(arg.token!)];
    case "key": return [always(keyFor(arg, row))];
    case "integer": return [always(1)];
    case "oneof": return arg.of!.flatMap(each);
    case "block":
      return arg.of!.reduce<Part[]>((parts, part) => {
        const more = part.optional ? [always(), ...each(part)] : each(part);
        return parts.flatMap((first) => more.map((second) => then(first, second)));
      }, [always()]);
    case "string":
      switch (arg.name) {
        case "encoding": return [always("i64")];
        case "offset": return [(i, n) => [spread(cast, i, n)]];
        case "string": return [always("1".repeat(CALL_BYTES)), always("01".repeat(CALL_BYTES / 2))];
        default: return [always("0")];
      }
  }
}

/** Lists of keys: many small ones, the same one again and again, two in turns, and two. */
function keyLists({ many }: Cast, bytes: number): Words[] {
  const inTurns = (...keys: string[]): Words => repeated((i) => [keys[i % keys.length]!], bytes);
  return [inTurns(...many), inTurns("A"), inTurns("A", "B"), ["A", "B"]];
}

/** What an argument may be, or some that belong together. */
interface Slot {
  readonly optional: boolean;
  readonly choices: readonly Words[];
  /** The choices are lists of keys. All lists of a call are of the same kind. */
  readonly listsKeys?: boolean;
}

const isOffset = (arg: Arg | undefined): boolean => (arg?.kind === "offset" || arg?.kind === "end") && !arg.multiple && !arg.optional;

function slotsOf(row: Row, args: readonly Arg[], cast: Cast, oneIn: number): Slot[] {
  const slots: Slot[] = [], { last } = cast.family, asks = args.some(({ name }) => name === "expression");
  const lists = args.filter(({ type, multiple }) => type === "key" && multiple).length - Number(asks);
  const keys = (): Words[] => keyLists(cast, CALL_BYTES / lists);
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!, next = args[at + 1], optional = arg.optional === true;
    if (arg.name === "expression") {
      slots.push({ optional, choices: lists > 0 ? shortExpressions(FEW) : expressions(cast, row.name.length, oneIn) });
      at += 2; // with numkeys and keys
    } else if (arg.kind === "question") {
      slots.push({ optional, choices: shortExpressions(FEW).map((words) => [arg.of![0]!.token!, ...words]) });
    } else if (arg.type === "integer" && !arg.kind && next?.type === "key" && next.multiple) {
      slots.push({ optional, choices: keys().map((list) => [list.length, ...list]), listsKeys: true });
      at++;
    } else if (next?.kind === "ranges") {
      const ranges: Part[] = [always(0, last), (i, n) => [spread(cast, i, n), last], always(last, last)];
      slots.push({ optional, choices: ranges.map((part) => repeated(part, CALL_BYTES)).map((words) => [words.length / 2, ...words]) });
      at++;
    } else if (arg.type === "key" && arg.multiple) slots.push({ optional, choices: keys(), listsKeys: true });
    else if (isOffset(arg) && isOffset(next)) {
      const end = next!.kind === "end" ? last + 1n : last;
      slots.push({ optional, choices: [[0, end], [1, end - 1n], ...NUMBERS.map((count) => [0, count - 1n]).slice(0, -1)] });
      at++;
    } else {
      const orders: Part[] = [always(last), (i, n) => [spread(cast, i, n)], (i, n) => [spread(cast, n - 1 - i, n)]];
      const parts = arg.multiple && arg.kind === "offset" ? orders : partsOf(arg, row, cast);
      slots.push({ optional, choices: parts.map((part) => (arg.multiple ? repeated(part, CALL_BYTES) : part(0, 1))) });
    }
  }
  return slots;
}

/** The arguments of a command; if one of its operations takes a single key, once for the other operations and once for this one. */
function forms({ args, keys }: Row): Arg[][] {
  const single = keys.find(({ oneKeyFor }) => oneKeyFor !== undefined)?.oneKeyFor;
  if (single === undefined) return [args];
  const [operation, ...rest] = args;
  const having = (isSingle: boolean): Arg => ({ ...operation!, of: operation!.of!.filter(({ token }) => (token === single) === isSingle) });
  return [
    [having(false), ...rest.filter(({ name }) => name !== "last")],
    [having(true), ...rest.map((arg) => ({ ...arg, multiple: undefined }))],
  ];
}

/**
 * The arguments of calls: all combinations of what the command requires, without options; then each option alone and all together, with
 * the first choice of the rest. Of the kinds of long expressions, a cast is asked one in `oneIn`.
 */
export function greatestCalls(row: Row, cast: Cast, oneIn = ONE_IN): Words[] {
  return forms(row).flatMap((args) => {
    const slots = slotsOf(row, args, cast, oneIn), options = slots.filter(({ optional }) => optional);
    const combine = (choicesOf: (slot: Slot) => readonly Words[]): Words[] =>
      slots.reduce<Words[]>((calls, slot) => calls.flatMap((call) => choicesOf(slot).map((words) => [...call, ...words])), [[]]);
    const first = ({ choices }: Slot): Words => choices[0]!;
    const lists = slots.find(({ listsKeys }) => listsKeys)?.choices ?? [[]];
    return [
      ...lists.flatMap((_, kind) => combine((slot) => (slot.optional ? [[]] : slot.listsKeys ? [slot.choices[kind]!] : slot.choices))),
      ...options.flatMap((one) => combine((slot) => (slot === one ? slot.choices : slot.optional ? [[]] : [first(slot)]))),
      ...(options.length > 1 ? combine((slot) => [slot.optional ? slot.choices.at(-1)! : first(slot)]) : []),
    ];
  });
}

// --- Expressions ---------------------------------------------------------------------------------------------------------

const INFIX = ["&", "-", "^", "|"];

/** The text of the i-th of n operands over so many keys, whose members are below the span. */
type Term = (i: number, n: number, keys: number, span: bigint) => string;

const key = (i: number, keys: number): string => `#${1 + i % keys}`;
/** Each range lies in the one before. */
const nested = (i: number, n: number, span: bigint): string => {
  const from = BigInt(i) * span / BigInt(2 * n);
  return `[${from}..${span - 1n - from}]`;
};

const terms: readonly Term[] = [
  (i, _, keys) => key(i, keys),
  (i, _, keys) => `~${key(i, keys)}`,
  (i, n, keys, span) => (i < keys ? key(i, keys) : nested(i, n, span)),
  ...INFIX.flatMap((operator): Term[] => [
    (i, _, keys) => `(#1${operator}${key(1 + i % (keys - 1), keys)})`,
    (i, n, keys, span) => `(${key(i, keys)}${operator}${nested(i, n, span)})`,
  ]),
];

const combiners: readonly ((texts: readonly string[]) => string)[] = [
  ...INFIX.map((operator) => (texts: readonly string[]) => texts.join(operator)),
  ...["all", "any", "one"].map((name) => (texts: readonly string[]) => `${name}(${texts.join()})`),
  ...["atleast", "atmost", "exactly"].map((name) => (texts: readonly string[]) => `${name}(${Math.ceil(texts.length / 2)},${texts.join()})`),
];

/** Nearly as deep as parentheses and functions may be nested. */
const LEVELS = 60;
const deep = (nest: (inner: string, level: number) => string): string => range(0, LEVELS).reduce(nest, "#1|#2");

/** Short expressions. A command that has other lists of keys takes only the first few. */
const FEW = 2;
const SHORT = [
  "#1|#2", deep((inner) => `exactly(2,${inner},#1,~#2)`), deep((inner, level) => `(${inner}${INFIX[level % 4]}#${1 + level % 2})`),
  "~#1|#2", "#1^#2", "#1&#2", "#1-#2", "#1^~#2", "exactly(1,#1,~#2)", "atleast(2,#1,#2,[9..99999999])",
];

const shortExpressions = (count: number): Words[] => SHORT.slice(0, count).map((text) => [text, 2, "A", "B"]);

/** Long expressions are that long, over as many keys. Text and keys make up a call. */
const TEXT_BYTES = 60_000, KEYS_MOST = 800;

/** Expressions and their keys; a short one comes first. `turn` and the cast choose among the long ones. */
function expressions(cast: Cast, turn: number, oneIn: number): Words[] {
  const long = (term: Term, combine: (typeof combiners)[number], keys: readonly string[]): Words => {
    const length = 1 + term(10 * keys.length - 1, 20 * keys.length, keys.length, cast.span).length;
    const n = Math.floor(Math.min(TEXT_BYTES, CALL_BYTES - bytesOf(keys)) / length);
    return [combine(range(0, n).map((i) => term(i, n, keys.length, cast.span))), keys.length, ...keys];
  };
  const kinds = [["A", "B"], ["A", ...cast.many.slice(0, KEYS_MOST)]]
    .flatMap((keys) => terms.flatMap((term) => combiners.map((combine) => (): Words => long(term, combine, keys))));
  return [...shortExpressions(SHORT.length), ...kinds.filter((_, i) => (i + turn + cast.index) % oneIn === 0).map((make) => make())];
}
