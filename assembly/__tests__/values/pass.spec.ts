import { Fault } from "../../env/fault";
import { Own } from "../../env/view";
import { used } from "../../arena/change/forms";
import { set } from "../../write/point";
import {
  Random, addArgument, addOperandCopy, argumentAt, clear, clearArguments, enter, memberAt, members, outputAt,
  outputBytes,
  rounds, seed,
} from "../world/world";
import { freshArena } from "../support/bitmap-arena";
import { Aggregate } from "../../values/column";
import { quantilesOfValues, replyStatistics } from "../../values/aggregate";
import { Ask, countValues } from "../../values/ask";
import { distinctValues } from "../../values/distinct";
import { payloadOfValues, readValues } from "../../values/format";
import { Values } from "../../values/layout";
import { mergeValues } from "../../values/merge";
import { RangeOption, rangeOfValues } from "../../values/order";
import { setValue } from "../../values/point";
import { rewriteValues } from "../../values/rewrite";
import { Pass } from "../../values/scan";
import { Spot } from "../../values/spot";
import { validateValues } from "../../values/validate";
import { valuesUsed } from "../../values/whole";
import { valuesWithout } from "../../values/without";

const random = new Random(seed());
/** The model: ids in ascending order, their values, and whether they are in the bitmap. */
let ids: u64[] = [], values: i64[] = [], inside: bool[] = [];

function said(what: string): string { return what + " (SEED=" + seed().toString() + ")"; }

/** Makes the model, and operands 0 and 1 of it. */
function make(count: i32, spread: u32, bits: u32, duplicates: bool): void {
  const map = new Map<u64, i64>();
  clear();
  freshArena(32);
  for (let i = 0; i < count; i++) {
    const id = random.next() >> (64 - spread);
    let value = <i64>(random.next() >> (64 - bits));
    if (random.below(2)) value = -value;
    if (duplicates) value %= 7;
    map.set(id, value);
    setValue(id, value, 0);
  }
  ids = map.keys().sort((a, b) => a < b ? -1 : 1);
  values = [];
  inside = [];
  for (let i = 0; i < ids.length; i++) values.push(map.get(ids[i]));
  isModel("made");
  addOperandCopy(0, valuesUsed());
  freshArena(32);
  for (let i = 0; i < ids.length; i++) {
    inside.push(random.below(3) != 0);
    enter();
    if (inside[i]) set(ids[i], 1);
  }
  for (let i = 0; i < 300; i++) {
    const other = random.next() >> (64 - spread);
    enter();
    if (!map.has(other)) set(other, 1);
  }
  addOperandCopy(0, used());
}

function fresh(): void {
  freshArena(32);
}

/** A bound: a value that there is, or one near it, or an end. */
function bound(): i64 {
  const what = random.below(8);
  if (what == 0 || !values.length) return random.below(2) ? i64.MIN_VALUE : i64.MAX_VALUE;
  const value = values[random.below(values.length)];
  if (what == 1 && value < i64.MAX_VALUE) return value + 1;
  return what == 2 && value > i64.MIN_VALUE ? value - 1 : value;
}

/** Positions of the model in the order of (value, id), of those from low to high. */
function ordered(filters: bool, low: i64, high: i64): i32[] {
  const found: i32[] = [];
  for (let i = 0; i < ids.length; i++) {
    if ((!filters || inside[i]) && values[i] >= low && values[i] <= high) found.push(i);
  }
  found.sort((a, b) => values[a] < values[b] ? -1 : values[a] > values[b] ? 1 : a - b);
  return found;
}

/** A pass over all ids, or those in the bitmap. */
function begin(filters: bool): void {
  fresh();
  Pass.begin(filters);
}

/** The `numbers` numbers of an answer that adds up, asked for all ids, or for two parts of them. */
function counted(what: Ask, filters: bool, asked: i64[], numbers: i32): u64[] {
  const sums: u64[] = [], parts = 1 + <i32>random.below(2);
  const cut = ids.length ? ids[random.below(ids.length)] : 1;
  for (let k = 0; k < numbers; k++) sums.push(0);
  for (let part = 0; part < parts; part++) {
    clearArguments();
    for (let k = 0; k < max(asked.length, numbers); k++) addArgument(k < asked.length ? asked[k] : 0);
    fresh();
    const first = part ? cut : 0, isLast = part + 1 == parts;
    if (isLast || cut) {
      countValues(what, u32(filters), asked.length, first, isLast ? u64.MAX_VALUE : cut - 1);
      for (let k = 0; k < numbers; k++) sums[k] += argumentAt(k);
    }
  }
  return sums;
}

function checkCounts(filters: bool): void {
  for (let k = 0; k < 6; k++) {
    const low = bound(), high = bound();
    expect(counted(Ask.COUNT, filters, [low, high], 1)[0]).toBe(ordered(filters, low, high).length, said("count"));
  }
  const all = ordered(filters, i64.MIN_VALUE, i64.MAX_VALUE);
  let low: u64 = 0, high: i64 = 0;
  for (let i = 0; i < all.length; i++) {
    const value = values[all[i]], sum = low + <u64>value;
    high += (value >> 63) + i64(sum < low);
    low = sum;
  }
  const sums = counted(Ask.SUM, filters, [], 5), carry = (sums[2] + (sums[1] >> 32)) >> 32;
  expect(sums[0]).toBe(all.length, said("ids of a sum"));
  expect(sums[1] + (sums[2] << 32)).toBe(low, said("low half of a sum"));
  expect(<i64>(sums[3] + (sums[4] << 32) + carry)).toBe(high, said("high half of a sum"));
  begin(filters);
  replyStatistics();
  expect(memberAt(0)).toBe(all.length, said("ids"));
  expect(memberAt(1)).toBe(low, said("sum"));
  expect(<i64>memberAt(2)).toBe(high, said("high half of the sum"));
  if (!all.length) return;
  expect(<i64>memberAt(3)).toBe(values[all[0]], said("least"));
  expect(<i64>memberAt(4)).toBe(values[all[all.length - 1]], said("greatest"));
}

function checkOrder(filters: bool): void {
  const all = ordered(filters, i64.MIN_VALUE, i64.MAX_VALUE), n = all.length;
  for (let k = 0; k < 8; k++) {
    const low = k % 2 ? bound() : i64.MIN_VALUE, high = k % 2 ? bound() : i64.MAX_VALUE;
    const some = ordered(filters, low, high), descending = random.below(2) != 0;
    if (descending) some.reverse();
    let start: i64 = <i32>random.below(some.length + 5) - 3;
    let stop = start + random.below(random.below(2) ? 10 : n + 1);
    if (random.below(4) == 0) { start = 0; stop = -1; }
    begin(filters);
    Pass.setBounds(low, high);
    const wanted = rangeOfValues(u32(descending) | RangeOption.VALUES, start, stop, u64.MAX_VALUE);
    const first = start < 0 ? max(start + some.length, 0) : start;
    let last = stop < 0 ? stop + some.length : stop;
    last = min(last, <i64>some.length - 1);
    const expected = max(last - first + 1, 0);
    expect(members()).toBe(<u32>expected * 2, said("length of a range"));
    expect(wanted).toBe(expected * 2, said("numbers of a range"));
    let wrong = 0;
    for (let i: i64 = 0; i < expected && members() == <u32>expected * 2; i++) {
      const at = some[<i32>(first + i)];
      wrong += i32(memberAt(<u32>i * 2) != ids[at] || <i64>memberAt(<u32>i * 2 + 1) != values[at]);
    }
    expect(wrong).toBe(0, said("wrong pairs of a range"));
  }
  for (let k = 0; k < 6 && ids.length; k++) {
    const i = <i32>random.below(ids.length);
    let before: u32 = 0, behind: u32 = 0;
    for (let j = 0; j < n; j++) {
      const less = values[all[j]] < values[i] || (values[all[j]] == values[i] && all[j] < i);
      if (less) before++; else if (all[j] != i) behind++;
    }
    for (let reverse: i64 = 0; reverse < 2; reverse++) {
      const rank = counted(Ask.RANK, filters, [<i64>ids[i], reverse], 2);
      expect(rank[0]).toBe(reverse ? behind : before, said("rank"));
      expect(rank[1] != 0).toBe(true, said("has a rank"));
    }
  }
  clearArguments();
  const quantiles: f64[] = [0, 1, <f64>random.below(1000) / 1000, 0.5];
  for (let k = 0; k < 4; k++) addArgument(reinterpret<u64>(quantiles[k]));
  begin(filters);
  quantilesOfValues(4);
  expect(members()).toBe(n ? 4 : 0, said("quantiles"));
  for (let k = 0; n && k < 4; k++) {
    const rank = max(<i32>Math.ceil(quantiles[k] * <f64>n) - 1, 0);
    expect(<i64>memberAt(k)).toBe(values[all[rank]], said("a quantile"));
  }
}

function checkDistribution(filters: bool): void {
  const all = ordered(filters, i64.MIN_VALUE, i64.MAX_VALUE), edges: i64[] = [];
  for (let k = 0; k < 5; k++) edges.push(bound());
  edges.sort((a, b) => a < b ? -1 : i32(a > b));
  const counts = counted(Ask.EDGES, filters, edges, 6);
  for (let k = 0; k <= 5; k++) {
    let found: u32 = 0;
    for (let i = 0; i < all.length; i++) {
      const value = values[all[i]];
      found += u32((!k || value >= edges[k - 1]) && (k == 5 || value < edges[k]));
    }
    expect(counts[k]).toBe(found, said("between edges"));
  }
  begin(filters);
  distinctValues(0, u64.MAX_VALUE);
  let seen: u32 = 0, wrong = 0;
  for (let i = 0; i < all.length;) {
    let next = i;
    while (next < all.length && values[all[next]] == values[all[i]]) next++;
    wrong += i32(<i64>memberAt(seen) != values[all[i]] || memberAt(seen + 1) != <u64>(next - i));
    seen += 2;
    i = next;
  }
  expect(wrong).toBe(0, said("wrong counts of values"));
  expect(members()).toBe(seen, said("values"));
}

/** Makes memory 0 the values without those between two bounds, and then the model, too; or one of two keys. */
function checkRemovals(filters: bool): void {
  const low = bound(), high = bound(), keptIds: u64[] = [], kept: i64[] = [], oldIds = ids, old = values;
  for (let i = 0; i < ids.length; i++) {
    if ((!filters || inside[i]) && values[i] >= low && values[i] <= high) continue;
    keptIds.push(ids[i]);
    kept.push(values[i]);
  }
  fresh();
  valuesWithout(u32(filters), low, high);
  ids = keptIds;
  values = kept;
  isModel("without a range");
  clear();
  addOperandCopy(0, ids.length ? valuesUsed() : 16);
  fresh();
  for (let i = 0; i < oldIds.length; i++) setValue(oldIds[i], old[i], 0);
  addOperandCopy(0, oldIds.length ? valuesUsed() : 16);
  ids = oldIds;
  values = old;
  fresh();
  expect(<i32>mergeValues(2, filters ? Aggregate.MIN : Aggregate.MAX)).toBe(<i32>Fault.NONE, said("merges"));
  isModel("merged");
}

/** Whether memory 0 has the model's ids and values. */
function isModel(what: string): void {
  expect(Values.count<Own>()).toBe(ids.length, said(what));
  if (ids.length) expect(<i32>validateValues()).toBe(0, said(what + " validates"));
  let i = 0, wrong = 0;
  for (let spot = Spot.from<Own>(0); spot != Spot.NONE && i < ids.length; spot = Spot.next<Own>(spot), i++) {
    wrong += i32(Spot.id<Own>(spot) != ids[i] || Spot.value<Own>(spot) != values[i]);
  }
  expect(wrong).toBe(0, said(what + ": wrong"));
}

function checkCopies(): void {
  fresh();
  rewriteValues(u32.MAX_VALUE);
  isModel("rewritten");
  fresh();
  rewriteValues(u32.MAX_VALUE);
  enter();
  const bytes = payloadOfValues(false);
  enter();
  payloadOfValues(true);
  expect(outputBytes()).toBe(<u32>bytes, said("bytes of the payload"));
  clear();
  addOperandCopy(outputAt(), <u32>bytes);
  fresh();
  expect(<i32>readValues(bytes)).toBe(<i32>Fault.NONE, said("reads"));
  isModel("read");
}

describe("values of a key", () => {
  it("are counted, added up and put in order as a list of them", () => {
    const spreads: u32[] = [9, 12, 18, 24, 40, 64], widths: u32[] = [1, 8, 17, 64];
    for (let s = 0; s < spreads.length; s++) {
      for (let w = 0; w < widths.length; w++) {
        for (let round = 0; round < rounds(3); round++) {
          make(random.below(round == 1 ? 50 : 5000), spreads[s], widths[w], random.below(3) == 0);
          for (let filters = 0; filters < 2; filters++) {
            checkCounts(filters != 0);
            checkOrder(filters != 0);
            checkDistribution(filters != 0);
          }
          if (random.below(2)) checkCopies(); else checkRemovals(random.below(2) != 0);
        }
      }
    }
  });
});
