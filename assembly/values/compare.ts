// The ids for which a comparison of an expression holds, as a bitmap. Memory 0 is fresh, and operand 0 has the
// values.

import { Side, argument, left, reply, right, segments, work } from "../env/memory";
import { Left, Right } from "../env/view";
import { finish } from "../arena/builder/builder";
import { Offset } from "../arena/layout/entry";
import { Arena } from "../arena/layout/header";
import { Directory, Place } from "../arena/read/directory";
import { emit } from "../combine/shape/emit";
import { Places, Scratch } from "../combine/shape/scratch";
import { Shape } from "../combine/shape/shape";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Rule } from "../combine/term/term";
import { Comparison } from "../expression/text";
import { Syntax, Tree } from "../expression/tree";
import { idsOfBoth } from "./comparekeys";
import { hasNear } from "./filter";
import { Near, addBit, beginIds, clearedBitset } from "./idset";
import { Leaf, Values } from "./layout";
import { Pairs } from "./pairs";
import { Slices } from "./slices";
import { Spot } from "./spot";

/**
 * Replies the operands that the host is to make before it evaluates the tree that is operand `keys`, behind the
 * keys: those of comparisons, in their order, and then, in place of keys that have values, their ids, or no ids
 * if the expression only compares them. Seven numbers each: the operand, counted from 1, the key, the other key
 * or 0, how they are compared, the least and greatest value, and the place in the text, counted from 1. Before
 * them come three numbers that limit which ids matter: a key, or 0, and the first and the last id.
 */
export function comparisons(keys: u32): void {
  right.select(keys);
  Arena.reserve(right.size());
  right.copy(0, 0, right.size());
  replyLimits(keys);
  let operand = keys + 1;
  for (let record = Tree.firstComparison(); record; record = record.nextSibling()) {
    replyOperand(operand++, record.standsFor(), record.otherKey(), record.how());
    replyBounds(record.low(), record.high(), record.place() + 1);
  }
  for (let key: u32 = 1; key <= keys; key++) {
    left.select(key - 1);
    if (!Values.are<Left>()) continue;
    replyOperand(key, key, 0, Comparison.EQUAL);
    if (Tree.isUsed(key)) replyBounds(i64.MIN_VALUE, i64.MAX_VALUE, 0);
    else replyBounds(i64.MAX_VALUE, i64.MIN_VALUE, 0);
  }
}

/**
 * The expression has no members outside of the items that all of it is to be in. So it makes no difference
 * which ids comparisons find outside of these: of the smallest of the keys among them, and of ranges.
 */
function replyLimits(keys: u32): void {
  const root = Tree.root();
  let key: u32 = 0, members = u64.MAX_VALUE, first: u64 = 0, last = Tree.greatest();
  let items: u64 = root.isTerm(Rule.ALL) ? u64.MAX_VALUE : root.isTerm(Rule.LESS) ? root.low() : 0;
  for (let child = root.firstChild(); child && items; child = child.nextSibling()) {
    items -= child.standsFor();
    if (child.syntax() == Syntax.RANGE) {
      first = max(first, child.low());
      last = min(last, child.high());
    } else if (child.syntax() == Syntax.KEYS) {
      for (let one = child.low(); one <= child.high() && one <= keys; one++) {
        left.select(<u32>one - 1);
        if (Values.are<Left>() || Directory.cardinality<Left>() >= members) continue;
        members = Directory.cardinality<Left>();
        key = <u32>one;
      }
    }
  }
  reply.member(key);
  reply.member(first);
  reply.member(last);
}

// @ts-ignore: decorator
@inline function replyOperand(operand: u32, key: u64, other: u32, how: u32): void {
  reply.member(operand);
  reply.member(key);
  reply.member(other);
  reply.member(how);
}

// @ts-ignore: decorator
@inline function replyBounds(low: i64, high: i64, place: u32): void {
  reply.member(<u64>low);
  reply.member(<u64>high);
  reply.member(place);
}

/**
 * Makes memory 0 the ids for which a comparison holds: of the values of operands 0 and 1, if `ofBoth`, else of
 * those of operand 0 with two bounds, arguments 2 and 3. Only ids from argument 0 to argument 1 matter, and if
 * `near`, only members of operand 2, a bitmap. Of the others, it may have some. Returns where operand 0 has ids
 * outside of those arguments: 1 before them, 2 behind them, or the sum.
 */
export function idsCompared(ofBoth: u32, how: u32, near: u32): u32 {
  const low = <i64>argument.value(2), high = <i64>argument.value(3);
  beginIds(near != 0);
  if (ofBoth) idsOfBoth(how, near != 0);
  else if (low <= high || how == Comparison.DIFFERS) idsOfValues(low, high, how, near != 0);
  finish();
  left.select(0);
  const first = Near.first(), last = Near.last();
  const least = Spot.from<Left>(0), before = least != Spot.NONE && Spot.id<Left>(least) < first;
  const behind = last != u64.MAX_VALUE && Spot.from<Left>(last + 1) != Spot.NONE;
  return u32(before) | u32(behind) << 1;
}

/** Which values a comparison looks for: 24 bytes of scratch room. */
@final @unmanaged
class Wanted {
  @inline private static readonly HIGH: u32 = 8;
  @inline private static readonly OUTSIDE: u32 = 16;

  static at(at: usize, low: i64, high: i64, outside: bool): Wanted {
    store<i64>(at, low);
    store<i64>(at, high, Wanted.HIGH);
    store<u32>(at, u32(outside), Wanted.OUTSIDE);
    return changetype<Wanted>(at);
  }

  @inline low(): i64 { return load<i64>(changetype<usize>(this)); }
  @inline high(): i64 { return load<i64>(changetype<usize>(this), Wanted.HIGH); }
  /** Whether values between the bounds are those that it does not look for. */
  @inline outside(): bool { return load<u32>(changetype<usize>(this), Wanted.OUTSIDE) != 0; }
  @inline has(value: i64): bool { return (value >= this.low() && value <= this.high()) != this.outside(); }
}

/** Adds the ids whose values are from `low` to `high`, or with DIFFERS are not; `near` as in idsCompared(). */
function idsOfValues(low: i64, high: i64, how: u32, near: bool): void {
  const last = Near.last();
  for (let from = Near.first(); from <= last;) {
    work.spend(1);
    left.select(0);
    let spot = Spot.from<Left>(from), place: u64 = 0, bitset: usize = 0;
    if (spot == Spot.NONE) return;
    const key = Offset.key(Spot.id<Left>(spot));
    if (near) {
      place = Near.seek(key);
      if (!place) return;
      const next = Place.entry(place).key<Right>();
      if (next > key) { from = next << 16; continue; }
    }
    if (key > Offset.key(last)) return;
    const at = clearedBitset();
    if (near) {
      bitset = Near.lay(place);
      left.select(0);
      spot = Spot.from<Left>(key << 16);
    }
    const wanted = Wanted.at(Places.at(Scratch.SPARE), low, high, how == Comparison.DIFFERS);
    const count = fill(at, spot, wanted, bitset);
    if (count) emit(key, Shape.of(Kind.BITSET, count, at));
    if (key == Offset.KEY_MAX) return;
    from = (key + 1) << 16;
  }
}

/**
 * Sets the bits of the ids in the container of the spot for which the comparison holds. Returns their number.
 * Leaves out those in slices that are not near the members of a bitset, if it is not 0.
 */
function fill(at: usize, spot: u64, wanted: Wanted, bitset: usize): u32 {
  const last = Spot.id<Left>(spot) | Container.LOW_MAX;
  let count: u32 = 0, index = Spot.leaf(spot);
  while (true) {
    if (!Values.isFull<Left>()) count += fillPairs(at, Pairs.ofTiny<Left>(), 0, last, wanted);
    else {
      for (const leaves = Values.leaves<Left>(); index < leaves; index++) {
        const leaf = Values.leafAt<Left>(index), first = leaf.first<Left>();
        if (first > last) return count;
        if (bitset && leaf.isSliced<Left>() && !hasNear(bitset, first)) continue;
        work.spend(1);
        if (index + Leaf.AHEAD < leaves) {
          readAhead(Values.leafAt<Left>(index + Leaf.AHEAD), wanted, bitset, last);
        }
        count += leaf.isSliced<Left>() ? fillSlices(at, leaf, wanted)
          : fillPairs(at, Pairs.ofLeaf<Left>(leaf), first, last, wanted);
      }
    }
    if (!segments.next(Side.LEFT)) return count;
    index = 0;
  }
}

/** Has the leaf read from memory if its values will be looked at: it does not follow the one before. */
// @ts-ignore: decorator
@inline function readAhead(leaf: Leaf, wanted: Wanted, bitset: usize, last: u64): void {
  const first = leaf.first<Left>();
  if (bitset && (first > last || !hasNear(bitset, first))) return;
  if (leaf.least<Left>() < wanted.low() || leaf.greatest<Left>() > wanted.high()) {
    left.prefetch(leaf.at<Left>(), leaf.bytes<Left>());
  }
}

function fillSlices(at: usize, leaf: Leaf, wanted: Wanted): u32 {
  const low = wanted.low(), high = wanted.high(), outside = wanted.outside();
  const mask = at + (<usize>(<u32>leaf.first<Left>() & Container.LOW_MAX) >> 3), least = leaf.least<Left>();
  const greatest = leaf.greatest<Left>(), all = leaf.count<Left>(), block = leaf.at<Left>();
  const none = low > high || high < least || low > greatest, inside = low <= least && high >= greatest;
  if (outside ? inside : none) return 0;
  Slices.presence<Left>(block, mask);
  if (outside ? none : inside) return all;
  const found = outside ? Places.at(Scratch.SECOND) : mask;
  if (outside) memory.copy(found, mask, Slices.BYTES);
  Slices.keep<Left>(leaf, found, low, high);
  if (!outside) return Slices.count(mask);
  for (let i: usize = 0; i < Slices.BYTES; i += 8) {
    store<u64>(mask + i, load<u64>(mask + i) & ~load<u64>(found + i));
  }
  return Slices.count(mask);
}

/** fill() for the pairs whose ids, `start` and more, are in the container that ends with `last`. */
// @ts-ignore: decorator
@inline function fillPairs(at: usize, p: u64, start: u64, last: u64, wanted: Wanted): u32 {
  const first = last & ~<u64>Container.LOW_MAX;
  let count: u32 = 0;
  for (let i = first > start ? Pairs.below<Left>(p, first - start) : 0, n = Pairs.count(p); i < n; i++) {
    const id = start + Pairs.id<Left>(p, i);
    if (id > last) break;
    if (!wanted.has(Pairs.value<Left>(p, i))) continue;
    addBit(at, <u32>id);
    count++;
  }
  return count;
}
