// Lists of offsets that are added in several calls, and either settled or taken back.

import { arena, argument } from "../../env/memory";
import { Own } from "../../env/view";
import { used } from "../../arena/change/forms";
import { Directory } from "../../arena/read/directory";
import { validate } from "../../arena/validate";
import { rewrite } from "../../combine/rebuild/rewrite";
import { Kind } from "../../container/kind";
import { Runs } from "../../container/run";
import { addAll } from "../../write/batch/add";
import { set } from "../../write/point";
import { settle, takeBack } from "../../write/undo";
import { Form, Trial, asOperand, build, freshArena } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, anyModel, anyRanges, range } from "../support/bitmap-model";
import {
  Random, addArgument, argumentsHandedBack, clear, clearArguments, enter, growCount, handedBackAt,
  setArenaSize,
} from "../world/world";

/** The offsets of one call, and those that all calls for a list have handed back. */
const offsets: u64[] = [], changed: u64[] = [];

function bring(list: u64[]): void {
  clearArguments();
  for (let i = 0; i < list.length; i++) addArgument(list[i]);
  enter();
}

/** Adds the offsets and appends those that were handed back to `changed`. */
function add(): void {
  bring(offsets);
  addAll(0, offsets.length);
  for (let i: u32 = 0, n = argumentsHandedBack(); i < n; i++) changed.push(handedBackAt(i));
}

/** Settles the additions, or takes them back, and checks that this does not grow the arena. */
function end(trial: Trial, taken: bool): void {
  clear();
  bring(changed);
  if (taken) takeBack(0, changed.length); else settle(0, changed.length);
  trial.same(growCount(), 0, "number of times the arena grew");
  changed.length = 0;
  clear();
}

/**
 * Makes `offsets` random ones that fill gaps, complete containers,
 * go beyond 4096 members, and go to new containers.
 */
function draw(model: Model, step: u64, random: Random): void {
  const stretches: u32 = 1 + random.below(12);
  offsets.length = 0;
  for (let s: u32 = 0; s < stretches; s++) {
    const i = model.intervals ? <i32>random.below(model.intervals) : -1, how = random.below(4);
    let from = <u64>random.below(30) * step * 65536 + random.below(65536);
    let length: u32 = 1 + random.below(random.below(2) ? 6 : 900);
    let gap: u64 = 1 + random.below(random.below(2) ? 2 : 40);
    if (random.below(8) && i >= 0) from = model.high(i) + 1;
    if (how < 3 && i >= 0 && i + 1 < model.intervals && model.low(i + 1) - from < 4000) {
      length = <u32>(model.low(i + 1) - from);
      gap = 1;
    }
    for (let n: u32 = 0; n < length && from <= OFFSET_MAX - gap; n++, from += gap) offsets.push(from);
  }
}

describe("adding a list in several calls", () => {
  it("can be settled or taken back without memory", () => {
    const trial = new Trial(370), random = trial.random;
    let deferred: u32 = 0;
    for (let round = 0; round < 500; round++) {
      const step: u64 = round % 3 ? 1 : KEY_MAX / 40, taken = random.below(3) != 0;
      const model = round % 4 ? anyModel(0, step, 8, random) : anyRanges(0, 12, random);
      build(model, round % 2 ? Form.RUNS : Form.EITHER, random);
      const before = new Model();
      for (let i = 0; i < model.intervals; i++) before.append(model.low(i), model.high(i));
      clear();
      const bytes = max(used(), 40);
      memory.fill(bytes, 0xa7, arena.size() - bytes);         // the same value as behind an arena
      setArenaSize(bytes);
      let defers: bool = false;
      for (let calls: u32 = 1 + random.below(4); calls; calls--) {
        draw(model, step, random);
        add();
        defers = defers || argument.deferred();
        for (let i = 0; i < offsets.length; i++) model.add(offsets[i]);
      }
      deferred += u32(defers);
      if (!defers && validate()) trial.holds(false, "a container waits, which was not noted");
      trial.steps++;
      end(trial, taken);
      trial.is(taken ? before : model, taken ? "taken back" : "settled");
    }
    trial.occurred(deferred, "a container waits for its final form");
    trial.end();
  });

  it("joins runs and makes complete containers FULL when it is settled", () => {
    const trial = new Trial(371), model = new Model();
    for (let v: u64 = 0; v < 65536; v += 100) model.append(v, v + 98);
    model.append(3 << 16, (3 << 16) + 9).append((3 << 16) + 11, (4 << 16) - 1);
    build(model, Form.RUNS, trial.random);
    offsets.length = 0;
    for (let v: u64 = 99; v < 30000; v += 100) offsets.push(v);
    offsets.push((3 << 16) + 10);
    add();
    trial.same(Runs.count(Directory.find(0).payload<Own>()), 656, "runs before they are settled");
    trial.holds(
      Directory.find(3).kind<Own>() == Kind.RUNS && Directory.find(3).count<Own>() == 65536,
      "not FULL before it is settled",
    );
    end(trial, false);
    trial.same(Runs.count(Directory.find(0).payload<Own>()), 356, "runs");
    trial.same(Directory.find(3).kind<Own>(), Kind.FULL, "kind of a complete container");
    for (let i = 0; i < offsets.length; i++) model.add(offsets[i]);
    trial.is(model, "settled");
    trial.end();
  });

  it("can be taken back after the arena was rewritten between two calls", () => {
    const trial = new Trial(372);
    const model = range(0, 9).append(11, 65535).append(65536, 131069).append(OFFSET_MAX, OFFSET_MAX);
    build(model, Form.RUNS, trial.random);
    offsets.length = 0;
    offsets.push(10);
    for (let offset: u64 = 131070; offset < 131072; offset++) offsets.push(offset);
    add();
    clear();
    asOperand();
    freshArena(40);
    rewrite(u32.MAX_VALUE);
    enter();
    offsets.length = 0;
    for (let key: u64 = 5; key < 7; key++) offsets.push(key << 20);
    add();
    end(trial, true);
    trial.is(model, "taken back");
    trial.end();
  });

  it("leaves bitsets of all kinds with few members when taken back, which the next removal converts", () => {
    const trial = new Trial(373), counts: u32[] = [1, 2, 3, 4, 20, 500], steps: u64[] = [13, 60];
    for (let c = 0; c < counts.length; c++) {
      for (let s = 0; s < steps.length; s++) {
        const model = new Model();
        for (let i: u64 = 0; i < counts[c]; i++) model.append(65536 + 40 * i + 1, 65536 + 40 * i + 1);
        build(model.append(OFFSET_MAX, OFFSET_MAX), Form.PLAIN, trial.random);
        offsets.length = 0;
        for (let v: u64 = 0; v < 65536 - 2; v += steps[s]) if (v % 40 != 1) offsets.push(65536 + v);
        for (let v: u64 = 2; v < 65536 - 2; v += steps[s]) if (v % 40 != 1) offsets.push(65536 + v);
        trial.steps++;
        clear();
        add();
        end(trial, true);
        trial.is(model, "taken back");
        trial.same(
          Directory.find(1).kind<Own>(), s ? Kind.SPARSE : Kind.BITSET,
          "kind with " + counts[c].toString() + " members left",
        );
        for (let left = counts[c]; left; left--) {
          const offset = 65536 + 40 * <u64>(left - 1) + 1;
          model.remove(offset);
          trial.same(set(offset, 0), 1, "old value");
          trial.is(model, "removed");
          const entry = Directory.find(1);
          const kind = left > 3 ? Kind.ARRAY : left > 2 ? Kind.PAIR : Kind.SINGLE;
          trial.holds(left == 1 ? !entry : entry.kind<Own>() == kind, "a small kind");
        }
      }
    }
    trial.end();
  });
});
