// Finds operands of a query that are the same bitmap: a key that is given twice, or named by two numbers.

import { right } from "../env/memory";
import { Right } from "../env/view";
import { Arena } from "../arena/layout/header";
import { Directory } from "../arena/read/directory";
import { Tree } from "./tree";

// Fewer than COMPARED_FROM operands are not compared: that would slow down every small query, and few
// of them read an operand twice. Up to COMPARED operands are compared with one another. More are looked up by
// their identities among slots, u64 identity and u64 operand: open addressing, at least half of them free.

// @ts-ignore: decorator
@inline export const COMPARED_FROM: u32 = 8;
// @ts-ignore: decorator
@inline export const COMPARED: u32 = 16;

const enum Cell { IDENTITY = 0, OPERAND = 8 }
// @ts-ignore: decorator
@inline const IDENTITY_BYTES: usize = 16;

/**
 * Whether the operand has members. All empty operands are the same bitmap,
 * but finding the repeated ones would take longer than combining them.
 */
// @ts-ignore: decorator
@inline function hasMembers(operand: u32): bool {
  right.select(operand);
  return Directory.entriesHeld<Right>() != 0;
}

/**
 * Whether any of the first `count` operands is the same bitmap as one before it. Then a table of operands
 * is added to the tree in memory 0: a u32 for each, the first operand that is the same. Does not look if
 * they are fewer than COMPARED_FROM.
 */
export function hasRepeated(count: u32): bool {
  if (count < COMPARED_FROM || (count <= COMPARED && !anyEqual(count))) return false;
  const at = Tree.recordsEnd(), end = at + tableBytes(count);
  if (!makeTable(at, end, count)) return false;
  Tree.setRecordsEnd(end);
  Tree.setOperandTable(at);
  return true;
}

// @ts-ignore: decorator
@inline function tableBytes(count: u32): usize { return (<usize>count << 2) + 7 & ~7; }

/**
 * Makes the table at `at`, with the help of slots at `slotsAt`.
 * Returns whether any operand is the same as one before it.
 */
function makeTable(at: usize, slotsAt: usize, count: u32): bool {
  const slots = (<usize>1) << (33 - <usize>clz<u32>(count));
  Arena.reserve(slotsAt + slots * IDENTITY_BYTES);
  memory.fill(slotsAt, 0, slots * IDENTITY_BYTES);
  let repeated = false;
  for (let k: u32 = 0; k < count; k++) {
    const identity = right.identity(k), slot = slotOf(slotsAt, slots, identity);
    if (!load<u64>(slot, Cell.IDENTITY)) {
      store<u64>(slot, identity, Cell.IDENTITY);
      store<u64>(slot, k, Cell.OPERAND);
    } else if (hasMembers(k)) repeated = true;
    store<u32>(at + (<usize>k << 2), <u32>load<u64>(slot, Cell.OPERAND));
  }
  return repeated;
}

/** Whether any two of the first `count` operands, COMPARED at most, are the same bitmap. */
export function anyEqual(count: u32): bool {
  let seen: u64 = 0;                          // a bit for each identity so far, which few of them share
  for (let k: u32 = 0; k < count; k++) {
    const identity = right.identity(k), bit = (<u64>1) << (scatter(identity) >> 58);
    if (seen & bit && hasEqual(k, identity)) return true;
    seen |= bit;
  }
  return false;
}

/** Whether an operand before `k` has its identity. */
function hasEqual(k: u32, identity: u64): bool {
  for (let other: u32 = 0; other < k; other++) if (right.identity(other) == identity) return hasMembers(k);
  return false;
}

/** A number whose highest bits depend on all bits of `identity`. */
// @ts-ignore: decorator
@inline function scatter(identity: u64): u64 { return identity * 0x9e3779b97f4a7c15; }

/** The slot that has the identity, or a free one for it. */
function slotOf(slotsAt: usize, slots: usize, identity: u64): usize {
  let slot = <usize>(scatter(identity) >> 32) & (slots - 1);
  while (true) {
    const at = slotsAt + slot * IDENTITY_BYTES, held = load<u64>(at, Cell.IDENTITY);
    if (!held || held == identity) return at;
    slot = (slot + 1) & (slots - 1);
  }
}
