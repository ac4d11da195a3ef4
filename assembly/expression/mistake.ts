// Everything that can be wrong with an expression. The doc comments are the texts of error messages, as in
// "ERR Roaring: query: expected ')' at character 17": the build generates the host's texts from them.

export const enum Mistake {
  /** no mistake */
  NONE,
  /** expected an expression */
  NO_EXPRESSION,
  /** expected an operator or the end */
  TRAILING,
  /** expected ')' */
  NO_CLOSING,
  /** expected ',' or ')' */
  NO_SEPARATOR,
  /** expected '(' */
  NO_OPENING,
  /** unknown function */
  UNKNOWN_FUNCTION,
  /** unknown word (keys are written #1, #2, ...) */
  UNKNOWN_WORD,
  /** expected the number of a key */
  NO_KEY_NUMBER,
  /** there is no key of that number */
  NO_SUCH_KEY,
  /** the keys end before they begin */
  KEYS_REVERSED,
  /** expected '#' */
  NO_SECOND_KEY,
  /** a span of keys can only be an argument of a function */
  KEYS_OUTSIDE,
  /** expected a number */
  NO_NUMBER,
  /** the number is too large */
  NUMBER_TOO_LARGE,
  /** expected ',' */
  NO_COMMA,
  /** expected an offset */
  NO_OFFSET,
  /** the offset is out of range */
  OFFSET_TOO_LARGE,
  /** expected '..' */
  NO_DOTS,
  /** expected ']' */
  NO_BRACKET,
  /** the range ends before it begins */
  RANGE_REVERSED,
  /** more than 64 levels */
  TOO_DEEP,
  /** more than 65,535 characters */
  TOO_LONG,
  /** more than 131,072 operands */
  TOO_MANY_OPERANDS,
  /** expected a number or a key to compare with */
  NO_COMPARED,
  /** expected a comparison with a key */
  NO_COMPARISON,
  /** the expression lacks a key */
  UNNAMED_KEY,
}
