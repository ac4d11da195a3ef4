// Random expressions of QUERY.

import { range, sorted } from "../../support/family.ts";
import type { Random } from "../../support/random.ts";
import { counting, infix, takesNumber, type Infix, type Tree } from "./expression.ts";

interface Shape {
  /** Number of keys that an expression may name. */
  readonly keys: number;
  /** How deep operators and functions may be nested. */
  readonly depth: number;
  /** About how many operands there may be, apart from those of spans. */
  readonly operands: number;
  /** The first and last offset of a range. */
  readonly ends: () => readonly [first: bigint, last: bigint];
}

export function randomTree(random: Random, { keys, depth, operands, ends }: Shape): Tree {
  const key = (): Tree => ({ kind: "key", key: random.below(keys) });
  const between = (): Tree => {
    const [first, last] = ends();
    return { kind: "range", first, last };
  };
  const leaf = (): Tree => (random.chance(0.85) ? key() : between());
  /** Keys that follow one another. */
  const span = (): Tree[] => {
    const from = random.below(keys), count = 1 + random.below(keys - from);
    return range(from, count).map((at) => ({ kind: "key", key: at }));
  };
  const not = (of: Tree): Tree => ({ kind: "not", of });
  /**
 * A function with a few different arguments, each of them many times: keys, complements, ranges and terms, some written the other way
 * round.
 */
  const crowd = (levels: number): Tree => {
    const turned = (of: Tree): Tree =>
      of.kind === "infix" && of.operator !== "-" ? { ...of, left: turned(of.right), right: turned(of.left) } : of;
    const different = range(0, 1 + random.below(random.pick([2, 6]))).map((): Tree => {
      const term = (): Tree => tree(Math.min(levels - 1, 2), 3);
      return random.pick([key, key, () => not(key()), between, between, () => not(between()), term, () => not(term())])();
    });
    const many = [30, 31, 63, 64, 65, 127, 128, 255, 256, 257];
    const times = different.map(() => (random.chance(0.1) ? random.pick(many) : 1 + random.below(4)));
    const of = different.flatMap((one, i) => range(0, times[i]!).map(() => (random.chance(0.3) ? turned(one) : one)));
    if (random.chance(0.5)) of.sort(() => random.below(3) - 1);
    const name = random.pick([...counting, "atleast", "exactly", "atmost"] as const);
    const sum = times.reduce((all, one) => all + (random.chance(0.5) ? one : 0), 0), near = BigInt(Math.max(0, sum + random.below(3) - 1));
    return { kind: "function", name, number: takesNumber(name) ? near : 0n, of };
  };
  const chain = (operator: () => Infix, of: readonly Tree[]): Tree => of.reduce((left, right) => ({ kind: "infix", operator: operator(), left, right }));
  /** Terms that share keys, under one operator or function; some of them may be other terms. */
  const sharing = (levels: number): Tree => {
    const shared = range(0, 1 + random.below(random.pick([1, 3]))).map(key), join = random.pick(infix), others = random.pick([0, 0, 0.3]);
    const rest = (): Tree => random.pick([key, key, between, between, () => tree(Math.min(levels - 1, 3), 3)])();
    const term = (): Tree => {
      const items = join === "^" ? [shared[0]!, between()] : [...shared, ...range(0, random.below(3)).map(rest)];
      if (random.chance(0.5)) items.sort(() => random.below(3) - 1);
      const of = chain(() => (join === "&" ? random.pick(["&", "-"]) : join), items);
      return random.chance(0.1) ? not(of) : of;
    };
    const of = range(0, 2 + random.below(random.pick([3, 12]))).map(() => (random.chance(others) ? rest() : term()));
    if (random.chance(0.5)) return chain(random.pick(infix.map((operator) => () => operator)), of);
    const name = random.pick(counting);
    return { kind: "function", name, number: takesNumber(name) ? BigInt(random.below(of.length + 2)) : 0n, of };
  };
  const tree = (levels: number, room: number): Tree => {
    if (levels === 0 || room <= 1 || random.chance(0.1)) return leaf();
    if (levels > 2 && random.chance(0.08)) return crowd(levels);
    if (levels > 1 && random.chance(0.15)) return sharing(levels);
    if (random.chance(0.15)) return { kind: "not", of: tree(levels - 1, room) };
    if (random.chance(0.5)) {
      const half = 1 + random.below(room - 1);
      return { kind: "infix", operator: random.pick(infix), left: tree(levels - 1, half), right: tree(levels - 1, room - half) };
    }
    const items = 1 + random.below(random.pick([2, 4, 8]));
    const of = range(0, items).flatMap(() => (random.chance(0.3) ? span() : [tree(levels - 1, Math.floor(room / items))]));
    const name = random.pick(counting), near = BigInt(random.pick([random.below(4), random.below(of.length + 2), of.length]));
    return { kind: "function", name, number: !takesNumber(name) ? 0n : random.chance(0.02) ? 2n ** 64n - 1n - near : near, of };
  };
  return tree(depth, operands);
}

/** The same tree over only the keys that it names, in the same order, and the numbers that these keys had before. */
export function named(tree: Tree): readonly [tree: Tree, keys: number[]] {
  const seen = new Set<number>();
  const visit = (of: Tree, see: (key: number) => number): Tree => {
    switch (of.kind) {
      case "key": return { ...of, key: see(of.key) };
      case "range": return of;
      case "not": return { ...of, of: visit(of.of, see) };
      case "infix": return { ...of, left: visit(of.left, see), right: visit(of.right, see) };
      case "function": return { ...of, of: of.of.map((item) => visit(item, see)) };
    }
  };
  visit(tree, (key) => {
    seen.add(key);
    return key;
  });
  const keys = sorted(seen), numbers = new Map(keys.map((key, i) => [key, i]));
  return [visit(tree, (key) => numbers.get(key)!), keys];
}

/** The same tree with one of its keys given twice: some places name the first, others the second. */
export function withTwin(random: Random, tree: Tree, keys: readonly number[]): readonly [tree: Tree, keys: number[]] {
  const twin = random.below(keys.length);
  const visit = (of: Tree): Tree => {
    switch (of.kind) {
      case "key": return of.key === twin && random.chance(0.5) ? { ...of, key: keys.length } : of;
      case "range": return of;
      case "not": return { ...of, of: visit(of.of) };
      case "infix": return { ...of, left: visit(of.left), right: visit(of.right) };
      case "function": return { ...of, of: of.of.map(visit) };
    }
  };
  const [renumbered, places] = named(visit(tree)), all = [...keys, keys[twin]!];
  return [renumbered, places.map((place) => all[place]!)];
}

/** Simpler trees: anywhere in the tree, an operand is left out, or one operand replaces the operator and all of its operands. */
export function* simpler(tree: Tree): Generator<Tree> {
  switch (tree.kind) {
    case "key":
    case "range": return;
    case "not":
      yield tree.of;
      for (const of of simpler(tree.of)) yield { ...tree, of };
      return;
    case "infix":
      yield tree.left;
      yield tree.right;
      for (const left of simpler(tree.left)) yield { ...tree, left };
      for (const right of simpler(tree.right)) yield { ...tree, right };
      return;
    case "function":
      yield* tree.of;
      if (tree.of.length > 1) for (const i of tree.of.keys()) yield { ...tree, of: tree.of.toSpliced(i, 1) };
      for (const [i, item] of tree.of.entries()) for (const of of simpler(item)) yield { ...tree, of: tree.of.with(i, of) };
  }
}
