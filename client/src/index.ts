// The core, which needs no client library. The adapters are redis-roar-client/node-redis, /ioredis and /sdk.

export { Bitmaps } from "./bitmaps.js";
export type { Call, Form, Word } from "./call.js";
export { Calls, type MethodName } from "./calls.js";
export { type Argument, command, type CommandOptions } from "./command.js";
export {
  AbortError, InexactReplyError, InvalidArgumentError, InvalidPayloadError, OutOfMemoryError, RoarError, TimeoutError, WrongTypeError,
} from "./errors.js";
export { type Count, type Family, type Member, type Offset, R, R64 } from "./family.js";
export type { CallOptions, Signal } from "./limits.js";
export { LoadError, type LoadOptions, type LoadProgress, type LoadSource } from "./load.js";
export { LocalBitmap, type Members } from "./portable.js";
export { type Former, MigratingBitmaps, type MigratingOptions } from "./migrating.js";
export { type Multi, type Queued, TransactionError, WatchError } from "./multi.js";
export type { By, MembersOptions, Query, Score, TopOptions } from "./query.js";
export { type Operand, q, type Question } from "./question.js";
export type { PageOptions } from "./paging.js";
export { type RoarClient, roarOn } from "./roar.js";
export { type CopyOptions, type CopyProgress, ShardedBitmap, type ShardingOptions } from "./sharded/bitmap.js";
export { type ShardFailure, ShardsFailedError } from "./sharded/failure.js";
export { offsetsIn } from "./text.js";
export type { Trace } from "./tracing.js";
export type { Settled, Transport } from "./transport.js";
export type {
  Bit, BitRange, ContainerStatistics, Encoding, FieldGet, FieldOffset, FieldOperation, Key, List, Overflow, Page, Statistics,
} from "./types.js";

import { Calls } from "./calls.js";
import type { Family, Member } from "./family.js";

/**
 * The commands of a family as values, to send them yourself: `callsOf(R).getBit("k", 7)` has `name`, `args`, `keys` and `decode(reply)`.
 *
 * @param family {@link R} or {@link R64}
 * @remarks O(1). See docs/commands.md.
 */
export const callsOf = <M extends Member>(family: Family<M>): Calls<M> => new Calls(family);
