// Checks every invariant of an arena, for tests after each step, and for R.DEBUG VALIDATE. Reads all of memory
// 0, changes nothing.

import { SELF, arena, left } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { Header } from "./layout/header";
import { Allocator, Block } from "./layout/blocks";
import { Forms, used } from "./change/forms";
import { Entry, Offset } from "./layout/entry";
import { Directory } from "./read/directory";
import { Page } from "./packed/layout";
import { PageGroups } from "./packed/groups";
import { Node, firstKey } from "./layout/node";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Bitset } from "../container/bitset";
import { Runs } from "../container/run";
import { ShortBitset } from "../container/short";
import { Sparse } from "../container/sparse";
import { isAscending } from "../container/array";

/** The first broken invariant, or Fault.NONE. */
export function validate(): Fault {
  const form = load<u8>(0);
  if (form == Header.TINY) return validateTiny();
  if (form != Header.FULL || load<u8>(0, 1)) return Fault.UNKNOWN_FORM;
  if (<usize>arena.size() < Header.BYTES || Header.bump() > <usize>arena.size()
    || Header.bump() < Header.BYTES) {
    return Fault.BUMP_OUTSIDE;
  }
  if (Header.held()) return Fault.HELD_BACK;
  const root = Node.root<Own>();
  if (!isBlock(changetype<usize>(root), Node.HEADER)) return Fault.BLOCK_MISPLACED;
  if (root.level<Own>() >= Node.LEVELS_MAX) return Fault.NODE_LEVEL;
  if (root.count<Own>() < (root.level<Own>() ? 2 : 1)) return Fault.NODE_COUNT;
  const fault = validateNode(root, root.level<Own>());
  if (fault != Fault.NONE) return fault;
  if (entriesBelow(root) != Directory.entriesHeld<Own>()) return Fault.TOTAL_ENTRIES;
  if (cardinalityBelow(root) != Header.cardinality<Own>()) return Fault.TOTAL_CARDINALITY;
  if (!Allocator.freeListsAreSound()) return Fault.FREE_LISTS;
  const accounted = Header.BYTES + usedBelow(root) + Allocator.freeListsBytes() + Header.freed();
  return accounted == Header.bump() ? Fault.NONE : Fault.BYTES_UNACCOUNTED;
}

function validateTiny(): Fault {
  const count = changetype<Node>(0).count<Own>();
  if (changetype<Page>(0).isPacked<Own>()) {
    if (!count || count > Page.ITEMS_MAX || !changetype<Page>(0).isSoundForm()) return Fault.NOT_TINY;
    return changetype<Page>(0).bytes<Own>() > <usize>arena.size() ? Fault.BUMP_OUTSIDE
      : validateMembers(changetype<Node>(0));
  }
  if (load<u16>(0) != 0 || count > 1) return Fault.NOT_TINY;
  if (!count) return Fault.NONE;
  if (changetype<Entry>(Entry.TINY).kind<Own>() != Kind.SHORT) return Fault.NOT_TINY;
  const words = ShortBitset.wordCount<Own>(changetype<Entry>(Entry.TINY).payload<Own>());
  if (words > Forms.TINY_WORDS || used() > arena.size()) return Fault.NOT_TINY;
  return validateContainer(changetype<Entry>(Entry.TINY));
}

// @ts-ignore: decorator
@inline function isBlock(at: usize, bytes: usize): bool {
  return (at & 7) == 0 && at >= Header.BYTES && <u64>at + <u64>Block.bytes(bytes) <= <u64>Header.bump();
}

/** Whether the members of a packed leaf ascend. */
function validateMembers(leaf: Node): Fault {
  for (let i: u32 = 0, n = leaf.page.count<Own>(), before: u64 = 0; i < n; i++) {
    const offset = leaf.page.offsetAt<Own>(i);
    if (leaf.page.keyAt<Own>(i) > Offset.KEY_MAX) return Fault.KEY_TOO_GREAT;
    if (i && offset <= before) return Fault.DIRECTORY_NOT_ASCENDING;
    before = offset;
  }
  return Fault.NONE;
}

function validatePage(page: Node): Fault {
  if (!Header.isPaged() || !page.page.isSoundForm()) return Fault.NODE_LEVEL;
  if (!page.page.count<Own>() || page.page.bytes<Own>() > Page.BYTES) return Fault.NODE_COUNT;
  if (Page.upTo(changetype<usize>(page)) != changetype<usize>(page)
    || !isBlock(changetype<usize>(page), Page.BYTES)) {
    return Fault.BLOCK_MISPLACED;
  }
  return PageGroups.isSoundPage(page.page) ? validateMembers(page) : Fault.NODE_COUNT;
}

function validateNode(node: Node, level: u32): Fault {
  const count = node.count<Own>();
  if (node.level<Own>() != level) return Fault.NODE_LEVEL;
  if (!level && node.page.isPacked<Own>()) return validatePage(node);
  if (!count || count > (level ? Node.INNER_MAX : Node.LEAF_MAX)) return Fault.NODE_COUNT;
  if (node.isRoomy() && level && count > Node.ROOMY_SLOTS) return Fault.NODE_COUNT;
  if (!isBlock(changetype<usize>(node), node.ordinaryBytes())) return Fault.BLOCK_MISPLACED;
  for (let i: u32 = 0; i < count; i++) {
    const fault = level ? validateSlot(node, i, level) : validateEntry(node, i);
    if (fault != Fault.NONE) return fault;
  }
  return Fault.NONE;
}

function validateSlot(node: Node, index: u32, level: u32): Fault {
  const slot = node.slotAt(index), child = slot.child<Own>();
  if (!isBlock(changetype<usize>(child), Node.HEADER)) return Fault.BLOCK_MISPLACED;
  const fault = validateNode(child, level - 1);
  if (fault != Fault.NONE) return fault;
  if (slot.key<Own>() != firstKey(child)) return Fault.SLOT_KEY;
  if (index && slot.key<Own>() <= lastKeyBelow(node.slotAt(index - 1).child<Own>())) {
    return Fault.DIRECTORY_NOT_ASCENDING;
  }
  return slot.cardinality<Own>() == cardinalityBelow(child) ? Fault.NONE : Fault.SLOT_CARDINALITY;
}

function lastKeyBelow(node: Node): u64 {
  while (node.level<Own>()) node = node.slotAt(node.count<Own>() - 1).child<Own>();
  const last = node.count<Own>() - 1;
  return node.page.isPacked<Own>() ? node.page.keyAt<Own>(last) : node.entryAt(last).lastKey<Own>();
}

function validateEntry(leaf: Node, index: u32): Fault {
  const entry = leaf.entryAt(index);
  if (entry.lastKey<Own>() > Offset.KEY_MAX) return Fault.KEY_TOO_GREAT;
  if (index && entry.key<Own>() <= changetype<Entry>(changetype<usize>(entry) - Entry.BYTES).lastKey<Own>()) {
    return Fault.DIRECTORY_NOT_ASCENDING;
  }
  if (entry.kind<Own>() <= Kind.SHORT) {
    if (!isBlock(entry.payload<Own>(), 1)) return Fault.BLOCK_MISPLACED;
    if (!isBlock(entry.payload<Own>(), entry.payloadBytes<Own>())) return Fault.BLOCK_MISPLACED;
  }
  return validateContainer(entry);
}

function validateContainer(entry: Entry): Fault {
  const payload = entry.payload<Own>(), count = entry.count<Own>();
  switch (entry.kind<Own>()) {
    case Kind.FULL: return Fault.NONE;
    case Kind.BITSET:
      if (count >= Container.UNIVERSE) return Fault.WRONG_FORM;
      left.select(SELF);
      return Bitset.cardinality(payload) == count ? Fault.NONE : Fault.BITSET_CARDINALITY;
    case Kind.RUNS: return count < Container.UNIVERSE ? Runs.check<Own>(payload, count) : Fault.WRONG_FORM;
    case Kind.SPARSE:
      if (Sparse.bytes<Own>(payload) > Container.SPARSE_MAX) return Fault.WRONG_FORM;
      return Sparse.isSound(payload, count) ? Fault.NONE : Fault.SPARSE_UNSOUND;
    case Kind.SHORT: {
      const words = ShortBitset.wordCount<Own>(payload);
      if (words > Container.SHORT_MAX
        || ShortBitset.firstWord<Own>(payload) + words > Container.UNIVERSE >> 6) {
        return Fault.WRONG_FORM;
      }
      return ShortBitset.isSound(payload, count) ? Fault.NONE : Fault.BITSET_CARDINALITY;
    }
    case Kind.ARRAY:
      if (count < 3 || !Container.isArraySized(count)) return Fault.WRONG_FORM;
      return isAscending<Own>(payload, count) ? Fault.NONE : Fault.ARRAY_NOT_ASCENDING;
    case Kind.SINGLE:
    case Kind.PAIR: return isAscending<Own>(payload, count) ? Fault.NONE : Fault.ARRAY_NOT_ASCENDING;
    default: return Fault.WRONG_FORM;
  }
}

function cardinalityBelow(node: Node): u64 {
  let members: u64 = 0;
  const inner = node.level<Own>() != 0;
  if (!inner && node.page.isPacked<Own>()) return node.page.count<Own>();
  for (let i: u32 = 0, n = node.count<Own>(); i < n; i++) {
    members += inner
      ? cardinalityBelow(node.slotAt(i).child<Own>())
      : node.entryAt(i).cardinality<Own>();
  }
  return members;
}

function entriesBelow(node: Node): u32 {
  if (!node.level<Own>()) {
    const count = node.count<Own>();
    return node.page.isPacked<Own>() ? PageGroups.between<Own>(node.page, 0, count) : count;
  }
  let entries: u32 = 0;
  for (let i: u32 = 0, n = node.count<Own>(); i < n; i++) {
    entries += entriesBelow(node.slotAt(i).child<Own>());
  }
  return entries;
}

/** Bytes of the node's block and of all blocks below it. */
function usedBelow(node: Node): usize {
  const level = node.level<Own>(), count = node.count<Own>();
  let bytes = Block.bytes(node.allocatedFor());
  if (!level && node.page.isPacked<Own>()) return bytes;
  for (let i: u32 = 0; i < count; i++) {
    if (level) { bytes += usedBelow(node.slotAt(i).child<Own>()); continue; }
    const held = node.entryAt(i).payloadBytes<Own>();
    if (held) bytes += Block.bytes(held);
  }
  return bytes;
}
