import { Operation } from "../../combine/term/operation";
import { Measure, rank } from "../../combine/compare/ranking";
import { Form, Trial, addOperandOf, freshArena, nothingBehind } from "../support/bitmap-arena";
import { Model, OFFSET_MAX, anyModel, anyRanges, combineModels, range } from "../support/bitmap-model";
import { addArgument, argumentAt, clear, clearArguments, enter, rounds, spent } from "../world/world";

const GUARD: u64 = 0xfeedfacecafebeef;
/** Limbs of a number of up to 65 bits, and of a product of two. */
const LIMBS: i32 = 3, PRODUCT_LIMBS: i32 = 6;

/** A number from 0 to 2^64, as limbs of 32 bits, the lowest first. */
class Size {
  limbs: StaticArray<u64> = new StaticArray<u64>(LIMBS);
  constructor(public low: u64, isPower: bool = false) {
    this.limbs[0] = <u64><u32>low;
    this.limbs[1] = low >> 32;
    this.limbs[2] = u64(isPower);
  }

  static of(model: Model): Size {
    return new Size(model.cardinality(), model.intervals > 0 && !model.cardinality());
  }

  isZero(): bool { return !this.low && !this.limbs[2]; }
  isLess(than: Size): bool {
    return this.limbs[2] == than.limbs[2] ? this.low < than.low : this.limbs[2] < than.limbs[2];
  }

  times(by: Size): StaticArray<u64> {
    const product = new StaticArray<u64>(PRODUCT_LIMBS);
    for (let i = 0; i < LIMBS; i++) {
      let carry: u64 = 0;
      for (let j = 0; j < LIMBS; j++) {
        carry += product[i + j] + this.limbs[i] * by.limbs[j];
        product[i + j] = <u64><u32>carry;
        carry >>= 32;
      }
      product[i + LIMBS] = carry;
    }
    return product;
  }
}

class Score {
  constructor(public part: Size, public whole: Size) {}
  /** Less than, equal to or greater than 0, as this is to the other. */
  compare(other: Score): i32 {
    const left = this.part.times(other.whole), right = other.part.times(this.whole);
    for (let i = PRODUCT_LIMBS - 1; i >= 0; i--) if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
  }
}

function scoreOf(by: Measure, one: Model, facet: Model): Score {
  const both = Size.of(combineModels(Operation.AND, [one, facet])), a = Size.of(one), b = Size.of(facet);
  if (by == Measure.CARD) return new Score(both, new Size(0, true));
  if (by == Measure.JACCARD) return new Score(both, Size.of(combineModels(Operation.OR, [one, facet])));
  return new Score(both, a.isLess(b) ? a : b);
}

/**
 * Ranks the facets, and compares the result with repeated choices of the best one. Returns the units of work.
 */
function rankAll(trial: Trial, one: Model, facets: Model[], by: Measure, least: Score, top: u64): u64 {
  trial.steps++;
  clear();
  addOperandOf(one, trial.random.below(Form.FORMS), trial.random);
  for (let i = 0; i < facets.length; i++) {
    addOperandOf(facets[i], trial.random.below(Form.FORMS), trial.random);
  }
  clearArguments();
  for (let i = 0; i < 2 * facets.length; i++) addArgument(0);
  addArgument(GUARD);
  freshArena(40);
  spent();
  const found = rank(facets.length, by, least.part.low, least.whole.low, top), units = spent();
  enter();
  trial.holds(nothingBehind(), "nothing is written behind the arena");
  trial.same(argumentAt(2 * facets.length), GUARD, "the argument behind the result");

  const scores: Score[] = [], isOut = new StaticArray<bool>(facets.length);
  for (let i = 0; i < facets.length; i++) {
    const score = scoreOf(by, one, facets[i]);
    scores.push(score);
    isOut[i] = score.whole.isZero() || score.compare(least) < 0;
  }
  let ranked: u32 = 0;
  for (; <u64>ranked < top; ranked++) {
    let best = -1;
    for (let i = 0; i < facets.length; i++) {
      if (!isOut[i] && (best < 0 || scores[i].compare(scores[best]) > 0)) best = i;
    }
    if (best < 0) break;
    isOut[best] = true;
    if (ranked >= found) continue;
    trial.same(argumentAt(facets.length + ranked), best, "place " + ranked.toString());
    trial.same(argumentAt(best), scores[best].part.low, "members of place " + ranked.toString());
  }
  trial.same(found, ranked, "facets found");
  return units;
}

/** 0, a power of ten with a part of it, or the score of one of the facets. */
function anyLeast(trial: Trial, one: Model, facets: Model[], by: Measure): Score {
  const kind = trial.random.below(4);
  if (kind == 0) return new Score(new Size(0), new Size(1));
  if (kind > 1) {
    const score = scoreOf(by, one, facets[trial.random.below(facets.length)]);
    if (!score.whole.isZero() && !score.part.limbs[2]) return score;
  }
  if (by == Measure.CARD) return new Score(new Size(trial.random.below(300)), new Size(0, true));
  let whole: u64 = 1;
  for (let places = trial.random.below(19); places; places--) whole *= 10;
  return new Score(new Size(trial.random.next() % (whole + 1)), new Size(whole));
}

function rankInManyWays(trial: Trial, one: Model, facets: Model[]): void {
  for (let by = Measure.CARD; by <= Measure.OVERLAP; by++) {
    const top: u64 = trial.random.below(4) ? trial.random.below(facets.length + 2) : u64.MAX_VALUE;
    rankAll(trial, one, facets, by, anyLeast(trial, one, facets, by), top);
    rankAll(trial, one, facets, by, new Score(new Size(1), new Size(0, true)), top);
    rankAll(trial, one, facets, by, new Score(new Size(1), new Size(1)), top);
  }
}

/** Two ranges whose lengths are any numbers of up to 64 bits. */
function long(trial: Trial): Model {
  const low = trial.random.next() >> trial.random.below(64), room = OFFSET_MAX - low;
  const high = low + (trial.random.next() >> trial.random.below(64)) % (room | 1), model = range(low, high);
  if (high >= OFFSET_MAX - 1) return model;
  return model.append(high + 2, OFFSET_MAX - trial.random.next() % (OFFSET_MAX - high - 1));
}

describe("the bitmaps that are most similar to one", () => {
  it("are those that comparing all scores finds", () => {
    const trial = new Trial(936);
    for (let i = 0; i < rounds(60); i++) {
      const facets = [new Model(), anyRanges(0, 12, trial.random)];
      for (let left = trial.random.below(20); left; left--) {
        facets.push(anyModel(trial.random.below(4), 1, 1 + trial.random.below(4), trial.random));
        if (trial.random.below(4)) facets.push(facets[trial.random.below(facets.length)]);
      }
      rankInManyWays(trial, anyModel(0, 1, 6, trial.random), facets);
      rankInManyWays(trial, new Model(), facets);
    }
    trial.end();
  });

  it("are exact up to 2^64 members, and where only the last one of many members differs", () => {
    const trial = new Trial(937);
    const all = range(0, OFFSET_MAX), most = range(1, OFFSET_MAX), less = range(2, OFFSET_MAX);
    const edges = [less, most, all, new Model(), range(0, 0), most, all, range(0, OFFSET_MAX >> 1)];
    for (let i = 0; i < edges.length; i++) rankInManyWays(trial, edges[i], edges);
    for (let i = 0; i < rounds(100); i++) {
      const facets = edges.slice(trial.random.below(edges.length));
      for (let left = trial.random.below(12); left; left--) facets.push(long(trial));
      rankInManyWays(trial, facets[trial.random.below(facets.length)], facets);
      rankInManyWays(trial, long(trial), facets);
    }
    trial.end();
  });

  it("come in the order given where scores are equal", () => {
    const trial = new Trial(938), one = range(0, 99);
    const facets: Model[] = [];
    for (let i = 0; i < 40; i++) facets.push(range(90, 99).append(1000, 1000 + 7 * ((i * 37) % 40)));
    for (let top = 1; top <= facets.length; top++) {
      rankAll(trial, one, facets, Measure.CARD, new Score(new Size(1), new Size(0, true)), top);
    }
    trial.end();
  });

  it("are found without reading facets that are too small", () => {
    const trial = new Trial(939), one = anyRanges(0, 100, trial.random), facets = [range(0, 100 << 16)];
    const least = new Score(new Size(1), new Size(0, true));
    for (let i = 0; i < 50; i++) {
      const small = new Model();
      for (let key: u64 = 0; key < 100; key++) small.append(key << 16, key << 16);
      facets.push(small);
    }
    one.append(200 << 16, 210 << 16);
    facets[0].append(200 << 16, 210 << 16);
    const few = rankAll(trial, one, facets, Measure.CARD, least, 1);
    const many = rankAll(trial, one, facets, Measure.CARD, least, 2);
    trial.holds(few < many, "one is found with less work than two");
    trial.holds(few >= <u64>facets.length, "each facet is some work");
    trial.end();
  });
});
