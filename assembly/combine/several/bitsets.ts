// Bitsets of several operands at once, in rounds: PART_BYTES of each, then the next PART_BYTES of each. The
// part of the result stays in the first-level cache, and the hardware prefetcher follows each operand.

import { SELF, left, right } from "../../env/memory";
import { Fold } from "../fold/sides";
import { asBitset } from "../shape/expand";
import { Listed } from "../term/listed";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Term } from "../term/term";
import { Kind } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Bitset } from "../../container/bitset";
import { Extract, extractListed, listPart } from "../../container/extract";
import { And, Count, Kernel, Or, SetOperation, Sink, Store, StoreOnly, Xor } from "../../container/kernel";
import { exceedsArray, expectedMembers, worksAsArray } from "../fold/toarray";

/** Most bitsets that are read in one round: a hardware prefetcher tracks no more streams than that. */
// @ts-ignore: decorator
@inline export const STREAMS: u32 = 8;

// @ts-ignore: decorator
@inline function isBitset(list: usize, index: u32): bool { return Listed.kind(list, index) == Kind.BITSET; }

/** The address of the PART_BYTES at `part` of the list's bitset `index`; shows its operand on the right. */
// @ts-ignore: decorator
@inline function listedPart(list: usize, index: u32, part: usize): usize {
  return Shape.at(Listed.show(list, index)) + part;
}

/**
 * Prefetches the part behind `part` of the bitsets among the list's first `count` elements. Otherwise the CPU
 * would wait for memory where that part begins: it can fetch only a few cache lines at a time, and should work
 * on the present part meanwhile.
 */
// @ts-ignore: decorator
@inline function askAhead(list: usize, count: u32, part: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isBitset(list, i)) right.prefetch(listedPart(list, i, part + Bitset.PART_BYTES), Bitset.PART_BYTES);
  }
}

/** The last bitset among the list's first `count` elements. There must be one. */
// @ts-ignore: decorator
@inline function lastBitset(list: usize, count: u32): u32 {
  let last = count - 1;
  while (!isBitset(list, last)) last--;
  return last;
}

/** Where folding others into `acc`, a bitset of operand `at`, puts its result. */
// @ts-ignore: decorator
@inline function resultOf(acc: u64, at: u32): usize {
  return at == SELF ? Shape.at(acc) : Places.at(Scratch.FIRST);
}

/**
 * Folds the bitsets among the list's first `count` elements, one at least and at most STREAMS, into `acc`, a
 * bitset of operand `at`. The result is in memory 0; with S = Count it is only counted.
 */
export function foldRound<O extends SetOperation, S extends Sink>(
  acc: u64, at: u32, list: usize, count: u32,
): u64 {
  const out = resultOf(acc, at), last = lastBitset(list, count);
  let members: u32 = 0;
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    const a = foldPart<O>(acc, at, list, last, part);
    askAhead(list, count, part);
    members += Bitset.combineParts<O, S>(a, listedPart(list, last, part), out + part);
  }
  return Shape.bitset(members, out);
}

/**
 * Folds the PART_BYTES at `part` of the bitsets among the list's first `count` elements, of which there may
 * be none, into those of `acc`, a bitset of operand `at`. Shows the result on the left; returns its address.
 */
// @ts-ignore: decorator
@inline function foldPart<O extends SetOperation>(
  acc: u64, at: u32, list: usize, count: u32, part: usize,
): usize {
  const out = resultOf(acc, at);
  let a = Shape.at(acc) + part;
  left.select(at);
  if (at != SELF) left.prefetch(a + Bitset.PART_BYTES, Bitset.PART_BYTES);
  for (let i: u32 = 0; i < count; i++) {
    if (!isBitset(list, i)) continue;
    Bitset.combineParts<O, StoreOnly>(a, listedPart(list, i, part), out + part);
    left.select(SELF);
    a = out + part;
  }
  return a;
}

/**
 * All bitsets of the list's first `count` elements as one, in Scratch.FIRST; NOTHING if there are none. With
 * S = Count, which is only for a list of bitsets alone, the result is only counted.
 */
export function gatherBitsets<S extends Sink>(op: Fold, list: usize, count: u32): u64 {
  let acc = Shape.NOTHING, at = SELF, i: u32 = 0;
  while (i < count) {
    if (!isBitset(list, i)) { i++; continue; }
    if (acc == Shape.NOTHING) { acc = Listed.shape(list, i); at = Listed.operand(list, i++); continue; }
    let end = i, streams: u32 = 0;
    for (; end < count && streams < STREAMS; end++) streams += u32(isBitset(list, end));
    const round = Term.listedAt(list, i);
    if (!Kernel.stores<S>() && end == count) acc = uniteRound<Count>(op, acc, at, round, end - i);
    else acc = uniteRound<Store>(op, acc, at, round, end - i);
    at = SELF;
    i = end;
  }
  if (at == SELF) return acc;
  right.select(at);
  return asBitset(at, acc, Places.at(Scratch.FIRST));
}

/** foldRound() by OR or XOR. */
// @ts-ignore: decorator
@inline function uniteRound<S extends Sink>(op: Fold, acc: u64, at: u32, list: usize, count: u32): u64 {
  return op == Fold.OR ? foldRound<Or, S>(acc, at, list, count) : foldRound<Xor, S>(acc, at, list, count);
}

/**
 * The result of foldRound<And>(), as an array: members are taken out while the intersection is made, which
 * avoids storing it and reading it again. Returns UNSUITED, with nothing changed, if the result probably is no
 * array, or once the density so far predicts twice as many members as an array has.
 */
export function intersectToArray(acc: u64, at: u32, list: usize, count: u32): u64 {
  let expected = Shape.count(acc);
  for (let i: u32 = 0; i < count; i++) expected = expectedMembers(expected, Listed.count(list, i));
  if (!worksAsArray(expected) || (at == SELF && Shape.at(acc) != Places.at(Scratch.FIRST))) {
    return Shape.UNSUITED;
  }
  const start = Places.at(Scratch.SECOND), lanes = Places.at(Scratch.LIST), dense = Extract.isDense(expected);
  const last = lastBitset(list, count), third = count / 3;
  let out = start;
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    const a = foldPart<And>(acc, at, list, last, part);
    askAhead(list, third, part);
    const end = listPart<And>(a, listedPart(list, last, part), <u32>part << 3, lanes);
    const middle = Extract.middleOf(lanes, end);
    askAhead(Term.listedAt(list, third), count - 2 * third, part);
    out = extractListed(lanes, middle, dense, out);
    askAhead(Term.listedAt(list, count - third), third, part);
    out = extractListed(middle, end, dense, out);
    if (exceedsArray(Container.memberCount(start, out), part)) return Shape.UNSUITED;
  }
  return Shape.array(Container.memberCount(start, out), start);
}
