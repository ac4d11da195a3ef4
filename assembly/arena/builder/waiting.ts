// Small arrays that wait in the leaf buffer (state.ts) until it is known whether they become packed leaves or
// ordinary ones.

import { right } from "../../env/memory";
import { Own, Right } from "../../env/view";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Builder, writeLeaf } from "./state";
import { freedWithPages } from "../change/forms";
import { Allocator, Block } from "../layout/blocks";
import { Entry } from "../layout/entry";
import { Arena, Header } from "../layout/header";
import { Node } from "../layout/node";
import { PageWriter } from "../packed/begin";
import { PageGroups } from "../packed/groups";
import { Page } from "../packed/layout";

/** An ordinary leaf with this many entries or more may be ended before it is full. */
// @ts-ignore: decorator
@inline export const LEAF_LEAST: u32 = Node.LEAF_MAX / 2;
/** A packed leaf with more entries may be ended before it is full. */
// @ts-ignore: decorator
@inline export const ENTRIES_LEAST: u32 = 6;
/** When more than ITEMS_MAX members wait, leaves are written until no more than these are left. */
// @ts-ignore: decorator
@inline const WAITING_LEFT: u32 = Page.ITEMS_MAX / 2;

/**
 * Where the lows of the next small array are to be written; 0 if it must be appended as an ordinary entry.
 */
// @ts-ignore: decorator
@inline export function waitingRoom(): usize {
  const builder = Builder.current();
  if (!builder.isOrdinary()) {
    return builder.waitingLow(load<u32>(changetype<usize>(builder), Builder.LEAF_MEMBERS));
  }
  return load<u32>(changetype<usize>(builder), Builder.IN_LEAF) == Node.LEAF_MAX ? builder.waitingLow(0) : 0;
}

/**
 * Appends a small array of `count` members, which stand at waitingRoom(), as container `key`, which is
 * greater than all before.
 */
export function appendSmall(key: u64, count: u32): void {
  if (Builder.current().isOrdinary()) writeLeaf(false);
  // a full one, behind which small arrays wait again
  const builder = Builder.current();
  builder.newEntry(key, count).setBlock(Kind.ARRAY, count, 0);
  if (count > 2) store<u32>(changetype<usize>(builder), 1, Builder.NEED_BLOCKS);
  if (load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS) > Page.ITEMS_MAX) {
    writeWaiting(WAITING_LEFT);
  }
}

/** Writes arrays that wait as leaves until at most `left` members are left. */
export function writeWaiting(left: u32): void {
  let builder = Builder.current(), entry: u32 = 0, member: u32 = 0;
  const entries = load<u32>(changetype<usize>(builder), Builder.IN_LEAF),
    members = <u32>load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS);
  const packs = packingPays(builder, entries, members);
  while (members - member > left) {
    const first = entry, from = member;
    if (packs && pagePays()) {
      const lone = entries == members ? loneInPage(builder, first, entries) : 0;
      entry += lone;
      member += lone;
      while (entry < entries && fitsPage(builder, first, entry, member - from)) {
        member += builder.bufferedEntry(entry++).plainCount<Own>();
      }
      writePage(first, entry, from, member);
    } else {
      for (const end = min(entries, first + Node.LEAF_MAX); entry < end; entry++) {
        member += builder.bufferedEntry(entry).plainCount<Own>();
      }
      writeSmall(first, entry, from, member);
    }
    builder = Builder.current();
  }
  const rest = entries - entry;
  memory.copy(changetype<usize>(builder.bufferedEntry(0)), changetype<usize>(builder.bufferedEntry(entry)),
    <usize>rest * Entry.BYTES);
  memory.copy(builder.waitingLow(0), builder.waitingLow(member), Container.arrayBytes(members - member));
  store<u32>(changetype<usize>(builder), rest, Builder.IN_LEAF);
  store<u64>(changetype<usize>(builder), members - member, Builder.LEAF_MEMBERS);
}

/** Whether pages take less than ordinary leaves and their blocks for all arrays that wait. */
function packingPays(builder: Builder, entries: u32, members: u32): bool {
  const most = PageWriter.pageMembers(builder.bufferedEntry(0).plainKey<Own>(),
    builder.bufferedEntry(entries - 1).plainKey<Own>());
  return <u64>members * Page.BYTES < <u64>most * waitingBytes(builder, 0, entries);
}

/** Bytes of the arrays from .. to - 1 that wait as ordinary entries with their blocks. */
function waitingBytes(builder: Builder, from: u32, to: u32): usize {
  return <usize>(to - from) * Entry.BYTES + blocksOfWaiting(builder, from, to);
}

export function blocksOfWaiting(builder: Builder, from: u32, to: u32): usize {
  let bytes: usize = 0;
  if (!load<u32>(changetype<usize>(builder), Builder.NEED_BLOCKS)) return 0;
  for (let i = from; i < to; i++) {
    const count = builder.bufferedEntry(i).plainCount<Own>();
    if (count > 2) bytes += Block.bytes(Container.arrayBytes(count));
  }
  return bytes;
}

/** How many arrays from `first` on a page certainly holds if each has one member. */
function loneInPage(builder: Builder, first: u32, entries: u32): u32 {
  const key = builder.bufferedEntry(first).plainKey<Own>();
  let held = entries - first, fits: u32 = 0;
  while (fits < held) {
    if (fits) held = fits;
    fits = PageWriter.pageMembers(key, builder.bufferedEntry(first + held - 1).plainKey<Own>());
  }
  return held;
}

/** Whether a page that begins with array `first` and has `members` members also holds array `entry`. */
// @ts-ignore: decorator
@inline function fitsPage(builder: Builder, first: u32, entry: u32, members: u32): bool {
  const next = builder.bufferedEntry(entry), least = builder.bufferedEntry(first).plainKey<Own>();
  return members + next.plainCount<Own>() <= PageWriter.pageMembers(least, next.plainKey<Own>());
}

/** Allocates a page. What would be alignment padding of the first page is room for a root. */
function nextPage(): Node {
  if (Header.bump() == Header.BYTES) {
    Allocator.allocateFresh(Node.ROOMY_INNER);
    store<u32>(Arena.heldAt(), Header.BYTES, Builder.ROOM_FOR_ROOT);
  }
  return changetype<Node>(Allocator.allocatePage());
}

/** Writes a page of the arrays first .. last - 1 that wait, which have the members from .. to - 1. */
function writePage(first: u32, last: u32, from: u32, to: u32): void {
  const page = nextPage(), builder = Builder.current();
  const key = builder.bufferedEntry(first).plainKey<Own>();
  PageWriter.beginPage(page.page, key, builder.bufferedEntry(last - 1).plainKey<Own>(), to - from);
  memory.copy(page.page.lowsFrom<Own>(0), builder.waitingLow(from), Container.arrayBytes(to - from));
  putWaitingKeys(page, builder, first, last);
  Builder.addLeaf(page, key, to - from);
}

/** Writes the keys of the arrays first .. last - 1 that wait to a packed leaf. */
export function putWaitingKeys(leaf: Node, builder: Builder, first: u32, last: u32): void {
  let highs = PageWriter.beginKeys(leaf.page), entry = builder.bufferedEntry(first);
  const width = PageWriter.highBytes(leaf.page), base = PageWriter.leafBase(leaf.page);
  if (!width) return;
  for (const end = builder.bufferedEntry(last); changetype<usize>(entry) < changetype<usize>(end);
    entry = entry.following) {
    highs = PageWriter.putHighs(highs, width, entry.plainKey<Own>() - base, entry.plainCount<Own>());
  }
}

/**
 * Writes an ordinary leaf of the arrays first .. last - 1 that wait, which have the members from .. to - 1.
 */
function writeSmall(first: u32, last: u32, from: u32, to: u32): void {
  settleWaiting(first, last, from);
  const leaf = changetype<Node>(Allocator.allocateFresh(Node.block(0, last - first))),
    builder = Builder.current();
  const entries = builder.bufferedEntry(first);
  Builder.layEntries(leaf, changetype<usize>(entries), last - first);
  Builder.addLeaf(leaf, entries.plainKey<Own>(), to - from);
}

/** Gives the arrays first .. last - 1 that wait, whose members begin with `member`, entries as in a leaf. */
function settleWaiting(first: u32, last: u32, member: u32): void {
  Arena.makeRoom(blocksOfWaiting(Builder.current(), first, last));
  const builder = Builder.current();
  for (let i = first; i < last; i++) {
    const entry = builder.bufferedEntry(i), count = entry.plainCount<Own>();
    const lows = builder.waitingLow(member);
    if (count == 1) entry.setSingle(load<u16>(lows));
    else if (count == 2) entry.setPair(load<u16>(lows), load<u16>(lows, 2));
    else {
      const at = Allocator.allocateFresh(Block.bytes(Container.arrayBytes(count)));
      memory.copy(at, lows, Container.arrayBytes(count));
      entry.setBlock(Kind.ARRAY, count, at);
    }
    member += count;
  }
}

/** Makes the leaf buffer one of ordinary entries: arrays that wait are written, or get ordinary entries. */
export function makeOrdinary(): void {
  let builder = Builder.current(),
    entries = load<u32>(changetype<usize>(builder), Builder.IN_LEAF);
  if (entries >= LEAF_LEAST) {
    writeWaiting(LEAF_LEAST - 1);
    builder = Builder.current();
    entries = load<u32>(changetype<usize>(builder), Builder.IN_LEAF);
  }
  if (entries) settleWaiting(0, entries, 0);
  store<u32>(Arena.heldAt(), 1, Builder.ORDINARY);
}

/**
 * Appends a copy of a page, which `right` shows, if it would be written again as it is: nothing waits, and it
 * is neither small, nor wider than it need be, nor larger than ordinary entries. Its keys are greater than all
 * before.
 */
export function appendPage(page: Page): bool {
  const count = page.count<Right>();
  if (load<u32>(Arena.heldAt(), Builder.IN_LEAF) || count < LEAF_LEAST || !pagePays()) return false;
  const first = page.keyAt<Right>(0), last = page.keyAt<Right>(count - 1);
  const most = PageWriter.pageMembers(first, last), groups = PageGroups.between<Right>(page, 0, count);
  if (groups <= ENTRIES_LEAST || most != PageWriter.pageCapacity(page.form<Right>())
    || groups * <u32>Entry.BYTES * most <= count * <u32>Page.BYTES) return false;
  const copy = nextPage();
  right.copy(changetype<usize>(copy), changetype<usize>(page), page.bytes<Right>());
  Builder.current().countPage(groups, count, last);
  Builder.addLeaf(copy, first, count);
  return true;
}

/**
 * Lets copies of the arrays of a page, which `right` shows, wait behind others if each has one member and there
 * is room. Its keys are greater than all before.
 */
export function appendLone(page: Page): bool {
  const builder = Builder.current(), at = changetype<usize>(builder), count = page.count<Right>();
  const held = load<u32>(at, Builder.IN_LEAF), members = load<u64>(at, Builder.LEAF_MEMBERS);
  if (builder.isOrdinary() || held + count > load<u32>(at, Builder.LEAF_ROOM)
    || members + count > Page.ITEMS_MAX || PageGroups.between<Right>(page, 0, count) < count) return false;
  right.copy(builder.waitingLow(<u32>members), page.lowsFrom<Right>(0), Container.arrayBytes(count));
  for (let i: u32 = 0, entry = builder.bufferedEntry(held); i < count; i++, entry = entry.following) {
    entry.setKey(page.keyAt<Right>(i));
    entry.setBlock(Kind.ARRAY, 1, 0);
  }
  store<u32>(at, held + count, Builder.IN_LEAF);
  store<u32>(at, load<u32>(at, Builder.ENTRIES) + count, Builder.ENTRIES);
  Builder.countAppended(builder, count);
  return true;
}

/** Whether the padding before another page is so small that the arena does not become wasteful. */
function pagePays(): bool {
  const mark = Header.bump(), at = Allocator.pageAfter(mark);
  return Header.freed() + (at - mark) <= freedWithPages(at + Page.BYTES);
}
