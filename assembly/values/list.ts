// Ids and values of operand 0, in the order of ids.

import { left, reply } from "../env/memory";
import { Left } from "../env/view";
import { Arena } from "../arena/layout/header";
import { Aggregate, Column } from "./column";
import { Slices } from "./slices";
import { Spot } from "./spot";

/** Where the ids of a window lie in memory 0, which is fresh. */
// @ts-ignore: decorator
@inline const COLUMN_AT: usize = 64;

/** Replies up to `limit` ids from `from` on, each followed by its value. */
export function valuesFrom(from: u64, limit: u64): void {
  Arena.reserve(COLUMN_AT + Column.BYTES);
  const column = Column.at(COLUMN_AT);
  left.select(0);
  for (let spot = Spot.from<Left>(from); spot != Spot.NONE && limit;) {
    const id = Spot.id<Left>(spot), window = id & ~(<u64>Slices.IDS - 1);
    column.clear();
    spot = column.take<Left>(spot, window, Aggregate.SUM);
    let place = column.next(<u32>(id - window));
    for (; place < Slices.IDS && limit; place = column.next(place + 1), limit--) {
      reply.member(window + place);
      reply.member(<u64>column.value(place));
    }
  }
}
