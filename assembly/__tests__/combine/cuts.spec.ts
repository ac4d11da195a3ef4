import { combineCardinality } from "../../combine/combine";
import { cross } from "../../combine/compare/cross";
import { cuts } from "../../combine/walk/cuts";
import { shareAll } from "../../combine/compare/facet";
import { Operation } from "../../combine/term/operation";
import { Form, Trial, addOperandOf, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, Style, anyModel, appendContainer, combineModels, range,
} from "../support/bitmap-model";
import {
  addArgument, argumentAt, clear, clearArguments, enter, memberAt, members, rounds,
} from "../world/world";

/** The cuts, with 0 in front and KEY_MAX + 1 behind them: part i begins at the ith of these. */
function startsOf(trial: Trial, sources: Model[], parts: u32): u64[] {
  const starts: u64[] = [0];
  clear();
  for (let s = 0; s < sources.length; s++) addOperandOf(sources[s], Form.EITHER, trial.random);
  freshArena(40);
  cuts(sources.length, parts);
  for (let i: u32 = 0; i < members(); i++) starts.push(memberAt(i));
  enter();
  starts.push(KEY_MAX + 1);
  trial.holds(<u32>starts.length <= parts + 1, "parts");
  for (let i = 1; i < starts.length; i++) trial.holds(starts[i] > starts[i - 1], "cuts ascend");
  return starts;
}

/** The members of the sources in the part, as a model. */
function partOf(model: Model, first: u64, last: u64): u64 {
  return model.countRange(first << 16, last << 16 | 0xffff);
}

describe("cutting the keys of bitmaps into parts", () => {
  it("makes parts that add up, whatever the bitmaps and their number", () => {
    const trial = new Trial(1630), random = trial.random;
    for (let i = 0; i < rounds(60); i++) {
      const sources: Model[] = [];
      for (let s = random.below(4); s < 5; s++) {
        const from = random.below(40), step = random.between(1, 3);
        sources.push(random.below(6) ? anyModel(from, step, 40, random) : new Model());
      }
      const union = combineModels(Operation.OR, sources);
      const starts = startsOf(trial, sources, random.between(2, 32));
      let sum: u64 = 0;
      for (let part = 0; part + 1 < starts.length; part++) {
        const first = starts[part], last = starts[part + 1] - 1;
        freshArena(40);
        const counted = combineCardinality(Operation.OR, sources.length, 0, first, last);
        enter();
        trial.same(counted, partOf(union, first, last), "a part");
        sum += counted;
      }
      trial.same(sum, union.cardinality(), "all parts");
      clear();
    }
    trial.end();
  });

  it("counts one against others, and tables, part by part", () => {
    const trial = new Trial(1631), random = trial.random;
    for (let i = 0; i < rounds(40); i++) {
      const sources: Model[] = [];
      for (let s = 0; s < 4; s++) sources.push(anyModel(0, 1, 30, random));
      const starts = startsOf(trial, sources, 8);
      for (let part = 0; part + 1 < starts.length; part++) {
        const first = starts[part], last = starts[part + 1] - 1;
        clearArguments();
        for (let facet = 0; facet < 3; facet++) addArgument(0);
        freshArena(40);
        shareAll(3, first, last);
        for (let facet = 0; facet < 3; facet++) {
          const both = combineModels(Operation.AND, [sources[0], sources[facet + 1]]);
          trial.same(argumentAt(facet), partOf(both, first, last), "a facet");
        }
        enter();
        clearArguments();
        for (let cell = 0; cell < 3; cell++) addArgument(0);
        freshArena(40);
        cross(1, 3, 0, first, last);
        for (let column = 0; column < 3; column++) {
          const both = combineModels(Operation.AND, [sources[0], sources[column + 1]]);
          trial.same(argumentAt(column), partOf(both, first, last), "a cell");
        }
        enter();
      }
      clearArguments();
      clear();
    }
    trial.end();
  });

  it("makes equal parts where sources have no containers in common", () => {
    const trial = new Trial(1632), sources = [new Model(), new Model()];
    for (let key: u64 = 0; key < 100; key++) {
      sources[0].append(key << 16, (key << 16) + 60000);
      sources[1].append((key + 1000) << 16, ((key + 1000) << 16) + 60000);
    }
    const starts = startsOf(trial, sources, 8);
    expect(starts.length).toBe(9);
    for (let part = 0; part < 8; part++) {
      let containers: u64 = 0;
      const first = starts[part], last = starts[part + 1] - 1;
      for (let s = 0; s < 2; s++) containers += partOf(sources[s], first, last) / 60001;
      expect(containers).toBeGreaterThan(20);
      expect(containers).toBeLessThan(30);
    }
    clear();
    trial.end();
  });

  it("makes a single part of an empty bitmap, a single container, or a full bitmap", () => {
    const trial = new Trial(1633), full = range(0, ((<u64>1) << 40) - 1), one = new Model();
    appendContainer(one, 0, Style.BITSET, trial.random);
    expect(startsOf(trial, [new Model(), new Model()], 8).length).toBe(2);
    expect(startsOf(trial, [one, new Model()], 8).length).toBe(2);
    expect(startsOf(trial, [full, full], 8).length).toBe(2);
    clear();
    trial.end();
  });
});
