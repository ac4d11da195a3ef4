import { arena } from "../env/memory";
import { Own } from "../env/view";
import { Fault } from "../env/fault";
import { ROOT } from "../arena/arena";
import { KEY_MAX as LAST_KEY, Kind, entryCount, entryKind, entryPayload, entrySpan, setCount, setFull, setPosition } from "../arena/entry";
import { advance, lastEntry, placeEntry, seek } from "../arena/directory";
import { validate } from "../arena/validate";
import { nodeLevel, rootNode, slotAt, slotChild, INNER_MAX, LEAF_MAX } from "../arena/node";
import { set } from "../write/point";
import { Form, Trial, build, freshArena } from "./bitmap-arena";
import { Model, Style, appendContainer, range } from "./bitmap-model";
import { addOperandCopy, clear, operandAt, setArenaSize } from "./world";

// Where things are, by the layout comments of arena.ts and directory.ts.
const CARDINALITY: usize = 8, BUMP: usize = 16, FREED: usize = 20, LISTS: usize = 24, ENTRIES: usize = 28, HELD: usize = 32;
const HEADS: usize = 8, SLOT_KEY: usize = 0, SLOT_CHILD: usize = 8, SLOT_CARDINALITY: usize = 12;

/** A sound arena of two levels with containers of all kinds and free blocks; operand 0 keeps it. */
function prepare(): void {
  const trial = new Trial(800), model = new Model();
  for (let style = 0; style < Style.STYLES; style++) appendContainer(model, 10 + 2 * <u64>style, style, trial.random);
  for (let key: u64 = 100; key < 700; key++) model.append(key << 16, (key << 16) + key % 5 * 3);
  model.append((LAST_KEY - 5) << 16, ((LAST_KEY - 2) << 16) - 1);
  build(model, Form.EITHER, trial.random);
  for (let key: u64 = 200; key < 260; key++) {                // grow, and leave blocks behind
    for (let low: u64 = 100; low < 160; low += 2) set((key << 16) + low, 1);
  }
  clear();
  addOperandCopy(0, arena.size());
  trial.same(validate(), Fault.NONE, "sound");
  trial.same(nodeLevel<Own>(rootNode<Own>()), 1, "levels");
  trial.holds(load<u64>(load<u32>(LISTS)) != 0, "free blocks");
  trial.holds(load<u32>(BUMP) + 8 <= arena.size() && load<u32>(BUMP) < 262144, "room above the bump mark, less than the most runs take");
  trial.end();
}

function restore(): void { memory.copy(0, operandAt(0), arena.size()); }

/** That the arena, damaged by now, breaks that invariant; mends it. */
function names(fault: Fault, what: string): void {
  expect(validate()).toBe(fault, what);
  restore();
  expect(validate()).toBe(Fault.NONE, "mended: " + what);
}

/** The first entry of that kind. */
function entryOf(kind: Kind): usize {
  for (let place = seek<Own>(0); place; place = advance<Own>(place)) {
    if (entryKind<Own>(placeEntry(place)) == kind) return placeEntry(place);
  }
  return unreachable();
}

function root(): usize { return rootNode<Own>(); }
function slot(i: u32): usize { return slotAt(root(), i); }
function leaf(i: u32): usize { return slotChild<Own>(slot(i)); }
/** Entry `i` of leaf 1: they have keys that follow each other, and are of one member or of a few. */
function entry(i: u32): usize { return leaf(1) + 4 + 12 * <usize>i; }

/** The last entry of the leaf. */
function lastOf(leaf: usize): usize { return leaf + 4 + 12 * (<usize>load<u16>(leaf, 2) - 1); }
/** Gives leaf 1, and its slot, that key to begin with. */
function beginLeaf(key: u64): void {
  store<u64>(slot(1) + SLOT_KEY, key);
  store<u64>(entry(0), (load<u64>(entry(0)) & ~LAST_KEY) | key);
}

function add32(at: usize, change: i32): void { store<u32>(at, load<u32>(at) + change); }
function add64(at: usize, change: i64): void { store<u64>(at, load<u64>(at) + change); }

/** A tiny arena of `count` members. */
function tiny(count: u32): void {
  freshArena(200);
  for (let i: u32 = 0; i < count; i++) set(70000 + i * 3, 1);
  expect(validate()).toBe(Fault.NONE);
}

function breaks(fault: Fault, what: string): void { expect(validate()).toBe(fault, what); }

describe("validating", () => {
  it("finds nothing wrong with a sound arena, and changes nothing", () => {
    prepare();
    expect(validate()).toBe(Fault.NONE);
    expect(memory.compare(0, operandAt(0), arena.size())).toBe(0);
  });

  it("names what is wrong with the header", () => {
    prepare();
    store<u8>(0, 2);
    names(Fault.UNKNOWN_FORM, "form 2");
    store<u8>(0, 255);
    names(Fault.UNKNOWN_FORM, "form 255");
    store<u32>(BUMP, arena.size() + 8);
    names(Fault.BUMP_OUTSIDE, "bump mark above the arena");
    store<u32>(BUMP, 32);
    names(Fault.BUMP_OUTSIDE, "bump mark in the header");
    store<u32>(HELD, 8);
    names(Fault.HELD_BACK, "bytes held back");
    add64(CARDINALITY, 1);
    names(Fault.TOTAL_CARDINALITY, "one member more");
    add64(CARDINALITY, -1);
    names(Fault.TOTAL_CARDINALITY, "one member less");
    add32(ENTRIES, 1);
    names(Fault.TOTAL_ENTRIES, "one entry more");
    add32(ENTRIES, -1);
    names(Fault.TOTAL_ENTRIES, "one entry less");
    const size = arena.size();
    setArenaSize(load<u32>(BUMP) - 1);
    expect(validate()).toBe(Fault.BUMP_OUTSIDE, "arena below the bump mark");
    setArenaSize(39);
    expect(validate()).toBe(Fault.BUMP_OUTSIDE, "arena below a header");
    setArenaSize(size);
  });

  it("names what is wrong with tiny arenas", () => {
    tiny(32);
    store<u8>(1, 1);
    breaks(Fault.NOT_TINY, "second byte");
    tiny(32);
    store<u16>(2, 2);
    breaks(Fault.NOT_TINY, "two entries");
    tiny(32);
    setPosition(4, 24);
    breaks(Fault.NOT_TINY, "members elsewhere");
    tiny(32);
    setCount(4, 33);
    breaks(Fault.NOT_TINY, "33 members");
    for (let kind: i32 = Kind.BITSET; kind <= Kind.FULL; kind++) {
      tiny(32);
      store<u8>(15, <u8>(kind << 5));
      breaks(Fault.NOT_TINY, "a bitset, runs, buckets or a full container");
    }
    tiny(1);
    store<u8>(15, 7 << 5);
    breaks(Fault.UNKNOWN_KIND, "kind 7");
    tiny(32);
    store<u16>(16, load<u16>(18));
    breaks(Fault.ARRAY_NOT_ASCENDING, "twice the same");
    tiny(2);
    store<u16>(12, load<u16>(10));
    breaks(Fault.ARRAY_NOT_ASCENDING, "a pair of the same");
    tiny(3);
    setCount(4, 2);
    breaks(Fault.WRONG_FORM, "two members outside the entry");
  });

  it("names what is wrong with a node", () => {
    prepare();
    store<u16>(root(), 16);
    names(Fault.NODE_LEVEL, "a root too high");
    store<u16>(root(), 2);
    names(Fault.NODE_LEVEL, "leaves as children of level 2");
    store<u16>(leaf(1), 1);
    names(Fault.NODE_LEVEL, "a child of its parent's level");
    store<u8>(root(), 1, 1);
    names(Fault.NODE_LEVEL, "a roomy node that is no leaf");
    store<u16>(root(), 0, 2);
    names(Fault.NODE_COUNT, "an empty root");
    store<u16>(root(), INNER_MAX + 1, 2);
    names(Fault.NODE_COUNT, "too many slots");
    store<u16>(leaf(0), 0, 2);
    names(Fault.NODE_COUNT, "an empty leaf");
    store<u16>(leaf(0), LEAF_MAX + 1, 2);
    names(Fault.NODE_COUNT, "too many entries");
    add64(slot(1) + SLOT_KEY, -1);
    names(Fault.SLOT_KEY, "a slot's key");
    add64(slot(0) + SLOT_CARDINALITY, 1);
    names(Fault.SLOT_CARDINALITY, "a slot's cardinality");
    add64(slot(1) + SLOT_CARDINALITY, -1);
    names(Fault.SLOT_CARDINALITY, "the second slot's cardinality");
  });

  it("names keys that are not ascending, or too great", () => {
    prepare();
    add64(entry(3), 1);
    names(Fault.DIRECTORY_NOT_ASCENDING, "the same key twice");
    add64(entry(3), -2);
    names(Fault.DIRECTORY_NOT_ASCENDING, "a lower key");
    const full = entryOf(Kind.FULL);
    setFull(full, 3);
    names(Fault.DIRECTORY_NOT_ASCENDING, "a span over the next key");
    const firstKey = load<u64>(slot(0) + SLOT_KEY), lastKey = load<u64>(lastOf(leaf(0))) & LAST_KEY;
    beginLeaf(firstKey);
    names(Fault.DIRECTORY_NOT_ASCENDING, "a leaf that begins where the one before does");
    beginLeaf(lastKey);
    names(Fault.DIRECTORY_NOT_ASCENDING, "a leaf that begins where the one before ends");
    const last = lastEntry<Own>();
    setFull(last, entrySpan<Own>(last) + 4);
    names(Fault.KEY_TOO_GREAT, "a span beyond the last key");
    setFull(last, 1 << 45);
    names(Fault.KEY_TOO_GREAT, "a long span beyond the last key");
  });

  it("names blocks that are not where they may be", () => {
    prepare();
    const bump = load<u32>(BUMP);
    store<u32>(ROOT, 8);
    names(Fault.BLOCK_MISPLACED, "a root in the header");
    store<u32>(ROOT, bump);
    names(Fault.BLOCK_MISPLACED, "a root above the bump mark");
    add32(ROOT, 4);
    names(Fault.BLOCK_MISPLACED, "a root between multiples of 8");
    store<u32>(ROOT, 0xfffffff8);
    names(Fault.BLOCK_MISPLACED, "a root at the end of 4 GiB");
    store<u32>(slot(0) + SLOT_CHILD, bump);
    names(Fault.BLOCK_MISPLACED, "a child above the bump mark");
    add32(slot(1) + SLOT_CHILD, 4);
    names(Fault.BLOCK_MISPLACED, "a child between multiples of 8");
    for (let kind: Kind = Kind.ARRAY; kind <= Kind.BUCKETS; kind++) {
      setPosition(entryOf(kind), bump & ~7);
      names(Fault.BLOCK_MISPLACED, "a container above the bump mark");
      setPosition(entryOf(kind), 16);
      names(Fault.BLOCK_MISPLACED, "a container in the header");
    }
    setPosition(entryOf(Kind.BITSET), bump - 4096 & ~7);
    names(Fault.BLOCK_MISPLACED, "a bitset across the bump mark");
    store<u16>(entryPayload<Own>(entryOf(Kind.RUNS)), 65535);
    names(Fault.BLOCK_MISPLACED, "runs across the bump mark");
  });

  it("names bytes that nothing accounts for", () => {
    prepare();
    add32(FREED, 8);
    names(Fault.BYTES_UNACCOUNTED, "more freed");
    add32(FREED, -8);
    store<u32>(LISTS, 0);
    names(Fault.BYTES_UNACCOUNTED, "less freed, and no lists");
    add32(BUMP, 8);
    names(Fault.BYTES_UNACCOUNTED, "a higher bump mark");
  });

  it("names free lists that are wrong", () => {
    prepare();
    const lists = <usize>load<u32>(LISTS), mask = load<u64>(lists), index = <usize>ctz(mask), head = lists + HEADS + 4 * index;
    store<u64>(lists, mask & (mask - 1));
    names(Fault.FREE_LISTS, "a list that the mask does not tell of");
    store<u64>(lists, mask | ((mask + 1) & ~mask));
    names(Fault.FREE_LISTS, "a list that is empty");
    store<u32>(head, 16);
    names(Fault.FREE_LISTS, "a free block in the header");
    store<u32>(head, load<u32>(BUMP));
    names(Fault.FREE_LISTS, "a free block above the bump mark");
    add32(head, 4);
    names(Fault.FREE_LISTS, "a free block between multiples of 8");
    store<u32>(load<u32>(head), load<u32>(head));
    names(Fault.FREE_LISTS, "a list without end");
    store<u32>(LISTS, load<u32>(BUMP));
    names(Fault.FREE_LISTS, "lists above the bump mark");
    store<u32>(LISTS, 16);
    names(Fault.FREE_LISTS, "lists in the header");
    store<u32>(FREED, 0);
    names(Fault.FREE_LISTS, "free blocks though nothing was freed");
  });

  it("names what is wrong with an entry", () => {
    prepare();
    store<u8>(entryOf(Kind.SINGLE) + 11, 7 << 5);
    names(Fault.UNKNOWN_KIND, "kind 7");
    setCount(entryOf(Kind.BITSET), 4096);
    names(Fault.WRONG_FORM, "a bitset of an array's size");
    setCount(entryOf(Kind.BITSET), 65536);
    names(Fault.WRONG_FORM, "a full bitset");
    setCount(entryOf(Kind.ARRAY), 4097);
    names(Fault.WRONG_FORM, "an array of a bitset's size");
    setCount(entryOf(Kind.BUCKETS), 4097);
    names(Fault.WRONG_FORM, "buckets of a bitset's size");
    for (let count: u32 = 1; count <= 2; count++) {
      setCount(entryOf(Kind.ARRAY), count);
      names(Fault.WRONG_FORM, "an array that the entry could hold");
    }
  });

  it("names what is wrong with a container", () => {
    prepare();
    const array = entryPayload<Own>(entryOf(Kind.ARRAY)), pair = entryOf(Kind.PAIR);
    store<u16>(array, load<u16>(array, 2));
    names(Fault.ARRAY_NOT_ASCENDING, "twice the same");
    store<u16>(array, 65535);
    names(Fault.ARRAY_NOT_ASCENDING, "the greatest first");
    store<u16>(pair, load<u16>(pair, 6), 8);
    names(Fault.ARRAY_NOT_ASCENDING, "a pair of the same");
    const bitset = entryOf(Kind.BITSET), word = entryPayload<Own>(bitset) + 4000;
    store<u64>(word, load<u64>(word) ^ 1);
    names(Fault.BITSET_CARDINALITY, "a bit more or less");
    setCount(bitset, entryCount<Own>(bitset) + 1);
    names(Fault.BITSET_CARDINALITY, "one more than there are");
  });

  it("names what is wrong with buckets", () => {
    prepare();
    const entry = entryOf(Kind.BUCKETS), count = entryCount<Own>(entry), lows = entryPayload<Own>(entry), counts = lows + count;
    let high: usize = 0, first = lows;        // a bucket of two members or more
    while (load<u8>(counts + high) < 2) first += load<u8>(counts + high++);
    store<u8>(first, load<u8>(first, 1));
    names(Fault.BUCKETS_UNSOUND, "twice the same");
    store<u8>(first, 255);
    names(Fault.BUCKETS_UNSOUND, "the greatest first");
    store<u8>(counts + high, load<u8>(counts + high) - 1);
    names(Fault.BUCKETS_UNSOUND, "a bucket of one less");
    store<u8>(counts + 255, 255);
    names(Fault.BUCKETS_UNSOUND, "a bucket of more");
  });

  it("names what is wrong with runs", () => {
    const trial = new Trial(801), model = range(100, 200).append(300, 400).append(60000, 65000);
    build(model, Form.RUNS, trial.random);
    clear();
    addOperandCopy(0, arena.size());
    const entry = entryOf(Kind.RUNS), runs = entryPayload<Own>(entry);
    store<u16>(runs, 0);
    names(Fault.NO_RUNS, "no runs");
    store<u16>(runs, 201, 6);
    names(Fault.RUNS_NOT_ASCENDING, "two runs that touch");
    store<u16>(runs, 150, 6);
    names(Fault.RUNS_NOT_ASCENDING, "two runs that overlap");
    store<u16>(runs, 50, 6);
    names(Fault.RUNS_NOT_ASCENDING, "two runs in the wrong order");
    store<u16>(runs, 5536, 12);
    names(Fault.RUN_TOO_LONG, "a run to 65536");
    store<u16>(runs, 5535, 12);
    names(Fault.RUNS_CARDINALITY, "a longer run");
    setCount(entry, entryCount<Own>(entry) - 1);
    names(Fault.RUNS_CARDINALITY, "one less than there are");
  });
});
