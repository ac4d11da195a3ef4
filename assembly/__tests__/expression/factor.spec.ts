import { Operation } from "../../combine/term/operation";
import { Trial } from "../support/bitmap-arena";
import { Model, anyModel, combineModels, range, repeatedModels } from "../support/bitmap-model";
import { Meaning, WHOLE, compare, naming, workOf } from "../support/expression";
import { Random, rounds } from "../world/world";

// --- Terms that share sources ------------------------------------------------------------------------------

/** How the items of a term are joined: K & x - y, K | x, or K ^ r. */
const enum Join { AND, OR, XOR }

/** Makes random expressions whose terms share sources, and the models of their members. */
class Sharing {
  constructor(private random: Random, private sources: Model[]) {}

  private key(key: i32): Meaning { return new Meaning("#" + (key + 1).toString(), this.sources[key]); }
  private anyKey(): Meaning { return this.key(<i32>this.random.below(this.sources.length)); }

  private range(): Meaning {
    const low = <u64>this.random.below(1 << 19), high = low + this.random.below(1 << 18);
    return new Meaning("[" + low.toString() + ".." + high.toString() + "]", range(low, high));
  }

  /** The part of a term besides the shared sources. */
  private rest(levels: u32): Meaning {
    const choice = this.random.below(8);
    return levels && !choice ? this.write(levels - 1) : choice < 4 ? this.range() : this.anyKey();
  }

  /** A term of the shared sources and of others, in any order. */
  private term(join: Join, shared: i32[], levels: u32): Meaning {
    const random = this.random, items: Meaning[] = [];
    for (let i = 0; i < shared.length; i++) items.push(this.key(shared[i]));
    for (let more = join == Join.XOR ? 1 : random.below(3); more; more--) {
      const item = join == Join.XOR && random.below(6) ? this.range() : this.rest(levels);
      if (random.below(2)) items.push(item); else items.unshift(item);
    }
    let term = items[0];
    for (let i = 1; i < items.length; i++) term = joined(join, term, items[i]);
    for (let less = join == Join.AND ? random.below(3) : 0; less; less--) {
      const item = this.rest(levels);
      term = new Meaning(
        term.text + " - " + item.text, combineModels(Operation.DIFF, [term.model, item.model]),
      );
    }
    term = new Meaning("(" + term.text + ")", term.model);
    return random.below(12) ? term : complement(term);
  }

  /** An expression of up to `levels` levels of terms that share sources. It can stand anywhere. */
  write(levels: u32): Meaning {
    const random = this.random, join: Join = random.below(3), items: Meaning[] = [];
    const shared: i32[] = [<i32>random.below(this.sources.length)];
    while (join != Join.XOR && !random.below(3)) shared.push(<i32>random.below(this.sources.length));
    const foreign = random.below(2) * random.below(6);
    for (let terms = 2 + random.below(random.below(2) ? 4 : 12); terms; terms--) {
      if (foreign && !random.below(foreign)) items.push(this.rest(levels));
      else items.push(this.term(join, shared, levels));
    }
    const whole = random.below(2) ? around(random, items) : counted(random, items);
    return random.below(8) ? whole : complement(whole);
  }
}

function joined(join: Join, x: Meaning, y: Meaning): Meaning {
  const sign = join == Join.AND ? " & " : join == Join.OR ? " | " : " ^ ";
  const op = join == Join.AND ? Operation.AND : join == Join.OR ? Operation.OR : Operation.XOR;
  return new Meaning(x.text + sign + y.text, combineModels(op, [x.model, y.model]));
}

function complement(inner: Meaning): Meaning {
  return new Meaning("~" + inner.text, combineModels(Operation.XOR, [WHOLE, inner.model]));
}

/** The terms with an operator between them. */
function around(random: Random, terms: Meaning[]): Meaning {
  const which = random.below(4), sign = which == 0 ? " & " : which == 1 ? " | " : which == 2 ? " ^ " : " - ";
  const op = which == 0
    ? Operation.AND
    : which == 1 ? Operation.OR : which == 2 ? Operation.XOR : Operation.DIFF;
  const models: Model[] = [], texts: string[] = [];
  for (let i = 0; i < terms.length; i++) {
    models.push(terms[i].model);
    texts.push(terms[i].text);
  }
  return new Meaning("(" + texts.join(sign) + ")", combineModels(op, models));
}

/** The terms as the arguments of a function that counts, some of them twice. */
function counted(random: Random, terms: Meaning[]): Meaning {
  const models: Model[] = [], texts: string[] = [], twice = random.below(2);
  for (let i = 0; i < terms.length; i++) {
    for (let times = 1 + twice * random.below(2); times; times--) {
      models.push(terms[i].model);
      texts.push(terms[i].text);
    }
  }
  const items = models.length, number = <i32>random.below(items + 2);
  const list = number.toString() + ", " + texts.join(", ") + ")";
  switch (random.below(3)) {
    case 0: return new Meaning("atleast(" + list, repeatedModels(models, number, items));
    case 1: return new Meaning("atmost(" + list, repeatedModels(models, 0, number));
    default: return new Meaning("exactly(" + list, repeatedModels(models, number, number));
  }
}

describe("terms that share sources", () => {
  it("have the model's members, in every operator and function", () => {
    const trial = new Trial(1220), random = trial.random;
    for (let round = 0; round < rounds(12); round++) {
      const sources: Model[] = [], count = <i32>random.between(3, 12);
      for (let s = 0; s < count; s++) {
        sources.push(anyModel(random.below(3), 1 + random.below(2), 3, random));
      }
      const writer = new Sharing(random, sources);
      for (let i = 0; i < 25; i++) {
        const meaning = writer.write(random.below(3));
        meaning.text += naming(count);
        compare(trial, sources, meaning);
      }
    }
    trial.end();
  });
});

// --- Work --------------------------------------------------------------------------------------------------

const MEMBERS: i32 = 2000, TERMS: i32 = 200;

/** TERMS ranges that overlap, each between `start` and `end`, with a sign between them. */
function ranged(start: string, sign: string, end: string): string {
  const texts: string[] = [], step = (<u64>MEMBERS << 17) / <u64>(2 * TERMS);
  for (let i = 0; i < TERMS; i++) {
    const low = <u64>i * step, high = low + <u64>TERMS * step;
    texts.push(start + "[" + low.toString() + ".." + high.toString() + "]" + end);
  }
  return texts.join(sign);
}

describe("the work of many terms that share a source", () => {
  it("is that of reading it a few times", () => {
    const texts = [
      ranged("(#1 & ", " | ", ")"),
      ranged("(#1 - ", " | ", ")"),
      ranged("(#1 & ", " ^ ", ")"),
      ranged("(", " | ", " - #1)"),
      ranged("(", " ^ ", " - #1)"),
      "exactly(20, " + ranged("", ", ", " - #1") + ")",
      ranged("(#1 | ", " & ", ")"),
      ranged("(~#1 | ", " & ", ")"),
      "#2 - " + ranged("(#1 & ", " - ", ")"),
      "#2 & " + ranged("(#1 | ", " & ", ")") + " - #1",
      "exactly(20, " + ranged("#1 - ", ", ", "") + ")",
      "atleast(20, " + ranged("#1 & ", ", ", "") + ")",
      "atmost(20, " + ranged("#1 & ", ", ", "") + ")",
      "exactly(20, " + ranged("#1 | ", ", ", "") + ")",
      "atleast(20, " + ranged("#1 | ", ", ", "") + ")",
      "exactly(20, " + ranged("#1 ^ ", ", ", "") + ")",
      "atleast(20, " + ranged("#1 ^ ", ", ", "") + ")",
      "exactly(20, " + ranged("~(#1 ^ ", ", ", ")") + ")",
      // factors of what remains of a group
      "(" + ranged("(#1 & #2 - ", " | ", ")") + " | " + ranged("(#1 & ", " | ", " - #2)") + ")",
    ];
    const once = workOf("#1 | #2", MEMBERS);
    for (let i = 0; i < texts.length; i++) {
      const work = workOf(texts[i] + " | (#1 - #1) | (#2 - #2)", MEMBERS);
      expect(work).toBeLessThan(8 * once, texts[i].slice(0, 60));
    }
  });
});
