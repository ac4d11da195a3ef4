// Growth that fails, in the midst of anything: the call is cut short, and the set is what it was.

import { arena } from "../env/memory";
import { makeRoom, used } from "../arena/arena";
import { LEAF_MAX } from "../arena/node";
import { addAll, removeAll } from "../write/batch";
import { set } from "../write/point";
import { clearRange, flipRange, setRange } from "../write/range";
import { Form, Trial, build, freshArena } from "./bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, anyModel, anyRanges, range } from "./bitmap-model";
import {
  addArgument, argumentsHandedBack, clear, clearArguments, enter, handedBackAt, growCount, setArenaLimit, setArenaSize,
} from "./world";

/** Calls the function; false if it was cut short. */
// @ts-ignore: decorator
@external("__aspect", "tryCall") declare function tryCall(call: () => void): bool;

const enum Write { SET, UNSET, ADD, SUBTRACT, SET_RANGE, CLEAR_RANGE, FLIP_RANGE, WRITES }

// What the next call is given: a function value closes over nothing.
let write: i32 = 0, low: u64 = 0, high: u64 = 0, values: u32 = 0;

function perform(): void {
  if (write == Write.SET) set(low, 1);
  else if (write == Write.UNSET) set(low, 0);
  else if (write == Write.ADD) addAll(0, values);
  else if (write == Write.SUBTRACT) removeAll(0, values);
  else if (write == Write.SET_RANGE) setRange(low, high);
  else if (write == Write.CLEAR_RANGE) clearRange(low, high);
  else flipRange(low, high);
}

/** Offsets near what the set has, so that containers of all kinds are hit. */
function anyOffset(trial: Trial, model: Model, last: u64): u64 {
  const random = trial.random;
  if (!model.intervals || random.below(4) == 0) return random.next() % ((last << 16) + 65535);
  const i = random.below(model.intervals);
  return (random.below(2) ? model.low(i) : model.high(i)) + random.below(9) - 4;
}

/** Undoes what was done for the values that were kept, as the host does, and says whether there was room for that. */
function undo(): bool {
  const kept = argumentsHandedBack(), undone: u64[] = [];
  for (let i: u32 = 0; i < kept; i++) undone.push(handedBackAt(i));
  clearArguments();
  for (let i: u32 = 0; i < kept; i++) addArgument(undone[i]);
  enter();
  write = write == Write.ADD ? Write.SUBTRACT : Write.ADD;
  values = kept;
  return tryCall(perform);
}

/** Makes one random change to memory 0, which is the set, with little room to grow; true if it was cut short. */
function attempt(trial: Trial, model: Model, last: u64): bool {
  const random = trial.random;
  trial.steps++;
  clear();
  write = random.below(Write.WRITES);
  low = anyOffset(trial, model, last);
  high = random.below(2) ? low + random.below(200000) : anyOffset(trial, model, last);
  if (high < low) { const other = high; high = low; low = other; }
  const many = write == Write.ADD || write == Write.SUBTRACT;
  values = many ? 1 + random.below(random.below(2) ? 40 : 800) : 0;
  const stretches = random.below(2), step = 1 + random.below(20);
  for (let i: u32 = 0, offset: u64 = 0; i < values; i++) {
    offset = i && stretches && random.below(200) ? offset + 1 + random.below(step) : anyOffset(trial, model, last);
    addArgument(offset);
  }
  setArenaLimit(arena.size() + (random.below(3) ? 0 : random.below(20000)));
  const cut = !tryCall(perform);
  if (cut && many) {
    trial.sound("cut short");
    setArenaLimit(u32.MAX_VALUE);
    trial.holds(undo(), "undone");
  }
  clear();
  if (cut) trial.is(model, "write " + write.toString() + " of " + low.toString() + " to " + high.toString() + " cut short");
  return cut;
}

describe("growth that fails", () => {
  it("leaves the set as it was, whatever the change", () => {
    const trial = new Trial(1100);
    let cuts = 0, calls = 0;
    for (let round = 0; round < 40; round++) {
      const last: u64 = round % 3 ? 12 : round % 2 ? KEY_MAX : 700;
      const model = round == 0 ? range(0, OFFSET_MAX) : round == 1 ? range(7, OFFSET_MAX - 7)
        : round % 2 ? anyRanges(0, last, trial.random) : anyModel(0, round % 4 ? 1 : last / 40 + 1, 30, trial.random);
      for (let i = 0; i < 60; i++) {
        build(model, Form.EITHER, trial.random);
        if (trial.random.below(2)) makeRoom(trial.random.below(3000));
        cuts += i32(attempt(trial, model, last));
        calls++;
      }
    }
    trial.holds(cuts > 300, "many were cut short: " + cuts.toString());
    trial.holds(calls - cuts > 300, "many were not");
    trial.end();
  });

  it("is all at the beginning of a change of ranges", () => {
    const trial = new Trial(1101);
    let grown = 0;
    for (let round = 0; round < 60; round++) {
      const last: u64 = round % 3 ? 12 : round % 2 ? KEY_MAX : 5000;
      const model = round % 2 ? anyRanges(0, last, trial.random) : anyModel(0, round % 4 ? 1 : last / 300 + 1, 300, trial.random);
      build(model, Form.EITHER, trial.random);
      for (let i = 0; i < 20; i++) {
        clear();
        write = Write.SET_RANGE + trial.random.below(3);
        low = anyOffset(trial, model, last);
        high = anyOffset(trial, model, last);
        if (high < low) { const other = high; high = low; low = other; }
        perform();
        trial.holds(growCount() <= 1, "write " + write.toString() + " grew " + growCount().toString() + " times");
        grown += growCount();
        trial.steps++;
      }
    }
    trial.holds(grown > 100, "the arena grows in more than 100 calls: " + grown.toString());
    trial.end();
  });

  it("is all at the beginning of cutting a container out of others, however full the leaves are", () => {
    const trial = new Trial(1103);
    for (let entries: u64 = 1; entries <= 2 * LEAF_MAX; entries++) {
      freshArena(40);
      for (let i: u64 = 0; i < entries; i++) set(i << 20, 1);
      const key = (entries / 2 << 4) + 3;
      setRange(key << 16, (key + 3 << 16) - 1);
      setArenaSize(used());
      clear();
      set(key + 1 << 16, 0);
      trial.same(growCount(), 1, "number of times the arena grew, with " + entries.toString() + " entries");
      trial.sound("cut out");
      trial.steps++;
    }
    trial.end();
  });

  it("leaves a directory as it was that has to be split", () => {
    const trial = new Trial(1102), model = new Model();
    let cuts = 0;
    freshArena(40);
    for (let i: u64 = 0; i < 3000; i++) {
      const offset = (i * 7919 % 3000) << 17;             // each once, in no order
      clear();
      write = Write.SET;
      low = offset;
      setArenaLimit(arena.size());
      if (!tryCall(perform)) {
        cuts++;
        clear();
        if (i % 16 == 0) trial.is(model, "cut short"); else trial.sound("cut short");
        perform();
      }
      model.add(offset);
      trial.steps++;
    }
    clear();
    trial.holds(cuts > 30, "more than 30 insertions are cut short: " + cuts.toString());
    trial.is(model, "in the end");
    trial.end();
  });

  it("leaves no container without its members", () => {
    const trial = new Trial(1104), model = new Model();
    for (let key: u64 = 1; key < 40; key++) model.append(key << 17, (key << 17) + 2);
    let cuts = 0;
    for (let room: u32 = 0; room < 4000; room += 24) {
      build(model, Form.PLAIN, trial.random);
      memory.fill(used(), 0xa7, arena.size() - used());       // as what lies behind an arena
      setArenaSize(used());
      clear();
      write = Write.ADD;
      values = 4 + room % 700;
      for (let i: u64 = 0; i < values; i++) addArgument((5 << 16) + 3 * i);
      setArenaLimit(arena.size() + room);
      const cut = !tryCall(perform);
      trial.sound(cut ? "cut short" : "added");
      setArenaLimit(u32.MAX_VALUE);
      if (cut) trial.holds(undo(), "undone");
      clear();
      if (cut) trial.is(model, "undone");
      cuts += i32(cut);
      trial.steps++;
    }
    trial.holds(cuts > 10 && cuts < 160, "some were cut short: " + cuts.toString());
    trial.end();
  });

  it("does not happen where something is given back", () => {
    const trial = new Trial(1105);
    for (let round = 0; round < 30; round++) {
      const model = anyModel(0, round % 2 ? 1 : KEY_MAX / 100, 60, trial.random);
      build(model, Form.PLAIN, trial.random);
      clear();
      for (let i = 0; i < model.intervals && i < 400; i++) {
        if (model.high(i) - model.low(i) > 3000) continue;    // a bitset that becomes an array needs its block
        for (let offset = model.low(i); offset <= model.high(i); offset++) set(offset, 0);
      }
      trial.same(growCount(), 0, "grows");
      trial.sound("emptied");
      trial.steps++;
    }
    trial.end();
  });
});
