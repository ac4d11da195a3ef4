// The scratch room above the bump mark, in which containers are made before they are appended to a result. It
// is divided into places of FOLD_BYTES, named after what they mostly hold:
//
//   FIRST, SECOND   two places for results: a fold reads its left side from one of them and writes to the
//                   other
//   TEMP            what a fold needs besides; free while no fold runs
//   SPARE           free for the caller: a run or a bitset to fold with, or work space of counting
//   LIST            lists of members or sources
//   LEFT, RIGHT     what containers of compact kinds are expanded to (expand.ts)
//
// emit() converts a shape in the one or two places behind the one it lies in, so a caller of emit() leaves
// those free. The room moves whenever the bump mark does: addresses hold only until the next allocation.
//
// Where a term is one of another term's items, its result is made in places of its own, behind those in use:
// Places.raise() moves all the names above by a number of places, and Places.lower() moves them back.

import { Allocator, Block } from "../../arena/layout/blocks";
import { Arena, Header } from "../../arena/layout/header";
import { BITSET_BYTES } from "../../container/limits";
import { Shape } from "./shape";

export const enum Scratch {
  FIRST = 0,
  SECOND = 1,
  TEMP = 2,
  SPARE = 3,
  LIST = 4,
  LEFT = 5,
  RIGHT = 6,
  PLACES = 7,
}

/** Scratch room, and its places. */
export abstract class Places {
  /** Bytes that any container takes while it is made: none is larger than a bitset. */
  @inline static readonly FOLD_BYTES: usize = BITSET_BYTES;
  /** Most runs that fit FOLD_BYTES. */
  @inline static readonly RUNS_MAX: u32 = 2047;

  @inline static at(place: Scratch): usize {
    return Allocator.alignedBump() + Header.lift() + <usize>place * Places.FOLD_BYTES;
  }

  /** Makes room for all places up to and including `last`. */
  @inline static make(last: Scratch): void { Arena.makeRoom(Header.lift() + Places.bytes(last)); }

  /** Makes room for `places` places, more than have names. */
  @inline static makeMany(places: u32): void {
    Arena.makeRoom(Block.LINE + <usize>places * Places.FOLD_BYTES);
  }

  /** Bytes above the bump mark that Places.make() makes room for. */
  @inline static bytes(last: Scratch): usize {
    return Block.LINE + (<usize>last + 1) * Places.FOLD_BYTES;
  }

  @inline static raise(places: u32): void {
    Header.setLift(Header.lift() + <usize>places * Places.FOLD_BYTES);
  }

  @inline static lower(places: u32): void {
    Header.setLift(Header.lift() - <usize>places * Places.FOLD_BYTES);
  }

  /** Whether `at` lies in the place. */
  @inline static liesIn(at: usize, place: Scratch): bool { return at - Places.at(place) < Places.FOLD_BYTES; }

  /** A place for a result that does not overlap `s`, which lies in FIRST or SECOND or elsewhere. */
  @inline static beside(s: u64): usize {
    return Places.at(Places.liesIn(Shape.at(s), Scratch.FIRST) ? Scratch.SECOND : Scratch.FIRST);
  }

  /** Whether a result at `at` lies where folds put theirs: in FIRST or SECOND. */
  @inline static isResultPlace(at: usize): bool {
    return at - Places.at(Scratch.FIRST) < 2 * Places.FOLD_BYTES;
  }
}
