// Expressions over models of bitmaps: parsed, evaluated, and compared with a model of their members.

import { parseQuery, query, queryCardinality, queryMembers, queryMembersDown } from "../../combine/query";
import { cardinality, isEmpty, maximum } from "../../read/query";
import { Mistake } from "../../expression/mistake";
import { Form, Trial, addOperandOf, freshArena } from "./bitmap-arena";
import { KEY_MAX, Model, OFFSET_MAX, range } from "./bitmap-model";
import { addOperandCopy, clear, enter, memberAt, members, spent } from "../world/world";

export const WHOLE: Model = range(0, OFFSET_MAX);
/** The most members of a page. */
const PAGE: u32 = 500;

/** Adds the text as an operand and returns its number. */
export function addText(text: string): u32 {
  const bytes = String.UTF8.encode(text);
  return addOperandCopy(changetype<usize>(bytes), bytes.byteLength);
}

/** An expression, and its members. */
export class Meaning {
  constructor(public text: string, public model: Model) {}
}

/** Names every key, and has no members. */
export function naming(keys: i32): string {
  return " | all(#1..#" + keys.toString() + ") - any(#1..#" + keys.toString() + ")";
}

/** Makes the sources and the tree of the text the operands. */
function addOperands(trial: Trial, sources: Model[], text: string): void {
  clear();
  addText(text);
  freshArena(40);
  const parsed = parseQuery(sources.length, OFFSET_MAX), tree = new StaticArray<u8>(<i32>(parsed >> 32));
  trial.same(<u32>parsed, Mistake.NONE, text + " parsed");
  memory.copy(changetype<usize>(tree), 0, tree.length);
  clear();
  for (let s = 0; s < sources.length; s++) addOperandOf(sources[s], Form.EITHER, trial.random);
  addOperandCopy(changetype<usize>(tree), tree.length);
}

/** Stores a part of the expression: from an offset on, the first members, and perhaps some more. */
function storePart(trial: Trial, keys: i32, model: Model, text: string): void {
  const random = trial.random, most = 1 + <u64>random.below(random.below(2) ? 5 : 100000);
  const any = model.intervals ? model.low(random.below(model.intervals)) : random.next();
  const from = any + random.below(3) - min<u64>(any, 1);
  freshArena(40);
  query(keys, OFFSET_MAX, from, most);
  enter();
  const part = text + " from " + from.toString() + ", at most " + most.toString();
  const expected = new Model();
  if (isEmpty()) {
    trial.holds(!model.intervals || model.maximum() < from, part + " is empty");
  } else {
    const last = maximum(), all = model.countRange(from, OFFSET_MAX);
    trial.holds(cardinality() - 1 >= min(all - 1, most - 1), part + " stores enough");     // 0 members are 2^64
    for (let i = 0; i < model.intervals; i++) {
      if (model.high(i) < from || model.low(i) > last) continue;
      expected.append(max(model.low(i), from), min(model.high(i), last));
    }
  }
  trial.is(expected, part);
}

/** Stores, counts and lists the expression over the sources. */
export function compare(trial: Trial, sources: Model[], meaning: Meaning): void {
  const random = trial.random, text = meaning.text, model = meaning.model, keys = sources.length;
  trial.steps++;
  addOperands(trial, sources, text);
  freshArena(40);
  query(keys, OFFSET_MAX, 0, 0);
  enter();
  trial.is(model, text);
  storePart(trial, keys, model, text);

  freshArena(40);
  trial.same(queryCardinality(keys, OFFSET_MAX, 0, 0, KEY_MAX), model.cardinality(), text + " counted");
  enter();
  const any = model.intervals ? model.low(random.below(model.intervals)) : random.next();
  const from = any + random.below(3) - min<u64>(any, 1);
  freshArena(40);
  trial.same(
    queryCardinality(keys, OFFSET_MAX, from, 0, KEY_MAX), model.countRange(from, OFFSET_MAX),
    text + " counted from " + from.toString(),
  );
  enter();
  const last = min((from >> 16) + random.below(3), KEY_MAX), start = random.below(2) ? from : from & ~0xffff;
  freshArena(40);
  trial.same(
    queryCardinality(keys, OFFSET_MAX, start, 0, last), model.countRange(start, last << 16 | 0xffff),
    text + " counted from " + start.toString() + " to the end of container " + last.toString(),
  );
  enter();

  const limit = random.below(PAGE);
  freshArena(40);
  const listed = <u32>queryMembers(keys, OFFSET_MAX, from, limit);
  let expected: u32 = 0;
  for (let i = max(model.find(from), 0); i < model.intervals && expected < limit; i++) {
    if (model.high(i) < from) continue;
    for (let at = max(model.low(i), from); expected < limit; at++) {
      if (expected < members() && memberAt(expected) != at) {
        trial.fail(text + " listed " + memberAt(expected).toString());
      }
      expected++;
      if (at == model.high(i)) break;
    }
  }
  trial.same(listed, expected, text + " listed");
  trial.same(members(), expected, text + " listed");
  enter();
  compareDown(trial, keys, meaning, random.below(3) ? from : OFFSET_MAX, limit);
}

/** Lists the members of the expression from `from` on downwards. */
function compareDown(trial: Trial, keys: i32, meaning: Meaning, from: u64, limit: u32): void {
  const text = meaning.text + " listed from " + from.toString() + " downwards", model = meaning.model;
  freshArena(40);
  const listed = <u32>queryMembersDown(keys, OFFSET_MAX, from, limit);
  let expected: u32 = 0;
  for (let i = model.find(from); i >= 0 && expected < limit; i--) {
    for (let at = min(model.high(i), from); expected < limit; at--) {
      if (expected < members() && memberAt(expected) != at) {
        trial.fail(text + ": " + memberAt(expected).toString() + " instead of " + at.toString());
      }
      expected++;
      if (at == model.low(i)) break;
    }
  }
  trial.same(listed, expected, text);
  trial.same(members(), expected, text);
  enter();
}

/**
 * Makes two bitmaps of `count` lone members each, which have no container in common, and the tree of the text.
 */
function addLoneMembers(text: string, count: i32): void {
  const trial = new Trial(1215), even = new Model(), odd = new Model();
  for (let i = 0; i < count; i++) {
    even.append(<u64>i << 17, <u64>i << 17);
    odd.append((<u64>i << 17) + 65536, (<u64>i << 17) + 65536);
  }
  addOperands(trial, [even, odd], text);
  freshArena(40);
  spent();
}

/** Units of work of counting the expression over two bitmaps of `count` lone members each. */
export function workOf(text: string, count: i32, most: u64 = 0): u64 {
  addLoneMembers(text, count);
  queryCardinality(2, OFFSET_MAX, 0, most, KEY_MAX);
  enter();
  return spent();
}

/** The same for listing the last `limit` members downwards. */
export function workDown(text: string, count: i32, limit: u64): u64 {
  addLoneMembers(text, count);
  queryMembersDown(2, OFFSET_MAX, OFFSET_MAX, limit);
  enter();
  return spent();
}
