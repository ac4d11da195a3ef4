// One offset at a time.

import { Own } from "../env/view";
import { isTiny, allocate, blockBytes, prepare, setTotalCardinality, totalCardinality, TINY_MAX } from "../arena/arena";
import { Kind, keyOf, lowOf, entryKey, entryKind, entryCount, entryLastKey, setBlock, setSingle, setFull } from "../arena/entry";
import { findEntry, farEntriesUpTo, farSlotsUpTo, neighbourFor } from "../arena/directory";
import { rootNode, nodeLevel, slotAt, slotChild, addToSlot, entryAt } from "../arena/node";
import { insertHere, insertEntry, adjust, promote, removeEntry, roomToInsert } from "../arena/change";
import { containerHas } from "../read/query";
import { insertInto, takeFrom, releaseContainer } from "./edit";
import { runsBytes, UNIVERSE } from "../container/limits";
import { writeRun } from "../container/run";

/** Makes the offset a member (value 1) or not (value 0); returns what it was, as https://redis.io/docs/latest/commands/setbit does. */
export function set(offset: u64, value: u32): u32 {
  return value ? u32(!insert(offset)) : u32(remove(offset));
}

/** Makes the offset a member; true if it was none. */
export function insert(offset: u64): bool {
  const key = keyOf(offset), low = lowOf(offset);
  if (isTiny<Own>()) return insertAt(findEntry(key), key, low);
  const added = insertBelow(rootNode<Own>(), key, low);
  if (added == NO_ROOM) return insertAt(0, key, low);
  setTotalCardinality(totalCardinality<Own>() + added);
  return added != 0;
}

/** What insertBelow() returns when a container is to be added that there is no room for below the node. */
// @ts-ignore: decorator
@inline const NO_ROOM: u32 = 2;

/** Makes the offset a member below the node of a full arena: one way down, and the sums on the way back. Returns how many it added. */
function insertBelow(node: usize, key: u64, low: u32): u32 {
  if (nodeLevel<Own>(node)) {
    const upTo = farSlotsUpTo(node, key);
    if (!upTo) return NO_ROOM;
    const slot = slotAt(node, upTo - 1), added = insertBelow(slotChild<Own>(slot), key, low);
    if (added == 1) addToSlot(slot, 1);
    return added;
  }
  let entry = neighbourFor(node, key);
  if (!entry) {
    const upTo = farEntriesUpTo(node, key);
    if (upTo && key <= entryLastKey<Own>(entryAt(node, upTo - 1))) entry = entryAt(node, upTo - 1);
    else {
      entry = insertHere(node, upTo, key);
      if (!entry) return NO_ROOM;
      setSingle(entry, low);
      return 1;
    }
  }
  return u32(entryKind<Own>(entry) != Kind.FULL && insertInto(entry, low));
}

/** Makes the offset no member; true if it was one. */
export function remove(offset: u64): bool { return removeAt(findEntry(keyOf(offset)), keyOf(offset), lowOf(offset)); }

/** Adds `low` to the container `key`, for which `entry` stands, 0 if none does; true if it was not there. */
export function insertAt(entry: usize, key: u64, low: u32): bool {
  if (!entry) {
    entry = insertEntry(key);
    setSingle(entry, low);
    adjust(key, 1);
    return true;
  }
  if (entryKind<Own>(entry) == Kind.FULL) return false;
  if (isTiny<Own>() && entryCount<Own>(entry) == TINY_MAX) {
    if (containerHas(entry, low)) return false;
    promote();
    entry = findEntry(key);
  }
  if (!insertInto(entry, low)) return false;
  adjust(key, 1);
  return true;
}

/** Removes `low` likewise; true if it was there. */
export function removeAt(entry: usize, key: u64, low: u32): bool {
  if (!entry) return false;
  if (entryKind<Own>(entry) == Kind.FULL) entry = isolate(entry, key);
  if (entryCount<Own>(entry) > 1) {
    if (!takeFrom(entry, low)) return false;
    adjust(key, -1);
    return true;
  }
  if (!containerHas(entry, low)) return false;
  adjust(key, -1);
  releaseContainer(entry);
  removeEntry(key);
  return true;
}

/** Makes the container `key` of a FULL entry an entry of its own, one run of all members, and returns it. */
export function isolate(entry: usize, key: u64): usize {
  const first = entryKey<Own>(entry), last = entryLastKey<Own>(entry);
  const before = key - first, after = last - key;
  prepare(roomToInsert(key, 2) + blockBytes(runsBytes(1)));
  entry = findEntry(key);
  if (before) {
    setFull(entry, before);
    adjust(first, -<i64>((after + 1) << 16));
    entry = insertEntry(key);
    setFull(entry, 1);
    adjust(key, UNIVERSE);
  } else {
    setFull(entry, 1);
    adjust(key, -<i64>(after << 16));
  }
  if (after) {
    setFull(insertEntry(key + 1), after);
    adjust(key + 1, after << 16);
    entry = findEntry(key);
  }
  const payload = allocate(runsBytes(1));
  writeRun(payload, 0, UNIVERSE - 1);
  setBlock(entry, Kind.RUNS, UNIVERSE, payload);
  return entry;
}
