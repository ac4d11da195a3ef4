import { Own } from "../../env/view";
import { Entry } from "../../arena/layout/entry";
import { Directory } from "../../arena/read/directory";
import { Forms, used } from "../../arena/change/forms";
import { cardinality, get } from "../../read/query";
import { set } from "../../write/point";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, Style, anyModel, appendContainer, range } from "../support/bitmap-model";
import { Kind } from "../../container/kind";

/** Makes the same change to memory 0 and the model, and checks the old value and the new one. */
function change(trial: Trial, model: Model, offset: u64, value: u32): void {
  const before = value ? !model.add(offset) : model.remove(offset);
  trial.same(set(offset, value), u32(before), "old value of " + offset.toString());
  trial.same(get(offset), value, "new value of " + offset.toString());
}

// --- One container, member by member -----------------------------------------------------------------------

const enum Order { ASCENDING, DESCENDING, SCATTERED, ORDERS }

/** The `i`-th of the 65,536 values of a container. */
function inOrder(order: i32, i: u32): u32 {
  return order == Order.ASCENDING ? i : order == Order.DESCENDING ? 65535 - i : (i * 40503 + 977) & 65535;
}

const BOUNDARIES: u32[] = [0, 1, 2, 3, 4, 31, 32, 33, 34, 100, 4095, 4096, 4097, 30000, 65534, 65535, 65536];

/** Container 5 with the first `count` values of the order, alone or between other containers. */
function expected(order: i32, count: u32, others: bool): Model {
  const model = new Model(), present = new StaticArray<bool>(65536);
  for (let i: u32 = 0; i < count; i++) present[inOrder(order, i)] = true;
  if (others) model.append(4 << 16, (4 << 16) + 2);
  for (let v: u32 = 0; v < 65536; v++) if (present[v]) model.append((5 << 16) + v, (5 << 16) + v);
  if (others) model.append((6 << 16) + 1, (6 << 16) + 1).append(OFFSET_MAX, OFFSET_MAX);
  return model;
}

/** Adds all values of container 5 one by one, then removes them one by one. */
function growAndShrink(trial: Trial, order: i32, others: bool): void {
  const base: u64 = 5 << 16;
  if (others) build(expected(order, 0, true), Form.PLAIN, trial.random); else freshArena(40);
  for (let count: u32 = 0, boundary = 0; count <= 65536; count++) {
    trial.steps = count;
    if (count == BOUNDARIES[boundary]) {
      trial.is(expected(order, count, others), "grown");
      if (!others && order != Order.SCATTERED) {
        trial.same(load<u8>(0), u8(count > 64 * Forms.TINY_WORDS), "form of the arena");
      }
      boundary++;
    }
    if (count == 65536) break;
    trial.same(set(base + inOrder(order, count), 1), 0, "old value of an absent member");
    trial.same(set(base + inOrder(order, count >> 1), 1), 1, "old value of a present member");
  }
  for (let count: u32 = 65536, boundary = BOUNDARIES.length - 1; ; count--) {
    trial.steps = count;
    if (count == BOUNDARIES[boundary]) { trial.is(expected(order, count, others), "shrunk"); boundary--; }
    if (!count) break;
    trial.same(get(base + inOrder(order, count - 1)), 1, "value before removing");
    trial.same(set(base + inOrder(order, count - 1), 0), 1, "old value when removing");
    trial.same(set(base + inOrder(order, count - 1), 0), 0, "old value when removing again");
  }
}

describe("a container", () => {
  it("alone in an arena can be filled and emptied member by member", () => {
    const trial = new Trial(300);
    for (let order = 0; order < Order.ORDERS; order++) growAndShrink(trial, order, false);
    trial.same(used(), 16, "bytes in use when empty");
    trial.end();
  });

  it("between others can be filled and emptied member by member", () => {
    const trial = new Trial(301);
    for (let order = 0; order < Order.ORDERS; order++) growAndShrink(trial, order, true);
    trial.end();
  });
});

// --- Runs --------------------------------------------------------------------------------------------------

const BASE: u64 = 9 << 16;

/**
 * Builds container 9 from runs [first, last, ...], with a container of one member before it and one behind it
 * of so many that the arena is not a packed leaf.
 */
function buildRuns(trial: Trial, bounds: u32[]): Model {
  const model = new Model().append(BASE - 1, BASE - 1);
  for (let i = 0; i < bounds.length; i += 2) model.append(BASE + bounds[i], BASE + bounds[i + 1]);
  model.append(BASE + 65536 * 2, BASE + 65536 * 2 + 1100);
  build(model, Form.RUNS, trial.random);
  return model;
}

/** Sets one offset of those runs to `value` and checks that the container then has that kind. */
function edit(trial: Trial, bounds: u32[], low: u32, value: u32, kind: Kind): void {
  trial.steps++;
  const model = buildRuns(trial, bounds);
  trial.same(Directory.find(9).kind<Own>(), Kind.RUNS, "kind before the change");
  change(trial, model, BASE + low, value);
  trial.is(model, "changed");
  trial.same(Directory.find(9).kind<Own>(), kind, "kind after the change");
}

/** `count` runs of `length` members, `stride` apart. */
function comb(count: u32, length: u32, stride: u32): u32[] {
  const bounds: u32[] = [];
  for (let i: u32 = 0; i < count; i++) { bounds.push(i * stride); bounds.push(i * stride + length - 1); }
  return bounds;
}

describe("runs", () => {
  it("take new members inside, beside, between and away from existing runs", () => {
    const trial = new Trial(310), two: u32[] = [100, 200, 300, 400], near: u32[] = [10, 20, 22, 30];
    edit(trial, two, 100, 1, Kind.RUNS);
    edit(trial, two, 150, 1, Kind.RUNS);
    edit(trial, two, 400, 1, Kind.RUNS);
    edit(trial, two, 201, 1, Kind.RUNS);
    edit(trial, two, 401, 1, Kind.RUNS);
    edit(trial, two, 99, 1, Kind.RUNS);
    edit(trial, two, 299, 1, Kind.RUNS);
    edit(trial, near, 21, 1, Kind.RUNS);
    edit(trial, two, 0, 1, Kind.RUNS);
    edit(trial, two, 250, 1, Kind.RUNS);
    edit(trial, two, 65535, 1, Kind.RUNS);
    edit(trial, [1, 50], 0, 1, Kind.RUNS);
    edit(trial, [60000, 65534], 65535, 1, Kind.RUNS);
    edit(trial, [0, 30000, 30002, 65535], 30001, 1, Kind.FULL);
    edit(trial, [1, 65535], 0, 1, Kind.FULL);
    edit(trial, [0, 65534], 65535, 1, Kind.FULL);
    trial.end();
  });

  it("lose members from the start, the middle and the end of a run", () => {
    const trial = new Trial(311), two: u32[] = [100, 200, 300, 400], single: u32[] = [10, 40, 50, 50, 60, 90];
    edit(trial, two, 250, 0, Kind.RUNS);
    edit(trial, two, 99, 0, Kind.RUNS);
    edit(trial, two, 401, 0, Kind.RUNS);
    edit(trial, two, 100, 0, Kind.RUNS);
    edit(trial, two, 200, 0, Kind.RUNS);
    edit(trial, two, 400, 0, Kind.RUNS);
    edit(trial, two, 101, 0, Kind.RUNS);
    edit(trial, two, 350, 0, Kind.RUNS);
    edit(trial, single, 50, 0, Kind.RUNS);
    edit(trial, [0, 65534], 0, 0, Kind.RUNS);
    edit(trial, [0, 65534], 30000, 0, Kind.RUNS);
    trial.end();
  });

  it("become an array, a short or a sparse bitset as soon as that is smaller", () => {
    const trial = new Trial(312);
    edit(trial, [5, 7], 20, 1, Kind.ARRAY);                   // 10 bytes as runs, 8 as an array
    edit(trial, [5, 8], 20, 1, Kind.RUNS);                    // 10 bytes as runs, 10 as an array
    edit(trial, [5, 7], 6, 0, Kind.PAIR);
    edit(trial, [5, 8], 6, 0, Kind.ARRAY);
    edit(trial, [5, 9], 7, 0, Kind.SHORT);                    // the five members before take less as one word
    edit(trial, [5, 10], 7, 0, Kind.RUNS);
    edit(trial, comb(255, 3, 160).concat([60000, 60001]), 60050, 1, Kind.SPARSE);   // the 768th member
    edit(trial, comb(255, 3, 160).concat([60000, 60001]), 60001, 0, Kind.RUNS);
    edit(trial, comb(40, 20, 1500), 65000, 1, Kind.RUNS);     // 166 bytes as runs
    trial.end();
  });

  it("can be emptied and filled again", () => {
    const trial = new Trial(313);
    const model = buildRuns(trial, [7, 9, 20, 25]);
    const out: u32[] = [8, 22, 23, 7, 9, 24, 25, 20, 21];
    for (let i = 0; i < out.length; i++) {
      change(trial, model, BASE + out[i], 0);
      trial.is(model, "shrunk");
    }
    trial.same(changetype<usize>(Directory.find(9)), 0, "entry of the empty container");
    for (let i = 0; i < out.length; i++) { change(trial, model, BASE + out[i], 1); trial.is(model, "grown"); }
    const few = buildRuns(trial, [0, 9, 100, 109]);
    for (let v: u32 = 0; v < 9; v++) {
      change(trial, few, BASE + v, 0);
      change(trial, few, BASE + 109 - v, 0);
      trial.is(few, "shrunk");
    }
    trial.same(Directory.find(9).kind<Own>(), Kind.RUNS, "kind of two runs of one member");
    change(trial, few, BASE + 50, 1);
    trial.is(few, "three members");
    trial.end();
  });

  it("agree with the model after random changes near their ends", () => {
    const trial = new Trial(314);
    const styles: Style[] = [
      Style.RUNS, Style.MANY_RUNS, Style.SHORT_RUNS, Style.ENDS, Style.LACKING, Style.FULL,
    ];
    for (let i = 0; i < 40; i++) {
      const model = new Model();
      for (let key: u64 = 3; key < 6; key++) {
        appendContainer(model, key, styles[trial.random.below(styles.length)], trial.random);
      }
      build(model, Form.RUNS, trial.random);
      for (let j = 0; j < 150; j++) {
        trial.steps++;
        const at = trial.random.below(model.intervals);
        const end = trial.random.below(2) ? model.low(at) : model.high(at);
        change(trial, model, end - 2 + trial.random.below(5), trial.random.below(2));
        if (j % 10 == 0) trial.is(model, "changed");
      }
      trial.is(model, "after all changes");
    }
    trial.end();
  });
});

// --- Full containers ---------------------------------------------------------------------------------------

describe("spans of full containers", () => {
  it("release any one of their containers when a member is removed, and take it back", () => {
    const trial = new Trial(320), spans: u64[] = [1, 2, 3, 7], lows: u64[] = [0, 1, 30000, 65534, 65535];
    for (let s = 0; s < spans.length; s++) {
      for (let at: u64 = 0; at < spans[s]; at++) {
        for (let l = 0; l < lows.length; l++) {
          trial.steps++;
          const model = range(100 << 16, ((100 + spans[s]) << 16) - 1), offset = ((100 + at) << 16) + lows[l];
          if (l % 2) model.append(((100 + spans[s]) << 16) + 5, ((100 + spans[s]) << 16) + 5);
          build(model, Form.RUNS, trial.random);
          change(trial, model, offset, 1);
          change(trial, model, offset, 0);
          trial.is(model, "one member removed");
          change(trial, model, offset, 0);
          change(trial, model, offset ^ 1, 0);
          trial.is(model, "two members removed");
          change(trial, model, offset ^ 1, 1);
          change(trial, model, offset, 1);
          trial.is(model, "full again");
        }
      }
    }
    trial.end();
  });

  it("can be changed at their ends and in the middle, however long they are", () => {
    const trial = new Trial(321);
    const model = range(0, OFFSET_MAX);
    const borders: u64[] = [0, 1, 65535, 65536, Entry.SPAN_MAX << 16, <u64>1 << 63];
    build(model, Form.PLAIN, trial.random);
    for (let i = 0; i < borders.length; i++) {
      change(trial, model, borders[i], 0);
      trial.is(model, "removed at a border");
      change(trial, model, borders[i] - 1, 0);
      trial.is(model, "removed before a border");
      trial.same(cardinality(), model.cardinality(), "cardinality");
    }
    change(trial, model, OFFSET_MAX - 1, 0);
    trial.is(model, "removed near the end");
    trial.end();
  });

  it("can be changed in large directories", () => {
    const trial = new Trial(322), model = new Model();
    for (let key: u64 = 0; key < 1500; key++) {
      if (key % 5) model.append((key * 10) << 16, (((key * 10) + 1 + key % 8) << 16) - 1);
    }
    build(model, Form.PLAIN, trial.random);
    for (let i = 0; i < 3000; i++) {
      trial.steps++;
      change(
        trial, model, (<u64>trial.random.below(15000) << 16) + 65535 * trial.random.below(2),
        trial.random.below(4) ? 0 : 1,
      );
      if (i % 100 == 0) trial.is(model, "changing");
    }
    trial.is(model, "after all changes");
    trial.end();
  });
});

// --- Everything --------------------------------------------------------------------------------------------

/**
 * Sets or clears up to some hundred offsets:
 * scattered over container `key`, or consecutive from a random one on.
 */
function scribble(trial: Trial, model: Model, key: u64): void {
  const value = trial.random.below(2);
  const near = trial.random.below(2);
  const count = trial.random.below(near ? 700 : 100);
  let offset = (key << 16) + trial.random.below(65536);
  for (let i: u32 = 0; i < count; i++) {
    change(trial, model, offset, value);
    offset = near ? offset + 1 : (key << 16) + trial.random.below(65536);
  }
}

describe("single offsets", () => {
  it("agree with the model in bitmaps with containers of all kinds", () => {
    const trial = new Trial(330), keys: u64[] = [0, 1, 65535, 65536, KEY_MAX - 1, KEY_MAX];
    for (let i = 0; i < 30; i++) {
      const step: u64 = i % 2 ? 1 : KEY_MAX / 5;
      const model = i % 5 ? anyModel(0, step, 6, trial.random) : new Model();
      build(model, Form.EITHER, trial.random);
      for (let j = 0; j < 30; j++) {
        trial.steps++;
        scribble(
          trial, model,
          i % 2 ? trial.random.below(6) : i % 3 ? trial.random.below(6) * step : keys[trial.random.below(6)],
        );
        trial.is(model, "changed");
      }
    }
    trial.end();
  });

  it("can add all 256 members of one high byte, and remove them", () => {
    const trial = new Trial(334);
    for (let i = 0; i < 40; i++) {
      const model = new Model(), most: u64 = 500 + trial.random.below(3590);
      freshArena(40);
      while (model.cardinality() < most) change(trial, model, (5 << 16) + trial.random.below(65536), 1);
      const high = trial.random.below(256) << 8;
      for (let n = 0; n < 300; n++) change(trial, model, (5 << 16) + high + trial.random.below(256), 1);
      for (let v: u32 = 0; v < 256; v++) change(trial, model, (5 << 16) + high + v, 1);
      trial.is(model, "one high byte with all members");
      for (let n = 0; n < 200; n++) change(trial, model, (5 << 16) + trial.random.below(65536), 1);
      trial.is(model, "more members");
      for (let v: u32 = 0; v < 256; v += 3) change(trial, model, (5 << 16) + high + v, 0);
      for (let n = 0; n < 600; n++) change(trial, model, (5 << 16) + trial.random.below(65536), 1);
      trial.is(model, "no high byte with all members");
    }
    trial.end();
  });

  it("can be any of the 64-bit offsets, from 0 to the greatest", () => {
    const trial = new Trial(331), model = new Model();
    const offsets: u64[] = [
      0, 65535, 65536, u32.MAX_VALUE, <u64>1 << 32, ((<u64>1) << 48) - 1, (<u64>1) << 48,
      i64.MAX_VALUE, (<u64>1) << 63, OFFSET_MAX,
    ];
    freshArena(40);
    for (let i = 0; i < offsets.length; i++) {
      trial.same(get(offsets[i]), 0, "value before adding");
      change(trial, model, offsets[i], 0);
      change(trial, model, offsets[i], 1);
      trial.is(model, "added");
      trial.same(get(offsets[i] + 1), u32(model.has(offsets[i] + 1)), "value of the next offset");
      trial.same(get(offsets[i] - 1), u32(model.has(offsets[i] - 1)), "value of the previous offset");
    }
    for (let i = 0; i < offsets.length; i++) {
      change(trial, model, offsets[i], 0);
      trial.is(model, "removed");
    }
    trial.end();
  });

  it("do not change an empty bitmap when they are cleared", () => {
    const trial = new Trial(332);
    trial.same(set(5, 0), 0, "old value");
    trial.same(used(), 16, "bytes in use");
    trial.is(new Model(), "empty");
    trial.end();
  });
});
