import { used, wasteful } from "../../arena/change/forms";
import { combine, combineCardinality } from "../../combine/combine";
import { Operation } from "../../combine/term/operation";
import { complement } from "../../combine/rebuild/complement";
import { intersects, isSubset } from "../../combine/compare/relate";
import { Form, Trial, addOperandOf, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, OPERATIONS, Style, anyModel, anyRanges, appendContainer, combineModels, range,
} from "../support/bitmap-model";
import { Random, clear, enter, repeatOperand, rounds, spent } from "../world/world";

/** The form of operands unless a test says otherwise. */
const EITHER: Form = Form.EITHER;

/**
 * Runs all operations on the sets, storing and counting the result, and compares with the model. The
 * first set has the form `first`, the others have `form`. Of three sets or more, a model that is there
 * twice is one operand, given twice.
 */
function combineAll(trial: Trial, sources: Model[], form: Form = EITHER, first: Form = form): void {
  trial.steps++;
  clear();
  for (let s = 0; s < sources.length; s++) {
    const before = sources.indexOf(sources[s]);
    if (before < s && sources.length > 2) {
      repeatOperand(before);
    } else {
      addOperandOf(sources[s], s ? form : first, trial.random);
    }
  }
  for (let op = 0; op < OPERATIONS; op++) {
    if (op == Operation.NOT || (sources.length == 1 && op > Operation.NOT && op < Operation.ONE)) continue;
    const expected = combineModels(op, sources), what = "operation " + op.toString();
    freshArena(40);
    combine(op, sources.length);
    enter();
    trial.is(expected, what);
    trial.same(wasteful(), 0, what + ", wasteful");
    freshArena(40);
    trial.same(combineCardinality(op, sources.length, 0, 0, KEY_MAX), expected.cardinality(),
      what + " counted");
    enter();
    const all = expected.cardinality(), any = trial.random.next();
    const most: u64 = all && any & 1 ? 1 + (any >> 1) % all : max<u64>(any >> (any & 63), 1);
    freshArena(40);
    const counted = combineCardinality(op, sources.length, most, 0, KEY_MAX);
    if (all && most < all) trial.holds(counted >= most && counted <= all, what + " counted up to a limit");
    else if (all) trial.same(counted, all, what + " with fewer members than the limit");
    enter();
    const from = anyKey(trial, sources), to = max(from, anyKey(trial, sources));
    freshArena(40);
    trial.same(
      combineCardinality(op, sources.length, 0, from, to),
      expected.countRange(from << 16, to << 16 | 0xffff),
      what + " counted in containers " + from.toString() + " to " + to.toString(),
    );
    enter();
  }
  if (sources.length == 2) {
    freshArena(40);
    trial.same(intersects(), u32(combineModels(Operation.AND, sources).intervals != 0), "intersects");
    enter();
    freshArena(40);
    trial.same(isSubset(), u32(combineModels(Operation.DIFF, sources).intervals == 0), "isSubset");
    enter();
  }
}

/** A container in which a source begins or ends an interval, or the one before or after it. */
function anyKey(trial: Trial, sources: Model[]): u64 {
  const random = trial.random, source = sources[random.below(sources.length)];
  if (!source.intervals) return random.next() & KEY_MAX;
  const i = random.below(source.intervals), key = (random.below(2) ? source.low(i) : source.high(i)) >> 16;
  return min(key + random.below(3) - min<u64>(key, 1), KEY_MAX);
}

/** Units of work of counting a combination of sources of `count` lone members each, up to `most`. */
function workOf(op: Operation, sources: u32, count: i32, most: u64): u64 {
  const trial = new Trial(441), same = new Model();
  for (let i = 0; i < count; i++) same.append(<u64>i << 16, <u64>i << 16);
  for (let s: u32 = 0; s < sources; s++) addOperandOf(same, Form.PLAIN, trial.random);
  freshArena(40);
  spent();
  combineCardinality(op, sources, most, 0, KEY_MAX);
  enter();
  const work = spent();
  clear();
  return work;
}

function container(key: u64, style: i32, trial: Trial): Model {
  const model = new Model();
  appendContainer(model, key, style, trial.random);
  return model;
}

/** Container 3 with each offset in [low, high) a member with a probability of `share` in 1000. */
function noise(trial: Trial, share: u32, low: u64, high: u64): Model {
  const model = new Model();
  for (let at = low; at < high; at++) {
    if (trial.random.below(1000) < share) model.append((3 << 16) | at, (3 << 16) | at);
  }
  return model;
}

/** Lone members, the next one up to `gap` + 2 further on. */
function scattered(trial: Trial, count: u32, gap: u64): Model {
  const model = new Model();
  for (let at: u64 = 0; count; count--) {
    at += 2 + trial.random.next() % gap;
    model.append(at, at);
  }
  return model;
}

/** The model's intervals, each with a probability of `share` in 1000. */
function some(trial: Trial, model: Model, share: u32): Model {
  const part = new Model();
  for (let i = 0; i < model.intervals; i++) {
    if (trial.random.below(1000) < share) part.append(model.low(i), model.high(i));
  }
  return part;
}

/** The offsets, in any order and some of them twice, as a model. */
function modelOf(offsets: u64[]): Model {
  const model = new Model();
  offsets.sort((a, b) => (a < b ? -1 : i32(a > b)));
  for (let i = 0; i < offsets.length; i++) {
    if (!i || offsets[i] != offsets[i - 1]) model.append(offsets[i], offsets[i]);
  }
  return model;
}

/** Up to `most` offsets in `keys` containers from `key` on, of which many have the same low 16 bits. */
function scatter(most: u32, key: u64, keys: u64, random: Random): u64[] {
  const offsets: u64[] = [], lows = random.below(2) ? 0xffff : 1 + random.below(40);
  for (let count = random.between(1, most); count; count--) {
    offsets.push((key + random.next() % keys) << 16 | (random.below(6) ? random.below(lows + 1) : 0xffff));
  }
  return offsets;
}

/** Some of the offsets, some in another container, and some more. */
function change(offsets: u64[], apart: u64, more: u64[], random: Random): u64[] {
  const changed: u64[] = [], kept = random.below(5), moved = random.below(3) * random.below(2);
  for (let i = 0; i < offsets.length; i++) {
    if (kept && random.below(4) < kept) changed.push(offsets[i]);
    if (moved && random.below(4) < moved) changed.push(offsets[i] + (apart << 16));
  }
  return random.below(3) ? changed.concat(more) : changed;
}

describe("combining two bitmaps", () => {
  it("of few members in many containers, with keys of any width, alike and not", () => {
    const trial = new Trial(1640), random = trial.random;
    const spans: u64[] = [20, 250, 300, 65_000, 70_000, 1 << 20, 1 << 40];
    for (let i = 0; i < rounds(150); i++) {
      const keys = spans[random.below(spans.length)];
      const key = random.below(2) ? 0 : random.next() >> (18 + random.below(40));
      const most = random.below(4) ? 40 : 1500, one = scatter(most, key, keys, random);
      const apart: u64 = random.below(2) ? 65_536 : 1 + random.below(300);
      const more = scatter(most, random.below(2) ? key : key + keys / 2, keys, random);
      const other = change(one, apart, more, random);
      combineAll(trial, random.below(2) ? [modelOf(one), modelOf(other)] : [modelOf(other), modelOf(one)]);
    }
    trial.end();
  });

  it("gives the model's result for each pair of container kinds", () => {
    const trial = new Trial(500);
    for (let x = 0; x < Style.STYLES; x++) {
      for (let y = 0; y < Style.STYLES; y++) {
        for (let form: i32 = 0; form < Form.FORMS; form++) {
          for (let i = 0; i < rounds(EITHER); i++) {
            combineAll(trial, [container(3, x, trial), container(3, y, trial)], form, (x + y + i) % EITHER);
          }
        }
      }
    }
    trial.end();
  });

  it("gives the model's result for a bitmap and itself, its complement, and one that hardly differs", () => {
    const trial = new Trial(501), whole = range(3 << 16, (4 << 16) - 1);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        const x = container(3, style, trial);
        const near = combineModels(Operation.XOR, [x, container(3, Style.PAIR, trial)]);
        combineAll(trial, [x, x], form);
        combineAll(trial, [x, near], form);
        combineAll(trial, [near, x], form);
        if (x.cardinality() < 65536) combineAll(trial, [x, combineModels(Operation.DIFF, [whole, x])], form);
      }
    }
    trial.end();
  });

  it("gives the model's result when one or both are empty or have no keys in common", () => {
    const trial = new Trial(502);
    combineAll(trial, [new Model(), new Model()]);
    for (let style = 0; style < Style.STYLES; style++) {
      combineAll(trial, [new Model(), container(3, style, trial)]);
      combineAll(trial, [container(3, style, trial), new Model()]);
      combineAll(trial, [container(2, style, trial), container(3, style, trial)]);
    }
    trial.end();
  });

  it("splits spans of full containers where the other bitmap changes", () => {
    const trial = new Trial(503);
    for (let i = 0; i < 16; i++) {
      combineAll(
        trial,
        [anyRanges(0, 2000, trial.random), anyRanges(i % 2 ? 0 : 700, i % 2 ? 2000 : 900, trial.random)],
      );
    }
    for (let i = 0; i < 8; i++) {
      combineAll(
        trial,
        [anyRanges(0, KEY_MAX, trial.random), anyRanges(i % 2 ? 0 : KEY_MAX - 50, KEY_MAX, trial.random)],
      );
    }
    combineAll(trial, [range(0, OFFSET_MAX), range(0, OFFSET_MAX)]);
    combineAll(trial, [range(0, OFFSET_MAX), range(1, OFFSET_MAX - 1)]);
    combineAll(trial, [range(0, OFFSET_MAX), range(OFFSET_MAX, OFFSET_MAX)]);
    combineAll(trial, [range(5, 5), range(0, OFFSET_MAX)]);
    trial.end();
  });

  it("gives the model's result for scattered members, some of them, most or all in both", () => {
    const trial = new Trial(505), counts = [1, 2, 9, 60, 400, 1023, 1024, 2500];
    const gaps: u64[] = [6000, 70000, 1 << 34];
    for (let i = 0; i < counts.length; i++) {
      for (let g = 0; g < gaps.length; g++) {
        for (let kept: u32 = 0; kept <= 1000; kept += 500) {
          const x = scattered(trial, counts[i], gaps[g]);
          const y = scattered(trial, counts[i] * 40 / (kept + 10), gaps[g]);
          const part = some(trial, x, kept), more = combineModels(Operation.OR, [part, y]);
          combineAll(trial, [x, part]);                          // one has the other
          combineAll(trial, [part, x]);
          combineAll(trial, [some(trial, more, 900), x]);
        }
      }
    }
    trial.end();
  });

  it("gives the model's result for large directories", () => {
    const trial = new Trial(504), x = new Model(), y = new Model(), z = new Model();
    for (let key: u64 = 0; key < 40000; key++) {
      x.append(key << 16, (key << 16) + key % 3);
      if (key % 3) y.append((key << 17) + 1, (key << 17) + 1 + key % 2);
      if (key % 400 == 7) z.append((key << 16) + 2, (key << 16) + 70000);
    }
    combineAll(trial, [x, y]);
    combineAll(trial, [z, x]);
    combineAll(trial, [x, z]);
    combineAll(trial, [z, y]);
    trial.end();
  });
});

describe("combining any number of bitmaps", () => {
  it("gives the model's result for one to six bitmaps with containers of all kinds", () => {
    const trial = new Trial(510);
    for (let count = 1; count <= 6; count++) {
      for (let i = 0; i < 8; i++) {
        const sources: Model[] = [], step: u64 = i ? 1 : KEY_MAX / 8;
        for (let s = 0; s < count; s++) {
          sources.push(anyModel(trial.random.below(2) * step, step, 4, trial.random));
        }
        combineAll(trial, sources);
      }
    }
    trial.end();
  });

  it("gives the model's result for three and four containers, most of them of one kind", () => {
    const trial = new Trial(511);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let i = 0; i < 8; i++) {
        const sources: Model[] = [];
        for (let s = 0; s < 3 + i % 2; s++) {
          sources.push(container(3, trial.random.below(3) ? style : trial.random.below(Style.STYLES), trial));
        }
        combineAll(trial, sources, i % Form.FORMS);
      }
    }
    trial.end();
  });

  it("gives the model's result for short bitsets, some with too many members for an array", () => {
    const trial = new Trial(1334);
    for (let i = 0; i < 18; i++) {
      const low = noise(trial, 150, 0, 22000), other = noise(trial, 150, 100, 24000);
      const large = noise(trial, 250 + 100 * (i % 3), 9000 + trial.random.below(3000), 65536);
      const sources: Model[] = i % 2 ? [low, other, large] : [low, large, other];
      if (i % 6 > 2) sources.push(noise(trial, 5, 0, 65536));
      combineAll(trial, sources, Form.PLAIN);
      combineAll(trial, [other, large], Form.PLAIN);
    }
    trial.end();
  });

  it("gives the model's result for bitsets with few common members, many, or many in one part", () => {
    const trial = new Trial(518);
    for (let count = 2; count <= 7; count += count < 3 ? 1 : 3) {
      for (let i = 0; i < 6; i++) {
        const sources: Model[] = [];
        const share: u32 = count == 2 ? 120 + trial.random.below(120) : 400 + trial.random.below(400);
        const part: u32 = 8192 * trial.random.below(8);
        const first = noise(trial, share, 0, 65536), dense = noise(trial, 900, part, part + 8192);
        for (let s = 0; s < count; s++) {
          let model = i < 2 ? noise(trial, share, 0, 65536) : first;
          if (i == 2 || i == 3) model = combineModels(Operation.OR, [first, noise(trial, 30, 0, 65536)]);
          if (i % 2) model = combineModels(Operation.OR, [model, dense]);
          sources.push(model);
        }
        combineAll(trial, sources, Form.PLAIN);
      }
    }
    trial.end();
  });

  it("gives the model's result for arrays around the size where their union becomes a bitset", () => {
    const trial = new Trial(512);
    for (let each: u32 = 120; each <= 180; each += 3) {
      for (let count = 3; count <= 4; count++) {
        const sources: Model[] = [];
        for (let s = 0; s < count; s++) {
          const model = new Model();
          for (
            let i: u32 = 0, at: u64 = trial.random.below(9); i < each; i++, at += 1 + trial.random.below(300)
          ) {
            model.append(at, at);
          }
          sources.push(model);
        }
        combineAll(trial, sources);
      }
    }
    trial.end();
  });

  it("gives the model's result for arrays and sparse bitsets of different sizes, also with a full high byte", () => {
    const trial = new Trial(519);
    for (let i = 0; i < 24; i++) {
      const sources: Model[] = [];
      const count: u32 = 2 + trial.random.below(i % 8 ? 6 : 18);
      const full = noise(trial, 990, 4096, 4400);
      for (let s: u32 = 0; s < count; s++) {
        const low = trial.random.below(40000) * u32(i % 3 == 0);
        const share = (42 >> trial.random.below(i % 2 ? 3 : 6)) + 1;
        const before = sources.length ? sources[trial.random.below(sources.length)] : full;
        const chance = trial.random.below(6);
        let model = noise(trial, share, low, 65536);
        if (chance == 0) model = combineModels(Operation.XOR, [model, before]);
        if (chance == 1) model = combineModels(Operation.OR, [model, full]);
        sources.push(model);
      }
      combineAll(trial, sources, Form.PLAIN);
    }
    trial.end();
  });

  it("gives the model's result for up to 21 bitsets with few common members, also among other kinds", () => {
    const trial = new Trial(516);
    for (let i: u32 = 0; i < 20; i++) {
      const sources: Model[] = [];
      for (let s: u32 = 0; s < 2 + i; s++) {
        const style = i % 2 || trial.random.below(6) ? Style.BITSET : trial.random.below(Style.STYLES);
        sources.push(container(3, style, trial));
      }
      combineAll(trial, sources);
    }
    trial.end();
  });

  it("gives the model's result when runs leave few members of a bitset and more bitsets follow", () => {
    const trial = new Trial(517);
    for (let few: u64 = 0; few < 3; few++) {
      const high = new Model();
      for (let at: u64 = 0; at < few; at++) high.append(at * 1000, at * 1000);
      for (let at: u64 = 40000; at < 50000; at += 2) high.append(at, at);
      combineAll(trial, [high, range(0, 30000), container(0, Style.BITSET, trial)]);
      combineAll(
        trial, [high, range(0, 30000), container(0, Style.BITSET, trial), container(0, Style.BITSET, trial)],
      );
    }
    trial.end();
  });

  it("splits spans of full containers where any other bitmap changes", () => {
    const trial = new Trial(513);
    for (let i = 0; i < 16; i++) {
      const sources: Model[] = [];
      for (let s = 0; s < 3 + i % 4; s++) {
        sources.push(anyRanges(trial.random.below(100), i % 4 ? 300 : KEY_MAX, trial.random));
      }
      combineAll(trial, sources);
    }
    trial.end();
  });

  it("gives the model's result when any of three bitmaps are empty", () => {
    const trial = new Trial(514);
    for (let hole = 0; hole < 8; hole++) {
      const sources: Model[] = [];
      for (let s = 0; s < 3; s++) {
        sources.push((hole >> s) & 1 ? new Model() : anyModel(0, 1, 4, trial.random));
      }
      combineAll(trial, sources);
    }
    trial.end();
  });

  it("gives the model's result for a hundred bitmaps", () => {
    const trial = new Trial(515);
    for (let round = 0; round < 2; round++) {
      const sources: Model[] = [];
      for (let s = 0; s < 100; s++) {
        const model = container(
          trial.random.below(4), trial.random.below(s % 9 ? Style.ARRAY : Style.STYLES), trial,
        );
        sources.push(round ? combineModels(Operation.OR, [model, range(9 << 16, 12 << 16)]) : model);
      }
      combineAll(trial, sources);
    }
    trial.end();
  });
});

/** Complements the set up to `last` (only if `given` is 1) and compares with the model. */
function complementOf(trial: Trial, model: Model, last: u64, given: u32): void {
  trial.steps++;
  clear();
  addOperandOf(model, EITHER, trial.random);
  freshArena(40);
  complement(1, last, given);
  enter();
  const limit = model.intervals ? (given ? max(last, model.maximum()) : model.maximum()) : last;
  const expected = model.intervals || given
    ? combineModels(Operation.DIFF, [range(0, limit), model])
    : new Model();
  trial.is(expected, "complement up to " + limit.toString());
  trial.same(wasteful(), 0, "wasteful");
}

/**
 * Offsets near 0, the borders of container `key`,
 * the maximum and its container's end, and the greatest offsets.
 */
function limits(trial: Trial, model: Model, key: u64): u64[] {
  const border = key << 16, most = model.intervals ? model.maximum() : 0;
  return [
    0, 1, 2, 3,
    border - 1, border, border + 1, border + 2, border + 3,
    border + trial.random.below(65536), border + 65535, border + 65536,
    most - 1, most, most + 1, most | 65535, (most | 65535) + 1, (most | 65535) + 70000,
    u32.MAX_VALUE, OFFSET_MAX,
  ];
}

describe("the complement", () => {
  it("is the model's for containers of all kinds, up to each limit", () => {
    const trial = new Trial(520);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let others = 0; others < 2; others++) {
        const model = new Model();
        if (others) appendContainer(model, 2, trial.random.below(Style.STYLES), trial.random);
        appendContainer(model, others ? 3 : 0, style, trial.random);
        const all = limits(trial, model, 3);
        complementOf(trial, model, 0, 0);
        for (let i = 0; i < all.length; i++) complementOf(trial, model, all[i], 1);
      }
    }
    trial.end();
  });

  it("is the model's for an empty bitmap and for a missing key", () => {
    const trial = new Trial(521), empty = new Model(), all = limits(trial, empty, 5);
    complementOf(trial, empty, 0, 0);
    for (let i = 0; i < all.length; i++) {
      complementOf(trial, empty, all[i], 1);
      freshArena(40);
      complement(0, all[i], 1);
      enter();
      trial.is(range(0, all[i]), "complement of a missing key");
    }
    freshArena(40);
    complement(0, 0, 0);
    enter();
    trial.is(empty, "complement of a missing key without a limit");
    trial.same(used(), 16, "bytes in use");
    trial.end();
  });

  it("splits and joins spans of full containers", () => {
    const trial = new Trial(522);
    for (let i = 0; i < 100; i++) {
      const model = anyRanges(trial.random.below(20), i % 2 ? KEY_MAX : 300, trial.random);
      const all = limits(trial, model, trial.random.below(300));
      complementOf(trial, model, all[trial.random.below(all.length)], u32(i % 5 != 0));
    }
    complementOf(trial, range(0, OFFSET_MAX), OFFSET_MAX, 1);
    complementOf(trial, range(1, OFFSET_MAX), OFFSET_MAX, 1);
    complementOf(trial, range(0, OFFSET_MAX - 1), OFFSET_MAX, 1);
    complementOf(trial, range(OFFSET_MAX, OFFSET_MAX), 0, 0);
    complementOf(trial, range(OFFSET_MAX - 65536, OFFSET_MAX - 65536), OFFSET_MAX, 1);
    trial.end();
  });

  it("is the model's for large directories", () => {
    const trial = new Trial(523), model = new Model();
    for (let key: u64 = 0; key < 35000; key++) model.append(key << 17, (key << 17) + key % 3);
    complementOf(trial, model, u32.MAX_VALUE, 1);
    trial.end();
  });
});

describe("sources that are given more than once", () => {
  it("give the model's result, each however often", () => {
    const trial = new Trial(530), random = trial.random;
    for (let round = 0; round < 60; round++) {
      const different: Model[] = [], sources: Model[] = [];
      for (let s = random.between(1, 4); s; s--) {
        different.push(
          round % 3 ? anyModel(3, 3, 3, random) : random.below(4) ? anyRanges(0, 40, random) : new Model(),
        );
      }
      // Few are compared with one another, and more are looked up in a table.
      for (let s = random.between(3, round % 2 ? 9 : 40); s; s--) {
        sources.push(different[random.below(different.length)]);
      }
      combineAll(trial, sources);
    }
    trial.end();
  });
});

describe("counting up to a limit", () => {
  it("ends there", () => {
    for (let sources: u32 = 2; sources <= 3; sources++) {
      for (let op: Operation = Operation.AND; op <= Operation.OR; op++) {
        expect(workOf(op, sources, 20000, 100)).toBeLessThan(workOf(op, sources, 1000, 0));
        expect(workOf(op, sources, 1000, 0)).toBeLessThan(workOf(op, sources, 20000, 0));
      }
    }
  });
});
