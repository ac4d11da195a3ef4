// The parameters of a fold: the operation, and the operands of the two containers. These are one number, with
// the operand of the left container in the high half and that of the right one in the low half. SELF stands
// for memory 0, where the results of earlier folds are.

import { left, right } from "../../env/memory";

export const enum Fold { AND, OR, XOR, ANDNOT }

export type Sides = u64;

// @ts-ignore: decorator
@inline export function sidesOf(l: u32, r: u32): Sides { return (<u64>l << 32) | r; }
// @ts-ignore: decorator
@inline export function leftOperand(sides: Sides): u32 { return <u32>(sides >> 32); }
// @ts-ignore: decorator
@inline export function rightOperand(sides: Sides): u32 { return <u32>sides; }
/** The same operands, each on the other side. */
// @ts-ignore: decorator
@inline export function swapped(sides: Sides): Sides { return rotl<u64>(sides, 32); }

/** Shows the operands: each on its side. */
// @ts-ignore: decorator
@inline export function show(sides: Sides): void {
  left.select(leftOperand(sides));
  right.select(rightOperand(sides));
}
