// A directory entry: 12 bytes that name a container by its key,
// the bits of its offsets above the low 16, and say where its payload is.
//
//   +0   u48  key
//   +6   u16  cardinality - 1                       | first member       | low 16 bits of span - 1
//   +8   u29  position / 8                          | second member u16  | high 29 bits of span - 1
//   +11  top 3 bits: kind
//        ARRAY, BITSET, RUNS, BUCKETS, SHORT          SINGLE, PAIR         FULL
//
// An entry in a packed leaf is a group of members, an ARRAY of any cardinality. Its address is odd, and the
// functions here tell it apart by that (arena/packed/layout.ts). Those that write an entry need one of 12
// bytes.
//
// Blocks lie on multiples of 8, so a position divided by 8 leaves three bits for the kind. The short bitset
// of a tiny arena begins in the entry: its header takes the place of the position (header.ts). One or two
// members live in the entry itself, as an array of that cardinality whose payload is at entry + 6 (SINGLE,
// PAIR). A FULL entry stands for `span` consecutive containers, up to 2^45, that hold all their 65,536
// offsets; it has no payload. An entry covers the keys of its containers.

import { Kind, isArray } from "../../container/kind";
import { Own, view8, view16, view32, view64 } from "../../env/view";
import { isArraySized } from "../../container/limits";
import { SHORT_HEADER } from "../../container/short";
import { groupCount } from "../packed/groups";
import { groupKey, groupPayload, isGroup } from "../packed/layout";
import { payloadSize } from "../../container/convert";

// @ts-ignore: decorator
@inline export const ENTRY_BYTES: usize = 12;
/** The greatest key: offsets have 64 bits. */
// @ts-ignore: decorator
@inline export const KEY_MAX: u64 = 0xffffffffffff;
/** Most containers that one FULL entry stands for. */
// @ts-ignore: decorator
@inline export const SPAN_MAX: u64 = (<u64>1) << 45;

// @ts-ignore: decorator
@inline const KEY: u32 = 0;
// @ts-ignore: decorator
@inline const LOW: u32 = 6;
// @ts-ignore: decorator
@inline const REF: u32 = 8;
// @ts-ignore: decorator
@inline const KIND: u32 = 11;
// @ts-ignore: decorator
@inline const KIND_SHIFT: u32 = 29;
// @ts-ignore: decorator
@inline const REF_MASK: u32 = 0x1fffffff;

// @ts-ignore: decorator
@inline export function keyOf(offset: u64): u64 { return offset >> 16; }
// @ts-ignore: decorator
@inline export function lowOf(offset: u64): u32 { return <u32>offset & 0xffff; }
// @ts-ignore: decorator
@inline export function offsetOf(key: u64, low: u32): u64 { return (key << 16) | low; }

// Functions named plain...() read entries of 12 bytes only, which then may lie at any address.
// A builder's leaf buffer needs that.

// @ts-ignore: decorator
@inline export function plainKey<M>(entry: usize): u64 { return view64<M>(entry, KEY) & KEY_MAX; }
// @ts-ignore: decorator
@inline export function plainKind<M>(entry: usize): Kind { return <Kind>(view8<M>(entry, KIND) >> 5); }
// @ts-ignore: decorator
@inline export function plainSpan<M>(entry: usize): u64 {
  if (plainKind<M>(entry) != Kind.FULL) return 1;
  return (((<u64>(view32<M>(entry, REF) & REF_MASK)) << 16) | view16<M>(entry, LOW)) + 1;
}
// @ts-ignore: decorator
@inline export function plainCount<M>(entry: usize): u32 {
  const kind = plainKind<M>(entry);
  return kind >= Kind.SINGLE ? <u32>kind - 5 : view16<M>(entry, LOW) + 1;
}

// @ts-ignore: decorator
@inline export function entryKey<M>(entry: usize): u64 {
  return isGroup(entry) ? groupKey<M>(entry) : plainKey<M>(entry);
}

// @ts-ignore: decorator
@inline export function entryKind<M>(entry: usize): Kind {
  return isGroup(entry) ? Kind.ARRAY : plainKind<M>(entry);
}

/** How many containers the entry stands for. */
// @ts-ignore: decorator
@inline export function entrySpan<M>(entry: usize): u64 { return isGroup(entry) ? 1 : plainSpan<M>(entry); }
/** The last key that the entry covers. */
// @ts-ignore: decorator
@inline export function entryLastKey<M>(entry: usize): u64 {
  return isGroup(entry) ? groupKey<M>(entry) : plainKey<M>(entry) + plainSpan<M>(entry) - 1;
}
/** Members of an entry that is not FULL: 1 .. 65536. */
// @ts-ignore: decorator
@inline export function entryCount<M>(entry: usize): u32 {
  return isGroup(entry) ? groupCount<M>(entry) : plainCount<M>(entry);
}
/** Members of all containers that the entry stands for, modulo 2^64. */
// @ts-ignore: decorator
@inline export function entryCardinality<M>(entry: usize): u64 {
  return entryKind<M>(entry) == Kind.FULL ? entrySpan<M>(entry) << 16 : entryCount<M>(entry);
}
/** Address of a tiny arena's entry, where no other arena has one. */
// @ts-ignore: decorator
@inline export const TINY_ENTRY: usize = 4;
/** Address of the one or two members that the entry holds. */
// @ts-ignore: decorator
@inline export function plainMembers(entry: usize): usize { return entry + LOW; }
/** Address of the entry's block, if it has one. */
// @ts-ignore: decorator
@inline export function plainBlock<M>(entry: usize): usize { return <usize>(view32<M>(entry, REF) << 3); }
// @ts-ignore: decorator
@inline export function plainPayload<M>(entry: usize): usize {
  const kind = plainKind<M>(entry);
  if (kind >= Kind.SINGLE) return plainMembers(entry);
  return entry == TINY_ENTRY && kind == Kind.SHORT ? entry + REF : plainBlock<M>(entry);
}
/** Address of the container's payload in memory M. Meaningless for FULL. */
// @ts-ignore: decorator
@inline export function entryPayload<M>(entry: usize): usize {
  return isGroup(entry) ? groupPayload<M>(entry) : plainPayload<M>(entry);
}

/**
 * Whether the container of memory 0 is an array in a payload:
 * so are buckets, and bitsets and short bitsets with few enough members.
 */
export function isStreamedAsArray(entry: usize): bool {
  const kind = entryKind<Own>(entry);
  return isArray(kind) || kind == Kind.BUCKETS
    || ((kind == Kind.BITSET || kind == Kind.SHORT) && isArraySized(entryCount<Own>(entry)));
}

/** Bytes of the container's payload outside the entry, 0 if it has none there. */
export function payloadBytes<M>(entry: usize): usize {
  if (isGroup(entry)) return 0;
  return payloadSize<M>(plainKind<M>(entry), plainCount<M>(entry), plainPayload<M>(entry));
}

/** Writes the key. One of the functions set...() below then completes the entry. */
// @ts-ignore: decorator
@inline export function setKey(entry: usize, key: u64): void {
  store<u64>(entry, key, KEY);
  store<u32>(entry, 0, REF);
}
/** Makes the entry an ARRAY, BITSET, RUNS, BUCKETS or SHORT container of `count` members at `position`. */
// @ts-ignore: decorator
@inline export function setBlock(entry: usize, kind: Kind, count: u32, position: usize): void {
  store<u16>(entry, <u16>(count - 1), LOW);
  store<u32>(entry, (<u32>position >> 3) | (<u32>kind << KIND_SHIFT), REF);
}
/** Makes the entry of a tiny arena a SHORT container of `count` members, with this header. */
// @ts-ignore: decorator
@inline export function setTinyShort(entry: usize, count: u32, header: u32): void {
  store<u16>(entry, <u16>(count - 1), LOW);
  store<u32>(entry, (header & SHORT_HEADER) | (<u32>Kind.SHORT << KIND_SHIFT), REF);
}
// @ts-ignore: decorator
@inline export function setCount(entry: usize, count: u32): void { store<u16>(entry, <u16>(count - 1), LOW); }
// @ts-ignore: decorator
@inline export function setPosition(entry: usize, position: usize): void {
  store<u32>(entry, (<u32>position >> 3) | (load<u32>(entry, REF) & ~REF_MASK), REF);
}
// @ts-ignore: decorator
@inline export function setSingle(entry: usize, member: u32): void {
  store<u16>(entry, <u16>member, LOW);
  store<u32>(entry, <u32>Kind.SINGLE << KIND_SHIFT, REF);
}
/** Two members in ascending order. */
// @ts-ignore: decorator
@inline export function setPair(entry: usize, first: u32, second: u32): void {
  store<u16>(entry, <u16>first, LOW);
  store<u32>(entry, second | (<u32>Kind.PAIR << KIND_SHIFT), REF);
}
/** Makes the entry `span` full containers. */
// @ts-ignore: decorator
@inline export function setFull(entry: usize, span: u64): void {
  const last = span - 1;
  store<u16>(entry, <u16>last, LOW);
  store<u32>(entry, <u32>(last >> 16) | (<u32>Kind.FULL << KIND_SHIFT), REF);
}
