// The meaning of the expressions of QUERY, by a sweep. All places at which a source or a range begins or ends cut the universe into pieces.
// Within a piece nothing changes, so a set is a list of pieces, and an operator is a decision about each piece.

import type { Random } from "../../support/random.ts";
import { Edges } from "./edges.ts";

export const infix = ["&", "-", "^", "|"] as const;
export const counting = ["all", "any", "one", "atleast", "atmost", "exactly"] as const;

export type Infix = (typeof infix)[number];
type Counting = (typeof counting)[number];

export type Tree =
  | { readonly kind: "key"; readonly key: number }              // counted from 0
  | { readonly kind: "range"; readonly first: bigint; readonly last: bigint }
  | { readonly kind: "not"; readonly of: Tree }
  | { readonly kind: "infix"; readonly operator: Infix; readonly left: Tree; readonly right: Tree }
  | { readonly kind: "function"; readonly name: Counting; readonly number: bigint; readonly of: readonly Tree[] };

export const takesNumber = (name: Counting): boolean => name.startsWith("at") || name === "exactly";

// --- Meaning -------------------------------------------------------------------------------------------------------------

/** For each piece 1 if it is in a set, else 0. */
type Pieces = Uint8Array;

function decides({ name, number, of }: Tree & { kind: "function" }): (held: number) => boolean {
  switch (name) {
    case "all": return (held) => held === of.length;
    case "any": return (held) => held > 0;
    case "one": return (held) => held === 1;
    case "atleast": return (held) => held >= number;
    case "atmost": return (held) => held <= number;
    case "exactly": return (held) => BigInt(held) === number;
  }
}

/** Sources whose universe, [0, end), is cut into pieces. */
export class Sweep {
  /** Where pieces begin, ascending, and the end of the universe. */
  readonly cuts: readonly bigint[];
  readonly #at = new Map<bigint, number>();
  readonly #sources: readonly Pieces[];

  /** `more`: where else to cut. */
  constructor(sources: readonly Edges[], more: readonly bigint[], end: bigint) {
    const edges = sources.flatMap((source) => [...source.stretches()].flat());
    const all = new BigUint64Array([0n, ...edges, ...more].filter((cut) => cut < end)).sort();
    this.cuts = [...all.filter((cut, i) => cut !== all[i - 1]), end];
    this.cuts.forEach((cut, i) => this.#at.set(cut, i));
    this.#sources = sources.map((source) => {
      const pieces = this.#none();
      for (const [from, to] of source.stretches()) pieces.fill(1, this.#at.get(from), this.#at.get(to));
      return pieces;
    });
  }

  #none = (): Pieces => new Uint8Array(this.cuts.length - 1);

  /** The pieces of an expression. All ends of its ranges must be cuts. */
  evaluate(tree: Tree): Pieces {
    if (tree.kind === "key") return this.#sources[tree.key]!;
    if (tree.kind === "range") return this.#none().fill(1, this.#at.get(tree.first), this.#at.get(tree.last + 1n));
    if (tree.kind === "not") return this.evaluate(tree.of).map((inside) => 1 - inside);
    if (tree.kind === "infix") {
      const left = this.evaluate(tree.left), right = this.evaluate(tree.right);
      switch (tree.operator) {
        case "&": return left.map((inside, i) => inside & right[i]!);
        case "-": return left.map((inside, i) => inside & (1 - right[i]!));
        case "^": return left.map((inside, i) => inside ^ right[i]!);
        case "|": return left.map((inside, i) => inside | right[i]!);
      }
    }
    const held = new Uint32Array(this.cuts.length - 1);
    for (const argument of tree.of) this.evaluate(argument).forEach((inside, i) => (held[i]! += inside));
    const decide = decides(tree);
    return Uint8Array.from(held, (count) => Number(decide(count)));
  }

  edges(pieces: Pieces): Edges {
    return new Edges(this.cuts.filter((_, i) => (pieces[i - 1] ?? 0) !== (pieces[i] ?? 0)));
  }
}

function endsOf(tree: Tree): bigint[] {
  switch (tree.kind) {
    case "key": return [];
    case "range": return [tree.first, tree.last + 1n];
    case "not": return endsOf(tree.of);
    case "infix": return [...endsOf(tree.left), ...endsOf(tree.right)];
    case "function": return tree.of.flatMap(endsOf);
  }
}

/** The members of an expression over these sources, in a universe of which `last` is the last offset. */
export function evaluate(tree: Tree, sources: readonly Edges[], last: bigint): Edges {
  const sweep = new Sweep(sources, endsOf(tree), last + 1n);
  return sweep.edges(sweep.evaluate(tree));
}

// --- Text ----------------------------------------------------------------------------------------------------------------

const TOKEN = /[\t-\r ]*([0-9]+|[a-zA-Z]+|\.\.|[#~&\-^|()[\],])/y;

/** The tree of a text, or undefined if it is not an expression over that many keys. */
export function parse(text: string, keys: number, last: bigint): Tree | undefined {
  const tokens: string[] = [], named = new Set<number>();
  let read = 0, at = 0;
  const end = text.replace(/[\t-\r ]+$/, "").length;
  for (TOKEN.lastIndex = 0; read < end; read = TOKEN.lastIndex) {
    const found = TOKEN.exec(text);
    if (!found) return undefined;
    tokens.push(found[1]!);
  }
  const fail = (): never => { throw new SyntaxError(); };
  const accept = (token: string): boolean => tokens[at] === token && ++at > 0;
  const expect = (token: string): unknown => accept(token) || fail();
  const number = (most: bigint): bigint => {
    const value = /^[0-9]/.test(tokens[at] ?? "") ? BigInt(tokens[at++]!) : fail();
    return value <= most ? value : fail();
  };
  const key = (): number => Number(number(BigInt(keys))) || fail();
  const named1 = (first: number): Tree => {
    named.add(first);
    return { kind: "key", key: first - 1 };
  };
  const binary = (operators: string, operand: () => Tree): Tree => {
    let left = operand();
    while (tokens[at] && operators.includes(tokens[at]!)) left = { kind: "infix", operator: tokens[at++] as Infix, left, right: operand() };
    return left;
  };
  const union = (): Tree => binary("|", () => binary("^", () => binary("&-", operand)));
  const operand = (): Tree => {
    if (accept("#")) return named1(key());
    if (accept("~")) return { kind: "not", of: operand() };
    if (accept("(")) {
      const tree = union();
      expect(")");
      return tree;
    }
    if (accept("[")) {
      const first = number(last);
      expect("..");
      const to = number(last);
      expect("]");
      return first <= to ? { kind: "range", first, last: to } : fail();
    }
    const name = counting.find((known) => known === tokens[at]?.toLowerCase()) ?? fail();
    at++;
    expect("(");
    const count = takesNumber(name) ? number(2n ** 64n - 1n) : 0n;
    if (takesNumber(name)) expect(",");
    const of = [...arguments_()];
    while (accept(",")) of.push(...arguments_());
    expect(")");
    return { kind: "function", name, number: count, of };
  };
  const arguments_ = (): Tree[] => {
    if (tokens[at] !== "#" || tokens[at + 2] !== "..") return [union()];
    at++;
    const first = key();
    expect("..");
    expect("#");
    const to = key();
    return first <= to ? Array.from({ length: to - first + 1 }, (_, i) => named1(first + i)) : fail();
  };
  try {
    const tree = union();
    return at === tokens.length && named.size === keys ? tree : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const BINDING: Readonly<Record<Infix, number>> = { "|": 0, "^": 1, "&": 2, "-": 2 };
const TIGHTEST = 3;

/** The most characters of an expression that QUERY takes. */
export const LONGEST = 65_535;

/** The tree as text, with parentheses where they are needed and in a few other places, and random white space and case. */
export function render(tree: Tree, random: Random): string {
  const words: string[] = [];
  const put = (...more: (string | bigint | number)[]): void => { words.push(...more.map(String)); };
  const write = (of: Tree, binding: number): void => {
    const own = of.kind === "infix" ? BINDING[of.operator] : TIGHTEST, enclosed = own < binding || random.chance(0.03);
    if (enclosed) put("(");
    switch (of.kind) {
      case "key": put("#", of.key + 1); break;
      case "range": put("[", of.first, "..", of.last, "]"); break;
      case "not":
        put("~");
        write(of.of, TIGHTEST);
        break;
      case "infix":
        write(of.left, own);
        put(of.operator);
        write(of.right, own + 1);             // operators are applied from left to right
        break;
      case "function":
        put(random.pick([of.name, of.name, of.name.toUpperCase(), of.name.replace(/[aeiou]/g, (vowel) => vowel.toUpperCase())]), "(");
        if (takesNumber(of.name)) put(of.number, ",");
        writeArguments(of.of);
        put(")");
    }
    if (enclosed) put(")");
  };
  /** Keys that follow one another as a span, mostly. */
  const writeArguments = (of: readonly Tree[]): void => {
    for (let i = 0; i < of.length;) {
      const first = of[i]!;
      let end = i + 1;
      if (i > 0) put(",");
      if (first.kind === "key" && random.chance(0.8)) {
        for (let next = of[end]; next?.kind === "key" && next.key === first.key + end - i; next = of[end]) end++;
        if (end > i + 1 || random.chance(0.05)) {
          put("#", first.key + 1, "..", "#", first.key + end - i);
          i = end;
          continue;
        }
      }
      write(first, 0);
      i++;
    }
  };
  write(tree, 0);
  const spaced = random.pick([0, 0.1, 0.5]);
  const space = (): string => (random.chance(spaced) ? random.pick([" ", "  ", "\t", "\n", "\r\n", "\v\f"]) : "");
  return words.map((word) => space() + word).join("") + space();
}
