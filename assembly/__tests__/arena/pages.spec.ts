import { arena } from "../../env/memory";
import { Own } from "../../env/view";
import { Header } from "../../arena/layout/header";
import { used } from "../../arena/change/forms";
import { Offset } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { Group } from "../../arena/packed/layout";
import { rewrite, pack } from "../../combine/rebuild/rewrite";
import { cardinality, get, maximum, minimum, rankOf, select } from "../../read/query";
import { set } from "../../write/point";
import { Change } from "../../combine/rebuild/range";
import { changeRange } from "../../write/range";
import { Trial, asOperand, freshArena } from "../support/bitmap-arena";
import { Model } from "../support/bitmap-model";
import { clear, enter, growCount, rounds } from "../world/world";

/** A sorted list of offsets, most of which have a key to themselves, beside memory 0. */
class Far {
  sorted: u64[] = [];

  constructor(private trial: Trial) { freshArena(40); }

  /** How many of the offsets are less than `offset`. */
  below(offset: u64): i32 {
    let from = 0, to = this.sorted.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.sorted[middle] < offset) from = middle + 1; else to = middle;
    }
    return from;
  }

  set(offset: u64, value: u32): void {
    const at = this.below(offset), held = at < this.sorted.length && this.sorted[at] == offset;
    this.trial.steps++;
    this.trial.same(set(offset, value), u64(held), "old value of " + offset.toString());
    if (held && !value) this.sorted.splice(at, 1);
    if (held || !value) return;
    this.sorted.push(offset);
    for (let i = this.sorted.length - 1; i > at; i--) this.sorted[i] = this.sorted[i - 1];
    this.sorted[at] = offset;
  }

  any(): u64 { return this.sorted[this.trial.random.below(this.sorted.length)]; }

  /** Removes all offsets in [low, high]. */
  clear(low: u64, high: u64): void {
    const from = this.below(low), to = high == u64.MAX_VALUE ? this.sorted.length : this.below(high + 1);
    changeRange(Change.CLEAR, low, high, 1);
    this.sorted.splice(from, to - from);
  }

  sound(what: string): void { this.trial.sound(what); }

  /** Checks that memory 0 has exactly the offsets of the list. */
  is(what: string): void {
    const model = new Model();
    for (let i = 0; i < this.sorted.length; i++) model.append(this.sorted[i], this.sorted[i]);
    this.trial.is(model, what);
  }

  /** Checks queries and walks. */
  check(): void {
    const trial = this.trial, count = this.sorted.length;
    this.is("checked");
    trial.same(cardinality(), count, "cardinality");
    if (!count) return;
    trial.same(minimum(), this.sorted[0], "minimum");
    trial.same(maximum(), this.sorted[count - 1], "maximum");
    let entries: u32 = 0, place = Directory.seek<Own>(0);
    for (let i = 0; i < count; i++) {
      const offset = this.sorted[i], key = Offset.key(offset);
      if (i && Offset.key(this.sorted[i - 1]) == key) continue;
      trial.same(Place.entry(place).key<Own>(), key, "advance");
      trial.same(Directory.seek<Own>(key), place, "seek");
      trial.same(changetype<usize>(Directory.find(key)), changetype<usize>(Place.entry(place)), "findEntry");
      trial.same(Directory.membersBefore(key), i, "membersBefore");
      trial.same(changetype<usize>(Directory.ofRank(i)), changetype<usize>(Place.entry(place)),
        "entryOfRank");
      place = Place.next<Own>(place);
      entries++;
    }
    trial.same(place, 0, "place after the last entry");
    trial.same(Directory.entriesExactly<Own>(), entries, "number of entries");
    for (let n = 0; n < 300; n++) {
      const i = trial.random.below(count), offset = this.sorted[i], near = offset + trial.random.below(4) - 2;
      trial.same(select(i), offset, "select");
      trial.same(rankOf(offset), i + 1, "rank");
      const at = this.below(near);
      trial.same(get(near), u64(at < count && this.sorted[at] == near), "get");
      const to = this.any(), found = this.below((Offset.key(max(to, offset))) << 16);
      trial.same(
        Directory.seekFrom<Own>(Directory.seek<Own>(Offset.key(offset)), Offset.key(to)),
        Directory.seek<Own>(Offset.key(this.sorted[found])), "seekFrom",
      );
    }
  }

  /** Leaves that are packed. */
  packed(): u32 {
    let leaves: u32 = 0;
    for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
      leaves += u32(Place.isLastOfLeaf<Own>(place) && Group.is(changetype<Group>(Place.entry(place))));
    }
    return leaves;
  }
}

/** Distributions of offsets. */
const enum Spread { WIDE, CLOSE, TIMES, CLUSTERS, GROUPS, STYLES }

function far(trial: Trial, spread: Spread): u64 {
  const random = trial.random;
  if (spread == Spread.WIDE) return (<u64>random.below(0xffffffff) << 32) | random.below(0xffffffff);
  if (spread == Spread.CLOSE) return (<u64>random.below(30000) << 16) + random.below(3);
  if (spread == Spread.GROUPS) return (<u64>random.below(24) << 18) + random.below(65536);
  if (spread == Spread.TIMES) {
    return ((<u64>1700000000000 + random.below(86400000)) << 22) + random.below(1 << 22);
  }
  return (<u64>random.below(6) << random.below(62)) + (<u64>random.below(3000) << 17) + random.below(2);
}

describe("packed leaves", () => {
  it("agree with a sorted list while they grow and shrink", () => {
    const trial = new Trial(420), sizes: i32[] = [3, 60, 1100, 4000];
    for (let spread = 0; spread < Spread.STYLES; spread++) {
      for (let s = 0; s < sizes.length; s++) {
        const list = new Far(trial), size = sizes[s], steps = 3 * size;
        for (let i = 0; i < steps; i++) {
          list.set(far(trial, spread), 1);
          if (i % (size / 3) == 0) list.is("growing");
          if (size < 100) list.sound("growing");
        }
        list.check();
        for (let i = 0; list.sorted.length; i++) {
          list.set(list.any(), 0);
          if (trial.random.below(5) == 0) list.set(far(trial, spread), 1);
          if (i % (size / 3) == 0) list.is("shrinking");
          if (size < 100) list.sound("shrinking");
        }
        trial.same(used(), 16, "bytes in use when empty");
      }
    }
    trial.end();
  });

  it("take ascending and descending offsets", () => {
    const trial = new Trial(421);
    for (let spread = 0; spread < 2; spread++) {
      const up = new Far(trial), step: u64 = spread ? 1 << 20 : 1 << 44;
      for (let i: u64 = 0; i < 20000; i++) up.set(i * step, 1);
      up.check();
      trial.holds(
        used() < <u32>up.sorted.length * 17 / 2, "less than 8.5 bytes a member: " + used().toString(),
      );
      const down = new Far(trial);
      for (let i: u64 = 20000; i; i--) down.set(i * step, 1);
      down.check();
      trial.holds(
        used() < <u32>down.sorted.length * 9, "less than nine bytes a member: " + used().toString(),
      );
    }
    trial.end();
  });

  // A page has room for 126 of these members. One that is split leaves two half-full ones, whatever the order
  // of the members, so there are 63 in each, and 17 bytes a member; in most orders there are about 105. A
  // page passes on at most half of what it holds.
  it("are at least half full in random order", () => {
    const trial = new Trial(422), list = new Far(trial);
    for (let i = 0; i < 20000; i++) {
      list.set(far(trial, Spread.WIDE), 1);
      if (i > 3000 && i % 100 == 0) {
        trial.holds(used() < <u32>i * 18, "less than eighteen bytes a member: " + used().toString());
      }
    }
    list.check();
    trial.holds(list.packed() * 60 < 20000, "pages hold 60 members and more");
    trial.end();
  });

  // 3,000 members take 24 pages at most, each half full, so that the root stays where it is.
  it("grow the arena by a page at a time, and by the room that free lists take", () => {
    const trial = new Trial(428), list = new Far(trial), lists: usize = 288;
    let grown: u32 = 0;
    for (let i = 0; i < 3000; i++) {
      const before = growCount(), full = !Header.isTiny<Own>();
      list.set(trial.random.below(100000000), 1);
      if (!full || growCount() == before) continue;
      grown++;
      trial.holds(<usize>arena.size() <= used() + lists, "no more is reserved: " + used().toString());
    }
    trial.holds(grown > 0, "the arena grows");
    list.check();
    trial.end();
  });

  it("join as they lose members, which takes no memory", () => {
    const trial = new Trial(427), list = new Far(trial);
    while (list.sorted.length < 16000) list.set(far(trial, Spread.WIDE), 1);
    clear();
    while (list.sorted.length > 4000) list.set(list.any(), 0);
    trial.same(growCount(), 0, "number of times the arena grew");
    list.check();
    // Two pages side by side have more than three quarters of a page together,
    // or each of them half of what an ordinary leaf holds.
    const held = used() - <u32>Header.freed();
    trial.holds(held < 4000 * 28, "less than 28 bytes a member: " + held.toString());
    for (let i = 0; i < 3000; i++) list.set(far(trial, Spread.WIDE), 1);
    list.check();
    trial.end();
  });

  it("become ordinary where a container gets a second member, and are packed again when they grow", () => {
    const trial = new Trial(423);
    for (let spread = 0; spread < Spread.STYLES; spread++) {
      const list = new Far(trial);
      let packed: u32 = 0;
      for (let i = 0; i < 8000; i++) {
        list.set(far(trial, spread), 1);
        const beside = list.any() ^ (1 + trial.random.below(3));
        if (i % 74 == 0) {
          list.set(beside, 1);
          if (trial.random.below(3)) list.set(beside, 0);
        }
        if (i % 400 == 0) list.is("with pairs");
        if (i > 1000 && i % 100 == 0) packed += list.packed();
      }
      list.check();
      if (spread == Spread.WIDE || spread == Spread.TIMES) {
        trial.holds(packed > 0 && !Header.isTiny<Own>(), "leaves are packed at times");
      }
    }
    trial.end();
  });

  it("can be cleared in ranges without memory", () => {
    const trial = new Trial(424);
    for (let spread = 0; spread < Spread.STYLES; spread++) {
      for (let size = 2; size < 9000; size = size * 2 + 1) {
        const list = new Far(trial);
        for (let i = 0; i < size; i++) list.set(far(trial, spread), 1);
        for (let n = 0; n < rounds(30) && list.sorted.length; n++) {
          const low = list.any() + trial.random.below(3) - 1;
          const near = min(list.below(low) + 20, list.sorted.length - 1);
          list.clear(low, max(low, trial.random.below(4) ? list.sorted[near] : list.any()));
          list.is("cleared");
        }
      }
    }
    trial.end();
  });

  it("are kept and made when bitmaps are rewritten and packed", () => {
    const trial = new Trial(425);
    for (let spread = 0; spread < Spread.STYLES; spread++) {
      for (let size = 2; size < 9000; size = size * 2 + 1) {
        const list = new Far(trial), pairs = trial.random.below(2) * size / 300;
        for (let i = 0; i < size; i++) list.set(far(trial, spread), 1);
        for (let i: u32 = 0; i < pairs; i++) list.set(list.any() ^ 1, 1);
        for (let packs = 0; packs < 2; packs++) {
          clear();
          asOperand();
          freshArena(40 + trial.random.below(5000));
          if (packs) pack(); else rewrite(u32.MAX_VALUE);
          enter();
          list.check();
        }
        if ((spread == Spread.WIDE || spread == Spread.TIMES) && size > 2000 && !pairs) {
          trial.holds(used() < <u32>size * 10, "10 bytes a member");
        }
        for (let i = 0; i < 50;
          i++) list.set(Offset.low(i) % 2 ? far(trial, spread) : list.any(), u32(i) % 2);
        list.is("changed afterwards");
      }
    }
    trial.end();
  });
});
