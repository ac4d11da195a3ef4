// Several bitmaps into one, container by container. The walk goes through the directories of all sources in
// step. At each key it folds the containers that are there into one, which arena/builder/builder.ts appends:
// no bitmap is built on the way, and every source is read once. A tree of terms (combine/term/term.ts) says
// which bitmap is made of the sources.
//
// The walk goes by intervals of keys over which no source changes. Mostly an interval is one container. Where
// all sources that have the key are full, it is as long as the shortest of their spans, and the result is
// full or nothing without looking at a container.

import { SELF, reply, right } from "../env/memory";
import { Kernel, Sink } from "../container/kernel";
import { Kind } from "../container/kind";
import { appendFull } from "../arena/builder/builder";
import { evaluate, placesFor } from "./evaluate";
import { emit, emitCopy } from "./shape/emit";
import { Places } from "./shape/scratch";
import { Shape } from "./shape/shape";
import { moveItem } from "./term/seek";
import { Term } from "./term/term";
import { Cursor } from "./walk/cursor";

/**
 * Walks the intervals of item 0, a term, up to container `end`, and appends their results (S = Store) or only
 * counts them. Returns the members, modulo 2^64; if they are 2^64, and S = Count, adds a member to the reply.
 * The walk ends once there are `most` or more, unless `most` is 0.
 */
export function walk<S extends Sink>(most: u64, end: u64): u64 {
  const term = Cursor.termOf(0), places = placesFor(term);
  let members: u64 = 0, key = Cursor.keyOf(0);
  let anyFull = false;                        // then 0 members may be 2^64
  while (key <= end) {
    Places.makeMany(places);
    const last = min(Cursor.lastKeyOf(0), end), s = evaluate<S>(term, key);
    if (Shape.kind(s) == Kind.FULL) {
      if (Kernel.stores<S>()) appendFull(key, last - key + 1);
      members += (last - key + 1) << 16;
      anyFull = true;
    } else if (Shape.count(s)) {
      if (Kernel.stores<S>()) appendResult(term, key, s);
      members += Shape.count(s);
    }
    if (last == end || members > most - 1) break;
    moveItem(0, last + 1);
    key = Cursor.keyOf(0);
  }
  if (!Kernel.stores<S>() && !members && anyFull) reply.member(0);
  return members;
}

/** Appends the container `s`, the result of evaluate(). */
// @ts-ignore: decorator
@inline function appendResult(term: u32, key: u64, s: u64): void {
  const operand = Term.resultOperand(term);
  if (operand == SELF) { emit(key, s); return; }
  right.select(operand);
  emitCopy(key, Term.resultEntry(term));
}
