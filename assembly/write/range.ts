// Setting, clearing and flipping whole ranges of offsets. rebuildPays() decides: if much of the bitmap
// changes, the host has it rebuilt (combine/rebuild/range.ts). Otherwise it is changed in place: the
// containers at the two ends of the range are folded with a run, and those between become one FULL entry, are
// removed, or are complemented one by one.
//
// In place, all growth happens before anything is changed. roomToChange() computes how much is
// needed. This relies on the order of the steps: all insertions of entries come before the first
// removal (arena/change/insert.ts says why).

import { SELF, left, right } from "../env/memory";
import { Own } from "../env/view";
import { Allocator, Block } from "../arena/layout/blocks";
import { ARENA_MAX, Header } from "../arena/layout/header";
import { used, promoteContainer, clearTiny } from "../arena/change/forms";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { insertEntry, adjust, changeKey } from "../arena/change/insert";
import { removeEntry, removeEntries, removeFromGroup } from "../arena/change/remove";
import { Room } from "../arena/change/room";
import { loosen } from "../arena/change/pages";
import { Page } from "../arena/packed/layout";
import { normalized } from "../combine/shape/normalize";
import { fold } from "../combine/fold/fold";
import { Change, foldOfChange } from "../combine/rebuild/range";
import { Places, Scratch } from "../combine/shape/scratch";
import { Shape } from "../combine/shape/shape";
import { Fold, sidesOf } from "../combine/fold/sides";
import { releaseContainer, replaceContainer } from "./convert";
import { cutArray } from "./cut";
import { isolate } from "./point";
import { Choice, Kind } from "../container/kind";
import { complementBitset } from "../container/bitset";
import { Container } from "../container/limits";
import { Runs } from "../container/run";

/** The largest block, and the padding before it. */
// @ts-ignore: decorator
@inline const END_BYTES: usize = Block.LINE + Block.MAX;

/**
 * Changes all offsets of the closed range [low, high] and returns 0. If it would be quicker to
 * rebuild the bitmap, changes nothing and returns the bytes that the new bitmap will take at
 * most; never so with `inPlace`.
 */
export function changeRange(change: Change, low: u64, high: u64, inPlace: u32): u64 {
  const first = Offset.key(low), last = Offset.key(high);
  // Their number does not matter below REBUILD_FROM.
  const entries = change == Change.SET && Directory.entriesHeld<Own>() < REBUILD_FROM ? 0
    : Directory.entriesBetween(first, last, change == Change.FLIP ? u32.MAX_VALUE : enoughToRebuild());
  if (change == Change.CLEAR) {
    if (!entries) return 0;
    if (Header.isTiny<Own>() && changetype<Page>(0).isPacked<Own>()) { clearTiny(low, high); return 0; }
  }
  const bytes = inPlace ? 0 : rebuildPays(change, entries, first, last);
  if (!bytes) edit(change, entries, low, high);
  return bytes;
}

// --- The choice --------------------------------------------------------------------------------------------

/** Fewer containers than these are always changed in place. */
// @ts-ignore: decorator
@inline const REBUILD_FROM: u32 = 16;

/** If a range that is set or cleared has more entries than this, the bitmap is rebuilt. */
// @ts-ignore: decorator
@inline function enoughToRebuild(): u32 { return max(Directory.entriesHeld<Own>() / 4, REBUILD_FROM); }

/**
 * Bytes that the bitmap will take at most if it is rebuilt; 0 if it is quicker to change the `entries`
 * entries of [first, last] in place. Rebuilding copies everything outside the range. In place, setting and
 * clearing release each container of the range; when more than a quarter of the bitmap goes, the host would
 * rewrite the arena afterwards anyway. Flipping a container in place takes several times as long as
 * rebuilding it, and mostly needs a new block.
 */
function rebuildPays(change: Change, entries: u32, first: u64, last: u64): u64 {
  if (entries < REBUILD_FROM) return 0;
  const bytes: u64 = used();
  if (change != Change.FLIP) return entries > enoughToRebuild() ? bytes : 0;
  const added = blocksToFlip(first, last) + 2 * <u64>Entry.BYTES * entries;
  return added > bytes / 8 ? bytes + added : 0;
}

/**
 * The most bytes of blocks that complementing containers [first, last] in place allocates.
 * If 0, no scratch room is needed, either.
 */
function blocksToFlip(first: u64, last: u64): u64 {
  let bytes: u64 = 0;
  for (let place = Directory.seek<Own>(first); place; place = Place.next<Own>(place)) {
    const entry = Place.entry(place);
    if (entry.key<Own>() > last) break;
    bytes += flippedBytes(entry);
  }
  return bytes;
}

/**
 * The most bytes of a block that complementing the entry's container allocates.
 * The complement has at most one run more.
 */
function flippedBytes(entry: Entry): usize {
  const kind = entry.kind<Own>();
  if (kind == Kind.FULL || isBitsetEitherWay(entry)) return 0;
  const runs = kind == Kind.BITSET || kind == Kind.SPARSE
    ? <u32>Block.MAX
    : kind == Kind.RUNS ? <u32>load<u16>(entry.payload<Own>()) : entry.count<Own>();
  const bytes = Container.runsBytes(runs + 1);
  return bytes < Block.MAX ? Block.bytes(bytes) : END_BYTES;
}

/**
 * Whether the container is a bitset and its complement is one, too: then it is complemented within its block.
 */
// @ts-ignore: decorator
@inline function isBitsetEitherWay(entry: Entry): bool {
  return entry.kind<Own>() == Kind.BITSET && !Container.isArraySized(Container.UNIVERSE - entry.count<Own>());
}

/**
 * The most bytes that edit() allocates and works in. `among` is how many entries a range that is flipped has.
 */
function roomToChange(change: Change, among: u32, low: u64, high: u64): usize {
  const first = Offset.key(low), last = Offset.key(high);
  const head = Directory.find(first),
    tail: Entry = first == last ? changetype<Entry>(0) : Directory.find(last);
  // A FULL entry out of which a container, or all of the range, is cut becomes three.
  let entries: u64 = (head && head.kind<Own>() == Kind.FULL ? 2 : 0)
    + (tail && tail.kind<Own>() == Kind.FULL ? 2 : 0);
  let bytes: u64 = 0;
  // Both ends, and FULL entries: at least one, and when flipping one before each entry.
  if (change != Change.CLEAR) {
    entries += 3 + (last - first) / Entry.SPAN_MAX + (change == Change.FLIP ? among : 0);
    if (change == Change.FLIP) bytes = blocksToFlip(first, last);
  }
  const folds = first == last || Offset.low(low) ? head : changetype<Entry>(0),
    foldsLast = Offset.low(high) != Container.LOW_MAX ? tail : changetype<Entry>(0);
  if ((folds && !isCut(change, folds)) || (foldsLast && !isCut(change, foldsLast))) bytes += 2 * END_BYTES;
  if (bytes) bytes += Places.bytes(Scratch.RIGHT);
  if (entries) bytes += 2 * Block.bytes(Container.runsBytes(1)) + Room.forEntries(entries);
  return <usize>min<u64>(bytes, ARENA_MAX);
}

// --- Editing -----------------------------------------------------------------------------------------------

/** Changes the offsets from `low` to `high`. `among` is as in roomToChange(). */
function edit(change: Change, among: u32, low: u64, high: u64): void {
  const first = Offset.key(low), from = Offset.low(low), last = Offset.key(high), to = Offset.low(high);
  if (change != Change.CLEAR) loosen(first, last);            // clearing leaves packed leaves packed
  const room = roomToChange(change, among, low, high);
  if (room || Header.isTiny<Own>()) Allocator.prepare(room);
  if (Header.isTiny<Own>()) promoteContainer();
  if (first == last) {
    if (expose(change, first, from, to)) foldRun(change, first, from, to);
    return;
  }
  const foldsFirst = from && expose(change, first, from, Container.LOW_MAX);
  const foldsLast = to != Container.LOW_MAX && expose(change, last, 0, to);
  changeWhole(change, first + u64(from != 0), last - u64(to != Container.LOW_MAX));
  if (foldsFirst) foldRun(change, first, from, Container.LOW_MAX);
  if (foldsLast) foldRun(change, last, 0, to);
}

/**
 * Prepares container `key` for foldRun() with [from, to]: cuts it out of a FULL entry,
 * or inserts it if it is missing. Returns false if there is nothing left to fold.
 */
function expose(change: Change, key: u64, from: u32, to: u32): bool {
  const entry = Directory.find(key);
  if (entry) {
    if (entry.kind<Own>() == Kind.FULL) {
      if (change == Change.SET) return false;
      isolate(entry, key);
    }
    return true;
  }
  if (change != Change.CLEAR) {
    putRange(insertEntry(key), from, to);
    adjust(key, to - from + 1);
  }
  return false;
}

/** Gives the entry the container of [from, to]. The caller adjusts the sums. */
function putRange(entry: Entry, from: u32, to: u32): void {
  const count = to - from + 1;
  if (count == 1) { entry.setSingle(from); return; }
  if (count == 2) { entry.setPair(from, to); return; }
  if (count == Container.UNIVERSE) { entry.setFull(1); return; }
  const at = Allocator.allocate(Container.runsBytes(1));
  Runs.write(at, from, to);
  entry.setBlock(Kind.RUNS, count, at);
}

/**
 * Whether the entry, which is to be folded with a run, only loses members of an array. That takes no memory.
 */
// @ts-ignore: decorator
@inline function isCut(change: Change, entry: Entry): bool {
  return change == Change.CLEAR && Choice.isArray(entry.kind<Own>());
}

/** Folds the run [from, to] into container `key`, which exists and is not FULL. */
function foldRun(change: Change, key: u64, from: u32, to: u32): void {
  const entry = Directory.find(key);
  if (isCut(change, entry)) {
    if (entry.isGroup()) removeFromGroup(Offset.of(key, from), Offset.of(key, to));
    else cutArray(entry, key, from, to);
    return;
  }
  Places.make(Scratch.RIGHT);
  const run = Places.at(Scratch.SPARE);
  Runs.write(run, from, to);
  foldRunInto(foldOfChange(change), entry, key, Shape.of(Kind.RUNS, to - from + 1, run));
}

/**
 * Folds the shape `r`, in memory 0, into the container `key` of `entry`, which is not FULL.
 * `r` may lie in Scratch.SPARE.
 */
function foldRunInto(op: Fold, entry: Entry, key: u64, r: u64): void {
  const before = entry.count<Own>();
  left.select(SELF);
  right.select(SELF);
  let l = Shape.ofEntry<Own>(entry);
  if (Shape.kind(l) == Kind.BITSET) l = Shape.copy(l, Places.at(Scratch.FIRST));  // folds change it in place
  const folded = fold(op, sidesOf(SELF, SELF), l, r);
  const count = Shape.count(folded);
  adjust(key, <i64>count - <i64>before);
  if (!count) {
    releaseContainer(entry);
    removeEntry(key);
    return;
  }
  replaceContainer(entry, normalized(folded));
}

// --- Whole containers --------------------------------------------------------------------------------------

/** Changes all offsets of containers [first, last]. There may be none. */
function changeWhole(change: Change, first: u64, last: u64): void {
  if (first > last) return;
  if (change == Change.SET) fillContainers(first, last);
  else if (change == Change.CLEAR) clear(first, last);
  else flip(first, last);
}

function clear(first: u64, last: u64): void {
  const head = Directory.find(first);
  if (head) cutSpan(head, first, last);
  const tail = Directory.find(last);
  if (tail) cutSpan(tail, first, last);
  removeEntries(first, last);
}

/**
 * Removes containers [first, last] from a FULL entry that also covers others.
 * Returns false if the entry covers no others.
 */
function cutSpan(entry: Entry, first: u64, last: u64): bool {
  const key = entry.key<Own>(), end = entry.lastKey<Own>();
  if (key < first) {
    entry.setFull(first - key);
    adjust(key, -<i64>((end - first + 1) << 16));
    if (end > last) insertFull(last + 1, end);
    return true;
  }
  if (end <= last) return false;
  adjust(key, -<i64>((last - key + 1) << 16));
  changeKey(entry, last + 1);
  entry.setFull(end - last);
  return true;
}

/** Inserts full containers [first, last], where there are none. */
function insertFull(first: u64, last: u64): void {
  while (first <= last) {
    const span = min(last - first + 1, Entry.SPAN_MAX);
    insertEntry(first).setFull(span);
    adjust(first, span << 16);
    first += span;
  }
}

/** Makes all containers [first, last] full. FULL entries that cover an end of the range stay as they are. */
function fillContainers(first: u64, last: u64): void {
  const head = Directory.find(first);
  if (head && head.kind<Own>() == Kind.FULL) first = head.lastKey<Own>() + 1;
  if (first > last) return;
  const tail = Directory.find(last);
  if (tail && tail.kind<Own>() == Kind.FULL) last = tail.key<Own>() - 1;
  for (let key = first; key <= last;
    key += Entry.SPAN_MAX) makeSpan(key, min(last - key + 1, Entry.SPAN_MAX));
  for (let key = first; key <= last;
    key += Entry.SPAN_MAX) removeEntries(key + 1, min(last, key + Entry.SPAN_MAX - 1));
}

/**
 * Gives the `span` keys from `key` on a FULL entry: the first one that begins there, or a new one.
 * Does not remove the others.
 */
function makeSpan(key: u64, span: u64): void {
  const entry = Place.entry(Directory.seek<Own>(key));
  if (!entry || entry.key<Own>() >= key + span) { insertFull(key, key + span - 1); return; }
  adjust(entry.key<Own>(), <i64>((span << 16) - entry.cardinality<Own>()));
  releaseContainer(entry);
  changeKey(entry, key);
  entry.setFull(span);
}

/** Complements all containers [first, last]. */
function flip(first: u64, last: u64): void {
  let marked = false;
  for (let next = first; next <= last;) {
    const entry = Place.entry(Directory.seek<Own>(next)),
      key = entry ? max(next, entry.key<Own>()) : last + 1;
    if (key > next) {
      insertFull(next, min(key - 1, last));
      next = key;
    } else if (entry.kind<Own>() == Kind.FULL) {
      next = entry.lastKey<Own>() + 1;
      if (!cutSpan(entry, first, last)) {
        mark(entry);
        marked = true;
      }
    } else {
      flipContainer(entry, next++);
    }
  }
  if (marked) removeMarked(first, last);
}

/** Complements the container `key` of `entry`, which is not FULL. */
function flipContainer(entry: Entry, key: u64): void {
  if (isBitsetEitherWay(entry)) {
    const at = entry.payload<Own>(), count = entry.count<Own>();
    left.select(SELF);
    complementBitset(at, at);
    entry.setCount(Container.UNIVERSE - count);
    adjust(key, <i64>Container.UNIVERSE - 2 * <i64>count);
    return;
  }
  Places.make(Scratch.RIGHT);
  foldRunInto(Fold.XOR, entry, key, Shape.full());
}

// A FULL entry in a flipped range may only be removed once all entries have been inserted.
// Until then it is marked: it becomes a pair of equal members, which no real container is.

function mark(entry: Entry): void {
  adjust(entry.key<Own>(), 2 - <i64>(entry.span<Own>() << 16));
  entry.setPair(0, 0);
}

// @ts-ignore: decorator
@inline function isMarked(entry: Entry): bool {
  return entry.kind<Own>() == Kind.PAIR
    && load<u16>(entry.payload<Own>()) == load<u16>(entry.payload<Own>(), 2);
}

/** Removes the marked entries of [first, last]. */
function removeMarked(first: u64, last: u64): void {
  while (first <= last) {
    const entry = Place.entry(Directory.seek<Own>(first));
    if (!entry || entry.key<Own>() > last) return;
    const key = entry.key<Own>();
    first = entry.lastKey<Own>() + 1;
    if (!isMarked(entry)) continue;
    adjust(key, -2);
    removeEntry(key);
  }
}
