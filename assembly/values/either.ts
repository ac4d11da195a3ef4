// Exports that the host calls whatever memory 0 holds: a bitmap, or integers for ids. The first byte says which.

import { Side, left, segments } from "../env/memory";
import { Left, Own } from "../env/view";
import { Fault } from "../env/fault";
import {
  shrunkBytes as bitmapShrunkBytes, used as bitmapUsed, wasteful as bitmapWasteful,
} from "../arena/change/forms";
import { validate as validateBitmap } from "../arena/validate";
import { rewrite as rewriteBitmap } from "../combine/rebuild/rewrite";
import {
  cardinality as bitmapCardinality, isEmpty as bitmapIsEmpty, maximum as bitmapMaximum, minimum as bitmapMinimum,
} from "../read/query";
import { Values } from "./layout";
import { rewriteValues } from "./rewrite";
import { Slices } from "./slices";
import { Spot } from "./spot";
import { validateValues } from "./validate";
import { valuesShrunkBytes, valuesUsed, valuesWasteful } from "./whole";

/** Bytes in use. */
export function used(): u32 { return Values.are<Own>() ? valuesUsed() : bitmapUsed(); }
/** 1 if the host should rewrite the arena. */
export function wasteful(): u32 { return Values.are<Own>() ? valuesWasteful() : bitmapWasteful(); }
/** The bytes that memory 0 should be cut to, 0 if it should stay. */
export function shrunkBytes(): u32 { return Values.are<Own>() ? valuesShrunkBytes() : bitmapShrunkBytes(); }
/** The first broken invariant. */
export function validate(): Fault { return Values.are<Own>() ? validateValues() : validateBitmap(); }
/** 1 if there are no members or ids. */
export function isEmpty(): u32 { return Values.are<Own>() ? 0 : bitmapIsEmpty(); }
/** Members or ids of all segments. */
export function cardinality(): u64 {
  return Values.are<Own>() && !segments.are(Side.OWN) ? Values.count<Own>() : bitmapCardinality();
}

/**
 * The least member, of which there is one; of ids, that of those which could be slices of the same leaf: they stay in
 * one segment, because segments begin with this.
 */
export function minimum(): u64 {
  return Values.are<Own>() ? Spot.id<Own>(Spot.from<Own>(0)) & ~(<u64>Slices.IDS - 1) : bitmapMinimum();
}

/** The greatest member or id, of which there is one. */
export function maximum(): u64 {
  if (!Values.are<Own>()) return bitmapMaximum();
  if (segments.are(Side.OWN)) segments.seek(Side.OWN, u64.MAX_VALUE);
  return Spot.lastId<Own>();
}

/** Makes memory 0, which is fresh, a copy of operand 0 without free blocks, in segments of about `most` bytes. */
export function rewrite(most: u32): void {
  left.select(0);
  if (Values.are<Left>()) rewriteValues(most); else rewriteBitmap(most);
}
