// Integers of 1 to 64 bits in a bitmap, as https://redis.io/docs/latest/commands/bitfield has them: the bit at the field's offset is its most
// significant one. An unsigned field has at most 63 bits.

import { reply } from "./memory";
import { keyOf, lowOf } from "./entry";
import { findEntry } from "./directory";
import { set } from "./point";
import { reversed, wordOf } from "./word";

/** What becomes of a value that the field cannot hold. */
export const enum Overflow { WRAP = 0, SAT = 1, FAIL = 2 }

/** The `width` bits from `offset` on, sign-extended if `signed`. */
export function field(offset: u64, width: u32, signed: u32): i64 {
  const into = offset & 63, bits = bitsAt(offset) >> into;
  const rest = into && into + width > 64 ? bitsAt(offset + 63) << (64 - into) : 0;
  return wrapped(reversed(bits | rest) >> (64 - width), width, signed);
}

/** The 64 bits around `offset`, the least lowest. */
function bitsAt(offset: u64): u64 {
  const entry = findEntry(keyOf(offset));
  return entry ? wordOf(entry, lowOf(offset) >> 6) : 0;
}

/**
 * Writes `value` and hands over the field's old value (as the 64 bits of an i64). Returns 0, with nothing written or handed over, when it
 * does not fit and that is to fail.
 */
export function setField(offset: u64, width: u32, signed: u32, value: i64, overflow: Overflow): u32 {
  const old = field(offset, width, signed);
  const beyond = signed ? beyondSigned(value, 0, width) : beyondUnsigned(<u64>value, 0, width);
  if (beyond && overflow == Overflow.FAIL) return 0;
  write(offset, width, old, beyond && overflow == Overflow.SAT ? limit(beyond, width, signed) : value);
  reply.member(old);
  return 1;
}

/** Adds `increment` to the field and hands over its new value; returns 0 as setField() does. */
export function addToField(offset: u64, width: u32, signed: u32, increment: i64, overflow: Overflow): u32 {
  const old = field(offset, width, signed);
  const beyond = signed ? beyondSigned(old, increment, width) : beyondUnsigned(old, increment, width);
  if (beyond && overflow == Overflow.FAIL) return 0;
  const sum = beyond && overflow == Overflow.SAT ? limit(beyond, width, signed) : wrapped(old + increment, width, signed);
  write(offset, width, old, sum);
  reply.member(sum);
  return 1;
}

// @ts-ignore: decorator
@inline function wrapped(value: u64, width: u32, signed: u32): i64 {
  const unused = 64 - width;
  return signed ? <i64>(value << unused) >> unused : <i64>((value << unused) >> unused);
}

/** Makes the field, which is `old`, `value`. */
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

/** The end of the field's range that was passed: above (1) or below (-1). */
// @ts-ignore: decorator
@inline function limit(beyond: i32, width: u32, signed: u32): i64 {
  if (beyond > 0) return greatest(width, signed);
  return signed ? ~greatest(width, 1) : 0;
}

/** Whether value + increment is above (1) or below (-1) what an unsigned field holds. The value may be any if the increment is 0. */
function beyondUnsigned(value: u64, increment: i64, width: u32): i32 {
  const max = <u64>greatest(width, 0);
  if (value > max || (increment > 0 && <u64>increment > max - value)) return 1;
  return increment < 0 && <u64>(-increment) > value ? -1 : 0;
}

function beyondSigned(value: i64, increment: i64, width: u32): i32 {
  const max = greatest(width, 1), min = ~max;
  if (value > max || (increment > 0 && value > max - increment)) return 1;
  return value < min || (increment < 0 && value < min - increment) ? -1 : 0;
}
