import { countRuns, runsBetween } from "../../read/spans";
import { Form, Trial, build } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, anyModel, anyRanges, range } from "../support/bitmap-model";
import { enter, memberAt, members, rounds, spent } from "../world/world";

/** Compares the runs of [low, high] with the intervals of the model, which are maximal. */
function ask(trial: Trial, model: Model, low: u64, high: u64, limit: u64): void {
  const text = "runs of [" + low.toString() + ", " + high.toString() + "] up to " + limit.toString();
  trial.steps++;
  let expected: u64 = 0;
  trial.same(countRuns(low, high, limit), runsBetween(low, high, limit), text + " counted");
  for (let i = max(model.find(low), 0); i < model.intervals && expected < limit; i++) {
    if (low > high || model.high(i) < low || model.low(i) > high) continue;
    const at = <u32>expected * 2;
    if (at + 1 < members()) {
      trial.same(memberAt(at), max(model.low(i), low), text + ": first member");
      trial.same(memberAt(at + 1), min(model.high(i), high), text + ": last member");
    }
    expected++;
  }
  trial.same(members(), 2 * expected, text);
  enter();
  trial.same(countRuns(low, high, limit), expected, text + " counted");
  enter();
}

/** Asks for runs between random ends, which are near the model's. */
function askMany(trial: Trial, model: Model, questions: i32): void {
  const random = trial.random;
  for (let n = 0; n < questions; n++) {
    const ends: u64[] = [0, OFFSET_MAX];
    for (let end = 0; end < 2; end++) {
      if (!model.intervals || !random.below(4)) continue;
      const i = random.below(model.intervals), at = random.below(2) ? model.low(i) : model.high(i);
      ends[end] = at + random.below(3) - 1;
    }
    ask(trial, model, ends[0], ends[1], random.below(4) ? random.below(300) : OFFSET_MAX);
  }
}

describe("runsBetween()", () => {
  it("replies the model's intervals, clipped to the range, whatever the containers", () => {
    const trial = new Trial(640), random = trial.random;
    for (let round = 0; round < rounds(60); round++) {
      const model = anyModel(round % 3 ? 0 : KEY_MAX - 8, 1 + round % 3, 1 + random.below(5), random);
      build(model, <Form>(round % 4), random);
      askMany(trial, model, 60);
    }
    trial.end();
  });

  it("joins runs over spans of full containers, up to the last offset", () => {
    const trial = new Trial(641), random = trial.random;
    for (let round = 0; round < rounds(40); round++) {
      const model = round % 2 ? anyRanges(KEY_MAX - 60, KEY_MAX, random) : anyRanges(0, 50, random);
      build(model, Form.EITHER, random);
      askMany(trial, model, 60);
    }
    build(range(0, OFFSET_MAX), Form.PLAIN, random);
    ask(trial, range(0, OFFSET_MAX), 0, OFFSET_MAX, OFFSET_MAX);
    ask(trial, range(0, OFFSET_MAX), 7, OFFSET_MAX - 7, 1);
    trial.end();
  });

  it("replies nothing of an empty bitmap, of an empty range and with a limit of 0", () => {
    const trial = new Trial(642);
    build(new Model(), Form.PLAIN, trial.random);
    ask(trial, new Model(), 0, OFFSET_MAX, OFFSET_MAX);
    build(range(5, 9), Form.PLAIN, trial.random);
    ask(trial, range(5, 9), 7, 6, OFFSET_MAX);
    ask(trial, range(5, 9), 0, OFFSET_MAX, 0);
    trial.end();
  });

  it("reads no more than the runs that it replies, and counts this work", () => {
    const trial = new Trial(643), model = new Model();
    for (let key: u64 = 0; key < 3000; key++) model.append(key << 18, (key << 18) + 40000);
    build(model, Form.RUNS, trial.random);
    spent();
    runsBetween(<u64>1500 << 18, OFFSET_MAX, 10);
    const few = spent();
    enter();
    runsBetween(0, OFFSET_MAX, 2000);
    const many = spent();
    enter();
    trial.holds(few <= 20, "ten runs took " + few.toString() + " units of work");
    trial.holds(many >= 2000, "two thousand took " + many.toString());
    trial.end();
  });
});
