// A bitmap from a sorted list of offsets, one container at a time.

import { argument } from "../../env/memory";
import { Offset } from "../../arena/layout/entry";
import { begin } from "../../arena/builder/state";
import { finish } from "../../arena/builder/builder";
import { emit } from "../shape/emit";
import { Shape } from "../shape/shape";
import { Places, Scratch } from "../shape/scratch";
import { Kind } from "../../container/kind";
import { BITSET_BYTES, Container } from "../../container/limits";
import { Bitset } from "../../container/bitset";

/**
 * Makes memory 0, which is fresh, the bitmap of the call's `count` (at least 1) arguments. They are ascending
 * and may repeat.
 */
export function collect(count: u32): void {
  begin(min<u64>(count, Offset.key(argument.value(count - 1)) - Offset.key(argument.value(0)) + 1), 0);
  for (let from: u32 = 0, to: u32 = 0; from < count; from = to) {
    const key = Offset.key(argument.value(from));
    while (to < count && Offset.key(argument.value(to)) == key) to++;
    Places.make(Scratch.TEMP);
    const at = Places.at(Scratch.FIRST);
    emit(key, Container.isArraySized(to - from) ? arrayOf(from, to, at) : bitsetOf(from, to, at));
  }
  finish();
}

/** The arguments from .. to - 1, all of one container, as an array at `at`. */
function arrayOf(from: u32, to: u32, at: usize): u64 {
  let out = at - Container.MEMBER_BYTES, before = Container.UNIVERSE;
  for (let i = from; i < to; i++) {
    const low = Offset.low(argument.value(i));
    out += usize(low != before) << 1;
    store<u16>(out, low);
    before = low;
  }
  return Shape.of(Kind.ARRAY, Container.memberCount(at, out) + 1, at);
}

/** The arguments from .. to - 1, all of one container, as a bitset at `at`. */
function bitsetOf(from: u32, to: u32, at: usize): u64 {
  let members: u32 = 0;
  memory.fill(at, 0, BITSET_BYTES);
  for (let i = from; i < to; i++) {
    const low = Offset.low(argument.value(i));
    members += u32(!Bitset.has(at, low));
    Bitset.set(at, low);
  }
  return Shape.of(Kind.BITSET, members, at);
}
