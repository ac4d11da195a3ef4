// The core with two more exports, for tests: a function that exceeds one of the sandbox's limits, in ways that
// test/safety/sandbox.test.ts lists in this order; and one that returns the form of a bitmap and of one of its
// containers, for fuzz/transitions.c.

import { Header } from "./arena/layout/header";
import { Directory } from "./arena/read/directory";
import { Entry } from "./arena/layout/entry";
import { Node } from "./arena/layout/node";
import { arena, argument, bits, bytes, left, output, reply, right, work, segments } from "./env/memory";
import { Own } from "./env/view";

export * from "./index";

/**
 * Goes one step beyond the last valid address or number; an unknown `way` touches every last valid one.
 * Expressions like `way - 4` in case 3 are the greatest address, 2^32 - 1, and the divisor in case 30 is 0.
 */
export function trap(way: u32): u32 {
  const size = <usize>arena.size(), none = i64x2.splat(0);
  switch (way) {
    case 0: return load<u8>(size);
    case 1: return <u32>load<u64>(size - 7);
    case 2: return <u32>i64x2.extract_lane(v128.load(size - 15), 0);
    case 3: return load<u8>(way - 4, 16);
    case 4: store<u8>(size, 1); break;
    case 5: v128.store(size - 15, none); break;
    case 6: memory.fill(size - 1, 0, 2); break;
    case 7: memory.copy(0, size - 1, 2); break;
    case 8: memory.copy(size - 1, 0, 2); break;
    case 9: return bits.set(size - 8191, 0);
    case 10: return bits.clear(way - 11, 0);
    case 11: return bits.flip(size, 0);
    case 12: return left.load8(size, 0);
    case 13: return <u32>right.load64(size - 7, 0);
    case 14: return <u32>i64x2.extract_lane(left.load128(size - 16, 1), 0);
    case 15: return right.load16(way - 16, 16);
    case 16: left.copy(0, size - 1, 2); break;
    case 17: right.copy(size - 1, 0, 2); break;
    case 18: left.select(0); break;
    case 19: right.select(0xfffffffe); break;
    case 20: return <u32>argument.value(0);
    case 21: argument.handBack(1); break;
    case 22: output.write(0, 1); break;
    case 23: output.write(size, 1); break;
    case 24: output.fill(0, 1); break;
    case 25: output.put(0, 1); break;
    case 26: output.put128(none, 1); break;
    case 27: output.mark(0, 1); break;
    case 28: reply.lanes(0, none, 9); break;
    case 29: for (let i = 0; i < 4097; i++) reply.member(i); break;
    case 30: return 1 / way % (way - 30);
    case 31: unreachable();
    case 32: return deeper(128 * way);        // more than MAX_RECURSION of host/core/wasm-rt.h
    case 33: arena.grow(<u32>size + 1); break;
    case 34: bytes.increment(size - 0xffff, 0); break;
    case 35: return <u32>bytes.atLeast(size - 63, 1);
    case 36: return bytes.gather(0, size - 511, 0);
    case 37: return <u32>right.identity(0);
    case 38: argument.put(0, 1); break;
    case 39: left.spread(size - 8191, 0, 0, 0, 1); break;
    case 40: left.spread(0, 0, 0, size - 127, 1); break;
    case 41: right.spread(0, size - 127, 0, 0, 1); break;
    case 42: right.spread(0, 0, size - 127, 0, 1); break;
    case 43: return bytes.meet(0, 0, 0, size - 127, 0, 0);
    case 44: return bytes.combine(size - 8191, 0, 0, 0, 0, 0, 0, 1);
    case 45: return segments.view(0);
    case 46: arena.close(0, 0, 0, 0); break;
    case 47: segments.change(0); break;
    case 48: segments.leave(); break;
    case 49: segments.renew(64, 0, 64); break;
    case 50: segments.remove(); break;
    case 51: segments.note(1); break;
    case 52: arena.cut(size); break;
    default: return reach();
  }
  return 0;
}

/**
 * Touches the last valid addresses and numbers.
 * The arena must have more than 8 KiB; the bitmap stays as it was.
 */
function reach(): u32 {
  const size = <usize>arena.size(), last = load<u8>(size - 1);
  let seen = last + <u32>load<u64>(size - 8)
    + <u32>i64x2.extract_lane(v128.load(size - 16), 0) + left.load8(size - 1, 0);
  seen += <u32>right.load64(size - 8, 0) + <u32>i64x2.extract_lane(left.load128(size - 17, 1), 0);
  store<u8>(size - 1, last);
  memory.copy(size - 1, size - 1, 1);
  left.copy(size - 1, size - 1, 1);
  seen += bits.flip(size - 8192, 0x0000_0000_ffff_ffff) + bits.flip(size - 8192, 0x0000_0000_ffff_ffff);
  seen += <u32>bytes.atLeast(size - 64, 1);
  for (let i = 0; i < 4096; i++) reply.member(i);
  output.write(size, 0);
  output.fill(0, 0);
  output.put128(i64x2.splat(0), 0);
  arena.grow(<u32>size);
  work.spend(u32.MAX_VALUE);
  return seen + deeper(last & 31);
}

/** Nests `times` calls. */
function deeper(times: u32): u32 { return times ? deeper(times - 1) + times : arena.size(); }

/**
 * The forms of the arena, of the leaf for `key`, and of container `key`:
 * a byte each, numbered as fuzz/transitions.c names them.
 */
export function formsAt(key: u64): u32 {
  return formOfArena() | (formOfLeaf(Directory.leafFor<Own>(key)) << 8)
    | (formOfContainer(Directory.find(key)) << 16);
}

function formOfArena(): u32 {
  const root = Node.root<Own>();
  if (root.level<Own>()) return 5;
  if (!Header.isTiny<Own>()) return root.page.isPacked<Own>() ? 4 : 3;
  if (root.page.isPacked<Own>()) return 2;
  return root.count<Own>() ? 1 : 0;
}

function formOfLeaf(leaf: Node): u32 {
  if (Header.isTiny<Own>()) return 0;
  return leaf.page.isPacked<Own>() ? 3 : leaf.isRoomy() ? 2 : 1;
}

/** The container's kind; 8 if there is none, 9 if it is a group in a packed leaf. */
function formOfContainer(entry: Entry): u32 { return entry ? entry.isGroup() ? 9 : entry.kind<Own>() : 8; }
