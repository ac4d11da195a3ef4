// Integers of 1 to 64 bits in a bitmap, as https://redis.io/docs/latest/commands/bitfield defines them: the bit at the field's offset is
// its most significant one. An unsigned field has at most 63 bits.

import { reply } from "../env/memory";
import { keyOf, lowOf } from "../arena/entry";
import { findEntry } from "../arena/directory";
import { set } from "./point";
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

/** Changes the field from `old` to `value`, bit by bit where they differ. */
function write(offset: u64, width: u32, old: i64, value: i64): void {
  let others = <u64>(old ^ value) << (64 - width);            // the field's first bit is the highest
  while (others) {
    const i = <u32>clz(others);
    set(offset + i, <u32>(value >> (width - 1 - i)) & 1);
    others &= ~((<u64>1 << 63) >> i);
  }
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
