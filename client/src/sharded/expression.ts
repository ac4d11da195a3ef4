// An expression of QUERY, made to stay within a shard.

import { RoarError } from "../errors.js";
import { ShardsFailedError } from "./failure.js";
import type { Bounds, Layout } from "./layout.js";

/** What can have members where none of an expression's keys has one. */
const REACHES_OUT = /[~[]|at(least|most)|exactly/i;

const RANGE = /\[\s*(\d+)\s*\.\.\s*(\d+)\s*\]/g;

/** A range without members, where the range of an expression has none in a shard. */
const NOTHING = "([0..0]-[0..0])";

/** A range of the text, and how much longer the text is behind it than the original. */
interface Edit {
  readonly at: number;
  readonly original: number;
  readonly grown: number;
}

export class Expression {
  readonly #text: string;
  readonly #layout: Layout;
  /** The offsets to which it is limited, if it has to be. */
  readonly #bounds: Bounds | undefined;

  constructor(text: string, layout: Layout, bounds?: Bounds) {
    this.#text = text;
    this.#layout = layout;
    this.#bounds = bounds ?? (REACHES_OUT.test(text) ? { low: 0n, high: layout.last } : undefined);
  }

  /**
   * The expression for a shard: its ranges are those of the offsets there, and it has no members outside of the shard and of the bounds, if
   * its keys have none.
   */
  within(shard: number): string {
    return this.#made(shard).text;
  }

  /** The error for a wrong expression, if that is why all shards failed. Its position is that in the original text. */
  mistakeIn(error: unknown): RoarError | undefined {
    if (!(error instanceof ShardsFailedError) || error.done.size > 0) return undefined;
    const { error: cause, shard } = error.failed[0]!;
    if (!(cause instanceof RoarError) || !cause.message.startsWith("ERR Roaring: query: ")) return undefined;
    const { edits } = this.#made(shard);
    const message = cause.message.replace(/at character (\d+)$/, (_, digits: string) => {
      const at = Number(digits), edit = edits.findLast((one) => one.at < at);
      return `at character ${edit ? Math.max(edit.original, at - edit.grown) : at}`;
    });
    return new RoarError(message, { command: cause.command, cause: cause.cause });
  }

  #made(shard: number): { text: string; edits: Edit[] } {
    if (!this.#bounds) return { text: this.#text, edits: [] };
    const edits: Edit[] = [{ at: 0, original: 0, grown: 1 }], { low: first, high: last } = this.#bounds;
    let grown = 1;
    const mapped = (given: string, low: string, high: string, at: number): string => {
      if (BigInt(low) > BigInt(high)) return given; // the server says what is wrong
      const bounds = this.#layout.within(shard, BigInt(low), BigInt(high)), made = bounds ? `[${bounds.low}..${bounds.high}]` : NOTHING;
      const end = at + grown + made.length - 1;
      edits.push({ at: end, original: at + given.length, grown: grown += made.length - given.length });
      return made;
    };
    const inner = this.#layout.width !== undefined ? this.#text : this.#text.replace(RANGE, mapped);
    const own = this.#layout.within(shard, first, last);
    return { text: `(${inner}) & ${own ? `[${own.low}..${own.high}]` : NOTHING}`, edits };
  }
}
