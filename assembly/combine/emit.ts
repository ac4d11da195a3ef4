// The last step of building a container. A shape, in scratch room or in an operand, is normalized
// (normalize.ts) and becomes an entry of the result and, where it needs one, a block at the bump mark.

import { right } from "../env/memory";
import { Right, Own } from "../env/view";
import { BLOCK_MAX, alignedBump, allocateFresh, blockBytes, bumpMark } from "../arena/arena";
import {
  lowOf, payloadBytes, plainCount, plainKind, plainPayload, setBlock, setPair, setSingle,
} from "../arena/entry";
import { isItem, itemOffset } from "../arena/packed";
import { append, appendFull } from "../arena/builder";
import { normalized } from "./normalize";
import { shapeBytes, shapeCount, shapeAt, shapeKind } from "./shape";
import { Kind } from "../container/kind";

/**
 * Appends the shape `s` as container `key`, normalized. `s` lies in scratch room in memory 0, with twice
 * FOLD_BYTES of room behind it. An empty shape appends nothing. Leaves `left` anywhere.
 */
export function emit(key: u64, s: u64): void { emitAs(key, normalized(s)); }

/** Appends the shape `form`, in memory 0, as it is. */
export function emitAs(key: u64, form: u64): void {
  const count = shapeCount(form), at = shapeAt(form), kind = shapeKind(form);
  if (!count) return;
  if (kind == Kind.FULL) appendFull(key, 1);
  else if (kind == Kind.ARRAY && count <= 2) emitInline(key, at, count);
  else emitBlock(key, kind, at, count, shapeBytes<Own>(form));
}

/** Appends one or two members. */
function emitInline(key: u64, at: usize, count: u32): void {
  const first = load<u16>(at), second = load<u16>(at, 2);
  const entry = append(key, count);
  if (count == 1) setSingle(entry, first); else setPair(entry, first, second);
}

/** Moves the payload down to where its block begins and appends the entry. */
function emitBlock(key: u64, kind: Kind, at: usize, count: u32, bytes: usize): void {
  const size = blockBytes(bytes), to = size == BLOCK_MAX ? alignedBump() : bumpMark();
  if (to != at) memory.copy(to, at, bytes);
  allocateFresh(size);                        // its block begins at `to`
  setBlock(append(key, count), kind, count, to);
}

/** Appends a copy of the entry, which `right` shows and which is not FULL, as container `key`. */
export function emitCopy(key: u64, entry: usize): void {
  if (isItem(entry)) {
    const low = lowOf(itemOffset<Right>(entry));
    setSingle(append(key, 1), low);
    return;
  }
  const kind = plainKind<Right>(entry), count = plainCount<Right>(entry);
  const payload = plainPayload<Right>(entry);
  if (kind >= Kind.SINGLE) {
    const first = right.load16(payload, 0), second = right.load16(payload, 2);
    const made = append(key, count);
    if (count == 1) setSingle(made, first); else setPair(made, first, second);
    return;
  }
  const bytes = payloadBytes<Right>(entry), size = blockBytes(bytes);
  const at = allocateFresh(size);
  right.copy(at, payload, bytes);
  setBlock(append(key, count), kind, count, at);
}
