import { arena } from "../../env/memory";
import { Own } from "../../env/view";
import { Header } from "../../arena/layout/header";
import { used, wasteful } from "../../arena/change/forms";
import { Directory, Place } from "../../arena/read/directory";
import { Entry } from "../../arena/layout/entry";
import { Node } from "../../arena/layout/node";
import { LEAF_LEAST } from "../../arena/builder/waiting";
import { pack, rewrite, slice } from "../../combine/rebuild/rewrite";
import { set } from "../../write/point";
import { Form, Trial, asOperand, build, freshArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, Style, anyModel, appendContainer, plainOf, range, runsOf, runsWithin,
} from "../support/bitmap-model";
import { clear, enter, memberAt, members } from "../world/world";
import { Kind } from "../../container/kind";

/** The most bytes skipped before a block of 8192 bytes to start it on a cache line. */
const GAP: usize = 56;

/** The number of containers in memory 0 that take a block of 8192 bytes. */
function largeBlocks(): u32 {
  let large: u32 = 0;
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    large += u32(Place.entry(place).payloadBytes<Own>() > 7680);
  }
  return large;
}

/** The number of leaves in memory 0. */
function countLeaves(): u32 {
  let leaves: u32 = 0;
  for (let place = Directory.seek<Own>(0); place;
    place = Place.next<Own>(place)) leaves += u32(Place.isLastOfLeaf<Own>(place));
  return leaves;
}

/** Bytes by which rewriting makes the ordinary leaves of memory 0 larger: half-full ones get room for more. */
function roomToCome(): usize {
  let room: usize = 0, entries: u32 = 0;
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    entries++;
    if (!Place.isLastOfLeaf<Own>(place)) continue;
    if (entries >= LEAF_LEAST && !Place.entry(place).isGroup()) {
      const bytes = Node.HEADER + <usize>entries * Entry.BYTES;
      room += Node.ROOMY_BYTES - changetype<Node>(<usize>(place >> 32) - bytes).ordinaryBytes();
    }
    entries = 0;
  }
  return room;
}

/** Replaces memory 0 by a rewritten copy and checks it. `model` has the members of memory 0. */
function rewriteAll(trial: Trial, model: Model): void {
  trial.steps++;
  const before = used(), gaps = GAP * largeBlocks(), leavesBefore = countLeaves();
  const room = roomToCome();
  clear();
  asOperand();
  freshArena(40);
  rewrite(u32.MAX_VALUE);
  enter();
  trial.is(model, "rewritten");
  trial.holds(used() <= before + <u32>(gaps + room), "rewriting uses no more bytes");
  trial.holds(
    Header.isTiny<Own>() || Header.isPaged() || Header.freed() <= gaps,
    "the only free bytes are those skipped before bitsets",
  );
  trial.same(wasteful(), 0, "wasteful");
  trial.holds(Header.isPaged() || countLeaves() <= leavesBefore, "rewriting makes no more ordinary leaves");
}

/**
 * Replaces memory 0 by a packed copy and checks that each container has its
 * smallest kind and the leaves are full.
 */
function packAll(trial: Trial, model: Model): void {
  trial.steps++;
  clear();
  asOperand();
  freshArena(40);
  rewrite(u32.MAX_VALUE);
  const rewritten = used() + <u32>(GAP * largeBlocks());
  freshArena(40);
  enter();
  pack();
  enter();
  trial.is(model, "packed");
  trial.holds(used() <= rewritten, "packing uses no more bytes than rewriting");
  if (Header.isTiny<Own>()) return;
  // even as runs it would take more bytes in a full arena
  let entries: u32 = 0;
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    const entry = Place.entry(place), kind = entry.kind<Own>(), bytes = entry.payloadBytes<Own>();
    entries++;
    trial.holds(
      kind != Kind.BITSET || entry.count<Own>() > 4096, "no bitset is packed that could be an array",
    );
    if (kind == Kind.RUNS) {
      trial.holds(
        bytes <= plainOf(entry.count<Own>()), "runs are packed only if no other kind is smaller",
      );
    }
    if (kind == Kind.ARRAY || kind == Kind.SPARSE || kind == Kind.BITSET) {
      trial.holds(
        bytes <= runsOf(runsWithin(model, entry.key<Own>())),
        "another kind is packed only if runs are no smaller",
      );
    }
  }
  trial.same(countLeaves(), (entries + Node.LEAF_MAX - 1) / Node.LEAF_MAX, "number of leaves");
}

/** Makes thousands of random changes, so that blocks move and are freed. */
function age(trial: Trial, model: Model, step: u64): void {
  const random = trial.random;
  for (let burst = 0; burst < 60; burst++) {
    const value = random.below(2), count = random.below(200);
    let offset = (<u64>random.below(400) * step << 16) + random.below(65536);
    for (let i: u32 = 0; i < count; i++) {
      if (random.below(4) == 0) offset = (<u64>random.below(400) * step << 16) + random.below(65536);
      if (value) model.add(offset); else model.remove(offset);
      set(offset++, value);
    }
  }
}

describe("rewriting and packing", () => {
  it("keeps the members of containers of all kinds", () => {
    const trial = new Trial(700);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        const model = new Model();
        appendContainer(model, 1, style, trial.random);
        if (form) appendContainer(model, 2, trial.random.below(Style.STYLES), trial.random);
        build(model, form, trial.random);
        rewriteAll(trial, model);
        build(model, form, trial.random);
        packAll(trial, model);
      }
    }
    trial.end();
  });

  it("stores a few consecutive members in the smallest way", () => {
    const trial = new Trial(704);
    for (let first: u64 = 0; first < 4; first++) {
      for (let count: u64 = 1; count < 80; count++) {
        const model = range(first << 15, (first << 15) + count - 1);
        for (let form: i32 = 0; form < Form.FORMS; form++) {
          build(model, form, trial.random);
          packAll(trial, model);
        }
      }
    }
    trial.end();
  });

  it("keeps the empty bitmap and the bitmap of all offsets", () => {
    const trial = new Trial(701);
    const models: Model[] = [new Model(), range(0, OFFSET_MAX), range(1, OFFSET_MAX - 1)];
    for (let i = 0; i < models.length; i++) {
      build(models[i], Form.PLAIN, trial.random);
      rewriteAll(trial, models[i]);
      packAll(trial, models[i]);
    }
    trial.end();
  });

  it("removes the free blocks that changes left, again and again", () => {
    const trial = new Trial(702);
    let wasted = 0;
    for (let round = 0; round < 12; round++) {
      const step: u64 = round % 2 ? 1 : KEY_MAX / 400;
      const model = round % 3 ? anyModel(0, step, 20, trial.random) : new Model();
      build(model, Form.EITHER, trial.random);
      for (let i = 0; i < 8; i++) {
        age(trial, model, step);
        trial.is(model, "aged");
        wasted += wasteful();
        if (i % 3 == 2) packAll(trial, model); else rewriteAll(trial, model);
      }
    }
    trial.occurred(wasted, "an arena is wasteful");
    trial.end();
  });

  it("keeps half-full leaves when rewriting and fills them when packing", () => {
    const trial = new Trial(703), model = new Model();
    freshArena(40);
    // Descending order splits leaves in halves.
    for (let i: u64 = 60005; i > 5; i--) set(i / 6 << 18 | i % 6, 1);     // fewer together would be packed
    for (let i: u64 = 1; i <= 10000; i++) model.append(i << 18, i << 18 | 5);
    const before = countLeaves();
    trial.holds(before > 10000 / Node.LEAF_MAX * 3 / 2, "leaves are no more than two thirds full");
    rewriteAll(trial, model);
    trial.same(countLeaves(), before, "number of leaves after rewriting");
    packAll(trial, model);
    trial.end();
  });
});

describe("slices", () => {
  it("together have all members, and take memory for their own containers only", () => {
    const trial = new Trial(705), model = anyModel(0, 1, 30, trial.random);
    const sizes: u32[] = [1, 17, 400, 5000], singles: u64 = 1000;
    model.append(100 << 16, (singles << 16) - 2);
    for (let key = singles; key < 5000; key++) model.append((key << 16) + 7, (key << 16) + 7);
    model.append(OFFSET_MAX, OFFSET_MAX);
    build(model, Form.EITHER, trial.random);
    clear();
    asOperand();
    for (let i = 0; i < sizes.length; i++) {
      for (let key: u64 = 0, more: u32 = 1; more;) {
        const first = key << 16;
        freshArena(40);
        more = slice(key, sizes[i]);
        key = memberAt(members() - 1);
        enter();
        const last = more ? (key << 16) - 1 : OFFSET_MAX, part = new Model();
        for (let n = max(model.find(first), 0); n < model.intervals && model.low(n) <= last; n++) {
          if (model.high(n) >= first) part.append(max(model.low(n), first), min(model.high(n), last));
        }
        trial.steps++;
        trial.is(part, "slice");
        if (first >= singles << 16) {
          trial.holds(arena.size() <= 2500 + 4 * sizes[i], "bytes for a slice: " + arena.size().toString());
        }
        // Few of the many small slices are enough.
        if (sizes[i] < 400 && key > singles) key = max(key, 4990);
      }
    }
    trial.end();
  });
});
