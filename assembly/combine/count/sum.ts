// Sums of weights at one key: which values of a container weigh enough, or exactly so much. Each container is
// added in its own kind: members and runs to a tally (container/tally.ts), and words to planes
// (container/counters.ts), once for each binary digit of the weight that is 1. So no container costs more than
// its bytes do, however much it weighs.
//
// The tally lies behind the named places of the scratch room, and the planes behind it. Between them:
//
//   +0  i32 weight of every value         +4  u32 1 once there are planes
//   +8  i32 the sum of positive weights   +12 i32 the sum of negative weights; both of what is at the key
//                                                 and not full
//   +16 u32 containers                    +20 u32 terms
//   +24 u32 containers that weigh 1       +28 u32 containers that weigh -1
//   +32 u32 arrays                        +36 u32 members of these
//
// Arrays alone of some hundred members are counted in bytes instead, one for each value, in the room of the
// tally.

import { SELF, left, right, work } from "../../env/memory";
import { Offset } from "../../arena/layout/entry";
import { Kind } from "../../container/kind";
import { Bitset, complementBitset } from "../../container/bitset";
import { Counters, countInBytes, reachedInBytes } from "../../container/counters";
import { BITSET_BYTES, Container } from "../../container/limits";
import {
  TALLY_BYTES, Tally, planesToBitset, tallyToBitset, tallyToRuns, tallyWithPlanes,
} from "../../container/tally";
import { ShortBitset } from "../../container/short";
import { Right } from "../../env/view";
import { asBitset } from "../shape/expand";
import { Places, Scratch } from "../shape/scratch";
import { Shape } from "../shape/shape";
import { Rule, Term } from "../term/term";
import { Location } from "./parts";

/** Adds up the weights of a term's items at one key. */
export abstract class Sum {
  /** Arrays of more members, and short bitsets of more words, are read word by word: as bitsets. */
  @inline private static readonly TALLIED_MEMBERS: u32 = 512;
  @inline private static readonly TALLIED_WORDS: u32 = 32;
  /** Arrays of fewer members together are tallied. */
  @inline private static readonly BYTES_FROM: u32 = 96;
  @inline private static readonly STATE_BYTES: usize = 40;

  @inline private static tally(): usize { return Places.at(Scratch.PLACES); }
  @inline private static state(): usize { return Sum.tally() + TALLY_BYTES; }
  /** Planes that no sum of the term's weights overflows, and one more: the adder works on two at once. */
  @inline private static planes(term: u32): u32 { return 33 - <u32>clz<u32>(Term.totalWeight(term) | 1); }

  /** The places that a sum takes. */
  static places(term: u32): u32 { return Tally.PLACES + Sum.planes(term) + 1; }

  @inline static base(): i32 { return load<i32>(Sum.state()); }
  @inline static up(): i32 { return load<i32>(Sum.state(), 8); }
  @inline static down(): i32 { return load<i32>(Sum.state(), 12); }
  @inline static containers(): u32 { return load<u32>(Sum.state(), 16); }
  @inline static terms(): u32 { return load<u32>(Sum.state(), 20); }
  /** Whether all containers weigh the same: 1, or with `negative` -1. */
  @inline static weighAlike(negative: bool): bool {
    return load<u32>(Sum.state() + (negative ? 28 : 24)) == Sum.containers();
  }

  @inline private static addBase(by: i32): void { store<i32>(Sum.state(), Sum.base() + by); }

  /** Begins a sum in which `base` weighs in all values. */
  static start(base: i32): void {
    memory.fill(Sum.state(), 0, Sum.STATE_BYTES);
    Sum.addBase(base);
  }

  /** Notes what is at the key: a term, or a container of a kind. */
  static note(isTerm: bool, s: u64, weight: i32): void {
    const state = Sum.state(), kind = isTerm ? Kind.RUNS : Shape.kind(s);
    if (kind == Kind.FULL) { Sum.addBase(weight); return; }
    if (weight > 0) store<i32>(state, Sum.up() + weight, 8); else store<i32>(state, Sum.down() + weight, 12);
    if (isTerm) { store<u32>(state, Sum.terms() + 1, 20); return; }
    store<u32>(state, Sum.containers() + 1, 16);
    if (weight == 1) store<u32>(state, load<u32>(state, 24) + 1, 24);
    if (weight == -1) store<u32>(state, load<u32>(state, 28) + 1, 28);
    if (kind != Kind.ARRAY) return;
    store<u32>(state, load<u32>(state, 32) + 1, 32);
    store<u32>(state, load<u32>(state, 36) + Shape.count(s), 36);
  }

  /**
   * Whether the containers at the key can be counted in bytes, and this is quicker. Not if `least` is the
   * least possible sum: counting in bytes does not find values that no item has.
   */
  static suitsBytes(least: i32): bool {
    const state = Sum.state();
    if (least == Sum.base() + Sum.down() || Sum.terms()) return false;
    return load<u32>(state, 32) == Sum.containers() && load<u32>(state, 36) >= Sum.BYTES_FROM
      && <u32>(Sum.up() - Sum.down()) <= Counters.BYTE_COUNTERS_MAX;
  }

  /** Begins to count in bytes: from the negative weights on, so that no counter goes below 0. */
  static beginBytes(): void { memory.fill(Sum.tally(), <u8>-Sum.down(), Counters.BYTE_COUNTERS_BYTES); }

  /** Adds the array `s` of operand `operand`. */
  static addToBytes(operand: u32, s: u64, weight: i32): void {
    const counters = Sum.tally();
    right.select(operand);
    if (weight == 1) { countInBytes(counters, Shape.at(s), Shape.count(s)); return; }
    for (let a = Shape.at(s), end = a + Container.arrayBytes(Shape.count(s)); a < end;
      a += Container.MEMBER_BYTES) {
      const at = counters + right.load16(a, 0);
      store<u8>(at, <u8>(<i32>load<u8>(at) + weight));
    }
  }

  /**
   * weighed() of what was counted in bytes: more than all that weighs in all values, and less than that with
   * all positive weights.
   */
  static weighedInBytes(term: u32): u64 {
    const wanted = <i32>Term.least(term) - Sum.base() - Sum.down(), out = Places.at(Scratch.FIRST);
    return Shape.bitset(reachedInBytes(Sum.tally(), <u32>wanted, Term.rule(term) == Rule.SUM_EXACTLY, out),
      out);
  }

  /** Whether a step of the term's constant, behind step `step`, begins inside the container `key`. */
  @inline static stepsInside(term: u32, key: u64, step: u32): bool {
    return step + 1 < Term.steps(term) && Offset.key(Term.stepOffset(term, step + 1)) == key;
  }

  /** Makes the tally ready: with the steps behind step `step` that begin inside the container `key`. */
  static beginTally(term: u32, key: u64, step: u32): void {
    Tally.start(Sum.tally());
    for (let next = step + 1; Sum.stepsInside(term, key, next - 1); next++) {
      const change = Term.stepConstant(term, next) - Term.stepConstant(term, next - 1);
      Tally.from(Sum.tally(), Offset.low(Term.stepOffset(term, next)), change);
    }
  }

  /** Adds the container `s` of operand `operand`, which `right` shows. */
  static add(term: u32, operand: u32, s: u64, weight: i32): void {
    const kind = Shape.kind(s), count = Shape.count(s), at = Shape.at(s);
    work.spend(1 + (count >> 8));
    if (kind == Kind.FULL) {
      Sum.addBase(weight);
    } else if (kind == Kind.RUNS) {
      Tally.runs(Sum.tally(), at, weight);
    } else if (kind == Kind.ARRAY && count <= Sum.TALLIED_MEMBERS) {
      Tally.array(Sum.tally(), at, count, weight);
    } else if (kind == Kind.SHORT && ShortBitset.wordCount<Right>(at) <= Sum.TALLIED_WORDS) {
      Tally.words(Sum.tally(), at + Container.SHORT_HEADER_BYTES, ShortBitset.firstWord<Right>(at),
        ShortBitset.wordCount<Right>(at), weight);
    } else {
      Sum.addAsWords(term, operand, s, weight);
    }
  }

  /** Adds the container `s` of operand `operand`, which `right` shows, word by word. */
  private static addAsWords(term: u32, operand: u32, s: u64, weight: i32): void {
    if (weight < 0) {                           // planes only count up: less in `s` is more outside of it
      const rest = Sum.complementOf(operand, s);
      Sum.addBase(weight);
      Sum.addWords(term, SELF, rest, -weight);
      return;
    }
    if (Shape.kind(s) == Kind.BITSET || Shape.kind(s) == Kind.SHORT) Sum.addWords(term, operand, s, weight);
    else Sum.addWords(term, SELF, asBitset(operand, s, Places.at(Scratch.FIRST)), weight);
  }

  /**
   * The complement of the container `s` of operand `operand`, which `right` shows, as a bitset in
   * Scratch.FIRST.
   */
  private static complementOf(operand: u32, s: u64): u64 {
    const out = Places.at(Scratch.FIRST);
    asBitset(operand, s, out);
    left.select(SELF);
    complementBitset(out, out);
    return Shape.of(Kind.BITSET, Container.UNIVERSE, out);
  }

  /** Adds the bitset or short bitset `s` to the planes. `weight` is positive. */
  private static addWords(term: u32, operand: u32, s: u64, weight: i32): void {
    const planes = Tally.planes(Sum.tally()), count = Sum.planes(term);
    if (!load<u32>(Sum.state(), 4)) {
      memory.fill(planes, 0, <usize>(count + 1) * Places.FOLD_BYTES);
      store<u32>(Sum.state(), 1, 4);
    }
    for (let digits = <u32>weight; digits; digits &= digits - 1) {
      const digit = <u32>ctz<u32>(digits), counters = planes + <usize>digit * Places.FOLD_BYTES;
      work.spend(1);
      for (let part: usize = 0; part < BITSET_BYTES; part += Bitset.PART_BYTES) {
        const only = Location.ofPart(operand, s, part, Location.stagedPart(true));
        if (only) Location.countAlone(counters + part, count - digit, only);
      }
    }
  }

  /** The values that weigh enough, in Scratch.FIRST. */
  static weighed(term: u32): u64 {
    const least = <i32>Term.least(term) - Sum.base(), exactly = Term.rule(term) == Rule.SUM_EXACTLY;
    const out = Places.at(Scratch.FIRST);
    if (load<u32>(Sum.state(), 4) && Tally.isUniform(Sum.tally())) {
      left.select(SELF);
      right.select(SELF);
      return Shape.bitset(planesToBitset(Sum.tally(), Sum.planes(term), least, exactly, out), out);
    }
    if (load<u32>(Sum.state(), 4)) {
      tallyWithPlanes(Sum.tally(), Sum.planes(term), least, exactly, out);
    } else {
      const members = tallyToRuns(Sum.tally(), least, exactly, out, Places.RUNS_MAX);
      if (members != Tally.TOO_MANY_RUNS) return Shape.runs(members, out);
      tallyToBitset(Sum.tally(), least, exactly, out);
    }
    left.select(SELF);
    return Shape.bitset(Bitset.cardinality(out), out);
  }
}
