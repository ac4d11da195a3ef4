// Terms of an expression that differ and have the same hash, as assembly/expression/normal.ts hashes them.

import { range } from "../../support/family.ts";

const U64 = 2n ** 64n - 1n;

/** splitmix64, and the inverse of it. */
const FIRST = 0xbf58476d1ce4e5b9n, SECOND = 0x94d049bb133111ebn;
const mix = (x: bigint): bigint => {
  x = ((x ^ (x >> 30n)) * FIRST) & U64;
  x = ((x ^ (x >> 27n)) * SECOND) & U64;
  return x ^ (x >> 31n);
};
const inverse = (odd: bigint): bigint => range(0, 6).reduce((y) => (y * (2n - odd * y)) & U64, odd);
const unshifted = (x: bigint, by: bigint): bigint => x ^ (x >> by) ^ (x >> (2n * by));
const unmix = (x: bigint): bigint => {
  x = (unshifted(x, 31n) * inverse(SECOND)) & U64;
  x = (unshifted(x, 27n) * inverse(FIRST)) & U64;
  return unshifted(x, 30n);
};

const hashOfRange = (low: bigint, high: bigint): bigint => mix((low + mix(high) + 1n) & U64);

/** A range of 64-bit offsets that has the hash. */
function rangeOfHash(hash: bigint): [low: bigint, high: bigint] {
  for (let high = U64 - 1n; ; high--) {
    const low = (unmix(hash) - 1n - mix(high)) & U64;
    if (low <= high) return [low, high];
  }
}

interface Item {
  readonly text: string;
  readonly hash: bigint;
  readonly weight: bigint;
}

/** A term of these items and a range. */
interface Hashed {
  readonly name: "&" | "^" | "exactly";
  readonly rule: keyof typeof RULES;
  readonly least: number;
  readonly items: readonly Item[];
}

/** Rules as numbers of assembly/combine/term/term.ts. */
const RULES = { ALL: 0n, ODD: 2n, SUM_EXACTLY: 11n };

const keys = (first: number, last: number, weight = 1): Item => {
  const names = range(first, last - first + 1).flatMap((key) => Array<string>(weight).fill(`#${key}`));
  return { text: names.join(" & "), hash: mix((BigInt(first) << 32n) | BigInt(last)), weight: BigInt(weight) };
};
const stateOf = ({ rule, least, items }: Hashed): bigint =>
  items.reduce((hash, item) => mix((hash + item.hash + (item.weight << 17n)) & U64), mix(BigInt(least) + (RULES[rule] << 48n) + 1n));
const oddOf = (first: number, second: number): Item => {
  const items = second === first + 1 ? [keys(first, second)] : [keys(first, first), keys(second, second)];
  return { text: `(#${first} ^ #${second})`, hash: stateOf({ name: "^", rule: "ODD", least: 0, items }), weight: 1n };
};
const allOf = (items: readonly Item[]): Hashed => ({ name: "&", rule: "ALL", least: 0, items });
const weighing = (least: number, weight: number): Hashed =>
  ({ name: "exactly", rule: "SUM_EXACTLY", least, items: [keys(1, 1, weight), keys(2, 3)] });
const textOf = ({ name, least, items }: Hashed, [low, high]: [bigint, bigint]): string => {
  const texts = [...items.map(({ text }) => text), `[${low}..${high}]`];
  return name === "exactly" ? `exactly(${least}, ${texts.join(", ").replaceAll(" & ", ", ")})` : `(${texts.join(` ${name} `)})`;
};

const PAIRS: readonly (readonly [left: Hashed, right: Hashed])[] = [
  [allOf([keys(1, 1)]), allOf([keys(2, 2)])],
  [allOf([keys(1, 2)]), allOf([keys(1, 3)])],
  [allOf([keys(1, 1)]), allOf([oddOf(1, 2)])],
  [allOf([oddOf(1, 2)]), allOf([oddOf(1, 3)])],
  [allOf([keys(1, 1)]), allOf([keys(1, 1), keys(3, 3)])],
  [allOf([keys(1, 1)]), { ...allOf([keys(2, 2)]), name: "^", rule: "ODD" }],
  [weighing(5, 3), weighing(5, 4)],
  [weighing(5, 3), weighing(6, 3)],
];

type Range = [low: bigint, high: bigint];

/** Two terms of one hash, and the ranges that they end with. */
interface Collision {
  readonly texts: readonly [left: string, right: string];
  readonly ranges: readonly [left: Range, right: Range];
}

/** Terms over the keys #1, #2 and #3. The range at the end of either makes up for what differs before it. */
export const collisions = (): Collision[] => PAIRS.map(([left, right]) => {
  const first: Range = [1000n, 1n << 63n];
  const second = rangeOfHash((stateOf(left) + hashOfRange(...first) - stateOf(right)) & U64);
  return { texts: [textOf(left, first), textOf(right, second)], ranges: [first, second] };
});
