// Exports that the host calls whatever memory 0 holds: a bitmap, or integers for ids. The first byte says
// which.

import { Side, left, segments } from "../env/memory";
import { Left, Own } from "../env/view";
import { Fault } from "../env/fault";
import { shrunkBytes, used, wasteful } from "../arena/change/forms";
import { validate } from "../arena/validate";
import { pack, rewrite } from "../combine/rebuild/rewrite";
import { cardinality, isEmpty, maximum, minimum } from "../read/query";
import { Values } from "./layout";
import { rewriteValues } from "./rewrite";
import { Slices } from "./slices";
import { Spot } from "./spot";
import { validateValues } from "./validate";
import { packValues } from "./without";
import { valuesShrunkBytes, valuesUsed, valuesWasteful } from "./whole";

/** Bytes in use. */
export function eitherUsed(): u32 { return Values.are<Own>() ? valuesUsed() : used(); }
/** 1 if the host should rewrite the arena. */
export function eitherWasteful(): u32 { return Values.are<Own>() ? valuesWasteful() : wasteful(); }
/** The bytes that memory 0 should be cut to, 0 if it should stay. */
export function eitherShrunkBytes(): u32 { return Values.are<Own>() ? valuesShrunkBytes() : shrunkBytes(); }
/** The first broken invariant. */
export function eitherValidate(): Fault { return Values.are<Own>() ? validateValues() : validate(); }
/** 1 if there are no members or ids. */
export function eitherIsEmpty(): u32 { return Values.are<Own>() ? 0 : isEmpty(); }
/** Members or ids of all segments. */
export function eitherCardinality(): u64 {
  return Values.are<Own>() && !segments.are(Side.OWN) ? Values.count<Own>() : cardinality();
}

/**
 * Where a segment with these members or ids begins; there are some. Members of one container stay in one
 * segment, and so do ids that could be slices of one leaf.
 */
export function eitherStart(): u64 {
  if (!Values.are<Own>()) return minimum() & ~(<u64>u16.MAX_VALUE);
  return Spot.id<Own>(Spot.from<Own>(0)) & ~(<u64>Slices.IDS - 1);
}

/** The greatest member or id, of which there is one. */
export function eitherMaximum(): u64 {
  if (!Values.are<Own>()) return maximum();
  if (segments.are(Side.OWN)) segments.seek(Side.OWN, u64.MAX_VALUE);
  return Spot.lastId<Own>();
}

/**
 * Makes memory 0, which is fresh, a copy of operand 0 without free blocks, in segments of about `most` bytes.
 */
export function eitherRewrite(most: u32): void {
  left.select(0);
  if (Values.are<Left>()) rewriteValues(most); else rewrite(most);
}

/** Makes memory 0, which is fresh, operand 0 in the least space. */
export function eitherPack(): void {
  left.select(0);
  if (Values.are<Left>()) packValues(); else pack();
}
