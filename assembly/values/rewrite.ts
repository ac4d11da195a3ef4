// An arena of values written anew, leaf by leaf, without freed blocks; and divided into segments if it is
// large.

import { Side, arena, right, segments } from "../env/memory";
import { Own, Right } from "../env/view";
import { Arena } from "../arena/layout/header";
import { Blocks, Units } from "./blocks";
import { Leaves } from "./directory";
import { Form, Leaf, Values } from "./layout";
import { Pairs } from "./pairs";
import { setValue } from "./point";
import { Slices } from "./slices";
import { Spot } from "./spot";
import { Wide } from "./wide";

/** Pairs up to which a copy is made one by one: it may be a tiny arena. */
// @ts-ignore: decorator
@inline const FEW: u64 = 128;

/** Makes memory 0, which is fresh, the values of operand 0, in segments of about `most` bytes. */
export function rewriteValues(most: u32): void {
  right.select(0);
  Values.reset();
  if (!segments.are(Side.RIGHT) && Values.count<Right>() < FEW
    && !(Values.isFull<Right>() && Leaves.anyIsLoose<Right>())) {
    for (let spot = Spot.from<Right>(0); spot != Spot.NONE; spot = Spot.next<Right>(spot)) {
      setValue(Spot.id<Right>(spot), Spot.value<Right>(spot), 0);
    }
    return;
  }
  let index: u32 = 0, held: u32 = 0;
  while (true) {
    if (index == leavesShown()) {
      if (!segments.next(Side.RIGHT)) return;
      index = 0;
    }
    if (!held) {
      if (Values.isFull<Own>()) closeSegment();
      held = leavesThatFit(index, most);
      beginFull(held);
    }
    copyLeaf(index++);
    held--;
  }
}

/** Leaves of the segment shown: a tiny one counts as one. */
// @ts-ignore: decorator
@inline function leavesShown(): u32 { return Values.isFull<Right>() ? Values.leaves<Right>() : 1; }

// @ts-ignore: decorator
@inline function bytesOf(index: u32): usize {
  if (Values.isFull<Right>()) return Units.bytes(Values.leafAt<Right>(index).bytes<Right>()) + Leaf.BYTES;
  return Units.bytes(Leaf.room(Pairs.bytes(Pairs.ofTiny<Right>()))) + Leaf.BYTES;
}

/** How many leaves from `index` of the segment shown on a segment of `most` bytes has room for. */
function leavesThatFit(index: u32, most: u32): u32 {
  const segment = segments.at(Side.RIGHT);
  let leaves: u32 = 0, bytes: u64 = Values.BYTES;
  while (true) {
    if (index == leavesShown()) {
      if (!segments.next(Side.RIGHT)) break;
      index = 0;
    }
    bytes += bytesOf(index++);
    if (bytes > most && leaves) break;
    leaves++;
  }
  segments.show(Side.RIGHT, segment);
  return leaves;
}

/** Makes memory 0 a full arena without ids whose directory has room for that many leaves. */
function beginFull(leaves: u32): void {
  Arena.reserve(Values.BYTES + Leaves.bytes(leaves));
  memory.fill(0, 0, Values.BYTES);
  store<u8>(0, Form.FULL);
  Values.setBump(Values.BYTES);
  Values.setDirectory(Blocks.allocateFresh(Leaves.bytes(leaves)), leaves);
}

/** Ends the segment in memory 0. It begins with the ids that could be slices of one leaf with its first one. */
function closeSegment(): void {
  const id = Spot.id<Own>(Spot.inLeaf<Own>(0, 0));
  arena.close(<u32>Values.bump(), 0, id & ~(<u64>Slices.IDS - 1), Values.count<Own>());
}

/** Appends leaf `index` of the segment shown. */
function copyLeaf(index: u32): void {
  const at = Values.leaves<Own>();
  Values.setLeaves(at + 1);
  const leaf = Values.leafAt<Own>(at);
  if (!Values.isFull<Right>()) copyTiny(leaf, at);
  else {
    const from = Values.leafAt<Right>(index), bytes = from.bytes<Right>();
    right.copy(changetype<usize>(leaf), changetype<usize>(from), Leaf.BYTES);
    const block = Blocks.allocateFresh(Units.bytes(bytes));
    right.copy(block, from.at<Right>(), bytes);
    leaf.setAt(block);
    if (!index && at && !leaf.isSliced<Own>()) beginLater(leaf);
  }
  Values.addCount(leaf.count<Own>());
  addSum(leaf);
}

/**
 * Lets a leaf of pairs begin near its first id. The first leaf of a segment may begin earlier, where other
 * segments have ids.
 */
function beginLater(leaf: Leaf): void {
  const p = Pairs.ofLeaf<Own>(leaf), less = Pairs.id<Own>(p, 0) & ~(<u64>Slices.IDS - 1);
  Pairs.widen(p, Pairs.idBytes(p), Pairs.valueBytes(p), -less);
  leaf.setFirst(leaf.first<Own>() + less);
}

/** Makes the leaf one of the pairs of the tiny segment shown. */
function copyTiny(leaf: Leaf, at: u32): void {
  const p = Pairs.ofTiny<Right>(), block = Blocks.allocateFresh(Units.bytes(Leaf.room(Pairs.bytes(p))));
  right.copy(block, Values.PAIRS_AT, Pairs.bytes(p));
  memory.fill(changetype<usize>(leaf), 0, Leaf.BYTES);
  leaf.setAt(block);
  leaf.setCount(Pairs.count(p));
  leaf.setWidths(Pairs.idBytes(p), Pairs.valueBytes(p));
  const own = Pairs.ofLeaf<Own>(leaf);
  leaf.setBounds(Pairs.least<Own>(own, 0, Pairs.count(own)), Pairs.greatest<Own>(own, 0, Pairs.count(own)));
  if (at) beginLater(leaf);
}

/** Adds the leaf's values to the sum. */
export function addSum(leaf: Leaf): void {
  if (!leaf.isSliced<Own>()) {
    const p = Pairs.ofLeaf<Own>(leaf);
    for (let i: u32 = 0, n = Pairs.count(p); i < n; i++) Wide.add(Values.sumAt(), Pairs.value<Own>(p, i));
    return;
  }
  const at = leaf.at<Own>(), base = leaf.base<Own>(), width = leaf.width<Own>();
  Wide.addSignedTimes(Values.sumAt(), leaf.count<Own>(), base);
  for (let slice: u32 = 0; slice < width; slice++) {
    Wide.addTimes(Values.sumAt(), Slices.countIn<Own>(Slices.sliceAt(at, slice), at), <u64>1 << slice);
  }
}
