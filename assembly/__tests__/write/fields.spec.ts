// Several fields at once: planned, changed, and taken back where memory runs out.

import { arena } from "../../env/memory";
import { used } from "../../arena/change/forms";
import { Overflow, field, setField } from "../../write/field";
import { changeWords, planFields, takeBackWords } from "../../write/fields";
import { Form, Trial, build } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, anyModel, anyRanges } from "../support/bitmap-model";
import {
  Random, addArgument, argumentAt, clear, clearArguments, enter, growCount, rounds, setArenaLimit,
  setArenaSize, succeeds,
} from "../world/world";

const VALUES: u32 = 3;

// A plan, and what is to be done with it. AssemblyScript has no closures, so these are global.
let steps: u32 = 0, slotBits: u32 = 0, words: u32 = 0;

function change(): void { changeWords(steps * VALUES, (steps + words) * VALUES); }
function takeBack(): void { takeBackWords(steps * VALUES, (steps + words) * VALUES); }

function addStep(action: u32, overflow: Overflow, signed: u32, width: u32, offset: u64, value: u64): void {
  addArgument(action | <u32>overflow << 2 | signed << 4 | width << 5);
  addArgument(offset);
  addArgument(value);
}

/** Adds free slots for the `count` steps that were added, and makes the plan. */
function plan(count: u32, multiplier: u64): void {
  steps = count;
  for (slotBits = 3; 1 << slotBits < 3 * count;) slotBits++;
  for (let i: u32 = 0; i < VALUES << slotBits; i++) addArgument(0);
  enter();
  words = planFields(count, slotBits, multiplier);
  enter();
}

/** An offset near an end of one of the model's intervals, or anywhere in the first containers. */
function anyPlace(model: Model, step: u64, random: Random): u64 {
  if (!model.intervals || random.below(4) == 0) return random.below(3) * step * 65536 + random.below(65536);
  const i = random.below(model.intervals), near = random.below(2) ? model.low(i) : model.high(i);
  return min(max(near, 100) - random.below(100), OFFSET_MAX - 63);
}

describe("several fields", () => {
  it("are written one after the other, or taken back without memory", () => {
    const trial = new Trial(1330), random = trial.random;
    for (let round = 0; round < rounds(1500); round++) {
      const step: u64 = round % 3 ? 1 : KEY_MAX / 40, after = new Model();
      const model = round % 4 ? anyModel(0, step, 6, random) : anyRanges(0, 6, random);
      for (let i = 0; i < model.intervals; i++) after.append(model.low(i), model.high(i));
      clear();
      build(model, round % 4 ? <Form>random.below(Form.FORMS) : Form.RUNS, random);
      const count: u32 = 1 + random.below(random.below(3) ? 6 : 40), place = anyPlace(model, step, random);
      const olds: u64[] = [];
      for (let i: u32 = 0; i < count; i++) {
        const offset = random.below(3)
          ? min(place + random.below(130), OFFSET_MAX - 63)
          : anyPlace(model, step, random);
        const width: u32 = 1 + random.below(64);
        const value: u64 = random.below(3) ? random.next() : -<u64>random.below(2);
        addStep(1, Overflow.WRAP, 1, width, offset, value);
        let old: u64 = 0;
        for (let bit: u32 = 0; bit < width; bit++) {
          old = (old << 1) | u64(after.has(offset + bit));
          if ((value >> (width - 1 - bit)) & 1) after.add(offset + bit); else after.remove(offset + bit);
        }
        olds.push(<u64>(<i64>(old << (64 - width)) >> (64 - width)));
      }
      plan(count, random.next() | 1);
      trial.steps++;
      trial.is(model, "planned");
      for (let i: u32 = 0; i < count; i++) trial.same(argumentAt(i * VALUES + 2), olds[i], "answer");
      const bytes = max(used(), 40);
      memory.fill(bytes, 0xa7, arena.size() - bytes);
      setArenaSize(bytes);
      setArenaLimit(bytes + (random.below(3) ? random.below(20000) : 0));
      if (!succeeds(change)) {
        const grown = growCount();
        enter();
        setArenaLimit(arena.size());
        trial.holds(succeeds(takeBack), "the changes can be taken back");
        trial.same(growCount(), grown, "number of times the arena grew while they were");
        trial.is(model, "taken back");
        setArenaLimit(u32.MAX_VALUE);
        enter();
        change();
      }
      trial.is(after, "changed");
      clearArguments();
    }
    trial.end();
  });

  it("are taken back where they have made a run longer, without splitting it again", () => {
    const trial = new Trial(1332), random = trial.random, model = new Model();
    // One run more would need a larger block.
    for (let i: u64 = 0; i < 3; i++) model.append(i * 10000, i * 10000 + 1023);
    let refused: u32 = 0;
    for (let round = 0; round < rounds(300); round++) {
      clear();
      build(model, Form.RUNS, random);
      clear();
      for (let word: u64 = 16; word < 20; word++) addStep(1, Overflow.WRAP, 1, 64, word * 64, u64.MAX_VALUE);
      addStep(1, Overflow.WRAP, 1, 64, 1 << 30, u64.MAX_VALUE);
      plan(5, random.next() | 1);
      memory.fill(used(), 0xa7, arena.size() - used());       // the same value as behind an arena
      setArenaSize(used());
      setArenaLimit(used());
      trial.steps++;
      if (succeeds(change)) continue;
      refused++;
      enter();
      trial.holds(succeeds(takeBack), "the changes can be taken back");
      trial.is(model, "taken back");
    }
    trial.holds(refused == <u32>rounds(300), "there is never memory for another container");
    trial.end();
  });

  it("see what the steps before them have written, across words", () => {
    const trial = new Trial(1331);
    setField(0, 64, 1, 5, Overflow.WRAP);
    clear();
    addStep(2, Overflow.WRAP, 0, 8, 56, 255);                 // 5 + 255 is 4
    addStep(0, Overflow.WRAP, 0, 16, 52, 0);                  // 4 * 16
    addStep(1, Overflow.SAT, 1, 8, 60, 1000);                 // 4 * 16 is what is there; 127 is stored
    addStep(2, Overflow.FAIL, 1, 8, 60, 1);                   // no answer
    addStep(0, Overflow.WRAP, 0, 12, 56, 0);                  // 7 * 16 + 15
    plan(5, 0x9e3779b97f4a7c15);
    const answers: u64[] = [4, 64, 64, 0, 127], has: u64[] = [1, 1, 1, 0, 1];
    for (let i: u32 = 0; i < 5; i++) {
      trial.same(argumentAt(i * VALUES), has[i], "whether there is answer " + i.toString());
      if (has[i]) trial.same(argumentAt(i * VALUES + 2), answers[i], "answer " + i.toString());
    }
    trial.same(words, 2, "words that change");
    change();
    trial.same(field(56, 12, 0), 127, "value");
    clear();
    addStep(1, Overflow.WRAP, 0, 1, 3, 1);
    addStep(1, Overflow.WRAP, 0, 1, 3, 0);
    plan(2, 1);
    trial.same(words, 0, "words that change where the second step undoes the first");
    trial.end();
  });
});
