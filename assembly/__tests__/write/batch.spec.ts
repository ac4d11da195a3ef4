// Lists of offsets: adding, removing and querying them, sorting them, and building a bitmap from one.

import { Own } from "../../env/view";
import { Header } from "../../arena/layout/header";
import { Entry } from "../../arena/layout/entry";
import { Directory } from "../../arena/read/directory";
import { addAll } from "../../write/batch/add";
import { getAll } from "../../write/batch/get";
import { removeAll } from "../../write/batch/remove";
import { makeRemovable, settle, tidy } from "../../write/undo";
import { collect } from "../../combine/rebuild/collect";
import { sort, sortUnlessSparse } from "../../sort";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, anyModel, range } from "../support/bitmap-model";
import {
  Random, addArgument, argumentsHandedBack, clearArguments, enter, growCount, handedBackAt,
} from "../world/world";
import { Kind } from "../../container/kind";

/** A random offset near an end of one of the model's intervals, or anywhere in its first containers. */
function anyOffset(model: Model, step: u64, random: Random): u64 {
  if (!model.intervals || random.below(3) == 0) {
    return <u64>random.below(8) * step * 65536 + random.below(65536);
  }
  const i = random.below(model.intervals);
  return (random.below(2) ? model.low(i) : model.high(i)) + random.below(5) - 2;
}

/** Random offsets as clients send them: ascending or not, close together or not, some of them repeated. */
function anyOffsets(model: Model, step: u64, most: u32, random: Random): u64[] {
  const made: u64[] = [], count: u32 = 1 + random.below(most);
  const stretch = 1 + random.below(random.below(2) ? 8 : 5000), gap = 1 + random.below(30);
  for (let i: u32 = 0, offset: u64 = 0; i < count; i++) {
    const goesOn = i && random.below(stretch);
    offset = goesOn
      ? offset + (random.below(50) ? 1 + random.below(gap) : 0)
      : anyOffset(model, step, random);
    made.push(offset);
  }
  return made;
}

/** Makes the offsets the call's arguments. */
function bring(offsets: u64[]): void {
  clearArguments();
  for (let i = 0; i < offsets.length; i++) addArgument(offsets[i]);
  enter();
}

/** Adds or removes all but the first `skipped` offsets and checks which ones are handed back. */
function change(trial: Trial, model: Model, offsets: u64[], adds: bool, skipped: i32 = 0): void {
  const changed: u64[] = [];
  trial.steps++;
  bring(offsets);
  for (let i = skipped; i < offsets.length; i++) {
    if (adds ? model.add(offsets[i]) : model.remove(offsets[i])) changed.push(offsets[i]);
  }
  const count = offsets.length - skipped;
  if (!adds) makeRemovable(skipped, count);
  const grown = growCount();
  trial.same(
    adds ? addAll(skipped, count) : removeAll(skipped, count), changed.length, "number of changed offsets",
  );
  if (adds) settle(0, argumentsHandedBack());
  else {
    trial.same(growCount(), grown, "number of times the arena grew while offsets were removed");
    tidy(0, argumentsHandedBack());
  }
  trial.same(argumentsHandedBack(), changed.length, "number of offsets handed back");
  for (let i = 0; i < changed.length; i++) {
    trial.same(handedBackAt(i), changed[i], "offset " + i.toString() + " handed back");
  }
  trial.is(model, adds ? "added" : "removed");
}

/** `count` offsets from `from` on, `step` apart. */
function series(from: u64, count: u32, step: u64): u64[] {
  const made: u64[] = [];
  for (let i: u64 = 0; i < count; i++) made.push(from + i * step);
  return made;
}

describe("lists of offsets", () => {
  it("can be added to and removed from bitmaps with containers of all kinds", () => {
    const trial = new Trial(340), random = trial.random;
    for (let round = 0; round < 120; round++) {
      const step: u64 = round % 3 ? 1 : KEY_MAX / 9;
      const model = round % 4 ? anyModel(0, step, round % 8, random) : new Model();
      build(model, Form.EITHER, random);
      for (let i = 0; i < 8; i++) {
        change(trial, model, anyOffsets(model, step, round % 2 ? 50 : 3000, random), random.below(2) != 0);
      }
    }
    trial.end();
  });

  it("start at the given argument", () => {
    const trial = new Trial(341), model = range(70000, 70100);
    build(model, Form.PLAIN, trial.random);
    change(trial, model, series(70090, 20, 1), true, 3);
    change(trial, model, series(70090, 20, 1), false, 15);
    trial.end();
  });

  it("turn a sparse bitset into a bitset when it grows too large, and back", () => {
    const trial = new Trial(342);
    // Each member has a byte of its own. 4000 take 132 + 1000 + 4000 bytes.
    for (let more: u32 = 1523; more < 1527; more++) {
      const model = new Model(), isBitset = more > 1524;
      for (let i: u64 = 0; i < 4000; i++) model.append(65536 + 16 * i, 65536 + 16 * i);
      build(model.append(OFFSET_MAX, OFFSET_MAX), Form.PLAIN, trial.random);
      trial.same(Directory.find(1).kind<Own>(), Kind.SPARSE, "kind of 4000 members");
      change(trial, model, series(65536 + 11, more, 16), true);
      const kind = isBitset ? Kind.BITSET : Kind.SPARSE;
      trial.same(Directory.find(1).kind<Own>(), kind, "kind with " + more.toString() + " more");
      change(trial, model, series(65536 + 11, 20, 16), false);
      trial.same(Directory.find(1).kind<Own>(), kind, "kind after removing some");
      change(trial, model, series(65536 + 11 + 20 * 16, 4000 + more - 20 - 4864, 16), false);
      trial.same(Directory.find(1).kind<Own>(), kind, "kind with 4864 members");
      change(trial, model, [65536 + 16 * 3999], false);
      trial.same(Directory.find(1).kind<Own>(), Kind.SPARSE, "kind with 4863 members");
    }
    trial.end();
  });

  it("turn a bitset into a smaller kind at once when most of its members are removed", () => {
    const trial = new Trial(348), lefts: u32[] = [0, 1, 2, 3, 575, 576, 4863, 4864];
    const kinds: Kind[] = [
      Kind.FULL, Kind.SINGLE, Kind.PAIR, Kind.ARRAY, Kind.ARRAY, Kind.SPARSE, Kind.SPARSE, Kind.BITSET,
    ];
    for (let l = 0; l < lefts.length; l++) {
      const model = new Model(), left = lefts[l];
      for (let i: u64 = 0; i < 13000; i++) model.append(65536 + 5 * i, 65536 + 5 * i);
      build(model.append(OFFSET_MAX, OFFSET_MAX), Form.PLAIN, trial.random);
      // The members left lie at both ends, so that a short bitset would take as much as a bitset.
      const first = left - left / 2;
      change(trial, model, series(65536 + 5 * first, 13000 - left, 5), false);
      const entry = Directory.find(1);
      trial.same(entry ? entry.count<Own>() : 0, left, "members left");
      if (left) trial.same(entry.kind<Own>(), kinds[l], "kind with " + left.toString() + " left");
    }
    trial.end();
  });

  it("can give a sparse bitset whole words, and take them away", () => {
    const trial = new Trial(346);
    for (let more: u32 = 63; more < 66; more++) {
      // The first word, the last, and some between.
      for (let at: u64 = 0; at < 65536; at += 13056) {
        const model = new Model();
        for (let i: u64 = 0; i < 1100; i++) model.append(65536 + 59 * i, 65536 + 59 * i);
        build(model.append(OFFSET_MAX, OFFSET_MAX), Form.PLAIN, trial.random);
        change(trial, model, series(65536 + (at & 0xffc0), more, 1), true);
        trial.same(Directory.find(1).kind<Own>(), Kind.SPARSE, "kind");
        change(trial, model, series(65536 + 59 * 30, 8, 59 * 2), false);
        change(trial, model, series(65536 + (at & 0xffc0) + 2, more - 3, 1), false);
        change(trial, model, series(65536, 1100, 59), false);
      }
    }
    trial.end();
  });

  it("can fill a container and empty it", () => {
    const trial = new Trial(343);
    for (let step: u64 = 1; step < 4; step++) {
      const model = range(OFFSET_MAX, OFFSET_MAX);
      build(model, Form.PLAIN, trial.random);
      for (let at: u64 = 0; at < step; at++) {
        change(trial, model, series(65536 + at, <u32>((65535 - at) / step + 1), step), true);
      }
      trial.same(Directory.find(1).kind<Own>(), Kind.FULL, "kind");
      for (let at: u64 = 0; at < step; at++) {
        change(trial, model, series(65536 + at, <u32>((65535 - at) / step + 1), step), false);
      }
      trial.same(changetype<usize>(Directory.find(1)), 0, "no container");
    }
    trial.end();
  });

  it("can leave a few members, two, one or none, and add some again", () => {
    const trial = new Trial(344);
    for (let left: u64 = 0; left < 4; left++) {
      for (let alone = 0; alone < 2; alone++) {
        const model = range(65536, 65536 + 9);
        if (!alone) model.append(OFFSET_MAX, OFFSET_MAX);
        build(model, Form.PLAIN, trial.random);
        change(trial, model, series(65536 + left, 12, 1), false);
        change(trial, model, series(65536 + left, 6, 2), true);
      }
    }
    trial.end();
  });

  it("may repeat offsets after their container was removed and another took its entry's place", () => {
    const trial = new Trial(347);
    const model = range(65536, 65536 + 9).append(2 * 65536, 2 * 65536 + 9).append(OFFSET_MAX, OFFSET_MAX);
    build(model, Form.PLAIN, trial.random);
    change(trial, model, series(65536, 10, 1).concat(series(65536, 10, 1)), false);
    change(trial, model, series(65536, 3, 1).concat(series(65536, 10, 1)).concat(series(65536, 10, 1)), true);
    trial.end();
  });

  it("can be queried", () => {
    const trial = new Trial(345), random = trial.random;
    for (let round = 0; round < 100; round++) {
      const step: u64 = round % 3 ? 1 : KEY_MAX / 9, model = anyModel(0, step, round % 8, random);
      build(model, Form.EITHER, random);
      const offsets = anyOffsets(model, step, 1000, random);
      bring(offsets);
      getAll(0, offsets.length);
      trial.same(argumentsHandedBack(), offsets.length, "number of answers");
      for (let i = 0; i < offsets.length; i++) {
        trial.same(handedBackAt(i), u64(model.has(offsets[i])), "answer for " + offsets[i].toString());
      }
      trial.steps++;
    }
    trial.end();
  });
});

// --- Sorting and collecting --------------------------------------------------------------------------------

/** Writes the list to memory 0, with room to sort it, sorts it and checks that it then is `expected`. */
function sorts(trial: Trial, list: u64[], sorting: (count: u32) => void, expected: u64[]): void {
  const bytes = 16 * list.length + 1024;
  trial.steps++;
  freshArena(bytes);
  for (let i = 0; i < list.length; i++) store<u64>(8 * i, list[i]);
  sorting(list.length);
  for (let i = 0; i < list.length; i++) {
    trial.same(load<u64>(8 * i), expected[i], "sorted offset " + i.toString());
  }
  trial.holds(load<u64>(bytes) == 0xa7a7a7a7a7a7a7a7, "nothing was written behind the room to sort in");
}

describe("sorting and collecting a list of offsets", () => {
  it("sorts random lists", () => {
    const trial = new Trial(350), random = trial.random;
    for (let round = 0; round < 300; round++) {
      const list: u64[] = [], count: u32 = 1 + random.below(round % 3 ? 30 : 800);
      const mask = random.next() >> random.below(64), base = random.next() & ~mask;
      for (let i: u32 = 0; i < count; i++) list.push(base | (random.next() & mask));
      sorts(trial, list, sort, list.slice(0).sort((a, b) => i32(a > b) - i32(a < b)));
    }
    trial.end();
  });

  it("leaves an ascending list alone, and a list of more containers than offsets unless told to sort it", () => {
    const trial = new Trial(351), list: u64[] = [5, 3 * 65536 + 4, 1];
    sorts(trial, [7, 7, 9, OFFSET_MAX], sort, [7, 7, 9, OFFSET_MAX]);
    sorts(trial, [OFFSET_MAX], sort, [OFFSET_MAX]);
    sorts(trial, list, sortUnlessSparse, list);
    sorts(trial, [5, 3 * 65536, 1], sortUnlessSparse, [1, 5, 3 * 65536]);
    sorts(trial, list, sort, [1, 5, 3 * 65536 + 4]);
    trial.end();
  });

  it("collects an ascending list into a bitmap", () => {
    const trial = new Trial(352), random = trial.random, nothing = new Model();
    for (let round = 0; round < 200; round++) {
      const near = round % 2 ? anyModel(0, KEY_MAX / 9, 8, random) : nothing, model = new Model();
      const offsets = anyOffsets(near, KEY_MAX / 9, round % 3 ? 60 : 9000, random);
      offsets.sort((a, b) => i32(a > b) - i32(a < b));
      for (let i = 0; i < offsets.length; i++) {
        if (!model.has(offsets[i])) model.append(offsets[i], offsets[i]);
      }
      trial.steps++;
      bring(offsets);
      freshArena(40 + random.below(100));
      collect(offsets.length);
      trial.is(model, "collected");
    }
    trial.end();
  });

  it("chooses the kind of container by the number of distinct offsets", () => {
    const trial = new Trial(353), counts: u32[] = [1, 2, 3, 32, 33, 4095, 4096, 4097, 65535, 65536];
    for (let c = 0; c < counts.length; c++) {
      for (let twice = 0; twice < 2; twice++) {
        // 33 members lie within 8 words, which are smaller, 4095 and more within too many for a tiny arena
        const step: u64 = counts[c] > 30000 ? 1 : 15, offsets: u64[] = [], model = new Model();
        for (let i: u64 = 0; i < counts[c]; i++) {
          model.append(i * step, i * step);
          for (let j = 0; j <= twice; j++) offsets.push(i * step);
        }
        trial.steps++;
        bring(offsets);
        freshArena(40);
        collect(offsets.length);
        trial.is(model, "collected " + counts[c].toString());
        trial.same(load<u8>(0), u8(counts[c] > 33), "form of the arena");
        if (counts[c] == 65536) {
          trial.same(changetype<Entry>(Header.BYTES + 4).kind<Own>(), Kind.FULL, "kind");
        }
      }
    }
    trial.end();
  });
});
