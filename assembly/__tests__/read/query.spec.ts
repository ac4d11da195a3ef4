import { Directory } from "../../arena/read/directory";
import { Kind } from "../../container/kind";
import { Own } from "../../env/view";
import { countIndexed, position } from "../../read/indexed";
import {
  cardinality, countRange, isEmpty, maximum, minimum, nextClear, nextSet, rankOf, select,
} from "../../read/query";
import { selectAll } from "../../read/sample";
import { statistics } from "../../read/statistics";
import { membersFrom } from "../../read/stream";
import { Form, Trial, build } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, Style, anyModel, appendContainer, range, runsOf, runsWithin,
  streamedOf,
} from "../support/bitmap-model";
import { addArgument, clearArguments, enter, memberAt, members as replied, spent } from "../world/world";

/** A random offset: any, near an end of one of the model's intervals, or near an end of a container. */
function anyOffset(trial: Trial, model: Model): u64 {
  const random = trial.random, how = random.below(5);
  if (how == 0 || !model.intervals) return random.next() >> u64(random.below(64));
  const i = random.below(model.intervals), end = random.below(2) ? model.low(i) : model.high(i);
  if (how == 1) return (end | 65535) + random.below(3) - 1;
  return end - 2 + random.below(5);
}

/** The result of findSet() and findClear(). */
let next: u64 = 0;
/** Finds the least member from `from` on; false if there is none. */
function findSet(model: Model, from: u64): bool {
  const i = model.find(from), inside = i >= 0 && from <= model.high(i);
  if (!inside && i + 1 == model.intervals) return false;
  next = inside ? from : model.low(i + 1);
  return true;
}
/** Finds the least absent offset from `from` on; false if there is none. */
function findClear(model: Model, from: u64): bool {
  next = from;
  for (let i = 0; i < model.intervals; i++) {
    if (model.low(i) > next || model.high(i) < next) continue;
    if (model.high(i) == OFFSET_MAX) return false;
    next = model.high(i) + 1;
  }
  return true;
}

/** Compares all queries about single offsets and ranges with the model. */
function ask(trial: Trial, model: Model, questions: i32): void {
  trial.steps++;
  trial.same(isEmpty(), u32(!model.intervals), "isEmpty");
  trial.same(cardinality(), model.cardinality(), "cardinality");
  if (model.intervals) {
    trial.same(minimum(), model.low(0), "minimum");
    trial.same(maximum(), model.maximum(), "maximum");
  }
  for (let i = 0; i < questions; i++) {
    const low = anyOffset(trial, model);
    const high = i % 9 ? anyOffset(trial, model) : OFFSET_MAX;
    const text = low.toString();
    trial.same(
      countRange(low, high), low <= high ? model.countRange(low, high) : 0,
      "countRange of " + text + " to " + high.toString(),
    );
    trial.same(rankOf(low), model.countRange(0, low), "rank of " + text);
    if (findSet(model, low)) trial.same(nextSet(low), next, "nextSet of " + text);
    trial.same(nextClear(low), findClear(model, low) ? next : 0, "nextClear of " + text);
    if (model.intervals) {
      const some = model.countRange(0, low) + u64(trial.random.below(3)), total = model.cardinality();
      const at = total ? some % total : some, member = select(at);           // a total of 0 stands for 2^64
      trial.holds(model.has(member), "select returns a member");
      trial.same(model.countRange(0, member) - 1, at, "rank of the member that select returns");
    }
  }
}

/** Lists members from `from` on and compares them with the model. */
function list(trial: Trial, model: Model, from: u64, limit: u64): void {
  trial.steps++;
  enter();
  const count = membersFrom(from, limit);
  trial.same(replied(), count, "number of members in the reply");
  trial.same(
    count, min(limit, model.countRange(from, OFFSET_MAX)), "number of members from " + from.toString(),
  );
  let i: u32 = 0;
  for (let at = from; i < <u32>count && findSet(model, at); at = next + 1) {
    trial.same(memberAt(i++), next, "member");
  }
}

describe("queries", () => {
  it("agree with the model for containers of all kinds", () => {
    const trial = new Trial(600);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        const model = new Model();
        if (form == 1) {
          appendContainer(model, trial.random.below(3), trial.random.below(Style.STYLES), trial.random);
        }
        appendContainer(model, form * 3, style, trial.random);
        if (form == 2) appendContainer(model, KEY_MAX, trial.random.below(Style.STYLES), trial.random);
        build(model, form, trial.random);
        ask(trial, model, 60);
      }
    }
    trial.end();
  });

  it("agree with the model for the empty bitmap", () => {
    const trial = new Trial(601), empty = new Model();
    build(empty, Form.PLAIN, trial.random);
    ask(trial, empty, 30);
    list(trial, empty, 0, OFFSET_MAX);
    trial.end();
  });

  it("agree with the model for many containers", () => {
    const trial = new Trial(602);
    for (let i = 0; i < 20; i++) {
      const model = anyModel(trial.random.below(4), i % 2 ? 1 : KEY_MAX / 40, 12, trial.random);
      build(model, Form.EITHER, trial.random);
      ask(trial, model, 60);
    }
    const wide = new Model();
    for (let key: u64 = 0; key < 40000; key++) {
      wide.append(key * 3 << 16, (key * 3 << 16) + (key % 9 ? key % 3 : 65535));
    }
    build(wide, Form.RUNS, trial.random);
    ask(trial, wide, 100);
    trial.end();
  });

  it("agree with the model for spans of full containers up to the greatest offset", () => {
    const trial = new Trial(603), far = <u64>1 << 63;
    const models: Model[] = [
      range(0, OFFSET_MAX), range(1, OFFSET_MAX), range(0, OFFSET_MAX - 1),
      range(0, far), range(far, OFFSET_MAX),
      range(5, 5).append(far - 9, OFFSET_MAX - 65536),
      range(0, 70000).append(140000, far).append(OFFSET_MAX - 1, OFFSET_MAX),
    ];
    for (let i = 0; i < models.length; i++) {
      build(models[i], Form.EITHER, trial.random);
      ask(trial, models[i], 100);
    }
    trial.end();
  });
});

describe("listing members", () => {
  it("starts at any offset and stops at the limit", () => {
    const trial = new Trial(610);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        const model = new Model();
        appendContainer(model, 2, style, trial.random);
        if (trial.random.below(2)) appendContainer(model, 3, trial.random.below(Style.STYLES), trial.random);
        if (trial.random.below(2)) {
          appendContainer(model, KEY_MAX, trial.random.below(Style.STYLES), trial.random);
        }
        build(model, form, trial.random);
        for (let i = 0; i < 12; i++) list(trial, model, anyOffset(trial, model), trial.random.below(300));
        list(trial, model, anyOffset(trial, model), OFFSET_MAX);
        list(trial, model, 0, model.cardinality());
        list(trial, model, model.maximum(), 0);
        list(trial, model, model.maximum(), 9);
        enter();
        membersFrom(0, u64.MAX_VALUE);
        trial.same(replied(), model.cardinality(), "number of all members");
      }
    }
    trial.end();
  });

  it("lists members of spans of full containers", () => {
    const trial = new Trial(611);
    const model = range(7, 7).append(1 << 20, 1 << 60).append(OFFSET_MAX - 100000, OFFSET_MAX);
    build(model, Form.EITHER, trial.random);
    for (let i = 0; i < 40; i++) list(trial, model, anyOffset(trial, model), trial.random.below(100000));
    trial.end();
  });
});

describe("members by rank", () => {
  it("are those that select returns, in any order of the ranks, and cost work", () => {
    const trial = new Trial(1333), random = trial.random;
    for (let i = 0; i < 60; i++) {
      const model = anyModel(0, 1 + (i & 7), random.below(2) ? 3 : 200, random);
      build(model, Form.EITHER, random);
      const total = cardinality(), ranks = new Array<u64>();
      if (isEmpty()) continue;
      const ascending = random.below(2) != 0;
      let at: u64 = 0;
      for (let k = 0; k < 50; k++) {
        const drawn = random.next() >> u64(random.below(64));
        at = ascending ? at + drawn % 1000 : drawn;
        if (total) at %= total;               // a total of 0 stands for 2^64
        ranks.push(at);
      }
      clearArguments();
      for (let k = 0; k < ranks.length; k++) addArgument(ranks[k]);
      enter();
      spent();
      selectAll(ranks.length);
      trial.holds(spent() >= u64(ranks.length), "work is counted");
      trial.same(replied(), ranks.length, "members in the reply");
      for (let k = 0; k < ranks.length; k++) {
        trial.same(memberAt(k), select(ranks[k]), "member of rank " + ranks[k].toString());
      }
    }
    trial.end();
  });
});

describe("statistics", () => {
  it("count containers, members and bytes of each kind", () => {
    const trial = new Trial(615);
    for (let i = 0; i < 45; i++) {
      const form: Form = i % 3, model = anyModel(3, 1 + trial.random.below(3), 8, trial.random);
      // Containers, members and bytes: of arrays, of bitsets, of runs.
      const wanted = new StaticArray<u64>(9);
      build(model, form, trial.random);
      for (let key: u64 = 0; key < 30; key++) {
        const count = <u32>model.countRange(key << 16, (key << 16) + 65535);
        if (!count) continue;
        const runs = runsOf(runsWithin(model, key));
        const asRuns = count == 65536 || Directory.find(key).kind<Own>() == Kind.RUNS;
        const at = asRuns ? 6 : count <= 4096 ? 0 : 3;
        wanted[at]++;
        wanted[at + 1] += count;
        wanted[at + 2] += asRuns ? runs : streamedOf(count);
      }
      enter();
      statistics();
      trial.same(replied(), 9, "how many numbers");
      for (let n: u32 = 0; n < 9; n++) trial.same(memberAt(n), wanted[n], "number " + n.toString());
    }
    trial.end();
  });
});

// --- BITCOUNT and BITPOS of native bitmaps -----------------------------------------------------------------

const enum Unit { BYTE, BIT }

/** The bits of the native bitmap with the same members, one per element. */
function bitsOf(model: Model): StaticArray<u8> {
  const length = model.intervals ? <i32>((model.maximum() >> 3) + 1) * 8 : 0;
  const bits = new StaticArray<u8>(length);
  for (let i = 0; i < model.intervals; i++) {
    for (let v = model.low(i); v <= model.high(i); v++) bits[<i32>v] = 1;
  }
  return bits;
}

/** Resolves a negative index, which counts from the end. The result may still be `length` or more. */
function clamped(at: i64, length: i64): i64 { return at < 0 ? max<i64>(at + length, 0) : at; }

function nativeCount(bits: StaticArray<u8>, start: i64, end: i64, unit: Unit): u64 {
  const scale: i64 = unit == Unit.BYTE ? 8 : 1, length = bits.length / scale;
  if (start < 0 && end < 0 && start > end) return 0;
  const from = clamped(start, length), to = min(clamped(end, length), length - 1);
  let count: u64 = 0;
  for (let i = from * scale; i < (to + 1) * scale; i++) count += bits[<i32>i];
  return count;
}

function nativePosition(bits: StaticArray<u8>, bit: u32, start: i64, end: i64, unit: Unit, given: u32): i64 {
  const scale: i64 = unit == Unit.BYTE ? 8 : 1, length = bits.length / scale;
  const from = clamped(start, length), to = min(clamped(end, length), length - 1);
  if (from > to) return -1;
  for (let i = from * scale; i < (to + 1) * scale; i++) if (bits[<i32>i] == bit) return i;
  return bit || given == 2 ? -1 : bits.length;
}

/** The reply of position(), -1 if there is none. `given` is how many of start and end the caller gave. */
function positionOf(trial: Trial, bit: u32, start: i64, end: i64, unit: Unit, given: u32): i64 {
  enter();
  const found = position(bit, start, end, unit, given);
  trial.same(replied(), found, "number of offsets in the reply");
  return found ? <i64>memberAt(0) : -1;
}

/** Compares countIndexed() and position() with the native bitmap. */
function askRanges(trial: Trial, bits: StaticArray<u8>, start: i64, end: i64, unit: Unit): void {
  const units = unit == Unit.BYTE ? "bytes " : "bits ";
  const text = units + start.toString() + " to " + end.toString() + " of " + bits.length.toString() + " bits";
  trial.same(countIndexed(start, end, unit), nativeCount(bits, start, end, unit), "countIndexed of " + text);
  for (let bit: u32 = 0; bit < 2; bit++) {
    for (let given: u32 = end != -1 ? 2 : start ? 1 : 0; given <= 2; given++) {
      const wanted = nativePosition(bits, bit, start, end, unit, given);
      const what = "position of " + bit.toString() + " in " + text + ", given " + given.toString();
      trial.same(positionOf(trial, bit, start, end, unit, given), wanted, what);
    }
  }
}

describe("counts and positions in indexed ranges", () => {
  it("are those of native bitmaps for all ranges of short strings", () => {
    const trial = new Trial(620);
    const models: Model[] = [
      range(0, 0), range(7, 7), range(8, 8), range(0, 7), range(0, 15), range(3, 20), range(0, 31),
      range(1, 4).append(9, 23).append(30, 30), range(16, 23), range(0, 6),
    ];
    for (let m = 0; m < models.length; m++) {
      const bits = bitsOf(models[m]), bytes: i64 = bits.length / 8;
      build(models[m], Form.EITHER, trial.random);
      for (let start = -bytes - 2; start <= bytes + 2; start++) {
        for (let end = -bytes - 2; end <= bytes + 2; end++) askRanges(trial, bits, start, end, Unit.BYTE);
      }
      for (let start: i64 = -bits.length - 2; start <= bits.length + 2; start++) {
        for (let end: i64 = -bits.length - 2; end <= bits.length + 2; end++) {
          askRanges(trial, bits, start, end, Unit.BIT);
        }
      }
    }
    trial.end();
  });

  it("are those of native bitmaps for random ranges of long strings", () => {
    const trial = new Trial(621), random = trial.random;
    for (let i = 0; i < 16; i++) {
      const model = i % 5
        ? anyModel(0, 1, 3, random)
        : range(0, (random.below(2) ? 65536 : random.below(200000)) - 1);
      if (!model.intervals) model.append(5, 5);
      const bits = bitsOf(model), bytes = bits.length / 8;
      build(model, Form.EITHER, random);
      for (let j = 0; j < 60; j++) {
        const unit: Unit = j % 2, length = unit == Unit.BYTE ? bytes : bits.length;
        let start: i64 = random.below(length + 4);
        let end = j % 3 ? start + random.below(40) : random.below(length + 4);
        if (random.below(3) == 0) start -= length;
        if (random.below(3) == 0) end -= length;
        askRanges(trial, bits, start, random.below(5) ? end : -1, unit);
      }
      askRanges(trial, bits, i64.MIN_VALUE, i64.MAX_VALUE, Unit.BYTE);
      askRanges(trial, bits, i64.MIN_VALUE, -1, Unit.BIT);
    }
    trial.end();
  });

  it("count 0 and find nothing in an empty bitmap, except its first clear bit 0 if no range is given", () => {
    const trial = new Trial(622);
    trial.same(countIndexed(0, -1, Unit.BYTE), 0, "countIndexed");
    for (let given: u32 = 0; given <= 2; given++) {
      trial.same(positionOf(trial, 1, 0, -1, Unit.BYTE, given), -1, "position of 1");
      trial.same(positionOf(trial, 0, 0, -1, Unit.BYTE, given), given ? -1 : 0, "position of 0");
    }
    trial.end();
  });

  it("are right up to the greatest offset", () => {
    const trial = new Trial(623), far = <u64>1 << 63, lastByte = <i64>(OFFSET_MAX >> 3);
    build(range(9, 9).append(far, OFFSET_MAX), Form.EITHER, trial.random);
    trial.same(countIndexed(0, -1, Unit.BYTE), far + 1, "count of all bytes");
    trial.same(countIndexed(-1, -1, Unit.BYTE), 8, "count of the last byte");
    trial.same(countIndexed(-1, -1, Unit.BIT), 1, "count of the last bit");
    trial.same(countIndexed(lastByte, i64.MAX_VALUE, Unit.BYTE), 8, "count from the last byte's index on");
    trial.same(countIndexed(lastByte + 1, i64.MAX_VALUE, Unit.BYTE), 0, "count behind the last byte");
    trial.same(
      countIndexed(i64.MIN_VALUE, i64.MAX_VALUE, Unit.BIT), 0, "count of bits from the middle to before it",
    );
    trial.same(
      positionOf(trial, 1, lastByte - 3, -1, Unit.BYTE, 1),
      OFFSET_MAX - 31, "first set bit in the last four bytes",
    );
    trial.same(positionOf(trial, 1, -1, -1, Unit.BIT, 2), OFFSET_MAX, "position of the last bit");
    for (let given: u32 = 1; given <= 2; given++) {
      trial.same(positionOf(trial, 0, lastByte, -1, Unit.BYTE, given), -1, "clear bit in the last byte");
      trial.same(positionOf(trial, 0, -1, -1, Unit.BIT, given), -1, "clear last bit");
      trial.same(
        positionOf(trial, 0, <i64>(far >> 3), -1, Unit.BYTE, given), -1, "clear bit in the second half",
      );
      trial.same(
        positionOf(trial, 0, <i64>(far >> 3) - 1, -1, Unit.BYTE, given),
        far - 8, "clear bit before the second half",
      );
    }
    build(range(0, OFFSET_MAX), Form.PLAIN, trial.random);
    trial.same(positionOf(trial, 0, 0, -1, Unit.BYTE, 1), -1, "clear bit in the bitmap of all offsets");
    trial.end();
  });

  it("include the clear bit behind the string only if no end is given", () => {
    const trial = new Trial(624);
    build(range(0, 65535), Form.PLAIN, trial.random);
    trial.same(positionOf(trial, 0, 0, -1, Unit.BYTE, 1), 65536, "clear bit without an end");
    trial.same(positionOf(trial, 0, 0, -1, Unit.BYTE, 2), -1, "clear bit with an end");
    trial.same(positionOf(trial, 0, 8191, -1, Unit.BYTE, 1), 65536, "clear bit from the last byte on");
    trial.same(positionOf(trial, 0, 8192, -1, Unit.BYTE, 1), -1, "clear bit from behind the string on");
    build(range(0, u32.MAX_VALUE), Form.PLAIN, trial.random);
    trial.same(positionOf(trial, 0, 0, -1, Unit.BYTE, 1), <i64>1 << 32, "clear bit behind 2^32 members");
    trial.end();
  });
});
