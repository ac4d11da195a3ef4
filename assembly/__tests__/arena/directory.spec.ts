import { Left, Own, Right } from "../../env/view";
import { left, right } from "../../env/memory";
import { Header } from "../../arena/layout/header";
import { used, promoteContainer } from "../../arena/change/forms";
import { Entry } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { insertEntry, adjust } from "../../arena/change/insert";
import { removeEntry } from "../../arena/change/remove";
import { Node } from "../../arena/layout/node";
import { Trial, asOperand, freshArena } from "../support/bitmap-arena";
import { Model, range } from "../support/bitmap-model";

/**
 * A model of a directory with up to `size` keys, `step` apart.
 * Every third key has a FULL entry of up to `step` containers.
 */
class Keys {
  present: StaticArray<bool>;
  count: u32 = 0;

  constructor(private trial: Trial, public size: u32, private step: u64 = 9) {
    this.present = new StaticArray<bool>(size);
    freshArena(40);
  }

  key(i: u32): u64 { return 3 + <u64>i * this.step; }
  span(i: u32): u64 { return i % 3 == 2 ? 1 + <u64>(i / 3) % this.step : 1; }
  last(i: u32): u64 { return this.key(i) + this.span(i) - 1; }
  cardinality(i: u32): u64 { return i % 3 == 2 ? this.span(i) << 16 : 1 + i % 3; }

  insert(i: u32): void {
    if (this.present[i]) return;
    if (Header.isTiny<Own>()) promoteContainer();
    const entry = insertEntry(this.key(i));
    if (i % 3 == 2) {
      entry.setFull(this.span(i));
    } else if (i % 3) {
      entry.setPair(7, 9);
    } else {
      entry.setSingle(5);
    }
    adjust(this.key(i), this.cardinality(i));
    this.present[i] = true;
    this.count++;
  }

  remove(i: u32): void {
    if (!this.present[i]) return;
    adjust(this.key(i), -<i64>this.cardinality(i));
    removeEntry(this.key(i));
    this.present[i] = false;
    this.count--;
    this.trial.holds(
      !Node.root<Own>().level<Own>() || Node.root<Own>().count<Own>() > 1,
      "the root is a leaf or has two children",
    );
  }

  /** The first present key from `i` on, `size` if there is none. */
  next(i: u32): u32 {
    while (i < this.size && !this.present[i]) i++;
    return i;
  }

  /** The first present key whose entry stands for `key` or a greater one. */
  from(key: u64): u32 {
    const i = key < this.key(0) ? <u32>0 : <u32>min<u64>((key - this.key(0)) / this.step, this.size);
    return this.next(i < this.size && this.last(i) < key ? i + 1 : i);
  }

  model(): Model {
    const model = new Model();
    for (let i: u32 = 0; i < this.size; i++) {
      if (!this.present[i]) continue;
      const base = this.key(i) << 16;
      if (i % 3 == 2) model.append(base, ((this.last(i) + 1) << 16) - 1);
      else if (i % 3) model.append(base + 7, base + 7).append(base + 9, base + 9);
      else model.append(base + 5, base + 5);
    }
    return model;
  }

  /** Checks that `place` is the entry of key `i`, or the end if `i` is `size`. */
  private at(place: u64, i: u32, what: string): void {
    if (i == this.size) this.trial.same(place, 0, what + " at the end");
    else if (!place || Place.entry(place).key<Own>() != this.key(i)) {
      this.trial.fail(what + ": not the entry of key " + this.key(i).toString());
    }
  }

  /** Checks that the directory finds and lists exactly the present keys. */
  check(): void {
    const trial = this.trial;
    trial.is(this.model(), "directory");
    trial.same(Directory.entriesHeld<Own>(), this.count, "number of entries");
    let members: u64 = 0, place = Directory.seek<Own>(0), last = this.size;
    for (let i: u32 = 0; i < this.size; i++) {
      const key = this.key(i), before = last;
      if (this.present[i]) {
        this.at(place, i, "advance");
        place = Place.next<Own>(place);
        last = i;
      }
      // The key before this one, unless the previous entry could stand for it; this key; the next.
      for (let k = i && key - this.last(i - 1) < 2 ? key : key - 1; k <= key + 1; k++) {
        const found = Directory.find(k), wanted = k >= key && k <= this.last(i) && this.present[i];
        if (wanted) trial.holds(changetype<usize>(found) != 0 && found.key<Own>() == key,
          "findEntry finds a present key");
        else if (k >= key || !i || k > this.last(i - 1)) trial.same(changetype<usize>(found), 0,
          "findEntry of an absent key");
        const within = wanted ? (k - key) << 16 : k > key && this.present[i] ? this.cardinality(i) : 0;
        trial.same(Directory.membersBefore(k), members + within, "membersBefore");
        this.at(Directory.seek<Own>(k), this.from(k), "seek");
        this.at(Directory.seekBack<Own>(k), k >= key && this.present[i] ? i : before, "seekBack");
      }
      this.at(Directory.seek<Own>(this.last(i)), this.from(this.last(i)), "seek of a span's last");
      if (this.present[i]) {
        trial.same(changetype<usize>(Directory.find(this.last(i))), changetype<usize>(Directory.find(key)),
          "findEntry of a span's last");
        trial.same(Directory.ofRank(members).key<Own>(), key, "entryOfRank of an entry's first member");
        members += this.cardinality(i);
        trial.same(Directory.ofRank(members - 1).key<Own>(), key, "entryOfRank of an entry's last member");
      }
    }
    trial.same(place, 0, "place after the last entry");
    trial.same(Directory.cardinality<Own>(), members, "cardinality");
    this.at(Directory.seekBack<Own>(u64.MAX_VALUE), last, "seekBack of more than every key");
    if (last == this.size) trial.same(changetype<usize>(Directory.last<Own>()), 0,
      "last entry of an empty directory");
    else trial.same(Directory.last<Own>().key<Own>(), this.key(last), "key of the last entry");
    trial.same(Directory.membersBefore(this.key(this.size)), members, "membersBefore behind the last key");
    trial.same(changetype<usize>(Directory.find(this.key(this.size))), 0, "findEntry behind the last key");
  }

  /** Checks Directory.seekFrom() from random places to near and far keys. */
  checkSeekFrom(): void {
    const random = this.trial.random;
    for (let n = 0; n < 3000 && this.count; n++) {
      const i = this.next(random.below(this.size));
      if (i == this.size) continue;
      const key = random.below(20)
        ? this.key(i) + random.below(<u32>this.step << random.below(12))
        : u64.MAX_VALUE;
      this.at(Directory.seekFrom<Own>(Directory.seek<Own>(this.key(i)), key),
        this.from(max(key, this.key(i))), "seekFrom");
    }
  }
}

/** The number of leaves below the node. Adds the number of full ones to `fullLeaves`. */
let fullLeaves: u32 = 0;
function leavesOf(node: Node): u32 {
  if (!node.level<Own>()) {
    fullLeaves += u32(node.count<Own>() == Node.LEAF_MAX);
    return 1;
  }
  let leaves: u32 = 0;
  for (let i: u32 = 0; i < node.count<Own>(); i++) leaves += leavesOf(node.slotAt(i).child<Own>());
  return leaves;
}

/** All numbers below `size` in random order. */
function shuffled(trial: Trial, size: u32): u32[] {
  const all = new Array<u32>(size);
  for (let i: u32 = 0; i < size; i++) {
    const j = trial.random.below(i + 1);
    all[i] = all[j];
    all[j] = i;
  }
  return all;
}

/** More entries than a directory of two levels holds. */
const MANY: u32 = Node.LEAF_MAX * Node.INNER_MAX + 1000;

describe("the directory", () => {
  it("fills its leaves when keys are inserted in ascending order", () => {
    // The next insertion splits a full inner node, even if the leaf has room.
    const trial = new Trial(400);
    const keys = new Keys(trial, MANY);
    const most: u32[] = [1, Node.LEAF_MAX, Node.LEAF_MAX * (Node.INNER_MAX - 1) + 1];
    for (let i: u32 = 0; i < MANY; i++) {
      trial.steps = i;
      keys.insert(i);
      const count = i + 1, level: u32 = count > most[2] ? 2 : count > most[1] ? 1 : 0;
      trial.same(Node.root<Own>().level<Own>(), level, "level");
      for (let m = 0; m < 3; m++) {
        if (count >= most[m] - 1 && count <= most[m] + 1) trial.sound("near the most entries of a level");
      }
    }
    fullLeaves = 0;
    trial.same(leavesOf(Node.root<Own>()), (MANY + Node.LEAF_MAX - 1) / Node.LEAF_MAX, "number of leaves");
    trial.same(fullLeaves, MANY / Node.LEAF_MAX, "number of full leaves");
    keys.check();
    keys.checkSeekFrom();
    for (let i: u32 = 0; i < MANY; i++) {
      keys.remove(i);
      if (i % 5000 == 0 || i > MANY - 5) trial.is(keys.model(), "removing from the front");
    }
    trial.same(used(), 16, "bytes in use when empty");
    trial.end();
  });

  it("holds keys that are inserted and removed in descending order", () => {
    const trial = new Trial(401), keys = new Keys(trial, MANY);
    for (let i = MANY; i; i--) {
      trial.steps = i;
      keys.insert(i - 1);
      if (keys.count % 5000 == Node.LEAF_MAX + 1) trial.is(keys.model(), "inserting");
    }
    trial.same(Node.root<Own>().level<Own>(), 2, "level");
    keys.check();
    for (let i = MANY; i; i--) {
      keys.remove(i - 1);
      if (i % 5000 == 0 || i < 5) trial.is(keys.model(), "removing from the back");
    }
    trial.same(used(), 16, "bytes in use when empty");
    trial.end();
  });

  it("holds keys that are inserted and removed in random order", () => {
    const trial = new Trial(402), keys = new Keys(trial, MANY);
    let order = shuffled(trial, MANY);
    for (let i: u32 = 0; i < MANY; i++) {
      keys.insert(order[i]);
      if (i % 4000 == 0) trial.is(keys.model(), "inserting");
    }
    trial.same(Node.root<Own>().level<Own>(), 2, "level");
    trial.holds(
      used() - <u32>Header.freed() < MANY * 26, "leaves are at least half full: " + used().toString(),
    );
    keys.check();
    keys.checkSeekFrom();
    order = shuffled(trial, MANY);
    for (let i: u32 = 0; i < MANY; i++) {
      keys.remove(order[i]);
      if (i % 4000 == 0 || i > MANY - 20) trial.is(keys.model(), "removing");
      if (i == MANY / 2 || i == MANY - 300) { keys.check(); keys.checkSeekFrom(); }
    }
    trial.same(used(), 16, "bytes in use when empty");
    trial.end();
  });

  it("nearly fills its leaves when keys are inserted in nearly ascending order", () => {
    const trial = new Trial(407), keys = new Keys(trial, 10000), near: u32 = 16;
    for (let from: u32 = 0; from < keys.size; from += near) {
      const order = shuffled(trial, near);
      for (let i: u32 = 0; i < near; i++) keys.insert(from + order[i]);
      if (from % 400 == 0) trial.is(keys.model(), "inserting");
    }
    keys.check();
    trial.holds(used() < keys.count * 18, "leaves are about two thirds full and more: " + used().toString());
    trial.end();
  });

  it("is valid after each of many random changes", () => {
    const trial = new Trial(403), sizes: u32[] = [1, 2, 3, 20, Node.LEAF_MAX, Node.LEAF_MAX + 1, 600, 1500];
    for (let s = 0; s < sizes.length; s++) {
      const keys = new Keys(trial, sizes[s], s % 2 ? 9 : 1 << 33);
      let grows = true;
      for (let i = 0; i < 1500; i++) {
        trial.steps++;
        if (keys.count == sizes[s]) grows = false;
        if (!keys.count) grows = true;
        const at = trial.random.below(sizes[s]);
        if (grows == (trial.random.below(5) != 0)) keys.insert(at); else keys.remove(at);
        trial.sound("changing");
        if (i % 150 == 0) { keys.check(); keys.checkSeekFrom(); }
      }
    }
    trial.end();
  });

  it("takes keys that fall between those of full leaves", () => {
    const trial = new Trial(404), size: u32 = 6 * Node.LEAF_MAX, keys = new Keys(trial, size);
    for (let i: u32 = 0; i < size; i += 2) keys.insert(i);
    const order = shuffled(trial, size);
    for (let i: u32 = 0; i < size; i++) {
      keys.insert(order[i]);
      trial.sound("filling gaps");
    }
    keys.check();
    trial.end();
  });

  it("reads an operand in the same way as memory 0", () => {
    const trial = new Trial(405), sizes: u32[] = [0, 1, 2, 300, 40000];
    for (let s = 0; s < sizes.length; s++) {
      const keys = new Keys(trial, sizes[s]);
      for (let i: u32 = 0; i < sizes[s]; i++) if (i % 7) keys.insert(i);
      const k = asOperand();
      freshArena(40);
      left.select(k);
      right.select(k);
      trial.same(Directory.entriesHeld<Right>(), keys.count, "number of entries");
      trial.same(Directory.cardinality<Left>(), keys.model().cardinality(), "cardinality");
      let place = Directory.seek<Right>(0), other = Directory.seek<Left>(0), leaves = 0;
      for (let i = keys.next(0); i < keys.size; i = keys.next(i + 1)) {
        const entry = Place.entry(place);
        trial.same(entry.key<Right>(), keys.key(i), "key");
        trial.same(entry.lastKey<Left>(), keys.last(i), "last key");
        trial.same(entry.cardinality<Right>(), keys.cardinality(i), "cardinality");
        trial.same(other, place, "place in the left view and in the right");
        leaves += i32(Place.isLastOfLeaf<Own>(place));
        if (i % 500 == 1) {
          trial.same(Directory.seekFrom<Right>(Directory.seek<Right>(0), keys.key(i)), place, "seekFrom");
        }
        place = Place.next<Right>(place);
        other = Place.next<Left>(other);
      }
      trial.same(place, 0, "place after the last entry");
      trial.same(leaves, (keys.count + Node.LEAF_MAX - 1) / Node.LEAF_MAX, "number of leaves");
      trial.same(u32(changetype<usize>(Directory.last<Right>()) != 0), u32(keys.count != 0),
        "whether there is a last entry");
    }
    trial.end();
  });

  it("holds the greatest possible key and ends there", () => {
    const trial = new Trial(406), last: u64 = 0xffffffffffff;
    promoteContainer();
    insertEntry(last).setSingle(1);
    adjust(last, 1);
    trial.same(Place.next<Own>(Directory.seek<Own>(last)), 0, "place after the only entry");
    insertEntry(4).setSingle(1);
    adjust(4, 1);
    const first = last - Entry.SPAN_MAX;
    insertEntry(first).setFull(Entry.SPAN_MAX);
    adjust(first, Entry.SPAN_MAX << 16);
    const model = range((4 << 16) + 1, (4 << 16) + 1).append(first << 16, (last << 16) - 1).append(
      (last << 16) + 1, (last << 16) + 1,
    );
    trial.is(model, "three entries");
    trial.same(changetype<usize>(Place.entry(Directory.seek<Own>(last))),
      changetype<usize>(Directory.last<Own>()), "seek of the greatest key");
    trial.same(Place.next<Own>(Directory.seek<Own>(last)), 0, "place after the last entry");
    trial.same(
      changetype<usize>(Place.entry(Directory.seekFrom<Own>(Directory.seek<Own>(0), last))),
      changetype<usize>(Directory.last<Own>()), "seekFrom to the greatest key",
    );
    trial.same(Directory.seekFrom<Own>(Directory.seek<Own>(0), u64.MAX_VALUE), 0,
      "seekFrom beyond the greatest key");
    trial.same(
      changetype<usize>(Place.entry(Place.next<Own>(Directory.seek<Own>(0))))
      - changetype<usize>(Place.entry(Directory.seek<Own>(0))),
      Entry.BYTES, "distance of neighboring entries",
    );
    trial.end();
  });
});
