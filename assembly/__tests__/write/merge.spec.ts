import { arena } from "../../env/memory";
import { Own } from "../../env/view";
import { Header } from "../../arena/layout/header";
import { used, wasteful } from "../../arena/change/forms";
import { Directory } from "../../arena/read/directory";
import { cardinality } from "../../read/query";
import { merge } from "../../write/merge/merge";
import { set } from "../../write/point";
import { Form, Trial, addOperandOf, build, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, Style, anyModel, anyRanges, appendContainer, combineModels, range,
} from "../support/bitmap-model";
import { clear, enter, growCount, rounds, setArenaLimit, succeeds } from "../world/world";

/** From this key on, ballast() has its containers. */
const BALLAST: u64 = 1 << 20;
/** More bytes than any merge here needs to grow by. */
const ROOM_MAX: u32 = 1 << 24;
/** The bytes of memory 0 that are in use, kept for later. */
let kept: StaticArray<u8> = new StaticArray<u8>(0);
let merged: u32 = 0;

function perform(): void { merged = merge(); }

/**
 * Adds containers of as many consecutive members as given that make a bitmap large enough for small payloads
 * to be merged, and for a whole container to be replaced. Those of ten members are not packed, those of two
 * are.
 */
function ballast(model: Model, members: u32 = 10): Model {
  for (let key = BALLAST; key < BALLAST + 11000; key += 2) model.append(key << 16, (key << 16) + members - 1);
  return model;
}

/** Makes a bitmap of `more` operand 0. Memory 0 stays, without room to spare. */
function setOperand(more: Model, trial: Trial): void {
  kept = new StaticArray<u8>(<i32>used());
  memory.copy(changetype<usize>(kept), 0, kept.length);
  clear();
  addOperandOf(more, Form.EITHER, trial.random);
  freshArena(kept.length);
  memory.copy(0, changetype<usize>(kept), kept.length);
}

/**
 * Merges `more` into memory 0, which has the members of `model`.
 * Checks the result and returns its model, or that of memory 0 if nothing was merged. With `once`, checks
 * that memory 0 grows at most once. It grows before that, without changing members, for each leaf that is
 * unpacked.
 */
function mergeInto(trial: Trial, model: Model, more: Model, once: bool = !Header.isPaged()): Model {
  trial.steps++;
  setOperand(more, trial);
  const growths = growCount();
  merged = merge();
  trial.holds(
    !once || growCount() <= growths + 1,
    "merging grows the arena at most once: " + (growCount() - growths).toString(),
  );
  enter();
  const after = merged ? combineModels(1, [model, more]) : model;
  trial.is(after, merged ? "merged" : "left alone");
  trial.same(cardinality(), after.cardinality(), "cardinality");
  return after;
}

/**
 * Does perform() with little room to grow, and after each failure with more until there is enough.
 * Failures must leave memory 0 with the members of `model`. Returns their number.
 */
function performInRoom(trial: Trial, model: Model): u32 {
  const size = arena.size();
  let failures: u32 = 0, room: u32 = 1000 + trial.random.below(60000);
  setArenaLimit(size + room);
  while (!succeeds(perform) && room < ROOM_MAX) {
    failures++;
    enter();
    trial.is(model, "after a failed merge");
    room += room / 2;
    setArenaLimit(size + room);
  }
  trial.holds(room < ROOM_MAX, "there is room enough");
  return failures;
}

function container(key: u64, style: i32, trial: Trial): Model {
  const model = new Model();
  appendContainer(model, key, style, trial.random);
  return model;
}

/**
 * Appends container `key` to the model: runs with as many members as it takes for runs to be just the
 * smallest form. Then appends up to two members behind them to `more`, which make it an array.
 */
function appendRunsAtLimit(model: Model, more: Model, key: u64, trial: Trial): void {
  const random = trial.random, runs = random.between(2, random.below(2) ? 380 : 60);
  let rest = 2 * runs + 1 + random.below(3);
  let at = (key << 16) + random.below(5);
  for (let i = runs; i; i--) {
    const length = max(1, rest / i);
    model.append(at, at + length - 1);
    at += length + 1 + random.below(8);
    rest -= length;
  }
  const first = at + 1 + random.below(100), members = random.below(3);
  if (members) more.append(first, first);
  if (members > 1) more.append(first + 2 + random.below(9), first + 12);
}

/** `count` containers from `key` on, `step` keys apart, of one member or, now and then, a few more. */
function small(key: u64, step: u64, count: u32, trial: Trial): Model {
  const model = new Model();
  for (let i: u32 = 0; i < count; i++, key += step) {
    const style = trial.random.below(8) ? Style.SINGLE : trial.random.below(2) ? Style.PAIR : Style.FEW;
    appendContainer(model, key, style, trial.random);
  }
  return model;
}

describe("merging a bitmap into a larger one", () => {
  it("gives the model's result for each pair of container kinds", () => {
    const trial = new Trial(1250);
    for (let x = 0; x < Style.STYLES; x++) {
      for (let y = 0; y < Style.STYLES; y++) {
        for (let form: i32 = 0; form < Form.FORMS; form++) {
          const model = ballast(container(3, x, trial));
          build(model, form, trial.random);
          mergeInto(trial, model, container(3, y, trial));
          trial.same(merged, 1, "merged style " + y.toString() + " into " + x.toString());
        }
      }
    }
    trial.end();
  });

  it("gives the model's result for containers and spans before, between, in and behind present ones", () => {
    const trial = new Trial(1251);
    let merges = 0;
    for (let i = 0; i < rounds(100); i++) {
      const random = trial.random;
      const key = <u64>random.below(40);
      const far = random.below(3) ? 40 : BALLAST + random.below(20000);
      let model = combineModels(1, [anyModel(20, 1 + random.below(3), 20, random), ballast(new Model())]);
      if (random.below(2)) model = combineModels(1, [model, anyRanges(2, BALLAST + 1000, random)]);
      build(model, Form.EITHER, random);
      const more = combineModels(1, [
        random.below(2)
          ? anyRanges(key, key + 1 + random.below(20), random)
          : anyModel(key, 1 + random.below(9), random.below(9), random),
        random.below(2)
          ? anyRanges(far, far + random.below(60), random)
          : anyModel(far, 2, random.below(9), random),
        random.below(3) ? new Model() : anyModel(KEY_MAX - 30, 1, 5, random),
        random.below(4) ? new Model() : range(OFFSET_MAX - random.next() % (<u64>1 << 46), OFFSET_MAX),
      ]);
      mergeInto(trial, model, more);
      merges += merged;
    }
    trial.occurred(merges, "a bitmap is merged");
    trial.end();
  });

  it("gives the model's result for a sequence of merges and other changes in one arena", () => {
    const trial = new Trial(1252), random = trial.random;
    let merges = 0;
    for (let round = 0; round < 3; round++) {
      let model = ballast(new Model(), round % 2 ? 10 : 2);
      build(model, Form.EITHER, random);
      for (let i = 0; i < rounds(40); i++) {
        const key = random.below(2) ? <u64>random.below(3000) : BALLAST + random.below(12000);
        const more = random.below(2)
          ? anyModel(key, 1, 3, random)
          : small(key, 1 + random.below(30), random.below(20), trial);
        model = mergeInto(trial, model, more);
        merges += merged;
        const offset = (key << 16) + random.below(65536);
        enter();
        trial.same(set(offset, 0), u32(model.remove(offset)), "old value of a single offset");
      }
      trial.is(model, "after all changes");
    }
    trial.occurred(merges, "a bitmap is merged");
    trial.end();
  });

  it("gives the model's result for packed leaves, and keeps them as they were if memory is short", () => {
    const trial = new Trial(1259), random = trial.random;
    let merges = 0, failures: u32 = 0;
    for (let round = 0; round < rounds(24); round++) {
      const model = new Model();
      const base: u64 = <u64>random.below(1000) << 20;
      const step: u64 = round % 2 ? 1 << 32 : 1 << 19;
      for (let i: u64 = 0; i < 20000; i++) {
        const offset = base + i * step + random.below(300000);
        model.append(offset, offset);
      }
      const key = model.low(random.below(model.intervals)) >> 16;
      const more = random.below(3)
        ? new Model()
        : round % 4 ? small(key, 5, random.below(90), trial) : anyRanges(key, key + 50, random);
      // Add new members, members that are there, and neighbors of some.
      for (let i = random.below(120); i; i--) {
        more.add(base + random.next() % (20100 * step));
        const offset = model.low(random.below(model.intervals));
        more.add(random.below(4) ? offset : offset + 1);
      }
      setArenaLimit(u32.MAX_VALUE);
      build(model, Form.PLAIN, random);
      setOperand(more, trial);
      failures += performInRoom(trial, model);
      enter();
      merges += merged;
      trial.is(merged ? combineModels(1, [model, more]) : model, "merged");
      trial.steps++;
    }
    trial.occurred(merges, "a bitmap is merged");
    trial.occurred(failures, "an attempt fails");
    trial.end();
  });

  it("reserves enough for runs that become arrays", () => {
    const trial = new Trial(1260);
    let merges = 0;
    for (let i = 0; i < rounds(60); i++) {
      const model = new Model(), more = new Model();
      for (let key: u64 = 0; key < 6; key++) appendRunsAtLimit(model, more, key, trial);
      trial.holds(model.ordered && more.ordered, "containers do not overlap");
      build(ballast(model), i % 2 ? Form.RUNS : Form.EITHER, trial.random);
      mergeInto(trial, model, more);
      merges += merged;
    }
    trial.occurred(merges, "a bitmap is merged");
    trial.end();
  });

  it("merges nothing if the bitmap has all members, or the other one has none", () => {
    const trial = new Trial(1253), model = ballast(small(0, 1, 300, trial)), step = model.intervals / 20;
    const part = new Model();
    for (let i = 0; i < model.intervals; i += step) part.append(model.low(i), model.low(i));
    build(model, Form.EITHER, trial.random);
    const bytes = used();
    mergeInto(trial, model, part);
    trial.same(merged, 1, "merged members that were there");
    mergeInto(trial, model, new Model());
    trial.same(merged, 1, "merged an empty bitmap");
    trial.same(used(), bytes, "bytes in use");
    trial.end();
  });
});

describe("merging a bitmap that lies beyond the end of another one", () => {
  it("appends any number of containers, in leaves that are full", () => {
    const trial = new Trial(1254);
    const counts: u32[] = [0, 1, 126, 127, 128, 253, 254, 255, 508, 509, 3000, 33000];
    for (let i = 0; i < counts.length; i++) {
      const model = ballast(anyModel(0, 1, 9, trial.random));
      const first = (model.maximum() >> 16) + 1 + trial.random.below(2);
      build(model, Form.EITHER, trial.random);
      const before = used(), more = small(first, 1 + trial.random.below(3), counts[i], trial);
      mergeInto(trial, model, more);
      trial.same(merged, 1, "merged " + counts[i].toString() + " containers");
      const after = used();
      if (counts[i] >= 3000) {
        build(more, Form.EITHER, trial.random);
        trial.holds(
          after - before < used() + used() / 50 + 20000,
          "appending takes as much as building: " + (after - before).toString(),
        );
      }
    }
    trial.end();
  });

  it("appends packed leaves, whatever the size of their groups", () => {
    const trial = new Trial(1263), random = trial.random;
    for (let round = 0; round < rounds(60); round++) {
      const model = ballast(new Model(), round % 2 ? 10 : 2), more = new Model();
      const most = random.below(3) ? random.between(1, 5) : random.between(6, 80);
      const step = random.below(3) ? 1 + random.below(3) : 1 << random.between(2, 28);
      const groups: u32 = (random.below(3) ? random.between(1, 1000) : random.between(1000, 6000)) / most;
      let key = BALLAST + 11000 + random.below(3);
      for (let i: u32 = 0; i < groups; i++, key += 1 + random.below(step)) {
        const count = random.between(1, most);
        for (let n: u32 = 0; n < count; n++) more.add((key << 16) + <u64>(n * 800) + random.below(800));
      }
      build(model, Form.EITHER, random);
      mergeInto(trial, model, more);
      trial.same(merged, 1, "merged " + groups.toString() + " groups");
    }
    trial.end();
  });

  it("appends again and again, while the directory grows", () => {
    const trial = new Trial(1255);
    let model = ballast(new Model());
    build(model, Form.EITHER, trial.random);
    let entries = Directory.entriesHeld<Own>();
    for (let i = 0; i < rounds(200); i++) {
      const first = (model.maximum() >> 16) + 1, count = 126 + trial.random.below(3);
      const more = i % 50 == 7 ? anyRanges(first, first + 300, trial.random) : small(first, 1, count, trial);
      model = mergeInto(trial, model, more);
      trial.same(merged, 1, "merged");
      if (i % 50 != 7) trial.same(Directory.entriesHeld<Own>(), entries + count, "entries");
      entries = Directory.entriesHeld<Own>();
      trial.same(wasteful(), 0, "wasteful");
    }
    trial.end();
  });

  it("merges a bitmap of any size that lies partly beyond the end", () => {
    const trial = new Trial(1256);
    for (let i = 0; i < rounds(20); i++) {
      const model = ballast(anyModel(0, 1, 9, trial.random)), last = model.maximum() >> 16;
      build(model, Form.EITHER, trial.random);
      mergeInto(trial, model, small(last - trial.random.below(60), 1, trial.random.below(1000), trial));
      trial.same(merged, 1, "merged");
      build(model, Form.EITHER, trial.random);
      const span = range((last - 5) << 16, (last + 5 + trial.random.below(9)) << 16);
      mergeInto(trial, model, combineModels(1, [span, small(last + 40, 1, trial.random.below(300), trial)]));
      trial.same(merged, 1, "merged a span");
    }
    trial.end();
  });
});

describe("merging containers that are far apart", () => {
  it("makes room for all leaves that have to be split before anything is changed", () => {
    const trial = new Trial(1262), loose = ballast(new Model()), packed = ballast(new Model(), 2);
    for (let i = 0; i < rounds(60); i++) {
      const large = i % 2 ? loose : packed;
      build(large, Form.EITHER, trial.random);
      const more = new Model(), step = trial.random.between(60, 700);
      for (
        let key = BALLAST - 1 + 2 * trial.random.below(600);
        key < BALLAST + 11000; key += 2 + 2 * trial.random.below(step)
      ) {
        more.append(key << 16, key << 16);
        if (trial.random.below(2)) more.append((key + 2) << 16, (key + 2) << 16);
      }
      mergeInto(trial, large, more, true);
      trial.same(merged, 1, "merged " + more.cardinality().toString() + " containers");
    }
    trial.end();
  });
});

describe("merging, if building the union is quicker", () => {
  it("changes nothing", () => {
    const trial = new Trial(1257);
    const large = ballast(new Model()), most = anyModel(BALLAST, 2, 3000, trial.random);
    const pairs: Model[][] = [
      [new Model(), range(5, 5)], [range(5, 5), large], [range(5, 9), range(70000, 70000)],
      [range(0, OFFSET_MAX), range(5, 5)],
      [large, large], [large, most], [large, range(BALLAST << 16, OFFSET_MAX)], [large, range(0, OFFSET_MAX)],
    ];
    for (let i = 0; i < pairs.length; i++) {
      build(pairs[i][0], Form.EITHER, trial.random);
      setOperand(pairs[i][1], trial);
      trial.same(merge(), 0, "merged pair " + i.toString());
      trial.same(
        memory.compare(changetype<usize>(kept), 0, kept.length), 0,
        "difference to the bitmap before, pair " + i.toString(),
      );
      enter();
    }
    trial.end();
  });

  it("depends on how many containers the other one has, not on where they are", () => {
    const trial = new Trial(1258), loose = ballast(new Model()), packed = ballast(new Model(), 2);
    for (let count: u32 = 1; count < 3000; count += 1 + trial.random.below(200)) {
      const large = trial.random.below(2) ? loose : packed;
      build(large, Form.EITHER, trial.random);
      mergeInto(
        trial, large, small(BALLAST + 40 + trial.random.below(100), 1 + trial.random.below(3), count, trial),
      );
      if (count < 300) trial.same(merged, 1, "merged " + count.toString() + " containers");
      if (count > 1000) trial.same(merged, 0, "merged " + count.toString() + " containers");
    }
    trial.end();
  });
});

/** Merges random containers into a random bitmap with little room to grow; true if it trapped. */
function attempt(trial: Trial): bool {
  const random = trial.random, model = ballast(anyModel(0, 1, 30, random));
  const key = random.below(2) ? <u64>random.below(40) : BALLAST + random.below(10000), how = random.below(4);
  let more = how > 1 ? anyModel(key, 1 + random.below(3), 5, random) : anyRanges(key, key + 20, random);
  if (!how) more = small(BALLAST + 10900, 1, random.below(3000), trial);
  build(model, Form.EITHER, random);
  setOperand(more, trial);
  setArenaLimit(arena.size() + random.below(250000));
  merged = 0;
  const failed = !succeeds(perform);
  clear();
  trial.steps++;
  trial.is(
    merged ? combineModels(1, [model, more]) : model, failed ? "after a failed merge" : "after a merge",
  );
  return failed;
}

describe("merging without memory to grow", () => {
  it("leaves the bitmap as it was", () => {
    const trial = new Trial(1261);
    let failures = 0, merges: u32 = 0;
    for (let i = 0; i < rounds(200); i++) {
      failures += i32(attempt(trial));
      merges += merged;
    }
    trial.occurred(failures, "a merge fails");
    trial.occurred(merges, "a merge succeeds");
    trial.end();
  });
});
