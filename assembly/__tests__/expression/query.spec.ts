import { parseQuery } from "../../combine/query";
import { Mistake } from "../../expression/mistake";
import { Operation } from "../../combine/term/operation";
import { Trial, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, anyModel, anyRanges, combineModels, range, repeatedModels,
} from "../support/bitmap-model";
import { Meaning, WHOLE, addText, compare, naming, workDown, workOf } from "../support/expression";
import { Random, clear, enter, memberAt, members, rounds } from "../world/world";

// --- Expressions with their meaning ------------------------------------------------------------------------

/** Makes random expressions over sources, and the models of their members. */
class Writer {
  constructor(private trial: Trial, private sources: Model[]) {}

  private key(): i32 { return <i32>this.trial.random.below(this.sources.length); }

  private keyMeaning(key: i32): Meaning { return new Meaning("#" + (key + 1).toString(), this.sources[key]); }

  /** An expression of up to `levels` levels, enclosed so that it can stand anywhere. */
  write(levels: u32): Meaning {
    const random = this.trial.random;
    if (!levels || !random.below(6)) {
      if (random.below(5)) return this.keyMeaning(this.key());
      const low = random.next() >> random.below(64);
      const high = low + min(random.next() >> random.below(64), OFFSET_MAX - low);
      return new Meaning("[" + low.toString() + ".." + high.toString() + "]", range(low, high));
    }
    const choice = random.below(10);
    if (choice < 2) {
      const inner = this.write(levels - 1);
      return new Meaning("~" + inner.text, combineModels(Operation.XOR, [WHOLE, inner.model]));
    }
    if (choice < 6) {
      const x = this.write(levels - 1), y = this.write(levels - 1), which = random.below(4);
      const sign = which == 0 ? " & " : which == 1 ? " | " : which == 2 ? " ^ " : " - ";
      const op = which == 0
        ? Operation.AND
        : which == 1 ? Operation.OR : which == 2 ? Operation.XOR : Operation.DIFF;
      return new Meaning("(" + x.text + sign + y.text + ")", combineModels(op, [x.model, y.model]));
    }
    return this.writeFunction(levels);
  }

  private writeFunction(levels: u32): Meaning {
    const random = this.trial.random, models: Model[] = [], texts: string[] = [];
    for (let items = 1 + random.below(4); items; items--) {
      if (random.below(3)) {
        const item = this.write(levels - 1);
        texts.push(item.text);
        models.push(item.model);
        continue;
      }
      const first = this.key(), last = first + <i32>random.below(this.sources.length - first);
      texts.push("#" + (first + 1).toString() + "..#" + (last + 1).toString());
      for (let key = first; key <= last; key++) models.push(this.sources[key]);
    }
    const items = models.length, number = <i32>random.below(items + 2);
    const list = texts.join(", "),
      counted = number.toString() + ", " + list + ")";
    switch (random.below(6)) {
      case 0: return new Meaning("all(" + list + ")",
        repeatedModels(models, items, items));
      case 1: return new Meaning("any(" + list + ")", repeatedModels(models, 1, items));
      case 2: return new Meaning("one(" + list + ")", repeatedModels(models, 1, 1));
      case 3: return new Meaning("atleast(" + counted, repeatedModels(models, number, items));
      case 4: return new Meaning("atmost(" + counted, repeatedModels(models, 0, number));
      default: return new Meaning("exactly(" + counted, repeatedModels(models, number, number));
    }
  }
}

/** Compares `count` expressions over the sources. */
function compareMany(trial: Trial, sources: Model[], count: i32): void {
  const writer = new Writer(trial, sources);
  for (let i = 0; i < count; i++) {
    const meaning = writer.write(trial.random.below(7));
    meaning.text += naming(sources.length);
    compare(trial, sources, meaning);
  }
}

describe("expressions have the model's members", () => {
  it("where each pair of container styles meets", () => {
    const trial = new Trial(1210);
    for (let round = 0; round < 6; round++) {
      const sources: Model[] = [];
      for (let s = 0; s < 5; s++) sources.push(anyModel(3, 1 + round % 3, 3, trial.random));
      compareMany(trial, sources, 15);
    }
    trial.end();
  });

  it("where spans of full containers are cut", () => {
    const trial = new Trial(1211);
    for (let round = 0; round < 6; round++) {
      const sources = [new Model(), WHOLE];
      for (let s = 0; s < 4; s++) {
        sources.push(
          round % 2 ? anyRanges(KEY_MAX - 60, KEY_MAX, trial.random) : anyRanges(0, 50, trial.random),
        );
      }
      compareMany(trial, sources, 15);
    }
    trial.end();
  });
});

// --- Counting ----------------------------------------------------------------------------------------------

/** Adds random members of one container to the model: of a few values, scattered, in a window, or in runs. */
function addContainer(model: Model, base: u64, random: Random): void {
  const style = random.below(4), from = random.below(65536);
  const width = 1 + random.below(min<u32>(65536 - from, random.below(2) ? 2000 : 65536));
  const sizes: u32[] = [5, 40, 250, 320, 400, 500, 640, 1000, 4000, 9000];
  const share = 65536 / sizes[random.below(sizes.length)];
  const low: u32 = style == 2 ? from : 0, end: u32 = style == 2 ? from + width : 65536;
  for (let at = low; at < end;) {
    if (style == 0) at += 1 + share - (at % share || 1);    // the same values in all containers of that share
    else if (style == 1) at += 1 + random.below(2 * share);
    else at += 1 + random.below(style == 2 ? 4 : 9000);
    if (at >= end) break;
    const high = style == 3 ? min(at + random.below(9000), 65535) : at;
    model.append(base + at, base + high);
    at = high + 1;
  }
}

describe("counting functions have the model's members", () => {
  it("whatever the sizes and kinds of the containers that meet", () => {
    const trial = new Trial(1213), random = trial.random;
    for (let round = 0; round < rounds(12); round++) {
      const sources: Model[] = [], count = <i32>random.between(2, 12), styles = random.below(3);
      for (let s = 0; s < count; s++) {
        const source = new Model();
        for (let key: u64 = 0; key < 4; key++) {
          if (random.below(8) || !styles) addContainer(source, key << 16, random);
        }
        sources.push(source);
      }
      const all = "#1..#" + count.toString();
      for (let least = 1; least <= min(count, 10); least++) {
        const number = least.toString();
        compare(
          trial, sources,
          new Meaning("atleast(" + number + ", " + all + ")", repeatedModels(sources, least, count)),
        );
        compare(
          trial, sources,
          new Meaning("exactly(" + number + ", " + all + ")", repeatedModels(sources, least, least)),
        );
        const others: Model[] = sources.concat([combineModels(Operation.OR, [sources[0], sources[1]])]);
        compare(
          trial, sources,
          new Meaning(
            "atleast(" + number + ", " + all + ", #1 | #2)", repeatedModels(others, least, count + 1),
          ),
        );
      }
    }
    trial.end();
  });
});

// --- Many sources ------------------------------------------------------------------------------------------

describe("terms of many items", () => {
  it("have the model's members, also when most items end early or are terms", () => {
    const trial = new Trial(1212);
    for (let round = 0; round < 4; round++) {
      const sources: Model[] = [], count = <i32>trial.random.between(33, 150);
      const negated: Model[] = [], rest: Model[] = [];
      for (let s = 0; s < count; s++) {
        // A few sources are long. The others end early,
        // so that they leave their term and it groups those that are left anew.
        const containers = s % 29 ? <i32>trial.random.below(4) : 120, first = <u64>trial.random.below(100);
        const source = new Model();
        for (let key = 0; key < containers; key++) {
          const base = (first + key) << 16;
          if (trial.random.below(3)) {
            source.append(base + trial.random.below(40), base + 40 + trial.random.below(40));
          }
        }
        sources.push(trial.random.below(10) ? source : anyModel(first, 1, 3, trial.random));
      }
      for (let s = 0; s < count; s++) {
        negated.push(combineModels(Operation.XOR, [WHOLE, sources[s]]));
        if (s) rest.push(sources[s]);
      }
      const all = "#1..#" + count.toString();
      const least = <i32>trial.random.between(2, 6);
      const number = least.toString();
      let complements = "";
      for (let s = 0; s < count; s++) complements += (s ? ", ~#" : "~#") + (s + 1).toString();
      const meanings = [
        new Meaning("any(" + all + ")", repeatedModels(sources, 1, count)),
        new Meaning("one(" + all + ")", repeatedModels(sources, 1, 1)),
        new Meaning("atleast(" + number + ", " + all + ")", repeatedModels(sources, least, count)),
        new Meaning("exactly(" + number + ", " + all + ")", repeatedModels(sources, least, least)),
        new Meaning("atmost(" + number + ", " + all + ")", repeatedModels(sources, 0, least)),
        new Meaning("all(" + complements + ")", repeatedModels(negated, count, count)),
        new Meaning("exactly(" + number + ", " + complements + ")", repeatedModels(negated, least, least)),
        new Meaning("#1 - any(#2..#" + count.toString() + ")", combineModels(Operation.DIFF, sources)),
        new Meaning("#1 & any(#2..#" + count.toString() + ")", combineModels(Operation.ANDOR, sources)),
        new Meaning(
          "#1 ^ any(#2..#" + count.toString() + ")",
          combineModels(Operation.XOR, [sources[0], combineModels(Operation.OR, rest)]),
        ),
        new Meaning("any(" + all + ", atleast(" + number + ", " + all + ", " + complements + "))", WHOLE),
      ];
      for (let m = 0; m < meanings.length; m++) {
        compare(trial, sources, meanings[m]);
      }
    }
    trial.end();
  });
});

// --- Weights -----------------------------------------------------------------------------------------------

describe("arguments that occur many times", () => {
  it("weigh that much, also with negative weights, up to the largest weight", () => {
    const trial = new Trial(1214), random = trial.random, times: i32[] = [1, 2, 3, 7, 8, 15, 16, 17, 100];
    for (let round = 0; round < 10; round++) {
      const sources: Model[] = [], texts: string[] = [], all: Model[] = [], styles = random.below(3);
      for (let s = 0; s < 4; s++) {
        const source = new Model();
        for (let key: u64 = 0; key < 4; key++) {
          if (!random.below(4)) source.append(key << 16, (key << 16) | 65535);
          else if (random.below(6) || !styles) addContainer(source, key << 16, random);
        }
        sources.push(source);
      }
      for (let items = random.between(2, 5); items; items--) {
        const key = random.below(5), low = <u64>random.below(200000), high = low + random.below(100000);
        let text = key < 4 ? "#" + (key + 1).toString() : "[" + low.toString() + ".." + high.toString() + "]";
        let model = key < 4 ? sources[key] : range(low, high);
        if (!random.below(3)) {
          text = "~" + text;
          model = combineModels(Operation.XOR, [WHOLE, model]);
        }
        for (let n = times[random.below(times.length)]; n; n--) {
          texts.push(text);
          all.push(model);
        }
      }
      for (let i = 0; i < 5; i++) {
        const least = <i32>random.below(all.length + 1);
        const number = least.toString();
        const list = ", " + texts.join(", ") + ")" + naming(4);
        compare(
          trial, sources, new Meaning("atleast(" + number + list,
            repeatedModels(all, least, all.length)),
        );
        compare(trial, sources,
          new Meaning("exactly(" + number + list, repeatedModels(all, least, least)));
      }
    }
    trial.end();
  });
});

// --- Work --------------------------------------------------------------------------------------------------

describe("the work of a query", () => {
  it("is counted as it grows, also where no container meets another", () => {
    const texts = [
      "#1 & #2", "#1 | #2", "#1 - #2", "~#1 ^ #2", "exactly(2, #1, #1, ~#2)", "atleast(2, #1, #2, [7..99])",
      "(#1 & #2) | (#2 & [5..6])",
    ];
    for (let i = 0; i < texts.length; i++) {
      const few = workOf(texts[i], 1000), many = workOf(texts[i], 20000);
      expect(many).toBeGreaterThan(5 * few, texts[i]);
    }
  });

  it("ends once enough members have been counted", () => {
    const texts = ["#1 | #2", "#1 - #2", "~#1 ^ ~#2", "atleast(1, #1, #2, [7..99])",
      "(#1 - #2) | (#2 & [5..6])"];
    for (let i = 0; i < texts.length; i++) {
      expect(workOf(texts[i], 20000, 100)).toBeLessThan(workOf(texts[i], 1000), texts[i]);
    }
  });
});

describe("the work of listing a query's members downwards", () => {
  it("is counted as it grows", () => {
    const texts = [
      "#1 & #2", "#1 | #2", "#1 - #2", "~#1 & #2", "exactly(2, #1, #1, ~#2)", "(#1 & #2) | (#2 & [5..6])",
    ];
    for (let i = 0; i < texts.length; i++) {
      const few = workDown(texts[i], 1000, 500 * 1000), many = workDown(texts[i], 20000, 500 * 1000);
      expect(many).toBeGreaterThan(5 * few, texts[i]);
    }
  });

  it("is that of the last members, whatever comes before them", () => {
    const texts = [
      "#1 | #2", "#1 - #2", "~#1 ^ ~#2", "~#1", "any(#1, #2, [7..99])", "atleast(2, #1, #1, #2, #2, [0..70000])",
      "(#1 - #2) | (#2 & [5..6])", "(#1 - #2) | #1", "[5..99999999] - #1", "exactly(1, #1, #2, ~#1)",
    ];
    for (let i = 0; i < texts.length; i++) {
      expect(workDown(texts[i] + naming(2), 100000, 10)).toBeLessThan(1500, texts[i]);
    }
  });
});

// --- Mistakes ----------------------------------------------------------------------------------------------

const GREATEST_32: u64 = 0xffffffff;

function check(text: string, keys: u32, greatest: u64): u64 {
  clear();
  addText(text);
  freshArena(40);
  const found = parseQuery(keys, greatest);
  if (!<u32>found) expect(found >> 32).toBe(load<u32>(0), "the tree ends where the next record would go");
  enter();
  return <u32>found ? found : 0;
}

function mistakeAt(what: Mistake, place: u32): u64 { return (<u64>place << 32) | what; }

describe("parseQuery()", () => {
  it("finds no mistake in an expression", () => {
    expect(check("#1", 1, GREATEST_32)).toBe(0);
    expect(check(" atLEAST ( 2 , #1..#3 , [ 0 .. 4294967295 ] ) ", 3, GREATEST_32)).toBe(0);
  });

  it("returns the first mistake with its place", () => {
    expect(check("", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_EXPRESSION, 1));
    expect(check("#1 #1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.TRAILING, 4));
    expect(check("(#1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_CLOSING, 4));
    expect(check("all(#1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_SEPARATOR, 7));
    expect(check("all #1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_OPENING, 5));
    expect(check("some(#1)", 1, GREATEST_32)).toBe(mistakeAt(Mistake.UNKNOWN_FUNCTION, 1));
    expect(check("some & #1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.UNKNOWN_WORD, 1));
    expect(check("#1 .. #2", 2, GREATEST_32)).toBe(mistakeAt(Mistake.KEYS_OUTSIDE, 4));
    expect(check("# ", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_KEY_NUMBER, 3));
    expect(check("#2", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_SUCH_KEY, 2));
    expect(check("all(#2..#1)", 2, GREATEST_32)).toBe(mistakeAt(Mistake.KEYS_REVERSED, 10));
    expect(check("all(#1..2)", 2, GREATEST_32)).toBe(mistakeAt(Mistake.NO_SECOND_KEY, 9));
    expect(check("exactly(#1)", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_NUMBER, 9));
    expect(check("exactly(18446744073709551616, #1)", 1, GREATEST_32)).toBe(
      mistakeAt(Mistake.NUMBER_TOO_LARGE, 9),
    );
    expect(check("exactly(1)", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_COMMA, 10));
    expect(check("[#1]", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_OFFSET, 2));
    expect(check("[0..4294967296]", 1, GREATEST_32)).toBe(mistakeAt(Mistake.OFFSET_TOO_LARGE, 5));
    expect(check("[0]", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_DOTS, 3));
    expect(check("[0..1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.NO_BRACKET, 6));
    expect(check("[1..0]", 1, GREATEST_32)).toBe(mistakeAt(Mistake.RANGE_REVERSED, 5));
    expect(check("~".repeat(65) + "#1", 1, GREATEST_32)).toBe(mistakeAt(Mistake.TOO_DEEP, 65));
    expect(check(" ".repeat(65536), 1, GREATEST_32)).toBe(mistakeAt(Mistake.TOO_LONG, 65536));
  });

  it("replies the first key that is not named", () => {
    clear();
    addText("any(#1..#70, #72)");
    freshArena(40);
    expect(parseQuery(72, GREATEST_32)).toBe(mistakeAt(Mistake.UNNAMED_KEY, 18));
    expect(members()).toBe(1);
    expect(memberAt(0)).toBe(71);
    enter();
  });

  it("takes 64 levels, and 131,072 operands", () => {
    expect(check("~".repeat(64) + "#1", 1, GREATEST_32)).toBe(0);
    const spans = "#1..#1024, ".repeat(127) + "#1..#1024";
    expect(check("any(" + spans + ")", 1024, GREATEST_32)).toBe(0);
    expect(check("any(" + spans + ", #1)", 1024, GREATEST_32)).toBe(
      mistakeAt(Mistake.TOO_MANY_OPERANDS, <u32>spans.length + 9),
    );
  });
});
