// Cursors: where a walk is in each item of a combination. An item is an operand or the result of a term
// (combine/term/term.ts). Cursors are kept in the builder's scratch at the arena's very end, the first one
// last:
//
//   +0   u64 key, NO_KEY once nothing is left: the least key that the walk has not passed and at which the
//        item can have members
//   +8   u64 last key up to which the item stays as it is at `key`. Beyond `key` only if it is full at all of
//        these keys, or at none
//   +16  u64 place of the entry in the operand (arena/read/directory.ts); of operands only
//   +24  u32 operand
//   +28  u32 term, 0 if the item is an operand
//   +32  u64 shape of the entry's container (combine/shape/shape.ts); of operands only
//   +40  what stepping to the next group of a packed leaf needs (arena/packed/layout.ts); of operands only
//
// A FULL entry may be walked in parts: then `key` is inside it.

import { Side, arena, right, segments, work } from "../../env/memory";
import { Right } from "../../env/view";
import { Entry } from "../../arena/layout/entry";
import { Directory, Place } from "../../arena/read/directory";
import { Shape } from "../shape/shape";
import { Group } from "../../arena/packed/layout";
import { Steps, membersInLeaf } from "../../arena/packed/steps";
import { Kind } from "../../container/kind";
import { Container } from "../../container/limits";

/** Where a walk is in an item. Cursors move when the arena grows. The static functions take an item. */
@final @unmanaged
export class Cursor {
  @inline static readonly BYTES: usize = 40 + Steps.BYTES;
  /** Greater than every key. */
  @inline static readonly NO_KEY: u64 = 0xffffffffffffffff;
  /**
   * Units of work for moving a cursor to another entry. They include the steps within the leaf that follow.
   */
  @inline private static readonly LEAF_WORK: u32 = 4;
  @inline private static readonly LAST: u32 = 8;
  @inline private static readonly PLACE: u32 = 16;
  @inline private static readonly OPERAND: u32 = 24;
  @inline private static readonly TERM: u32 = 28;
  @inline private static readonly SHAPE: u32 = 32;
  @inline private static readonly STEP: usize = 40;

  @inline static of(item: u32): Cursor {
    return changetype<Cursor>(<usize>arena.size() - (<usize>item + 1) * Cursor.BYTES);
  }

  @inline static keyOf(item: u32): u64 { return load<u64>(changetype<usize>(Cursor.of(item))); }
  @inline static lastKeyOf(item: u32): u64 {
    return load<u64>(changetype<usize>(Cursor.of(item)), Cursor.LAST);
  }

  /** The cursor's key. Cursors lie below one another, and move when the arena grows. */
  @inline key(): u64 { return load<u64>(changetype<usize>(this)); }
  @inline lastKey(): u64 { return load<u64>(changetype<usize>(this), Cursor.LAST); }
  @inline term(): u32 { return load<u32>(changetype<usize>(this), Cursor.TERM); }
  @inline shape(): u64 { return load<u64>(changetype<usize>(this), Cursor.SHAPE); }
  @inline operand(): u32 { return load<u32>(changetype<usize>(this), Cursor.OPERAND); }
  @inline place(): u64 { return load<u64>(changetype<usize>(this), Cursor.PLACE); }
  @inline entry(): Entry { return Place.entry(load<u64>(changetype<usize>(this), Cursor.PLACE)); }
  /** The entry that the cursor is at: an address in its operand. */
  @inline static entryOf(item: u32): Entry {
    return Place.entry(load<u64>(changetype<usize>(Cursor.of(item)), Cursor.PLACE));
  }

  @inline static operandOf(item: u32): u32 {
    return load<u32>(changetype<usize>(Cursor.of(item)), Cursor.OPERAND);
  }

  /** The shape of the container that the cursor is at. */
  @inline static shapeOf(item: u32): u64 {
    return load<u64>(changetype<usize>(Cursor.of(item)), Cursor.SHAPE);
  }

  @inline static termOf(item: u32): u32 { return load<u32>(changetype<usize>(Cursor.of(item)), Cursor.TERM); }

  /** Whether the cursor is in a packed leaf of several groups. */
  @inline isAmongGroups(): bool {
    return load<u64>(changetype<usize>(this)) != Cursor.NO_KEY && Group.is(changetype<Group>(this.entry()))
      && !changetype<Steps>(changetype<usize>(this) + Cursor.STEP).isOfOneKey();
  }

  /**
   * Puts the item's cursor at the first entry of the operand that covers `key` or a greater key. Only one
   * cursor at a time may be in an operand; another one needs a view of it (segments.view).
   */
  static open(item: u32, operand: u32, key: u64): void {
    const cursor = Cursor.of(item);
    store<u32>(changetype<usize>(cursor), operand, Cursor.OPERAND);
    store<u32>(changetype<usize>(cursor), 0, Cursor.TERM);
    right.select(operand);
    cursor.moveTo(key || segments.are(Side.RIGHT) ? Directory.seek<Right>(key) : Place.first<Right>(), key);
  }

  /** Puts the item's cursor at `place` of its operand, whose entry covers `key`. */
  static put(item: u32, place: u64, key: u64): void {
    right.select(Cursor.operandOf(item));
    Cursor.of(item).moveTo(place, key);
  }

  /** Makes the item the result of a term. Cursor.set() then says where it is. */
  @inline static setTerm(item: u32, term: u32): void {
    store<u32>(changetype<usize>(Cursor.of(item)), term, Cursor.TERM);
  }

  @inline static set(item: u32, key: u64, last: u64): void {
    const cursor = Cursor.of(item);
    store<u64>(changetype<usize>(cursor), key);
    store<u64>(changetype<usize>(cursor), last, Cursor.LAST);
  }

  /** Puts the cursor past the last entry. */
  static close(item: u32): void { store<u64>(changetype<usize>(Cursor.of(item)), Cursor.NO_KEY); }

  /** Replaces the cursor of item `to` by that of item `from`. */
  @inline static copy(to: u32, from: u32): void {
    memory.copy(changetype<usize>(Cursor.of(to)), changetype<usize>(Cursor.of(from)), Cursor.BYTES);
  }

  /** Puts the cursor at an entry, or inside it if it covers `key`. */
  @inline private moveTo(place: u64, key: u64): void {
    if (!place) { store<u64>(changetype<usize>(this), Cursor.NO_KEY); return; }
    if (Group.is(changetype<Group>(Place.entry(place)))) { this.moveToGroup(place); return; }
    const entry = Place.entry(place), s = Shape.ofEntry<Right>(entry), first = entry.key<Right>();
    store<u64>(changetype<usize>(this), s, Cursor.SHAPE);
    // the cursor's end first: one bounds check is enough
    store<u64>(changetype<usize>(this), place, Cursor.PLACE);
    store<u64>(changetype<usize>(this), Shape.kind(s) == Kind.FULL ? entry.lastKey<Right>() : first,
      Cursor.LAST);
    store<u64>(changetype<usize>(this), max(first, key));
  }

  /** Puts the cursor at a group of a packed leaf. */
  @inline private moveToGroup(place: u64): void {
    const steps = changetype<Steps>(changetype<usize>(this) + Cursor.STEP),
      lows = Steps.begin<Right>(changetype<Group>(Place.entry(place)), steps), key = steps.key();
    this.setGroup(place, lows, steps.on<Right>(membersInLeaf(place)), key);
  }

  /** Puts the cursor at the group `place` of `count` members, whose lows are at `lows`. */
  @inline private setGroup(place: u64, lows: usize, count: u32, key: u64): void {
    store<u64>(changetype<usize>(this), Shape.of(Kind.ARRAY, count, lows), Cursor.SHAPE);
    store<u64>(changetype<usize>(this), place, Cursor.PLACE);
    store<u64>(changetype<usize>(this), key, Cursor.LAST);
    store<u64>(changetype<usize>(this), key);
  }

  /**
   * Moves the cursor of an operand to the operand's first key that is at least `key`, unless it is there or
   * past it already.
   */
  @inline static seek(item: u32, key: u64): void {
    if (Cursor.keyOf(item) < key && !Cursor.of(item).step(key)) Cursor.move(item, key);
  }

  /**
   * Moves the cursor from before `key` to the next entry if that is simple, as it mostly is: the item is an
   * operand, and the entry lies in the same leaf, is not FULL, and does not come before `key`. Otherwise
   * returns false.
   */
  @inline step(key: u64): bool {
    if (load<u32>(changetype<usize>(this), Cursor.TERM)) return false;
    const place = load<u64>(changetype<usize>(this), Cursor.PLACE);
    if (load<u64>(changetype<usize>(this), Cursor.LAST) >= key) return false;
    right.select(load<u32>(changetype<usize>(this), Cursor.OPERAND));
    if (Group.is(changetype<Group>(Place.entry(place)))) return this.stepInPacked(place, key);
    const next = Place.nextInLeaf<Right>(place), entry = Place.entry(next);
    if (!next) return false;
    const s = Shape.ofEntry<Right>(entry), first = entry.key<Right>();
    if (first < key || Shape.kind(s) == Kind.FULL) return false;
    store<u64>(changetype<usize>(this), s, Cursor.SHAPE);
    store<u64>(changetype<usize>(this), next, Cursor.PLACE);
    store<u64>(changetype<usize>(this), first, Cursor.LAST);
    store<u64>(changetype<usize>(this), first);
    return true;
  }

  /**
   * Cursor.step() in a packed leaf: the next group begins where the cursor's group ends. The cursor moves
   * there even if that group comes before `key`.
   */
  @inline private stepInPacked(place: u64, key: u64): bool {
    const s = load<u64>(changetype<usize>(this), Cursor.SHAPE),
      next = place + <u64>Shape.count(s) * Group.STEP;
    const most = membersInLeaf(next);
    if (!most) return false;
    const steps = changetype<Steps>(changetype<usize>(this) + Cursor.STEP), first = steps.key();
    this.setGroup(next, Shape.at(s) + Container.arrayBytes(Shape.count(s)), steps.on<Right>(most), first);
    return first >= key;
  }

  /** Moves the cursor of an operand from before `key` to the operand's first key that is at least `key`. */
  static move(item: u32, key: u64): void {
    const cursor = Cursor.of(item);
    if (key <= load<u64>(changetype<usize>(cursor), Cursor.LAST)) {
      store<u64>(changetype<usize>(cursor), key);
      return;
    }
    work.spend(Cursor.LEAF_WORK);
    right.select(load<u32>(changetype<usize>(cursor), Cursor.OPERAND));
    cursor.moveTo(Directory.seekFrom<Right>(load<u64>(changetype<usize>(cursor), Cursor.PLACE), key), key);
  }
}
