import { Bitset } from "../../container/bitset";
import { BITSET_BYTES, Container } from "../../container/limits";
import {
  TALLY_BYTES, Tally, planesToBitset, tallyToBitset, tallyToRuns, tallyWithPlanes,
} from "../../container/tally";
import { left, right, SELF } from "../../env/memory";
import { Random, clear, enter, seed, setArena } from "../world/world";

const TALLY_AT: usize = 64, PAYLOAD_AT: usize = 512 << 10;
const OUT_AT: usize = 640 << 10, PLANES_AT: usize = Tally.planes(TALLY_AT), ARENA: u32 = 2 << 20;
const GUARD: u32 = 0x5ca1ab1e;
const PLANES: u32 = 5;

/** A tally beside the sums that it should have. */
class Sums {
  of: StaticArray<i32> = new StaticArray<i32>(Container.UNIVERSE);
  fault: string = "";

  constructor(public random: Random) {
    clear();
    setArena(ARENA);
    enter();
    memory.fill(TALLY_AT, 0xa7, TALLY_BYTES);
    store<u32>(TALLY_AT + TALLY_BYTES, GUARD);
    Tally.start(TALLY_AT);
    left.select(SELF);
    right.select(SELF);
  }

  add(low: u32, high: u32, by: i32): void { for (let v = low; v <= high; v++) this.of[v] += by; }

  /** Adds a random container, as an array, as runs, as words, or a run alone, anywhere or at the ends. */
  addAny(): void {
    const random = this.random, by = <i32>random.below(7) - 3, style = random.below(5), at = PAYLOAD_AT;
    const count: u32 = 1 + random.below(random.below(2) ? 5 : 400), dense = random.below(2) != 0;
    let value = random.below(3) ? random.below(Container.UNIVERSE) : 0, members: u32 = 0, runs: u32 = 0;
    if (style == 0) {
      const high = random.below(3) ? value + random.below(Container.UNIVERSE - value)
        : Container.UNIVERSE - 1;
      Tally.run(TALLY_AT, value, high, by);
      this.add(value, high, by);
      return;
    }
    if (style == 1) {
      Tally.from(TALLY_AT, value, by);
      this.add(value, Container.UNIVERSE - 1, by);
      return;
    }
    if (style == 4) {                         // words
      const first = value >> 6, words = min<u32>(1 + random.below(40), 1024 - first);
      for (let i: u32 = 0; i < words; i++) {
        const word = random.below(2) ? random.next() : random.below(2) ? u64.MAX_VALUE : 0;
        store<u64>(at + (<usize>i << 3), word);
        for (let bit: u32 = 0; bit < 64; bit++) {
          if ((word >> bit) & 1) this.add(((first + i) << 6) + bit, ((first + i) << 6) + bit, by);
        }
      }
      Tally.words(TALLY_AT, at, first, words, by);
      return;
    }
    while (members < count && value < Container.UNIVERSE) {
      const high = style == 2 ? value : min<u32>(value + random.below(300), Container.UNIVERSE - 1);
      this.add(value, high, by);
      if (style == 2) store<u16>(at + (<usize>members << 1), <u16>value);
      else {
        store<u16>(at + Container.runsBytes(runs), <u16>value);
        store<u16>(at + Container.runsBytes(runs++), <u16>(high - value), 2);
      }
      members++;
      value = high + (style == 2 ? 1 : 2) + (dense ? random.below(2) : random.below(500));
    }
    if (style == 2) { Tally.array(TALLY_AT, at, members, by); return; }
    store<u16>(at, <u16>runs);
    Tally.runs(TALLY_AT, at, by);
  }

  note(what: string): void { if (!this.fault.length) this.fault = what + ", SEED=" + seed().toString(); }

  /** Compares the bitset at OUT_AT with the values whose sum, plus `more` of them, suits. */
  compareBits(base: i32, least: i32, exactly: bool, more: StaticArray<i32>, what: string): void {
    for (let v: u32 = 0; v < Container.UNIVERSE; v++) {
      const sum = base + this.of[v] + more[v], expected = exactly ? sum == least : sum >= least;
      if (expected != (((load<u8>(OUT_AT + (v >> 3)) >> <u8>(v & 7)) & 1) != 0)) {
        this.note(what + " " + v.toString());
        return;
      }
    }
  }

  compare(base: i32, least: i32, exactly: bool): void {
    const nothing = new StaticArray<i32>(Container.UNIVERSE);
    tallyToBitset(TALLY_AT, least - base, exactly, OUT_AT);
    this.compareBits(base, least, exactly, nothing, "bitset");
    const members = tallyToRuns(TALLY_AT, least - base, exactly, OUT_AT, 2047);
    if (members == Tally.TOO_MANY_RUNS) return;
    let expected: u32 = 0;
    for (let v: u32 = 0; v < Container.UNIVERSE; v++) {
      const sum = base + this.of[v];
      expected += u32(exactly ? sum == least : sum >= least);
    }
    if (members != expected) {
      this.note("runs have " + members.toString() + " values, not " + expected.toString());
    }
    for (let run: u32 = 0, runs = <u32>load<u16>(OUT_AT), next: i32 = -1; run < runs; run++) {
      const low = <u32>load<u16>(OUT_AT + Container.runsBytes(run)),
        high = low + load<u16>(OUT_AT + Container.runsBytes(run), 2);
      if (<i32>low <= next || high >= Container.UNIVERSE) this.note("runs touch");
      next = high + 1;
      for (let v = low; v <= high; v++) {
        const sum = base + this.of[v];
        if (exactly ? sum != least : sum < least) { this.note("run at " + v.toString()); return; }
      }
    }
  }

  /** Compares with random numbers of five binary digits in planes. */
  compareWithPlanes(base: i32, least: i32, exactly: bool): void {
    const numbers = new StaticArray<i32>(Container.UNIVERSE);
    for (let i: u32 = 0; i < PLANES; i++) Bitset.clearAll(PLANES_AT + <usize>i * BITSET_BYTES);
    for (let v: u32 = 0; v < Container.UNIVERSE; v++) {
      numbers[v] = <i32>this.random.below(1 << PLANES);
      for (let i: u32 = 0; i < PLANES; i++) {
        if ((numbers[v] >> i) & 1) Bitset.set(PLANES_AT + <usize>i * BITSET_BYTES, v);
      }
    }
    tallyWithPlanes(TALLY_AT, PLANES, least - base, exactly, OUT_AT);
    this.compareBits(base, least, exactly, numbers, "planes");
    if (!Tally.isUniform(TALLY_AT)) return;
    planesToBitset(TALLY_AT, PLANES, least - base, exactly, OUT_AT);
    this.compareBits(base, least, exactly, numbers, "planes alone");
  }
}

describe("tallies", () => {
  it("have the right sums, whatever containers were added", () => {
    const random = new Random(seed() + 77);
    let fault = "";
    for (let round = 0; round < 60 && !fault.length; round++) {
      const sums = new Sums(random);
      for (let adds = random.below(random.below(2) ? 4 : 25); adds; adds--) sums.addAny();
      for (let i = 0; i < 4; i++) {
        sums.compare(<i32>random.below(9) - 4, <i32>random.below(15) - 7, random.below(2) != 0);
      }
      sums.compareWithPlanes(<i32>random.below(9) - 4, <i32>random.below(50) - 8, random.below(2) != 0);
      if (load<u32>(TALLY_AT + TALLY_BYTES) != GUARD) sums.note("written behind the tally");
      fault = sums.fault;
    }
    expect(fault).toBe("");
  });

  it("are the planes alone where nothing was added", () => {
    const random = new Random(seed() + 78), sums = new Sums(random);
    expect(Tally.isUniform(TALLY_AT)).toBe(true);
    for (let least = -2; least < 35; least++) {
      sums.compareWithPlanes(0, least, false);
      sums.compareWithPlanes(0, least, true);
    }
    expect(sums.fault).toBe("");
  });

  it("give a bitset where there are too many runs", () => {
    const sums = new Sums(new Random(1));
    for (let v: u32 = 0; v < 5000; v += 2) { Tally.run(TALLY_AT, v, v, 1); sums.add(v, v, 1); }
    expect(tallyToRuns(TALLY_AT, 1, false, OUT_AT, 2047)).toBe(Tally.TOO_MANY_RUNS);
    sums.compare(0, 1, false);
    expect(tallyToRuns(TALLY_AT, 0, false, OUT_AT, 2047)).toBe(Container.UNIVERSE);
    expect(sums.fault).toBe("");
  });
});
