// Terms that count or weigh their items, at one key. Nothing is counted if the result follows from the
// containers at the key, or is their union or intersection. Otherwise, threshold.ts and sum.ts count. Terms
// among the items are evaluated in combine/evaluate.ts.

import { Kernel, Sink, Store } from "../../container/kernel";
import { foldIntersection } from "../several/intersection";
import { Listed } from "../term/listed";
import { complemented, countOfTwo, settled, takeListed } from "../term/result";
import { Shape } from "../shape/shape";
import { Fold } from "../fold/sides";
import { Sum } from "./sum";
import { Rule, Term } from "../term/term";
import { countListed, reached, repeatedOfArrays, repeatedOfFew } from "./threshold";
import { foldListed } from "../several/union";

// --- How many items ----------------------------------------------------------------------------------------

/**
 * Values in at least (with `exactly`, in exactly) `least` of the list's `listed` containers. There are
 * `least` containers or more.
 */
export function repeated<S extends Sink>(term: u32, list: usize, listed: u32, least: u32,
  exactly: bool): u64 {
  const s = thresholdOfListed<S>(term, list, listed, least, exactly);
  return s == Shape.UNSUITED ? reached<S>(countListed(list, listed, least, exactly), exactly) : s;
}

/** The same where counting can be avoided; otherwise UNSUITED. */
function thresholdOfListed<S extends Sink>(term: u32, list: usize, listed: u32, least: u32,
  exactly: bool): u64 {
  if (least == listed) {
    if (!listed) return Shape.full();          // exactly: in all of the items that are full, and in no other
    if (listed == 1) return takeListed(term, list);
    return listed == 2 && !Kernel.stores<S>() ? countOfTwo(Rule.ALL, list)
      : foldIntersection<S>(list, listed);
  }
  if (exactly && !least) {
    const any = listed == 1 ? takeListed(term, list) : foldListed<Store>(Fold.OR, list, listed);
    return complemented(term, any);
  }
  if (least == 1 && listed == 2) {
    if (!Kernel.stores<S>()) return countOfTwo(exactly ? Rule.ODD : Rule.ANY, list);
    return foldListed<S>(exactly ? Fold.XOR : Fold.OR, list, listed);
  }
  if (least == 1 && !exactly) return foldListed<S>(Fold.OR, list, listed);
  const few = repeatedOfFew(list, listed, least, exactly);
  return few == Shape.UNSUITED ? repeatedOfArrays<S>(list, listed, least, exactly) : few;
}

// --- Sums --------------------------------------------------------------------------------------------------

/**
 * The values that weigh enough, if Sum.note() has noted enough to tell without adding weights; otherwise
 * UNSUITED. Not where a step of the term's constant begins inside the container.
 */
export function sumOfNoted<S extends Sink>(term: u32, key: u64): u64 {
  const exactly = Term.rule(term) == Rule.SUM_EXACTLY, least = <i32>Term.least(term);
  const base = Sum.base(), most = base + Sum.up(), fewest = base + Sum.down(), containers = Sum.containers();
  if (most < least || (exactly && fewest > least)) return Shape.NOTHING;
  if (fewest >= least && (!exactly || most == fewest)) return Shape.full();
  if (!Sum.terms() && Sum.weighAlike(false)) {
    return repeatedAtKey<S>(term, key, containers, <u32>(least - base), exactly);
  }
  if (Sum.terms() || !Sum.weighAlike(true)) return Shape.UNSUITED;
  const other = <u32>(base - least);
  if (exactly) return repeatedAtKey<S>(term, key, containers, other, true);
  return complemented(
    term, settled<Store>(term, repeatedAtKey<Store>(term, key, containers, other + 1, false)),
  );
}

/** repeated() of the containers that the items of a sum have at the key. */
// @ts-ignore: decorator
@inline function repeatedAtKey<S extends Sink>(term: u32, key: u64, containers: u32, least: u32,
  exactly: bool): u64 {
  Listed.grouped(term, key);
  return repeated<S>(term, Term.list(term), containers, least, exactly);
}
