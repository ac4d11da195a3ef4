// The core's imports for JavaScript hosts, which cannot implement them: JavaScript cannot call a function
// with a v128 parameter. The Makefile compiles this file to a module of its own. core/core.ts links its
// exports to the imports of assembly/env/memory.ts by name (left_load8 becomes left.load8), and sets calls up
// with those that begin with host_.
//
// Both modules share one memory:
//
//   0      memory 0 of the core: the arena, at address 0 as in a server
//   room   lanes: working space for vectors
//          members: those of a reply that JavaScript has not taken yet
//          held: operands, arguments and output of the call
//
// Places are relative to `room`, which moves up when an arena needs more. This module's globals are all its
// state. What traps in a server traps here, too.

import { Entry } from "../../assembly/arena/layout/entry";

const SELF: u32 = 0xffffffff;
const PAGE: u64 = 65536;

/** Where the parts behind the arena are. */
const LANES: u32 = 0, LANES_BYTES: u32 = 32;
const MEMBERS: u32 = LANES + LANES_BYTES;
const BATCH: u32 = 4096;
const HELD: u32 = MEMBERS + BATCH * 8;
/** The most operands of a call, and bytes of the table that has them: u32 place, u32 bytes. */
const OPERANDS: u32 = 1024, OPERAND_BYTES: u32 = 8;

// @ts-ignore: decorator
@external("host", "takeMembers") declare function takeMembers(at: u32, count: u32): void;
// @ts-ignore: decorator
@external("host", "takeSegment") declare function takeSegment(bytes: u32): void;

let room: u32 = 0, held: u32 = 0;
let arenaSize: u32 = 0;
/** The most bytes of a segment in a call that builds segments; otherwise 0. */
let segmentMost: u32 = 0;
let operands: u32 = 0;
let argumentsAt: u32 = 0, argumentCount: u32 = 0, handedBack: u32 = 0, isDeferred: bool = false;
let outputAt: u32 = 0, outputLimit: u64 = 0, outputSize: u64 = 0;
let memberCount: u32 = 0;
let isOutOfMemory: bool = false;

/** What left and right show. Their addresses are absolute, and so renewed when room moves. */
let leftShows: u32 = SELF, leftBase: u32 = 0, leftSize: u32 = 0;
let rightShows: u32 = SELF, rightBase: u32 = 0, rightSize: u32 = 0;

// @ts-ignore: decorator
@inline function need(condition: bool): void { if (!condition) unreachable(); }

function rowOf(k: u32): usize { return <usize>(room + HELD + k * OPERAND_BYTES); }
function sizeOf(k: u32): u32 { return k == SELF ? arenaSize : load<u32>(rowOf(k), 4); }
function placeOf(k: u32): u32 { return load<u32>(rowOf(k)); }
function addressOf(k: u32): u32 { return k == SELF ? 0 : room + placeOf(k); }

function show(): void {
  leftBase = addressOf(leftShows);
  leftSize = sizeOf(leftShows);
  rightBase = addressOf(rightShows);
  rightSize = sizeOf(rightShows);
}

/** Makes the memory that many bytes large. */
function reserve(bytes: u64): void {
  const pages = (bytes + PAGE - 1) / PAGE, has = <u64>memory.size();
  if (pages <= has) return;
  isOutOfMemory = pages >= PAGE || memory.grow(<i32>(pages - has)) < 0;
  need(!isOutOfMemory);
}

/** Makes room for an arena of that many bytes. */
function makeRoom(bytes: u64): void {
  if (bytes <= room) return;
  let most = (bytes + (bytes >> 2) + PAGE - 1) / PAGE * PAGE;
  if (most + held >= PAGE * PAGE) most = (bytes + PAGE - 1) / PAGE * PAGE;
  reserve(most + held);
  memory.copy(<usize>most, <usize>room, held);
  room = <u32>most;
  show();
}

// --- left and right ----------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline function inLeft(at: usize, offset: u32, bytes: u64): usize {
  need(<u64>at + <u64>offset + bytes <= <u64>leftSize);
  return at + <usize>offset + <usize>leftBase;
}
// @ts-ignore: decorator
@inline function inRight(at: usize, offset: u32, bytes: u64): usize {
  need(<u64>at + <u64>offset + bytes <= <u64>rightSize);
  return at + <usize>offset + <usize>rightBase;
}
// @ts-ignore: decorator
@inline function inArena(at: usize, bytes: u64): usize {
  need(<u64>at + bytes <= <u64>arenaSize);
  return at;
}

/** Does nothing: `at` and `bytes` may reach beyond the operand's end, but not beyond 4 GiB. */
function hint(at: usize, bytes: usize): void { need(<u64>at + <u64>bytes <= u32.MAX_VALUE); }

export function left_select(k: u32): void {
  need(k == SELF || k < operands);
  leftShows = k;
  leftBase = addressOf(k);
  leftSize = sizeOf(k);
}
export function left_load8(at: usize, offset: u32): u32 { return <u32>load<u8>(inLeft(at, offset, 1)); }
export function left_load16(at: usize, offset: u32): u32 { return <u32>load<u16>(inLeft(at, offset, 2)); }
export function left_load32(at: usize, offset: u32): u32 { return load<u32>(inLeft(at, offset, 4)); }
export function left_load64(at: usize, offset: u32): u64 { return load<u64>(inLeft(at, offset, 8)); }
export function left_load128(at: usize, offset: u32): v128 { return v128.load(inLeft(at, offset, 16)); }
export function left_copy(to: usize, from: usize, bytes: usize): void {
  memory.copy(inArena(to, bytes), inLeft(from, 0, bytes), bytes);
}
export function left_prefetch(at: usize, bytes: usize): void { hint(at, bytes); }

export function right_select(k: u32): void {
  need(k == SELF || k < operands);
  rightShows = k;
  rightBase = addressOf(k);
  rightSize = sizeOf(k);
}
export function right_size(): u32 { return rightSize; }
export function right_identity(k: u32): u64 {
  need(k < operands);
  return <u64>placeOf(k);
}
export function right_load8(at: usize, offset: u32): u32 { return <u32>load<u8>(inRight(at, offset, 1)); }
export function right_load16(at: usize, offset: u32): u32 { return <u32>load<u16>(inRight(at, offset, 2)); }
export function right_load32(at: usize, offset: u32): u32 { return load<u32>(inRight(at, offset, 4)); }
export function right_load64(at: usize, offset: u32): u64 { return load<u64>(inRight(at, offset, 8)); }
export function right_load128(at: usize, offset: u32): v128 { return v128.load(inRight(at, offset, 16)); }
export function right_copy(to: usize, from: usize, bytes: usize): void {
  memory.copy(inArena(to, bytes), inRight(from, 0, bytes), bytes);
}
export function right_prefetch(at: usize, bytes: usize): void { hint(at, bytes); }

// --- spread and gather -------------------------------------------------------------------------------------

const enum Spread { STORE, OR, XOR, AND, ANDNOT }
function spread(to: usize, from: usize, masks: usize, summary: usize, how: Spread): void {
  for (let word: usize = 0; word < 1024; word++) {
    const has = (<u32>load<u8>(summary + (word >> 3)) >> <u32>(word & 7)) & 1;
    let mask: u32 = has ? load<u8>(masks++) : 0;
    for (let i: usize = word << 3; i < (word + 1) << 3; i++, mask >>= 1) {
      const byte: u32 = mask & 1 ? load<u8>(from++) : 0, old = <u32>load<u8>(to + i);
      store<u8>(to + i, how == Spread.STORE ? byte : how == Spread.OR ? old | byte
        : how == Spread.XOR ? old ^ byte : how == Spread.AND ? old & byte : old & ~byte);
    }
  }
}
export function left_spread(to: usize, at: usize, masks: usize, summary: usize, how: u32): void {
  spread(inArena(to, 8192), inLeft(at, 0, 128), inLeft(masks, 0, 128), inLeft(summary, 0, 128), how);
}
export function right_spread(to: usize, at: usize, masks: usize, summary: usize, how: u32): void {
  spread(inArena(to, 8192), inRight(at, 0, 128), inRight(masks, 0, 128), inRight(summary, 0, 128), how);
}
/** Combines two bitsets that spread() would make, to `to` unless that is NOWHERE, and counts the result. */
function combine(
  to: usize, at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
  how: Spread,
): u32 {
  let x = inLeft(at, 0, 0), xMask = inLeft(masks, 0, 0);
  let y = inRight(rightAt, 0, 0), yMask = inRight(rightMasks, 0, 0);
  const xSummary = inLeft(summary, 0, 128), ySummary = inRight(rightSummary, 0, 128);
  let count: u64 = 0;
  for (let word: u32 = 0; word < 1024; word++) {
    const bit = word & 7, byte: usize = word >> 3;
    const xOwn: u32 = (load<u8>(xSummary + byte) >> <u8>bit) & 1 ? load<u8>(xMask++) : 0;
    const yOwn: u32 = (load<u8>(ySummary + byte) >> <u8>bit) & 1 ? load<u8>(yMask++) : 0;
    const l = vector_spread(load<u64>(x), xOwn), r = vector_spread(load<u64>(y), yOwn);
    const both = how == Spread.OR ? l | r : how == Spread.XOR ? l ^ r : how == Spread.AND ? l & r : l & ~r;
    if (to != NOWHERE) store<u64>(to + (word << 3), both);
    count += popcnt(both);
    x += <usize>popcnt(xOwn);
    y += <usize>popcnt(yOwn);
  }
  return <u32>count;
}
const NOWHERE: usize = usize.MAX_VALUE;
export function bytes_meet(
  at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
): u32 {
  return combine(NOWHERE, at, masks, summary, rightAt, rightMasks, rightSummary, Spread.AND);
}
export function bytes_combine(
  to: usize, at: usize, masks: usize, summary: usize, rightAt: usize, rightMasks: usize, rightSummary: usize,
  how: u32,
): u32 {
  return combine(inArena(to, 8192), at, masks, summary, rightAt, rightMasks, rightSummary, how);
}
export function vector_spread(bytes: u64, mask: u32): u64 {
  let result: u64 = 0;
  for (let at: u64 = 0; at < 64; at += 8, mask >>= 1) {
    if (!(mask & 1)) continue;
    result |= (bytes & 0xff) << at;
    bytes >>= 8;
  }
  return result;
}
export function bytes_gather(to: usize, at: usize, masks: usize): u32 {
  const from = inArena(at, 512), start = inArena(to, 512), marks = inArena(masks, 64);
  let out = start;
  for (let i: usize = 0; i < 512; i += 8) {
    let mask: u32 = 0;
    for (let bytes = load<u64>(from + i), bit: u32 = 0; bit < 8; bytes >>= 8, bit++) {
      if (!(bytes & 0xff)) continue;
      store<u8>(out++, <u8>bytes);
      mask |= 1 << bit;
    }
    store<u8>(marks + (i >> 3), mask);
  }
  return <u32>(out - start);
}

// --- vector, work ------------------------------------------------------------------------------------------

export function vector_compact(lanes: v128, mask: u32): v128 {
  const from = <usize>(room + LANES);
  let to = from + 16;
  v128.store(from, lanes);
  for (let bits = mask & 0xff; bits; bits &= bits - 1, to += 2) {
    store<u16>(to, load<u16>(from + (<usize>ctz(bits) << 1)));
  }
  return v128.load(from, 16);
}

export function vector_lanesIn(x: v128, y: v128): u32 {
  const from = <usize>(room + LANES);
  let found: v128 = i16x8.splat(0);
  v128.store(from, y);
  for (let i: usize = 0; i < 16 && load<u16>(from + i); i += 2) {
    found = v128.or(found, i16x8.eq(x, i16x8.splat(load<i16>(from + i))));
  }
  return <u32>i16x8.bitmask(found);
}

export function vector_width(): u32 { return 16; }

/** Nothing limits a call; `units` only has to be a number that a server takes. */
export function work_spend(units: u32): void { need(units <= <u32>i32.MAX_VALUE); }

// --- arena -------------------------------------------------------------------------------------------------

export function arena_size(): u32 { return arenaSize; }
export function arena_grow(bytes: u32): void {
  if (bytes <= arenaSize) return;
  makeRoom(<u64>bytes);
  arenaSize = bytes;
  show();
}

export function arena_most(): u32 { return segmentMost ? segmentMost : u32.MAX_VALUE; }
/* eslint-disable @typescript-eslint/no-unused-vars -- the parameters are those of the imports */
/** Notes how long a segment is, and forgets it: the next one is built in its place. */
export function arena_close(bytes: u32, kept: u32, _first: u64, _members: u64): void {
  need(segmentMost != 0 && <u64>bytes + <u64>kept <= <u64>arenaSize);
  takeSegment(bytes);
}
export function arena_cut(_bytes: u32): void { unreachable(); }

// --- segments: here, every bitmap that is read or changed is one arena ---------------------------------------

export function segments_are(_side: u32): bool { return false; }
export function segments_seek(_side: u32, _offset: u64): void { unreachable(); }
export function segments_near(_side: u32, _from: u32, _key: u64): void { unreachable(); }
export function segments_next(_side: u32): bool { return false; }
export function segments_at(_side: u32): u32 { return 0; }
export function segments_show(_side: u32, _index: u32): void { return; }
export function segments_seekRank(_side: u32, _rank: u64): void { unreachable(); }
export function segments_before(_side: u32): u64 { unreachable(); return 0; }
export function segments_members(_side: u32): u64 { unreachable(); return 0; }
export function segments_view(k: u32): u32 { return k; }
export function segments_change(_key: u64): void { unreachable(); }
export function segments_renew(_bytes: u32, _key: u64, _more: u32): void { unreachable(); }
export function segments_leave(): void { unreachable(); }
export function segments_remove(): void { unreachable(); }
export function segments_note(_members: u64): void { unreachable(); }
/* eslint-enable @typescript-eslint/no-unused-vars */

// --- bits, bytes -------------------------------------------------------------------------------------------

const enum Change { SET, CLEAR, FLIP }

// @ts-ignore: decorator
@inline function changeBits(at: usize, four: u64, change: Change): u32 {
  const from = inArena(at, 8192);
  let wereSet: u32 = 0;
  for (let i: u64 = 0; i < 64; i += 16) {
    const offset = <u32>(four >> i) & 0xffff, byte = from + (offset >> 3);
    const bit = <u8>1 << <u8>(offset & 7), old = load<u8>(byte);
    if (old & bit) wereSet++;
    store<u8>(byte, change == Change.SET ? old | bit : change == Change.CLEAR ? old & ~bit : old ^ bit);
  }
  return wereSet;
}
export function bits_set(at: usize, four: u64): u32 { return changeBits(at, four, Change.SET); }
export function bits_clear(at: usize, four: u64): u32 { return changeBits(at, four, Change.CLEAR); }
export function bits_flip(at: usize, four: u64): u32 { return changeBits(at, four, Change.FLIP); }
export function bytes_increment(at: usize, four: u64): void {
  const from = inArena(at, 65536);
  for (let i: u64 = 0; i < 64; i += 16) {
    const byte = from + (<usize>(four >> i) & 0xffff);
    store<u8>(byte, load<u8>(byte) + 1);
  }
}
export function bytes_atLeast(at: usize, least: u32): u64 {
  const from = inArena(at, 64), all = i8x16.splat(<i8>least);
  let found: u64 = 0;
  for (let i: usize = 0; i < 64; i += 16) {
    found |= <u64><u32>i8x16.bitmask(i8x16.ge_u(v128.load(from + i), all)) << i;
  }
  return found;
}

// --- argument, reply, output -------------------------------------------------------------------------------

export function argument_value(index: u32): u64 {
  need(index < argumentCount);
  return load<u64>(<usize>(room + argumentsAt + (index << 3)));
}
export function argument_put(index: u32, value: u64): void {
  need(index < argumentCount);
  store<u64>(<usize>(room + argumentsAt + (index << 3)), value);
}
export function argument_handBack(value: u64): void {
  need(handedBack < argumentCount);
  store<u64>(<usize>(room + argumentsAt + (handedBack++ << 3)), value);
}
export function argument_defer(): void { isDeferred = true; }
export function argument_deferred(): bool { return isDeferred; }

export function reply_member(offset: u64): void {
  if (memberCount == BATCH) {
    takeMembers(room + MEMBERS, memberCount);
    memberCount = 0;
  }
  store<u64>(<usize>(room + MEMBERS + (memberCount++ << 3)), offset);
}
export function reply_lanes(base: u64, lanes: v128, count: u32): void {
  const from = <usize>(room + LANES);
  need(count <= 8);
  v128.store(from, lanes);
  for (let i: u32 = 0; i < count; i++) reply_member(base + load<u16>(from + (<usize>i << 1)));
}

// @ts-ignore: decorator
@inline function append(bytes: u64): Entry {
  need(outputSize + bytes <= outputLimit);
  const at = <usize>(room + outputAt) + <usize>outputSize;
  outputSize += bytes;
  return changetype<Entry>(at);
}
export function output_write(from: usize, bytes: usize): void {
  memory.copy(changetype<usize>(append(bytes)), inArena(from, bytes), bytes);
}
export function output_fill(value: u32, count: u64): void {
  memory.fill(changetype<usize>(append(count)), <u8>value, <usize>count);
}
export function output_put(value: u64, bytes: u32): void {
  need(bytes <= 8);
  const at = append(bytes);
  for (let i: u32 = 0; i < bytes; i++) store<u8>(changetype<usize>(at) + i, <u8>(value >> (i << 3)));
}
export function output_put128(value: v128, bytes: u32): void {
  need(bytes <= 16);
  const from = <usize>(room + LANES);
  v128.store(from, value);
  memory.copy(changetype<usize>(append(bytes)), from, bytes);
}
export function output_mark(at: u64, bits: u32): void {
  need(at < outputSize);
  const byte = <usize>(room + outputAt) + <usize>at;
  store<u8>(byte, load<u8>(byte) | <u8>bits);
}

// --- called by core/core.ts --------------------------------------------------------------------------------

/** Forgets operands, arguments, output and arena. */
export function host_clear(): void {
  operands = argumentCount = arenaSize = segmentMost = 0;
  outputLimit = 0;
  held = HELD + OPERANDS * OPERAND_BYTES;
  isOutOfMemory = false;
  host_enter();
  reserve(<u64>room + held);
}
/** Does what has to be done before each exported function of the core. */
export function host_enter(): void {
  leftShows = rightShows = SELF;
  memberCount = handedBack = 0;
  outputSize = 0;
  isDeferred = false;
  show();
}
/** Holds that many bytes, whose contents are undefined, until host_clear(); returns their place. */
export function host_hold(bytes: u32): u32 {
  const at = <u64>((held + 15) & ~15);
  reserve(<u64>room + at + <u64>bytes);
  held = <u32>at + bytes;
  return <u32>at;
}
/** The address of a place, until memory is asked for the next time. */
export function host_address(place: u32): u32 { return room + place; }
export function host_addOperand(place: u32, bytes: u32): void {
  need(operands < OPERANDS);
  const row = rowOf(operands++);
  store<u32>(row, place);
  store<u32>(row, bytes, 4);
}
export function host_setArguments(place: u32, count: u32): void {
  argumentsAt = place;
  argumentCount = count;
}
export function host_setOutput(place: u32, bytes: u32): void {
  outputAt = place;
  outputLimit = bytes;
}
/** Makes memory 0 that many bytes large; those that are new are undefined. */
export function host_setArena(bytes: u32): void {
  makeRoom(<u64>bytes);
  arenaSize = bytes;
}
/** Lets the next call build segments of up to that many bytes. */
export function host_setSegments(bytes: u32): void { segmentMost = bytes; }
/** How many members wait at the address that host_membersAt() returns. */
export function host_members(): u32 { return memberCount; }
export function host_membersAt(): u32 { return room + MEMBERS; }
export function host_handedBack(): u32 { return handedBack; }
export function host_isOutOfMemory(): bool { return isOutOfMemory; }
