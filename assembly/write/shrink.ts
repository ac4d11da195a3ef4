// Containers that have lost members: when another kind is better, and when the words at the ends of bitsets
// and short bitsets are given back.

import { Own } from "../env/view";
import {
  Kind, plainBytes, plainKind, prefersShort, shrunkKind, staysBitset, staysBuckets, staysShort,
} from "../container/kind";
import { shortBytes, WORDS } from "../container/limits";
import {
  isWorthTrimming, spanOfBitset, trimShort, trimmedWords, wordCount, wordsOf,
} from "../container/short";
import { packShort } from "../arena/change/forms";
import { resize } from "../arena/layout/blocks";
import { Entry } from "../arena/layout/entry";
import { Header, heldAt } from "../arena/layout/header";
import { convertTo, plainRoom } from "./convert";

/**
 * A conversion for which the arena would have to grow is worth that only if it
 * shrinks the container to a quarter.
 */
// @ts-ignore: decorator
@inline const WORTH_GROWING: usize = 4;

/**
 * Whether a short bitset in a block that will have `count` members should stay one.
 * Trims it first if not as it is.
 */
export function trimmedStays(entry: Entry, count: u32): bool {
  const payload = entry.payload<Own>(), words = wordCount<Own>(payload);
  if (staysShort(count, words)) return true;
  const fewer = trimShort(payload), room = Header.bump() + plainRoom(entry.count<Own>());
  resize(payload, shortBytes(words), shortBytes(fewer));
  return staysShort(count, fewer)
    || (room > heldAt() && shortBytes(fewer) < WORTH_GROWING * plainBytes(count));
}

/** Turns a bitset of few members into a short bitset, an array or buckets. */
export function bitsetIntoPlain(entry: Entry): void {
  convertTo(entry, shrunkKind(entry.count<Own>(), wordsOf(spanOfBitset<Own>(entry.payload<Own>()))));
}

/** Whether words without members at the ends of a bitset or a short bitset should be given back. */
export function isLoose(entry: Entry): bool {
  const kind = entry.kind<Own>(), payload = entry.payload<Own>();
  if (kind == Kind.SHORT) return isWorthTrimming(wordCount<Own>(payload), trimmedWords(payload));
  if (kind != Kind.BITSET) return false;
  const words = wordsOf(spanOfBitset<Own>(payload));
  return isWorthTrimming(WORDS, words) && prefersShort(entry.count<Own>(), words);
}

/** Gives back the words at the ends of a bitset or a short bitset if it isLoose(). Needs no memory. */
export function trim(entry: Entry): void {
  if (!isLoose(entry)) return;
  const payload = entry.payload<Own>();
  if (entry.kind<Own>() == Kind.BITSET) { convertTo(entry, Kind.SHORT); return; }
  const words = wordCount<Own>(payload), left = trimShort(payload);
  if (!Header.isTiny<Own>()) resize(payload, shortBytes(words), shortBytes(left));
}

/**
 * Whether the container is a bitset, a short bitset or buckets for which another kind is better
 * without `less` of its members.
 */
export function isDepleted(entry: Entry, less: u32 = 0): bool {
  const kind = entry.kind<Own>(), count = entry.count<Own>() - less;
  if (kind == Kind.SHORT) {
    return !staysShort(count, wordCount<Own>(entry.payload<Own>()));
  }
  return kind == Kind.BITSET ? !staysBitset(count) : kind == Kind.BUCKETS && !staysBuckets(count);
}

/**
 * Turns a container that isDepleted() without `less` of its members into a better kind.
 * A bitset has ARRAY_MAX members at most.
 */
export function convertDepleted(entry: Entry, less: u32 = 0): void {
  const kind = entry.kind<Own>(), count = entry.count<Own>();
  if (kind == Kind.BITSET) bitsetIntoPlain(entry);
  else if (kind == Kind.BUCKETS) convertTo(entry, Kind.ARRAY);
  else if (Header.isTiny<Own>()) packShort();
  else if (!trimmedStays(entry, count - less)) convertTo(entry, plainKind(count));
}
