// Terms that count at one key: which values are in so many of their items, or in items that weigh so much.
// Where the answer follows from what the items have at the key, or is a union or an intersection, nothing is
// counted. Otherwise it is counted in threshold.ts and sum.ts.

import { right } from "../env/memory";
import { keyOf, lowOf } from "../arena/entry";
import { Count, Store, StoreOnly, counts, stores } from "../container/kernel";
import { tallyFrom } from "../container/tally";
import { cursorKey, cursorOperand, cursorShape, cursorTerm } from "./cursor";
import { evaluateRaised, keptPlaces } from "./evaluate";
import { Fold } from "./fold";
import { foldIntersection } from "./intersection";
import { foundContainers, foundFull, foundTerms, groupedFound, listedTerm } from "./list";
import { complemented, countOfTwo, settled, takeListed } from "./result";
import { NOTHING, UNSUITED, fullShape, isFull, shapeCount } from "./shape";
import {
  addContainer, addToBytes, beginBytes, beginTally, noteItem, startSum, sumBase, sumContainers, sumDown,
  sumTerms, sumUp, suitsBytes, weighAlike, weighed, weighedInBytes,
} from "./sum";
import {
  Rule, firstItem, groupCount, groupEnd, groupKeyAt, groupStart, itemWeight, itemsEnd, listAt, resultOperand,
  stepConstant, stepCount, stepOffset, stepTo, termLeast, termRule,
} from "./term";
import { countListed, countOne, reached, repeatedOfArrays, repeatedOfFew } from "./threshold";
import { foldListed } from "./union";

// --- How many items ----------------------------------------------------------------------------------------

/** Values in at least (with `exactly`, in exactly) `least` items. */
export function evaluateThreshold<S>(term: u32, key: u64, exactly: bool): u64 {
  const list = listAt(term), found = groupedFound(term, key);
  const listed = foundContainers(found), full = foundFull(found);
  const terms = foundTerms(found);
  if (full + listed + terms < termLeast(term)) return NOTHING;
  if (full > termLeast(term) || (full == termLeast(term) && !exactly)) return exactly ? NOTHING : fullShape();
  const least = termLeast(term) - full;
  if (!terms) return repeated<S>(term, list, listed, least, exactly);
  const planes = countListed(list, listed, least, exactly), kept = keptPlaces(term);
  for (let t: u32 = 0; t < terms; t++) {
    const i = listedTerm(term, t), s = evaluateRaised(i, key, kept), operand = resultOperand(cursorTerm(i));
    right.select(operand);
    if (shapeCount(s)) countOne(planes, operand, s);
  }
  return reached<S>(planes, exactly);
}

/**
 * Values in at least (with `exactly`, in exactly) `least` of the list's `listed` containers. There are
 * `least` containers or more.
 */
function repeated<S>(term: u32, list: usize, listed: u32, least: u32, exactly: bool): u64 {
  const s = thresholdOfListed<S>(term, list, listed, least, exactly);
  return s == UNSUITED ? reached<S>(countListed(list, listed, least, exactly), exactly) : s;
}

/** The same where counting can be avoided; otherwise UNSUITED. */
function thresholdOfListed<S>(term: u32, list: usize, listed: u32, least: u32, exactly: bool): u64 {
  if (least == listed) {
    if (!listed) return fullShape();          // exactly: in all of the items that are full, and in no other
    if (listed == 1) return takeListed(term, list);
    return listed == 2 && !stores<S>() ? countOfTwo(Rule.ALL, list) : foldIntersection<S>(list, listed);
  }
  if (exactly && !least) {
    const any = listed == 1 ? takeListed(term, list) : foldListed<Store>(Fold.OR, list, listed);
    return complemented(term, any);
  }
  if (least == 1 && listed == 2) {
    if (!stores<S>()) return countOfTwo(exactly ? Rule.ODD : Rule.ANY, list);
    return foldListed<S>(exactly ? Fold.XOR : Fold.OR, list, listed);
  }
  if (least == 1 && !exactly) return foldListed<S>(Fold.OR, list, listed);
  const few = repeatedOfFew(list, listed, least, exactly);
  return few == UNSUITED ? repeatedOfArrays<S>(list, listed, least, exactly) : few;
}

// --- Sums --------------------------------------------------------------------------------------------------

/** What weighs enough. */
export function evaluateSum<S>(term: u32, key: u64): u64 {
  const step = stepTo(term, key), exactly = termRule(term) == Rule.SUM_EXACTLY, least = <i32>termLeast(term);
  startSum(stepConstant(term, step));
  visitItems<Count>(term, key);
  // no step begins inside
  if (step + 1 == stepCount(term) || keyOf(stepOffset(term, step + 1)) != key) {
    const base = sumBase(), most = base + sumUp(), fewest = base + sumDown(), containers = sumContainers();
    if (most < least || (exactly && fewest > least)) return NOTHING;
    if (fewest >= least && (!exactly || most == fewest)) return fullShape();
    if (!sumTerms() && weighAlike(false)) {
      return repeatedAtKey<S>(term, key, containers, <u32>(least - base), exactly);
    }
    if (!sumTerms() && weighAlike(true)) {
      const other = <u32>(base - least);
      if (exactly) return repeatedAtKey<S>(term, key, containers, other, true);
      return complemented(
        term, settled<Store>(term, repeatedAtKey<Store>(term, key, containers, other + 1, false)),
      );
    }
    // 0 is all that weigh less than nothing, which bytes do not look for
    const wanted = least - fewest;
    if (wanted && suitsBytes()) {
      beginBytes();
      visitItems<StoreOnly>(term, key);
      return weighedInBytes(term);
    }
  }
  const tally = beginTally();
  for (let next = step + 1; next < stepCount(term) && keyOf(stepOffset(term, next)) == key; next++) {
    tallyFrom(tally, lowOf(stepOffset(term, next)), stepConstant(term, next) - stepConstant(term, next - 1));
  }
  visitItems<Store>(term, key);
  return weighed(term);
}

/** repeated() of the containers that the items of a sum have at the key. */
// @ts-ignore: decorator
@inline function repeatedAtKey<S>(term: u32, key: u64, containers: u32, least: u32, exactly: bool): u64 {
  groupedFound(term, key);
  return repeated<S>(term, listAt(term), containers, least, exactly);
}

/**
 * Adds what the items of a sum have at the key: to a tally (S = Store) or to bytes (StoreOnly). With S =
 * Count, notes what there is.
 */
function visitItems<S>(term: u32, key: u64): void {
  if (!groupCount(term)) { visitRange<S>(term, firstItem(term), itemsEnd(term), key); return; }
  for (let group: u32 = 0, groups = groupCount(term); group < groups; group++) {
    const start = groupStart(term, group);
    if (load<u64>(groupKeyAt(term, group)) == key) visitRange<S>(term, start, groupEnd(term, start), key);
  }
}

function visitRange<S>(term: u32, from: u32, to: u32, key: u64): void {
  for (let i = from; i < to; i++) {
    if (cursorKey(i) != key) continue;
    const inner = cursorTerm(i), weight = itemWeight(term, i);
    if (!stores<S>()) { noteItem(inner != 0, cursorShape(i), weight); continue; }
    if (inner) {
      const s = evaluateRaised(i, key, keptPlaces(term)), operand = resultOperand(inner);
      right.select(operand);
      if (shapeCount(s)) addContainer(term, operand, s, weight);
      continue;
    }
    const operand = cursorOperand(i), s = cursorShape(i);
    if (isFull(s)) continue;                  // noted, and thereby counted everywhere
    if (!counts<S>()) { addToBytes(operand, s, weight); continue; }
    right.select(operand);
    addContainer(term, operand, s, weight);
  }
}
