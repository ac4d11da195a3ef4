// Bitsets of several sources at once, PART_BYTES of each by turns: the part of the result stays in the first-level cache, and the processor
// foresees which lines of each source come next.

import { SELF, left } from "../env/memory";
import { Fold } from "./fold";
import { Scratch, scratch } from "./scratch";
import { NOTHING, arrayShape, bitsetShape, shapeAt, shapeCount } from "./shape";
import { hasBitset, shapeOf, toBitset } from "./source";
import { ARRAY_MAX, BITSET_BYTES, UNIVERSE, memberCount } from "../container/limits";
import { PART_BYTES, combineParts } from "../container/bitset";
import { SPARSE, extractPart, isDense } from "../container/extract";
import { And, Or, Store, StoreOnly, Xor } from "../container/kernel";

/** Most bitsets that are read by turns: a processor foresees no more streams than that. */
// @ts-ignore: decorator
@inline export const STREAMS: u32 = 8;

/** The last source before `to`, other than `skip`, that has a bitset at `key`. There must be one. */
// @ts-ignore: decorator
@inline function lastBitset(key: u64, to: u32, skip: u32): u32 {
  let last = to - 1;
  while (last == skip || !hasBitset(last, key)) last--;
  return last;
}

/**
 * Folds the bitsets that sources from .. to - 1, other than `skip`, have at `key` into `acc`, a bitset of operand `at`. There must be one
 * at least. The result is in memory 0.
 */
export function foldBitsetsByTurns<O>(acc: u64, at: u32, key: u64, from: u32, to: u32, skip: u32): u64 {
  const out = at == SELF ? shapeAt(acc) : scratch(Scratch.FIRST), last = lastBitset(key, to, skip);
  let members: u32 = 0;
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
    const a = foldPart<O>(acc, at, key, from, last, skip, out, part);
    members += combineParts<O, Store>(a, shapeAt(shapeOf(last)) + part, out + part);
  }
  return bitsetShape(members, out);
}

/**
 * The same for the PART_BYTES at `part` of each, without source `last`: that one's turn is the caller's. Shows on the left what there is
 * then, and returns its address.
 */
// @ts-ignore: decorator
@inline function foldPart<O>(acc: u64, at: u32, key: u64, from: u32, last: u32, skip: u32, out: usize, part: usize): usize {
  let a = shapeAt(acc) + part;
  left.select(at);
  for (let c = from; c < last; c++) {
    if (c == skip || !hasBitset(c, key)) continue;
    combineParts<O, StoreOnly>(a, shapeAt(shapeOf(c)) + part, out + part);
    left.select(SELF);
    a = out + part;
  }
  return a;
}

/** All bitsets that the sources from `from` on have at `key` as one, in Scratch.FIRST; NOTHING if there are none. */
export function gatherBitsets(op: Fold, key: u64, from: u32, sources: u32): u64 {
  let acc = NOTHING, at = SELF, c = from;
  while (c < sources) {
    if (!hasBitset(c, key)) { c++; continue; }
    if (acc == NOTHING) { acc = shapeOf(c); at = c++; continue; }
    let end = c, streams: u32 = 0;
    for (; end < sources && streams < STREAMS; end++) streams += u32(hasBitset(end, key));
    acc = op == Fold.OR
      ? foldBitsetsByTurns<Or>(acc, at, key, c, end, SELF)
      : foldBitsetsByTurns<Xor>(acc, at, key, c, end, SELF);
    at = SELF;
    c = end;
  }
  return at == SELF ? acc : toBitset(at, shapeOf(at), scratch(Scratch.FIRST));
}

/** Members to expect in the intersection of `count` members with a container that is independent of them. */
// @ts-ignore: decorator
@inline export function expectedMembers(count: u32, s: u64): u32 { return <u32>((<u64>count * shapeCount(s)) / UNIVERSE); }

/** intersectToArray()'s answer when it gives up. */
// @ts-ignore: decorator
@inline export const TOO_MANY: u64 = u64.MAX_VALUE;
/** An intersection with this many expected members or more probably is no array. */
// @ts-ignore: decorator
@inline const MANY: u32 = 3000;

/**
 * What foldBitsetsByTurns<And>() would give, as an array: members are taken out while the intersection is made, which spares storing it
 * and reading it again. Answers TOO_MANY, with nothing changed, if the result probably is no array, or once the density so far predicts
 * more than ARRAY_MAX members.
 */
export function intersectToArray(acc: u64, at: u32, key: u64, from: u32, to: u32, skip: u32): u64 {
  let expected = shapeCount(acc);
  for (let c = from; c < to; c++) if (c != skip) expected = expectedMembers(expected, shapeOf(c));
  if (expected < SPARSE || expected >= MANY || (at == SELF && shapeAt(acc) != scratch(Scratch.FIRST))) return TOO_MANY;
  const start = scratch(Scratch.SECOND), last = lastBitset(key, to, skip);
  let out = start;
  for (let part: usize = 0; part < BITSET_BYTES; part += PART_BYTES) {
    const a = foldPart<And>(acc, at, key, from, last, skip, scratch(Scratch.FIRST), part);
    out = extractPart<And>(a, shapeAt(shapeOf(last)) + part, <u32>part << 3, isDense(expected), out, scratch(Scratch.LIST));
    if (memberCount(start, out) > <u32>((part + PART_BYTES) * ARRAY_MAX / BITSET_BYTES)) return TOO_MANY;
  }
  return arrayShape(memberCount(start, out), start);
}
