// From the text of an expression to its tree. The loosest binding comes first:
//
//   union         = difference of ODD, joined by |
//   symmetric     = intersections, joined by ^
//   intersection  = operands, joined by & and -
//   operand       = ~ operand | ( union ) | #key | [first..last] | function ( arguments ) | comparison
//   comparison    = #key < number | number < #key | number < #key < number | #key < #key;  also <= > >= = !=
//   argument      = #first..#last | union
//
// Functions are all, any, one; atleast, atmost and exactly, whose first argument is a number.
// Letters may be of either case.

import { right } from "../env/memory";
import { Rule } from "../combine/term/term";
import { Mistake } from "./mistake";
import { compareKey, joinLast, parseInteger, readKey } from "./comparison";
import { Character, QueryText } from "./text";
import { Tree, TreeRecord } from "./tree";

/** Most characters of an expression. */
// @ts-ignore: decorator
@inline const TEXT_MAX: u32 = 65535;
/** Most levels: parentheses, functions and complements around one another. */
// @ts-ignore: decorator
@inline const NESTING_MAX: u32 = 64;
/** Most operands. An expression may name a key more than once, and a few characters can name many keys. */
// @ts-ignore: decorator
@inline const OPERANDS_MAX: u32 = 131072;

/** The names of functions as readWord() returns them. */
const enum Word { ALL = 0x616c6c, ANY = 0x616e79, ONE = 0x6f6e65 }
// @ts-ignore: decorator
@inline const ATLEAST: u64 = 0x61746c65617374;
// @ts-ignore: decorator
@inline const ATMOST: u64 = 0x61746d6f7374;
// @ts-ignore: decorator
@inline const EXACTLY: u64 = 0x65786163746c79;

/**
 * Makes memory 0 the tree of the text that `right` shows: an expression over `keys` keys of a family with
 * this greatest offset. After a mistake the tree has no meaning.
 */
export function parse(keys: u32, greatest: u64): void {
  Tree.start(keys, greatest);
  if (right.size() > TEXT_MAX) { Tree.note(Mistake.TOO_LONG, TEXT_MAX); return; }
  Tree.setRoot(parseUnion());
  QueryText.peek();
  if (Tree.textAt() < right.size()) Tree.note(Mistake.TRAILING, Tree.textAt());
  if (Tree.namedKeys() < keys) Tree.note(Mistake.UNNAMED_KEY, Tree.textAt());
}

// --- Operators ---------------------------------------------------------------------------------------------

function parseUnion(): TreeRecord {
  const first = parseSymmetric();
  if (QueryText.peek() != Character.OR) return first;
  const term = TreeRecord.makeTerm(Rule.ANY);
  term.join(first);
  while (QueryText.accept(Character.OR)) term.join(parseSymmetric());
  return term;
}

function parseSymmetric(): TreeRecord {
  const first = parseIntersection();
  if (QueryText.peek() != Character.XOR) return first;
  const term = TreeRecord.makeTerm(Rule.ODD);
  term.join(first);
  while (QueryText.accept(Character.XOR)) term.join(parseIntersection());
  return term;
}

/**
 * All operands that are joined by & and -: those to be in, and those not to be in. Bounds for the same key that
 * follow one another, as in `#1 >= 18 & #1 < 30`, are one comparison, which is computed in one pass.
 */
function parseIntersection(): TreeRecord {
  const first = parseOperand();
  if (QueryText.peek() != Character.AND && QueryText.peek() != Character.MINUS) return first;
  const all = TreeRecord.makeTerm(Rule.ALL), less = TreeRecord.makeTerm(Rule.ANY);
  addFactor(all, less, first, false);
  let compared = Tree.lastComparisonIn(first);
  while (true) {
    if (QueryText.accept(Character.AND)) {
      const factor = parseOperand(), next = Tree.lastComparisonIn(factor);
      if (next && joinLast(compared)) continue;
      addFactor(all, less, factor, false);
      compared = next;
    } else if (QueryText.accept(Character.MINUS)) addFactor(all, less, parseOperand(), true);
    else break;
  }
  // Without any item, all factors are complements of nothing.
  if (!less.firstChild()) return all.firstChild() ? onlyItem(all) : everything();
  if (!all.firstChild()) return complementOf(onlyItem(less));
  all.setRule(Rule.LESS, all.childItems());
  all.moveChildren(less);
  return all;
}

/** Adds an operand to what a result must be in, or with `negative` to what it must not be in. */
function addFactor(all: TreeRecord, less: TreeRecord, factor: TreeRecord, negative: bool): void {
  if (factor.isTerm(Rule.NOT)) {
    factor = factor.firstChild();
    negative = !negative;
  }
  if (negative) { less.join(factor); return; }
  if (!factor.isTerm(Rule.LESS)) { all.join(factor); return; }
  let firsts = <u32>factor.low();
  for (let child = factor.firstChild(); child;) {
    const next = child.nextSibling();
    (firsts ? all : less).addChild(child);
    firsts -= firsts ? child.standsFor() : 0;
    child = next;
  }
}

/** The term, or the only item that it has. For rules that make nothing else of one item. */
// @ts-ignore: decorator
@inline function onlyItem(term: TreeRecord): TreeRecord {
  return term.childItems() == 1 ? term.firstChild() : term;
}

function complementOf(record: TreeRecord): TreeRecord {
  if (record.isTerm(Rule.NOT)) return record.firstChild();
  const term = TreeRecord.makeTerm(Rule.NOT);
  term.addChild(record);
  return term;
}

// --- Operands ----------------------------------------------------------------------------------------------

function enterLevel(): void {
  Tree.setLevels(Tree.levels() + 1);
  if (Tree.levels() > NESTING_MAX) Tree.note(Mistake.TOO_DEEP, Tree.textAt());
}

// @ts-ignore: decorator
@inline function leaveLevel(): void { Tree.setLevels(Tree.levels() - 1); }

function parseOperand(): TreeRecord {
  const next = QueryText.peek();
  let operand: usize = 0;
  if (next == Character.HASH) return parseKey();
  if (next == Character.RANGE) return parseRange();
  if (QueryText.atInteger()) return parseInteger();
  enterLevel();
  if (QueryText.accept(Character.NOT)) operand = changetype<usize>(complementOf(parseOperand()));
  else if (QueryText.accept(Character.OPEN)) {
    operand = changetype<usize>(parseUnion());
    QueryText.expect(Character.CLOSE, Mistake.NO_CLOSING);
  } else if (QueryText.atWord()) operand = changetype<usize>(parseFunction());
  else {
    Tree.note(Mistake.NO_EXPRESSION, Tree.textAt());
    operand = changetype<usize>(TreeRecord.makeRange(0, 0));
  }
  leaveLevel();
  return changetype<TreeRecord>(operand);
}

/** A key. */
function parseKey(): TreeRecord {
  const at = Tree.textAt();
  QueryText.accept(Character.HASH);
  const key = readKey(), comparison = compareKey(key, at);
  if (comparison) return comparison;
  if (QueryText.acceptDots()) Tree.note(Mistake.KEYS_OUTSIDE, Tree.textAt() - 2);
  return keysFrom(key, key);
}

/** Keys that follow one another. */
function parseKeys(): TreeRecord {
  QueryText.accept(Character.HASH);
  const first = readKey();
  QueryText.acceptDots();
  return keysFrom(first, readLastKey(first));
}

/** Keys first .. last, which it notes as named. After a mistake, the result has no meaning. */
function keysFrom(first: u32, last: u32): TreeRecord {
  if (last < first || !first) return TreeRecord.makeRange(0, 0);
  Tree.nameKeys(first, last);
  Tree.useKeys(first, last);
  Tree.addOperands(last - first + 1);
  if (Tree.operands() > OPERANDS_MAX) Tree.note(Mistake.TOO_MANY_OPERANDS, Tree.textAt());
  return TreeRecord.makeKeys(first, last);
}

/** The last of the keys that follow one another from `first` on, after the dots; 0 after a mistake. */
function readLastKey(first: u32): u32 {
  QueryText.expect(Character.HASH, Mistake.NO_SECOND_KEY);
  const at = Tree.textAt(), last = readKey();
  if (last < first) Tree.note(Mistake.KEYS_REVERSED, at);
  return last;
}

function parseRange(): TreeRecord {
  QueryText.accept(Character.RANGE);
  const first = QueryText.readNumber(Tree.greatest(), Mistake.NO_OFFSET, Mistake.OFFSET_TOO_LARGE);
  if (!QueryText.acceptDots()) Tree.note(Mistake.NO_DOTS, Tree.textAt());
  QueryText.peek();
  const at = Tree.textAt(),
    last = QueryText.readNumber(Tree.greatest(), Mistake.NO_OFFSET, Mistake.OFFSET_TOO_LARGE);
  if (last < first) Tree.note(Mistake.RANGE_REVERSED, at);
  QueryText.expect(Character.END_RANGE, Mistake.NO_BRACKET);
  return TreeRecord.makeRange(first, last);
}

// --- Functions ---------------------------------------------------------------------------------------------

function parseFunction(): TreeRecord {
  const at = Tree.textAt(), word = QueryText.readWord(), counts = word == ATLEAST || word == ATMOST
    || word == EXACTLY;
  if (!counts && word != Word.ALL && word != Word.ANY && word != Word.ONE) {
    Tree.note(QueryText.peek() == Character.OPEN ? Mistake.UNKNOWN_FUNCTION : Mistake.UNKNOWN_WORD, at);
  }
  QueryText.expect(Character.OPEN, Mistake.NO_OPENING);
  let number: u64 = 0;
  if (counts) {
    number = QueryText.readNumber(u64.MAX_VALUE, Mistake.NO_NUMBER, Mistake.NUMBER_TOO_LARGE);
    QueryText.expect(Character.COMMA, Mistake.NO_COMMA);
  }
  const term = TreeRecord.makeTerm(Rule.ANY);
  do term.addChild(parseArgument()); while (QueryText.accept(Character.COMMA));
  QueryText.expect(Character.CLOSE, Mistake.NO_SEPARATOR);
  return applied(term, word, number);
}

/** One argument: an expression, or keys that follow one another. */
function parseArgument(): TreeRecord {
  if (QueryText.peek() != Character.HASH) return parseUnion();
  const at = Tree.textAt();
  QueryText.accept(Character.HASH);
  QueryText.skipDigits();
  const several = QueryText.acceptDots();
  Tree.setTextAt(at);
  return several ? parseKeys() : parseUnion();
}

/**
 * The items of `term` under the rule of the function `word`.
 * A rule that is the same as a simpler one becomes that.
 */
function applied(term: TreeRecord, word: u64, number: u64): TreeRecord {
  const items = <u64>term.childItems();
  if (word == Word.ALL) term.setRule(Rule.ALL, 0);
  else if (word == Word.ONE) term.setRule(Rule.EXACTLY, 1);
  else if (word == EXACTLY) return exactly(term, items, number);
  else if (word == ATMOST) {
    return number >= items ? everything() : complementOf(atLeast(term, items, number + 1));
  } else if (word == ATLEAST) return atLeast(term, items, number);
  return onlyItem(term);
}

function atLeast(term: TreeRecord, items: u64, number: u64): TreeRecord {
  if (!number) return everything();
  if (number > items) return TreeRecord.makeTerm(Rule.ANY);              // without items: nothing
  term.setRule(number == 1 ? Rule.ANY : number == items ? Rule.ALL : Rule.ATLEAST, number);
  return onlyItem(term);
}

function exactly(term: TreeRecord, items: u64, number: u64): TreeRecord {
  if (!number) return complementOf(onlyItem(term));
  if (number >= items) return atLeast(term, items, number);
  term.setRule(Rule.EXACTLY, number);
  return term;
}

// @ts-ignore: decorator
@inline function everything(): TreeRecord { return TreeRecord.makeRange(0, Tree.greatest()); }
