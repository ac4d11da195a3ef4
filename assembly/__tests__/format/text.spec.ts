import { Fault } from "../../env/fault";
import { Format, deserialize, serialize, serializedBytes } from "../../format/index";
import { readBitsFrom } from "../../format/text";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, Style, anyModel, appendContainer, range } from "../support/bitmap-model";
import { addOperand, clear, enter, operandAt, outputAt, outputBytes, setOutputLimit } from "../world/world";

/** The bit of offset v in its byte. */
function bitOf(v: i32, format: Format): u8 {
  return <u8>1 << <u8>(format == Format.LOW_BITS ? v & 7 : 7 - (v & 7));
}

/** The set as bits or as characters, written offset by offset. */
function textOf(model: Model, format: Format): StaticArray<u8> {
  const length = model.intervals ? <i32>model.maximum() + 1 : 0;
  const text = new StaticArray<u8>(format == Format.CHARACTERS ? max(length, 1) : (length + 7) >> 3);
  if (format == Format.CHARACTERS) memory.fill(changetype<usize>(text), 48, text.length);
  for (let i = 0; i < model.intervals; i++) {
    for (let v = <i32>model.low(i); v <= <i32>model.high(i); v++) {
      if (format == Format.CHARACTERS) text[v] = 49; else text[v >> 3] |= bitOf(v, format);
    }
  }
  return text;
}

/** The set that a native bitmap or characters stand for. */
function modelOf(text: StaticArray<u8>, format: Format): Model {
  const model = new Model(), length = format == Format.CHARACTERS ? text.length : text.length * 8;
  for (let v = 0; v < length; v++) {
    const one = format == Format.CHARACTERS ? text[v] == 49 : (text[v >> 3] & bitOf(v, format)) != 0;
    if (one) model.append(v, v);
  }
  return model;
}

/** Replaces memory 0 by the bitmap that the text stands for. */
function read(trial: Trial, format: Format, text: StaticArray<u8>): void {
  clear();
  freshArena(40);
  const k = addOperand(text.length);
  memory.copy(operandAt(k), changetype<usize>(text), text.length);
  trial.same(deserialize(format, text.length, 31), Fault.NONE, "fault of the text");
  enter();
}

/** Replaces memory 0 by the bitmap that the native bitmap stands for if its first bit is `first`. */
function readFrom(trial: Trial, first: u64, text: StaticArray<u8>, format: Format): void {
  trial.steps++;
  clear();
  freshArena(40);
  const k = addOperand(text.length);
  memory.copy(operandAt(k), changetype<usize>(text), text.length);
  readBitsFrom(first, u32(format == Format.LOW_BITS));
  enter();
}

/** An offset near a multiple of a word or a container, near 2^64, or anywhere. */
function firstOf(any: u64, i: i32): u64 {
  if (i % 4 == 0) return any;
  if (i % 4 == 1) return OFFSET_MAX - any % 100000;
  const near = (any >> 8) % 300000;
  return i % 4 == 2 ? near : (near & ~(i & 8 ? <u64>63 : <u64>65535)) + any % 3;
}

/** Writes the set, compares the bytes, and reads them back. */
function roundTrip(trial: Trial, model: Model, form: Form, format: Format): void {
  trial.steps++;
  build(model, form, trial.random);
  const text = textOf(model, format);
  trial.same(serializedBytes(format), text.length, "bytes announced");
  enter();
  setOutputLimit(text.length);
  serialize(format);
  trial.same(outputBytes(), text.length, "bytes written");
  trial.same(memory.compare(outputAt(), changetype<usize>(text), text.length), 0, "comparison of the bytes");
  read(trial, format, text);
  trial.is(model, "read");
}

describe("native bitmaps and strings of characters", () => {
  it("can be written and read for containers of all kinds", () => {
    const trial = new Trial(950);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        for (let others = 0; others < 2; others++) {
          const model = others ? anyModel(0, 1, 2, trial.random) : new Model();
          appendContainer(model, others * 3, style, trial.random);
          roundTrip(trial, model, form, Format.BITS);
          roundTrip(trial, model, form, Format.LOW_BITS);
          roundTrip(trial, model, form, Format.CHARACTERS);
        }
      }
    }
    roundTrip(trial, range(0, 0), Form.PLAIN, Format.BITS);
    trial.same(load<u8>(outputAt()), 0x80, "byte with offset 0");
    trial.end();
  });

  it("end with the greatest member, wherever it is in a word", () => {
    const trial = new Trial(951);
    for (let last: u64 = 0; last < 140; last++) {
      const model = new Model();
      if (last > 3) model.append(2, last / 2);
      model.append(last, last);
      roundTrip(trial, model, Form.EITHER, Format.BITS);
      roundTrip(trial, model, Form.EITHER, Format.LOW_BITS);
      roundTrip(trial, model, Form.EITHER, Format.CHARACTERS);
    }
    for (let last: u64 = 65530; last < 65545; last++) {
      roundTrip(trial, range(last, last), Form.PLAIN, Format.CHARACTERS);
    }
    trial.end();
  });

  it("of the empty bitmap are an empty string, or one '0'", () => {
    const trial = new Trial(952);
    roundTrip(trial, new Model(), Form.PLAIN, Format.BITS);
    roundTrip(trial, new Model(), Form.PLAIN, Format.CHARACTERS);
    trial.same(load<u8>(outputAt()), 48, "the only character");
    read(trial, Format.CHARACTERS, new StaticArray<u8>(0));
    trial.is(new Model(), "read from no characters");
    read(trial, Format.BITS, new StaticArray<u8>(100));
    trial.is(new Model(), "read from zero bytes");
    trial.end();
  });

  it("can be read from any bytes: every character but '1' is a 0", () => {
    const trial = new Trial(953);
    for (let i = 0; i < 60; i++) {
      const text = new StaticArray<u8>(trial.random.below(i % 9 ? 400 : 20000));
      const near = trial.random.below(2) != 0;
      for (let j = 0; j < text.length; j++) {
        text[j] = near ? u8(45 + trial.random.below(8)) : <u8>trial.random.next();
      }
      const formats = [Format.BITS, Format.CHARACTERS, Format.LOW_BITS];
      for (let k = 0; k < formats.length; k++) {
        read(trial, formats[k], text);
        trial.is(modelOf(text, formats[k]), "read");
      }
    }
    trial.end();
  });

  it("begin at any offset if they are bits", () => {
    const trial = new Trial(955), random = trial.random;
    for (let i = 0; i < 120; i++) {
      const text = new StaticArray<u8>(random.below(i % 3 ? 40 : 30000)), first = firstOf(random.next(), i);
      const format = random.below(2) ? Format.BITS : Format.LOW_BITS;
      for (let j = 0; j < text.length; j++) text[j] = random.below(3) ? 0 : <u8>random.next();
      // the last byte ends at 2^64 or before, or its bits behind that are 0
      const room = OFFSET_MAX - first;
      let moved = modelOf(text, format);
      if (room < u64(text.length) * 8) {
        const kept = i32(room >> 3) + 1;
        const cut = new StaticArray<u8>(min(kept, text.length));
        memory.copy(changetype<usize>(cut), changetype<usize>(text), cut.length);
        const last = u32(room & 7);
        const mask: u32 = format == Format.BITS ? 0xff00 >> (last + 1) : (<u32>2 << last) - 1;
        if (kept <= text.length) cut[kept - 1] &= <u8>mask;
        moved = modelOf(cut, format);
        readFrom(trial, first, cut, format);
      } else readFrom(trial, first, text, format);
      const expected = new Model();
      for (let k = 0; k < moved.intervals; k++) expected.append(first + moved.low(k), first + moved.high(k));
      trial.is(expected, "read from " + first.toString());
    }
    trial.end();
  });

  it("announce their length without writing anything, even if they cannot be written", () => {
    const trial = new Trial(954);
    build(range(5, OFFSET_MAX), Form.PLAIN, trial.random);
    trial.same(serializedBytes(Format.BITS), <u64>1 << 61, "bytes of the native bitmap");
    trial.same(serializedBytes(Format.CHARACTERS), OFFSET_MAX, "number of characters");
    build(range(KEY_MAX << 16, KEY_MAX << 16), Form.PLAIN, trial.random);
    trial.same(
      serializedBytes(Format.CHARACTERS), (KEY_MAX << 16) + 1, "number of characters for one far member",
    );
    trial.end();
  });
});
