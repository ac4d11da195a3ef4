// An expression of QUERY, made to stay within a shard.

import { RoarError } from "../errors.js";
import { ShardsFailedError } from "./failure.js";

/** What can have members where none of an expression's keys has one. */
const REACHES_OUT = /[~[]|at(least|most)|exactly/i;

export class Expression {
  readonly #text: string;
  readonly #reachesOut: boolean;

  constructor(text: string) {
    this.#text = text;
    this.#reachesOut = REACHES_OUT.test(text);
  }

  /** The expression without members outside these bounds, if its keys have none. */
  within({ low, high }: { low: bigint; high: bigint }): string {
    return this.#reachesOut ? `(${this.#text}) & [${low}..${high}]` : this.#text;
  }

  /** The error for a wrong expression, if that is why all shards failed. Its position does not count the parenthesis before the text. */
  mistakeIn(error: unknown): RoarError | undefined {
    if (!(error instanceof ShardsFailedError) || error.done.size > 0) return undefined;
    const { error: cause } = error.failed[0]!;
    if (!(cause instanceof RoarError) || !cause.message.startsWith("ERR Roaring: query: ")) return undefined;
    const message = cause.message.replace(/at character (\d+)$/, (_, at: string) => `at character ${Number(at) - (this.#reachesOut ? 1 : 0)}`);
    return new RoarError(message, { ...(cause.command !== undefined && { command: cause.command }), cause: cause.cause });
  }
}
