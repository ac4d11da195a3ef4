// Removing many offsets in one call: stretches (stretch.ts) are removed from their containers in one pass,
// other offsets one by one. The values handed back are the offsets that were members. Needs no memory after
// makeRemovable() (write/undo.ts).

import { argument } from "../../env/memory";
import { Own } from "../../env/view";
import { Arrays } from "../../container/array";
import { Bitset } from "../../container/bitset";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { adjust } from "../../arena/change/insert";
import { Entry, Offset } from "../../arena/layout/entry";
import { Directory } from "../../arena/read/directory";
import { STRETCH_LEAST, stretchEnd } from "./stretch";
import { shortenArray } from "../cut";
import { removeKeepingKind } from "../point";
import { isDepleted, isLoose } from "../shrink";

/** Not the key of any container. */
// @ts-ignore: decorator
@inline const UNKNOWN_KEY: u64 = Offset.KEY_MAX + 1;

/**
 * Removes the call's arguments first .. first + count - 1, hands back those that were members, and returns
 * how many those are. Needs no memory after makeRemovable() for them; the caller then calls tidy().
 */
export function removeAll(first: u32, count: u32): u64 {
  const end = first + count;
  let known = UNKNOWN_KEY;                    // the container that `entry` is, unless it may have changed
  let entry: Entry = changetype<Entry>(0), removed: u64 = 0;
  for (let i = first; i < end;) {
    const key = Offset.key(argument.value(i)), to = stretchEnd(i, end);
    if (key != known) { entry = Directory.find(key); known = key; }
    if (entry && !entry.isGroup() && to - i >= STRETCH_LEAST) {
      const kind = entry.kind<Own>(), held = entry.count<Own>(), most = to - i;
      if (Choice.isArray(kind)) {
        removed += takeStretchFromArray(entry, key, i, to);
        if (most >= held) known = UNKNOWN_KEY;    // the entry may be gone
        i = to;
      } else if (kind == Kind.BITSET && most < held && Choice.staysBitset(held - most)) {
        removed += takeStretchFromBitset(entry, key, i, to);
        i = to;
      }
    }
    for (; entry && i < to; i++) {
      if (known == UNKNOWN_KEY) { entry = Directory.find(key); known = key; }
      if (!entry) break;
      const offset = argument.value(i);
      const stays = !entry.isGroup() && entry.kind<Own>() != Kind.FULL && entry.count<Own>() > 1;
      if (removeKeepingKind(entry, key, Offset.low(offset))) {
        argument.handBack(offset);
        removed++;
      }
      if (!stays) known = UNKNOWN_KEY;
    }
    if (entry && known == key && (isDepleted(entry) || isLoose(entry))) argument.defer();
    i = to;
  }
  return removed;
}

/**
 * Removes a stretch from the array of container `key`, and the container itself if it falls empty.
 * Returns how many it had.
 */
function takeStretchFromArray(entry: Entry, key: u64, from: u32, to: u32): u32 {
  const start = entry.payload<Own>(), count = entry.count<Own>(), end = start + Container.arrayBytes(count);
  let out = start, rest = start;              // members before `rest` are gone or have moved to before `out`
  for (let i = from, at = start; i < to; i++) {
    const offset = argument.value(i), low = Offset.low(offset);
    at = Arrays.gallop<Own>(at, end, low);
    if (at == end) break;
    if (load<u16>(at) != low) continue;
    argument.handBack(offset);
    if (out != rest) memory.copy(out, rest, at - rest);
    out += at - rest;
    rest = at += Container.MEMBER_BYTES;
  }
  if (rest == start) return 0;
  memory.copy(out, rest, end - rest);
  const removed = Container.memberCount(out, rest);
  shortenArray(entry, key, count - removed);
  return removed;
}

/** Removes a stretch from a bitset that stays a bitset. Returns how many it had. */
function takeStretchFromBitset(entry: Entry, key: u64, from: u32, to: u32): u32 {
  const bits = entry.payload<Own>();
  let removed: u32 = 0;
  for (let i = from; i < to; i++) {
    const offset = argument.value(i), low = Offset.low(offset);
    if (!Bitset.has(bits, low)) continue;
    Bitset.clear(bits, low);
    argument.handBack(offset);
    removed++;
  }
  entry.setCount(entry.count<Own>() - removed);
  adjust(key, -<i64>removed);
  return removed;
}
