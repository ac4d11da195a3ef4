// Integers of 1 to 64 bits in a bitmap, as https://redis.io/docs/latest/commands/bitfield defines them: the bit at the field's offset is
// its most significant one. An unsigned field has at most 63 bits.

import { reply } from "../env/memory";
import { Own } from "../env/view";
import { isTiny, setUnsettled, unsettled } from "../arena/arena";
import { Kind, entryKind, keyOf, lowOf } from "../arena/entry";
import { findEntry } from "../arena/directory";
import { UNIVERSE } from "../container/limits";
import { convertDepleted, isDepleted } from "./edit";
import { insert, removeAt } from "./point";
import { makeStretchRemovable, settleContainer } from "./undo";
import { reversed, wordOf } from "../read/word";

/** What to do with a value that the field cannot hold. */
export const enum Overflow { WRAP = 0, SAT = 1, FAIL = 2 }

/** The value of the field of `width` bits at `offset`, sign-extended if `signed`. */
export function field(offset: u64, width: u32, signed: u32): i64 {
  const key = keyOf(offset), entry = findEntry(key), into = offset & 63;
  let bits = wordAt(entry, offset) >> into;
  if (into + width > 64) {
    const last = offset + 63;
    bits |= wordAt(keyOf(last) == key ? entry : findEntry(keyOf(last)), last) << (64 - into);
  }
  return wrapped(reversed(bits) >> (64 - width), width, signed);
}

/** The 64-bit word that holds `offset`, the least offset lowest. `entry` is that of its container, 0 if there is none. */
// @ts-ignore: decorator
@inline function wordAt(entry: usize, offset: u64): u64 { return entry ? wordOf(entry, lowOf(offset) >> 6) : 0; }

/**
 * Writes `value` to the field. Adds its old and its new value, as the 64 bits of an i64, to the reply before anything is changed. Where
 * the value does not fit and `overflow` is FAIL, it writes nothing, replies with the old value twice, and returns 0; otherwise 1.
 */
export function setField(offset: u64, width: u32, signed: u32, value: i64, overflow: Overflow): u32 {
  const old = field(offset, width, signed);
  const beyond = signed ? beyondSigned(value, 0, width) : beyondUnsigned(<u64>value, 0, width);
  return put(offset, width, signed, old, value, beyond, overflow);
}

/** Adds `increment` to the field, with the reply and the answer of setField(). */
export function addToField(offset: u64, width: u32, signed: u32, increment: i64, overflow: Overflow): u32 {
  const old = field(offset, width, signed);
  const beyond = signed ? beyondSigned(old, increment, width) : beyondUnsigned(old, increment, width);
  return put(offset, width, signed, old, old + increment, beyond, overflow);
}

/** Changes the field from `old` to `value`, or, where that is `beyond` the field's range, to what `overflow` makes of it. */
function put(offset: u64, width: u32, signed: u32, old: i64, value: i64, beyond: i32, overflow: Overflow): u32 {
  const fails = beyond != 0 && overflow == Overflow.FAIL;
  if (fails) value = old;
  else value = beyond && overflow == Overflow.SAT ? limit(beyond, width, signed) : wrapped(value, width, signed);
  reply.member(old);
  reply.member(value);
  write(offset, width, old, value);
  return u32(!fails);
}

// @ts-ignore: decorator
@inline function wrapped(value: u64, width: u32, signed: u32): i64 {
  const unused = 64 - width;
  return signed ? <i64>(value << unused) >> unused : <i64>((value << unused) >> unused);
}

/**
 * Changes the field from `old` to `value`, bit by bit where they differ. Members are added first and removed last, when nothing needs
 * memory any more, so that takeBackField() can undo a change that runs out of memory. In the words here, the first bit is the highest.
 */
function write(offset: u64, width: u32, old: i64, value: i64): void {
  const others = <u64>(old ^ value) << (64 - width), added = others & (<u64>value << (64 - width));
  for (let left = added; left; left &= ~(FIRST_BIT >> clz(left))) insert(offset + clz(left), true);
  if (others != added) removeBits(offset, others & ~added);
  settleField(offset, width);
}

// @ts-ignore: decorator
@inline const FIRST_BIT: u64 = <u64>1 << 63;

/** Removes the offsets of the 1 bits of `bits`, which are members; the highest bit is that of `offset`. */
function removeBits(offset: u64, bits: u64): void {
  const key = keyOf(offset), inFirst = UNIVERSE - lowOf(offset), first = inFirst < 64 ? bits & ~(u64.MAX_VALUE >> inFirst) : bits;
  if (first) makeBitsRemovable(key, lowOf(offset), first);
  if (bits != first) makeBitsRemovable(key + 1, 0, bits << inFirst);
  for (let left = bits; left; left &= ~(FIRST_BIT >> clz(left))) {
    const gone = offset + clz(left);
    removeAt(findEntry(keyOf(gone)), keyOf(gone), lowOf(gone), true);
  }
}

/** Makes it possible to remove members of container `key` without memory: the 1 bits of `bits`, of which the highest is that of `low`. */
function makeBitsRemovable(key: u64, low: u32, bits: u64): void {
  if (isTiny<Own>()) return;
  const gone = <u32>popcnt(bits);
  let entry = findEntry(key);
  if (isDepleted(entry, gone)) convertDepleted(entry, gone);
  for (let left = bits, at = low; left;) {
    const skipped = <u32>clz(left), length = <u32>clz(~(left << skipped));      // of the first stretch of 1 bits
    entry = makeStretchRemovable(entry, key, at + skipped, at + skipped + length - 1);
    at += skipped + length;
    left = skipped + length < 64 ? left << (skipped + length) : 0;
  }
}

/** Gives the containers of the field their final form. Needs no memory. */
function settleField(offset: u64, width: u32): void {
  if (isTiny<Own>() || !unsettled<Own>()) return;
  const last = keyOf(offset + width - 1);
  settleContainer(keyOf(offset));
  if (last != keyOf(offset)) settleContainer(last);
  setUnsettled(0);
}

/** Undoes a setField() or addToField() that ran out of memory at the field whose value was `old`. Needs no memory. */
export function takeBackField(offset: u64, width: u32, old: i64): void {
  for (let i = width; i; i--) {
    const added = offset + i - 1, key = keyOf(added), entry = findEntry(key);
    if ((<u64>old >> (width - i)) & 1 || !entry || entryKind<Own>(entry) == Kind.FULL) continue;
    removeAt(entry, key, lowOf(added), true);
  }
  settleField(offset, width);
}

// @ts-ignore: decorator
@inline function greatest(width: u32, signed: u32): i64 { return <i64>((u64.MAX_VALUE >> (64 - width)) >> signed); }

/** The end of the field's range that was passed, above (1) or below (-1). */
// @ts-ignore: decorator
@inline function limit(beyond: i32, width: u32, signed: u32): i64 {
  if (beyond > 0) return greatest(width, signed);
  return signed ? ~greatest(width, 1) : 0;
}

/** 1 if value + increment is above an unsigned field's range, -1 if below it, otherwise 0. With an increment of 0 any value is allowed. */
function beyondUnsigned(value: u64, increment: i64, width: u32): i32 {
  const max = <u64>greatest(width, 0);
  if (value > max || (increment > 0 && u64(increment) > max - value)) return 1;
  return increment < 0 && u64(-increment) > value ? -1 : 0;
}

/** beyondUnsigned() for a signed field. */
function beyondSigned(value: i64, increment: i64, width: u32): i32 {
  const max = greatest(width, 1), min = ~max;
  if (value > max || (increment > 0 && value > max - increment)) return 1;
  return value < min || (increment < 0 && value < min - increment) ? -1 : 0;
}
