// Short bitsets that get words, and those of tiny arenas.

import { Own } from "../env/view";
import { Arena, Header, TINY_PAYLOAD } from "../arena/layout/header";
import { Allocator, Block } from "../arena/layout/blocks";
import { Forms } from "../arena/change/forms";
import { Entry } from "../arena/layout/entry";
import { Node } from "../arena/layout/node";
import { Page } from "../arena/packed/layout";
import { PageWriter } from "../arena/packed/begin";
import { Container } from "../container/limits";
import { Choice, Kind } from "../container/kind";
import { ShortBitset } from "../container/short";

/**
 * The words that a short bitset has, and those from that of `low` to that of `high`, with what is between.
 */
// @ts-ignore: decorator
@inline function widerWords(payload: usize, low: u32, high: u32): u32 {
  const first = ShortBitset.firstWord<Own>(payload);
  return max((high >> 6) + 1, first + ShortBitset.wordCount<Own>(payload)) - min(low >> 6, first);
}

/** The ways in which a tiny arena's short bitset grows when it gets a member. */
export const enum Grown { SHORT, PACKED, FULL }

/** How the tiny arena's short bitset grows when it gets the member `low`. */
export function grown(low: u32): Grown {
  const words = widerWords(changetype<Entry>(Entry.TINY).payload<Own>(), low, low),
    count = changetype<Entry>(Entry.TINY).count<Own>();
  if (!Choice.prefersShort(count + 1, words)) return count < Page.ITEMS_MAX ? Grown.PACKED : Grown.FULL;
  return words <= Forms.TINY_WORDS ? Grown.SHORT : Grown.FULL;
}

/** How the tiny arena's short bitset grows when another container, `key`, gets a member. */
export function grownBeside(key: u64): Grown {
  const count = changetype<Entry>(Entry.TINY).count<Own>(), own = changetype<Entry>(Entry.TINY).key<Own>();
  const full = Header.BYTES + Node.block(0, 2)
    + Block.bytes(changetype<Entry>(Entry.TINY).payloadBytes<Own>());
  const packs = count < Page.ITEMS_MAX
    && PageWriter.tightBytes(min(own, key), max(own, key), count + 1) <= full;
  return packs ? Grown.PACKED : Grown.FULL;
}

/**
 * Makes the entry's short bitset have the words of the values from `low` to `high`, one of which is a new
 * member. Returns false, with nothing changed, if another kind of container is smaller then.
 */
export function widenTo(entry: Entry, low: u32, high: u32): bool {
  const payload = entry.payload<Own>(), words = ShortBitset.wordCount<Own>(payload),
    count = entry.count<Own>();
  const wider = widerWords(payload, low, high), first = min(low >> 6, ShortBitset.firstWord<Own>(payload));
  if (wider == words) return true;
  if (!Choice.prefersShort(count + 1, wider)) return false;
  if (Header.isTiny<Own>()) {                        // grown() has seen to it that there are not too many
    Arena.reserve(TINY_PAYLOAD + (<usize>wider << 3));
    ShortBitset.widen(payload, first, wider);
    return true;
  }
  const at = Allocator.resize(payload, Container.shortBytes(words), Container.shortBytes(wider));
  ShortBitset.widen(at, first, wider);
  entry.setBlock(Kind.SHORT, count, at);
  return true;
}
