// Looking up many offsets in one call.

import { argument } from "../../env/memory";
import { Own } from "../../env/view";
import { Arrays, arrayLowerBound } from "../../container/array";
import { Choice } from "../../container/kind";
import { Container } from "../../container/limits";
import { Entry, Offset } from "../../arena/layout/entry";
import { Directory } from "../../arena/read/directory";
import { containerHas } from "../../read/container";

/**
 * Hands back, for each of the call's arguments
 * first .. first + count - 1, 1 if it is a member and otherwise 0.
 */
export function getAll(first: u32, count: u32): void {
  const end = first + count;
  for (let i = first, to = first; i < end; i = to) {
    const key = Offset.key(argument.value(i)), entry = Directory.find(key);
    while (to < end && Offset.key(argument.value(to)) == key) to++;
    if (!entry) for (; i < to; i++) argument.handBack(0);
    else if (Choice.isArray(entry.kind<Own>())) getFromArray(entry, i, to);
    else for (; i < to; i++) argument.handBack(u64(containerHas(entry, Offset.low(argument.value(i)))));
  }
}

/**
 * getAll() for the arguments from .. to - 1, all of one container, an array.
 * While they ascend, the search goes on from the last find.
 */
function getFromArray(entry: Entry, from: u32, to: u32): void {
  const start = entry.payload<Own>(), count = entry.count<Own>(), end = start + Container.arrayBytes(count);
  for (let i = from, at = start, before: u32 = 0; i < to; i++) {
    const low = Offset.low(argument.value(i));
    at = low < before ? start + Container.arrayBytes(arrayLowerBound(start, count, low))
      : Arrays.gallop<Own>(at, end, low);
    before = low;
    argument.handBack(u64(at < end && load<u16>(at) == low));
  }
}
