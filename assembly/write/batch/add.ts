// Adding many offsets in one call: stretches (stretch.ts) are merged into their containers in one pass, other
// offsets are added one by one.
//
// The values handed back are the offsets that were absent. If memory runs out while a list is added, the host
// takes back exactly those (write/undo.ts).

import { argument } from "../../env/memory";
import { Own } from "../../env/view";
import { Allocator, Block } from "../../arena/layout/blocks";
import { Header } from "../../arena/layout/header";
import { Entry, Offset } from "../../arena/layout/entry";
import { Directory } from "../../arena/read/directory";
import { insertEntry, adjust } from "../../arena/change/insert";
import { Room } from "../../arena/change/room";
import { loosen } from "../../arena/change/pages";
import { PageGroups } from "../../arena/packed/groups";
import { PageSearch } from "../../arena/packed/search";
import { convertTo, intoBuckets, intoShort, wordsWith } from "../convert";
import { countUp } from "../edit";
import { insertRevocable } from "../point";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Arrays, arrayLowerBound } from "../../container/array";
import { Buckets } from "../../container/buckets";
import { Bitset } from "../../container/bitset";
import { ShortBitset } from "../../container/short";
import { widenTo } from "../short";
import { STRETCH_LEAST, stretchEnd } from "./stretch";
/**
 * With this many old members or more for each new one, places are found by searching, and the members between
 * them are moved at once.
 */
// @ts-ignore: decorator
@inline const FAR_APART: u32 = 16;

/**
 * Adds the call's arguments first .. first + count - 1, hands back those that were absent, and
 * returns how many those are. The caller then calls settle(), or takeBack() if this or a later call
 * for the same list runs out of memory.
 */
export function addAll(first: u32, count: u32): u64 {
  const end = first + count;
  let added: u32 = 0;
  for (let i = first; i < end;) {
    const key = Offset.key(argument.value(i)), to = Header.isTiny<Own>() ? i + 1 : stretchEnd(i, end);
    if (to - i >= STRETCH_LEAST && !staysInPage(key, to - i)) {
      loosen(key, key);
      const entry = Directory.find(key);
      if (!entry || takesStretch(entry, Offset.low(argument.value(i)), Offset.low(argument.value(to - 1)))) {
        added += addStretch(entry, key, i, to, added);
        i = to;
      }
    }
    for (; i < to; i++) {
      const offset = argument.value(i);
      if (!insertRevocable(offset)) continue;
      argument.handBack(offset);
      added++;
    }
  }
  return added;
}

/** Whether container `key` is or would be a group in a page, and remains small with `more` members. */
function staysInPage(key: u64, more: u32): bool {
  const leaf = Directory.leafFor<Own>(key);
  return leaf.page.isPacked<Own>()
    && PageSearch.membersUpTo<Own>(leaf.page, key) - PageSearch.membersBeforeKey<Own>(leaf.page, key)
    + more <= PageGroups.MAX / 2;
}

/** Whether a stretch from `low` to `high` is worth a pass over the entry's container. */
function takesStretch(entry: Entry, low: u32, high: u32): bool {
  const kind = entry.kind<Own>();
  return kind != Kind.RUNS && (kind != Kind.SHORT || widenTo(entry, low, high));
}

/**
 * Adds the stretch of arguments from .. to - 1 to the container `key` of a full arena, which `entry` covers,
 * 0 if none does. Hands back those that were absent and returns how many; `earlier` values were handed back
 * before. The new ones are then read again from there.
 */
function addStretch(entry: Entry, key: u64, from: u32, to: u32, earlier: u32): u32 {
  const kind = entry ? entry.kind<Own>() : Kind.ARRAY;
  if (kind == Kind.FULL) return 0;
  if (Choice.isInWords(kind)) return addToBitset(entry, key, from, to);
  if (kind == Kind.BUCKETS) return addToBuckets(entry, key, from, to, earlier);
  // If memory runs out below, offsets were handed back that were not added. Undoing those removes nothing.
  const more = handBackAbsent(entry, from, to);
  if (!more) return 0;
  const count = entry ? entry.count<Own>() : 0, all = count + more;
  const low = Offset.low(argument.value(earlier)), high = Offset.low(argument.value(earlier + more - 1));
  if (Choice.prefersShort(all, entry ? wordsWith(entry, low, high) : Choice.wordsBetween(low, high))) {
    if (entry) intoShort(entry, low, high); else entry = changetype<Entry>(insertShort(key, low, high, more));
    setNew(entry, earlier, more, all);
  } else if (!entry) {
    Allocator.prepare(Room.toInsert(key, 1) + Block.bytes(Container.arrayBytes(all)));
    entry = insertEntry(key);
    entry.setBlock(Kind.ARRAY, all, Allocator.allocate(Container.arrayBytes(all)));
    mergeIntoArray(entry.payload<Own>(), 0, earlier, more);
  } else {
    addNew(entry, earlier, more);
  }
  adjust(key, more);
  if (
    all >= Choice.BUCKETS_FROM
    && Block.bytes(Container.arrayBytes(count + 1)) != Block.bytes(Container.arrayBytes(all))
    && entry.kind<Own>() == Kind.ARRAY
  ) {
    intoBuckets(entry);
  }
  return more;
}

/**
 * Adds the values handed back as numbers
 * earlier .. earlier + more - 1 to the entry's array, which has none of them.
 */
function addNew(entry: Entry, earlier: u32, more: u32): void {
  const old = entry.payload<Own>(), count = entry.count<Own>(), all = count + more;
  if (!Container.isArraySized(all)) {
    convertTo(entry, Kind.BITSET);
    setNew(entry, earlier, more, all);
    return;
  }
  let at: usize;
  if (entry.kind<Own>() == Kind.ARRAY) {
    at = Allocator.resize(old, Container.arrayBytes(count), Container.arrayBytes(all));
  } else {
    at = Allocator.allocate(Container.arrayBytes(all));
    store<u32>(at, load<u32>(old));           // one or two members
  }
  entry.setBlock(Kind.ARRAY, all, at);
  mergeIntoArray(at, count, earlier, more);
}

/** Inserts an entry for `key` of `count` members with a short bitset, still clear, from `low` to `high`. */
function insertShort(key: u64, low: u32, high: u32, count: u32): usize {
  const words = Choice.wordsBetween(low, high), bytes = Container.shortBytes(words);
  Allocator.prepare(Room.toInsert(key, 1) + Block.bytes(bytes));
  const entry = insertEntry(key), at = Allocator.allocate(bytes);
  ShortBitset.clear(at, ShortBitset.header(low >> 6, words));
  entry.setBlock(Kind.SHORT, count, at);
  return changetype<usize>(entry);
}

/** The address of the entry's bitset, or that of the base of its short bitset. */
// @ts-ignore: decorator
@inline function bitsOf(entry: Entry): usize {
  const payload = entry.payload<Own>();
  return entry.kind<Own>() == Kind.SHORT ? ShortBitset.base<Own>(payload) : payload;
}

/**
 * Adds the values handed back as numbers
 * earlier .. earlier + more - 1 to the entry's bitset or short bitset, which then has `all`.
 */
function setNew(entry: Entry, earlier: u32, more: u32, all: u32): void {
  const bits = bitsOf(entry);
  for (let i = earlier; i < earlier + more; i++) Bitset.set(bits, Offset.low(argument.value(i)));
  entry.setCount(all);
}

/** addStretch() for buckets. */
function addToBuckets(entry: Entry, key: u64, from: u32, to: u32, earlier: u32): u32 {
  const payload = entry.payload<Own>(), count = entry.count<Own>();
  let more: u32 = 0, high: u32 = 0, lows = payload;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = Offset.low(offset);
    lows = Buckets.from(payload, count, high, lows, low >> 8);
    high = low >> 8;
    if (Buckets.bucketHas(payload, count, lows, low)) continue;
    argument.handBack(offset);
    more++;
  }
  if (!more) return 0;
  const least = Offset.low(argument.value(earlier)),
    greatest = Offset.low(argument.value(earlier + more - 1));
  if (Choice.prefersShort(count + more, wordsWith(entry, least, greatest))) {
    intoShort(entry, least, greatest);
    setNew(entry, earlier, more, count + more);
  } else if (!Container.isArraySized(count + more)) {
    convertTo(entry, Kind.BITSET);
    setNew(entry, earlier, more, count + more);
  } else if (bucketsHaveRoomForNew(payload, count, earlier, more)) {
    const at = Allocator.resize(payload, Container.bucketsBytes(count), Container.bucketsBytes(count + more));
    entry.setBlock(Kind.BUCKETS, count + more, at);
    mergeIntoBuckets(at, count, earlier, more);
  } else {
    convertTo(entry, Kind.ARRAY);
    addNew(entry, earlier, more);
  }
  adjust(key, more);
  return more;
}

/** Whether no bucket would get more than BUCKET_MAX members. */
function bucketsHaveRoomForNew(at: usize, count: u32, earlier: u32, more: u32): bool {
  for (let i: u32 = 0, high: u32 = 256, held: u32 = 0; i < more; i++) {
    const low = Offset.low(argument.value(earlier + i));
    held = low >> 8 == high ? held + 1 : Buckets.held(at, count, low >> 8) + 1;
    if (held > Buckets.BUCKET_MAX) return false;
    high = low >> 8;
  }
  return true;
}

/**
 * Hands back those of a stretch that are absent from the entry's array,
 * or from no array if `entry` is 0. Returns how many.
 */
function handBackAbsent(entry: Entry, from: u32, to: u32): u32 {
  let at: usize = 0, end: usize = 0, absent: u32 = 0;
  if (entry) {
    at = entry.payload<Own>();
    end = at + Container.arrayBytes(entry.count<Own>());
  }
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = Offset.low(offset);
    at = Arrays.gallop<Own>(at, end, low);
    if (at < end && load<u16>(at) == low) { at += Container.MEMBER_BYTES; continue; }
    argument.handBack(offset);
    absent++;
  }
  return absent;
}

/**
 * Merges the values handed back as numbers earlier .. earlier + more - 1 into the array of `count` members at
 * `at`, which has none of them and has room. It begins with the greatest, so that each member moves once.
 */
function mergeIntoArray(at: usize, count: u32, earlier: u32, more: u32): void {
  const apart = count > more * FAR_APART;
  let end = at + Container.arrayBytes(count);           // end of the members that have not moved yet
  for (let i = more; i; i--) {
    const low = Offset.low(argument.value(earlier + i - 1));
    let from = end;
    if (apart) {
      from = at + Container.arrayBytes(arrayLowerBound(at, Container.memberCount(at, end), low));
      memory.copy(from + Container.arrayBytes(i), from, end - from);
    }
    while (from > at && u32(load<u16>(from - Container.MEMBER_BYTES)) > low) {
      from -= Container.MEMBER_BYTES;
      store<u16>(from + Container.arrayBytes(i), load<u16>(from));
    }
    store<u16>(from + Container.arrayBytes(i - 1), low);
    end = from;
  }
}

/** mergeIntoArray() for buckets of `count` members. */
function mergeIntoBuckets(at: usize, count: u32, earlier: u32, more: u32): void {
  const counts = at + count + more;
  memory.copy(counts, at + count, Container.bucketsBytes(0));
  let end = at + count, high: u32 = 256, first = end, last = end;     // bucket `high` lies at [first, last)
  for (let i = more; i; i--) {
    const low = Offset.low(argument.value(earlier + i - 1));
    while (high > low >> 8) {
      last = first;
      first -= load<u8>(counts + --high);
    }
    let from = min(end, last);
    while (from > first && u32(load<u8>(from - 1)) > (low & 0xff)) from--;
    memory.copy(from + i, from, end - from);
    store<u8>(from + i - 1, low);
    store<u8>(counts + high, load<u8>(counts + high) + 1);
    end = from;
  }
}

/** addStretch() for a bitset, or a short bitset that has the words. */
function addToBitset(entry: Entry, key: u64, from: u32, to: u32): u32 {
  const bits = bitsOf(entry);
  let added: u32 = 0;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = Offset.low(offset);
    if (Bitset.has(bits, low)) continue;
    Bitset.set(bits, low);
    argument.handBack(offset);
    added++;
  }
  if (!added) return 0;
  countUp(entry, added, true);
  adjust(key, added);
  return added;
}
