// Builds arenas from a model with any mixture of container kinds, and reads arenas back. The reader follows
// the layout described in the files of arena/layout and calls no code of the core. Trial
// is the base of a random test that uses both.

import { arena } from "../../env/memory";
import { Allocator } from "../../arena/layout/blocks";
import { Arena } from "../../arena/layout/header";
import { used } from "../../arena/change/forms";
import { Entry } from "../../arena/layout/entry";
import { append, appendFull, finish } from "../../arena/builder/builder";
import { begin } from "../../arena/builder/state";
import { validate } from "../../arena/validate";
import { emit } from "../../combine/shape/emit";
import { Shape } from "../../combine/shape/shape";
import { Model, plainOf, runsOf } from "./bitmap-model";
import { Random, addOperandCopy, clear, enter, seed, setArena } from "../world/world";
import { ARENA_BYTES } from "../world/layout";
import { Node } from "../../arena/layout/node";
import { Kind } from "../../container/kind";

// --- Building arenas ---------------------------------------------------------------------------------------

/**
 * How build() stores a container: an array, a sparse bitset or a bitset by its cardinality; runs if that is not
 * larger; a bitset, even one with few members, as removing members may leave it; or one of these at random.
 */
export const enum Form { PLAIN, RUNS, BITSET, EITHER, FORMS }
/** Form.EITHER makes no bitsets with fewer members, of which large directories would need too many. */
const SPARSE_BITSET: u32 = 33;

/** Room for the largest run container. */
const runs: usize = memory.data(131076, 8);

/**
 * Writes container `key` of the model as runs to `runs` and returns its cardinality.
 * Interval `i` is its first.
 */
function layRuns(model: Model, i: i32, key: u64): u32 {
  const base = key << 16, last = base + 65535;
  let count: u32 = 0, at = runs + 2;
  for (; i < model.intervals && model.low(i) <= last; i++) {
    const low = <u32>(max(model.low(i), base) - base), high = <u32>(min(model.high(i), last) - base);
    store<u32>(at, low | ((high - low) << 16));
    count += high - low + 1;
    at += 4;
  }
  store<u16>(runs, <u16>((at - runs - 2) >> 2));
  return count;
}

/** Writes the container in `runs` to `at`, as an array or a bitset. */
function layPlain(asBitset: bool, at: usize): void {
  if (asBitset) memory.fill(at, 0, 8192);
  const bits = at;
  for (let r: usize = 0; r < load<u16>(runs); r++) {
    const low = <u32>load<u16>(runs + 2 + 4 * r), high = low + load<u16>(runs + 2 + 4 * r, 2);
    for (let v = low; v <= high; v++) {
      if (asBitset) {
        store<u8>(bits + (v >> 3), load<u8>(bits + (v >> 3)) | <u8>(<u32>1 << (v & 7)));
        continue;
      }
      store<u16>(at, <u16>v);
      at += 2;
    }
  }
}

/** Replaces memory 0 by a compact arena of the model, made by the builder. */
export function build(model: Model, form: Form, random: Random): void {
  freshArena(random.below(2) ? 40 : 40 + random.below(20000));
  let containers: u64 = 0;
  for (let i = 0; i < model.intervals; i++) {
    const keys = (model.high(i) >> 16) - (model.low(i) >> 16) + 1;
    containers += min(keys, 2 + 9);                           // both ends, and up to nine FULL entries
  }
  begin(containers, 0);
  for (let i = 0, key: u64 = 0; i < model.intervals;) {
    key = max(key, model.low(i) >> 16);
    const count = layRuns(model, i, key);
    if (count == 65536) {
      const span = ((model.high(i) - (key << 16)) >> 16) + u64(model.high(i) % 65536 == 65535);
      appendFull(key, span);
      key += span;
    } else {
      appendLaid(key, count, form, random);
      key++;
    }
    while (i < model.intervals && model.high(i) >> 16 < key) i++;
  }
  finish();
  enter();
}

/** Appends the container in `runs`. */
function appendLaid(key: u64, count: u32, form: Form, random: Random): void {
  Arena.makeRoom(64 + 4 * 8192);
  const at = Allocator.alignedBump(), bytes = runsOf(load<u16>(runs));
  if (form == Form.BITSET || (form == Form.EITHER && count >= SPARSE_BITSET && random.below(4) == 0)) {
    layPlain(true, at);
    Allocator.allocateFresh(8192);                      // its block begins at `at`
    append(key, count).setBlock(Kind.BITSET, count, at);
    return;
  }
  const asRuns = bytes <= plainOf(count) && (form == Form.RUNS || (form == Form.EITHER && random.below(2)));
  if (asRuns) memory.copy(at, runs, bytes); else layPlain(count > 4096, at);
  emit(key, Shape.of(asRuns ? Kind.RUNS : count <= 4096 ? Kind.ARRAY : Kind.BITSET, count, at));
}

/** The value of eight bytes that nobody has written; nothingBehind() looks for it behind the arena. */
const UNUSED: u64 = 0xa7a7a7a7a7a7a7a7;
const GUARD_BYTES: usize = 512;
/** All bytes from here on are unused, except those of the arena. */
let dirty: usize = ARENA_BYTES;

/** Replaces memory 0 by an empty bitmap of that many bytes and marks all bytes behind it as unused. */
export function freshArena(bytes: u32): void {
  memory.fill(0, <u8>UNUSED, max(dirty, <usize>arena.size() + GUARD_BYTES));
  dirty = bytes;
  setArena(bytes);
  enter();
}

/** Whether the bytes behind the arena are still unused. */
export function nothingBehind(): bool {
  const end = <usize>arena.size();
  for (let at = end; at < end + GUARD_BYTES; at += 8) if (load<u64>(at) != UNUSED) return false;
  return true;
}

/** Adds a copy of memory 0 as an operand and returns its number. */
export function asOperand(): u32 { return addOperandCopy(0, max(used(), 40)); }

/** Adds an arena of the model as an operand and returns its number. */
export function addOperandOf(model: Model, form: Form, random: Random): u32 {
  build(model, form, random);
  return asOperand();
}

// --- Reading arenas ----------------------------------------------------------------------------------------

/** The members of the arena at `base` of the test's memory. */
export function readArena(base: usize): Model {
  const model = new Model();
  readNode(base, load<u8>(base) ? changetype<Node>(<usize>load<u32>(base, 4)) : changetype<Node>(0), model);
  return model;
}

function readNode(base: usize, node: Node, model: Model): void {
  const level = load<u8>(base + changetype<usize>(node));
  const count = <usize>load<u16>(base + changetype<usize>(node), 2);
  const form = load<u8>(base + changetype<usize>(node), 1);
  if (!level && form > 1) {
    readPacked(changetype<Node>(base + changetype<usize>(node)), form, model);
    return;
  }
  for (let i: usize = 0; i < count; i++) {
    if (level) readNode(base, changetype<Node>(load<u32>(base + changetype<usize>(node) + 4 + 20 * i, 8)),
      model);
    else readEntry(base, changetype<Entry>(base + changetype<usize>(node) + 4 + 12 * i), model);
  }
}

/** A packed leaf of this form: the width of its highs, 16, and 32 if it has a base. */
function readPacked(leaf: Node, form: usize, model: Model): void {
  const count = <usize>load<u16>(changetype<usize>(leaf), 2), width = form & 7,
    base = form & 32 ? load<u64>(changetype<usize>(leaf), 4) : 0;
  const lows = changetype<usize>(leaf) + (form & 32 ? 12 : 4), highs = lows + 2 * count;
  for (let i: usize = 0; i < count; i++) {
    let key = base;
    for (let b: usize = 0; b < width; b++) key += <u64>load<u8>(highs + i * width + b) << (8 * b);
    const offset = (key << 16) | load<u16>(lows + 2 * i);
    model.append(offset, offset);
  }
}

function readEntry(base: usize, entry: Entry, model: Model): void {
  const first = load<u64>(changetype<usize>(entry)) << 16, low = <u64>load<u16>(changetype<usize>(entry), 6);
  const ref = load<u32>(changetype<usize>(entry), 8), kind = ref >> 29;
  const payload = kind == Kind.SHORT && changetype<usize>(entry) == base + 4 ? changetype<usize>(entry) + 8
    : base + (<usize>ref << 3);
  if (kind == Kind.FULL) {
    model.append(first, first + (((((<u64>(ref & 0x1fffffff)) << 16) | low) << 16) | 65535));
  } else if (kind == Kind.SINGLE) {
    model.append(first + low, first + low);
  } else if (kind == Kind.PAIR) {
    model.append(first + low, first + low);
    model.append(first + (ref & 0xffff), first + (ref & 0xffff));
  } else if (kind == Kind.ARRAY) {
    for (let i: usize = 0; i <= <usize>low; i++) {
      model.append(first + load<u16>(payload + 2 * i), first + load<u16>(payload + 2 * i));
    }
  } else if (kind == Kind.SPARSE) {
    let value = payload + 4, mask = value + load<u16>(payload);
    const summary = mask + load<u16>(payload, 2);
    for (let byte: u32 = 0; byte < 8192; byte++) {
      const word = byte >> 3, isThere = (load<u8>(summary + (word >> 3)) >> <u8>(word & 7)) & 1;
      if (isThere && ((load<u8>(mask) >> <u8>(byte & 7)) & 1)) {
        for (let bit: u32 = 0; bit < 8; bit++) {
          if ((load<u8>(value) >> <u8>bit) & 1) model.append(first + 8 * byte + bit, first + 8 * byte + bit);
        }
        value++;
      }
      if (isThere && (byte & 7) == 7) mask++;
    }
  } else if (kind == Kind.RUNS) {
    for (let i: usize = 0; i < load<u16>(payload); i++) {
      const start = first + load<u16>(payload + 2 + 4 * i);
      model.append(start, start + load<u16>(payload + 4 + 4 * i));
    }
  } else if (kind == Kind.BITSET || kind == Kind.SHORT) {
    const header = load<u32>(payload), least = kind == Kind.SHORT ? header & 0x3ff : 0;
    const words = kind == Kind.SHORT ? (header >> 10) & 0x7ff : 1024;
    const bitset = kind == Kind.SHORT ? payload + 4 : payload;
    let start: i32 = -1;                      // start of the current run, -1 outside a run
    for (let v: i32 = 0; v < 65536; v++) {
      const word = <u32>(v >> 6) - least, bits = word < words ? load<u64>(bitset + (<usize>word << 3)) : 0;
      if (!(v & 63) && bits == (start < 0 ? 0 : u64.MAX_VALUE)) { v += 63; continue; }
      if ((bits >> (v & 63)) & 1) { if (start < 0) start = v; continue; }
      if (start >= 0) model.append(first + start, first + v - 1);
      start = -1;
    }
    if (start >= 0) model.append(first + start, first + 65535);
  } else model.ordered = false;
}

// --- Trials ------------------------------------------------------------------------------------------------

/** One random test. It goes on after a failed check and keeps the first failure, with the seed, for end(). */
export class Trial {
  random: Random;
  fault: string = "";
  steps: u32 = 0;

  constructor(private salt: u32) {
    this.random = new Random((<u64>seed() << 32) | salt);
    clear();
    freshArena(40);
  }

  fail(what: string): void {
    if (this.fault != "") return;
    this.fault = what + " (step " + this.steps.toString() + ", salt "
      + this.salt.toString() + ", SEED=" + seed().toString() + ")";
  }

  holds(condition: bool, what: string): void { if (!condition) this.fail("expected that " + what); }
  /**
   * Checks that a random event has happened in at least one of many rounds. Use it only for events that happen
   * 25 times or more on average, so that it fails for practically no seed. A threshold near the average would
   * fail for one seed in some hundred.
   */
  occurred(times: u32, what: string): void { this.holds(times > 0, what + " at least once"); }
  same(actual: u64, expected: u64, what: string): void {
    if (actual != expected) {
      this.fail(what + ": got " + actual.toString() + ", expected " + expected.toString());
    }
  }

  /** Checks that memory 0 breaks no invariant and that nothing was written behind it. */
  sound(what: string): void {
    const fault = validate();
    if (fault) this.fail(what + ": validate() found fault " + (<i32>fault).toString());
    if (!nothingBehind()) this.fail(what + ": wrote behind the arena");
  }

  /** Does sound(), and checks that memory 0 has exactly the members of the model. */
  is(model: Model, what: string): void {
    this.sound(what);
    const difference = readArena(0).differs(model);
    if (difference != "") this.fail(what + ": " + difference);
  }

  /** Ends the test: fails it if any check failed. */
  end(): void { expect(this.fault).toBe(""); }
}
