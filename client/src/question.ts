// Queries as templates: q`${chess} & ${go} - ${banned}`.

import { InvalidArgumentError } from "./errors.js";
import { described, type Member } from "./family.js";
import type { Shards } from "./sharded/shards.js";
import type { Key } from "./types.js";

/** What is in a query and is not a key: a sharded bitmap, or sharded integers. */
interface Sharded {
  readonly name: string;
  keyOf(shard: number): string;
}

/** A part of an expression: text, or a bitmap. */
type Part<S> = string | { readonly source: S };

/**
 * What a query's template takes: keys, or sharded bitmaps and integers; other queries, lists of them, which are arguments, and numbers,
 * which are text.
 */
export type Operand<S> = S | Question<S> | number | bigint | readonly Operand<S>[];

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (a instanceof Uint8Array && b instanceof Uint8Array && Buffer.from(a).equals(b));

/** An expression of QUERY together with its bitmaps, made by {@link q}. */
export class Question<S> {
  readonly #parts: readonly Part<S>[];

  /** Texts and bitmaps, in the order of the expression. Use {@link q}. */
  constructor(parts: readonly Part<S>[]) {
    this.#parts = parts;
  }

  /** The bitmaps, each once: the keys for `queryCard(question.expression, question.sources)` and its like. */
  get sources(): S[] {
    const sources: S[] = [];
    for (const part of this.#parts) {
      if (typeof part !== "string" && !sources.some((one) => isSame(one, part.source))) sources.push(part.source);
    }
    return sources;
  }

  /** The same, for options such as `within`. */
  get keys(): S[] {
    return this.sources;
  }

  /** The expression, in which `#1` is the first of the bitmaps. */
  get expression(): string {
    const { sources } = this;
    const numberOf = (source: S): number => 1 + sources.findIndex((one) => isSame(one, source));
    return this.#parts.map((part) => (typeof part === "string" ? part : `#${numberOf(part.source)}`)).join("");
  }

  /** The query as a part of another one. */
  get inner(): readonly Part<S>[] {
    return ["(", ...this.#parts, ")"];
  }
}

function partsOf<S>(operand: Operand<S>): readonly Part<S>[] {
  if (operand instanceof Question) return operand.inner;
  if (typeof operand === "number" || typeof operand === "bigint") {
    if (typeof operand === "bigint" || Number.isSafeInteger(operand)) return [String(operand)];
    throw new InvalidArgumentError(`invalid query: ${operand} is not an exact integer`);
  }
  if (Array.isArray(operand)) {
    if (operand.length === 0) throw new InvalidArgumentError("invalid query: a list is empty");
    return (operand as Operand<S>[]).flatMap((one, i) => [...(i > 0 ? [", "] : []), ...partsOf(one)]);
  }
  const isKey = typeof operand === "string" || operand instanceof Uint8Array;
  if (!isKey && typeof (operand as Partial<Sharded> | undefined)?.keyOf !== "function") {
    throw new InvalidArgumentError(`invalid query: ${described(operand)} is not a key, bitmap, query or number`);
  }
  return [{ source: operand as S }];
}

/**
 * A query: q`${chess} & ${go} - ${banned}`. The text between is an expression of QUERY; bitmaps are numbered here. Keys of integers are
 * compared with numbers or with each other: q`${vip} & 18 <= ${age} < ${30}`.
 *
 * @param texts of the template
 * @param operands keys, or sharded bitmaps and integers; other queries, which are put in parentheses; lists, as in
 * q`atleast(2, ${keys})`; numbers
 * @returns What `query` of `r` and `r64` takes.
 * @throws InvalidArgumentError
 * @remarks Nothing is sent. See docs/commands.md#query.
 */
export function q(texts: TemplateStringsArray, ...operands: Operand<Key>[]): Question<Key>;
export function q<S extends Sharded>(texts: TemplateStringsArray, ...operands: Operand<S>[]): Question<S>;
export function q<M extends Member>(texts: TemplateStringsArray, ...operands: Operand<Shards<M>>[]): Question<Shards<M>>;
export function q<S>(texts: TemplateStringsArray, ...operands: Operand<S>[]): Question<S> {
  const parts: Part<S>[] = [];
  for (const [i, text] of texts.entries()) {
    if (text.includes("#")) throw new InvalidArgumentError("invalid query: insert bitmaps as ${key} instead of numbering them");
    if (text !== "") parts.push(text);
    if (i < operands.length) parts.push(...partsOf(operands[i]!));
  }
  return new Question(parts);
}
