// Adding one member to a container, or removing one. The container changes its kind when another one is
// smaller: one or two members are in the entry, few are an array, more a sparse bitset, and many a bitset; a
// short bitset takes the place of each of these where it is smaller, and 65,536 members are a FULL entry.
// Runs stay runs while nothing is smaller. When members are removed, a bitset stays one down to BITSET_LEAST,
// and a short bitset while Choice.staysShort() says so.

import { argument } from "../env/memory";
import { Own } from "../env/view";
import { Allocator, Block } from "../arena/layout/blocks";
import { Header } from "../arena/layout/header";
import { Entry } from "../arena/layout/entry";
import { Choice, Kind } from "../container/kind";
import { Container } from "../container/limits";
import { Arrays, arrayLowerBound } from "../container/array";
import { Bitset } from "../container/bitset";
import { Runs } from "../container/run";
import { ShortBitset } from "../container/short";
import { Sparse } from "../container/sparse";
import { convertTo, convertToSuitable, intoShort, releaseContainer, wordsWith } from "./convert";
import { widenTo } from "./short";
import { addRun, mayHaveOneRunMore, removeRun } from "./cut";
import { bitsetIntoPlain, convertDepleted, isDepleted, trim, trimmedStays } from "./shrink";

/**
 * Adds `low` to a container that is not FULL. True if it was absent;
 * the caller then adjusts the sums above the entry. `revocable`: takeBack() may have to undo it (undo.ts).
 */
export function insertInto(entry: Entry, low: u32, revocable: bool): bool {
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return insertIntoBitset(entry, low, revocable);
    case Kind.SHORT: return insertIntoShort(entry, low, revocable);
    case Kind.RUNS: return insertIntoRuns(entry, low, revocable);
    case Kind.SPARSE: return insertIntoSparse(entry, low, revocable);
    case Kind.ARRAY:
    case Kind.SINGLE:
    case Kind.PAIR: return insertIntoArray(entry, low);
    case Kind.FULL:
    default: return unreachable();
  }
}

/**
 * Removes `low` from a container of two members or more that is not FULL. True if it was there; the caller
 * then adjusts the sums. With `asIs`, bitsets of all kinds stay what they are, however few
 * members are left: that takes no memory.
 */
export function takeFrom(entry: Entry, low: u32, asIs: bool): bool {
  switch (entry.kind<Own>()) {
    case Kind.BITSET: return takeFromBitset(entry, low, asIs);
    case Kind.SHORT: return takeFromShort(entry, low, asIs);
    case Kind.RUNS: return takeFromRuns(entry, low);
    case Kind.SPARSE: return takeFromSparse(entry, low, asIs);
    case Kind.ARRAY:
    case Kind.PAIR: return takeFromArray(entry, low);
    case Kind.SINGLE:
    case Kind.FULL:
    default: return unreachable();
  }
}

// --- Arrays, in the entry or in a block --------------------------------------------------------------------

function insertIntoArray(entry: Entry, low: u32): bool {
  const count = entry.count<Own>();
  const payload = entry.payload<Own>();
  // Ascending input is common.
  const index = Arrays.member(payload, count - 1) < low ? count : arrayLowerBound(payload, count, low);
  if (index < count && Arrays.member(payload, index) == low) return false;
  if (count == 1) {
    const other = Arrays.member(payload, 0);
    entry.setPair(min(low, other), max(low, other));
    return true;
  }
  if ((count & (Choice.MEMBERS_A_WORD - 1)) == 0 && becomesShort(entry, count, low)) {
    intoShort(entry, low, low);
    return addToShort(entry, low);
  }
  if (count + 1 >= Choice.SPARSE_FROM) {
    convertTo(entry, Kind.SPARSE);
    return insertInto(entry, low, false);
  }
  addToArray(entry, index, low);
  return true;
}

/** Whether an array of `count` members becomes a short bitset with the member `low`. */
// @ts-ignore: decorator
@inline function becomesShort(entry: Entry, count: u32, low: u32): bool {
  return Choice.prefersShort(count + 1, wordsWith(entry, low, low));
}

/** Adds `low` as the member of rank `index` to an array that stays one. */
// @ts-ignore: decorator
@inline function addToArray(entry: Entry, index: u32, low: u32): void {
  const count = entry.count<Own>();
  const at = arrayRoom(entry, count, entry.payload<Own>());
  const gap = at + (<usize>index << 1);
  memory.copy(gap + 2, gap, <usize>(count - index) << 1);
  store<u16>(gap, <u16>low);
  entry.setBlock(Kind.ARRAY, count + 1, at);
}

/** Makes room for one member more in the array of `count` members at `payload`; returns where it is then. */
// @ts-ignore: decorator
@inline function arrayRoom(entry: Entry, count: u32, payload: usize): usize {
  if (count > 2) {
    return Allocator.resize(payload, Container.arrayBytes(count), Container.arrayBytes(count + 1));
  }
  const at = Allocator.allocate(Container.arrayBytes(3));
  store<u32>(at, load<u32>(payload));
  return at;
}

function takeFromArray(entry: Entry, low: u32): bool {
  const count = entry.count<Own>();
  const payload = entry.payload<Own>();
  const index = arrayLowerBound(payload, count, low);
  if (index == count || Arrays.member(payload, index) != low) return false;
  if (count == 2) { entry.setSingle(Arrays.member(payload, 1 - index)); return true; }
  const gone = payload + (<usize>index << 1);
  memory.copy(gone, gone + 2, <usize>(count - index - 1) << 1);
  if (count == 3) {
    const first = Arrays.member(payload, 0), second = Arrays.member(payload, 1);
    releaseContainer(entry);
    entry.setPair(first, second);
    return true;
  }
  Allocator.resize(payload, Container.arrayBytes(count), Container.arrayBytes(count - 1));
  entry.setCount(count - 1);
  return true;
}

// --- Sparse bitsets ----------------------------------------------------------------------------------------

function insertIntoSparse(entry: Entry, low: u32, revocable: bool): bool {
  const count = entry.count<Own>(), payload = entry.payload<Own>(), found = Sparse.find(payload, low);
  if (Sparse.isMember(found)) return false;
  const bytes = Sparse.bytes<Own>(payload), more = bytes + <usize>Sparse.missing(found);
  if (Block.bytes(more) != Block.bytes(bytes)) {
    const words = wordsWith(entry, low, low);
    if (words <= Container.SHORT_MAX && Container.shortBytes(words) < bytes) {
      intoShort(entry, low, low);
      return addToShort(entry, low);
    }
    if (more > Container.SPARSE_MAX) {
      convertTo(entry, Kind.BITSET);
      return insertIntoBitset(entry, low, revocable);
    }
  }
  const at = Allocator.resize(payload, bytes, more);
  Sparse.insert(at, found, low);
  entry.setBlock(Kind.SPARSE, count + 1, at);
  return true;
}

function takeFromSparse(entry: Entry, low: u32, asIs: bool): bool {
  const count = entry.count<Own>(), payload = entry.payload<Own>(), found = Sparse.find(payload, low);
  if (!Sparse.isMember(found)) return false;
  if (!asIs && !Choice.staysSparse(count - 1)) {
    convertTo(entry, Kind.ARRAY);
    return takeFromArray(entry, low);
  }
  const bytes = Sparse.bytes<Own>(payload);
  Sparse.remove(payload, found, low);
  Allocator.resize(payload, bytes, Sparse.bytes<Own>(payload));
  entry.setCount(count - 1);
  return true;
}

// --- Short bitsets, in a block or in a tiny arena ----------------------------------------------------------

function insertIntoShort(entry: Entry, low: u32, revocable: bool): bool {
  if (widenTo(entry, low, low)) return addToShort(entry, low);
  convertTo(entry, Choice.listKind(entry.count<Own>() + 1));
  return insertInto(entry, low, revocable);
}

/** Adds `low` to a short bitset that has its word. */
function addToShort(entry: Entry, low: u32): bool {
  const payload = entry.payload<Own>();
  if (ShortBitset.has(payload, low)) return false;
  ShortBitset.set(payload, low);
  entry.setCount(entry.count<Own>() + 1);
  return true;
}

function takeFromShort(entry: Entry, low: u32, asIs: bool): bool {
  const count = entry.count<Own>() - 1;
  if (!ShortBitset.has(entry.payload<Own>(), low)) return false;
  if (!asIs && !Header.isTiny<Own>() && !trimmedStays(entry, count)) {
    convertTo(entry, Choice.listKind(count + 1));
    return takeFrom(entry, low, false);
  }
  Bitset.clear(ShortBitset.base<Own>(entry.payload<Own>()), low);
  entry.setCount(count);
  if (asIs) return true;
  if (!(count & (Header.isTiny<Own>() ? TRIM_TINY - 1 : TRIM_EVERY - 1))) trim(entry);
  if (Header.isTiny<Own>() && isDepleted(entry)) convertDepleted(entry);
  return true;
}

// --- Bitsets -----------------------------------------------------------------------------------------------

function insertIntoBitset(entry: Entry, low: u32, revocable: bool): bool {
  const payload = entry.payload<Own>();
  if (Bitset.has(payload, low)) return false;
  Bitset.set(payload, low);
  countUp(entry, 1, revocable);
  return true;
}

function takeFromBitset(entry: Entry, low: u32, asIs: bool): bool {
  const payload = entry.payload<Own>(), count = entry.count<Own>() - 1;
  if (!Bitset.has(payload, low)) return false;
  if (!asIs && !Choice.staysBitset(count)) {
    bitsetIntoPlain(entry);
    return takeFrom(entry, low, false);
  }
  Bitset.clear(payload, low);
  entry.setCount(count);
  if (!asIs && !(count & (TRIM_EVERY - 1))) trim(entry);
  return true;
}

/**
 * Every TRIM_EVERYth single removal checks for words to give back. So adding and removing a member far from
 * the others mostly leaves the words as they are.
 */
// @ts-ignore: decorator
@inline const TRIM_EVERY: u32 = 64;
/** The same in a tiny arena, which has few words. */
// @ts-ignore: decorator
@inline const TRIM_TINY: u32 = 8;

/**
 * Counts `more` new members of a bitset or of runs.
 * The 65,536th makes the container FULL, though not yet if it is `revocable`.
 */
export function countUp(entry: Entry, more: u32, revocable: bool): void {
  const count = entry.count<Own>() + more;
  if (count < Container.UNIVERSE) { entry.setCount(count); return; }
  if (revocable) { entry.setCount(count); argument.defer(); return; }
  releaseContainer(entry);
  entry.setFull(1);
}

// --- Runs --------------------------------------------------------------------------------------------------

function insertIntoRuns(entry: Entry, low: u32, revocable: bool): bool {
  const payload = entry.payload<Own>(), before = Runs.find(payload, low), next = <u32>(before + 1);
  if (before >= 0 && low <= Runs.end(payload, before)) return false;
  const joinsBefore = before >= 0 && Runs.end(payload, before) + 1 == low;
  const joinsNext = next < Runs.count(payload) && Runs.start(payload, next) == low + 1;
  if (joinsBefore && joinsNext && !revocable) {
    Runs.set(payload, before, Runs.start(payload, before), Runs.end(payload, next));
    removeRun(entry, next);
  } else if (joinsBefore) {
    Runs.set(payload, before, Runs.start(payload, before), low);
    if (joinsNext) argument.defer();
  } else if (joinsNext) {
    Runs.set(payload, next, low, Runs.end(payload, next));
  } else if (mayHaveOneRunMore(payload, entry.count<Own>() + 1, low)) {
    Runs.set(addRun(entry, next), next, low, low);
  } else {
    convertToSuitable(entry);
    return insertInto(entry, low, revocable);
  }
  countUp(entry, 1, revocable);
  return true;
}

function takeFromRuns(entry: Entry, low: u32): bool {
  const payload = entry.payload<Own>(), count = entry.count<Own>();
  const found = Runs.find(payload, low), run = <u32>found;
  if (found < 0 || low > Runs.end(payload, run)) return false;
  const start = Runs.start(payload, run), end = Runs.end(payload, run);
  if (start == end) {
    removeRun(entry, run);
  } else if (low == start) {
    Runs.set(payload, run, start + 1, end);
  } else if (low == end) {
    Runs.set(payload, run, start, end - 1);
  } else if (mayHaveOneRunMore(payload, count - 1, low)) {
    const at = addRun(entry, run + 1);
    Runs.set(at, run, start, low - 1);
    Runs.set(at, run + 1, low + 1, end);
  } else {
    convertToSuitable(entry);
    return takeFrom(entry, low, false);
  }
  entry.setCount(count - 1);
  return true;
}
