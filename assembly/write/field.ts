// Integers of 1 to 64 bits in a bitmap, as https://redis.io/docs/latest/commands/bitfield defines them:
// the bit at the field's offset is its most significant one. An unsigned field has at most 63 bits.

import { argument, reply } from "../env/memory";
import { Own } from "../env/view";
import { Header } from "../arena/layout/header";
import { Entry, Offset } from "../arena/layout/entry";
import { Directory } from "../arena/read/directory";
import { Kind } from "../container/kind";
import { Container } from "../container/limits";
import { convertDepleted, isDepleted, trim } from "./shrink";
import { insertRevocable, removeKeepingKind } from "./point";
import { makeStretchRemovable, settleContainer } from "./undo";
import { Words } from "../read/word";
import { wordOf } from "../read/container";

/** Rules for a value that the field cannot hold. */
export const enum Overflow { WRAP = 0, SAT = 1, FAIL = 2 }

/** The value of the field of `width` bits at `offset`, sign-extended if `signed`. */
export function field(offset: u64, width: u32, signed: u32): i64 {
  const key = Offset.key(offset), entry = Directory.find(key), into = <u32>offset & 63, last = offset + 63;
  const first = BitField.wordAt(entry, offset), second = into + width > 64
    ? BitField.wordAt(Offset.key(last) == key ? entry : Directory.find(Offset.key(last)), last) : 0;
  return BitField.in(first, second, into, width, signed);
}

/** Reads fields, and computes their new values. */
export abstract class BitField {
  @inline static readonly FIRST_BIT: u64 = <u64>1 << 63;

  /**
   * The 64-bit word that holds `offset`, the least offset lowest.
   * `entry` is that of its container, 0 if there is none.
   */
  @inline static wordAt(entry: Entry, offset: u64): u64 {
    return entry ? wordOf(entry, Offset.low(offset) >> 6) : 0;
  }

  /**
   * The value of the field that begins at bit `into` of the word `first` and may
   * reach into `second`, the next one.
   */
  @inline static in(first: u64, second: u64, into: u32, width: u32, signed: u32): i64 {
    let bits = first >> into;
    if (into + width > 64) bits |= second << (64 - into);
    return BitField.wrapped(Words.reversed(bits) >> (64 - width), width, signed);
  }

  /**
   * The value to write for `value`, which is `beyond` the field's range or, if that is 0, within it.
   * `overflow` is WRAP or SAT.
   */
  @inline static newValue(value: i64, width: u32, signed: u32, beyond: i32, overflow: Overflow): i64 {
    return beyond && overflow == Overflow.SAT ? BitField.limit(beyond, width, signed)
      : BitField.wrapped(value, width, signed);
  }

  @inline private static wrapped(value: u64, width: u32, signed: u32): i64 {
    const unused = 64 - width;
    return signed ? <i64>(value << unused) >> unused : <i64>((value << unused) >> unused);
  }

  // --- Overflow ----------------------------------------------------------------------------------------------

  @inline private static greatest(width: u32, signed: u32): i64 {
    return <i64>((u64.MAX_VALUE >> (64 - width)) >> signed);
  }

  /** The end of the field's range that was passed, above (1) or below (-1). */
  @inline private static limit(beyond: i32, width: u32, signed: u32): i64 {
    if (beyond > 0) return BitField.greatest(width, signed);
    return signed ? ~BitField.greatest(width, 1) : 0;
  }

  /**
   * 1 if value + increment is above the field's range, -1 if below it, otherwise 0.
   * With an increment of 0 any value is allowed.
   */
  @inline static beyond(value: i64, increment: i64, width: u32, signed: u32): i32 {
    return signed ? BitField.beyondSigned(value, increment, width)
      : BitField.beyondUnsigned(<u64>value, increment, width);
  }

  /**
   * 1 if value + increment is above an unsigned field's range, -1 if below it, otherwise 0.
   * With an increment of 0 any value is allowed.
   */
  private static beyondUnsigned(value: u64, increment: i64, width: u32): i32 {
    const max = <u64>BitField.greatest(width, 0);
    if (value > max || (increment > 0 && u64(increment) > max - value)) return 1;
    return increment < 0 && u64(-increment) > value ? -1 : 0;
  }

  /** beyondUnsigned() for a signed field. */
  private static beyondSigned(value: i64, increment: i64, width: u32): i32 {
    const max = BitField.greatest(width, 1), min = ~max;
    if (value > max || (increment > 0 && value > max - increment)) return 1;
    return value < min || (increment < 0 && value < min - increment) ? -1 : 0;
  }
}

/**
 * Writes `value` to the field. Adds its old and its new value, as the 64 bits of an i64, to the reply before
 * anything is changed. Where the value does not fit and `overflow` is FAIL, it writes nothing, replies with
 * the old value twice, and returns 0; otherwise 1.
 */
export function setField(offset: u64, width: u32, signed: u32, value: i64, overflow: Overflow): u32 {
  const old = field(offset, width, signed), beyond = BitField.beyond(value, 0, width, signed);
  if (beyond && overflow == Overflow.FAIL) return keep(old);
  return put(offset, width, old, BitField.newValue(value, width, signed, beyond, overflow));
}

/** Adds `increment` to the field, with the reply and the result of setField(). */
export function addToField(offset: u64, width: u32, signed: u32, increment: i64, overflow: Overflow): u32 {
  const old = field(offset, width, signed), beyond = BitField.beyond(old, increment, width, signed);
  if (beyond && overflow == Overflow.FAIL) return keep(old);
  return put(offset, width, old, BitField.newValue(old + increment, width, signed, beyond, overflow));
}

/** Leaves the field as it is, with the reply and the result of setField(). */
function keep(old: i64): u32 {
  reply.member(old);
  reply.member(old);
  return 0;
}

/** Changes the field from `old` to `value`, with the reply and the result of setField(). */
function put(offset: u64, width: u32, old: i64, value: i64): u32 {
  reply.member(old);
  reply.member(value);
  write(offset, width, old, value);
  return 1;
}

// --- Changing bits -----------------------------------------------------------------------------------------
// In the words here, the highest bit is that of the first offset, as in fields.

/**
 * Changes the field from `old` to `value`, bit by bit where they differ. Members are added first
 * and removed last, when nothing needs memory any more, so that takeBackField() can undo a
 * change that runs out of memory.
 */
function write(offset: u64, width: u32, old: i64, value: i64): void {
  const others = <u64>(old ^ value) << (64 - width);
  const added = others & (<u64>value << (64 - width));
  const gone = others & ~added;
  if (added) addBits(offset, added);
  if (gone) {
    const key = Offset.key(offset);
    const inFirst = Container.UNIVERSE - Offset.low(offset);
    const first = inFirst < 64 ? gone & ~(u64.MAX_VALUE >> inFirst) : gone;
    if (first) makeBitsRemovable(key, Offset.low(offset), first);
    if (gone != first) makeBitsRemovable(key + 1, 0, gone << inFirst);
    takeBits(offset, gone);
  }
  if (argument.deferred()) settleField(offset, width);
}

/** Adds the offsets of the 1 bits of `bits`, so that they can be taken back without memory. */
export function addBits(offset: u64, bits: u64): void {
  for (let left = bits; left; left &= ~(BitField.FIRST_BIT >> clz(left))) insertRevocable(offset + clz(left));
}

/**
 * Removes the offsets of the 1 bits of `bits`, which are members.
 * Needs no memory after makeBitsRemovable() for them.
 */
export function takeBits(offset: u64, bits: u64): void {
  // The container of the bit before, and its entry, 0 if it may have changed.
  let known = Offset.KEY_MAX + 1, entry: Entry = changetype<Entry>(0);
  for (let left = bits; left; left &= ~(BitField.FIRST_BIT >> clz(left))) {
    const gone = offset + clz(left), key = Offset.key(gone);
    if (key != known || !entry) {
      if (entry) trim(entry);
      entry = Directory.find(key);
      known = key;
    }
    const stays = !entry.isGroup() && entry.count<Own>() > 1;     // a packed leaf may change its form
    removeKeepingKind(entry, key, Offset.low(gone));
    if (!stays) entry = changetype<Entry>(0);
  }
  if (entry) trim(entry);
}

/**
 * Makes it possible to remove members of container `key` without memory:
 * the 1 bits of `bits`, of which the highest is that of `low`.
 */
export function makeBitsRemovable(key: u64, low: u32, bits: u64): void {
  if (Header.isTiny<Own>()) return;
  const gone = <u32>popcnt(bits);
  let entry = Directory.find(key);
  if (isDepleted(entry, gone)) convertDepleted(entry, gone);
  for (let left = bits, at = low; left;) {
    // Of the first stretch of 1 bits.
    const skipped = <u32>clz(left), length = <u32>clz(~(left << skipped));
    entry = makeStretchRemovable(entry, key, at + skipped, at + skipped + length - 1);
    at += skipped + length;
    left = skipped + length < 64 ? left << (skipped + length) : 0;
  }
}

/**
 * Removes those of the offsets of the 1 bits of `bits` that are members, the last one first:
 * all were absent before. Needs no memory.
 */
export function removeAbsentBefore(offset: u64, bits: u64): void {
  for (let left = bits; left; left &= left - 1) {
    const added = offset + 63 - ctz(left), key = Offset.key(added), entry = Directory.find(key);
    if (entry && entry.kind<Own>() != Kind.FULL) removeKeepingKind(entry, key, Offset.low(added));
  }
}

/** Gives the containers of the field their final form. Needs no memory. */
function settleField(offset: u64, width: u32): void {
  const last = Offset.key(offset + width - 1);
  settleContainer(Offset.key(offset));
  if (last != Offset.key(offset)) settleContainer(last);
}

/**
 * Undoes a setField() or addToField() that ran out of memory at the field whose
 * value was `old`. Needs no memory.
 */
export function takeBackField(offset: u64, width: u32, old: i64): void {
  removeAbsentBefore(offset, ~<u64>old << (64 - width));
  settleField(offset, width);
}
