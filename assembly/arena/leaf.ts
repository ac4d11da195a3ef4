// What the leaves of the directory hold, moved from one form of a leaf to another: ordinary leaves
// (node.ts) and packed ones (packed.ts). Nothing here allocates or knows of the nodes above.

import { Own } from "../env/view";
import { ENTRY_BYTES, keyOf, lowOf, plainOffset, setKey, setSingle } from "./entry";
import { entryAt, writeNode } from "./node";
import { appendItem, beginPacked, offsetAt, packedCount } from "./packed";

/** Makes the entry the container of a single offset. */
// @ts-ignore: decorator
@inline export function writeLone(entry: usize, offset: u64): void {
  setKey(entry, keyOf(offset));
  setSingle(entry, lowOf(offset));
}

/** Writes items from .. to - 1 of the packed leaf `image` to a page. Returns it. */
export function layPage(image: usize, from: u32, to: u32, page: usize): usize {
  beginPacked(page, offsetAt<Own>(image, from), offsetAt<Own>(image, to - 1));
  for (let i = from; i < to; i++) appendItem(page, offsetAt<Own>(image, i));
  return page;
}

/** Writes items from .. to - 1 of the packed leaf `image` to an ordinary leaf. Returns it. */
export function layLeaf(image: usize, from: u32, to: u32, leaf: usize): usize {
  writeNode(leaf, 0, to - from);
  for (let i = from; i < to; i++) writeLone(entryAt(leaf, i - from), offsetAt<Own>(image, i));
  return leaf;
}

/** Writes a packed leaf of the `count` lone members whose entries begin at `entries`. */
export function packEntries(leaf: usize, entries: usize, count: u32): void {
  const last = entries + <usize>(count - 1) * ENTRY_BYTES;
  beginPacked(leaf, plainOffset(entries), plainOffset(last));
  for (let entry = entries; entry <= last; entry += ENTRY_BYTES) appendItem(leaf, plainOffset(entry));
}

/**
 * Makes a packed leaf of few items an ordinary one within its block.
 * Each entry overwrites only items that have been read.
 */
export function unpackInPlace(leaf: usize): void {
  const count = packedCount<Own>(leaf);
  const first = count ? offsetAt<Own>(leaf, 0) : 0, second = count > 1 ? offsetAt<Own>(leaf, 1) : 0;
  for (let i = count; i > 2; i--) writeLone(entryAt(leaf, i - 1), offsetAt<Own>(leaf, i - 1));
  if (count > 1) writeLone(entryAt(leaf, 1), second);
  if (count) writeLone(entryAt(leaf, 0), first);
  writeNode(leaf, 0, count);
}
