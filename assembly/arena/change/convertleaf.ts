// Converts a leaf of the directory from one form to the other: ordinary leaves
// (arena/layout/node.ts) and packed ones (arena/packed/layout.ts). Nothing here knows of the nodes above.

import { Own } from "../../env/view";
import { Block, allocate, releaseTail } from "../layout/blocks";
import { Entry } from "../layout/entry";
import { Node } from "../layout/node";
import { PAGE_BYTES, keyAt, lowsFrom, packedBytes, packedCount } from "../packed/layout";
import { beginPage, copyMembers } from "../packed/begin";
import { groupEnd, groupsIn } from "../packed/groups";
import { Kind, prefersShort, wordsBetween } from "../../container/kind";
import { bitsetSet } from "../../container/bitset";
import { arrayBytes, shortBytes } from "../../container/limits";
import { clearShort, shortBase } from "../../container/short";

/** Writes members from .. to - 1 of the packed leaf `image` to a page. Returns it. */
export function layPage(image: usize, from: u32, to: u32, page: Node): usize {
  beginPage(changetype<usize>(page), keyAt<Own>(image, from), keyAt<Own>(image, to - 1), to - from);
  copyMembers(changetype<usize>(page), 0, image, from, to);
  return changetype<usize>(page);
}

// --- To an ordinary leaf -----------------------------------------------------------------------------------

/** Bytes of the blocks that groups of the packed leaf need as containers: those of members from .. to - 1. */
export function blocksOf(image: usize, from: u32, to: u32): usize {
  let bytes: usize = 0;
  for (let i = from, next = from; i < to; i = next) {
    next = groupEnd<Own>(image, i);
    bytes += blockOf(image, i, next);
  }
  return bytes;
}

/** Bytes of the block that the group of members from .. to - 1 needs as a container. */
function blockOf(image: usize, from: u32, to: u32): usize {
  const count = to - from;
  if (count <= 2) return 0;
  const words = wordsOfGroup(image, from, to);
  return Block.bytes(prefersShort(count, words) ? shortBytes(words) : arrayBytes(count));
}

/** Words of a bitset that the group of members from .. to - 1 spans. */
// @ts-ignore: decorator
@inline function wordsOfGroup(image: usize, from: u32, to: u32): u32 {
  const lows = lowsFrom<Own>(image, 0);
  return wordsBetween(load<u16>(lows + arrayBytes(from)), load<u16>(lows + arrayBytes(to - 1)));
}

/**
 * Writes the groups of members from .. to - 1 of the packed leaf `image` to an ordinary leaf, and their
 * blocks. There is room for these: blocksOf(). Returns the leaf.
 */
export function layLeaf(image: usize, from: u32, to: u32, leaf: Node): usize {
  leaf.write(0, groupsIn<Own>(image, from, to));
  for (let i = from, next = from, index: u32 = 0; i < to; i = next, index++) {
    next = groupEnd<Own>(image, i);
    const bytes = blockOf(image, i, next);
    layGroup(image, i, next, leaf.entryAt(index), bytes ? allocate(bytes) : 0);
  }
  return changetype<usize>(leaf);
}

/** Writes the group of members from .. to - 1 as an entry, with its block at `at` if it needs one. */
function layGroup(image: usize, from: u32, to: u32, entry: Entry, at: usize): void {
  const lows = lowsFrom<Own>(image, from), count = to - from, words = wordsOfGroup(image, from, to);
  if (count <= 2 || !prefersShort(count, words)) { layArray(image, from, to, entry, at); return; }
  entry.setKey(keyAt<Own>(image, from));
  clearShort(at, <u32>load<u16>(lows) >> 6, words);
  const bits = shortBase<Own>(at);
  for (let i: u32 = 0; i < count; i++) bitsetSet(bits, load<u16>(lows + arrayBytes(i)));
  entry.setBlock(Kind.SHORT, count, at);
}

/** layGroup() for a container that is an array in any case. */
function layArray(image: usize, from: u32, to: u32, entry: Entry, at: usize): void {
  const lows = lowsFrom<Own>(image, from), count = to - from;
  entry.setKey(keyAt<Own>(image, from));
  if (count == 1) entry.setSingle(load<u16>(lows));
  else if (count == 2) entry.setPair(load<u16>(lows), load<u16>(lows, 2));
  else {
    memory.copy(at, lows, arrayBytes(count));
    entry.setBlock(Kind.ARRAY, count, at);
  }
}

/**
 * Makes a page of few members an ordinary leaf of arrays, with their blocks, all within the page's block,
 * and releases the rest of that. Needs no memory.
 */
export function unpackWithin(page: Node): void {
  const members = packedCount<Own>(changetype<usize>(page)), bytes = (packedBytes<Own>(changetype<usize>(page)) + 7) & ~7;
  const image = changetype<usize>(page) + PAGE_BYTES - bytes;    // out of the way of what is written
  memory.copy(image, changetype<usize>(page), bytes);
  const entries = members ? groupsIn<Own>(image, 0, members) : 0;
  let at = changetype<usize>(page) + Node.block(0, entries);
  page.write(0, entries);
  for (let i: u32 = 0, next: u32 = 0, index: u32 = 0; i < members; i = next, index++) {
    next = groupEnd<Own>(image, i);
    layArray(image, i, next, page.entryAt(index), at);
    if (next - i > 2) at += Block.bytes(arrayBytes(next - i));
  }
  releaseTail(changetype<usize>(page), at - changetype<usize>(page), PAGE_BYTES);
}
