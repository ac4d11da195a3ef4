// What is reported if some shards fail.

import { RoarError } from "../errors.js";

/** A shard that failed. */
export interface ShardFailure {
  readonly shard: number;
  readonly key: string;
  /** A {@link RoarError}, or an error of the client library, such as a lost connection. */
  readonly error: unknown;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Some shards of a sharded bitmap failed. What the others did stays done. A shard whose connection was lost may have done its work or not.
 */
export class ShardsFailedError extends RoarError {
  readonly failed: readonly ShardFailure[];
  /** What the other shards answered, by shard: for writes what the command for one shard returns. */
  readonly done: ReadonlyMap<number, unknown>;

  constructor(failed: readonly ShardFailure[], done: ReadonlyMap<number, unknown>) {
    const names = failed.map(({ shard, key }) => `${shard} (${key})`).join(", ");
    super(`failed: shard ${names}: ${messageOf(failed[0]?.error)}`, { cause: failed[0]?.error });
    this.failed = failed;
    this.done = done;
  }

  override get name(): string {
    return "ShardsFailedError";
  }
}
