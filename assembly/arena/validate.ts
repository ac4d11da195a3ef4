// Checks every invariant of an arena. Tests do so after each step, and R.DEBUG VALIDATE on request.
// Reads all of memory 0, changes nothing.

import { SELF, arena, left } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import {
  FORM_FULL, FORM_TINY, HEADER_BYTES, bumpMark, freedBytes, heldBytes, isPaged, totalCardinality,
} from "./layout/header";
import { blockBytes, freeListsAreSound, freeListsBytes } from "./layout/blocks";
import { TINY_WORDS, used } from "./change/forms";
import {
  ENTRY_BYTES, KEY_MAX, TINY_ENTRY, entryCardinality, entryCount, entryKey, entryKind, entryLastKey,
  entryPayload, payloadBytes,
} from "./layout/entry";
import { entriesHeld } from "./read/directory";
import {
  ITEMS_MAX, PAGE_BYTES, isPacked, isSoundForm, keyAt, offsetAt, packedBytes, pageUpTo, packedCount,
} from "./packed/layout";
import { groupsIn, isSoundPage } from "./packed/groups";
import {
  firstKey, rootNode, NODE_HEADER, nodeLevel, NODE_LEVELS_MAX, nodeCount, INNER_MAX, LEAF_MAX, ROOMY_SLOTS,
  isRoomy, allocatedFor, slotAt, slotChild, slotKey, slotCardinality, entryAt, ordinaryBytes,
} from "./layout/node";
import { Kind } from "../container/kind";
import { isArraySized, UNIVERSE, SHORT_MAX } from "../container/limits";
import { bitsetCardinality } from "../container/bitset";
import { bucketsAreSound } from "../container/buckets";
import { checkRuns } from "../container/run";
import { firstWord, shortIsSound, wordCount } from "../container/short";
import { isAscending } from "../container/array";

/** The first broken invariant, or Fault.NONE. */
export function validate(): Fault {
  const form = load<u8>(0);
  if (form == FORM_TINY) return validateTiny();
  if (form != FORM_FULL || load<u8>(0, 1)) return Fault.UNKNOWN_FORM;
  if (<usize>arena.size() < HEADER_BYTES || bumpMark() > <usize>arena.size() || bumpMark() < HEADER_BYTES) {
    return Fault.BUMP_OUTSIDE;
  }
  if (heldBytes()) return Fault.HELD_BACK;
  const root = rootNode<Own>();
  if (!isBlock(root, NODE_HEADER)) return Fault.BLOCK_MISPLACED;
  if (nodeLevel<Own>(root) >= NODE_LEVELS_MAX) return Fault.NODE_LEVEL;
  if (nodeCount<Own>(root) < (nodeLevel<Own>(root) ? 2 : 1)) return Fault.NODE_COUNT;
  const fault = validateNode(root, nodeLevel<Own>(root));
  if (fault != Fault.NONE) return fault;
  if (entriesBelow(root) != entriesHeld<Own>()) return Fault.TOTAL_ENTRIES;
  if (cardinalityBelow(root) != totalCardinality<Own>()) return Fault.TOTAL_CARDINALITY;
  if (!freeListsAreSound()) return Fault.FREE_LISTS;
  const accounted = HEADER_BYTES + usedBelow(root) + freeListsBytes() + freedBytes();
  return accounted == bumpMark() ? Fault.NONE : Fault.BYTES_UNACCOUNTED;
}

function validateTiny(): Fault {
  const count = nodeCount<Own>(0);
  if (isPacked<Own>(0)) {
    if (!count || count > ITEMS_MAX || !isSoundForm(0)) return Fault.NOT_TINY;
    return packedBytes<Own>(0) > <usize>arena.size() ? Fault.BUMP_OUTSIDE : validateMembers(0);
  }
  if (load<u16>(0) != 0 || count > 1) return Fault.NOT_TINY;
  if (!count) return Fault.NONE;
  if (entryKind<Own>(TINY_ENTRY) != Kind.SHORT) return Fault.NOT_TINY;
  const words = wordCount<Own>(entryPayload<Own>(TINY_ENTRY));
  if (words > TINY_WORDS || used() > arena.size()) return Fault.NOT_TINY;
  return validateContainer(TINY_ENTRY);
}

// @ts-ignore: decorator
@inline function isBlock(at: usize, bytes: usize): bool {
  return (at & 7) == 0 && at >= HEADER_BYTES && <u64>at + <u64>blockBytes(bytes) <= <u64>bumpMark();
}

/** Whether the members of a packed leaf ascend. */
function validateMembers(leaf: usize): Fault {
  for (let i: u32 = 0, n = packedCount<Own>(leaf), before: u64 = 0; i < n; i++) {
    const offset = offsetAt<Own>(leaf, i);
    if (keyAt<Own>(leaf, i) > KEY_MAX) return Fault.KEY_TOO_GREAT;
    if (i && offset <= before) return Fault.DIRECTORY_NOT_ASCENDING;
    before = offset;
  }
  return Fault.NONE;
}

function validatePage(page: usize): Fault {
  if (!isPaged() || !isSoundForm(page)) return Fault.NODE_LEVEL;
  if (!packedCount<Own>(page) || packedBytes<Own>(page) > PAGE_BYTES) return Fault.NODE_COUNT;
  if (pageUpTo(page) != page || !isBlock(page, PAGE_BYTES)) return Fault.BLOCK_MISPLACED;
  return isSoundPage(page) ? validateMembers(page) : Fault.NODE_COUNT;
}

function validateNode(node: usize, level: u32): Fault {
  const count = nodeCount<Own>(node);
  if (nodeLevel<Own>(node) != level) return Fault.NODE_LEVEL;
  if (!level && isPacked<Own>(node)) return validatePage(node);
  if (!count || count > (level ? INNER_MAX : LEAF_MAX)) return Fault.NODE_COUNT;
  if (isRoomy(node) && level && count > ROOMY_SLOTS) return Fault.NODE_COUNT;
  if (!isBlock(node, ordinaryBytes(node))) return Fault.BLOCK_MISPLACED;
  for (let i: u32 = 0; i < count; i++) {
    const fault = level ? validateSlot(node, i, level) : validateEntry(node, i);
    if (fault != Fault.NONE) return fault;
  }
  return Fault.NONE;
}

function validateSlot(node: usize, index: u32, level: u32): Fault {
  const slot = slotAt(node, index), child = slotChild<Own>(slot);
  if (!isBlock(child, NODE_HEADER)) return Fault.BLOCK_MISPLACED;
  const fault = validateNode(child, level - 1);
  if (fault != Fault.NONE) return fault;
  if (slotKey<Own>(slot) != firstKey(child)) return Fault.SLOT_KEY;
  if (index && slotKey<Own>(slot) <= lastKeyBelow(slotChild<Own>(slotAt(node, index - 1)))) {
    return Fault.DIRECTORY_NOT_ASCENDING;
  }
  return slotCardinality<Own>(slot) == cardinalityBelow(child) ? Fault.NONE : Fault.SLOT_CARDINALITY;
}

function lastKeyBelow(node: usize): u64 {
  while (nodeLevel<Own>(node)) node = slotChild<Own>(slotAt(node, nodeCount<Own>(node) - 1));
  const last = nodeCount<Own>(node) - 1;
  return isPacked<Own>(node) ? keyAt<Own>(node, last) : entryLastKey<Own>(entryAt(node, last));
}

function validateEntry(leaf: usize, index: u32): Fault {
  const entry = entryAt(leaf, index);
  if (entryLastKey<Own>(entry) > KEY_MAX) return Fault.KEY_TOO_GREAT;
  if (index && entryKey<Own>(entry) <= entryLastKey<Own>(entry - ENTRY_BYTES)) {
    return Fault.DIRECTORY_NOT_ASCENDING;
  }
  if (entryKind<Own>(entry) <= Kind.SHORT) {
    if (!isBlock(entryPayload<Own>(entry), 1)) return Fault.BLOCK_MISPLACED;
    if (!isBlock(entryPayload<Own>(entry), payloadBytes<Own>(entry))) return Fault.BLOCK_MISPLACED;
  }
  return validateContainer(entry);
}

function validateContainer(entry: usize): Fault {
  const payload = entryPayload<Own>(entry), count = entryCount<Own>(entry);
  switch (entryKind<Own>(entry)) {
    case Kind.FULL: return Fault.NONE;
    case Kind.BITSET:
      if (count >= UNIVERSE) return Fault.WRONG_FORM;
      left.select(SELF);
      return bitsetCardinality(payload) == count ? Fault.NONE : Fault.BITSET_CARDINALITY;
    case Kind.RUNS: return count < UNIVERSE ? checkRuns<Own>(payload, count) : Fault.WRONG_FORM;
    case Kind.BUCKETS:
      if (!isArraySized(count)) return Fault.WRONG_FORM;
      return bucketsAreSound(payload, count) ? Fault.NONE : Fault.BUCKETS_UNSOUND;
    case Kind.SHORT: {
      const words = wordCount<Own>(payload);
      if (words > SHORT_MAX || firstWord<Own>(payload) + words > UNIVERSE >> 6) return Fault.WRONG_FORM;
      return shortIsSound(payload, count) ? Fault.NONE : Fault.BITSET_CARDINALITY;
    }
    case Kind.ARRAY:
      if (count < 3 || !isArraySized(count)) return Fault.WRONG_FORM;
      return isAscending<Own>(payload, count) ? Fault.NONE : Fault.ARRAY_NOT_ASCENDING;
    case Kind.SINGLE:
    case Kind.PAIR: return isAscending<Own>(payload, count) ? Fault.NONE : Fault.ARRAY_NOT_ASCENDING;
    default: return Fault.WRONG_FORM;
  }
}

function cardinalityBelow(node: usize): u64 {
  let members: u64 = 0;
  const inner = nodeLevel<Own>(node) != 0;
  if (!inner && isPacked<Own>(node)) return packedCount<Own>(node);
  for (let i: u32 = 0, n = nodeCount<Own>(node); i < n; i++) {
    members += inner
      ? cardinalityBelow(slotChild<Own>(slotAt(node, i)))
      : entryCardinality<Own>(entryAt(node, i));
  }
  return members;
}

function entriesBelow(node: usize): u32 {
  if (!nodeLevel<Own>(node)) {
    const count = nodeCount<Own>(node);
    return isPacked<Own>(node) ? groupsIn<Own>(node, 0, count) : count;
  }
  let entries: u32 = 0;
  for (let i: u32 = 0, n = nodeCount<Own>(node); i < n; i++) {
    entries += entriesBelow(slotChild<Own>(slotAt(node, i)));
  }
  return entries;
}

/** Bytes of the node's block and of all blocks below it. */
function usedBelow(node: usize): usize {
  const level = nodeLevel<Own>(node), count = nodeCount<Own>(node);
  let bytes = blockBytes(allocatedFor(node));
  if (!level && isPacked<Own>(node)) return bytes;
  for (let i: u32 = 0; i < count; i++) {
    if (level) { bytes += usedBelow(slotChild<Own>(slotAt(node, i))); continue; }
    const held = payloadBytes<Own>(entryAt(node, i));
    if (held) bytes += blockBytes(held);
  }
  return bytes;
}
