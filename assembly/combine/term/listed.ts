// Lists the containers that a term's items have at the walk's key, for the folds. From the front on: the
// containers of operands,
//
//   +0   u64 shape     +8  u32 operand     +12 u32 entry: its address in the operand
//
// and from the back on the items that are terms: u32 item. Full containers are not listed but counted.

import { right } from "../../env/memory";
import { Kind } from "../../container/kind";
import { Cursor } from "../walk/cursor";
import { Shape } from "../shape/shape";
import { Entry } from "../../arena/layout/entry";
import { Term } from "./term";

/** How much was found, in one number: containers in the list, full ones, and terms. */
type Found = u64;

/** Lists the containers that a term's items have at a key. */
export abstract class Listed {
  @inline static readonly NOTHING: Found = 0;
  @inline private static readonly FULL_SHIFT: u64 = 20;
  @inline private static readonly TERMS_SHIFT: u64 = 40;
  /** No term has more items. */
  @inline private static readonly FOUND_MAX: u64 = (1 << Listed.FULL_SHIFT) - 1;

  /** Containers in the list. */
  @inline static containers(found: Found): u32 { return <u32>(found & Listed.FOUND_MAX); }
  @inline static full(found: Found): u32 { return <u32>((found >> Listed.FULL_SHIFT) & Listed.FOUND_MAX); }
  @inline static terms(found: Found): u32 { return <u32>(found >> Listed.TERMS_SHIFT); }

  /**
   * Adds item `i`, whose cursor is at `cursor`, to the list that begins at `list` and ends at `back`. Returns
   * how much is listed then.
   */
  @inline static add(list: usize, back: usize, found: Found, i: u32, cursor: Cursor): Found {
    const s = cursor.shape();                  // the cursor's end first: one bounds check is enough
    if (cursor.term()) {
      store<u32>(back - (<usize>Listed.terms(found) + 1) * Term.LISTED_BYTES, i);
      return found + ((<u64>1) << Listed.TERMS_SHIFT);
    }
    if (Shape.kind(s) == Kind.FULL) return found + ((<u64>1) << Listed.FULL_SHIFT);
    const out = Term.listedAt(list, Listed.containers(found));
    store<u32>(out, <u32>changetype<usize>(cursor.entry()), 12);
    store<u32>(out, cursor.operand(), 8);
    store<u64>(out, s);
    return found + 1;
  }

  /** Address of the end of the term's list, until the arena grows. */
  @inline static end(term: u32): usize { return Term.listedAt(Term.list(term), Term.items(term)); }

  /**
   * What the items have at `key` that can be grouped: listed by seekRest() or seekAny() unless they are in
   * groups.
   */
  @inline static grouped(term: u32, key: u64): Found {
    return Term.groups(term) ? Listed.listGroups(term, key) : Term.found(term);
  }

  /** Lists what the items of the groups have at `key`. */
  private static listGroups(term: u32, key: u64): Found {
    let found = Listed.NOTHING;
    for (let group: u32 = 0, groups = Term.groups(term); group < groups; group++) {
      if (load<u64>(Term.groupKeyAt(term, group)) != key) continue;
      const start = Term.groupStart(term, group);
      found = Listed.listRange(term, start, Term.groupEnd(term, start), key, found);
    }
    return found;
  }

  /** Lists what the term's first items, up to `end`, have at `key`. */
  @inline static first(term: u32, end: u32, key: u64): Found {
    return Listed.listRange(term, Term.first(term), end, key, Listed.NOTHING);
  }

  @inline private static listRange(term: u32, from: u32, to: u32, key: u64, found: Found): Found {
    const list = Term.list(term), back = Listed.end(term), end = Cursor.of(to);
    for (let i = from, cursor = Cursor.of(i); changetype<usize>(cursor) > changetype<usize>(end);
      cursor = changetype<Cursor>(changetype<usize>(cursor) - Cursor.BYTES), i++) {
      if (cursor.key() == key) found = Listed.add(list, back, found, i, cursor);
    }
    return found;
  }

  /** The item that is the term's `index`th listed term. */
  @inline static term(term: u32, index: u32): u32 {
    return load<u32>(Term.listedAt(Term.list(term), Term.items(term) - 1 - index));
  }

  @inline static shape(list: usize, index: u32): u64 { return load<u64>(Term.listedAt(list, index)); }
  @inline static kind(list: usize, index: u32): Kind {
    return Shape.kind(Listed.shape(list, index));
  }

  @inline static count(list: usize, index: u32): u32 {
    return Shape.count(Listed.shape(list, index));
  }

  @inline static operand(list: usize, index: u32): u32 {
    return load<u32>(Term.listedAt(list, index), 8);
  }

  @inline static entry(list: usize, index: u32): Entry {
    return changetype<Entry>(load<u32>(Term.listedAt(list, index), 12));
  }

  /** How many of the list's first `count` elements, one at least, are of the first one's kind, from it on. */
  static alike(list: usize, count: u32): u32 {
    const kind = Listed.kind(list, 0);
    let alike: u32 = 1;
    while (alike < count && Listed.kind(list, alike) == kind) alike++;
    return alike;
  }

  /** Makes element `index` the first of the list, and the first one element `index`. */
  @inline static moveToFront(list: usize, index: u32): void {
    const at = Term.listedAt(list, index), first = v128.load(list);
    v128.store(list, v128.load(at));
    v128.store(at, first);
  }

  /** Shows the operand of the list's element `index` on the right; returns the shape. */
  @inline static show(list: usize, index: u32): u64 {
    right.select(Listed.operand(list, index));
    return Listed.shape(list, index);
  }
}
