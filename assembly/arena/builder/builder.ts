// Builds an arena from containers that arrive in the order of their keys: for the result of a combination, a
// payload that is read, or an arena that is rewritten. Payloads go to the bump mark one after the other, and
// the directory follows at the end. Nodes are as full as they can be unless the caller ends a leaf early.
// Nothing is freed on the way, so the arena has no holes.
//
// Small arrays in a row become packed leaves where that takes less. They wait in the leaf buffer, without
// blocks, until there are ITEMS_MAX members or another container follows. A bitmap with fewer becomes tiny.
//
// state.ts has the builder's own data, waiting.ts the small arrays that wait.

import { arena } from "../../env/memory";
import { Own } from "../../env/view";
import { Arena, Header } from "../layout/header";
import { Allocator, Block } from "../layout/blocks";
import { Entry } from "../layout/entry";
import { Page } from "../packed/layout";
import { PageWriter } from "../packed/begin";
import { beginTinyShort, packFull } from "../change/forms";
import { Node, Slot } from "../layout/node";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Builder, writeLeaf } from "./state";
import { Directory } from "../read/directory";
import { ENTRIES_LEAST, LEAF_LEAST, blocksOfWaiting, makeOrdinary, putWaitingKeys, writeWaiting } from "./waiting";

// @ts-ignore: decorator
@inline function lastKeyOf(entry: Entry): u64 { return entry.plainKey<Own>() + entry.plainSpan<Own>() - 1; }

// --- Ordinary entries --------------------------------------------------------------------------------------

/**
 * Appends an entry for `key`, which is greater than all before, and counts its `members`. Returns the entry,
 * which the caller completes with a set...() of arena/layout/entry.ts before anything is allocated.
 */
export function append(key: u64, members: u64): Entry {
  if (!Builder.current().isOrdinary()) makeOrdinary();
  else if (load<u32>(Arena.heldAt(), Builder.IN_LEAF) == Node.LEAF_MAX) {
    writeLeaf(false);
    store<u32>(Arena.heldAt(), 1, Builder.ORDINARY);
  }
  return Builder.current().newEntry(key, members);
}

/** appendFull(), at whose end a segment may end. */
export function appendFull(key: u64, span: u64): void {
  appendSpan(key, span);
  closeIfFull();
}

/** Appends `span` full containers from `key` on. They join full containers that end right before them. */
function appendSpan(key: u64, span: u64): void {
  const builder = Builder.current();
  const inLeaf = load<u32>(changetype<usize>(builder), Builder.IN_LEAF);
  if (inLeaf) {
    const last = builder.bufferedEntry(inLeaf - 1);
    if (last.plainKind<Own>() == Kind.FULL && lastKeyOf(last) + 1 == key) {
      const joined = min(span, Entry.SPAN_MAX - last.plainSpan<Own>());
      last.setFull(last.plainSpan<Own>() + joined);
      Builder.countAppended(builder, joined << 16);
      key += joined;
      span -= joined;
    }
  }
  while (span) {
    const part = min(span, Entry.SPAN_MAX);
    append(key, part << 16).setFull(part);
    key += part;
    span -= part;
  }
}

/** Ends the leaf here, unless it is small, and makes it roomy: the next entry begins a new leaf. */
export function endLeaf(): void {
  const builder = Builder.current(),
    members = load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS);
  if (!builder.isOrdinary()) {
    if (members >= LEAF_LEAST && load<u32>(changetype<usize>(builder), Builder.IN_LEAF) > ENTRIES_LEAST) {
      writeWaiting(LEAF_LEAST - 1);
    }
  } else if (load<u32>(changetype<usize>(builder), Builder.IN_LEAF) >= LEAF_LEAST) {
    writeLeaf(true);
  }
}

/** The least key that may be appended next. Wrong right after endLeaf(). */
export function nextKey(): u64 {
  const builder = Builder.current(),
    inLeaf = load<u32>(changetype<usize>(builder), Builder.IN_LEAF);
  return inLeaf ? lastKeyOf(builder.bufferedEntry(inLeaf - 1)) + 1
    : load<u64>(changetype<usize>(builder), Builder.NEXT_KEY);
}

/** Writes the directory and completes the arena. */
export function finish(): void {
  const builder = Builder.current();
  const entries = load<u32>(changetype<usize>(builder), Builder.ENTRIES),
    members = load<u64>(changetype<usize>(builder), Builder.MEMBERS);
  if (!entries) { Arena.resetToEmpty(); return; }
  if (!load<u32>(changetype<usize>(builder), Builder.SLOTS)) {
    if (builder.isOrdinary() ? finishShort(builder.bufferedEntry(0), entries) : finishPacked(entries)) return;
  }
  finishDirectory();
  const closed = load<u64>(Arena.heldAt(), Builder.CLOSED);
  Header.release();
  // The forms of containers do not depend on where segments end.
  if (members - 1 < Page.ITEMS_MAX && !closed) packFull();    // 0 members are 2^64
}

/** Writes what waits, and the directory, and makes memory 0 a full arena of these. */
function finishDirectory(): void {
  const entries = load<u32>(Arena.heldAt(), Builder.ENTRIES);
  const members = load<u64>(Arena.heldAt(), Builder.MEMBERS);
  if (load<u32>(Arena.heldAt(), Builder.IN_LEAF)) {
    if (!Builder.current().isOrdinary()) makeOrdinary();
    if (load<u32>(Arena.heldAt(), Builder.IN_LEAF)) writeLeaf(false);
  }
  let slots = load<u32>(Arena.heldAt(), Builder.SLOTS);
  const root = changetype<Node>(<usize>load<u32>(Arena.heldAt(), Builder.ROOM_FOR_ROOT));
  if (root && (slots == 1 || slots > Node.ROOMY_SLOTS)) {
    Allocator.release(changetype<usize>(root), Node.ROOMY_INNER);
  }
  // One level of inner nodes at a time;
  // the slots of the nodes that are written replace those of their children.
  for (let level: u32 = 1; slots > 1; level++) {
    let written: u32 = 0;
    for (let from: u32 = 0; from < slots; from += Node.INNER_MAX) {
      const held = min(Node.INNER_MAX, slots - from);
      const roomy = changetype<usize>(root) != 0 && level == 1 && slots <= Node.ROOMY_SLOTS;
      const node = roomy ? root
        : changetype<Node>(Allocator.allocateFresh(Block.bytes(Node.bytes(level, held))));
      const first = Builder.current().slotsAt() + <usize>from * Slot.BYTES;
      node.write(level, held);
      node.setRoomy(roomy);
      memory.copy(changetype<usize>(node) + Node.HEADER, first, <usize>held * Slot.BYTES);
      let below: u64 = 0;
      for (let i: u32 = 0; i < held; i++) below += node.slotAt(i).cardinality<Own>();
      changetype<Slot>(Builder.current().slotsAt()
        + <usize>written * Slot.BYTES).write(node.slotAt(0).key<Own>(), changetype<usize>(node), below);
      written++;
    }
    slots = written;
  }
  store<u32>(0, load<u32>(Builder.current().slotsAt(), 8), Header.ROOT);
  Header.setEntries(entries);
  Header.setCardinality(members);
}

// --- Segments ----------------------------------------------------------------------------------------------

/**
 * Ends a segment here if another container might not fit it. For callers that have appended a container and no
 * longer need any other in scratch room. Addresses in memory 0 do not stay valid.
 */
// @ts-ignore: decorator
@inline export function closeIfFull(): void {
  if (Header.bump() + PENDING_MAX >= <usize>load<u32>(Arena.heldAt(), Builder.SEGMENT)) closeIfNextMayNotFit();
}

function closeIfNextMayNotFit(): void {
  const builder = Builder.current(), entries = load<u32>(changetype<usize>(builder), Builder.IN_LEAF);
  const slots = load<u32>(changetype<usize>(builder), Builder.SLOTS);
  if (!entries && !slots) return;                        // nothing has been appended yet
  let bytes = Header.bump() + <usize>entries * Entry.BYTES + <usize>slots * SLOT_SHARE;
  if (!builder.isOrdinary()) {
    bytes += Container.arrayBytes(<u32>load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS))
      + blocksOfWaiting(builder, 0, entries);
  }
  if (bytes + NEXT_BYTES > <usize>load<u32>(changetype<usize>(builder), Builder.SEGMENT)) closeSegment();
}

/** The most bytes that containers that wait, the directory and the next container take. */
// @ts-ignore: decorator
@inline const PENDING_MAX: usize = 40 << 10;

/** Bytes of a slot, and of its part of the nodes above. */
// @ts-ignore: decorator
@inline const SLOT_SHARE: usize = Slot.BYTES + 4;
/** The most bytes that the next container takes, with the nodes that it may begin. */
// @ts-ignore: decorator
@inline const NEXT_BYTES: usize = Block.LINE + Block.MAX + 1280;

/** Makes the containers appended so far a segment, and begins another one. */
function closeSegment(): void {
  const next = nextKey(), lift = Header.lift();
  finishDirectory();
  const held = Header.held();
  Header.release();
  Header.setLift(0);
  arena.close(<u32>Header.bump(), <u32>held, Directory.first().key<Own>() << 16, Header.cardinality<Own>());
  memory.fill(0, 0, Header.BYTES);
  store<u8>(0, Header.FULL, Header.FORM);
  Header.setBump(Header.BYTES);
  store<u32>(0, <u32>held, Header.HELD);
  Header.setLift(lift);
  Builder.current().clear(next);
}

/** Makes the arena a tiny one if its only container is a short bitset that fits one. */
function finishShort(entry: Entry, entries: u32): bool {
  if (entries != 1 || entry.plainKind<Own>() != Kind.SHORT) return false;
  return beginTinyShort(entry.plainKey<Own>(), entry.plainCount<Own>(), entry.plainBlock<Own>());
}

/**
 * Makes the arena a tiny one of the waiting arrays, which are all of its containers, if that takes the least
 * space.
 */
function finishPacked(entries: u32): bool {
  let builder = Builder.current();
  const members = <u32>load<u64>(changetype<usize>(builder), Builder.LEAF_MEMBERS),
    first = builder.bufferedEntry(0).plainKey<Own>();
  const last = builder.bufferedEntry(entries - 1).plainKey<Own>(),
    bytes = PageWriter.tightBytes(first, last, members);
  const others = Header.bump() + <usize>entries * Entry.BYTES;   // without blocks
  if (others < bytes && others + blocksOfWaiting(builder, 0, entries) < bytes) return false;
  Arena.makeRoom(bytes);                            // moves the builder out of the way
  builder = Builder.current();
  PageWriter.beginTight(changetype<Page>(0), first, last, members);
  memory.copy(changetype<Page>(0).lowsFrom<Own>(0), builder.waitingLow(0), Container.arrayBytes(members));
  putWaitingKeys(changetype<Node>(0), builder, 0, entries);
  return true;
}
