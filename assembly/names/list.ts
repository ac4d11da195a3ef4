// The names of a list of ids. Members of a bitmap ascend, so a name is looked for near the one before it.

import { argument, left } from "../env/memory";
import { Left } from "../env/view";
import { DESK_BYTES, showHeap } from "./dictionary";
import { Heap } from "./heap";
import { NAME_MOST, Record } from "./record";
import { unpackName } from "./unpack";

/** The bytes of a name's length, and those behind a name that have no meaning. */
// @ts-ignore: decorator
@inline const LENGTH_BYTES: usize = 4, BEHIND: usize = 8;
/** Where the desk has room for no name more, if that is a long one. */
// @ts-ignore: decorator
@inline const FULL_FROM: usize = DESK_BYTES - LENGTH_BYTES - NAME_MOST - BEHIND;
/** From one id to the next, at most so many records are skipped one by one. */
// @ts-ignore: decorator
@inline const NEAR: u64 = 16;

/**
 * Writes the names that arguments 0 to `count` - 1, ids, have in operand 0, a dictionary, to memory 0, the
 * desk: the length of each as a u32, 0 if there is none, and the name. Returns how many there was room for.
 */
export function listNames(count: u32): u32 {
  left.select(0);
  let to: usize = 0, record: usize = 0, before: u64 = 0, isShown: bool = false, i: u32 = 0;
  for (; i < count && to <= FULL_FROM; i++) {
    const id = argument.value(i);
    let length: u32 = 0;
    if (!isShown || !Heap.has<Left>(id)) {
      isShown = showHeap(id) && Heap.has<Left>(id);
      record = 0;
    }
    if (isShown) {
      if (record && id - before < NEAR) while (before++ < id) record += Record.bytes<Left>(record);
      else record = Heap.locate<Left>(<u32>id - Heap.first<Left>());
      before = id;
      if (!Record.isDead<Left>(record)) length = unpackName(record, to + LENGTH_BYTES);
    }
    store<u32>(to, length);
    to += LENGTH_BYTES + length;
  }
  return i;
}
