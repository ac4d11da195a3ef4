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
import { intoShort, replaceByBits, wordsWith } from "../convert";
import { countUp } from "../edit";
import { insertRevocable } from "../point";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Arrays, arrayLowerBound } from "../../container/array";
import { Bitset } from "../../container/bitset";
import { toBitset } from "../../container/convert";
import { ShortBitset } from "../../container/short";
import { sparseToBitset } from "../../container/sparse";
import { Places, Scratch } from "../../combine/shape/scratch";
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
      if (!entry || takesStretch(entry, i, to)) {
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

/** Whether the stretch of arguments from .. to - 1 is worth a pass over the entry's container. */
function takesStretch(entry: Entry, from: u32, to: u32): bool {
  const kind = entry.kind<Own>();
  if (kind == Kind.SPARSE) return to - from >= EXPANDED_FROM;
  return kind != Kind.RUNS
    && (kind != Kind.SHORT
      || widenTo(entry, Offset.low(argument.value(from)), Offset.low(argument.value(to - 1))));
}

/** Stretches that are at least so long are added to a sparse bitset by way of a bitset. */
// @ts-ignore: decorator
@inline const EXPANDED_FROM: u32 = 12;

/**
 * Adds the stretch of arguments from .. to - 1 to the container `key` of a full arena, which `entry` covers,
 * 0 if none does. Hands back those that were absent and returns how many; `earlier` values were handed back
 * before. The new ones are then read again from there.
 */
function addStretch(entry: Entry, key: u64, from: u32, to: u32, earlier: u32): u32 {
  const kind = entry ? entry.kind<Own>() : Kind.ARRAY;
  if (kind == Kind.FULL) return 0;
  if (Choice.isInWords(kind)) return addToBitset(entry, key, from, to);
  if (kind == Kind.SPARSE) return addToSparse(entry, key, from, to);
  // If memory runs out below, offsets were handed back that were not added. Undoing those removes nothing.
  const more = handBackAbsent(entry, from, to);
  if (!more) return 0;
  const count = entry ? entry.count<Own>() : 0, all = count + more;
  const low = Offset.low(argument.value(earlier)), high = Offset.low(argument.value(earlier + more - 1));
  if (Choice.prefersShort(all, entry ? wordsWith(entry, low, high) : Choice.wordsBetween(low, high))) {
    if (entry) intoShort(entry, low, high); else entry = changetype<Entry>(insertShort(key, low, high, more));
    setNew(entry, earlier, more, all);
  } else if (all >= Choice.SPARSE_FROM) {
    addAsBits(entry, key, earlier, more);
  } else if (!entry) {
    Allocator.prepare(Room.toInsert(key, 1) + Block.bytes(Container.arrayBytes(all)));
    entry = insertEntry(key);
    entry.setBlock(Kind.ARRAY, all, Allocator.allocate(Container.arrayBytes(all)));
    mergeIntoArray(entry.payload<Own>(), 0, earlier, more);
  } else {
    addNew(entry, earlier, more);
  }
  adjust(key, more);
  return more;
}

/**
 * Adds the values handed back as numbers
 * earlier .. earlier + more - 1 to the entry's array, which has none of them.
 */
function addNew(entry: Entry, earlier: u32, more: u32): void {
  const old = entry.payload<Own>(), count = entry.count<Own>(), all = count + more;
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

/**
 * Adds the values handed back as numbers earlier .. earlier + more - 1 to the entry's array, or to a new entry
 * for `key` if it is 0, which then is a sparse bitset or a bitset. All room is made first.
 */
function addAsBits(entry: Entry, key: u64, earlier: u32, more: u32): void {
  const first = Offset.low(argument.value(earlier));
  if (!entry) {
    Allocator.prepare(Room.toInsert(key, 1) + 2 * (Block.LINE + Block.MAX) + Places.bytes(Scratch.SECOND));
    entry = insertEntry(key);
    entry.setSingle(first);
  }
  Places.make(Scratch.SECOND);
  const bits = Places.at(Scratch.FIRST), kind = entry.kind<Own>(), count = entry.count<Own>();
  toBitset(kind, entry.payload<Own>(), count, bits);
  const wasThere = u32(Bitset.has(bits, first));                    // in an entry that was made above
  for (let i = earlier; i < earlier + more; i++) Bitset.set(bits, Offset.low(argument.value(i)));
  replaceByBits(entry, count + more - wasThere, bits);
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

/** addStretch() for a sparse bitset: by way of a bitset. */
function addToSparse(entry: Entry, key: u64, from: u32, to: u32): u32 {
  const count = entry.count<Own>();
  Places.make(Scratch.SECOND);
  const bits = Places.at(Scratch.FIRST);
  sparseToBitset(entry.payload<Own>(), bits);
  const added = addToBits(bits, from, to);
  if (!added) return 0;
  replaceByBits(entry, count + added, bits);
  adjust(key, added);
  return added;
}

/** addStretch() for a bitset, or a short bitset that has the words. */
function addToBitset(entry: Entry, key: u64, from: u32, to: u32): u32 {
  const added = addToBits(bitsOf(entry), from, to);
  if (!added) return 0;
  countUp(entry, added, true);
  adjust(key, added);
  return added;
}

/** Sets the bits of the arguments from .. to - 1, hands back those that were absent, and returns how many. */
function addToBits(bits: usize, from: u32, to: u32): u32 {
  let added: u32 = 0;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = Offset.low(offset);
    if (Bitset.has(bits, low)) continue;
    Bitset.set(bits, low);
    argument.handBack(offset);
    added++;
  }
  return added;
}
