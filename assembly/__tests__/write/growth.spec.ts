// Failing growth: whenever a call needs memory that it does not get, it ends and the bitmap is unchanged.

import { arena } from "../../env/memory";
import { Arena } from "../../arena/layout/header";
import { used } from "../../arena/change/forms";
import { Node } from "../../arena/layout/node";
import { addAll } from "../../write/batch/add";
import { removeAll } from "../../write/batch/remove";
import { makeRemovable, settle, takeBack } from "../../write/undo";
import { Overflow, field, setField, takeBackField } from "../../write/field";
import { set } from "../../write/point";
import { Change } from "../../combine/rebuild/range";
import { changeRange } from "../../write/range";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, anyModel, anyRanges, range } from "../support/bitmap-model";
import {
  addArgument, argumentsHandedBack, clear, clearArguments, enter, handedBackAt, growCount, memberAt, rounds,
  setArenaLimit, setArenaSize, succeeds,
} from "../world/world";

const enum Write {
  SET, UNSET, ADD, REMOVE, SET_RANGE, CLEAR_RANGE, FLIP_RANGE, FIELD,
  WRITES, TAKE_BACK, SETTLE, TAKE_BACK_FIELD,
}

// What perform() does. AssemblyScript has no closures, so these are global.
let write: i32 = 0, low: u64 = 0, high: u64 = 0, values: u32 = 0;

function addAndSettle(): void {
  addAll(0, values);
  settle(0, argumentsHandedBack());
}

function perform(): void {
  if (write == Write.SET) set(low, 1);
  else if (write == Write.UNSET) set(low, 0);
  else if (write == Write.ADD) addAndSettle();
  else if (write == Write.TAKE_BACK) takeBack(0, values);
  else if (write == Write.SETTLE) settle(0, values);
  else if (write == Write.FIELD) setField(low, 64, 1, <i64>high, Overflow.WRAP);
  else if (write == Write.TAKE_BACK_FIELD) takeBackField(low, 64, <i64>memberAt(0));
  else if (write == Write.REMOVE) {
    makeRemovable(0, values);
    removeAll(0, values);
  } else {
    const change = write == Write.SET_RANGE
      ? Change.SET
      : write == Write.CLEAR_RANGE ? Change.CLEAR : Change.FLIP;
    changeRange(change, low, high, 1);
  }
}

/** An offset, three times in four near an end of one of the model's intervals. */
function anyOffset(trial: Trial, model: Model, last: u64): u64 {
  const random = trial.random;
  if (!model.intervals || random.below(4) == 0) return random.next() % ((last << 16) + 65535);
  const i = random.below(model.intervals);
  return (random.below(2) ? model.low(i) : model.high(i)) + random.below(9) - 4;
}

/**
 * Undoes additions, or the preparation of removals, as the host does, without more memory; false if that
 * trapped.
 */
function undo(): bool {
  setArenaLimit(arena.size());
  if (write == Write.REMOVE || write == Write.FIELD) {
    write = write == Write.FIELD ? Write.TAKE_BACK_FIELD : Write.SETTLE;
    return argumentsHandedBack() == 0 && succeeds(perform);
  }
  const changed = argumentsHandedBack(), undone: u64[] = [];
  for (let i: u32 = 0; i < changed; i++) undone.push(handedBackAt(i));
  clearArguments();
  for (let i: u32 = 0; i < changed; i++) addArgument(undone[i]);
  enter();
  write = Write.TAKE_BACK;
  values = changed;
  return succeeds(perform);
}

/**
 * Makes one random change to memory 0 with little room to grow; true if it trapped.
 * `model` has the members of memory 0.
 */
function attempt(trial: Trial, model: Model, last: u64): bool {
  const random = trial.random;
  trial.steps++;
  clear();
  write = random.below(Write.WRITES);
  low = anyOffset(trial, model, last);
  high = random.below(2) ? low + random.below(200000) : anyOffset(trial, model, last);
  if (high < low) { const other = high; high = low; low = other; }
  if (write == Write.FIELD) {
    low = min(low, OFFSET_MAX - 63);
    high = random.below(2) ? random.next() : random.below(2) ? 0 : ~field(low, 64, 1);
  }
  const many = write == Write.ADD || write == Write.REMOVE;
  values = many ? 1 + random.below(random.below(2) ? 40 : 800) : 0;
  const stretches = random.below(2), step = 1 + random.below(20);
  for (let i: u32 = 0, offset: u64 = 0; i < values; i++) {
    offset = i && stretches && random.below(200)
      ? offset + 1 + random.below(step)
      : anyOffset(trial, model, last);
    addArgument(offset);
  }
  setArenaLimit(arena.size() + (random.below(3) ? 0 : random.below(20000)));
  const failed = !succeeds(perform);
  if (failed && (many || write == Write.FIELD)) trial.holds(undo(), "the change can be undone");
  clear();
  if (failed) {
    trial.is(model, "failed write " + write.toString() + " of " + low.toString() + " to " + high.toString());
  }
  return failed;
}

describe("failing growth", () => {
  it("leaves lone members far apart as they were, whatever the change", () => {
    const trial = new Trial(1106), sizes: u32[] = [2, 40, 700, 1023, 1024, 3000, 9000];
    let failures = 0, calls = 0;
    for (let round = 0; round < 14; round++) {
      const step: u64 = round % 2 ? 1 << 30 : 1 << 18, size = sizes[round % sizes.length];
      const last = size * step >> 16, model = new Model();
      for (let i: u64 = 0; i < size; i++) {
        const offset = i * step + trial.random.below(200000);
        model.append(offset, offset);
      }
      for (let i = 0; i < 12; i++) {
        build(model, Form.PLAIN, trial.random);
        memory.fill(used(), 0xa7, arena.size() - used());     // the same value as behind an arena
        setArenaSize(used());
        failures += i32(attempt(trial, model, last));
        calls++;
        trial.sound("after a change");
      }
    }
    trial.occurred(failures, "a change fails");
    trial.occurred(calls - failures, "a change succeeds");
    trial.end();
  });

  it("leaves the bitmap as it was, whatever the change", () => {
    const trial = new Trial(1100);
    let failures = 0, calls = 0;
    for (let round = 0; round < 40; round++) {
      const last: u64 = round % 3 ? 12 : round % 2 ? KEY_MAX : 700;
      const model = round == 0 ? range(0, OFFSET_MAX) : round == 1 ? range(7, OFFSET_MAX - 7)
        : round % 2
          ? anyRanges(0, last, trial.random)
          : anyModel(0, round % 4 ? 1 : last / 40 + 1, 30, trial.random);
      for (let i = 0; i < rounds(60); i++) {
        build(model, Form.EITHER, trial.random);
        if (trial.random.below(2)) Arena.makeRoom(trial.random.below(3000));
        failures += i32(attempt(trial, model, last));
        calls++;
      }
    }
    trial.occurred(failures, "a change fails");
    trial.occurred(calls - failures, "a change succeeds");
    trial.end();
  });

  it("cannot interrupt a range change, which grows the arena at most once", () => {
    const trial = new Trial(1101);
    let grown = 0;
    for (let round = 0; round < 60; round++) {
      const last: u64 = round % 3 ? 12 : round % 2 ? KEY_MAX : 5000;
      const model = round % 2
        ? anyRanges(0, last, trial.random)
        : anyModel(0, round % 4 ? 1 : last / 300 + 1, 300, trial.random);
      build(model, Form.EITHER, trial.random);
      for (let i = 0; i < 20; i++) {
        clear();
        write = Write.SET_RANGE + trial.random.below(3);
        low = anyOffset(trial, model, last);
        high = anyOffset(trial, model, last);
        if (high < low) { const other = high; high = low; low = other; }
        perform();
        trial.holds(
          growCount() <= 1,
          "write " + write.toString() + " grows the arena at most once: " + growCount().toString(),
        );
        grown += growCount();
        trial.steps++;
      }
    }
    trial.occurred(grown, "the arena grows");
    trial.end();
  });

  it("cannot interrupt cutting a container out of a span: that grows the arena exactly once", () => {
    const trial = new Trial(1103);
    for (let entries: u64 = 1; entries <= 2 * Node.LEAF_MAX; entries++) {
      freshArena(40);
      // Five consecutive members each, because fewer would be packed.
      for (let i: u64 = 0; i < 5 * entries; i++) set(i / 5 << 20 | i % 5, 1);
      const key = (entries / 2 << 4) + 3;
      changeRange(Change.SET, key << 16, (key + 3 << 16) - 1, 1);
      memory.fill(used(), 0xa7, arena.size() - used());       // the same value as behind an arena
      setArenaSize(used());
      clear();
      set(key + 1 << 16, 0);
      trial.same(growCount(), 1, "number of times the arena grew, with " + entries.toString() + " entries");
      trial.sound("cutting a container out");
      trial.steps++;
    }
    trial.end();
  });

  it("leaves the directory as it was when a node has to be split", () => {
    const trial = new Trial(1102), model = new Model();
    let failures = 0;
    freshArena(40);
    for (let i: u64 = 0; i < 3000; i++) {
      const offset = (i * 7919 % 3000) << 17;             // each offset once, not in order
      clear();
      write = Write.SET;
      low = offset;
      setArenaLimit(arena.size());
      if (!succeeds(perform)) {
        failures++;
        clear();
        if (i % 16 == 0) {
          trial.is(model, "after a failed insertion");
        } else {
          trial.sound("after a failed insertion");
        }
        perform();
      }
      model.add(offset);
      trial.steps++;
    }
    clear();
    trial.occurred(failures, "an insertion fails");
    trial.is(model, "after all insertions");
    trial.end();
  });

  it("leaves no container without members when a list of insertions fails", () => {
    const trial = new Trial(1104), model = new Model();
    for (let key: u64 = 1; key < 40; key++) model.append(key << 17, (key << 17) + 2);
    let failures = 0;
    for (let room: u32 = 0; room < 4000; room += 24) {
      build(model, Form.PLAIN, trial.random);
      memory.fill(used(), 0xa7, arena.size() - used());       // the same value as behind an arena
      setArenaSize(used());
      clear();
      write = Write.ADD;
      values = 4 + room % 700;
      for (let i: u64 = 0; i < values; i++) addArgument((5 << 16) + 3 * i);
      setArenaLimit(arena.size() + room);
      const failed = !succeeds(perform);
      trial.sound(failed ? "after a failed addition" : "after an addition");
      if (failed) trial.holds(undo(), "the addition can be undone");
      clear();
      if (failed) trial.is(model, "after undoing");
      failures += i32(failed);
      trial.steps++;
    }
    trial.occurred(failures, "an addition fails");
    trial.occurred(trial.steps - failures, "an addition succeeds");
    trial.end();
  });

  it("cannot happen when members are removed, because removing them does not grow the arena", () => {
    const trial = new Trial(1105);
    for (let round = 0; round < 30; round++) {
      const model = anyModel(0, round % 2 ? 1 : KEY_MAX / 100, 60, trial.random);
      build(model, Form.PLAIN, trial.random);
      clear();
      for (let i = 0; i < model.intervals && i < 400; i++) {
        // A bitset that becomes an array needs a block for it.
        if (model.high(i) - model.low(i) > 3000) continue;
        for (let offset = model.low(i); offset <= model.high(i); offset++) set(offset, 0);
      }
      trial.same(growCount(), 0, "number of times the arena grew");
      trial.sound("after removing members");
      trial.steps++;
    }
    trial.end();
  });
});
