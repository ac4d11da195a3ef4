// Ids and values of memory 0, in the order of ids.

import { reply } from "../env/memory";
import { Own } from "../env/view";
import { Spot } from "./spot";

/**
 * Replies up to `limit` ids from `from` on, each followed by its value. Returns whether more come after them.
 */
export function valuesFrom(from: u64, limit: u64): u32 {
  let spot = Spot.from<Own>(from);
  for (; spot != Spot.NONE && limit; spot = Spot.next<Own>(spot), limit--) {
    reply.member(Spot.id<Own>(spot));
    reply.member(<u64>Spot.value<Own>(spot));
  }
  return u32(spot != Spot.NONE);
}
