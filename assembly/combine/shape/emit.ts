// The last step of building a container. A shape, in scratch room or in an operand, is normalized
// (normalize.ts) and becomes an entry of the result and, where it needs one, a block at the bump mark.

import { right } from "../../env/memory";
import { Right, Own } from "../../env/view";
import { Allocator, Block } from "../../arena/layout/blocks";
import { Header } from "../../arena/layout/header";
import { Entry } from "../../arena/layout/entry";
import { Builder } from "../../arena/builder/state";
import { append, appendFull, closeIfFull } from "../../arena/builder/builder";
import { appendSmall, waitingRoom } from "../../arena/builder/waiting";
import { normalized } from "./normalize";
import { Shape } from "./shape";
import { Kind } from "../../container/kind";
import { payloadSize } from "../../container/convert";
import { Container } from "../../container/limits";

/**
 * Appends the shape `s` as container `key`, normalized. `s` lies in scratch room in memory 0, with twice
 * FOLD_BYTES of room behind it. An empty shape appends nothing. Leaves `left` anywhere.
 */
export function emit(key: u64, s: u64): void { emitAs(key, normalized(s)); }

/** Appends the shape `form`, in memory 0, as it is. A segment may end here, as in the functions below. */
export function emitAs(key: u64, form: u64): void {
  appendShape(key, form);
  closeIfFull();
}

// @ts-ignore: decorator
@inline function appendShape(key: u64, form: u64): void {
  const count = Shape.count(form), at = Shape.at(form), kind = Shape.kind(form);
  if (!count) return;
  if (kind == Kind.FULL) appendFull(key, 1);
  else if (kind != Kind.ARRAY || count > Builder.SMALL_MAX || !emitSmall(key, at, count)) {
    if (kind == Kind.ARRAY && count <= 2) emitInline(key, at, count);
    else emitBlock(key, kind, at, count, Shape.bytes<Own>(form));
  }
}

/** Appends a small array, if small arrays are waiting. */
// @ts-ignore: decorator
@inline function emitSmall(key: u64, at: usize, count: u32): bool {
  const to = waitingRoom();
  if (!to) return false;
  if (count <= 4) store<u64>(to, load<u64>(at)); else memory.copy(to, at, Container.arrayBytes(count));
  appendSmall(key, count);
  return true;
}

/** Appends one or two members as an ordinary entry. */
function emitInline(key: u64, at: usize, count: u32): void {
  const first = load<u16>(at), second = load<u16>(at, 2);
  const entry = append(key, count);
  if (count == 1) entry.setSingle(first); else entry.setPair(first, second);
}

/** Moves the payload down to where its block begins and appends the entry. */
function emitBlock(key: u64, kind: Kind, at: usize, count: u32, bytes: usize): void {
  const size = Block.bytes(bytes), to = size == Block.MAX ? Allocator.alignedBump() : Header.bump();
  if (to != at) memory.copy(to, at, bytes);
  Allocator.allocateFresh(size);                        // its block begins at `to`
  append(key, count).setBlock(kind, count, to);
}

/** Appends a copy of the entry, which `right` shows and which is not FULL, as container `key`. */
export function emitCopy(key: u64, entry: Entry): void { emitShape(key, Shape.ofEntry<Right>(entry)); }

/** Appends a copy of the shape `s`, which `right` shows and which is not FULL, as container `key`. */
export function emitShape(key: u64, s: u64): void {
  if (Shape.kind(s) == Kind.ARRAY) emitArray(key, Shape.at(s), Shape.count(s));
  else {
    copyBlock(key, Shape.kind(s), Shape.at(s), Shape.count(s));
    closeIfFull();
  }
}

/** Appends a copy of the array of `count` members, which `right` shows, as container `key`. */
export function emitArray(key: u64, payload: usize, count: u32): void {
  const to = count <= Builder.SMALL_MAX ? waitingRoom() : 0;
  if (to) {
    if (count == 1) store<u16>(to, <u16>right.load16(payload, 0));
    else if (count == 2) store<u32>(to, right.load32(payload, 0));
    else right.copy(to, payload, Container.arrayBytes(count));
    appendSmall(key, count);
  } else if (count <= 2) copyInline(key, payload, count);
  else copyBlock(key, Kind.ARRAY, payload, count);
  closeIfFull();
}

/** Appends a copy of a payload, which `right` shows, as an ordinary entry with a block. */
function copyBlock(key: u64, kind: Kind, payload: usize, count: u32): void {
  const bytes = payloadSize<Right>(kind, count, payload), at = Allocator.allocateFresh(Block.bytes(bytes));
  right.copy(at, payload, bytes);
  append(key, count).setBlock(kind, count, at);
}

/** Appends one or two members, which `right` shows, as an ordinary entry. */
function copyInline(key: u64, payload: usize, count: u32): void {
  const first = right.load16(payload, 0), second = count > 1 ? right.load16(payload, 2) : 0;
  const made = append(key, count);
  if (count == 1) made.setSingle(first); else made.setPair(first, second);
}
