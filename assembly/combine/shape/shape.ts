// A shape: one container on its way through a combination, packed into a u64 as kind, cardinality and
// address. The address lies in the memory that holds the container: an operand, which `left` or `right`
// shows, or memory 0.
//
// Shapes know the kinds with a payload (ARRAY, BITSET, RUNS, SPARSE, SHORT) and FULL. One or two members
// that live in a directory entry are an ARRAY whose payload is in the entry.

import { right } from "../../env/memory";
import { Memory, Right } from "../../env/view";
import { Entry } from "../../arena/layout/entry";
import { PageGroups } from "../../arena/packed/groups";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { payloadSize } from "../../container/convert";

/** A container on its way through a combination, packed in a u64. */
export abstract class Shape {
  /** The shape without members. */
  @inline static readonly NOTHING: u64 = 0;
  /**
   * Not a shape: this function does not suit these containers, and has changed nothing. The caller uses
   * another one.
   */
  @inline static readonly UNSUITED: u64 = u64.MAX_VALUE;

  @inline static of(kind: Kind, count: u32, at: usize): u64 {
    return ((<u64>kind) << 56) | ((<u64>count) << 32) | <u64>at;
  }

  @inline static kind(s: u64): Kind { return <Kind>(s >> 56); }
  @inline static count(s: u64): u32 { return <u32>(s >> 32) & 0xffffff; }
  @inline static at(s: u64): usize { return <usize>(<u32>s); }

  @inline static isFull(s: u64): bool { return Shape.kind(s) == Kind.FULL; }

  // Shapes of what a kernel made in memory 0; a kernel may have made nothing.

  @inline static full(): u64 { return Shape.of(Kind.FULL, Container.UNIVERSE, 0); }
  @inline static array(count: u32, at: usize): u64 {
    return count ? Shape.of(Kind.ARRAY, count, at) : Shape.NOTHING;
  }

  @inline static bitset(count: u32, at: usize): u64 {
    return count ? Shape.of(Kind.BITSET, count, at) : Shape.NOTHING;
  }

  @inline static short(count: u32, at: usize): u64 {
    return count ? Shape.of(Kind.SHORT, count, at) : Shape.NOTHING;
  }

  @inline static sparse(count: u32, at: usize): u64 { return Shape.of(Kind.SPARSE, count, at); }

  @inline static runs(count: u32, at: usize): u64 {
    return count ? Shape.of(Kind.RUNS, count, at) : Shape.NOTHING;
  }

  /**
   * The shape of one container of an entry, which memory M shows. Of a FULL entry, one of its full containers.
   */
  @inline static ofEntry<M extends Memory>(entry: Entry): u64 {
    if (entry.isGroup()) {
      return Shape.of(Kind.ARRAY, PageGroups.count<M>(entry.group), entry.group.payload<M>());
    }
    const kind = entry.plainKind<M>();
    if (kind == Kind.FULL) return Shape.full();
    return Shape.of(Choice.isArray(kind) ? Kind.ARRAY : kind, entry.plainCount<M>(), entry.plainPayload<M>());
  }

  /** Bytes of the payload of a shape that memory M shows. */
  @inline static bytes<M extends Memory>(s: u64): usize {
    return payloadSize<M>(Shape.kind(s), Shape.count(s), Shape.at(s));
  }

  /** Copies a shape that `right` shows to `out` in memory 0. */
  static copy(s: u64, out: usize): u64 {
    const bytes = Shape.bytes<Right>(s);
    if (bytes) right.copy(out, Shape.at(s), bytes);
    return (s & 0xffffffff00000000) | <u64>out;
  }
}
