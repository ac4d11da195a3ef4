// The text of an expression, read character by character. Characters are bytes.
// White space may stand between any two words.

import { right } from "../env/memory";
import { Mistake } from "./mistake";
import { Tree } from "./tree";

/** The characters that mean something by themselves. END stands for the end of the text. */
export const enum Character {
  END = 0, HASH = 0x23, AND = 0x26, OPEN = 0x28, CLOSE = 0x29, COMMA = 0x2c, MINUS = 0x2d, DOT = 0x2e,
  RANGE = 0x5b, END_RANGE = 0x5d, XOR = 0x5e, OR = 0x7c, NOT = 0x7e, DIFFERS = 0x21, LESS = 0x3c, EQUAL = 0x3d,
  GREATER = 0x3e,
}

/** How values are compared. */
export const enum Comparison { NONE, LESS, AT_MOST, GREATER, AT_LEAST, EQUAL, DIFFERS }

/** The text of an expression, as the parser reads it. */
export abstract class QueryText {
  @inline private static characterAt(at: u32): u32 {
    return at < right.size() ? right.load8(at, 0) : Character.END;
  }

  @inline private static isSpace(character: u32): bool {
    return character == 0x20 || (character >= 0x09 && character <= 0x0d);
  }

  @inline private static isDigit(character: u32): bool { return character - 0x30 < 10; }
  @inline private static isLetter(character: u32): bool { return (character | 0x20) - 0x61 < 26; }

  /**
   * The next character that is not white space; END if there is none or a mistake has been made.
   * A character of value 0 counts as the end, too.
   */
  static peek(): u32 {
    if (Tree.mistake()) return Character.END;
    let at = Tree.textAt();
    while (QueryText.isSpace(QueryText.characterAt(at))) at++;
    Tree.setTextAt(at);
    return QueryText.characterAt(at);
  }

  /** Whether the next character is `character`; if so, passes it. */
  static accept(character: u32): bool {
    if (QueryText.peek() != character) return false;
    Tree.setTextAt(Tree.textAt() + 1);
    return true;
  }

  /** Passes `character`, or notes the mistake. */
  static expect(character: u32, otherwise: Mistake): void {
    if (!QueryText.accept(character)) Tree.note(otherwise, Tree.textAt());
  }

  /** Whether the next two characters are '..'; if so, passes them. */
  static acceptDots(): bool {
    if (QueryText.peek() != Character.DOT || QueryText.characterAt(Tree.textAt() + 1) != Character.DOT) {
      return false;
    }
    Tree.setTextAt(Tree.textAt() + 2);
    return true;
  }

  /** Passes a number of at most `most`, or notes one of the mistakes. */
  static readNumber(most: u64, none: Mistake, tooLarge: Mistake): u64 {
    if (!QueryText.isDigit(QueryText.peek())) { Tree.note(none, Tree.textAt()); return 0; }
    const from = Tree.textAt();
    let at = from, value: u64 = 0, fits = true;
    for (; QueryText.isDigit(QueryText.characterAt(at)); at++) {
      const digit = <u64>QueryText.characterAt(at) - 0x30;
      fits = fits && digit <= most && value <= (most - digit) / 10;
      value = value * 10 + digit;
    }
    Tree.setTextAt(at);
    if (!fits) Tree.note(tooLarge, from);
    return value;
  }

  /** Whether a number is next, which may have a minus sign. */
  static atInteger(): bool {
    const next = QueryText.peek(), at = Tree.textAt();
    if (QueryText.isDigit(next)) return true;
    return next == Character.MINUS && QueryText.isDigit(QueryText.characterAt(at + 1));
  }

  /** Passes an integer of 64 bits with a sign, or notes one of the mistakes. */
  static readInteger(none: Mistake, tooLarge: Mistake): i64 {
    const negative = QueryText.accept(Character.MINUS);
    const most: u64 = negative ? <u64>1 << 63 : i64.MAX_VALUE;
    const number = QueryText.readNumber(most, none, tooLarge);
    return negative ? -<i64>number : <i64>number;
  }

  /** Passes an operator of comparisons: NONE if there is none. */
  static readComparison(): Comparison {
    const next = QueryText.peek(), following = QueryText.characterAt(Tree.textAt() + 1) == Character.EQUAL;
    let found = Comparison.NONE;
    if (next == Character.LESS) found = following ? Comparison.AT_MOST : Comparison.LESS;
    else if (next == Character.GREATER) found = following ? Comparison.AT_LEAST : Comparison.GREATER;
    else if (next == Character.EQUAL) found = Comparison.EQUAL;
    else if (next == Character.DIFFERS && following) found = Comparison.DIFFERS;
    if (found != Comparison.NONE) {
      Tree.setTextAt(Tree.textAt() + (next == Character.EQUAL ? 1 : 1 + u32(following)));
    }
    return found;
  }

  /** Whether the next characters are letters. */
  @inline static atWord(): bool { return QueryText.isLetter(QueryText.peek()); }

  /**
   * Passes a word, and returns its letters in lower case as a number, the first one highest.
   * A word of more than eight letters is 0.
   */
  static readWord(): u64 {
    let at = Tree.textAt(), word: u64 = 0;
    for (; QueryText.isLetter(QueryText.characterAt(at)); at++) {
      word = (word << 8) | (QueryText.characterAt(at) | 0x20);
    }
    const length = at - Tree.textAt();
    Tree.setTextAt(at);
    return length > 8 ? 0 : word;
  }

  /** Passes white space and digits. */
  static skipDigits(): void {
    QueryText.peek();
    let at = Tree.textAt();
    while (QueryText.isDigit(QueryText.characterAt(at))) at++;
    Tree.setTextAt(at);
  }
}
