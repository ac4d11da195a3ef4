// Ids and values of operand 0, in the order of ids.

import { left, reply } from "../env/memory";
import { Left } from "../env/view";
import { Spot } from "./spot";

/** Replies up to `limit` ids from `from` on, each followed by its value. */
export function valuesFrom(from: u64, limit: u64): void {
  left.select(0);
  for (let spot = Spot.from<Left>(from); spot != Spot.NONE && limit; spot = Spot.next<Left>(spot), limit--) {
    reply.member(Spot.id<Left>(spot));
    reply.member(<u64>Spot.value<Left>(spot));
  }
}
