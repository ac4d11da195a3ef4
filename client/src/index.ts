// The core, which needs no client library. The adapters are redis-roar-client/node-redis, /ioredis and /sdk.

export { Bitmaps } from "./bitmaps.js";
export type { Call, Form, Word } from "./call.js";
export { Calls, type MethodName } from "./calls.js";
export { type Argument, command, type CommandOptions } from "./command.js";
export {
  AbortError, InexactReplyError, InvalidArgumentError, InvalidPayloadError, OutOfMemoryError, RoarError, TimeoutError, WrongTypeError,
} from "./errors.js";
export {
  type Count, type Family, type IntegerFamily, type Member, type Name, type NameFamily, type Offset, R, R64, RI, RI64, RN, RN_BYTES,
} from "./family.js";
export { IntegerCalls, type IntegerMethodName } from "./integer-calls.js";
export { Integers } from "./integers.js";
export type { CallOptions, Signal } from "./limits.js";
export { LoadError, type LoadOptions, type LoadProgress, type LoadSource } from "./load.js";
export type { NameSource } from "./load-names.js";
export type { Members } from "./containers.js";
export type { System } from "./exchange.js";
export { LocalBitmap } from "./portable.js";
export { type Former, MigratingBitmaps, type MigratingOptions } from "./migrating.js";
export { type Multi, type Queued, type QueuedIntegers, type QueuedNames, TransactionError, WatchError } from "./multi.js";
export { NameCalls, type NameMethodName } from "./name-calls.js";
export { Dictionary, Names } from "./names.js";
export type { By, MembersOptions, Query, Score, TopOptions } from "./query.js";
export { type Operand, q, type Question } from "./question.js";
export type { PageOptions } from "./paging.js";
export { type RoarClient, roarOn } from "./roar.js";
export { type CopyOptions, type CopyProgress, ShardedBitmap, type ShardingOptions } from "./sharded/bitmap.js";
export { ShardedIntegers } from "./sharded/integers.js";
export { type ShardFailure, ShardsFailedError } from "./sharded/failure.js";
export { ShardedNames } from "./sharded/names.js";
export { offsetsIn } from "./text.js";
export type { Trace } from "./tracing.js";
export type { Settled, Transport } from "./transport.js";
export type {
  Bit, BitRange, Bound, ContainerStatistics, Encoding, EntryPage, FieldGet, FieldOffset, FieldOperation, FoundNames, IntegerStatistics, Key,
  LeafStatistics, List, NamePage, Overflow, Page, Statistics, Sum, Summary,
} from "./types.js";

import { Calls } from "./calls.js";
import type { Family, IntegerFamily, Member, Name, NameFamily } from "./family.js";
import { IntegerCalls } from "./integer-calls.js";
import { NameCalls } from "./name-calls.js";

/**
 * The commands of a family as values, to send them yourself: `callsOf(R).getBit("k", 7)` has `name`, `args`, `keys` and `decode(reply)`.
 *
 * @param family {@link R} or {@link R64}
 * @remarks O(1). See docs/commands.md.
 */
export const callsOf = <M extends Member>(family: Family<M>): Calls<M> => new Calls(family);

/**
 * The commands of integers for ids as values: `integerCallsOf(RI).get("k", 7)`.
 *
 * @param family {@link RI} or {@link RI64}
 * @remarks O(1). See docs/integers.md.
 */
export const integerCallsOf = <M extends Member>(family: IntegerFamily<M>): IntegerCalls<M> => new IntegerCalls(family);

/**
 * The commands of names for ids as values: `nameCallsOf(RN).add("k", ["ada"])`.
 *
 * @param family {@link RN} or {@link RN_BYTES}
 * @remarks O(1). See docs/names.md.
 */
export const nameCallsOf = <N extends Name>(family: NameFamily<N>): NameCalls<N> => new NameCalls(family);
