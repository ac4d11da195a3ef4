// Containers that have lost members: when another kind is better, and when the words at the ends of bitsets
// and short bitsets are given back.

import { Own } from "../env/view";
import { Choice, Kind } from "../container/kind";
import { Container } from "../container/limits";
import { ShortBitset, spanOfBitset } from "../container/short";
import { packShort } from "../arena/change/forms";
import { Allocator } from "../arena/layout/blocks";
import { Entry } from "../arena/layout/entry";
import { Arena, Header } from "../arena/layout/header";
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
  const payload = entry.payload<Own>(), words = ShortBitset.wordCount<Own>(payload);
  if (Choice.staysShort(count, words)) return true;
  const fewer = ShortBitset.trim(payload), room = Header.bump() + plainRoom(entry.count<Own>());
  Allocator.resize(payload, Container.shortBytes(words), Container.shortBytes(fewer));
  return Choice.staysShort(count, fewer)
    || (room > Arena.heldAt() && Container.shortBytes(fewer) < WORTH_GROWING * Choice.plainBytes(count, fewer));
}

/** Turns a bitset of few members into a short bitset, an array or a sparse bitset. */
export function bitsetIntoPlain(entry: Entry): void {
  convertTo(entry, Choice.shrunk(entry.count<Own>(),
    ShortBitset.wordsOf(spanOfBitset<Own>(entry.payload<Own>()))));
}

/** Whether words without members at the ends of a bitset or a short bitset should be given back. */
export function isLoose(entry: Entry): bool {
  const kind = entry.kind<Own>(), payload = entry.payload<Own>();
  if (kind == Kind.SHORT) {
    return ShortBitset.isWorthTrimming(ShortBitset.wordCount<Own>(payload),
      ShortBitset.trimmedWords(payload));
  }
  if (kind != Kind.BITSET) return false;
  const words = ShortBitset.wordsOf(spanOfBitset<Own>(payload));
  return ShortBitset.isWorthTrimming(Container.WORDS, words)
    && Choice.prefersShort(entry.count<Own>(), words);
}

/** Gives back the words at the ends of a bitset or a short bitset if it isLoose(). Needs no memory. */
export function trim(entry: Entry): void {
  if (!isLoose(entry)) return;
  const payload = entry.payload<Own>();
  if (entry.kind<Own>() == Kind.BITSET) { convertTo(entry, Kind.SHORT); return; }
  const words = ShortBitset.wordCount<Own>(payload), left = ShortBitset.trim(payload);
  if (!Header.isTiny<Own>()) {
    Allocator.resize(payload, Container.shortBytes(words), Container.shortBytes(left));
  }
}

/**
 * Whether the container is a bitset of any kind for which another kind is better
 * without `less` of its members.
 */
export function isDepleted(entry: Entry, less: u32 = 0): bool {
  const kind = entry.kind<Own>(), count = entry.count<Own>() - less;
  if (kind == Kind.SHORT) {
    return !Choice.staysShort(count, ShortBitset.wordCount<Own>(entry.payload<Own>()));
  }
  return kind == Kind.BITSET ? !Choice.staysBitset(count)
    : kind == Kind.SPARSE && !Choice.staysSparse(count);
}

/**
 * Turns a container that isDepleted() without `less` of its members into a better kind.
 * A bitset has few enough for a sparse one.
 */
export function convertDepleted(entry: Entry, less: u32 = 0): void {
  const kind = entry.kind<Own>(), count = entry.count<Own>();
  if (kind == Kind.BITSET) bitsetIntoPlain(entry);
  else if (kind == Kind.SPARSE) convertTo(entry, Kind.ARRAY);
  else if (Header.isTiny<Own>()) packShort();
  else if (!trimmedStays(entry, count - less)) convertTo(entry, Choice.listKind(count));
}
