import { Own } from "../../env/view";
import { Directory } from "../../arena/read/directory";
import { used } from "../../arena/change/forms";
import { asOperand, Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { Model } from "../support/bitmap-model";
import { addArgument, argumentsHandedBack, clear, clearArguments, enter, growCount } from "../world/world";
import { rewrite } from "../../combine/rebuild/rewrite";
import { removeAll } from "../../write/batch/remove";
import { set } from "../../write/point";
import { makeRemovable, tidy } from "../../write/undo";
import { Choice, Kind } from "../../container/kind";

/** The container that is changed. */
const KEY: u64 = 5;

/** Begins a bitmap: tiny, or with other containers. */
function start(trial: Trial, others: bool): Model {
  const model = new Model();
  if (others) { model.append(0, 5); model.append(9 << 16, (9 << 16) + 70); }
  if (others) build(model, Form.PLAIN, trial.random); else freshArena(32);
  return model;
}

/** Sets or clears a value of the container in memory 0 and in the model. */
function change(trial: Trial, model: Model, low: u32, value: u32): void {
  const offset = (KEY << 16) + low, before = value ? !model.add(offset) : model.remove(offset);
  trial.same(set(offset, value), u32(before), "old value of " + low.toString());
}

// @ts-ignore: decorator
@inline function kindNow(): i32 {
  const entry = Directory.find(KEY);
  return entry ? <i32>entry.kind<Own>() : -1;
}

describe("a container around the sizes at which it becomes a short bitset", () => {
  it("has the model's members, whatever is set and cleared", () => {
    const trial = new Trial(1310), windows: u32[] = [60, 366, 1000, 1830, 1990, 9000, 62000];
    for (let w = 0; w < windows.length; w++) {
      for (let others = 0; others < 2; others++) {
        const model = start(trial, others != 0), base = trial.random.below(65536 - windows[w]);
        for (let i = 0; i < 1500; i++) {
          trial.steps++;
          const grows = (i / 300) % 2 == 0 ? 80 : 20;         // mostly up, then mostly down
          change(
            trial, model, base + trial.random.below(windows[w]), u32(trial.random.below(100) < <u32>grows),
          );
          if (i % 40 == 0) trial.is(model, "changed");
        }
        trial.is(model, "changed");
        if (!others) continue;
        clear();
        asOperand();
        freshArena(1 << 20);
        rewrite(u32.MAX_VALUE);
        trial.is(model, "rewritten");
      }
    }
    trial.end();
  });

  it("does not change its kind again and again when a member is set and cleared", () => {
    const trial = new Trial(1311), windows: u32[] = [60, 366, 1830, 9000];
    for (let w = 0; w < windows.length; w++) {
      for (let others = 0; others < 2; others++) {
        const model = start(trial, others != 0);
        for (let members: u32 = 0; members < min(windows[w] - 1, 500); members++) {
          let low = trial.random.below(windows[w]);
          while (model.has((KEY << 16) + low)) low = (low + 1) % windows[w];
          let changes = 0, bytes: u32 = 0, grown = 0;
          for (let turn = 0; turn < 12; turn++) {
            const before = kindNow();
            change(trial, model, low, u32(turn % 2 == 0));
            if (members > 2) changes += i32(kindNow() != before);
            if (turn > 3 && turn % 2 == 1) { if (bytes && used() > bytes) grown++; bytes = used(); }
          }
          trial.holds(changes <= 1, "the kind changes once at most, with " + members.toString() + " members");
          trial.holds(
            others != 0 || grown == 0, "a tiny arena does not grow, with " + members.toString() + " members",
          );
          change(trial, model, low, 1);
        }
        trial.is(model, "filled");
      }
    }
    trial.end();
  });

  it("becomes a short bitset once that is smaller, and something else when few members are left", () => {
    const trial = new Trial(1312), model = start(trial, true), step: u32 = 17;
    const count: u32 = 200, words = (count - 1) * step / 64 + 1;
    for (let i: u32 = 0; i < count; i++) {
      const low = (i * 77 % count) * step;                    // 77 has no common factor with 200
      change(trial, model, low, 1);
    }
    trial.same(
      kindNow(), Choice.prefersShort(count, words) ? Kind.SHORT : Kind.ARRAY, "kind of 200 members 17 apart",
    );
    for (let low: u32 = 0; low < count * step; low += 3) change(trial, model, low, 1);
    trial.same(kindNow(), Kind.SHORT, "kind of a third of the values");
    trial.is(model, "filled");
    let converted: u32 = 0;
    for (let low: u32 = 0; low < count * step; low++) {
      if (!model.has((KEY << 16) + low)) continue;
      change(trial, model, low, 0);
      const entry = Directory.find(KEY);
      if (!entry) break;
      if (!converted && entry.kind<Own>() != Kind.SHORT) converted = entry.count<Own>();
    }
    trial.same(kindNow(), -1, "kind when all are cleared");
    trial.holds(
      Choice.staysShort(400, words) && converted < 400,
      "400 members stay a short bitset, not fewer than " + converted.toString(),
    );
    trial.is(model, "emptied");
    trial.end();
  });

  it("becomes an array once a list of most of its members is removed, also in a tiny arena", () => {
    const trial = new Trial(1313);
    for (let others = 0; others < 2; others++) {
      const model = start(trial, others != 0);
      for (let low: u32 = 0; low < 1800; low += 3) change(trial, model, low, 1);
      trial.same(kindNow(), Kind.SHORT, "kind of a third of the values");
      clearArguments();
      let count: u32 = 0;
      for (let offset = (KEY << 16) + 3; offset < (KEY << 16) + 1770; offset += 3, count++) {
        addArgument(offset);
        model.remove(offset);
      }
      enter();
      makeRemovable(0, count);
      const grown = growCount();
      trial.same(removeAll(0, count), count, "number of removed members");
      trial.same(growCount(), grown, "number of times the arena grew while members were removed");
      trial.same(kindNow(), Kind.SHORT, "kind while members are removed");
      tidy(0, argumentsHandedBack());
      trial.same(kindNow(), Kind.ARRAY, "kind of eleven members");
      trial.is(model, "removed");
      clear();
    }
    trial.end();
  });
});
