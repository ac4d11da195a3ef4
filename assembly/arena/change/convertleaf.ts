// Converts a leaf of the directory from one form to the other: ordinary leaves
// (arena/layout/node.ts) and packed ones (arena/packed/layout.ts). Nothing here knows of the nodes above.

import { Own } from "../../env/view";
import { Allocator, Block } from "../layout/blocks";
import { Entry } from "../layout/entry";
import { Node } from "../layout/node";
import { Page } from "../packed/layout";
import { PageWriter, copyMembers } from "../packed/begin";
import { PageGroups } from "../packed/groups";
import { Choice, Kind } from "../../container/kind";
import { Bitset } from "../../container/bitset";
import { Container } from "../../container/limits";
import { ShortBitset } from "../../container/short";

/** Writes members from .. to - 1 of the packed leaf `image` to a page. Returns it. */
export function layPage(image: Page, from: u32, to: u32, page: Node): usize {
  PageWriter.beginPage(page.page, image.keyAt<Own>(from), image.keyAt<Own>(to - 1), to - from);
  copyMembers(page.page, 0, image, from, to);
  return changetype<usize>(page);
}

// --- To an ordinary leaf -----------------------------------------------------------------------------------

/** Bytes of the blocks that groups of the packed leaf need as containers: those of members from .. to - 1. */
export function blocksOf(image: Page, from: u32, to: u32): usize {
  let bytes: usize = 0;
  for (let i = from, next = from; i < to; i = next) {
    next = PageGroups.end<Own>(image, i);
    bytes += blockOf(image, i, next);
  }
  return bytes;
}

/** Bytes of the block that the group of members from .. to - 1 needs as a container. */
function blockOf(image: Page, from: u32, to: u32): usize {
  const count = to - from;
  if (count <= 2) return 0;
  const words = wordsOfGroup(image, from, to);
  return Block.bytes(Choice.prefersShort(count, words) ? Container.shortBytes(words)
    : Container.arrayBytes(count));
}

/** Words of a bitset that the group of members from .. to - 1 spans. */
// @ts-ignore: decorator
@inline function wordsOfGroup(image: Page, from: u32, to: u32): u32 {
  const lows = image.lowsFrom<Own>(0);
  return Choice.wordsBetween(load<u16>(lows + Container.arrayBytes(from)),
    load<u16>(lows + Container.arrayBytes(to - 1)));
}

/**
 * Writes the groups of members from .. to - 1 of the packed leaf `image` to an ordinary leaf, and their
 * blocks. There is room for these: blocksOf(). Returns the leaf.
 */
export function layLeaf(image: Page, from: u32, to: u32, leaf: Node): usize {
  leaf.write(0, PageGroups.between<Own>(image, from, to));
  for (let i = from, next = from, index: u32 = 0; i < to; i = next, index++) {
    next = PageGroups.end<Own>(image, i);
    const bytes = blockOf(image, i, next);
    layGroup(image, i, next, leaf.entryAt(index), bytes ? Allocator.allocate(bytes) : 0);
  }
  return changetype<usize>(leaf);
}

/** Writes the group of members from .. to - 1 as an entry, with its block at `at` if it needs one. */
function layGroup(image: Page, from: u32, to: u32, entry: Entry, at: usize): void {
  const lows = image.lowsFrom<Own>(from), count = to - from, words = wordsOfGroup(image, from, to);
  if (count <= 2 || !Choice.prefersShort(count, words)) { layArray(image, from, to, entry, at); return; }
  entry.setKey(image.keyAt<Own>(from));
  ShortBitset.clear(at, ShortBitset.header(<u32>load<u16>(lows) >> 6, words));
  const bits = ShortBitset.base<Own>(at);
  for (let i: u32 = 0; i < count; i++) Bitset.set(bits, load<u16>(lows + Container.arrayBytes(i)));
  entry.setBlock(Kind.SHORT, count, at);
}

/** layGroup() for a container that is an array in any case. */
function layArray(image: Page, from: u32, to: u32, entry: Entry, at: usize): void {
  const lows = image.lowsFrom<Own>(from), count = to - from;
  entry.setKey(image.keyAt<Own>(from));
  if (count == 1) entry.setSingle(load<u16>(lows));
  else if (count == 2) entry.setPair(load<u16>(lows), load<u16>(lows, 2));
  else {
    memory.copy(at, lows, Container.arrayBytes(count));
    entry.setBlock(Kind.ARRAY, count, at);
  }
}

/**
 * Makes a page of few members an ordinary leaf of arrays, with their blocks, all within the page's block,
 * and releases the rest of that. Needs no memory.
 */
export function unpackWithin(page: Node): void {
  const members = page.page.count<Own>(), bytes = (page.page.bytes<Own>() + 7) & ~7;
  const image = changetype<Page>(changetype<usize>(page) + Page.BYTES - bytes);
  // out of the way of what is written
  memory.copy(changetype<usize>(image), changetype<usize>(page), bytes);
  const entries = members ? PageGroups.between<Own>(image, 0, members) : 0;
  let at = changetype<usize>(page) + Node.block(0, entries);
  page.write(0, entries);
  for (let i: u32 = 0, next: u32 = 0, index: u32 = 0; i < members; i = next, index++) {
    next = PageGroups.end<Own>(image, i);
    layArray(image, i, next, page.entryAt(index), at);
    if (next - i > 2) at += Block.bytes(Container.arrayBytes(next - i));
  }
  Allocator.releaseTail(changetype<usize>(page), at - changetype<usize>(page), Page.BYTES);
}
