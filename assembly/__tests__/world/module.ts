// The world module takes the place of the host in unit tests. as-pect.config.js compiles it separately and
// links its exports to the imports of assembly/env/memory.ts by name: left_load8 becomes left.load8. It shares
// the tested module's memory (see layout.ts) and keeps its own state in globals. Calls that trap in production
// trap here, too.

import {
  ARENA_BYTES, OPERANDS, OPERANDS_BYTES, MEMBERS, MEMBERS_BYTES, OUTPUT, OUTPUT_BYTES, ARGUMENTS,
  ARGUMENTS_BYTES, TABLE, TABLE_BYTES, LANES, LANES_BYTES,
} from "./layout";

const SELF: u32 = 0xffffffff;
/** The value of new arena bytes: the core must not rely on zeros. */
const STALE: u8 = 0xa7;

let arenaSize: u32 = 0;
let operands: u32 = 0, operandsEnd: usize = OPERANDS;
let arenaLimit: u32 = 0;
let argumentCount: u32 = 0, handedBack: u32 = 0, isDeferred: bool = false;
let memberCount: u32 = 0;
let outputSize: u32 = 0, outputLimit: u32 = 0;
let leftShows: u32 = SELF, rightShows: u32 = SELF;
let grows: u32 = 0;

function need(condition: bool): void { if (!condition) unreachable(); }

// @ts-ignore: decorator
@inline function sizeOf(k: u32): u32 { return k == SELF ? arenaSize : load<u32>(TABLE + (<usize>k << 3), 4); }
/** The address in the shared memory of `bytes` bytes at `at + offset` of operand `k`. */
// @ts-ignore: decorator
@inline function reach(k: u32, at: usize, offset: u32, bytes: usize): usize {
  need(<u64>at + <u64>offset + <u64>bytes <= <u64>sizeOf(k));
  return at + <usize>offset + (k == SELF ? 0 : <usize>load<u32>(TABLE + (<usize>k << 3)));
}
function choose(k: u32): u32 {
  need(k == SELF || k < operands);
  return k;
}
function copyIn(k: u32, to: usize, from: usize, bytes: usize): void {
  need(<u64>to + <u64>bytes <= <u64>arenaSize);
  memory.copy(to, reach(k, from, 0, bytes), bytes);
}
/** Does nothing: `at` and `bytes` may reach beyond the operand's end, but not beyond 4 GiB. */
function hint(at: usize, bytes: usize): void { need(<u64>at + <u64>bytes <= u32.MAX_VALUE); }

export function left_select(k: u32): void { leftShows = choose(k); }

export function left_load8(at: usize, offset: u32): u32 {
  return <u32>load<u8>(reach(leftShows, at, offset, 1));
}

export function left_load16(at: usize, offset: u32): u32 {
  return <u32>load<u16>(reach(leftShows, at, offset, 2));
}

export function left_load32(at: usize, offset: u32): u32 {
  return load<u32>(reach(leftShows, at, offset, 4));
}

export function left_load64(at: usize, offset: u32): u64 {
  return load<u64>(reach(leftShows, at, offset, 8));
}

export function left_load128(at: usize, offset: u32): v128 {
  return v128.load(reach(leftShows, at, offset, 16));
}

export function left_copy(to: usize, from: usize, bytes: usize): void { copyIn(leftShows, to, from, bytes); }
export function left_prefetch(at: usize, bytes: usize): void { hint(at, bytes); }

export function right_select(k: u32): void { rightShows = choose(k); }
export function right_size(): u32 { return sizeOf(rightShows); }
export function right_identity(k: u32): u64 {
  need(k < operands);
  return <u64>load<u32>(TABLE + (<usize>k << 3));
}

export function right_load8(at: usize, offset: u32): u32 {
  return <u32>load<u8>(reach(rightShows, at, offset, 1));
}

export function right_load16(at: usize, offset: u32): u32 {
  return <u32>load<u16>(reach(rightShows, at, offset, 2));
}

export function right_load32(at: usize, offset: u32): u32 {
  return load<u32>(reach(rightShows, at, offset, 4));
}

export function right_load64(at: usize, offset: u32): u64 {
  return load<u64>(reach(rightShows, at, offset, 8));
}

export function right_load128(at: usize, offset: u32): v128 {
  return v128.load(reach(rightShows, at, offset, 16));
}

export function right_copy(to: usize, from: usize, bytes: usize): void {
  copyIn(rightShows, to, from, bytes);
}

export function right_prefetch(at: usize, bytes: usize): void { hint(at, bytes); }

const enum Spread { STORE, OR, XOR, AND, ANDNOT }

function spread(k: u32, to: usize, at: usize, masks: usize, summary: usize, how: Spread): void {
  need(<u64>to + 8192 <= <u64>arenaSize);
  let used: u32 = 0;
  for (let i: u32 = 0, nextMask: u32 = 0, mask: u32 = 0; i < 8192; i++) {
    if (i % 64 == 0) { reach(k, masks, nextMask, 128); reach(k, at, used, 128); }
    if (i % 8 == 0) {
      const has = (<u32>load<u8>(reach(k, summary, i / 64, 1)) >> ((i / 8) % 8)) & 1;
      mask = has ? load<u8>(reach(k, masks, nextMask++, 1)) : 0;
    }
    const isThere = ((mask >> (i % 8)) & 1) != 0, old: u32 = load<u8>(to + i);
    const byte: u32 = isThere ? load<u8>(reach(k, at, used++, 1)) : 0;
    if (how == Spread.STORE) store<u8>(to + i, byte);
    if (how == Spread.OR) store<u8>(to + i, old | byte);
    if (how == Spread.XOR) store<u8>(to + i, old ^ byte);
    if (how == Spread.AND) store<u8>(to + i, old & byte);
    if (how == Spread.ANDNOT) store<u8>(to + i, old & ~byte);
  }
}
export function left_spread(to: usize, at: usize, masks: usize, summary: usize, how: u32): void {
  spread(leftShows, to, at, masks, summary, how);
}
export function right_spread(to: usize, at: usize, masks: usize, summary: usize, how: u32): void {
  spread(rightShows, to, at, masks, summary, how);
}
/** Writes the bitset of operand `k` that spread() would make to `out`. */
function bytesOf(k: u32, at: usize, masks: usize, summary: usize, out: usize): void {
  let value: u32 = 0, nextMask: u32 = 0;
  for (let word: u32 = 0; word < 1024; word++) {
    const has = (load<u8>(reach(k, summary, word >> 3, 1)) >> <u8>(word & 7)) & 1;
    const mask: u32 = has ? load<u8>(reach(k, masks, nextMask++, 1)) : 0;
    for (let byte: u32 = 0; byte < 8; byte++) {
      store<u8>(out + 8 * word + byte, (mask >> byte) & 1 ? load<u8>(reach(k, at, value++, 1)) : 0);
    }
  }
}
export function bytes_meet(
  at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
): u32 {
  const x = LANES, y = LANES + 8192;
  bytesOf(leftShows, at, masks, summary, x);
  bytesOf(rightShows, rightAt, rightMasks, rightSummary, y);
  let common: u32 = 0;
  for (let byte: usize = 0; byte < 8192; byte++) {
    common += popcnt<u32>(<u32>load<u8>(x + byte) & <u32>load<u8>(y + byte));
  }
  return common;
}
export function bytes_combine(
  to: usize, at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
  how: u32,
): u32 {
  need(<u64>to + 8192 <= <u64>arenaSize);
  const x = LANES, y = LANES + 8192;
  bytesOf(leftShows, at, masks, summary, x);
  bytesOf(rightShows, rightAt, rightMasks, rightSummary, y);
  let members: u32 = 0;
  for (let byte: usize = 0; byte < 8192; byte++) {
    const l: u32 = load<u8>(x + byte), r: u32 = load<u8>(y + byte);
    const both = how == Spread.OR ? l | r : how == Spread.XOR ? l ^ r : how == Spread.AND ? l & r : l & ~r;
    store<u8>(to + byte, both);
    members += popcnt<u32>(both);
  }
  return members;
}
export function vector_spread(bytes: u64, mask: u32): u64 {
  let result: u64 = 0;
  for (let i: u32 = 0, next: u64 = 0; i < 8; i++) {
    if ((mask >> i) & 1) result |= ((bytes >> (8 * next++)) & 0xff) << (8 * i);
  }
  return result;
}
export function bytes_gather(to: usize, at: usize, masks: usize): u32 {
  need(<u64>max(to, at) + 512 <= <u64>arenaSize && <u64>masks + 64 <= <u64>arenaSize);
  let used: u32 = 0;
  for (let i: usize = 0; i < 512; i += 8) {
    let mask: u32 = 0;
    for (let bytes = load<u64>(at + i), bit: u32 = 0; bit < 8; bytes >>= 8, bit++) {
      if (!(bytes & 0xff)) continue;
      store<u8>(to + used++, <u8>bytes);
      mask |= 1 << bit;
    }
    store<u8>(masks + (i >> 3), mask);
  }
  return used;
}

export function vector_compact(lanes: v128, mask: u32): v128 {
  v128.store(LANES, lanes);
  v128.store(LANES, i64x2.splat(0x5b5b5b5b5b5b5b5b), LANES_BYTES);
  for (let i: usize = 0, to = LANES + LANES_BYTES; i < 8; i++) {
    if ((mask >> <u32>i) & 1) { store<u16>(to, load<u16>(LANES + (i << 1))); to += 2; }
  }
  return v128.load(LANES, LANES_BYTES);
}

export function vector_lanesIn(x: v128, y: v128): u32 {
  v128.store(LANES, x);
  v128.store(LANES, y, LANES_BYTES);
  let found: u32 = 0;
  for (let i: usize = 0; i < 16 && load<u16>(LANES + i); i += 2) {
    for (let j: usize = 0; j < 16 && load<u16>(LANES + LANES_BYTES + j); j += 2) {
      if (load<u16>(LANES + i) == load<u16>(LANES + LANES_BYTES + j)) found |= (<u32>1) << <u32>(i >> 1);
    }
  }
  return found;
}

export function vector_width(): u32 { return 16; }

const enum Change { SET, CLEAR, FLIP }

function changeBits(at: usize, four: u64, change: Change): u32 {
  need(<u64>at + 8192 <= <u64>arenaSize);
  let wereSet: u32 = 0;
  for (let i: u64 = 0; i < 64; i += 16) {
    const offset = <u32>(four >> i) & 0xffff, byte = at + (offset >> 3);
    const bit = <u8>1 << <u8>(offset & 7), old = load<u8>(byte);
    if (old & bit) wereSet++;
    store<u8>(byte, change == Change.SET || (change == Change.FLIP && !(old & bit)) ? old | bit : old & ~bit);
  }
  return wereSet;
}
export function bits_set(at: usize, four: u64): u32 { return changeBits(at, four, Change.SET); }
export function bits_clear(at: usize, four: u64): u32 { return changeBits(at, four, Change.CLEAR); }
export function bits_flip(at: usize, four: u64): u32 { return changeBits(at, four, Change.FLIP); }

export function bytes_increment(at: usize, four: u64): void {
  need(<u64>at + 65536 <= <u64>arenaSize);
  for (let i: u64 = 0; i < 64; i += 16) {
    const byte = at + (<usize>(four >> i) & 0xffff);
    store<u8>(byte, load<u8>(byte) + 1);
  }
}
export function bytes_atLeast(at: usize, least: u32): u64 {
  need(<u64>at + 64 <= <u64>arenaSize);
  let found: u64 = 0;
  for (let i: usize = 0; i < 64; i++) found |= <u64>u32(load<u8>(at + i) >= <u8>least) << i;
  return found;
}

let worked: u64 = 0;
export function work_spend(units: u32): void { worked += units; }

export function arena_size(): u32 { return arenaSize; }
export function arena_grow(bytes: u32): void {
  if (bytes <= arenaSize) return;
  need(bytes <= arenaLimit);
  memory.fill(<usize>arenaSize, STALE, <usize>(bytes - arenaSize));
  arenaSize = bytes;
  grows++;
}

export function arena_cut(bytes: u32): void {
  need(bytes <= arenaSize);
  arenaSize = bytes;
}
export function arena_most(): u32 { return u32.MAX_VALUE; }
/* eslint-disable @typescript-eslint/no-unused-vars -- the parameters are those of the imports */
export function arena_close(_used: u32, _held: u32, _first: u64, _members: u64): void { need(false); }

// --- segments: here, every bitmap is one arena ---------------------------------------------------------------

export function segments_are(_side: u32): bool { return false; }
export function segments_seek(_side: u32, _offset: u64): void { need(false); }
export function segments_near(_side: u32, _from: u32, _key: u64): void { need(false); }
export function segments_next(_side: u32): bool { return false; }
export function segments_at(_side: u32): u32 { return 0; }
export function segments_show(_side: u32, _index: u32): void { return; }
export function segments_seekRank(_side: u32, _rank: u64): void { need(false); }
export function segments_before(_side: u32): u64 { need(false); return 0; }
export function segments_members(_side: u32): u64 { need(false); return 0; }
export function segments_view(k: u32): u32 { return k; }
export function segments_change(_key: u64): void { need(false); }
export function segments_renew(_bytes: u32, _key: u64, _more: u32): void { need(false); }
export function segments_leave(): void { need(false); }
export function segments_remove(): void { need(false); }
export function segments_note(_members: u64): void { need(false); }
/* eslint-enable @typescript-eslint/no-unused-vars */

export function argument_value(index: u32): u64 {
  need(index < argumentCount);
  return load<u64>(ARGUMENTS + (<usize>index << 3));
}

export function argument_put(index: u32, value: u64): void {
  need(index < argumentCount);
  store<u64>(ARGUMENTS + (<usize>index << 3), value);
}

export function argument_handBack(value: u64): void {
  need(handedBack < argumentCount);
  store<u64>(ARGUMENTS + (<usize>handedBack << 3), value);
  handedBack++;
}

export function argument_defer(): void { isDeferred = true; }
export function argument_deferred(): bool { return isDeferred; }

export function reply_member(offset: u64): void {
  need((<usize>memberCount << 3) < MEMBERS_BYTES);
  store<u64>(MEMBERS + (<usize>memberCount << 3), offset);
  memberCount++;
}
export function reply_lanes(base: u64, lanes: v128, count: u32): void {
  need(count <= 8);
  v128.store(LANES, lanes);
  for (let i: u32 = 0; i < count; i++) reply_member(base + load<u16>(LANES + (<usize>i << 1)));
}

export function output_write(from: usize, bytes: usize): void {
  need(<u64>from + <u64>bytes <= <u64>arenaSize && <u64>outputSize + <u64>bytes <= <u64>outputLimit);
  memory.copy(OUTPUT + <usize>outputSize, from, bytes);
  outputSize += <u32>bytes;
}
export function output_fill(value: u32, count: u64): void {
  need(<u64>outputSize + count <= <u64>outputLimit);
  memory.fill(OUTPUT + <usize>outputSize, <u8>value, <usize>count);
  outputSize += <u32>count;
}
export function output_put(value: u64, bytes: u32): void {
  need(bytes >= 1 && bytes <= 8 && <u64>outputSize + <u64>bytes <= <u64>outputLimit);
  for (let i: u32 = 0; i < bytes; i++) {
    store<u8>(OUTPUT + <usize>outputSize + <usize>i, <u8>(value >> (i << 3)));
  }
  outputSize += bytes;
}
export function output_put128(value: v128, bytes: u32): void {
  need(bytes <= 16 && <u64>outputSize + <u64>bytes <= <u64>outputLimit);
  v128.store(LANES, value);
  memory.copy(OUTPUT + <usize>outputSize, LANES, bytes);
  outputSize += bytes;
}
export function output_mark(at: u64, bits: u32): void {
  need(at < <u64>outputSize && bits <= 0xff);
  store<u8>(OUTPUT + <usize>at, load<u8>(OUTPUT + <usize>at) | <u8>bits);
}

// Called by tests only: see world.ts.

export function world_enter(): void {
  leftShows = SELF;
  rightShows = SELF;
  memberCount = 0;
  outputSize = 0;
  handedBack = 0;
  isDeferred = false;
}
/** Units of work since the last call. */
export function world_spent(): u64 {
  const units = worked;
  worked = 0;
  return units;
}
export function world_clear(): void {
  world_enter();
  operands = 0;
  operandsEnd = OPERANDS;
  argumentCount = 0;
  outputLimit = <u32>OUTPUT_BYTES;
  arenaLimit = <u32>ARENA_BYTES;
  grows = 0;
}
export function world_setArenaSize(bytes: u32): void {
  need(bytes <= <u32>ARENA_BYTES);
  arenaSize = bytes;
}
export function world_setArenaLimit(bytes: u32): void { arenaLimit = min(bytes, <u32>ARENA_BYTES); }
export function world_growCount(): u32 { return grows; }
export function world_addOperand(bytes: u32): u32 {
  const at = (operandsEnd + 15) & ~15;
  need(at + <usize>bytes <= OPERANDS + OPERANDS_BYTES && (<usize>operands << 3) < TABLE_BYTES);
  store<u32>(TABLE + (<usize>operands << 3), <u32>at);
  store<u32>(TABLE + (<usize>operands << 3), bytes, 4);
  operandsEnd = at + <usize>bytes;
  return operands++;
}
/** Adds operand `k` once more. */
export function world_repeatOperand(k: u32): u32 {
  need(k < operands && (<usize>operands << 3) < TABLE_BYTES);
  store<u64>(TABLE + (<usize>operands << 3), load<u64>(TABLE + (<usize>k << 3)));
  return operands++;
}
export function world_operandAt(k: u32): usize { return <usize>load<u32>(TABLE + (<usize>k << 3)); }
export function world_addArgument(value: u64): u32 {
  need((<usize>argumentCount << 3) < ARGUMENTS_BYTES);
  store<u64>(ARGUMENTS + (<usize>argumentCount << 3), value);
  return argumentCount++;
}
export function world_clearArguments(): void { argumentCount = 0; }
export function world_argumentsHandedBack(): u32 { return handedBack; }
export function world_members(): u32 { return memberCount; }
export function world_setOutputLimit(bytes: u32): void { outputLimit = bytes; }
export function world_outputBytes(): u32 { return outputSize; }
