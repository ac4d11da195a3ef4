// Several fields written by one command, all or none of them:
// first a plan, which only reads, then all changes at once.
//
// The plan is a table of the words of 64 offsets that the fields touch.
// It lies in the call's arguments, behind the steps, so it takes no memory of the bitmap:
//
//   step   +0 what to do: bits 0-1 Action, bits 2-3 Overflow, bit 4 whether the field is signed,
//             from bit 5 on its width
//          +1 offset     +2 value
//          The plan replaces +0 by 1 if the step has an answer, otherwise by 0, and +2 by the answer.
//   slot   +0 word + 1: offset / 64 + 1; 0 if the slot is free
//          +1 the word's bits before     +2 its bits after; the least offset is the lowest bit
//
// A word's slot is found by hashing, with a multiplier that the host keeps secret,
// so that nobody can choose words that share a slot.

import { argument } from "../env/memory";
import { Offset } from "../arena/layout/entry";
import { Directory } from "../arena/read/directory";
import { Words } from "../read/word";
import { BitField, Overflow, addBits, makeBitsRemovable, removeAbsentBefore, takeBits } from "./field";
import { settleContainer } from "./undo";
import { wordOf } from "../read/container";

/** The kinds of steps. */
const enum Action { GET, SET, INCRBY }

/** A word that a list of fields changes: its number, its bits before, and its bits after. */
abstract class WordSlot {
  /** Values of a step, and of a slot. */
  @inline static readonly VALUES: u32 = 3;

  @inline static oldBits(slot: u32): u64 { return argument.value(slot + 1); }
  @inline static newBits(slot: u32): u64 { return argument.value(slot + 2); }
  /** The first offset of the slot's word. */
  @inline static firstOffset(slot: u32): u64 { return (argument.value(slot) - 1) << 6; }

  /** The slot of the word. A new one has the bitmap's bits. */
  static find(word: u64, table: u32, slotBits: u32, multiplier: u64): u32 {
    const last = ((<u32>1) << slotBits) - 1;
    for (let i = <u32>((word * multiplier) >> (64 - slotBits)); ; i++) {
      const slot = table + (i & last) * WordSlot.VALUES, held = argument.value(slot);
      if (held == word + 1) return slot;
      if (held) continue;
      const offset = word << 6;
      const entry = Directory.find(Offset.key(offset));
      const bits = entry ? wordOf(entry, Offset.low(offset) >> 6) : 0;
      argument.put(slot, word + 1);
      argument.put(slot + 1, bits);
      argument.put(slot + 2, bits);
      return slot;
    }
  }
}

/**
 * Plans the call's first `steps` steps, one after the other, on a bitmap that stays as it is. Behind them are
 * 2^slotBits free slots, more than two for each step. `multiplier` is odd. The slots of words that change
 * move to the front; returns how many they are.
 */
export function planFields(steps: u32, slotBits: u32, multiplier: u64): u32 {
  const table = steps * WordSlot.VALUES, end = table + (WordSlot.VALUES << slotBits);
  for (let step: u32 = 0; step < table; step += WordSlot.VALUES) planStep(step, table, slotBits, multiplier);
  let to = table;
  for (let slot = table; slot < end; slot += WordSlot.VALUES) {
    if (WordSlot.oldBits(slot) == WordSlot.newBits(slot)) continue;
    for (let i: u32 = 0; i < WordSlot.VALUES; i++) argument.put(to + i, argument.value(slot + i));
    to += WordSlot.VALUES;
  }
  return (to - table) / WordSlot.VALUES;
}

function planStep(step: u32, table: u32, slotBits: u32, multiplier: u64): void {
  const what = <u32>argument.value(step), width = what >> 5;
  const signed = (what >> 4) & 1, action = <Action>(what & 3);
  const offset = argument.value(step + 1), into = <u32>offset & 63, crosses = into + width > 64;
  const first = WordSlot.find(offset >> 6, table, slotBits, multiplier);
  const second = crosses ? WordSlot.find((offset >> 6) + 1, table, slotBits, multiplier) : first;
  const old = BitField.in(WordSlot.newBits(first), crosses ? WordSlot.newBits(second) : 0, into, width,
    signed);
  argument.put(step, 1);
  if (action == Action.GET) { argument.put(step + 2, old); return; }
  const given = <i64>argument.value(step + 2), adds = action == Action.INCRBY;
  const beyond = BitField.beyond(adds ? old : given, adds ? given : 0, width, signed);
  const overflow = <Overflow>((what >> 2) & 3);
  if (beyond && overflow == Overflow.FAIL) { argument.put(step, 0); return; }
  const value = BitField.newValue(adds ? old + given : given, width, signed, beyond, overflow);
  argument.put(step + 2, adds ? value : old);
  const bits = Words.reversed(<u64>value << (64 - width)), mask = u64.MAX_VALUE >> (64 - width);
  argument.put(first + 2, (WordSlot.newBits(first) & ~(mask << into)) | (bits << into));
  if (crosses) {
    argument.put(second + 2, (WordSlot.newBits(second) & ~(mask >> (64 - into))) | (bits >> (64 - into)));
  }
}

/**
 * Makes the changes of a plan, which are the arguments from .. to - 1. As with lists (undo.ts), what may need
 * memory comes first and can be undone without any: members are added, and then containers are prepared for
 * removals. In the other order, a run of one member that is to go could grow at both ends, and removing it
 * would split the run. At last members are removed.
 */
export function changeWords(from: u32, to: u32): void {
  for (let slot = from; slot < to; slot += WordSlot.VALUES) {
    addBits(WordSlot.firstOffset(slot), Words.reversed(WordSlot.newBits(slot) & ~WordSlot.oldBits(slot)));
  }
  for (let slot = from; slot < to; slot += WordSlot.VALUES) {
    const gone = WordSlot.oldBits(slot) & ~WordSlot.newBits(slot), offset = WordSlot.firstOffset(slot);
    if (gone) makeBitsRemovable(Offset.key(offset), Offset.low(offset), Words.reversed(gone));
  }
  for (let slot = from; slot < to; slot += WordSlot.VALUES) {
    takeBits(WordSlot.firstOffset(slot), Words.reversed(WordSlot.oldBits(slot) & ~WordSlot.newBits(slot)));
  }
  if (argument.deferred()) settleWords(from, to);
}

/**
 * Undoes a changeWords() that ran out of memory. Needs none, because it goes backwards: so no run is split.
 */
export function takeBackWords(from: u32, to: u32): void {
  for (let slot = to; slot > from;) {
    slot -= WordSlot.VALUES;
    removeAbsentBefore(WordSlot.firstOffset(slot),
      Words.reversed(WordSlot.newBits(slot) & ~WordSlot.oldBits(slot)));
  }
  settleWords(from, to);
}

function settleWords(from: u32, to: u32): void {
  for (let slot = from; slot < to;
    slot += WordSlot.VALUES) settleContainer(Offset.key(WordSlot.firstOffset(slot)));
}
