// Short bitsets that get words, and those of tiny arenas.

import { Own } from "../env/view";
import { TINY_PAYLOAD, isTiny, reserve, resize } from "../arena/arena";
import { TINY_MAX, TINY_WORDS } from "../arena/forms";
import { entryCount, entryKind, entryPayload, setBlock } from "../arena/entry";
import { shortBytes } from "../container/limits";
import { Kind, prefersShort } from "../container/kind";
import { firstWord, widenShort, wordCount } from "../container/short";
import { wordsWith } from "./convert";

/**
 * Most words of a tiny arena's array that becomes a short bitset because it has TINY_MAX members: so
 * that no full arena is needed. That would be smaller for a while, but could not become a tiny one
 * again when it has more members.
 */
// @ts-ignore: decorator
@inline const TINY_SPREAD: u32 = 19;

/**
 * The words that a short bitset has, and those from that of `low` to that of `high`, with what is between.
 */
// @ts-ignore: decorator
@inline function widerWords(payload: usize, low: u32, high: u32): u32 {
  const first = firstWord<Own>(payload);
  return max((high >> 6) + 1, first + wordCount<Own>(payload)) - min(low >> 6, first);
}

/** Whether the container of a tiny arena can get the member `low` there. */
export function staysTiny(entry: usize, low: u32): bool {
  const count = entryCount<Own>(entry);
  if (count < TINY_MAX) return true;
  if (entryKind<Own>(entry) == Kind.SHORT) {
    return widerWords(entryPayload<Own>(entry), low, low) <= TINY_WORDS;
  }
  return wordsWith(entry, low, low) <= TINY_SPREAD;
}

/**
 * Makes the entry's short bitset have the words of the values from `low` to `high`, one of which is a new
 * member. Returns false, with nothing changed, if another kind of container is smaller then.
 */
export function widenTo(entry: usize, low: u32, high: u32): bool {
  const payload = entryPayload<Own>(entry), words = wordCount<Own>(payload), count = entryCount<Own>(entry);
  const wider = widerWords(payload, low, high), first = min(low >> 6, firstWord<Own>(payload));
  if (wider == words) return true;
  const prefers = prefersShort(count + 1, wider);
  if (isTiny<Own>()) {
    if (!prefers && count < TINY_MAX) return false;
    // staysTiny() has seen to it that there are not too many.
    reserve(TINY_PAYLOAD + (<usize>wider << 3));
    widenShort(payload, first, wider);
    return true;
  }
  if (!prefers) return false;
  const at = resize(payload, shortBytes(words), shortBytes(wider));
  widenShort(at, first, wider);
  setBlock(entry, Kind.SHORT, count, at);
  return true;
}
