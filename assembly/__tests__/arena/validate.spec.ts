import { arena } from "../../env/memory";
import { Own } from "../../env/view";
import { Fault } from "../../env/fault";
import { Header } from "../../arena/layout/header";
import { Entry, Offset } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { validate } from "../../arena/validate";
import { Node, Slot } from "../../arena/layout/node";
import { set } from "../../write/point";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { Model, Style, appendContainer, range } from "../support/bitmap-model";
import { addOperandCopy, clear, operandAt, setArenaSize } from "../world/world";
import { Kind } from "../../container/kind";

// Positions of fields, from the layout comments of arena/layout/header.ts and arena/layout/node.ts.
const CARDINALITY: usize = 8, BUMP: usize = 16, FREED: usize = 20;
const LISTS: usize = 24, ENTRIES: usize = 28, HELD: usize = 32;
const HEADS: usize = 8, SLOT_KEY: usize = 0, SLOT_CHILD: usize = 8, SLOT_CARDINALITY: usize = 12;

/**
 * Builds a sound arena with a directory of two levels, containers of all kinds and free blocks.
 * Operand 0 is a copy of it.
 */
function prepare(): void {
  const trial = new Trial(800), model = new Model();
  for (let style = 0; style < Style.STYLES; style++) {
    appendContainer(model, 10 + 2 * <u64>style, style, trial.random);
  }
  for (let key: u64 = 100; key < 700; key++) model.append(key << 16, (key << 16) + key % 5 * 3);
  model.append((Offset.KEY_MAX - 5) << 16, ((Offset.KEY_MAX - 2) << 16) - 1);
  do build(model, Form.EITHER, trial.random);
  while (!firstOf(Kind.SPARSE) || !firstOf(Kind.RUNS) || !firstOf(Kind.SHORT));
  for (let key: u64 = 200; key < 260; key++) {                // containers grow and leave free blocks behind
    for (let low: u64 = 100; low < 160; low += 2) set((key << 16) + low, 1);
  }
  clear();
  addOperandCopy(0, arena.size());
  trial.same(validate(), Fault.NONE, "fault of the arena");
  trial.same(Node.root<Own>().level<Own>(), 1, "level of the root");
  trial.holds(load<u64>(load<u32>(LISTS)) != 0, "there are free blocks");
  trial.holds(load<u32>(BUMP) + 8 <= arena.size(), "there is room above the bump mark");
  trial.holds(load<u32>(BUMP) < 262144, "65,535 runs do not fit below the bump mark");
  trial.end();
}

function restore(): void { memory.copy(0, operandAt(0), arena.size()); }

/** Checks that validate() finds that fault in the damaged arena, then restores the arena from the copy. */
function findsThenRestores(fault: Fault, what: string): void {
  expect(validate()).toBe(fault, what);
  restore();
  expect(validate()).toBe(Fault.NONE, "restored after: " + what);
}

/** The first entry of that kind, 0 if there is none. */
function firstOf(kind: Kind): usize {
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    if (Place.entry(place).kind<Own>() == kind) return changetype<usize>(Place.entry(place));
  }
  return 0;
}

/** The first entry of that kind, of which there is one. */
function entryOf(kind: Kind): Entry {
  const found = firstOf(kind);
  return changetype<Entry>(found || unreachable());
}

function root(): usize { return changetype<usize>(Node.root<Own>()); }
function slot(i: u32): usize { return changetype<usize>(changetype<Node>(root()).slotAt(i)); }
function leaf(i: u32): usize { return changetype<usize>(changetype<Slot>(slot(i)).child<Own>()); }
/** Entry `i` of leaf 1. The keys there are consecutive, and the containers have one or a few members. */
function entry(i: u32): usize { return leaf(1) + 4 + 12 * <usize>i; }

/** The last entry of the leaf at `node`. */
function lastOf(node: Node): usize {
  return changetype<usize>(node) + 4 + 12 * (<usize>load<u16>(changetype<usize>(node), 2) - 1);
}
/** Changes the first key of leaf 1, and of its slot. */
function beginLeaf(key: u64): void {
  store<u64>(slot(1) + SLOT_KEY, key);
  store<u64>(entry(0), (load<u64>(entry(0)) & ~Offset.KEY_MAX) | key);
}

function add32(at: usize, change: i32): void { store<u32>(at, load<u32>(at) + change); }
function add64(at: usize, change: i64): void { store<u64>(at, load<u64>(at) + change); }

/** Builds a tiny arena of `count` members that are `apart` apart. */
function tiny(count: u32, apart: u32 = 1000): void {
  freshArena(200);
  for (let i: u32 = 0; i < count; i++) set(70000 + i * apart, 1);
  expect(validate()).toBe(Fault.NONE);
}

/** Builds an arena of `count` lone members, `step` apart. */
function far(count: u64, step: u64): void {
  clear();
  freshArena(200);
  for (let i: u64 = 0; i < count; i++) set(i * step, 1);
  expect(validate()).toBe(Fault.NONE);
}

/** Checks that validate() finds that fault. */
function finds(fault: Fault, what: string): void { expect(validate()).toBe(fault, what); }

describe("validate", () => {
  it("finds no fault in a sound arena and does not change it", () => {
    prepare();
    expect(validate()).toBe(Fault.NONE);
    expect(memory.compare(0, operandAt(0), arena.size())).toBe(0);
  });

  it("finds each fault of a header", () => {
    prepare();
    store<u8>(0, 2);
    findsThenRestores(Fault.UNKNOWN_FORM, "unknown form 2");
    store<u8>(0, 255);
    findsThenRestores(Fault.UNKNOWN_FORM, "unknown form 255");
    store<u32>(BUMP, arena.size() + 8);
    findsThenRestores(Fault.BUMP_OUTSIDE, "a bump mark above the arena");
    store<u32>(BUMP, 32);
    findsThenRestores(Fault.BUMP_OUTSIDE, "a bump mark in the header");
    store<u32>(HELD, 8);
    findsThenRestores(Fault.HELD_BACK, "bytes held back");
    store<u8>(1, 1);
    findsThenRestores(Fault.UNKNOWN_FORM, "a second byte that is not 0");
    add64(CARDINALITY, 1);
    findsThenRestores(Fault.TOTAL_CARDINALITY, "a total cardinality that is too large by one");
    add64(CARDINALITY, -1);
    findsThenRestores(Fault.TOTAL_CARDINALITY, "a total cardinality that is too small by one");
    add32(ENTRIES, 1);
    findsThenRestores(Fault.TOTAL_ENTRIES, "an entry total that is too large by one");
    add32(ENTRIES, -1);
    findsThenRestores(Fault.TOTAL_ENTRIES, "an entry total that is too small by one");
    const size = arena.size();
    setArenaSize(load<u32>(BUMP) - 1);
    expect(validate()).toBe(Fault.BUMP_OUTSIDE, "an arena that ends below the bump mark");
    setArenaSize(39);
    expect(validate()).toBe(Fault.BUMP_OUTSIDE, "an arena smaller than a header");
    setArenaSize(size);
  });

  it("finds each fault of a tiny arena", () => {
    tiny(60, 3);
    store<u8>(1, 1);
    finds(Fault.NOT_TINY, "a second byte that is not 0");
    tiny(60, 3);
    store<u16>(2, 2);
    finds(Fault.NOT_TINY, "two entries");
    for (let kind: i32 = Kind.ARRAY; kind <= Kind.FULL; kind++) {
      if (kind == Kind.SHORT) continue;
      tiny(60, 3);
      store<u8>(15, <u8>(kind << 5));
      finds(Fault.NOT_TINY, "a container of kind " + kind.toString());
    }
  });

  it("finds each fault of a packed leaf", () => {
    const wide: u64 = 1 << 40, form = 1, count = 2, base = 4;
    far(20, wide);                            // without a base: lows are at 4, highs of four bytes at 44
    finds(Fault.NONE, "none");
    store<u8>(form, 16 + 7);
    finds(Fault.NOT_TINY, "highs of seven bytes");
    far(20, wide);
    store<u8>(form, 64 + 16 + 4);
    finds(Fault.NOT_TINY, "an unknown form");
    far(20, wide);
    store<u16>(count, 1);
    finds(Fault.NOT_TINY, "a single member with a high, but no base");
    far(20, wide);
    store<u16>(count, 1024);
    finds(Fault.NOT_TINY, "1024 members");
    far(20, wide);
    store<u16>(count, 1000);
    finds(Fault.BUMP_OUTSIDE, "members behind the arena");
    far(20, wide);
    store<u32>(48, load<u32>(44));
    finds(Fault.DIRECTORY_NOT_ASCENDING, "a member that occurs twice");
    tiny(32);                                 // all of one container: with a base, and without highs
    store<u16>(12, load<u16>(14));
    finds(Fault.DIRECTORY_NOT_ASCENDING, "a low that occurs twice");
    tiny(32);
    store<u64>(base, Offset.KEY_MAX + 1);
    finds(Fault.KEY_TOO_GREAT, "a base that is no key");

    far(3000, wide);
    const size = arena.size();
    addOperandCopy(0, size);
    const page = Node.root<Own>().slotAt(0).child<Own>();
    store<u8>(2, 0);
    findsThenRestores(Fault.NODE_LEVEL, "pages in an arena that should have none");
    store<u8>(changetype<usize>(page) + form, 16 + 7);
    findsThenRestores(Fault.NODE_LEVEL, "highs of seven bytes in a page");
    store<u8>(changetype<usize>(page) + form, load<u8>(changetype<usize>(page) + form) & ~32);
    findsThenRestores(Fault.NODE_COUNT, "a page without a base");
    store<u16>(changetype<usize>(page) + count, 0);
    findsThenRestores(Fault.NODE_COUNT, "a page without members");
    store<u16>(changetype<usize>(page) + count, 400);
    findsThenRestores(Fault.NODE_COUNT, "a page with more members than it has room for");
    store<u64>(changetype<usize>(page) + base, load<u64>(changetype<usize>(page) + base) + 1);
    findsThenRestores(Fault.SLOT_KEY, "a page whose slot has another key");
    add64(changetype<usize>(Node.root<Own>().slotAt(0)) + SLOT_CARDINALITY, 1);
    findsThenRestores(Fault.SLOT_CARDINALITY, "a page with a member less than its slot counts");
    const members = <usize>load<u16>(changetype<usize>(page) + count),
      width = <usize>load<u8>(changetype<usize>(page) + form) & 7;
    for (let i: usize = 0; i < 65; i++) store<u16>(changetype<usize>(page) + 12 + 2 * i, <u16>i);
    memory.fill(changetype<usize>(page) + 12 + 2 * members, 0, 65 * width);
    findsThenRestores(Fault.NODE_COUNT, "a group of 65 members in a page");
    add32(changetype<usize>(Node.root<Own>().slotAt(0)) + SLOT_CHILD, 8);
    expect(validate()).not.toBe(Fault.NONE, "a page that is not aligned");
  });

  it("finds each fault of a short bitset in a tiny arena", () => {
    tiny(60, 3);                              // words 69 to 72 of container 1
    expect(changetype<Entry>(4).kind<Own>()).toBe(Kind.SHORT);
    changetype<Entry>(4).setCount(61);
    finds(Fault.BITSET_CARDINALITY, "a cardinality that is too large by one");
    tiny(60, 3);
    store<u64>(16, 0);
    finds(Fault.BITSET_CARDINALITY, "a word that is lost");
    tiny(60, 3);
    store<u32>(12, (load<u32>(12) & ~0x1ffc00) | (24 << 10));
    finds(Fault.NOT_TINY, "words beyond the arena");
    tiny(60, 3);
    setArenaSize(1000);
    store<u32>(12, (load<u32>(12) & ~0x1ffc00) | (31 << 10));
    finds(Fault.NOT_TINY, "31 words");
    tiny(60, 3);
    store<u32>(12, load<u32>(12) | 0x3ff);
    finds(Fault.WRONG_FORM, "words beyond the container");
  });

  it("finds each fault of a short bitset in a block", () => {
    prepare();
    const container = entryOf(Kind.SHORT), payload = container.payload<Own>();
    container.setCount(container.count<Own>() + 1);
    findsThenRestores(Fault.BITSET_CARDINALITY, "a cardinality that is too large by one");
    // Two words or more, from the last one of the container on.
    store<u32>(payload, load<u32>(payload) | 0x3ff | (2 << 10));
    findsThenRestores(Fault.WRONG_FORM, "words beyond the container");
    store<u32>(payload, 960 << 10);
    findsThenRestores(Fault.WRONG_FORM, "960 words");
  });

  it("finds each fault of a node", () => {
    prepare();
    store<u16>(root(), 16);
    findsThenRestores(Fault.NODE_LEVEL, "a root at level 16");
    store<u16>(root(), 2);
    findsThenRestores(Fault.NODE_LEVEL, "leaves as children of a node at level 2");
    store<u16>(leaf(1), 1);
    findsThenRestores(Fault.NODE_LEVEL, "a child at its parent's level");
    store<u8>(root(), 1, 1);
    store<u16>(root(), 29, 2);
    findsThenRestores(Fault.NODE_COUNT, "more slots than a roomy node has room for");
    store<u16>(root(), 0, 2);
    findsThenRestores(Fault.NODE_COUNT, "an empty root");
    store<u16>(root(), Node.INNER_MAX + 1, 2);
    findsThenRestores(Fault.NODE_COUNT, "too many slots");
    store<u16>(leaf(0), 0, 2);
    findsThenRestores(Fault.NODE_COUNT, "an empty leaf");
    store<u16>(leaf(0), Node.LEAF_MAX + 1, 2);
    findsThenRestores(Fault.NODE_COUNT, "too many entries");
    add64(slot(1) + SLOT_KEY, -1);
    findsThenRestores(Fault.SLOT_KEY, "a slot with a wrong key");
    add64(slot(0) + SLOT_CARDINALITY, 1);
    findsThenRestores(Fault.SLOT_CARDINALITY, "a first slot with a wrong cardinality");
    add64(slot(1) + SLOT_CARDINALITY, -1);
    findsThenRestores(Fault.SLOT_CARDINALITY, "a second slot with a wrong cardinality");
  });

  it("finds keys that are not ascending or too large", () => {
    prepare();
    add64(entry(3), 1);
    findsThenRestores(Fault.DIRECTORY_NOT_ASCENDING, "a key that occurs twice");
    add64(entry(3), -2);
    findsThenRestores(Fault.DIRECTORY_NOT_ASCENDING, "a key lower than the one before");
    const full = entryOf(Kind.FULL);
    full.setFull(3);
    findsThenRestores(Fault.DIRECTORY_NOT_ASCENDING, "a span that covers the next key");
    const firstKey = load<u64>(slot(0) + SLOT_KEY),
      lastKey = load<u64>(lastOf(changetype<Node>(leaf(0)))) & Offset.KEY_MAX;
    beginLeaf(firstKey);
    findsThenRestores(
      Fault.DIRECTORY_NOT_ASCENDING, "a leaf whose first key is the first key of the leaf before",
    );
    beginLeaf(lastKey);
    findsThenRestores(
      Fault.DIRECTORY_NOT_ASCENDING, "a leaf whose first key is the last key of the leaf before",
    );
    const last = Directory.last<Own>();
    last.setFull(last.span<Own>() + 4);
    findsThenRestores(Fault.KEY_TOO_GREAT, "a span that ends beyond the largest key");
    last.setFull(1 << 45);
    findsThenRestores(Fault.KEY_TOO_GREAT, "a very long span that ends beyond the largest key");
  });

  it("finds blocks in invalid places", () => {
    prepare();
    const bump = load<u32>(BUMP);
    store<u32>(Header.ROOT, 8);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a root in the header");
    store<u32>(Header.ROOT, bump);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a root above the bump mark");
    add32(Header.ROOT, 4);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a root at no multiple of 8");
    store<u32>(Header.ROOT, 0xfffffff8);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a root at the end of 4 GiB");
    store<u32>(slot(0) + SLOT_CHILD, bump);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a child above the bump mark");
    add32(slot(1) + SLOT_CHILD, 4);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a child at no multiple of 8");
    for (let kind: Kind = Kind.ARRAY; kind <= Kind.SHORT; kind++) {
      entryOf(kind).setPosition(bump & ~7);
      findsThenRestores(Fault.BLOCK_MISPLACED, "a container above the bump mark");
      entryOf(kind).setPosition(16);
      findsThenRestores(Fault.BLOCK_MISPLACED, "a container in the header");
    }
    entryOf(Kind.BITSET).setPosition(bump - 4096 & ~7);
    findsThenRestores(Fault.BLOCK_MISPLACED, "a bitset across the bump mark");
    store<u16>(entryOf(Kind.RUNS).payload<Own>(), 65535);
    findsThenRestores(Fault.BLOCK_MISPLACED, "runs across the bump mark");
  });

  it("finds bytes that are neither in use nor freed", () => {
    prepare();
    add32(FREED, 8);
    findsThenRestores(Fault.BYTES_UNACCOUNTED, "a number of freed bytes that is too large");
    add32(FREED, -8);
    store<u32>(LISTS, 0);
    findsThenRestores(
      Fault.BYTES_UNACCOUNTED, "a number of freed bytes that is too small, and no free lists",
    );
    add32(BUMP, 8);
    findsThenRestores(Fault.BYTES_UNACCOUNTED, "a bump mark that is too high");
  });

  it("finds each fault of the free lists", () => {
    prepare();
    const lists = <usize>load<u32>(LISTS), mask = load<u64>(lists);
    const index = <usize>ctz(mask), head = lists + HEADS + 4 * index;
    store<u64>(lists, mask & (mask - 1));
    findsThenRestores(Fault.FREE_LISTS, "a list that is missing in the mask");
    store<u64>(lists, mask | ((mask + 1) & ~mask));
    findsThenRestores(Fault.FREE_LISTS, "an empty list in the mask");
    store<u32>(head, 16);
    findsThenRestores(Fault.FREE_LISTS, "a free block in the header");
    store<u32>(head, load<u32>(BUMP));
    findsThenRestores(Fault.FREE_LISTS, "a free block above the bump mark");
    add32(head, 4);
    findsThenRestores(Fault.FREE_LISTS, "a free block at no multiple of 8");
    store<u32>(load<u32>(head), load<u32>(head));
    findsThenRestores(Fault.FREE_LISTS, "a circular list");
    store<u32>(LISTS, load<u32>(BUMP));
    findsThenRestores(Fault.FREE_LISTS, "free lists above the bump mark");
    store<u32>(LISTS, 16);
    findsThenRestores(Fault.FREE_LISTS, "free lists in the header");
    store<u32>(FREED, 0);
    findsThenRestores(Fault.FREE_LISTS, "free blocks although no bytes are freed");
  });

  it("finds each fault of an entry", () => {
    prepare();
    entryOf(Kind.BITSET).setCount(32);       // prepare() makes no bitset of so few members
    findsThenRestores(Fault.BITSET_CARDINALITY, "a bitset with an array's cardinality that has more members");
    entryOf(Kind.BITSET).setCount(65536);
    findsThenRestores(Fault.WRONG_FORM, "a full bitset");
    entryOf(Kind.ARRAY).setCount(4097);
    findsThenRestores(Fault.WRONG_FORM, "an array with a bitset's cardinality");
    for (let count: u32 = 1; count <= 2; count++) {
      entryOf(Kind.ARRAY).setCount(count);
      findsThenRestores(Fault.WRONG_FORM, "an array of members that fit into the entry");
    }
  });

  it("finds each fault of an array, a pair and a bitset", () => {
    prepare();
    const array = entryOf(Kind.ARRAY).payload<Own>(), pair = entryOf(Kind.PAIR);
    store<u16>(array, load<u16>(array, 2));
    findsThenRestores(Fault.ARRAY_NOT_ASCENDING, "a member that occurs twice");
    store<u16>(array, 65535);
    findsThenRestores(Fault.ARRAY_NOT_ASCENDING, "an array that starts with the largest member");
    store<u16>(changetype<usize>(pair), load<u16>(changetype<usize>(pair), 6), 8);
    findsThenRestores(Fault.ARRAY_NOT_ASCENDING, "a pair of equal members");
    const bitset = entryOf(Kind.BITSET), word = bitset.payload<Own>() + 4000;
    store<u64>(word, load<u64>(word) ^ 1);
    findsThenRestores(Fault.BITSET_CARDINALITY, "a flipped bit");
    bitset.setCount(bitset.count<Own>() + 1);
    findsThenRestores(Fault.BITSET_CARDINALITY, "a bitset's cardinality that is too large by one");
  });

  it("finds each fault of a sparse bitset", () => {
    prepare();
    const sparse = entryOf(Kind.SPARSE), at = sparse.payload<Own>();
    const values = at + 4, masks = values + load<u16>(at), summary = masks + load<u16>(at, 2);
    store<u8>(values, load<u8>(values) ^ 1);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a flipped bit");
    store<u8>(values, 0);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a value of 0");
    store<u8>(masks, load<u8>(masks) ^ 2);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a mask with a bit more or less");
    store<u8>(masks, 0);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a mask of 0");
    store<u8>(summary + 9, load<u8>(summary + 9) ^ 4);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a summary with a word more or less");
    store<u16>(at, load<u16>(at) - 1);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a value too few");
    store<u16>(at, 7000);
    findsThenRestores(Fault.WRONG_FORM, "more values than a sparse bitset has");
    sparse.setCount(sparse.count<Own>() + 1);
    findsThenRestores(Fault.SPARSE_UNSOUND, "a cardinality that is too large by one");
  });

  it("finds each fault of runs", () => {
    const trial = new Trial(801), model = range(100, 200).append(300, 400).append(60000, 65000);
    build(model, Form.RUNS, trial.random);
    clear();
    addOperandCopy(0, arena.size());
    const container = entryOf(Kind.RUNS), runs = container.payload<Own>();
    store<u16>(runs, 0);
    findsThenRestores(Fault.NO_RUNS, "no runs");
    store<u16>(runs, 201, 6);
    findsThenRestores(Fault.RUNS_NOT_ASCENDING, "two runs that touch");
    store<u16>(runs, 150, 6);
    findsThenRestores(Fault.RUNS_NOT_ASCENDING, "two runs that overlap");
    store<u16>(runs, 50, 6);
    findsThenRestores(Fault.RUNS_NOT_ASCENDING, "two runs in the wrong order");
    store<u16>(runs, 5536, 12);
    findsThenRestores(Fault.RUN_TOO_LONG, "a run that ends at 65536");
    store<u16>(runs, 5535, 12);
    findsThenRestores(Fault.RUNS_CARDINALITY, "a run that is longer than the cardinality allows");
    container.setCount(container.count<Own>() - 1);
    findsThenRestores(Fault.RUNS_CARDINALITY, "a cardinality that is too small by one");
  });
});
