// The forms of an arena (arena.ts has their layouts): when a tiny one becomes a full one and how, when a full
// one should become a tiny one, and what either may give back of its memory.
//
//   tiny, one container         promoteContainer()      full, an ordinary leaf
//   tiny, a packed leaf         promoteToLeaves()       full, ordinary leaves    a container needs an entry
//   tiny, a packed leaf         promoteToPages()        full, pages              more than ITEMS_MAX members
//   full                        becomesTiny()           tiny                     rewritten by the host
//
// The way back goes through a copy (combine/rewrite.ts), for which the host asks wasteful() after a write.
// Each bound of the way back is half of what ends the tiny form, so that a bitmap whose size goes up and down
// does not change its form each time.

import { arena } from "../env/memory";
import { Own } from "../env/view";
import {
  FORM_FULL, FORM_TINY, HEADER_BYTES, ROOT, TINY_PAYLOAD, allocateFresh, allocatePage, blockBytes, bumpMark,
  entryTotal, freedBytes, isTiny, reserve, resetToEmpty, resetToFull, setBumpMark, setEntryTotal,
  setTotalCardinality, totalCardinality,
} from "./arena";
import { advance, firstEntry, placeEntry, seek } from "./directory";
import {
  TINY_ENTRY, entryCount, entryKind, entryPayload, keyOf, payloadBytes, plainCount, plainKey, plainKind,
  plainOffset, plainPayload, setBlock, setKey, setPosition, setTinyShort,
} from "./entry";
import { layLeaf, layPage, unpackInPlace } from "./leaf";
import { LEAF_MAX, entryAt, nodeBlock, nodeCount, slotAt, writeNode, writeSlot } from "./node";
import {
  ITEMS_MAX, PAGE_BYTES, appendItem, beginPacked, insertItem, isPacked, itemsUpTo, offsetAt, packedBytes,
  packedCount, packedWidth, pageItems, removeItems, widthOf, widthWith,
} from "./packed";
import { Kind, isArray } from "../container/kind";
import { SHORT_HEADER_BYTES, arrayBytes, shortBytes } from "../container/limits";
import { SHORT_HEADER, wordCount, wordsOf } from "../container/short";

/** Most members of a tiny arena's container. */
// @ts-ignore: decorator
@inline export const TINY_MAX: u32 = 32;
/** Most words of a tiny arena's short bitset: with them, the arena takes 256 bytes. */
// @ts-ignore: decorator
@inline export const TINY_WORDS: u32 = 30;

// --- Tiny: one container -----------------------------------------------------------------------------------

/** Makes the arena a tiny one of a container that a builder has written, if that can hold it. */
export function beginTiny(entry: usize): bool {
  const kind = plainKind<Own>(entry), members = plainCount<Own>(entry), payload = plainPayload<Own>(entry);
  if (kind == Kind.SHORT) return beginTinyShort(plainKey<Own>(entry), members, payload);
  if (!isArray(kind) || members > TINY_MAX) return false;
  const low = load<u64>(entry), high = load<u32>(entry, 8);
  if (kind == Kind.ARRAY) memory.copy(TINY_PAYLOAD, payload, arrayBytes(members));
  store<u32>(0, FORM_TINY | (1 << 16));
  store<u64>(TINY_ENTRY, low);
  store<u32>(TINY_ENTRY, high, 8);
  if (kind == Kind.ARRAY) setPosition(TINY_ENTRY, TINY_PAYLOAD);
  return true;
}

function beginTinyShort(key: u64, members: u32, payload: usize): bool {
  const header = load<u32>(payload), words = wordsOf(header);
  if (words > TINY_WORDS) return false;
  memory.copy(TINY_PAYLOAD, payload + SHORT_HEADER_BYTES, <usize>words << 3);
  store<u32>(0, FORM_TINY | (1 << 16));
  setKey(TINY_ENTRY, key);
  setTinyShort(TINY_ENTRY, members, header);
  return true;
}

/** Turns a tiny arena that is empty or has one container into a full one that holds the same set. */
export function promoteContainer(): void {
  const held = nodeCount<Own>(0);
  const kind = held ? entryKind<Own>(TINY_ENTRY) : Kind.SINGLE;
  const count = held ? entryCount<Own>(TINY_ENTRY) : 0;
  const low = load<u64>(TINY_ENTRY), high = load<u32>(TINY_ENTRY, 8);
  const header = kind == Kind.SHORT ? high & SHORT_HEADER : 0;
  const headerBytes: usize = header ? SHORT_HEADER_BYTES : 0;
  const bytes = header ? shortBytes(wordsOf(header)) : kind == Kind.ARRAY ? arrayBytes(count) : 0;
  const root = HEADER_BYTES, payload = root + nodeBlock(0, held);
  const top = payload + (bytes ? blockBytes(bytes) : 0);
  reserve(top);
  if (bytes) memory.copy(payload + headerBytes, TINY_PAYLOAD, bytes - headerBytes);
  if (header) store<u32>(payload, header);
  memory.fill(0, 0, HEADER_BYTES);
  store<u8>(0, <u8>FORM_FULL);
  store<u32>(0, <u32>root, ROOT);
  setBumpMark(top);
  setEntryTotal(held);
  setTotalCardinality(count);
  writeNode(root, 0, held);
  if (!held) return;
  const entry = entryAt(root, 0);
  store<u64>(entry, low);
  store<u32>(entry, high, 8);
  if (bytes) setBlock(entry, kind, count, payload);
}

// --- Tiny: a packed leaf -----------------------------------------------------------------------------------

/** Whether a tiny arena holds lone members only: one, or a packed leaf. */
// @ts-ignore: decorator
@inline export function isLone(): bool {
  return isPacked<Own>(0) || (nodeCount<Own>(0) == 1 && plainKind<Own>(TINY_ENTRY) == Kind.SINGLE);
}

/**
 * Inserts an offset, for whose key there is no entry, in a tiny arena of lone members.
 * Returns false if it is full.
 */
export function insertInTiny(offset: u64): bool {
  if (!isPacked<Own>(0)) {
    const other = plainOffset(TINY_ENTRY), first = min(offset, other), last = max(offset, other);
    reserve(packedBytes(widthOf(first, last), 2));
    beginPacked(0, first, last);
    appendItem(0, first);
    appendItem(0, last);
    return true;
  }
  const count = packedCount<Own>(0);
  if (count == ITEMS_MAX) return false;
  reserve(packedBytes(widthWith(0, offset), count + 1));
  insertItem(0, itemsUpTo<Own>(0, offset), offset);
  return true;
}

/** Removes the offsets in [low, high] from a tiny arena that is packed. */
export function clearTiny(low: u64, high: u64): void {
  const from = low ? itemsUpTo<Own>(0, low - 1) : 0, to = itemsUpTo<Own>(0, high);
  if (to > from) removeFromTiny(from, to - from);
}

/** Removes `items` items from a packed tiny arena, from `index` on. */
export function removeFromTiny(index: u32, items: u32): void {
  removeItems(0, index, items);
  const left = packedCount<Own>(0);
  if (!left) resetToEmpty();
  else if (left == 1) unpackInPlace(0);
}

/** Turns a tiny arena that is packed into a full one of ordinary leaves. */
export function promoteToLeaves(): void {
  const count = packedCount<Own>(0), parts = (count + LEAF_MAX - 1) / LEAF_MAX;
  const image = promotedImage(parts, nodeBlock(0, (count + parts - 1) / parts));
  const root = promotedRoot(parts);
  for (let part: u32 = 0; part < parts; part++) {
    const from = count * part / parts, to = count * (part + 1) / parts;
    placePart(root, part, image, from, to, layLeaf(image, from, to, allocateFresh(nodeBlock(0, to - from))));
  }
  setEntryTotal(count);
  setTotalCardinality(count);
}

/** Turns a tiny arena that is packed into a full one of pages that are three quarters full. */
export function promoteToPages(): void {
  const count = packedCount<Own>(0), most = pageItems(packedWidth<Own>(0)) / 4 * 3;
  const parts = (count + most - 1) / most;
  const image = promotedImage(parts + 1, PAGE_BYTES);         // one more: the first page is aligned
  const root = promotedRoot(parts);
  for (let part: u32 = 0; part < parts; part++) {
    const from = count * part / parts, to = count * (part + 1) / parts;
    placePart(root, part, image, from, to, layPage(image, from, to, allocatePage()));
  }
  setEntryTotal(count);
  setTotalCardinality(count);
}

/**
 * Copies the packed leaf of a tiny arena to where a full arena with `parts` leaves of `leafBytes` bytes ends,
 * and makes memory 0 a full arena. Returns the copy's address.
 */
function promotedImage(parts: u32, leafBytes: usize): usize {
  const held = packedBytes(packedWidth<Own>(0), packedCount<Own>(0));
  const above = parts > 1 ? nodeBlock(1, parts) : 0;
  const image = HEADER_BYTES + above + <usize>parts * leafBytes;
  reserve(image + held);
  memory.copy(image, 0, held);
  resetToFull();
  return image;
}

/** The node above `parts` leaves, 0 if a single leaf is the root. */
function promotedRoot(parts: u32): usize {
  if (parts == 1) return 0;
  const root = allocateFresh(nodeBlock(1, parts));
  writeNode(root, 1, parts);
  store<u32>(ROOT, <u32>root);
  return root;
}

/** Makes the leaf, which holds the image's items from .. to - 1, that of number `part` below the root. */
function placePart(root: usize, part: u32, image: usize, from: u32, to: u32, leaf: usize): void {
  if (root) writeSlot(slotAt(root, part), keyOf(offsetAt<Own>(image, from)), leaf, to - from);
  else store<u32>(ROOT, <u32>leaf);
}

// --- Giving memory back ------------------------------------------------------------------------------------

/**
 * 1 if the host should rewrite the arena:
 * a quarter of it, and more than a few small blocks, is free, or the tiny form would do.
 */
export function wasteful(): u32 {
  return u32(!isTiny<Own>() && (freedBytes() > (bumpMark() >> 2) + 64 || becomesTiny()));
}

/** A full arena with this many lone members or fewer becomes a tiny one ... */
// @ts-ignore: decorator
@inline const LONE_FEW: u32 = 32;
/**
 * ... but with more than this many only if their number is a multiple of it, so that the form seldom changes
 * back and forth as a second member comes and goes.
 */
// @ts-ignore: decorator
@inline const LONE_ALWAYS: u32 = 8;

/**
 * Whether a full arena should become a tiny one. A single container may have at most half of what a tiny
 * arena holds, so that the form does not change back and forth as the cardinality goes up and down.
 */
// @ts-ignore: decorator
@inline function becomesTiny(): bool {
  const entries = entryTotal<Own>();
  if (totalCardinality<Own>() != entries) return entries == 1 && becomesTinyContainer(firstEntry());
  if (entries > LONE_FEW || (entries > LONE_ALWAYS && entries & (LONE_ALWAYS - 1))) return false;
  return areSingle();
}

/** becomesTiny() for the only container. */
function becomesTinyContainer(entry: usize): bool {
  const kind = entryKind<Own>(entry);
  if (kind == Kind.SHORT) return wordCount<Own>(entryPayload<Own>(entry)) <= TINY_WORDS / 2;
  return isArray(kind) && entryCount<Own>(entry) <= TINY_MAX / 2;
}

/**
 * Whether all entries are SINGLE: a container may have one member left and still be runs,
 * which a tiny arena cannot hold.
 */
function areSingle(): bool {
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    if (entryKind<Own>(placeEntry(place)) != Kind.SINGLE) return false;
  }
  return true;
}

/**
 * A full arena keeps this many unused bytes, and as many as it uses: additions reserve more than they take.
 */
// @ts-ignore: decorator
@inline const SPARE_BYTES: u32 = 256;

/**
 * The bytes that memory 0 should be cut to after members were removed; 0 if it should stay.
 * What is cut off is at least half of it, so the cost is spread over the removals that led here.
 */
export function shrunkBytes(): u32 {
  const bytes = used(), spare = isTiny<Own>() ? <u32>0 : SPARE_BYTES;
  return 2 * <u64>bytes + spare <= arena.size() ? bytes : 0;
}

/** Bytes in use; the rest of memory 0 may be given back. */
export function used(): u32 {
  if (!isTiny<Own>()) return <u32>bumpMark();
  if (isPacked<Own>(0)) return <u32>packedBytes(packedWidth<Own>(0), packedCount<Own>(0));
  if (!nodeCount<Own>(0)) return <u32>TINY_PAYLOAD;
  const isShort = entryKind<Own>(TINY_ENTRY) == Kind.SHORT;
  return <u32>((isShort ? entryPayload<Own>(TINY_ENTRY) : TINY_PAYLOAD) + payloadBytes<Own>(TINY_ENTRY));
}
