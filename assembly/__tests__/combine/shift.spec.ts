import { shift } from "../../combine/rebuild/shift";
import { Form, Trial, asOperand, build, freshArena } from "../support/bitmap-arena";
import { Model, OFFSET_MAX, Style, anyModel, appendContainer, range } from "../support/bitmap-model";
import { clear, enter } from "../world/world";

/** The model with all members moved up by `distance`, modulo 2^64. */
function movedModel(model: Model, distance: u64): Model {
  const moved = new Model();
  for (let i = 0; i < model.intervals; i++) moved.append(model.low(i) + distance, model.high(i) + distance);
  return moved;
}

/** Moves the model by 65,536 * keys + low in memory 0, and checks it. */
function moveBy(trial: Trial, model: Model, form: Form, keys: i64, low: u32): void {
  trial.steps++;
  build(model, form, trial.random);
  clear();
  asOperand();
  freshArena(40);
  shift(keys, low);
  enter();
  trial.is(movedModel(model, (<u64>keys << 16) + low), "moved by " + keys.toString() + " keys and " + low.toString());
}

/** Distances within a container: at and beside multiples of a word, and any. */
function anyLow(trial: Trial): u32 {
  const any = 1 + trial.random.below(65535), near = any & ~63;
  const choice = trial.random.below(5);
  if (choice == 0) return 1;
  if (choice == 1) return 65535;
  return choice == 2 ? max(near, 64) : choice == 3 ? near + 1 : any;
}

describe("moving all members", () => {
  it("moves containers of all kinds, alone and beside one another", () => {
    const trial = new Trial(970);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let next: i32 = -1; next < Style.STYLES; next++) {
        const model = new Model();
        appendContainer(model, 3, style, trial.random);
        if (next >= 0) appendContainer(model, 4 + trial.random.below(8) / 7, next, trial.random);
        const form = trial.random.below(Form.FORMS);
        moveBy(trial, model, form, <i64>trial.random.below(9) - 3, anyLow(trial));
        moveBy(trial, model, form, <i64>trial.random.below(9) - 3, 0);
      }
    }
    trial.end();
  });

  it("moves bitmaps of many containers by any distance", () => {
    const trial = new Trial(971);
    for (let i = 0; i < 150; i++) {
      const model = anyModel(10, i % 10 ? 12 : 200, 3, trial.random);
      const low = i % 4 ? anyLow(trial) : 0, keys = <i64>trial.random.below(20) - 9;
      moveBy(trial, model, trial.random.below(Form.FORMS), keys, low);
    }
    trial.end();
  });

  it("moves ranges of full containers as a whole, to both ends of the offsets", () => {
    const trial = new Trial(972);
    for (let low: u64 = 0; low < 3; low++) {
      const most = range(low, OFFSET_MAX - 65537);
      moveBy(trial, most, Form.PLAIN, 0, 65535);
      moveBy(trial, most, Form.PLAIN, 1, 0);
      moveBy(trial, most, Form.PLAIN, 1, 1);
      moveBy(trial, range(65536 + low, OFFSET_MAX), Form.PLAIN, -1, 0);
      moveBy(trial, range(65536 + low, OFFSET_MAX), Form.PLAIN, -1, <u32>(65535 - low) & 65535);
    }
    moveBy(trial, range(OFFSET_MAX, OFFSET_MAX), Form.PLAIN, -(<i64>1 << 48), 1);
    moveBy(trial, range(0, 0), Form.PLAIN, (<i64>1 << 48) - 1, 65535);
    moveBy(trial, new Model(), Form.PLAIN, 5, 7);
    trial.end();
  });
});
