import { begin } from "../../arena/builder/state";
import { cross } from "../../combine/compare/cross";
import { Cursor } from "../../combine/walk/cursor";
import { shareAll, shareAtLeast } from "../../combine/compare/facet";
import { Operation } from "../../combine/term/operation";
import { Form, Trial, addOperandOf, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, Style, anyModel, anyRanges, appendContainer, combineModels, range,
} from "../support/bitmap-model";
import { addArgument, argumentAt, clear, clearArguments, enter, rounds } from "../world/world";

/** From this many facets on, the first operand is prepared, unless its containers are many or far apart. */
const MANY: i32 = 32;

function shared(a: Model, b: Model): u64 { return combineModels(Operation.AND, [a, b]).cardinality(); }

/** Adds the bitmaps as operands, with containers of any kind. */
function addAll(trial: Trial, models: Model[]): void {
  for (let i = 0; i < models.length; i++) {
    addOperandOf(models[i], trial.random.below(Form.FORMS), trial.random);
  }
}

function beginCall(values: i32): void {
  clearArguments();
  for (let i = 0; i < values; i++) addArgument(0);
  freshArena(40);
}

/** Compares the first bitmap with the facets, some of them twice so that there are at least `least`. */
function shareWithAll(trial: Trial, one: Model, facets: Model[], least: i32): void {
  trial.steps++;
  clear();
  const all = facets.slice(0);
  while (all.length < least) all.push(facets[all.length % facets.length]);
  addAll(trial, [one]);
  addAll(trial, all);
  const cut = trial.random.below(2) ? <u64>trial.random.below(60) : 0;
  const counts = new StaticArray<u64>(all.length);
  for (let part = cut ? 0 : 1; part < 2; part++) {
    beginCall(all.length);
    shareAll(all.length, part ? cut : 0, part ? KEY_MAX : cut - 1);
    enter();
    for (let i = 0; i < all.length; i++) counts[i] += argumentAt(i);
  }
  for (let i = 0; i < all.length; i++) {
    trial.same(counts[i], shared(one, all[i]), "facet " + i.toString() + " of " + all.length.toString());
  }
}

/** Requires of each facet to share no members, as many as it does share, and one more. */
function shareUpTo(trial: Trial, one: Model, facets: Model[]): void {
  trial.steps++;
  clear();
  addAll(trial, [one]);
  addAll(trial, facets);
  for (let i = 0; i < facets.length; i++) {
    const both = shared(one, facets[i]);
    for (let more: u64 = 0; more < 3; more++) {
      const need = more ? both + more - 1 : 0;
      freshArena(40);
      begin(0, 2 * Cursor.BYTES);
      const counted = shareAtLeast(i + 1, need);
      enter();
      if (both >= need) trial.same(counted, both, "facet " + i.toString() + " that shares enough");
      else trial.holds(counted < need, "facet " + i.toString() + " is known to share too few");
    }
  }
}

function crossWithAll(trial: Trial, rows: Model[], columns: Model[], within: Model | null): void {
  trial.steps++;
  clear();
  addAll(trial, rows);
  addAll(trial, columns);
  if (within) addAll(trial, [within]);
  beginCall(rows.length * columns.length);
  cross(rows.length, columns.length, within ? 1 : 0, 0, KEY_MAX);
  enter();
  for (let r = 0; r < rows.length; r++) {
    const row = within ? combineModels(Operation.AND, [rows[r], within]) : rows[r];
    for (let c = 0; c < columns.length; c++) {
      trial.same(
        argumentAt(r * columns.length + c), shared(row, columns[c]),
        "row " + r.toString() + ", column " + c.toString(),
      );
    }
  }
}

/** A bitmap of container 5 in each style, and without any. */
function styles(trial: Trial): Model[] {
  const all = [new Model()];
  for (let style = 0; style < Style.STYLES; style++) {
    const model = new Model();
    appendContainer(model, 5, style, trial.random);
    all.push(model);
  }
  return all;
}

/** Up to `most` members in each container: a packed leaf, or several. */
function sparse(trial: Trial, first: u64, containers: u32, most: u32): Model {
  const model = new Model();
  for (let key = first; key < first + containers; key++) {
    for (let low: u64 = 0, left = trial.random.below(most + 1); left; left--) {
      low += 1 + trial.random.below(65536 / (most + 1));
      model.append((key << 16) + low, (key << 16) + low);
    }
  }
  return model;
}

describe("one bitmap against many", () => {
  it("counts what each pair of container kinds shares", () => {
    const trial = new Trial(930);
    for (let i = 0; i < rounds(6); i++) {
      const all = styles(trial);
      for (let one = 0; one < all.length; one++) {
        shareWithAll(trial, all[one], all, 1);
        shareWithAll(trial, all[one], all, MANY);
        shareUpTo(trial, all[one], all);
      }
    }
    trial.end();
  });

  it("counts packed leaves, which begin before the first key of the other bitmap and end behind its last",
    () => {
      const trial = new Trial(931);
      for (let i = 0; i < rounds(30); i++) {
        const ones = [
          sparse(trial, 40, 20, 300), sparse(trial, 45, 1, 2), sparse(trial, 0, 200, 6),
          anyModel(40, 2, 30, trial.random),
        ];
        const facets = [new Model()];
        for (let most: u32 = 1; most < 100; most *= 3) {
          facets.push(sparse(trial, trial.random.below(60), 1 + trial.random.below(300), most));
          facets.push(sparse(trial, KEY_MAX - 9, 10, most));
        }
        facets.push(anyModel(20, 1, 60, trial.random));
        for (let one = 0; one < ones.length; one++) {
          shareWithAll(trial, ones[one], facets, 1);
          shareWithAll(trial, ones[one], facets, MANY);
          shareUpTo(trial, ones[one], facets);
        }
      }
      trial.end();
    });

  it("counts spans of full containers", () => {
    const trial = new Trial(932);
    for (let i = 0; i < rounds(30); i++) {
      const last: u64 = i % 3 ? 2000 : 30, facets = [range(0, (last << 16) - 1), new Model(), range(0, 0)];
      for (let f = 0; f < 6; f++) facets.push(anyRanges(0, last, trial.random));
      for (let one = 0; one < 5; one++) {
        shareWithAll(trial, facets[one], facets, 1);
        shareWithAll(trial, facets[one], facets, MANY);
        shareUpTo(trial, facets[one], facets);
      }
    }
    trial.end();
  });

  it("counts bitmaps of which the first has too many containers to prepare, or containers far apart", () => {
    const trial = new Trial(933);
    const few = anyModel(0, 1, 8, trial.random);
    const facets = [few, sparse(trial, 0, 400, 3), range(5, 200 << 16), new Model()];
    const ones = [
      sparse(trial, 0, 127, 2), sparse(trial, 0, 300, 2),
      range(0, (128 << 16) - 1), range(0, (129 << 16) - 1),
      range(0, 8).append(7 << 16, (7 << 16) + 5), range(0, 8).append(17 << 16, (17 << 16) + 5),
      range(0, 8).append(KEY_MAX << 16, (KEY_MAX << 16) + 5),
      anyModel(0, 7, 20, trial.random), anyModel(0, 9, 20, trial.random),
    ];
    for (let one = 0; one < ones.length; one++) {
      shareWithAll(trial, ones[one], facets, MANY);
      shareWithAll(trial, ones[one], ones, MANY);
    }
    trial.end();
  });
});

describe("a table of intersections", () => {
  it("counts what each pair of container kinds shares", () => {
    const trial = new Trial(934);
    for (let i = 0; i < rounds(6); i++) {
      const all = styles(trial);
      crossWithAll(trial, all, all, null);
      for (let within = 0; within < all.length; within++) crossWithAll(trial, all, all, all[within]);
    }
    trial.end();
  });

  it("counts packed leaves, ranges and all kinds, also with more rows than are prepared at once", () => {
    const trial = new Trial(935);
    for (let i = 0; i < rounds(20); i++) {
      const rows: Model[] = [new Model()], columns: Model[] = [new Model()];
      const height = i % 4 ? 1 + trial.random.below(6) : 28 + trial.random.below(8);
      const width = 1 + trial.random.below(40);
      while (<u32>rows.length < <u32>height) {
        const any = rows.length % 2 == 1;
        rows.push(any ? anyModel(0, 1, 6, trial.random) : sparse(trial, trial.random.below(6), 6, 20));
      }
      while (<u32>columns.length < <u32>width) {
        columns.push(columns.length % 2 ? anyRanges(0, 12, trial.random) : sparse(trial, 0, 12, 60));
      }
      crossWithAll(trial, rows, columns, null);
      crossWithAll(trial, rows, columns, anyModel(0, 1, 8, trial.random));
      crossWithAll(trial, columns, rows, anyRanges(0, 12, trial.random));
    }
    trial.end();
  });
});
