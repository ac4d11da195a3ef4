import { used, wasteful } from "../../arena/change/forms";
import { Header } from "../../arena/layout/header";
import { Directory } from "../../arena/read/directory";
import { Node } from "../../arena/layout/node";
import { Own } from "../../env/view";
import { Change, rebuildRange } from "../../combine/rebuild/range";
import { changeRange } from "../../write/range";
import { set } from "../../write/point";
import { Form, Trial, asOperand, build, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, Style, anyModel, anyRanges, appendContainer, combineModels, range,
} from "../support/bitmap-model";
import { clear, enter, growCount, operandAt } from "../world/world";

const CHANGES = 3;

/**
 * Changes memory 0, rebuilt and in place, checks both results and returns their model.
 * Memory 0 is then the one changed in place.
 */
function change(trial: Trial, model: Model, how: Change, low: u64, high: u64): Model {
  trial.steps++;
  const after = combineModels(how == Change.SET ? 1 : how == Change.CLEAR ? 4 : 2, [model, range(low, high)]);
  const what = "change " + how.toString() + " of " + low.toString() + " to " + high.toString();
  clear();
  const held = max(used(), 40), before = asOperand(), packed = Header.isTiny<Own>() || Header.isPaged();
  freshArena(40);
  rebuildRange(how, low, high);
  trial.is(after, "rebuilt, " + what);
  trial.same(wasteful(), 0, "wasteful, rebuilt, " + what);
  freshArena(held);
  memory.copy(0, operandAt(before), held);
  clear();
  trial.same(changeRange(how, low, high, 1), 0, "the answer, in place, " + what);
  enter();
  trial.is(after, "in place, " + what);
  // Once for the range, and before that, without changing members, once for each packed leaf that is
  // unpacked.
  if (!packed) trial.holds(growCount() <= 1, "the arena grows at most once, " + what);
  return after;
}

/**
 * A random offset up to key `last`: any, at an end of a container,
 * or near an end of one of the model's intervals.
 */
function anyOffset(trial: Trial, model: Model, last: u64): u64 {
  const random = trial.random, how = random.below(4);
  if (how == 0) return random.next() % ((last << 16) + 1) + random.below(65536);
  if (how == 1 || !model.intervals) {
    return (<u64>(random.next() % (last + 1)) << 16) + (random.below(2) ? 65535 : 0);
  }
  const i = random.below(model.intervals);
  return min(
    max(random.below(2) ? model.low(i) : model.high(i), 1) - 1 + random.below(3), (last << 16) + 65535,
  );
}

describe("changing ranges", () => {
  it("gives the model's result for ranges inside, across and around containers of all kinds", () => {
    const trial = new Trial(900), base: u64 = 5 << 16;
    const ends: u64[] = [base - 1, base, base + 1, base + 30000, base + 65534, base + 65535, base + 65536];
    for (let style = 0; style < Style.STYLES; style++) {
      const model = new Model();
      if (style % 2) model.append(4 << 16, (4 << 16) + 9);
      appendContainer(model, 5, style, trial.random);
      for (let i = 0; i < ends.length; i++) {
        for (let j = i; j < ends.length; j++) {
          for (let how = 0; how < CHANGES; how++) {
            build(model, (i + j) % Form.FORMS, trial.random);
            change(trial, model, how, ends[i], ends[j]);
          }
        }
      }
    }
    trial.end();
  });

  it("gives the model's result for sequences of changes, in small bitmaps and in sparse ones", () => {
    const trial = new Trial(901);
    for (let i = 0; i < 24; i++) {
      const last: u64 = i % 3 ? 30 : i % 2 ? KEY_MAX : 3000;
      let model = i % 4 ? anyRanges(0, last, trial.random) : anyModel(0, 1, 20, trial.random);
      build(model, Form.EITHER, trial.random);
      for (let j = 0; j < 40; j++) {
        const low = anyOffset(trial, model, last);
        const high = trial.random.below(3) ? anyOffset(trial, model, last) : low + trial.random.below(70000);
        if (low <= high) model = change(trial, model, trial.random.below(CHANGES), low, high);
      }
    }
    trial.end();
  });

  it("turns an empty bitmap into a range, and a range into an empty bitmap", () => {
    const trial = new Trial(902);
    const ends: u64[] = [
      0, 1, 65535, 65536, 65537, 200000, u32.MAX_VALUE, (<u64>1) << 63, OFFSET_MAX - 65536, OFFSET_MAX,
    ];
    for (let i = 0; i < ends.length; i++) {
      for (let j = i; j < ends.length; j++) {
        for (let how = 0; how < CHANGES; how++) {
          freshArena(40);
          const model = change(trial, new Model(), how, ends[i], ends[j]);
          change(trial, model, Change.CLEAR, ends[i], ends[j]);
          trial.same(used(), 16, "bytes in use");
        }
      }
    }
    trial.end();
  });

  it("can flip, set and clear all offsets", () => {
    const trial = new Trial(903);
    for (let i = 0; i < 10; i++) {
      const model = i
        ? anyRanges(i % 2 ? 0 : KEY_MAX - 100, i % 2 ? 100 : KEY_MAX, trial.random)
        : new Model();
      build(model, Form.EITHER, trial.random);
      const other = change(trial, model, Change.FLIP, 0, OFFSET_MAX);
      change(trial, other, Change.FLIP, 0, OFFSET_MAX);
      change(trial, model, Change.SET, 0, OFFSET_MAX);
      change(trial, range(0, OFFSET_MAX), Change.CLEAR, 1, OFFSET_MAX);
    }
    trial.end();
  });

  it("works in tiny arenas and in arenas with free blocks", () => {
    const trial = new Trial(904);
    for (let i = 0; i < 30; i++) {
      let model = new Model();
      freshArena(40);
      for (let j = trial.random.between(1, i % 2 ? 40 : 2000); j; j--) {
        const offset = <u64>trial.random.below(1 << 22);
        set(offset, 1);
        model.add(offset);
      }
      for (let j = 0; j < 15; j++) {
        const low = <u64>trial.random.below(1 << 22);
        model = change(
          trial, model, trial.random.below(CHANGES), low,
          low + trial.random.below(1 << (1 + trial.random.below(20))),
        );
        const offset = <u64>trial.random.below(1 << 22);
        trial.same(set(offset, 0), u32(model.remove(offset)), "old value of a single offset");
      }
      trial.is(model, "after all changes");
    }
    trial.end();
  });

  it("can remove thousands of containers at once", () => {
    const trial = new Trial(905);
    let model = new Model();
    for (let key: u64 = 0; key < 35000; key++) model.append(key << 17, (key << 17) + key % 4);
    build(model, Form.EITHER, trial.random);
    model = change(trial, model, Change.FLIP, 100 << 17, (400 << 17) + 5);
    model = change(trial, model, Change.CLEAR, (50 << 17) + 2, (34000 << 17) + 1);
    trial.same(wasteful(), 1, "wasteful after removing");
    change(trial, model, Change.SET, 0, (40000 << 17) - 1);
    trial.end();
  });

  it("gives the model's result where leaves and subtrees of the directory begin and end", () => {
    const trial = new Trial(906), model = new Model();
    const subtree = Node.LEAF_MAX * Node.INNER_MAX, entries: u32 = subtree + 2 * Node.LEAF_MAX + 7;
    for (let i: u64 = 0; i < entries; i++) model.append((i << 17) + 100, (i << 17) + 101);
    const at: u32[] = [
      0, 1, Node.LEAF_MAX - 1, Node.LEAF_MAX, Node.LEAF_MAX + 1, subtree - 1,
      subtree, subtree + 1, subtree + Node.LEAF_MAX, entries - 1,
    ];
    for (let i = 0; i < at.length; i++) {
      for (let j = i; j < at.length; j++) {
        const random = trial.random, how = random.below(CHANGES);
        build(model, Form.EITHER, random);
        // In the container, at its start or its end, or in the gap beside it.
        const low = (<u64>at[i] << 17) + [0, 100, 101, 65536][random.below(4)];
        const high = (<u64>at[j] << 17) + [100, 300, 65535, 131071][random.below(4)];
        if (low > high) continue;
        const after = change(trial, model, how, low, high);
        for (let k = 0; k < 20; k++) {        // the directory is sound: it goes on being changed
          const offset = <u64>random.below(entries) << 17 | random.below(200);
          trial.same(set(offset, 1), u32(!after.add(offset)), "old value of a single offset");
        }
        trial.is(after, "after setting single offsets");
      }
    }
    trial.end();
  });

  it("grows the arena at most once where full containers come and go, however full the leaf is", () => {
    const trial = new Trial(907);
    for (let groups: u64 = 1; groups < 140; groups++) {
      const model = new Model();
      for (let i: u64 = 0; i < groups; i++) { // a full container, one of a member, and none, in turn
        model.append(3 * i << 16, (3 * i << 16) + 65535);
        model.append((3 * i + 1 << 16) + 9, (3 * i + 1 << 16) + 9);
      }
      build(model, Form.EITHER, trial.random);
      const flipped = change(
        trial, model, Change.FLIP, trial.random.below(70000),
        (3 * groups << 16) - 1 - trial.random.below(70000),
      );
      change(trial, flipped, trial.random.below(CHANGES), 70000, (3 * groups << 16) + 70000);
    }
    trial.end();
  });

  it("grows the arena at most once where nearly all containers, however many, become a full one", () => {
    const trial = new Trial(909);
    for (let entries: u64 = 6; entries < 2 * Node.LEAF_MAX; entries++) {
      const model = new Model();
      for (let key: u64 = 0; key < entries; key++) model.append((key << 16) + 3, (key << 16) + 3);
      build(model, Form.PLAIN, trial.random);
      // A block above the directory: what nodes give up is not room for others.
      for (let offset: u64 = 0; offset < 3; offset++) {
        set(offset, 1);
        model.add(offset);
      }
      const full = change(trial, model, Change.SET, 1 << 16, (entries - 1 << 16) - 1);
      change(
        trial, full, trial.random.below(2) ? Change.CLEAR : Change.FLIP, 2 << 16, (entries << 15) - 1 | 65535,
      );
    }
    trial.end();
  });

  it("requests a rebuilt bitmap and changes nothing if over a quarter is removed or much is flipped", () => {
    const trial = new Trial(908), model = new Model(), dense = new Model();
    for (let key: u64 = 0; key < 1000; key++) model.append((key << 16) + 7, (key << 16) + 8);
    for (let key: u64 = 0; key < 30; key++) appendContainer(dense, key, Style.BITSET, trial.random);
    for (let how = 0; how < CHANGES; how++) {
      for (let keys: u64 = 1; keys <= 1000; keys++) {
        build(model, Form.PLAIN, trial.random);
        const bytes = changeRange(how, 0, (keys << 16) - 1, 0);
        if (bytes) {
          trial.is(model, "nothing is changed yet");
          trial.holds(bytes >= used() / 4, "the estimate is not far too small: " + bytes.toString());
        }
        if (how == Change.FLIP ? keys < 16 : keys <= 250) {
          trial.same(bytes, 0, "in place, " + keys.toString() + " of 1000 containers");
        }
        if (keys > 250) trial.holds(bytes > 0, "rebuilt, " + keys.toString() + " of 1000 containers");
        trial.steps++;
      }
    }
    build(dense, Form.PLAIN, trial.random);
    trial.same(changeRange(Change.FLIP, 0, OFFSET_MAX >> 40, 0), 0, "bitsets are flipped in place");
    trial.same(Directory.entriesHeld<Own>(), 31, "entries: the bitsets, and what follows them");
    trial.end();
  });
});
