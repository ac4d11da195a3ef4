// The text of an expression, read character by character. Characters are bytes.
// White space may stand between any two words.

import { right } from "../env/memory";
import { Mistake } from "./mistake";
import { Tree } from "./tree";

/** The characters that mean something by themselves. END stands for the end of the text. */
export const enum Character {
  END = 0, HASH = 0x23, AND = 0x26, OPEN = 0x28, CLOSE = 0x29, COMMA = 0x2c, MINUS = 0x2d, DOT = 0x2e,
  RANGE = 0x5b, END_RANGE = 0x5d, XOR = 0x5e, OR = 0x7c, NOT = 0x7e,
}

// @ts-ignore: decorator
@inline function characterAt(at: u32): u32 { return at < right.size() ? right.load8(at, 0) : Character.END; }

// @ts-ignore: decorator
@inline function isSpace(character: u32): bool {
  return character == 0x20 || (character >= 0x09 && character <= 0x0d);
}

// @ts-ignore: decorator
@inline function isDigit(character: u32): bool { return character - 0x30 < 10; }
// @ts-ignore: decorator
@inline function isLetter(character: u32): bool { return (character | 0x20) - 0x61 < 26; }

/**
 * The next character that is not white space; END if there is none or a mistake has been made.
 * A character of value 0 counts as the end, too.
 */
export function peek(): u32 {
  if (Tree.mistake()) return Character.END;
  let at = Tree.textAt();
  while (isSpace(characterAt(at))) at++;
  Tree.setTextAt(at);
  return characterAt(at);
}

/** Whether the next character is `character`; if so, passes it. */
export function accept(character: u32): bool {
  if (peek() != character) return false;
  Tree.setTextAt(Tree.textAt() + 1);
  return true;
}

/** Passes `character`, or notes the mistake. */
export function expect(character: u32, otherwise: Mistake): void {
  if (!accept(character)) Tree.note(otherwise, Tree.textAt());
}

/** Whether the next two characters are '..'; if so, passes them. */
export function acceptDots(): bool {
  if (peek() != Character.DOT || characterAt(Tree.textAt() + 1) != Character.DOT) return false;
  Tree.setTextAt(Tree.textAt() + 2);
  return true;
}

/** Passes a number of at most `most`, or notes one of the mistakes. */
export function readNumber(most: u64, none: Mistake, tooLarge: Mistake): u64 {
  if (!isDigit(peek())) { Tree.note(none, Tree.textAt()); return 0; }
  const from = Tree.textAt();
  let at = from, value: u64 = 0, fits = true;
  for (; isDigit(characterAt(at)); at++) {
    const digit = <u64>characterAt(at) - 0x30;
    fits = fits && digit <= most && value <= (most - digit) / 10;
    value = value * 10 + digit;
  }
  Tree.setTextAt(at);
  if (!fits) Tree.note(tooLarge, from);
  return value;
}

/** Whether the next characters are letters. */
// @ts-ignore: decorator
@inline export function atWord(): bool { return isLetter(peek()); }

/**
 * Passes a word, and returns its letters in lower case as a number, the first one highest.
 * A word of more than eight letters is 0.
 */
export function readWord(): u64 {
  let at = Tree.textAt(), word: u64 = 0;
  for (; isLetter(characterAt(at)); at++) word = (word << 8) | (characterAt(at) | 0x20);
  const length = at - Tree.textAt();
  Tree.setTextAt(at);
  return length > 8 ? 0 : word;
}

/** Passes white space and digits. */
export function skipDigits(): void {
  peek();
  let at = Tree.textAt();
  while (isDigit(characterAt(at))) at++;
  Tree.setTextAt(at);
}
