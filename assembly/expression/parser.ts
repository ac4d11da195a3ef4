// From the text of an expression to its tree. The loosest binding comes first:
//
//   union         = difference of ODD, joined by |
//   symmetric     = intersections, joined by ^
//   intersection  = operands, joined by & and -
//   operand       = ~ operand | ( union ) | #key | [first..last] | function ( arguments )
//   argument      = #first..#last | union
//
// Functions are all, any, one; atleast, atmost and exactly, whose first argument is a number.
// Letters may be of either case.

import { right } from "../env/memory";
import { Rule } from "../combine/term/term";
import { Mistake } from "./mistake";
import {
  Character, accept, acceptDots, atWord, expect, peek, readNumber, readWord, skipDigits,
} from "./text";
import {
  addChild, addOperands, childItems, firstChild, greatestOffset, isTerm, join, keyCount, levels, lowValue,
  makeKeys, makeRange, makeTree, moveChildren, nameKeys, namedKeys, nextSibling, note, operands, setLevels,
  setRootRecord, setRule, setTextAt, standsFor, startTree, textAt,
} from "./tree";

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
  startTree(keys, greatest);
  if (right.size() > TEXT_MAX) { note(Mistake.TOO_LONG, TEXT_MAX); return; }
  setRootRecord(parseUnion());
  peek();
  if (textAt() < right.size()) note(Mistake.TRAILING, textAt());
  if (namedKeys() < keys) note(Mistake.UNNAMED_KEY, textAt());
}

// --- Operators ---------------------------------------------------------------------------------------------

function parseUnion(): usize {
  const first = parseSymmetric();
  if (peek() != Character.OR) return first;
  const term = makeTree(Rule.ANY);
  join(term, first);
  while (accept(Character.OR)) join(term, parseSymmetric());
  return term;
}

function parseSymmetric(): usize {
  const first = parseIntersection();
  if (peek() != Character.XOR) return first;
  const term = makeTree(Rule.ODD);
  join(term, first);
  while (accept(Character.XOR)) join(term, parseIntersection());
  return term;
}

/** All operands that are joined by & and -: those to be in, and those not to be in. */
function parseIntersection(): usize {
  const first = parseOperand();
  if (peek() != Character.AND && peek() != Character.MINUS) return first;
  const all = makeTree(Rule.ALL), less = makeTree(Rule.ANY);
  addFactor(all, less, first, false);
  while (true) {
    if (accept(Character.AND)) addFactor(all, less, parseOperand(), false);
    else if (accept(Character.MINUS)) addFactor(all, less, parseOperand(), true);
    else break;
  }
  // Without any item, all factors are complements of nothing.
  if (!firstChild(less)) return firstChild(all) ? onlyItem(all) : everything();
  if (!firstChild(all)) return complementOf(onlyItem(less));
  setRule(all, Rule.LESS, childItems(all));
  moveChildren(all, less);
  return all;
}

/** Adds an operand to what a result must be in, or with `negative` to what it must not be in. */
function addFactor(all: usize, less: usize, factor: usize, negative: bool): void {
  if (isTerm(factor, Rule.NOT)) {
    factor = firstChild(factor);
    negative = !negative;
  }
  if (negative) { join(less, factor); return; }
  if (!isTerm(factor, Rule.LESS)) { join(all, factor); return; }
  let firsts = <u32>lowValue(factor);
  for (let child = firstChild(factor); child;) {
    const next = nextSibling(child);
    addChild(firsts ? all : less, child);
    firsts -= firsts ? standsFor(child) : 0;
    child = next;
  }
}

/** The term, or the only item that it has. For rules that make nothing else of one item. */
// @ts-ignore: decorator
@inline function onlyItem(term: usize): usize { return childItems(term) == 1 ? firstChild(term) : term; }

function complementOf(record: usize): usize {
  if (isTerm(record, Rule.NOT)) return firstChild(record);
  const term = makeTree(Rule.NOT);
  addChild(term, record);
  return term;
}

// --- Operands ----------------------------------------------------------------------------------------------

function enterLevel(): void {
  setLevels(levels() + 1);
  if (levels() > NESTING_MAX) note(Mistake.TOO_DEEP, textAt());
}

// @ts-ignore: decorator
@inline function leaveLevel(): void { setLevels(levels() - 1); }

function parseOperand(): usize {
  const next = peek();
  let operand: usize = 0;
  if (next == Character.HASH) return parseKey();
  if (next == Character.RANGE) return parseRange();
  enterLevel();
  if (accept(Character.NOT)) operand = complementOf(parseOperand());
  else if (accept(Character.OPEN)) {
    operand = parseUnion();
    expect(Character.CLOSE, Mistake.NO_CLOSING);
  } else if (atWord()) operand = parseFunction();
  else {
    note(Mistake.NO_EXPRESSION, textAt());
    operand = makeRange(0, 0);
  }
  leaveLevel();
  return operand;
}

/** A key. */
function parseKey(): usize {
  accept(Character.HASH);
  const key = readKey();
  if (acceptDots()) note(Mistake.KEYS_OUTSIDE, textAt() - 2);
  return keysFrom(key, key);
}

/** Keys that follow one another. */
function parseKeys(): usize {
  accept(Character.HASH);
  const first = readKey();
  acceptDots();
  return keysFrom(first, readLastKey(first));
}

/** Keys first .. last, which it notes as named. After a mistake, the result has no meaning. */
function keysFrom(first: u32, last: u32): usize {
  if (last < first || !first) return makeRange(0, 0);
  nameKeys(first, last);
  addOperands(last - first + 1);
  if (operands() > OPERANDS_MAX) note(Mistake.TOO_MANY_OPERANDS, textAt());
  return makeKeys(first, last);
}

/** The last of the keys that follow one another from `first` on, after the dots; 0 after a mistake. */
function readLastKey(first: u32): u32 {
  expect(Character.HASH, Mistake.NO_SECOND_KEY);
  const at = textAt(), last = readKey();
  if (last < first) note(Mistake.KEYS_REVERSED, at);
  return last;
}

/** The number of a key; 0 after a mistake. */
function readKey(): u32 {
  peek();
  const at = textAt(), key = <u32>readNumber(keyCount(), Mistake.NO_KEY_NUMBER, Mistake.NO_SUCH_KEY);
  if (!key) note(Mistake.NO_SUCH_KEY, at);
  return key > keyCount() ? 0 : key;
}

function parseRange(): usize {
  accept(Character.RANGE);
  const first = readNumber(greatestOffset(), Mistake.NO_OFFSET, Mistake.OFFSET_TOO_LARGE);
  if (!acceptDots()) note(Mistake.NO_DOTS, textAt());
  peek();
  const at = textAt(), last = readNumber(greatestOffset(), Mistake.NO_OFFSET, Mistake.OFFSET_TOO_LARGE);
  if (last < first) note(Mistake.RANGE_REVERSED, at);
  expect(Character.END_RANGE, Mistake.NO_BRACKET);
  return makeRange(first, last);
}

// --- Functions ---------------------------------------------------------------------------------------------

function parseFunction(): usize {
  const at = textAt(), word = readWord(), counts = word == ATLEAST || word == ATMOST || word == EXACTLY;
  if (!counts && word != Word.ALL && word != Word.ANY && word != Word.ONE) {
    note(peek() == Character.OPEN ? Mistake.UNKNOWN_FUNCTION : Mistake.UNKNOWN_WORD, at);
  }
  expect(Character.OPEN, Mistake.NO_OPENING);
  let number: u64 = 0;
  if (counts) {
    number = readNumber(u64.MAX_VALUE, Mistake.NO_NUMBER, Mistake.NUMBER_TOO_LARGE);
    expect(Character.COMMA, Mistake.NO_COMMA);
  }
  const term = makeTree(Rule.ANY);
  do addChild(term, parseArgument()); while (accept(Character.COMMA));
  expect(Character.CLOSE, Mistake.NO_SEPARATOR);
  return applied(term, word, number);
}

/** One argument: an expression, or keys that follow one another. */
function parseArgument(): usize {
  if (peek() != Character.HASH) return parseUnion();
  const at = textAt();
  accept(Character.HASH);
  skipDigits();
  const several = acceptDots();
  setTextAt(at);
  return several ? parseKeys() : parseUnion();
}

/**
 * The items of `term` under the rule of the function `word`.
 * A rule that is the same as a simpler one becomes that.
 */
function applied(term: usize, word: u64, number: u64): usize {
  const items = <u64>childItems(term);
  if (word == Word.ALL) setRule(term, Rule.ALL, 0);
  else if (word == Word.ONE) setRule(term, Rule.EXACTLY, 1);
  else if (word == EXACTLY) return exactly(term, items, number);
  else if (word == ATMOST) {
    return number >= items ? everything() : complementOf(atLeast(term, items, number + 1));
  } else if (word == ATLEAST) return atLeast(term, items, number);
  return onlyItem(term);
}

function atLeast(term: usize, items: u64, number: u64): usize {
  if (!number) return everything();
  if (number > items) return makeTree(Rule.ANY);              // without items: nothing
  setRule(term, number == 1 ? Rule.ANY : number == items ? Rule.ALL : Rule.ATLEAST, number);
  return onlyItem(term);
}

function exactly(term: usize, items: u64, number: u64): usize {
  if (!number) return complementOf(onlyItem(term));
  if (number >= items) return atLeast(term, items, number);
  setRule(term, Rule.EXACTLY, number);
  return term;
}

// @ts-ignore: decorator
@inline function everything(): usize { return makeRange(0, greatestOffset()); }
