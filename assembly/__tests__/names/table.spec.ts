import { arena, left } from "../../env/memory";
import { Left, Own } from "../../env/view";
import { Heap } from "../../names/heap";
import { Record } from "../../names/record";
import { Layout, NO_ID, Table } from "../../names/table";
import { Random, addOperandCopy, clear, enter, rounds, seed, setArena, setArenaLimit } from "../world/world";

// --- Tables -------------------------------------------------------------------------------------------------

/** expect() takes long, so it is left for what is wrong. */
function same<T>(actual: T, expected: T, what: string): void {
  if (actual != expected) expect(actual).toBe(expected, what);
}

/** A table in memory 0 with this prefix, and the entries that it should have, as a list of pairs. */
class Filled {
  hashes: u32[] = [];
  ids: u32[] = [];
  constructor(readonly random: Random, readonly prefix: u32, readonly layout: u32) {}

  /** A hash that belongs into the table; one of a few, if `few`. */
  hash(few: bool): u32 {
    const depth = Layout.depth(this.layout), rest = depth ? u32.MAX_VALUE >> depth : u32.MAX_VALUE;
    return this.prefix | (<u32>this.random.next() & (few ? rest & 0x80000003 : rest));
  }

  build(bytes: u32): void {
    clear();
    setArena(bytes);
    Table.create(this.prefix, this.layout);
  }

  add(hash: u32, id: u32): void {
    Table.insert(hash, id);
    this.hashes.push(hash);
    this.ids.push(id);
  }

  removeAny(): void {
    const i = <i32>this.random.below(this.ids.length), slot = Table.find<Own>(this.hashes[i], this.ids[i]);
    same(slot < Table.allSlots<Own>(), true, "an entry is lost");
    Table.remove(slot);
    this.hashes.splice(i, 1);
    this.ids.splice(i, 1);
  }

  check(what: string): void {
    same<u64>(Table.entries<Own>(), this.ids.length, what);
    same<u64>(Table.countBetween(0, Table.allSlots<Own>()), this.ids.length, what);
    for (let i = 0; i < this.ids.length; i++) {
      const hash = this.hashes[i];
      same(Table.find<Own>(hash, this.ids[i]) < Table.allSlots<Own>(), true, what);
      let nth: u32 = 0;
      while (Table.idOf<Own>(hash, nth) != this.ids[i]) {
        same(Table.idOf<Own>(hash, nth) == NO_ID, false, what);
        if (nth > 1000) break;
        nth++;
      }
    }
    for (let i = 0; i < 20; i++) {
      const hash = this.hash(false);
      if (!this.hashes.includes(hash)) same<u64>(Table.idOf<Own>(hash, 0), NO_ID, what);
      same<u64>(Table.find<Own>(hash, 0xfffe), Table.allSlots<Own>(), what);
    }
  }
}

describe("tables", () => {
  it("hold entries of all widths, in any order of changes", () => {
    const random = new Random(seed()), what = "seed " + seed().toString();
    for (let round = 0; round < rounds(120); round++) {
      const depth = random.below(20), few = random.below(4) == 0;
      const prefix: u32 = depth ? <u32>random.next() & ~(u32.MAX_VALUE >> depth) : 0;
      const layout = Layout.from(depth, Table.tagBytesFor(depth), random.between(2, 4));
      const trial = new Filled(random, prefix, layout);
      trial.build(<u32>Table.bytesFor(random.between(1, 200), trial.layout));
      for (let i = 0, id: u32 = 0; i < 400; i++) {
        const adds = random.below(3) || !trial.ids.length;
        if (!adds) trial.removeAny();
        else if (Table.takes(++id)) trial.add(trial.hash(few), id);
      }
      trial.check(what);
    }
  });

  it("take the entries of another one, or of half of it, also if all belong at its end", () => {
    const random = new Random(seed()), what = "seed " + seed().toString();
    for (let round = 0; round < rounds(200); round++) {
      const trial = new Filled(random, 0, Layout.from(0, 4, random.between(2, 3))), few = random.below(2) == 0;
      trial.build(<u32>Table.bytesFor(100, trial.layout));
      for (let id: u32 = 1; id < 100 && Table.takes(id); id++) {
        trial.add(few ? u32.MAX_VALUE - random.below(5) : trial.hash(false), id);
      }
      const middle = Table.middle(), all = Table.allSlots<Own>(), entries = Table.entries<Own>();
      const k = addOperandCopy(0, arena.size());
      for (let half: u32 = 0; half < 2; half++) {
        const upper = new Filled(random, half << 31, Layout.from(1, 4, 4));
        const from: u32 = half ? middle : 0, to = half ? all : middle;
        for (let i = 0; i < trial.ids.length; i++) {
          if (trial.hashes[i] >> 31 != half) continue;
          upper.hashes.push(trial.hashes[i]);
          upper.ids.push(trial.ids[i]);
        }
        setArena(<u32>Table.bytesFor(<u32>upper.ids.length + 1, upper.layout));
        enter();
        left.select(k);
        same(Table.entries<Left>(), entries, what);
        Table.create(upper.prefix, upper.layout);
        Table.take(from, to);
        upper.check(what);
        same(Table.takes(1), true, what);
      }
    }
  });
});

// --- Heaps --------------------------------------------------------------------------------------------------

/** Adds a record of `bytes` bytes, at least 2: of a name as it is, whose bytes all have the value `fill`. */
function push(bytes: usize, fill: u8): void {
  Heap.makeRoom(bytes);
  const at = Heap.push(bytes, false);
  store<u8>(at, <u8>(bytes - 1));
  memory.fill(at + 1, fill, bytes - 1);
}

describe("heaps", () => {
  it("find records, forget those removed, and take back the last ones", () => {
    const random = new Random(seed()), what = "seed " + seed().toString();
    for (let round = 0; round < rounds(100); round++) {
      clear();
      setArena(32);
      setArenaLimit(1 << 20);
      const first = random.below(1000), even = round % 3 ? random.between(2, 40) : 0;  // of nearly all records
      let base = first, live: u32 = 0;
      const sizes: u32[] = [], fills: u8[] = [];
      Heap.create(first);
      for (let i = 0; i < 300; i++) {
        const dice = random.below(10), count = <u32>sizes.length;
        if (dice < 7 || !count) {
          const bytes = even && random.below(100) ? even : random.between(2, 120), fill = <u8>random.next();
          push(bytes, fill);
          sizes.push(bytes);
          fills.push(fill);
          live++;
        } else if (dice < 9) {
          const index = random.below(count);
          if (!sizes[index]) continue;
          Heap.remove(index);
          sizes[index] = 0;
          live--;
          if (!live) { base += count; sizes.length = 0; fills.length = 0; }
        } else {
          const index = count - random.below(min<u32>(count, 20)) - 1;
          let names: u32 = 0, holes = false;
          for (let at = index; at < count; at++) { if (sizes[at]) names++; else holes = true; }
          if (holes || names == live) continue;
          Heap.truncate(index, names);
          sizes.length = index;
          fills.length = index;
          live -= names;
        }
        same<u64>(Heap.next<Own>(), <u64>base + sizes.length, what);
        same<u64>(Heap.live<Own>(), live, what);
        for (let at = 0; at < sizes.length; at++) {
          const place = Heap.locate<Own>(at);
          same(Record.isDead<Own>(place), !sizes[at], what);
          if (sizes[at]) same<u64>(load<u8>(place + sizes[at] - 1), fills[at], what);
        }
      }
    }
  });
});
