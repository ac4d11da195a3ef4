// The intersection of two bitsets as an array, where its expected number of members suggests one: members are
// extracted while the intersection is computed, so that no bitset is stored and read again.

import { Bitset } from "../../container/bitset";
import { Extract, extractListed, listPart } from "../../container/extract";
import { And } from "../../container/kernel";
import { Choice } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";

/**
 * Members to expect in the intersection of `count` members with a container of `other` members that is
 * independent of them.
 */
// @ts-ignore: decorator
@inline export function expectedMembers(count: u32, other: u32): u32 {
  return <u32>((<u64>count * other) / Container.UNIVERSE);
}

/** Whether an intersection with `expected` expected members should be made as an array. */
// @ts-ignore: decorator
@inline export function worksAsArray(expected: u32): bool {
  return expected >= Extract.SPARSE && expected < Choice.SPARSE_FROM;
}

/**
 * The intersection of two bitsets, `l` of the operand that `left` shows and `r` of the operand that `right`
 * shows, as an array. UNSUITED, with nothing changed, if the result probably is no array, or once the density
 * so far predicts twice as many members as an array has.
 */
export function intersectPairToArray(l: u64, r: u64): u64 {
  const expected = expectedMembers(Shape.count(l), Shape.count(r));
  if (!worksAsArray(expected)) return Shape.UNSUITED;
  const start = Places.at(Scratch.SECOND), work = Places.at(Scratch.LIST);
  let out = start;
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    const end = listPart<And>(Shape.at(l) + part, Shape.at(r) + part, <u32>part << 3, work);
    out = extractListed(work, end, Extract.isDense(expected), out);
    if (exceedsArray(Container.memberCount(start, out), part)) return Shape.UNSUITED;
  }
  return Shape.array(Container.memberCount(start, out), start);
}

/** Whether `members` members in the parts up to the one at `part` predict twice as many as an array has. */
// @ts-ignore: decorator
@inline export function exceedsArray(members: u32, part: usize): bool {
  return members > <u32>((part + Bitset.PART_BYTES) * 2 * Choice.SPARSE_FROM / BITSET_BYTES);
}
