// A shape: one container on its way through a combination, packed into a u64 as kind, cardinality and
// address. The address lies in the memory that holds the container: an operand, which `left` or `right`
// shows, or memory 0.
//
// Shapes know the kinds with a payload (ARRAY, BITSET, RUNS, BUCKETS, SHORT) and FULL. One or two members
// that live in a directory entry are an ARRAY whose payload is in the entry.

import { SELF, left, right } from "../../env/memory";
import { Right } from "../../env/view";
import { plainCount, plainKind, plainPayload } from "../../arena/layout/entry";
import { groupCount } from "../../arena/packed/groups";
import { groupPayload, isGroup } from "../../arena/packed/layout";
import { Kind, isArray, BUCKETS_LEAST } from "../../container/kind";
import { UNIVERSE, bucketsBytes } from "../../container/limits";
import { bucketsToArray } from "../../container/buckets";
import { payloadSize } from "../../container/convert";

/** The shape without members. */
// @ts-ignore: decorator
@inline export const NOTHING: u64 = 0;
/**
 * No shape: this way to combine is not for these containers, and nothing has changed.
 * The caller takes another one.
 */
// @ts-ignore: decorator
@inline export const UNSUITED: u64 = u64.MAX_VALUE;

// @ts-ignore: decorator
@inline export function shape(kind: Kind, count: u32, at: usize): u64 {
  return ((<u64>kind) << 56) | ((<u64>count) << 32) | <u64>at;
}
// @ts-ignore: decorator
@inline export function shapeKind(s: u64): Kind { return <Kind>(s >> 56); }
// @ts-ignore: decorator
@inline export function shapeCount(s: u64): u32 { return <u32>(s >> 32) & 0xffffff; }
// @ts-ignore: decorator
@inline export function shapeAt(s: u64): usize { return <usize>(<u32>s); }

// @ts-ignore: decorator
@inline export function isFull(s: u64): bool { return shapeKind(s) == Kind.FULL; }

// Shapes of what a kernel made in memory 0; a kernel may have made nothing.

// @ts-ignore: decorator
@inline export function fullShape(): u64 { return shape(Kind.FULL, UNIVERSE, 0); }
// @ts-ignore: decorator
@inline export function arrayShape(count: u32, at: usize): u64 {
  return count ? shape(Kind.ARRAY, count, at) : NOTHING;
}
// @ts-ignore: decorator
@inline export function bitsetShape(count: u32, at: usize): u64 {
  return count ? shape(Kind.BITSET, count, at) : NOTHING;
}
// @ts-ignore: decorator
@inline export function shortShape(count: u32, at: usize): u64 {
  return count ? shape(Kind.SHORT, count, at) : NOTHING;
}
// @ts-ignore: decorator
@inline export function runsShape(count: u32, at: usize): u64 {
  return count ? shape(Kind.RUNS, count, at) : NOTHING;
}

/**
 * Buckets at `at`, or an array behind them if they have too few members to stay buckets. May leave `left` at
 * SELF.
 */
export function bucketsShape(count: u32, at: usize): u64 {
  if (count >= BUCKETS_LEAST) return shape(Kind.BUCKETS, count, at);
  if (!count) return NOTHING;
  left.select(SELF);
  const array = at + bucketsBytes(BUCKETS_LEAST);
  bucketsToArray(at, count, array);
  return shape(Kind.ARRAY, count, array);
}

/**
 * The shape of one container of an entry, which memory M shows. Of a FULL entry, one of its full containers.
 */
// @ts-ignore: decorator
@inline export function entryShape<M>(entry: usize): u64 {
  if (isGroup(entry)) return shape(Kind.ARRAY, groupCount<M>(entry), groupPayload<M>(entry));
  const kind = plainKind<M>(entry);
  if (kind == Kind.FULL) return fullShape();
  return shape(isArray(kind) ? Kind.ARRAY : kind, plainCount<M>(entry), plainPayload<M>(entry));
}

/** Bytes of the payload of a shape that memory M shows. */
// @ts-ignore: decorator
@inline export function shapeBytes<M>(s: u64): usize {
  return payloadSize<M>(shapeKind(s), shapeCount(s), shapeAt(s));
}

/** Copies a shape that `right` shows to `out` in memory 0. */
export function copyShape(s: u64, out: usize): u64 {
  const bytes = shapeBytes<Right>(s);
  if (bytes) right.copy(out, shapeAt(s), bytes);
  return (s & 0xffffffff00000000) | <u64>out;
}
