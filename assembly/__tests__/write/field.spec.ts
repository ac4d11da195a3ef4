import { Overflow, addToField, field, setField } from "../../write/field";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { Model, OFFSET_MAX, anyModel } from "../support/bitmap-model";
import { enter, memberAt, members } from "../world/world";

/** The `width` bits from `offset` on, highest first. */
function bitsAt(model: Model, offset: u64, width: u32): u64 {
  let value: u64 = 0;
  for (let i: u32 = 0; i < width; i++) value = (value << 1) | u64(model.has(offset + i));
  return value;
}

function putBits(model: Model, offset: u64, width: u32, value: u64): void {
  for (let i: u32 = 0; i < width; i++) {
    if ((value >> (width - 1 - i)) & 1) model.add(offset + i); else model.remove(offset + i);
  }
}

/** The lowest `width` bits of `value`, read as a signed or unsigned number. */
function wrapped(value: i64, width: u32, signed: u32): i64 {
  if (width == 64) return value;
  const range = <i64>1 << width, low = value & (range - 1);
  return signed && low >= range >> 1 ? low - range : low;
}

/**
 * The new value of a field that should become `value`. Sets `fits` to false if the change must be refused.
 */
let fits: bool = false;
function normalized(value: i64, width: u32, signed: u32, overflow: Overflow): i64 {
  const most: i64 = (<i64>1 << (width - signed)) - 1, least: i64 = signed ? -most - 1 : 0;
  fits = value >= least && value <= most;
  if (fits || overflow == Overflow.WRAP) { fits = true; return wrapped(value, width, signed); }
  if (overflow == Overflow.FAIL) return 0;
  fits = true;
  return value < least ? least : most;
}

/** Sets a field to `start`, then adds `value` to it or sets it to `value`, and checks the result. */
function expectField(
  adds: bool, width: u32, signed: u32, start: i64, value: i64,
  overflow: Overflow, result: i64, fails: bool = false,
): void {
  freshArena(40);
  setField(3, width, signed, start, Overflow.WRAP);
  enter();
  const done = adds
    ? addToField(3, width, signed, value, overflow)
    : setField(3, width, signed, value, overflow);
  const text = (signed ? "i" : "u") + width.toString() + " "
    + start.toString() + (adds ? " + " : " = ") + value.toString();
  expect(done).toBe(u32(!fails), text);
  expect(members()).toBe(2, text);
  expect(field(3, width, signed)).toBe(fails ? start : result, text);
  expect(<i64>memberAt(0)).toBe(start, text);
  expect(<i64>memberAt(1)).toBe(fails ? start : result, text);
}

describe("fields", () => {
  it("of up to 40 bits can be read, set and added to at any offset", () => {
    const trial = new Trial(960), random = trial.random;
    for (let round = 0; round < 12; round++) {
      const model = anyModel(0, 1, 3, random), base: u64 = round % 4 == 3 ? 0 : random.below(140000);
      build(model, Form.EITHER, random);
      for (let i = 0; i < 150; i++) {
        trial.steps++;
        enter();
        const width = random.between(1, 40), signed = random.below(2);
        const offset = base + random.below(400), overflow: Overflow = random.below(3);
        const old = wrapped(bitsAt(model, offset, width), width, signed);
        trial.same(field(offset, width, signed), old, "field");
        const value = <i64>random.next() >> (20 + random.below(43)), adds = random.below(2) != 0;
        const result = normalized(adds ? old + value : value, width, signed, overflow);
        if (!adds && !signed && value < 0) continue;          // has a test of its own below
        const done = adds
          ? addToField(offset, width, signed, value, overflow)
          : setField(offset, width, signed, value, overflow);
        trial.same(done, u32(fits), "whether the change is made");
        trial.same(members(), 2, "number of values in the reply");
        trial.same(memberAt(0), old, "old value");
        trial.same(memberAt(1), done ? result : old, "new value");
        if (done) putBits(model, offset, width, result);
      }
      trial.is(model, "changed");
    }
    trial.end();
  });

  it("of 63 and 64 bits wrap, saturate or fail beyond their limits", () => {
    const most = i64.MAX_VALUE, least = i64.MIN_VALUE;
    expectField(true, 64, 1, most, 1, Overflow.WRAP, least);
    expectField(true, 64, 1, most, 1, Overflow.SAT, most);
    expectField(true, 64, 1, most, 1, Overflow.FAIL, 0, true);
    expectField(true, 64, 1, least, -1, Overflow.WRAP, most);
    expectField(true, 64, 1, least, -1, Overflow.SAT, least);
    expectField(true, 64, 1, least, -1, Overflow.FAIL, 0, true);
    expectField(true, 64, 1, least, least, Overflow.WRAP, 0);
    expectField(true, 64, 1, least, least, Overflow.SAT, least);
    expectField(true, 64, 1, most, least, Overflow.FAIL, -1);
    expectField(true, 64, 1, -1, least, Overflow.SAT, least);
    expectField(true, 63, 0, most, 1, Overflow.WRAP, 0);
    expectField(true, 63, 0, most, 1, Overflow.SAT, most);
    expectField(true, 63, 0, most, most, Overflow.FAIL, 0, true);
    expectField(true, 63, 0, 5, -6, Overflow.WRAP, most);
    expectField(true, 63, 0, 5, -6, Overflow.SAT, 0);
    expectField(true, 63, 0, 5, least, Overflow.SAT, 0);
    expectField(true, 63, 0, 5, least, Overflow.FAIL, 0, true);
    expectField(true, 63, 1, most >> 1, 1, Overflow.WRAP, least >> 1);
    expectField(false, 64, 1, 7, least, Overflow.FAIL, least);
    expectField(false, 63, 1, 7, least, Overflow.SAT, least >> 1);
    expectField(false, 63, 1, 7, most, Overflow.FAIL, 0, true);
  });

  it("of an unsigned type treat a negative value as too large", () => {
    expectField(false, 8, 0, 7, -1, Overflow.WRAP, 255);
    expectField(false, 8, 0, 7, -1, Overflow.SAT, 255);
    expectField(false, 8, 0, 7, -1, Overflow.FAIL, 0, true);
    expectField(false, 63, 0, 7, i64.MIN_VALUE, Overflow.WRAP, 0);
    expectField(false, 63, 0, 7, i64.MIN_VALUE, Overflow.SAT, i64.MAX_VALUE);
  });

  it("can end at the greatest offset", () => {
    const trial = new Trial(961);
    trial.same(setField(OFFSET_MAX - 7, 8, 0, 0xa5, Overflow.WRAP), 1, "whether the change is made");
    trial.same(field(OFFSET_MAX - 7, 8, 0), 0xa5, "value");
    const model = new Model(), bits: u64[] = [7, 5, 2, 0];
    for (let i = 0; i < 4; i++) model.append(OFFSET_MAX - bits[i], OFFSET_MAX - bits[i]);
    trial.is(model, "set");
    trial.end();
  });
});
