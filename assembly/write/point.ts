// Adding and removing one offset.

import { arena } from "../env/memory";
import { Own } from "../env/view";
import { Header } from "../arena/layout/header";
import { Allocator, Block } from "../arena/layout/blocks";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory } from "../arena/read/directory";
import { Node } from "../arena/layout/node";
import { insertHere, insertEntry, adjust } from "../arena/change/insert";
import { removeEntry, removeMember } from "../arena/change/remove";
import { becameShort, packShort, promoteContainer } from "../arena/change/forms";
import { Room } from "../arena/change/room";
import { insertPacked, loosen } from "../arena/change/pages";
import { Page } from "../arena/packed/layout";
import { Inserted, PageInsert } from "../arena/packed/insert";
import { PageMembers } from "../arena/packed/members";
import { releaseContainer } from "./convert";
import { insertInto, takeFrom } from "./edit";
import { Grown, grown, grownBeside } from "./short";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Runs } from "../container/run";
import { containerHas } from "../read/container";

/**
 * Adds the offset (value 1) or removes it (value 0).
 * Returns the old bit, as https://redis.io/docs/latest/commands/setbit does.
 */
export function set(offset: u64, value: u32): u32 {
  return value ? u32(!insert(offset)) : u32(remove(offset));
}

/** Adds the offset; true if it was absent. */
// @ts-ignore: decorator
@inline export function insert(offset: u64): bool { return insertAs(offset, false, true); }

/** insert() that takeBack() may have to undo. */
// @ts-ignore: decorator
@inline export function insertRevocable(offset: u64): bool { return insertAs(offset, true, true); }

/** insert() that does not pack a leaf of lone members, which takes more memory for a moment. */
// @ts-ignore: decorator
@inline export function insertWithoutPacking(offset: u64): bool { return insertAs(offset, false, false); }

function insertAs(offset: u64, revocable: bool, mayPack: bool): bool {
  const key = Offset.key(offset), low = Offset.low(offset);
  if (Header.isTiny<Own>()) {
    if (changetype<Page>(0).isPacked<Own>()) {
      const inserted = PageInsert.insert(changetype<Page>(0), offset, <usize>arena.size(), Page.ITEMS_MAX);
      if (inserted != Inserted.NOT_HERE) return inserted != Inserted.PRESENT;
    }
    return insertAt(Directory.find(key), key, low, mayPack);
  }
  const added = insertBelow(Node.root<Own>(), key, low, revocable);
  if (added == NO_ROOM) return insertAt(Directory.find(key), key, low, mayPack);
  Header.setCardinality(Header.cardinality<Own>() + added);
  return added != 0;
}

/**
 * The result of insertBelow() if it would have to add a container for which there is no room below the node,
 * or to unpack a leaf.
 */
// @ts-ignore: decorator
@inline const NO_ROOM: u32 = Inserted.NOT_HERE;

/**
 * Adds the offset below a node of a full arena: down to the leaf once, adjusting the sums on the way back.
 * Returns how many it added.
 */
function insertBelow(node: Node, key: u64, low: u32, revocable: bool): u32 {
  if (node.level<Own>()) {
    const upTo = Directory.farSlotsUpTo(node, key);
    if (!upTo) return NO_ROOM;
    const slot = node.slotAt(upTo - 1), added = insertBelow(slot.child<Own>(), key, low, revocable);
    if (added == 1) slot.add(1);
    return added;
  }
  if (node.page.isPacked<Own>()) {
    const inserted = PageInsert.insert(node.page, Offset.of(key, low), Page.BYTES, Page.ITEMS_MAX);
    if (inserted != Inserted.ADDED_GROUP) return inserted;
    Header.setEntries(Header.entries<Own>() + 1);
    return 1;
  }
  let entry = Directory.neighborFor(node, key);
  if (!entry) {
    const upTo = Directory.farEntriesUpTo(node, key);
    if (upTo && key <= node.entryAt(upTo - 1).lastKey<Own>()) entry = node.entryAt(upTo - 1);
    else {
      entry = insertHere(node, upTo, key);
      if (!entry) return NO_ROOM;
      entry.setSingle(low);
      return 1;
    }
  }
  return u32(entry.kind<Own>() != Kind.FULL && insertInto(entry, low, revocable));
}

/** Removes the offset; true if it was a member. */
function remove(offset: u64): bool {
  const key = Offset.key(offset), leaf = Directory.leafFor<Own>(key);
  return leaf.page.isPacked<Own>()
    ? removePacked(leaf, offset)
    : removeFrom(Directory.findIn(leaf, key), key, Offset.low(offset), false);
}

/** Removes the offset from the packed leaf to which it belongs; true if it was a member. */
function removePacked(leaf: Node, offset: u64): bool {
  const index = PageMembers.index(leaf.page, offset);
  if (index == PageMembers.NONE) return false;
  removeMember(leaf, index, offset);
  return true;
}

/**
 * Adds `low` to container `key` of a tiny arena, to one in a packed leaf,
 * or to one that is missing and then has `entry` 0. True if it was absent.
 */
function insertAt(entry: Entry, key: u64, low: u32, mayPack: bool): bool {
  if (entry && containerHas(entry, low)) return false;
  if (Header.isTiny<Own>()) {
    if (insertWithinTiny(key, low)) return true;
    if (changetype<Page>(0).isPacked<Own>()) entry = changetype<Entry>(0);
    // the container of `entry` may have been packed
  }
  if (!entry || entry.isGroup()) {
    if (insertPacked(Offset.of(key, low), mayPack)) return true;
    loosen(key, key);
  }
  if (Header.isTiny<Own>()) promoteContainer();
  entry = Directory.find(key);
  if (!entry) {
    insertEntry(key).setSingle(low);
    adjust(key, 1);
    return true;
  }
  if (!insertInto(entry, low, false)) return false;
  adjust(key, 1);
  return true;
}

/**
 * Adds the absent member `low` to container `key` of a tiny arena that is a short bitset, or becomes one.
 * Otherwise returns false: the arena is then a packed leaf to which the member can be added, or has to be
 * promoted.
 */
function insertWithinTiny(key: u64, low: u32): bool {
  if (changetype<Page>(0).isPacked<Own>()) {
    if (changetype<Page>(0).keyAt<Own>(0) != key || !becameShort(key, low)) return false;
  } else {
    if (!changetype<Node>(0).count<Own>()) return false;
    const stays = changetype<Entry>(Entry.TINY).key<Own>() == key ? grown(low) : grownBeside(key);
    if (stays == Grown.PACKED) packShort();
    if (stays != Grown.SHORT) return false;
  }
  return insertInto(changetype<Entry>(Entry.TINY), low, false);
}

/**
 * Removes `low` from container `key`, which `entry` covers, 0 if none does. True if it was a member. Bitsets of
 * all kinds keep their kind, however few members are left, so that only a FULL entry takes memory.
 */
// @ts-ignore: decorator
@inline export function removeKeepingKind(entry: Entry, key: u64, low: u32): bool {
  return removeFrom(entry, key, low, true);
}

/** removeKeepingKind(), or without `asIs` the same with a kind that suits the members left. */
function removeFrom(entry: Entry, key: u64, low: u32, asIs: bool): bool {
  if (!entry) return false;
  if (entry.isGroup()) return removePacked(Directory.leafFor<Own>(key), Offset.of(key, low));
  if (entry.kind<Own>() == Kind.FULL) entry = isolate(entry, key);
  if (entry.count<Own>() > 1) {
    if (!takeFrom(entry, low, asIs)) return false;
    adjust(key, -1);
    return true;
  }
  if (!containerHas(entry, low)) return false;
  adjust(key, -1);
  releaseContainer(entry);
  removeEntry(key);
  return true;
}

/** Cuts container `key` out of a FULL entry. Returns its own entry, now a single run of all members. */
export function isolate(entry: Entry, key: u64): Entry {
  const first = entry.key<Own>(), last = entry.lastKey<Own>();
  const before = key - first, after = last - key;
  // So that a member can be removed next.
  Allocator.prepare(Room.toInsert(key, 2) + Block.bytes(Container.runsBytes(1))
    + Block.bytes(Container.runsBytes(2)));
  entry = Directory.find(key);
  if (before) {
    entry.setFull(before);
    adjust(first, -<i64>((after + 1) << 16));
    entry = insertEntry(key);
    entry.setFull(1);
    adjust(key, Container.UNIVERSE);
  } else {
    entry.setFull(1);
    adjust(key, -<i64>(after << 16));
  }
  if (after) {
    insertEntry(key + 1).setFull(after);
    adjust(key + 1, after << 16);
    entry = Directory.find(key);
  }
  const payload = Allocator.allocate(Container.runsBytes(1));
  Runs.write(payload, 0, Container.LOW_MAX);
  entry.setBlock(Kind.RUNS, Container.UNIVERSE, payload);
  return entry;
}
