// Most lists of offsets are ascending, and neighbors share a container. So a call's offsets are taken in
// stretches, ascending offsets of one container, which are merged into the container or removed from it in
// one pass. Short stretches are applied one by one.

import { argument } from "../../env/memory";
import { Container } from "../../container/limits";

/** Shorter stretches go one by one. */
// @ts-ignore: decorator
@inline export const STRETCH_LEAST: u32 = 4;

/** One past the last argument of the stretch that begins at argument `from`; at most `end`. */
export function stretchEnd(from: u32, end: u32): u32 {
  let before = argument.value(from), i = from + 1;
  const last = before | 0xffff;
  end = min(end, from + Container.ARRAY_MAX);
  for (; i < end; i++) {
    const offset = argument.value(i);
    if (offset <= before || offset > last) break;
    before = offset;
  }
  return i;
}
