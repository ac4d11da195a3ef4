import { Fault } from "../env/fault";
import { Format, deserialize, serialize, serializedBytes } from "../format/index";
import { Form, Trial, build, freshArena } from "./bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, Style, anyModel, appendContainer, range } from "./bitmap-model";
import { addOperand, clear, enter, operandAt, outputAt, outputBytes, setOutputLimit } from "./world";

/** What the set is as text, offset by offset; likewise the set of a text. */
function textOf(model: Model, format: Format): StaticArray<u8> {
  const length = model.intervals ? <i32>model.maximum() + 1 : 0;
  const text = new StaticArray<u8>(format == Format.BITS ? (length + 7) >> 3 : max(length, 1));
  if (format == Format.CHARACTERS) memory.fill(changetype<usize>(text), 48, text.length);
  for (let i = 0; i < model.intervals; i++) {
    for (let v = <i32>model.low(i); v <= <i32>model.high(i); v++) {
      if (format == Format.CHARACTERS) text[v] = 49; else text[v >> 3] |= <u8>(<u32>0x80 >> (v & 7));
    }
  }
  return text;
}

function modelOf(text: StaticArray<u8>, format: Format): Model {
  const model = new Model(), length = format == Format.BITS ? text.length * 8 : text.length;
  for (let v = 0; v < length; v++) {
    const one = format == Format.CHARACTERS ? text[v] == 49 : ((text[v >> 3] >> u8(7 - (v & 7))) & 1) == 1;
    if (one) model.append(v, v);
  }
  return model;
}

function read(trial: Trial, format: Format, text: StaticArray<u8>): void {
  clear();
  freshArena(40);
  const k = addOperand(text.length);
  memory.copy(operandAt(k), changetype<usize>(text), text.length);
  trial.same(deserialize(format, text.length, 31), Fault.NONE, "fault");
  enter();
}

function roundTrip(trial: Trial, model: Model, form: Form, format: Format): void {
  trial.steps++;
  build(model, form, trial.random);
  const text = textOf(model, format);
  trial.same(serializedBytes(format), text.length, "bytes announced");
  enter();
  setOutputLimit(text.length);
  serialize(format);
  trial.same(outputBytes(), text.length, "bytes written");
  trial.same(memory.compare(outputAt(), changetype<usize>(text), text.length), 0, "bytes");
  read(trial, format, text);
  trial.is(model, "read");
}

describe("bitmaps as text", () => {
  it("are native's bits, and characters", () => {
    const trial = new Trial(950);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        for (let others = 0; others < 2; others++) {
          const model = others ? anyModel(0, 1, 2, trial.random) : new Model();
          appendContainer(model, others * 3, style, trial.random);
          roundTrip(trial, model, form, Format.BITS);
          roundTrip(trial, model, form, Format.CHARACTERS);
        }
      }
    }
    roundTrip(trial, range(0, 0), Form.PLAIN, Format.BITS);
    trial.same(load<u8>(outputAt()), 0x80, "offset 0 is the highest bit");
    trial.end();
  });

  it("end with the greatest member, wherever that is in a word", () => {
    const trial = new Trial(951);
    for (let last: u64 = 0; last < 140; last++) {
      const model = new Model();
      if (last > 3) model.append(2, last / 2);
      model.append(last, last);
      roundTrip(trial, model, Form.EITHER, Format.BITS);
      roundTrip(trial, model, Form.EITHER, Format.CHARACTERS);
    }
    for (let last: u64 = 65530; last < 65545; last++) roundTrip(trial, range(last, last), Form.PLAIN, Format.CHARACTERS);
    trial.end();
  });

  it("of nothing are nothing, or one 0", () => {
    const trial = new Trial(952);
    roundTrip(trial, new Model(), Form.PLAIN, Format.BITS);
    roundTrip(trial, new Model(), Form.PLAIN, Format.CHARACTERS);
    trial.same(load<u8>(outputAt()), 48, "0");
    read(trial, Format.CHARACTERS, new StaticArray<u8>(0));
    trial.is(new Model(), "no character");
    read(trial, Format.BITS, new StaticArray<u8>(100));
    trial.is(new Model(), "zeros");
    trial.end();
  });

  it("are read whatever they hold: all but '1' is a 0", () => {
    const trial = new Trial(953);
    for (let i = 0; i < 60; i++) {
      const text = new StaticArray<u8>(trial.random.below(i % 9 ? 400 : 20000)), near = trial.random.below(2) != 0;
      for (let j = 0; j < text.length; j++) text[j] = near ? u8(45 + trial.random.below(8)) : <u8>trial.random.next();
      for (let format: Format = Format.BITS; format <= Format.CHARACTERS; format++) {
        read(trial, format, text);
        trial.is(modelOf(text, format), "read");
      }
    }
    trial.end();
  });

  it("announce their length without being built", () => {
    const trial = new Trial(954);
    build(range(5, OFFSET_MAX), Form.PLAIN, trial.random);
    trial.same(serializedBytes(Format.BITS), <u64>1 << 61, "bits");
    trial.same(serializedBytes(Format.CHARACTERS), OFFSET_MAX, "characters");
    build(range(KEY_MAX << 16, KEY_MAX << 16), Form.PLAIN, trial.random);
    trial.same(serializedBytes(Format.CHARACTERS), (KEY_MAX << 16) + 1, "characters to a far member");
    trial.end();
  });
});
