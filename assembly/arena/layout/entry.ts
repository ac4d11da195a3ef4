// A directory entry: 12 bytes that name a container by its key,
// the bits of its offsets above the low 16, and say where its payload is.
//
//   +0   u48  key
//   +6   u16  cardinality - 1                       | first member       | low 16 bits of span - 1
//   +8   u29  position / 8                          | second member u16  | high 29 bits of span - 1
//   +11  top 3 bits: kind
//        ARRAY, BITSET, RUNS, SPARSE, SHORT           SINGLE, PAIR         FULL
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

import { Choice, Kind } from "../../container/kind";
import { Memory, Own, view16, view32, view64, view8 } from "../../env/view";
import { Container } from "../../container/limits";
import { ShortBitset } from "../../container/short";
import { PageGroups } from "../packed/groups";
import { Group } from "../packed/layout";
import { payloadSize } from "../../container/convert";

/** An entry of a leaf. One whose address is odd is a group of a packed leaf, and is read through it. */
@final @unmanaged
export class Entry {
  @inline static readonly BYTES: usize = 12;
  /** Most containers that one FULL entry stands for. */
  @inline static readonly SPAN_MAX: u64 = (<u64>1) << 45;
  @inline private static readonly KEY: u32 = 0;
  @inline private static readonly LOW: u32 = 6;
  @inline private static readonly REF: u32 = 8;
  @inline private static readonly KIND: u32 = 11;
  @inline private static readonly KIND_SHIFT: u32 = 29;
  @inline private static readonly REF_MASK: u32 = 0x1fffffff;
  /** Address of a tiny arena's entry, where no other arena has one. */
  @inline static readonly TINY: usize = 4;

  // Functions named plain...() read entries of 12 bytes only, which then may lie at any address.
  // A builder's leaf buffer needs that.

  @inline plainKey<M extends Memory>(): u64 {
    return view64<M>(changetype<usize>(this), Entry.KEY) & Offset.KEY_MAX;
  }

  @inline plainKind<M extends Memory>(): Kind {
    return <Kind>(view8<M>(changetype<usize>(this), Entry.KIND) >> 5);
  }

  @inline plainSpan<M extends Memory>(): u64 {
    if (this.plainKind<M>() != Kind.FULL) return 1;
    return (((<u64>(view32<M>(changetype<usize>(this), Entry.REF) & Entry.REF_MASK)) << 16)
      | view16<M>(changetype<usize>(this), Entry.LOW)) + 1;
  }

  @inline plainCount<M extends Memory>(): u32 {
    const kind = this.plainKind<M>();
    return kind >= Kind.SINGLE ? <u32>kind - 5 : view16<M>(changetype<usize>(this), Entry.LOW) + 1;
  }

  /** The entry behind it in a leaf that is not packed. */
  @inline get following(): Entry { return changetype<Entry>(changetype<usize>(this) + Entry.BYTES); }
  /** Whether it is a group of a packed leaf. */
  @inline isGroup(): bool { return Group.is(changetype<Group>(this)); }
  /** The group that it is. */
  @inline get group(): Group { return changetype<Group>(this); }

  @inline key<M extends Memory>(): u64 {
    return this.isGroup() ? this.group.key<M>() : this.plainKey<M>();
  }

  @inline kind<M extends Memory>(): Kind {
    return this.isGroup() ? Kind.ARRAY : this.plainKind<M>();
  }

  /** How many containers the entry stands for. */
  @inline span<M extends Memory>(): u64 { return this.isGroup() ? 1 : this.plainSpan<M>(); }
  /** The last key that the entry covers. */
  @inline lastKey<M extends Memory>(): u64 {
    return this.isGroup() ? this.group.key<M>() : this.plainKey<M>() + this.plainSpan<M>() - 1;
  }

  /** Members of an entry that is not FULL: 1 .. 65536. */
  @inline count<M extends Memory>(): u32 {
    return this.isGroup() ? PageGroups.count<M>(this.group) : this.plainCount<M>();
  }

  /** Members of all containers that the entry stands for, modulo 2^64. */
  @inline cardinality<M extends Memory>(): u64 {
    return this.kind<M>() == Kind.FULL ? this.span<M>() << 16 : this.count<M>();
  }

  /** Address of the one or two members that the entry holds. */
  @inline plainMembers(): usize { return changetype<usize>(this) + Entry.LOW; }
  /** Address of the entry's block, if it has one. */
  @inline plainBlock<M extends Memory>(): usize {
    return <usize>(view32<M>(changetype<usize>(this), Entry.REF) << 3);
  }

  @inline plainPayload<M extends Memory>(): usize {
    const kind = this.plainKind<M>();
    if (kind >= Kind.SINGLE) return this.plainMembers();
    return changetype<usize>(this) == Entry.TINY && kind == Kind.SHORT ? changetype<usize>(this) + Entry.REF
      : this.plainBlock<M>();
  }

  /** Address of the container's payload in memory M. Meaningless for FULL. */
  @inline payload<M extends Memory>(): usize {
    return this.isGroup() ? this.group.payload<M>() : this.plainPayload<M>();
  }

  /**
   * Whether the container of memory 0 is an array in a payload:
   * so are bitsets, sparse and short bitsets with few enough members.
   */
  isStreamedAsArray(): bool {
    const kind = this.kind<Own>();
    return Choice.isArray(kind)
      || (kind <= Kind.SHORT && kind != Kind.RUNS && Container.isArraySized(this.count<Own>()));
  }

  /** Bytes of the container's payload outside the entry, 0 if it has none there. */
  payloadBytes<M extends Memory>(): usize {
    if (this.isGroup()) return 0;
    return payloadSize<M>(this.plainKind<M>(), this.plainCount<M>(), this.plainPayload<M>());
  }

  /** Writes the key. One of the functions set...() below then completes the entry. */
  @inline setKey(key: u64): void {
    store<u64>(changetype<usize>(this), key, Entry.KEY);
    store<u32>(changetype<usize>(this), 0, Entry.REF);
  }

  /** Makes the entry an ARRAY, BITSET, RUNS, SPARSE or SHORT container of `count` members at `position`. */
  @inline setBlock(kind: Kind, count: u32, position: usize): void {
    store<u16>(changetype<usize>(this), <u16>(count - 1), Entry.LOW);
    store<u32>(changetype<usize>(this), (<u32>position >> 3) | (<u32>kind << Entry.KIND_SHIFT), Entry.REF);
  }

  /** Makes the entry of a tiny arena a SHORT container of `count` members, with this header. */
  @inline setTinyShort(count: u32, header: u32): void {
    store<u16>(changetype<usize>(this), <u16>(count - 1), Entry.LOW);
    store<u32>(changetype<usize>(this), (header & ShortBitset.HEADER) | (<u32>Kind.SHORT << Entry.KIND_SHIFT),
      Entry.REF);
  }

  @inline setCount(count: u32): void { store<u16>(changetype<usize>(this), <u16>(count - 1), Entry.LOW); }
  @inline setPosition(position: usize): void {
    store<u32>(changetype<usize>(this),
      (<u32>position >> 3) | (load<u32>(changetype<usize>(this), Entry.REF) & ~Entry.REF_MASK), Entry.REF);
  }

  @inline setSingle(member: u32): void {
    store<u16>(changetype<usize>(this), <u16>member, Entry.LOW);
    store<u32>(changetype<usize>(this), <u32>Kind.SINGLE << Entry.KIND_SHIFT, Entry.REF);
  }

  /** Two members in ascending order. */
  @inline setPair(first: u32, second: u32): void {
    store<u16>(changetype<usize>(this), <u16>first, Entry.LOW);
    store<u32>(changetype<usize>(this), second | (<u32>Kind.PAIR << Entry.KIND_SHIFT), Entry.REF);
  }

  /** Makes the entry `span` full containers. */
  @inline setFull(span: u64): void {
    const last = span - 1;
    store<u16>(changetype<usize>(this), <u16>last, Entry.LOW);
    store<u32>(changetype<usize>(this), <u32>(last >> 16) | (<u32>Kind.FULL << Entry.KIND_SHIFT), Entry.REF);
  }
}
/** Offsets of 64 bits: the key of a container, and the low 16 bits. */
export abstract class Offset {
  /** The greatest key: offsets have 64 bits. */
  @inline static readonly KEY_MAX: u64 = 0xffffffffffff;

  @inline static key(offset: u64): u64 { return offset >> 16; }
  @inline static low(offset: u64): u32 { return <u32>offset & 0xffff; }
  @inline static of(key: u64, low: u32): u64 { return (key << 16) | low; }
}
