// Reading and changing the value of one id. A change first makes sure of the memory that it takes, so that the
// arena is unchanged if it runs out.

import { Side, reply, segments } from "../env/memory";
import { Own } from "../env/view";
import { Arena } from "../arena/layout/header";
import { Blocks, Units } from "./blocks";
import { Bytes } from "./bytes";
import { Leaves } from "./directory";
import { Form, Leaf, Values } from "./layout";
import { Pairs } from "./pairs";
import { Reshape } from "./reshape";
import { Slices } from "./slices";
import { Wide } from "./wide";

/** Which values setValue() stores: bits, as of the options of ZADD. */
export const enum Only { NEW = 1, PRESENT = 2, GREATER = 4, LESS = 8,
  /** Keeps what restoring the old values would need: for a list of changes, which settle() ends. */
  REVOCABLY = 16 }

/** What setValue() has done. */
export const enum Done { NOTHING, ADDED, CHANGED }

/** What to do with the value of an id. */
export const enum Deed { SET, ADD, REMOVE, SETTLE }

/**
 * Does one of the deeds above, for the host. `value` is what to store or to add. REVOCABLY is for REMOVE, too.
 */
export function changeValue(deed: Deed, id: u64, value: i64, rules: u32): Done {
  switch (deed) {
    case Deed.SET: return setValue(id, value, rules);
    case Deed.ADD: return addToValue(id, value);
    case Deed.REMOVE: return <Done>removeId(id, (rules & Only.REVOCABLY) != 0);
    default: settleId(id);
  }
  return Done.NOTHING;
}

/**
 * Where an id is: set by find() in memory that a call does not otherwise use would be state, so it is one
 * number.
 */
abstract class Found {
  @inline static readonly NONE: u64 = u64.MAX_VALUE;
  @inline static of(leaf: u32, place: u32): u64 { return <u64>leaf << 32 | place; }
  @inline static leaf(found: u64): u32 { return <u32>(found >> 32); }
  @inline static place(found: u64): u32 { return <u32>found; }
}

/** The leaf and place of an id; NONE if it has no value. In a tiny arena the leaf is 0. */
function find(id: u64): u64 {
  if (!Values.isFull<Own>()) {
    const p = Pairs.ofTiny<Own>(), i = Pairs.below<Own>(p, id);
    return i < Pairs.count(p) && Pairs.id<Own>(p, i) == id ? i : Found.NONE;
  }
  const upTo = Leaves.upTo<Own>(id);
  if (!upTo) return Found.NONE;
  const leaf = Values.leafAt<Own>(upTo - 1), place = id - leaf.first<Own>();
  if (leaf.isSliced<Own>()) {
    return place < Slices.IDS && Slices.has<Own>(leaf.at<Own>(), <u32>place)
      ? Found.of(upTo - 1, <u32>place) : Found.NONE;
  }
  const p = Pairs.ofLeaf<Own>(leaf), i = Pairs.below<Own>(p, place);
  return i < Pairs.count(p) && Pairs.id<Own>(p, i) == place ? Found.of(upTo - 1, i) : Found.NONE;
}

/** The value at a place that find() has found. */
function valueAt(found: u64): i64 {
  const place = Found.place(found);
  if (!Values.isFull<Own>()) return Pairs.value<Own>(Pairs.ofTiny<Own>(), place);
  const leaf = Values.leafAt<Own>(Found.leaf(found));
  return leaf.isSliced<Own>()
    ? leaf.base<Own>() + <i64>Slices.get<Own>(leaf.at<Own>(), leaf.width<Own>(), place)
    : Pairs.value<Own>(Pairs.ofLeaf<Own>(leaf), place);
}

/** Whether the id has a value, which is added to the reply. */
export function valueOf(id: u64): u32 {
  if (segments.are(Side.OWN)) segments.seek(Side.OWN, id);
  const found = find(id);
  if (found == Found.NONE) return 0;
  reply.member(<u64>valueAt(found));
  return 1;
}

/** Stores the value of an id, if the rules allow it. The old value of a CHANGED id is added to the reply. */
export function setValue(id: u64, value: i64, rules: u32): Done {
  const found = find(id);
  if (found == Found.NONE) {
    if (rules & Only.PRESENT) return Done.NOTHING;
    addId(id, value);
    return Done.ADDED;
  }
  if (rules & Only.NEW) return Done.NOTHING;
  const before = valueAt(found);
  if (value == before || (rules & Only.GREATER && value < before) || (rules & Only.LESS && value > before)) {
    return Done.NOTHING;
  }
  replace(id, before, value, (rules & Only.REVOCABLY) != 0);
  reply.member(<u64>before);
  return Done.CHANGED;
}

/**
 * Adds to the value of an id, 0 if it has none. Adds the new value to the reply; NOTHING if it would overflow.
 */
export function addToValue(id: u64, more: i64): Done {
  const found = find(id), before: i64 = found == Found.NONE ? 0 : valueAt(found), value = before + more;
  if (((before ^ value) & (more ^ value)) < 0) return Done.NOTHING;
  if (found == Found.NONE) addId(id, value);
  else if (more) replace(id, before, value, false);
  reply.member(<u64>value);
  return found == Found.NONE ? Done.ADDED : Done.CHANGED;
}

/**
 * Removes an id. Returns whether it had a value. Takes no memory. A removal that undoes a change of a list
 * leaves the leaf as it is, so that it can take the old values of other ids, too.
 */
export function removeId(id: u64, revocable: bool): u32 {
  const found = find(id);
  if (found == Found.NONE) return 0;
  const value = valueAt(found), index = Found.leaf(found);
  reply.member(<u64>value);
  if (!Values.isFull<Own>()) {
    const p = Pairs.remove(Pairs.ofTiny<Own>(), Found.place(found));
    if (Pairs.count(p)) setTiny(p); else Values.reset();
    return 1;
  }
  const leaf = Values.leafAt<Own>(index), left = leaf.count<Own>() - 1;
  if (Values.count<Own>() == 1) { Values.reset(); return 1; }
  Values.addCount(-1);
  Wide.subtract(Values.sumAt(), value);
  if (!left) {
    Blocks.release(leaf.at<Own>(), leaf.bytes<Own>());
    Leaves.close(index);
    return 1;
  }
  if (leaf.isSliced<Own>()) Slices.removePlace(leaf.at<Own>(), leaf.width<Own>(), Found.place(found));
  else {
    const p = Pairs.ofLeaf<Own>(leaf), fewer = Pairs.remove(p, Found.place(found));
    Blocks.resize(Pairs.at(p), Leaf.room(Pairs.bytes(p)), Leaf.room(Pairs.bytes(fewer)));
  }
  leaf.setCount(left);
  loosen(leaf, value);
  if (revocable) return 1;
  tighten(leaf);
  if (leaf.isSliced<Own>()) Reshape.thin(index);
  return 1;
}

/** Ends the changes of a list for an id: the bounds of its leaf are exact again. */
export function settleId(id: u64): void {
  if (!Values.isFull<Own>()) return;
  const upTo = Leaves.upTo<Own>(id);
  if (upTo) tighten(Values.leafAt<Own>(upTo - 1));
}

// @ts-ignore: decorator
@inline function setTiny(p: u64): void {
  Values.setTiny(Pairs.count(p), Pairs.idBytes(p), Pairs.valueBytes(p));
}

/** Notes that the leaf no longer has this value, which may have been the least or greatest one. */
// @ts-ignore: decorator
@inline function loosen(leaf: Leaf, value: i64): void {
  if (value == leaf.least<Own>() || value == leaf.greatest<Own>()) leaf.setLoose(true);
}

/** Makes the bounds of the leaf those of its values. */
// @ts-ignore: decorator
@inline function tighten(leaf: Leaf): void {
  if (leaf.isLoose<Own>()) tightenLoose(leaf);
}

function tightenLoose(leaf: Leaf): void {
  if (leaf.isSliced<Own>()) {
    const at = leaf.at<Own>(), width = leaf.width<Own>(), base = leaf.base<Own>();
    leaf.setBounds(base + <i64>Slices.ownExtreme(at, width, false),
      base + <i64>Slices.ownExtreme(at, width, true));
  } else {
    const p = Pairs.ofLeaf<Own>(leaf), count = Pairs.count(p);
    leaf.setBounds(Pairs.least<Own>(p, 0, count), Pairs.greatest<Own>(p, 0, count));
  }
  leaf.setLoose(false);
}

/** Stores another value of an id whose value is `before`. */
function replace(id: u64, before: i64, value: i64, revocable: bool): void {
  if (!Values.isFull<Own>()) {
    const p = Pairs.ofTiny<Own>(), place = Pairs.below<Own>(p, id);
    const valueBytes = max(Pairs.valueBytes(p), Bytes.neededSigned(value));
    if (tinyFits(Pairs.count(p), Pairs.idBytes(p), valueBytes)) {
      const wide = Pairs.widen(p, Pairs.idBytes(p), valueBytes, 0);
      Pairs.setValue(wide, place, value);
      setTiny(wide);
      return;
    }
    promote();
  }
  const index = leafToReplace(id, value), leaf = Values.leafAt<Own>(index), place = id - leaf.first<Own>();
  if (leaf.isSliced<Own>()) {
    Slices.set(leaf.at<Own>(), leaf.width<Own>(), <u32>place, <u64>(value - leaf.base<Own>()));
  } else {
    const p = Pairs.ofLeaf<Own>(leaf);
    Pairs.setValue(p, Pairs.below<Own>(p, place), value);
  }
  Wide.subtract(Values.sumAt(), before);
  Wide.add(Values.sumAt(), value);
  widenBounds(leaf, value);
  loosen(leaf, before);
  if (!revocable) tighten(leaf);
}

/** The leaf with the id, after it has been changed so that it can hold the value in place of the id's own. */
function leafToReplace(id: u64, value: i64): u32 {
  while (true) {
    const index = Leaves.upTo<Own>(id) - 1, leaf = Values.leafAt<Own>(index);
    if (leaf.isSliced<Own>()) { fitSlices(leaf, value); return index; }
    const p = Pairs.ofLeaf<Own>(leaf), count = Pairs.count(p), idBytes = Pairs.idBytes(p);
    const valueBytes = max(Pairs.valueBytes(p), Bytes.neededSigned(value));
    const most = mostBytes(leaf, id - leaf.first<Own>(), value);
    if (fitPairs(leaf, count, idBytes, valueBytes, most)) return index;
    Reshape.makeRoom();
    Reshape.divide(index, 0);
  }
}

/** Adds an id that has no value yet. */
function addId(id: u64, value: i64): void {
  if (!Values.isFull<Own>()) {
    const p = Pairs.ofTiny<Own>(), count = Pairs.count(p), valueBytes = max(Pairs.valueBytes(p),
        Bytes.neededSigned(value)), idBytes = max(max(Pairs.idBytes(p), Bytes.needed(id)), 1);
    if (tinyFits(count + 1, idBytes, valueBytes)) {
      const wide = Pairs.widen(p, idBytes, valueBytes, 0);
      setTiny(Pairs.insert(wide, Pairs.below<Own>(wide, id), id, value));
      return;
    }
    promote();
  }
  const leaf = Values.leafAt<Own>(leafToAdd(id, value)), count = leaf.count<Own>();
  const place = id - leaf.first<Own>();
  if (leaf.isSliced<Own>()) {
    const at = leaf.at<Own>();
    Slices.addPlace(at, <u32>place);
    Slices.set(at, leaf.width<Own>(), <u32>place, <u64>(value - leaf.base<Own>()));
  } else {
    const p = Pairs.ofLeaf<Own>(leaf);
    Pairs.insert(p, Pairs.below<Own>(p, place), place, value);
  }
  leaf.setCount(count + 1);
  Values.addCount(1);
  Wide.add(Values.sumAt(), value);
  if (count) widenBounds(leaf, value); else leaf.setBounds(value, value);
}

/** The leaf to which the id belongs, after it has been changed, or made, so that it can take id and value. */
function leafToAdd(id: u64, value: i64): u32 {
  while (true) {
    const upTo = Leaves.upTo<Own>(id);
    if (!upTo || !Values.leafAt<Own>(upTo - 1).covers(id)) { extendOrMake(upTo, id); continue; }
    const leaf = Values.leafAt<Own>(upTo - 1);
    if (leaf.isSliced<Own>()) { fitSlices(leaf, value); return upTo - 1; }
    const p = Pairs.ofLeaf<Own>(leaf), count = Pairs.count(p), place = id - leaf.first<Own>();
    const idBytes = max(Pairs.idBytes(p), Bytes.needed(place));
    const valueBytes = max(Pairs.valueBytes(p), Bytes.neededSigned(value));
    // Behind a leaf of some pairs, a new one may have shorter ids.
    const begins = count >= BEGINS_FROM && idBytes > max(Pairs.idBytes(p), 2)
      && place > Pairs.id<Own>(p, count - 1);
    const most = mostBytes(leaf, place, value);
    if (!begins && fitPairs(leaf, count + 1, idBytes, valueBytes, most)) return upTo - 1;
    Reshape.makeRoom();
    if (begins || !Reshape.divide(upTo - 1, place)) makeLeaf(upTo, id & ~(<u64>Slices.IDS - 1));
  }
}

/** Pairs from which on an id behind them that needs wider ids begins a new leaf. */
// @ts-ignore: decorator
@inline export const BEGINS_FROM: u32 = 32;

/** Lets the leaf of pairs behind an id begin earlier, so that it covers the id, or makes a leaf for it. */
function extendOrMake(upTo: u32, id: u64): void {
  const floor = upTo ? Values.leafAt<Own>(upTo - 1).first<Own>() + Slices.IDS : 0;
  const first = max(floor, id & ~<u64>0xffff);
  if (upTo < Values.leaves<Own>() && !Values.leafAt<Own>(upTo).isSliced<Own>()) {
    const next = Values.leafAt<Own>(upTo), p = Pairs.ofLeaf<Own>(next), more = next.first<Own>() - first;
    const idBytes = Bytes.needed(Pairs.id<Own>(p, Pairs.count(p) - 1) + more);
    if (idBytes <= max(Pairs.idBytes(p), 2)
      && fitPairs(next, Pairs.count(p), max(idBytes, Pairs.idBytes(p)), Pairs.valueBytes(p), Pairs.BYTES_MAX)) {
      Pairs.widen(Pairs.ofLeaf<Own>(next), next.idBytes<Own>(), next.width<Own>(), more);
      next.setFirst(first);
      return;
    }
  }
  Reshape.makeRoom();
  makeLeaf(upTo, first);
}

/** Makes an empty leaf of pairs, for which there is room: the next change adds a pair to it. */
function makeLeaf(index: u32, first: u64): void {
  Leaves.open(index, 1);
  const leaf = Values.leafAt<Own>(index);
  memory.fill(changetype<usize>(leaf), 0, Leaf.BYTES);
  leaf.setFirst(first);
  leaf.setAt(Blocks.allocate(1));
  leaf.setWidths(1, 0);
}

// @ts-ignore: decorator
@inline function widenBounds(leaf: Leaf, value: i64): void {
  if (value < leaf.least<Own>() || value > leaf.greatest<Own>()) {
    leaf.setBounds(min(leaf.least<Own>(), value), max(leaf.greatest<Own>(), value));
  }
}

/** Whether a tiny arena can hold so many pairs; then makes room for them. */
// @ts-ignore: decorator
@inline function tinyFits(count: u32, idBytes: u32, valueBytes: u32): bool {
  const bytes = <usize>count * (idBytes + valueBytes);
  if (bytes > Pairs.BYTES_MAX) return false;
  Arena.reserve(max(Values.PAIRS_AT + bytes, 16));
  return true;
}

/**
 * The most bytes of a leaf of pairs with the id `place` behind the first one, and its value. Pairs that could
 * be slices of one leaf may not take more than these.
 */
function mostBytes(leaf: Leaf, place: u64, value: i64): usize {
  const p = Pairs.ofLeaf<Own>(leaf), count = Pairs.count(p);
  if (!count) return Pairs.BYTES_MAX;
  const least = Pairs.id<Own>(p, 0), greatest = Pairs.id<Own>(p, count - 1);
  if (((least ^ greatest) | (least ^ place)) >= Slices.IDS) return Pairs.BYTES_MAX;
  const range = <u64>(max(leaf.greatest<Own>(), value) - min(leaf.least<Own>(), value));
  return min(Pairs.WINDOW_BYTES_MAX, Slices.blockBytes(Bytes.bits(range)));
}

/**
 * Whether the leaf of pairs can hold `count` pairs of these widths in `most` bytes. Then gives it a block for
 * them, and its pairs the widths.
 */
export function fitPairs(leaf: Leaf, count: u32, idBytes: u32, valueBytes: u32, most: usize): bool {
  const bytes = <usize>count * (idBytes + valueBytes), p = Pairs.ofLeaf<Own>(leaf);
  if (bytes > most) return false;
  leaf.setAt(Blocks.resize(Pairs.at(p), Leaf.room(Pairs.bytes(p)), Leaf.room(bytes)));
  Pairs.widen(Pairs.ofLeaf<Own>(leaf), idBytes, valueBytes, 0);
  leaf.setWidths(idBytes, valueBytes);
  return true;
}

/** Gives a leaf of slices a base and slices enough for the value. */
// @ts-ignore: decorator
@inline function fitSlices(leaf: Leaf, value: i64): void {
  const width = leaf.width<Own>(), more = <u64>(value - leaf.base<Own>());
  if (value < leaf.base<Own>() || (width < 64 && more >> width)) widenSlices(leaf, value);
}

/**
 * The rare part of fitSlices(). Half of the room that is left is below the values if they grow downwards: so a
 * leaf whose values fall again and again is written anew a few times for each slice, not for each value.
 */
function widenSlices(leaf: Leaf, value: i64): void {
  const low = min(value, leaf.least<Own>()), high = max(value, leaf.greatest<Own>()), base = leaf.base<Own>();
  const at = leaf.at<Own>(), old = leaf.width<Own>();
  const width = Bytes.bits(<u64>(high - low));
  let newBase = low;
  if (value < base && width < 64) {
    const room = slackOf(width, low, high) / 2;
    if (room < <u64>(low - i64.MIN_VALUE)) newBase = low - <i64>room;
  }
  const to = Blocks.allocate(Slices.blockBytes(width));
  Slices.copyPlus<Own>(to, width, at, old, <u64>(base - newBase));
  Blocks.release(at, Slices.blockBytes(old));
  leaf.setAt(to);
  leaf.setBase(newBase);
  leaf.setWidths(0, width);
}

/** How much greater the range of `width` slices is than that of the values. */
// @ts-ignore: decorator
@inline function slackOf(width: u32, low: i64, high: i64): u64 {
  return (<u64>1 << width) - 1 - <u64>(high - low);
}

/** Makes a tiny arena a full one of a single leaf. */
function promote(): void {
  const p = Pairs.ofTiny<Own>(), bytes = Pairs.bytes(p), count = Pairs.count(p);
  Arena.reserve(Values.BYTES + Units.bytes(Leaf.room(bytes)) + Leaves.firstBytes());
  memory.copy(Values.BYTES, Values.PAIRS_AT, bytes);
  memory.fill(0, 0, Values.BYTES);
  store<u8>(0, Form.FULL);
  Values.setBump(Values.BYTES + Units.bytes(Leaf.room(bytes)));
  Leaves.open(0, 1);
  const leaf = Values.leafAt<Own>(0);
  const moved = Pairs.of(Values.BYTES, count, Pairs.idBytes(p), Pairs.valueBytes(p));
  memory.fill(changetype<usize>(leaf), 0, Leaf.BYTES);
  leaf.setAt(Values.BYTES);
  leaf.setCount(count);
  leaf.setWidths(Pairs.idBytes(p), Pairs.valueBytes(p));
  Values.addCount(count);
  for (let i: u32 = 0; i < count; i++) Wide.add(Values.sumAt(), Pairs.value<Own>(moved, i));
  leaf.setBounds(Pairs.least<Own>(moved, 0, count), Pairs.greatest<Own>(moved, 0, count));
}
