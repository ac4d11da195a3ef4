// BITOP NOT: all offsets up to a last one that the source does not have. The gaps between the source's
// containers become full containers, and any number of neighboring full containers is one entry, so the
// complement of a far member costs no more than that of a near one.

import { SELF, right } from "../../env/memory";
import { Right } from "../../env/view";
import { Allocator } from "../../arena/layout/blocks";
import { Arena, Header } from "../../arena/layout/header";
import { Offset } from "../../arena/layout/entry";
import { Directory } from "../../arena/read/directory";
import { appendFull, finish } from "../../arena/builder/builder";
import { begin } from "../../arena/builder/state";
import { maximumOf } from "../../read/query";
import { Cursor } from "../walk/cursor";
import { emit } from "../shape/emit";
import { fold } from "../fold/fold";
import { complementShape } from "../fold/trivial";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Fold, sidesOf } from "../fold/sides";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { Runs } from "../../container/run";

/** The most entries that a range of full containers takes, whatever its length: 2^48 keys, 2^45 an entry. */
// @ts-ignore: decorator
@inline export const SPAN_ENTRIES: u64 = 8;

/**
 * Makes memory 0, which is fresh, all offsets of [0, max(last, greatest member)] that operand 0 does not
 * have; without `lastGiven`, of [0, greatest member]. With `sources` 0 there is no operand, because the key
 * is missing: then the source is empty.
 */
export function complement(sources: u32, last: u64, lastGiven: u32): void {
  let entries: u32 = 0;
  if (sources) {
    right.select(0);
    entries = Directory.entriesHeld<Right>();
  }
  if (!entries && !lastGiven) { Arena.resetToEmpty(); return; }
  const greatest = entries ? maximumOf<Right>() : 0;
  begin(2 * <u64>entries + SPAN_ENTRIES + 1, Cursor.BYTES);
  if (entries) Cursor.open(0, 0, 0); else Cursor.close(0);
  complementUpTo(lastGiven ? max(last, greatest) : greatest);
  finish();
}

function complementUpTo(limit: u64): void {
  const limitKey = Offset.key(limit);
  if (limitKey) complementKeys(0, limitKey - 1);
  if (Cursor.keyOf(0) == limitKey) {
    right.select(0);
    emitRest(limitKey, offsetsUpTo(Offset.low(limit)), Cursor.shapeOf(0));
  } else {
    Places.make(Scratch.LIST);
    emit(limitKey, offsetsUpTo(Offset.low(limit)));
  }
}

/**
 * Appends the complement of the containers [first, last] of operand 0. The operand's cursor is at the first
 * key from `first` on, and is moved past `last`.
 */
export function complementKeys(first: u64, last: u64): void {
  while (Cursor.keyOf(0) <= last) {
    const key = Cursor.keyOf(0), end = min(Cursor.lastKeyOf(0), last);
    if (key > first) appendFull(first, key - first);
    right.select(0);
    const s = Cursor.shapeOf(0);
    if (Shape.count(s) < Container.UNIVERSE) emitAllBut(key, s);
    first = end + 1;
    Cursor.seek(0, first);
  }
  if (first <= last) appendFull(first, last - first + 1);
}

/** The offsets 0 .. `low` of a container: one run in Scratch.FIRST, or the full shape. */
function offsetsUpTo(low: u32): u64 {
  if (low == Container.UNIVERSE - 1) return Shape.full();
  Places.make(Scratch.LIST);
  const at = Places.at(Scratch.FIRST);
  Runs.write(at, 0, low);
  return Shape.of(Kind.RUNS, low + 1, at);
}

/**
 * Appends the complement of the shape `s`, which `right` shows of operand 0. It is written where its block
 * will be.
 */
function emitAllBut(key: u64, s: u64): void {
  Places.make(Scratch.LIST);
  emit(key, complementShape(0, s, Shape.kind(s) == Kind.BITSET ? Allocator.alignedBump() : Header.bump()));
}

/**
 * Appends `all`, which is in Scratch.FIRST, without the members of the shape `s`, which `right` shows of
 * operand 0.
 */
function emitRest(key: u64, all: u64, s: u64): void {
  Places.make(Scratch.LIST);
  emit(key, fold(Fold.ANDNOT, sidesOf(SELF, 0), all, s));
}
