// Checks every invariant of an arena of values, for tests after each step, and for R.DEBUG VALIDATE. Reads all
// of memory 0, changes nothing.

import { arena } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { Blocks, Units } from "./blocks";
import { Leaves } from "./directory";
import { Leaf, Values } from "./layout";
import { Pairs } from "./pairs";
import { Slices } from "./slices";

/** The first broken invariant, or Fault.NONE. */
export function validateValues(): Fault {
  if (!Values.isFull<Own>()) {
    const p = Pairs.ofTiny<Own>();
    if (!Pairs.count(p) || !isSound(p) || Pairs.bytes(p) > Pairs.BYTES_MAX) return Fault.NOT_TINY;
    if (Values.PAIRS_AT + Pairs.bytes(p) > <usize>arena.size()) return Fault.BUMP_OUTSIDE;
    return isAscending(p) ? Fault.NONE : Fault.ARRAY_NOT_ASCENDING;
  }
  const size = <usize>arena.size();
  if (size < Values.BYTES) return Fault.BUMP_OUTSIDE;
  const bump = Values.bump(), leaves = Values.leaves<Own>();
  if (bump > size || bump < Values.BYTES) return Fault.BUMP_OUTSIDE;
  const directory = Leaves.bytes(Values.room());
  if (!isBlock(Values.directory<Own>(), directory)) return Fault.BLOCK_MISPLACED;
  if (!leaves || leaves > Values.room()) return Fault.TOTAL_ENTRIES;
  let used = Values.BYTES + directory, ids: u64 = 0, low: u64 = 0, high: i64 = 0;
  for (let i: u32 = 0; i < leaves; i++) {
    const leaf = Values.leafAt<Own>(i);
    if (i && leaf.first<Own>() <= Values.leafAt<Own>(i - 1).first<Own>()) return Fault.DIRECTORY_NOT_ASCENDING;
    const end = i + 1 < leaves ? Values.leafAt<Own>(i + 1).first<Own>() - 1 : u64.MAX_VALUE;
    const fault = validateLeaf(leaf, end);
    if (fault) return fault;
    used += Units.bytes(leaf.bytes<Own>());
    ids += leaf.count<Own>();
    for (let place: u32 = 0, n = leaf.isSliced<Own>() ? Slices.IDS : leaf.count<Own>(); place < n; place++) {
      if (leaf.isSliced<Own>() && !Slices.has<Own>(leaf.at<Own>(), place)) continue;
      const value = valueIn(leaf, place), sum = low + <u64>value;
      high += (value >> 63) + i64(sum < low);
      low = sum;
    }
  }
  if (ids != Values.count<Own>() || low != Values.sumLow<Own>() || high != Values.sumHigh<Own>()) {
    return Fault.TOTAL_CARDINALITY;
  }
  if (!freeListsAreSound()) return Fault.FREE_LISTS;
  return used + Values.freed() == bump ? Fault.NONE : Fault.BYTES_UNACCOUNTED;
}

function validateLeaf(leaf: Leaf, end: u64): Fault {
  const bytes = Units.bytes(leaf.bytes<Own>()), count = leaf.count<Own>(), first = leaf.first<Own>();
  if (!count || !isBlock(leaf.at<Own>(), bytes)) return Fault.BLOCK_MISPLACED;
  if (first & (Slices.IDS - 1)) return Fault.WRONG_FORM;
  if (leaf.isSliced<Own>()) {
    if (leaf.width<Own>() > 64 || end - first < Slices.IDS - 1) return Fault.WRONG_FORM;
    const at = leaf.at<Own>();
    if (Slices.count(at) != count) return Fault.BITSET_CARDINALITY;
    for (let slice: u32 = 0; slice < leaf.width<Own>(); slice++) {
      for (let byte: usize = 0; byte < 64; byte += 8) {
        if (load<u64>(Slices.sliceAt(at, slice) + byte) & ~load<u64>(at + byte)) return Fault.WRONG_FORM;
      }
    }
  } else {
    const p = Pairs.ofLeaf<Own>(leaf);
    if (!isSound(p) || Pairs.bytes(p) > Pairs.WINDOW_BYTES_MAX) return Fault.WRONG_FORM;
    if (!isAscending(p) || Pairs.id<Own>(p, count - 1) > end - first) return Fault.ARRAY_NOT_ASCENDING;
  }
  return areBounds(leaf) ? Fault.NONE : Fault.SLOT_CARDINALITY;
}

/** Whether the leaf's bounds are those of its values, or bounds of them if it is loose. */
function areBounds(leaf: Leaf): bool {
  let least = i64.MAX_VALUE, greatest = i64.MIN_VALUE;
  const sliced = leaf.isSliced<Own>();
  for (let place: u32 = 0, n = sliced ? Slices.IDS : leaf.count<Own>(); place < n; place++) {
    if (sliced && !Slices.has<Own>(leaf.at<Own>(), place)) continue;
    const value = valueIn(leaf, place);
    least = min(least, value);
    greatest = max(greatest, value);
  }
  if (leaf.isLoose<Own>()) return leaf.least<Own>() <= least && leaf.greatest<Own>() >= greatest;
  return leaf.least<Own>() == least && leaf.greatest<Own>() == greatest;
}

// @ts-ignore: decorator
@inline function valueIn(leaf: Leaf, place: u32): i64 {
  return leaf.isSliced<Own>()
    ? leaf.base<Own>() + <i64>Slices.get<Own>(leaf.at<Own>(), leaf.width<Own>(), place)
    : Pairs.value<Own>(Pairs.ofLeaf<Own>(leaf), place);
}

// @ts-ignore: decorator
@inline function isSound(p: u64): bool {
  return Pairs.idBytes(p) - 1 < 8 && Pairs.valueBytes(p) <= 8;
}

function isAscending(p: u64): bool {
  for (let i: u32 = 1, n = Pairs.count(p); i < n; i++) {
    if (Pairs.id<Own>(p, i - 1) >= Pairs.id<Own>(p, i)) return false;
  }
  return true;
}

/** Whether a block may lie there. */
// @ts-ignore: decorator
@inline function isBlock(at: usize, bytes: usize): bool {
  return at >= Values.BYTES && (at - Values.BYTES) % Units.BYTES == 0 && <u64>at + bytes <= <u64>Values.bump();
}

/** Whether the free lists hold blocks of the used part, together as many bytes as were freed. */
function freeListsAreSound(): bool {
  let listed: usize = 0;
  for (let units: u32 = 1; units <= Units.MAX; units++) {
    const bytes = <usize>units << 6;
    for (let at = <usize>load<u32>(Blocks.list(units)); at; at = load<u32>(at)) {
      listed += bytes;
      if (listed > Values.freed() || !isBlock(at, bytes)) return false;
    }
  }
  return listed == Values.freed();
}
