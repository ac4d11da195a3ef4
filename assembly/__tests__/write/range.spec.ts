import { used, wasteful } from "../../arena/arena";
import { clearRange, flipRange, setRange } from "../../write/range";
import { set } from "../../write/point";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, Style, anyModel, anyRanges, appendContainer, combineModels, range } from "../support/bitmap-model";
import { enter } from "../world/world";

const enum Change { SET, CLEAR, FLIP, CHANGES }

/** Changes memory 0, checks the result and returns its model. */
function change(trial: Trial, model: Model, how: i32, low: u64, high: u64): Model {
  trial.steps++;
  enter();
  if (how == Change.SET) setRange(low, high); else if (how == Change.CLEAR) clearRange(low, high); else flipRange(low, high);
  enter();
  const after = combineModels(how == Change.SET ? 1 : how == Change.CLEAR ? 4 : 2, [model, range(low, high)]);
  trial.is(after, "change " + how.toString() + " of " + low.toString() + " to " + high.toString());
  return after;
}

/** A random offset up to key `last`: any, at an end of a container, or near an end of one of the model's intervals. */
function anyOffset(trial: Trial, model: Model, last: u64): u64 {
  const random = trial.random, how = random.below(4);
  if (how == 0) return random.next() % ((last << 16) + 1) + random.below(65536);
  if (how == 1 || !model.intervals) return (<u64>(random.next() % (last + 1)) << 16) + (random.below(2) ? 65535 : 0);
  const i = random.below(model.intervals);
  return min(max(random.below(2) ? model.low(i) : model.high(i), 1) - 1 + random.below(3), (last << 16) + 65535);
}

describe("changing ranges", () => {
  it("gives the model's result for ranges inside, across and around containers of all kinds", () => {
    const trial = new Trial(900), base: u64 = 5 << 16;
    const ends: u64[] = [base - 1, base, base + 1, base + 30000, base + 65534, base + 65535, base + 65536];
    for (let style = 0; style < Style.STYLES; style++) {
      const model = new Model();
      if (style % 2) model.append(4 << 16, (4 << 16) + 9);
      appendContainer(model, 5, style, trial.random);
      for (let i = 0; i < ends.length; i++) {
        for (let j = i; j < ends.length; j++) {
          for (let how = 0; how < Change.CHANGES; how++) {
            build(model, (i + j) % Form.FORMS, trial.random);
            change(trial, model, how, ends[i], ends[j]);
          }
        }
      }
    }
    trial.end();
  });

  it("gives the model's result for sequences of changes, in small bitmaps and in sparse ones", () => {
    const trial = new Trial(901);
    for (let i = 0; i < 24; i++) {
      const last: u64 = i % 3 ? 30 : i % 2 ? KEY_MAX : 3000;
      let model = i % 4 ? anyRanges(0, last, trial.random) : anyModel(0, 1, 20, trial.random);
      build(model, Form.EITHER, trial.random);
      for (let j = 0; j < 40; j++) {
        const low = anyOffset(trial, model, last);
        const high = trial.random.below(3) ? anyOffset(trial, model, last) : low + trial.random.below(70000);
        if (low <= high) model = change(trial, model, trial.random.below(Change.CHANGES), low, high);
      }
    }
    trial.end();
  });

  it("turns an empty bitmap into a range, and a range into an empty bitmap", () => {
    const trial = new Trial(902);
    const ends: u64[] = [0, 1, 65535, 65536, 65537, 200000, u32.MAX_VALUE, (<u64>1) << 63, OFFSET_MAX - 65536, OFFSET_MAX];
    for (let i = 0; i < ends.length; i++) {
      for (let j = i; j < ends.length; j++) {
        for (let how = 0; how < Change.CHANGES; how++) {
          freshArena(40);
          const model = change(trial, new Model(), how, ends[i], ends[j]);
          change(trial, model, Change.CLEAR, ends[i], ends[j]);
          trial.same(used(), 16, "bytes in use");
        }
      }
    }
    trial.end();
  });

  it("can flip, set and clear all offsets", () => {
    const trial = new Trial(903);
    for (let i = 0; i < 10; i++) {
      const model = i ? anyRanges(i % 2 ? 0 : KEY_MAX - 100, i % 2 ? 100 : KEY_MAX, trial.random) : new Model();
      build(model, Form.EITHER, trial.random);
      const other = change(trial, model, Change.FLIP, 0, OFFSET_MAX);
      change(trial, other, Change.FLIP, 0, OFFSET_MAX);
      change(trial, model, Change.SET, 0, OFFSET_MAX);
      change(trial, range(0, OFFSET_MAX), Change.CLEAR, 1, OFFSET_MAX);
    }
    trial.end();
  });

  it("works in tiny arenas and in arenas with free blocks", () => {
    const trial = new Trial(904);
    for (let i = 0; i < 30; i++) {
      let model = new Model();
      freshArena(40);
      for (let j = trial.random.between(1, i % 2 ? 40 : 2000); j; j--) {
        const offset = <u64>trial.random.below(1 << 22);
        set(offset, 1);
        model.add(offset);
      }
      for (let j = 0; j < 15; j++) {
        const low = <u64>trial.random.below(1 << 22);
        model = change(trial, model, trial.random.below(Change.CHANGES), low, low + trial.random.below(1 << (1 + trial.random.below(20))));
        const offset = <u64>trial.random.below(1 << 22);
        trial.same(set(offset, 0), u32(model.remove(offset)), "old value of a single offset");
      }
      trial.is(model, "after all changes");
    }
    trial.end();
  });

  it("can remove thousands of containers at once", () => {
    const trial = new Trial(905);
    let model = new Model();
    for (let key: u64 = 0; key < 35000; key++) model.append(key << 17, (key << 17) + key % 4);
    build(model, Form.EITHER, trial.random);
    model = change(trial, model, Change.FLIP, 100 << 17, (400 << 17) + 5);
    model = change(trial, model, Change.CLEAR, (50 << 17) + 2, (34000 << 17) + 1);
    trial.same(wasteful(), 1, "wasteful after removing");
    change(trial, model, Change.SET, 0, (40000 << 17) - 1);
    trial.end();
  });
});
