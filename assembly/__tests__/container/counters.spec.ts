import {
  Counters, countArray, countInBytes, countFirstParts, countInLevels, countParts, keepRepeated,
  reachedInBytes, sweepEdges,
} from "../../container/counters";
import { Bitset } from "../../container/bitset";
import { BITSET_BYTES } from "../../container/limits";
import {
  Bench, Kind, Model, Style, UNIVERSE, anyModel, crowdedModel, makeModel,
} from "../support/container-model";

const LEASTS: u32[] = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 100];
const SIZES: u32[] = [0, 1, 2, 40, 1000, 4096, 4097, 30000, 65535, 65536];
/**
 * Where the carry or a result, and the values that keepRepeated() sorts, are in memory 0, outside the room of
 * a bench.
 */
const CARRY_AT: usize = 256 << 10;
const SORTED_AT: usize = 512 << 10;

/** Compares all planes with counters that began at `start`. */
function checkPlanes(bench: Bench, at: usize, planes: u32, start: u32, times: StaticArray<u32>): void {
  for (let v: u32 = 0; v < UNIVERSE; v++) {
    const counter = start + times[v];
    const expected = (counter & ((1 << planes) - 1)) | (u32(counter >> planes != 0) << planes);
    let found: u32 = 0;
    for (let i: u32 = 0; i <= planes; i++) {
      found |= ((<u32>load<u8>(at + <usize>i * BITSET_BYTES + (v >> 3)) >> (v & 7)) & 1) << i;
    }
    if (found == expected) continue;
    bench.fail("planes of " + v.toString() + ": " + found.toString() + ", expected " + expected.toString());
    return;
  }
}

function note(times: StaticArray<u32>, model: Model): void {
  for (let v: u32 = 0; v < UNIVERSE; v++) times[v] += u32(model.has[v]);
}

function startAll(bench: Bench, at: usize, planes: u32, least: u32): void {
  for (let part: usize = 0; part < BITSET_BYTES;
    part += Bitset.PART_BYTES) Counters.start(at + part, planes, least);
  checkPlanes(bench, at, planes, (1 << planes) - least, new StaticArray<u32>(UNIVERSE));
}

function countBoth(at: usize, planes: u32, least: u32, a: usize, b: usize): void {
  for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
    if (least) countFirstParts(at + part, planes, least, a + part, b + part);
    else countParts(at + part, planes, a + part, b + part, CARRY_AT);
  }
}

/** A set of any size and style, or a small one in a narrow window. */
function anySet(bench: Bench): Model {
  return bench.random.below(3) ? anyModel(SIZES, bench.random) : crowdedModel(bench.random);
}

describe("counters", () => {
  it("have two planes at least, and as many as it takes to count `least` times", () => {
    expect(Counters.planesFor(1)).toBe(2);
    expect(Counters.planesFor(4)).toBe(2);
    for (let planes: u32 = 2; planes < 20; planes++) {
      expect(Counters.planesFor(1 << planes)).toBe(planes);
      expect(Counters.planesFor((1 << planes) + 1)).toBe(planes + 1);
    }
  });

  it("equal plain counters, whatever the sets and however they are counted", () => {
    const bench = new Bench(1200);
    for (let i = 0; i < LEASTS.length; i++) {
      const least = LEASTS[i], planes = Counters.planesFor(least), times = new StaticArray<u32>(UNIVERSE);
      bench.begin();
      const at = bench.output(<usize>(planes + 1) * BITSET_BYTES);
      let fresh = least > 1 && bench.random.below(2) != 0;    // the first two sets begin the counters
      if (fresh) memory.fill(at, 0x5a, <usize>(planes + 1) * BITSET_BYTES);
      else startAll(bench, at, planes, least);
      for (let sets: u32 = 0, most = least + 1 + bench.random.below(5); sets < most;) {
        const x = anySet(bench);
        bench.begin();
        if (!fresh && x.count <= 4096 && bench.random.below(2)) {
          const a = bench.right(Kind.ARRAY, x);
          countArray(at, planes, a, x.count);
          sets++;
        } else {
          const y = bench.random.below(4) ? anySet(bench) : new Model();
          const a = bench.left(Kind.BITSET, x), b = bench.right(Kind.BITSET, y);
          countBoth(at, planes, fresh ? least : 0, a, b);
          fresh = false;
          note(times, y);
          sets += 2;
        }
        note(times, x);
        if (least < 10 || sets >= most) checkPlanes(bench, at, planes, (1 << planes) - least, times);
      }
    }
    bench.end();
  });

  it("write nothing but their planes, which are all 0 once every value was counted often enough", () => {
    const bench = new Bench(1201);
    const whole = makeModel(Style.LOWEST, UNIVERSE, bench.random);
    const none = new Model();
    for (let least: u32 = 1; least < 10; least++) {
      for (let arrays = 0; arrays < 2; arrays++) {
        const planes = Counters.planesFor(least);
        bench.begin();
        const at = bench.output(<usize>(planes + 1) * BITSET_BYTES);
        startAll(bench, at, planes, least);
        for (let n: u32 = 0; n < least; n++) {
          bench.begin();
          if (arrays) { countArray(at, planes, bench.right(Kind.ARRAY, whole), whole.count); continue; }
          const a = bench.left(Kind.BITSET, whole), b = bench.right(Kind.BITSET, none);
          countBoth(at, planes, 0, a, b);
        }
        bench.checkPayload(Kind.BITSET, none, "the first plane");
        bench.checkResult(
          <u32>popcnt<u64>(load<u64>(at + <usize>planes * BITSET_BYTES)),
          64, "the plane that tells who overflowed",
        );
      }
    }
    bench.end();
  });
});

describe("levels", () => {
  it("tell which values are in more than a given number of arrays", () => {
    const bench = new Bench(1204);
    for (let most: u32 = 1; most <= 8; most++) {
      const times = new StaticArray<u32>(UNIVERSE);
      bench.begin();
      const at = bench.output(<usize>most * BITSET_BYTES);
      memory.fill(at, 0, <usize>most * BITSET_BYTES);
      for (let arrays = 1 + bench.random.below(12); arrays; arrays--) {
        const sizes: u32[] = [1, 40, 1000, 4096];
        const x = bench.random.below(3) ? anyModel(sizes, bench.random) : crowdedModel(bench.random);
        if (x.count > 4096) continue;
        bench.begin();
        countInLevels(at, most, bench.right(Kind.ARRAY, x), x.count);
        note(times, x);
      }
      for (let v: u32 = 0; v < UNIVERSE; v++) {
        for (let level: u32 = 0; level < most; level++) {
          const bit = (<u32>load<u8>(at + <usize>level * BITSET_BYTES + (v >> 3)) >> (v & 7)) & 1;
          if (bit != u32(times[v] > level)) bench.fail("level " + level.toString() + " of " + v.toString());
        }
      }
    }
    bench.end();
  });
});

describe("counters in bytes", () => {
  it("tell which values are in a given number of arrays", () => {
    const bench = new Bench(1205);
    for (let i = 0; i < 12; i++) {
      const times = new StaticArray<u32>(UNIVERSE), most: u32 = i ? 1 + bench.random.below(12) : 255;
      bench.begin();
      const at = bench.output(UNIVERSE), out = CARRY_AT;
      memory.fill(at, 0, UNIVERSE);
      for (let arrays: u32 = 0; arrays < most; arrays++) {
        const sizes: u32[] = [1, 2, 40, 1000, 4096];
        const x = i && bench.random.below(3) ? anyModel(sizes, bench.random) : crowdedModel(bench.random);
        if (x.count > 4096) continue;
        bench.begin();
        countInBytes(at, bench.right(Kind.ARRAY, x), x.count);
        note(times, x);
      }
      for (let least: u32 = 1; least <= 255; least += least < most ? 1 : 84) {
        checkReached(bench, reachedInBytes(at, least, false, out), out, times, least, u32.MAX_VALUE);
        checkReached(bench, reachedInBytes(at, least, true, out), out, times, least, least);
      }
    }
    bench.end();
  });
});

/**
 * Compares the bitset at `at` and the number of its members with those that are
 * counted `least` to `most` times.
 */
function checkReached(
  bench: Bench, members: u32, at: usize, times: StaticArray<u32>, least: u32, most: u32,
): void {
  let expected: u32 = 0;
  for (let v: u32 = 0; v < UNIVERSE; v++) {
    const bit = (<u32>load<u8>(at + (v >> 3)) >> (v & 7)) & 1;
    const reached = u32(times[v] >= least && times[v] <= most);
    if (bit != reached) bench.fail("at least " + least.toString() + ": " + v.toString());
    expected += reached;
  }
  if (members != expected) {
    bench.fail("at least " + least.toString() + ": " + members.toString() + " members");
  }
}

describe("keepRepeated()", () => {
  it("keeps the values that occur often enough, in order", () => {
    const bench = new Bench(1202);
    for (let i = 0; i < 3000; i++) {
      bench.begin();
      const members = bench.random.below(70);
      const window: u32 = 1 + bench.random.below(bench.random.below(2) ? 6 : UNIVERSE - 1);
      const base = bench.random.below(UNIVERSE - window), times = new StaticArray<u32>(window);
      for (let m: u32 = 0; m < members; m++) {
        const value = bench.random.below(window);
        times[value]++;
        store<u16>(SORTED_AT + (<usize>m << 1), <u16>(base + value));
      }
      const least: u32 = 1 + bench.random.below(6), exactly = bench.random.below(2) == 0;
      const kept = keepRepeated(SORTED_AT, members, least, exactly);
      let at = SORTED_AT, expected: u32 = 0;
      for (let value: u32 = 0; value < window; value++) {
        if (exactly ? times[value] != least : times[value] < least) continue;
        if (<u32>load<u16>(at) != base + value) bench.fail("value " + (base + value).toString());
        at += 2;
        expected++;
      }
      bench.checkResult(kept, expected, "kept");
    }
    bench.end();
  });
});

describe("sweepEdges()", () => {
  it("keeps the values that lie in enough runs", () => {
    const bench = new Bench(1203);
    for (let i = 0; i < 3000; i++) {
      bench.begin();
      const window: u32 = 1 + bench.random.below(bench.random.below(2) ? 12 : 3000);
      const base = bench.random.below(3) ? bench.random.below(UNIVERSE - window) : UNIVERSE - window;
      const times = new StaticArray<u32>(window);
      let end = SORTED_AT;
      for (let runs = bench.random.below(33); runs; runs--) {
        const low = bench.random.below(window);
        const high = low + bench.random.below(bench.random.below(2) ? 1 : window - low);
        for (let value = low; value <= high; value++) times[value]++;
        end = Counters.putEdges(end, base + low, base + high);
      }
      const least: u32 = 1 + bench.random.below(6), exactly = bench.random.below(2) == 0;
      const found = sweepEdges(SORTED_AT, end, least, exactly, CARRY_AT), runs = load<u16>(CARRY_AT);
      let members: u32 = 0, seen: u32 = 0, inside = false;
      for (let value: u32 = 0; value <= window; value++) {
        const covered = value < window && (exactly ? times[value] == least : times[value] >= least);
        const run = CARRY_AT + 2 + (<usize>seen << 2);
        members += u32(covered);
        if (covered && !inside && <u32>load<u16>(run) != base + value) {
          bench.fail("begin of run " + seen.toString());
        }
        if (inside && !covered && <u32>load<u16>(run) + load<u16>(run, 2) != base + value - 1) {
          bench.fail("end of run " + seen.toString());
        }
        seen += u32(inside && !covered);
        inside = covered;
      }
      bench.checkResult(runs, seen, "runs");
      bench.checkResult(found, members, "members");
    }
    bench.end();
  });
});
