// A node of the directory: its layout, and the size of its block.
//
//   node   +0  u8  level: 0 for a leaf, otherwise one more than its children's
//          +1  u8  1 for a roomy node, at least 16 for a packed leaf
//          +2  u16 count: entries or slots; members in a packed leaf
//   leaf   +4  entries, 12 bytes each, at most LEAF_MAX (entry.ts)
//   inner  +4  slots, 20 bytes each, at most INNER_MAX:
//                +0  u64 key: the least key below the child
//                +8  u32 child
//                +12 u64 cardinality of everything below the child
//
// A packed leaf has a layout of its own (arena/packed/layout.ts),
// and in a full arena its block is a page of PAGE_BYTES bytes.
//
// A node's block fits what the node holds, not what it could hold; large blocks grow in
// steps. Roomy nodes are the exception. The block of a roomy leaf has room for LEAF_MAX entries;
// arena/change/insert.ts says which leaves become roomy, and why. That of a roomy inner node has room for
// ROOMY_SLOTS slots: the root above the first pages grows where it is, below them (arena/change/forms.ts).

import { view8, view16, view32, view64, Own } from "../../env/view";
import { ROOT, isTiny } from "./header";
import { blockBytes } from "./blocks";
import { ENTRY_BYTES, KEY_MAX } from "./entry";
import { PAGE_BYTES, groupEntry, isPacked, keyAt } from "../packed/layout";

// @ts-ignore: decorator
@inline export const LEAF_MAX: u32 = 254;
// @ts-ignore: decorator
@inline export const INNER_MAX: u32 = 126;
// @ts-ignore: decorator
@inline const LEVEL: u32 = 0;
// @ts-ignore: decorator
@inline const ROOMY: u32 = 1;
// @ts-ignore: decorator
@inline const COUNT: u32 = 2;
// @ts-ignore: decorator
@inline export const NODE_HEADER: usize = 4;
// @ts-ignore: decorator
@inline export const SLOT_BYTES: usize = 20;
/** More levels than the 2^48 keys can ever need. */
// @ts-ignore: decorator
@inline export const NODE_LEVELS_MAX: u32 = 16;

// @ts-ignore: decorator
@inline export function rootNode<M>(): usize { return isTiny<M>() ? 0 : <usize>view32<M>(0, ROOT); }
// @ts-ignore: decorator
@inline export function nodeLevel<M>(node: usize): u32 { return view8<M>(node, LEVEL); }
// @ts-ignore: decorator
@inline export function isRoomy(node: usize): bool { return load<u8>(node, ROOMY) == 1; }
// @ts-ignore: decorator
@inline export function setRoomy(node: usize, roomy: bool): void { store<u8>(node, u8(roomy), ROOMY); }
// @ts-ignore: decorator
@inline export function nodeCount<M>(node: usize): u32 { return view16<M>(node, COUNT); }
// @ts-ignore: decorator
@inline export function setNodeCount(node: usize, count: u32): void { store<u16>(node, <u16>count, COUNT); }
/** Writes the header of a node that is not roomy. */
// @ts-ignore: decorator
@inline export function writeNode(node: usize, level: u32, count: u32): void {
  store<u32>(node, level | (count << 16));
}

// @ts-ignore: decorator
@inline export function entryAt(leaf: usize, index: u32): usize {
  return leaf + NODE_HEADER + <usize>index * ENTRY_BYTES;
}

/** entryAt() for a leaf that may be packed: then `index` is that of the group's first member. */
// @ts-ignore: decorator
@inline export function entryIn<M>(leaf: usize, index: u32): usize {
  return isPacked<M>(leaf) ? groupEntry(leaf, index) : entryAt(leaf, index);
}

// @ts-ignore: decorator
@inline export function slotAt(node: usize, index: u32): usize {
  return node + NODE_HEADER + <usize>index * SLOT_BYTES;
}

// @ts-ignore: decorator
@inline export function slotKey<M>(slot: usize): u64 { return view64<M>(slot, 0); }
// @ts-ignore: decorator
@inline export function slotChild<M>(slot: usize): usize { return <usize>view32<M>(slot, 8); }
// @ts-ignore: decorator
@inline export function slotCardinality<M>(slot: usize): u64 { return view64<M>(slot, 12); }
// @ts-ignore: decorator
@inline export function slotLink(slot: usize): usize { return slot + 8; }

// @ts-ignore: decorator
@inline export function addToSlot(slot: usize, members: i64): void {
  store<u64>(slot, load<u64>(slot, 12) + members, 12);
}

export function writeSlot(slot: usize, key: u64, child: usize, cardinality: u64): void {
  store<u64>(slot, key);
  store<u32>(slot, <u32>child, 8);
  store<u64>(slot, cardinality, 12);
}

/**
 * Blocks of leaves larger than this grow in steps of NODE_STEP,
 * so that a leaf that fills up moves four times and not forty.
 */
// @ts-ignore: decorator
@inline export const NODE_SMALL: usize = 1024;
// @ts-ignore: decorator
@inline const NODE_STEP: usize = 512;
/** An inner node larger than this gets a block of PAGE_BYTES, and then one for INNER_MAX slots. */
// @ts-ignore: decorator
@inline const INNER_SMALL: usize = 256;
/** Bytes of a full inner node. */
// @ts-ignore: decorator
@inline const INNER_BYTES: usize = NODE_HEADER + <usize>INNER_MAX * SLOT_BYTES;

/** Bytes to allocate for a node with `count` entries or slots that is not roomy. */
// @ts-ignore: decorator
@inline export function nodeBytes(level: u32, count: u32): usize {
  const bytes = NODE_HEADER + <usize>count * (level ? SLOT_BYTES : ENTRY_BYTES);
  if (!level) return bytes <= NODE_SMALL ? bytes : (bytes + NODE_STEP - 1) & ~(NODE_STEP - 1);
  return bytes <= INNER_SMALL ? bytes : bytes <= PAGE_BYTES ? PAGE_BYTES : INNER_BYTES;
}

/** Bytes to allocate for a roomy leaf. A full leaf takes as many. */
// @ts-ignore: decorator
@inline export const ROOMY_BYTES: usize = 3072;
/** Bytes to allocate for a roomy inner node, of up to ROOMY_SLOTS slots. */
// @ts-ignore: decorator
@inline export const ROOMY_INNER: usize = 576;
// @ts-ignore: decorator
@inline export const ROOMY_SLOTS: u32 = 28;
/** Bytes that the node was allocated for. */
// @ts-ignore: decorator
@inline export function allocatedFor(node: usize): usize {
  return !nodeLevel<Own>(node) && isPacked<Own>(node) ? PAGE_BYTES : ordinaryBytes(node);
}
/** Bytes that the node, which is no page, was allocated for. */
// @ts-ignore: decorator
@inline export function ordinaryBytes(node: usize): usize {
  const level = nodeLevel<Own>(node);
  if (isRoomy(node)) return level ? ROOMY_INNER : ROOMY_BYTES;
  return nodeBytes(level, nodeCount<Own>(node));
}

/** Bytes of that node's block. */
// @ts-ignore: decorator
@inline export function nodeBlock(level: u32, count: u32): usize {
  return blockBytes(nodeBytes(level, count));
}

// @ts-ignore: decorator
@inline export function itemBytes(node: usize): usize {
  return nodeLevel<Own>(node) ? SLOT_BYTES : ENTRY_BYTES;
}

// @ts-ignore: decorator
@inline export function isFull(node: usize): bool {
  return nodeCount<Own>(node) >= (nodeLevel<Own>(node) ? INNER_MAX : LEAF_MAX);
}

/** The least key of the node's first item. */
// @ts-ignore: decorator
@inline export function firstKey(node: usize): u64 {
  return !nodeLevel<Own>(node) && isPacked<Own>(node)
    ? keyAt<Own>(node, 0)
    : load<u64>(node, NODE_HEADER) & KEY_MAX;
}
