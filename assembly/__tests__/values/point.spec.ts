import { Fault } from "../../env/fault";
import { Own } from "../../env/view";
import { Random, clear, enter, growCount, memberAt, members, rounds, seed } from "../world/world";
import { freshArena } from "../support/bitmap-arena";
import { Values } from "../../values/layout";
import { Done, Only, addToValue, removeId, setValue, settleId, valueOf } from "../../values/point";
import { Spot } from "../../values/spot";
import { validateValues } from "../../values/validate";

/** The model: ids and values of a small map, in any order. */
const model = new Map<u64, i64>();

function start(): void {
  model.clear();
  clear();
  freshArena(16);
}

function said(what: string): string { return what + " (SEED=" + seed().toString() + ")"; }

/** Draws a value: any of a width, or one of both ends. */
function drawn(random: Random, bits: u32): i64 {
  if (random.below(200) == 0) return random.below(2) ? i64.MIN_VALUE : i64.MAX_VALUE;
  const value = <i64>(random.next() >> (64 - bits));
  return random.below(4) ? value : -value;
}

function put(id: u64, value: i64): void {
  const before = model.has(id) ? model.get(id) : value + 1, had = model.has(id);
  enter();
  const done = setValue(id, value, 0);
  expect(done).toBe(had ? before == value ? Done.NOTHING : Done.CHANGED : Done.ADDED, said("what set replies"));
  if (done == Done.CHANGED) expect(<i64>memberAt(0)).toBe(before, said("the old value"));
  model.set(id, value);
}

function take(id: u64): void {
  enter();
  expect(removeId(id, false)).toBe(u32(model.has(id)), said("what removing replies"));
  model.delete(id);
}

function look(id: u64): void {
  enter();
  const found = valueOf(id);
  expect(found).toBe(u32(model.has(id)), said("whether " + id.toString() + " has a value"));
  if (found) expect(<i64>memberAt(0)).toBe(model.get(id), said("the value of " + id.toString()));
}

/** Compares all ids in their order. */
function compare(): void {
  const fault: Fault = Values.are<Own>() ? validateValues() : Fault.NONE;
  expect(<i32>fault).toBe(0, said("validates"));
  expect(Values.count<Own>()).toBe(model.size, said("ids"));
  let last: u64 = 0, seen = 0, wrong = 0;
  for (let spot = Spot.from<Own>(0); spot != Spot.NONE; spot = Spot.next<Own>(spot)) {
    const id = Spot.id<Own>(spot);
    wrong += i32(seen > 0 && id <= last) + i32(!model.has(id) || model.get(id) != Spot.value<Own>(spot));
    last = id;
    seen++;
  }
  expect(wrong).toBe(0, said("wrong ids or values"));
  expect(seen).toBe(model.size, said("ids in order"));
}

describe("values of ids", () => {
  it("are those of a map, whatever is stored and removed", () => {
    const random = new Random(seed());
    const spreads: u32[] = [6, 10, 14, 20, 32, 64], widths: u32[] = [1, 7, 17, 33, 64];
    for (let s = 0; s < spreads.length; s++) {
      for (let w = 0; w < widths.length; w++) {
        start();
        for (let round = 0; round < rounds(3); round++) {
          const removes = round % 3 == 2 ? 70 : 15;
          for (let i = 0; i < 700; i++) {
            const id = random.next() >> (64 - spreads[s]);
            const what = random.below(100);
            if (what < <u32>removes) take(id); else put(id, drawn(random, widths[w]));
            if (what > 80) look(random.next() >> (64 - spreads[s]));
          }
          compare();
        }
      }
    }
  });

  it("may be stored in ascending and descending order", () => {
    const random = new Random(seed() + 1);
    for (let step: u64 = 1; step < 100; step += 33) {
      start();
      for (let i: u64 = 0; i < 3000; i++) put(i * step, drawn(random, 17));
      compare();
      start();
      for (let i: u64 = 3000; i > 0; i--) put(i * step, <i64>i * 1000);
      compare();
      for (let i: u64 = 3000; i > 0; i--) take(i * step);
      compare();
    }
  });

  it("take little more than their slices in ascending order", () => {
    start();
    const random = new Random(1);
    for (let id: u64 = 0; id < 51200; id++) setValue(id, <i64>random.below(131072), 0);
    expect(<i32>validateValues()).toBe(0);

    expect(Values.bump() - Values.freed()).toBeLessThan(51200 * 24 / 10);
  });

  it("are added to, unless the sum would overflow", () => {
    const random = new Random(seed() + 2);
    start();
    for (let i = 0; i < 20000; i++) {
      const id = random.below(1500), more = drawn(random, 40), before: i64 = model.has(id) ? model.get(id) : 0;
      const overflows = more > 0 ? before > i64.MAX_VALUE - more : before < i64.MIN_VALUE - more;
      enter();
      const done = addToValue(id, more);
      expect(done).toBe(overflows ? Done.NOTHING : model.has(id) ? Done.CHANGED : Done.ADDED, said("what adding replies"));
      expect(members()).toBe(u32(!overflows), said("numbers in the reply"));
      if (overflows) continue;
      expect(<i64>memberAt(0)).toBe(before + more, said("the new value"));
      model.set(id, before + more);
    }
    compare();
  });

  it("obey the rules of ZADD", () => {
    start();
    expect(setValue(7, 5, Only.PRESENT)).toBe(Done.NOTHING);
    expect(setValue(7, 5, Only.GREATER)).toBe(Done.ADDED);
    expect(setValue(7, 6, Only.NEW)).toBe(Done.NOTHING);
    expect(setValue(7, 4, Only.GREATER)).toBe(Done.NOTHING);
    expect(setValue(7, 6, Only.LESS)).toBe(Done.NOTHING);
    expect(setValue(7, 5, Only.PRESENT)).toBe(Done.NOTHING);
    expect(setValue(7, 6, Only.GREATER | Only.PRESENT)).toBe(Done.CHANGED);
    expect(setValue(7, -6, Only.LESS)).toBe(Done.CHANGED);
  });

  it("can be restored without memory where an id that was added hid what an old value needs", () => {
    start();
    const wide: i64 = 1 << 40;
    for (let id: u64 = 0; id < 400; id++) put(id, id == 200 ? wide : <i64>id & 7);
    setValue(200, 1, Only.REVOCABLY);
    setValue(400, 1, Only.REVOCABLY);
    const grown = growCount();
    removeId(400, true);
    setValue(200, wide, Only.REVOCABLY);
    expect(growCount()).toBe(grown, "memory");
    settleId(200);
    compare();
  });

  it("can be restored without memory after changes that can be revoked", () => {
    const random = new Random(seed() + 3);
    for (let round = 0; round < rounds(6); round++) {
      start();
      for (let i = 0; i < 2000; i++) put(random.below(4000), drawn(random, 12));
      compare();
      const ids: u64[] = [], olds: i64[] = [], dones: Done[] = [];
      for (let i = 0; i < 500; i++) {
        const id: u64 = random.below(5000);
        enter();
        dones.push(setValue(id, drawn(random, 30), Only.REVOCABLY));
        ids.push(id);
        olds.push(dones[i] == Done.CHANGED ? <i64>memberAt(0) : 0);
      }
      const grown = growCount();
      for (let i = 499; i >= 0; i--) {
        if (dones[i] == Done.ADDED) removeId(ids[i], true);
        else if (dones[i] == Done.CHANGED) setValue(ids[i], olds[i], Only.REVOCABLY);
      }
      expect(growCount()).toBe(grown, said("memory"));
      for (let i = 0; i < 500; i++) settleId(ids[i]);
      compare();
    }
  });
});
