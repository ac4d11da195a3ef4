// Offsets in text, such as a file with one on each line.

import { InvalidArgumentError } from "./errors.js";
import { described, type Family, type Member, R } from "./family.js";
import { type Members, membersFor } from "./containers.js";

const TAB = 9, LINE_FEED = 10, RETURN = 13, SPACE = 32, COMMA = 44, ZERO = 48, NINE = 57;
const BYTE_ORDER_MARK = Buffer.from("\ufeff"), END = Buffer.from("\n");

/** The longest number that can be an offset. */
const MOST_DIGITS = 20;
/** How many bytes of a word an error shows, and how long the beginning of a word is that is refused before its end is known. */
const SHOWN = 40, TOO_LONG = BYTE_ORDER_MARK.length + SHOWN + 1;

/** A comma, or white space of ASCII, whose control characters are those from a tab to a return. */
const separates = (byte: number): boolean => byte === SPACE || byte === COMMA || (byte >= TAB && byte <= RETURN);

/** Reads text part by part. */
class TextReader<M extends Member> {
  readonly #family: Family<M>;
  readonly #isNarrow: boolean;
  #line = 1;
  #isBeginning = true;

  constructor(family: Family<M>) {
    this.#family = family;
    this.#isNarrow = family === (R as unknown);
  }

  /** The offsets in the next part of the text, which ends with a separator. Throws after those before a word that is no offset. */
  *read(bytes: Buffer): Generator<Members<M>, void, undefined> {
    if (bytes.length === 0) return;
    const offsets = membersFor(this.#family, Math.ceil(bytes.length / 2));
    let start = this.#isBeginning && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    let count = 0, value = 0, refused: Buffer | undefined;
    this.#isBeginning = false;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte >= ZERO && byte <= NINE) value = 10 * value + byte - ZERO;
      else if (!separates(byte)) value = NaN; // whatever digits follow
      else {
        if (at > start) {
          const offset = this.#offsetIn(bytes, start, at, value);
          if (offset === undefined) {
            refused = bytes.subarray(start, at);
            break;
          }
          offsets[count++] = offset;
        }
        if (byte === LINE_FEED) this.#line++;
        start = at + 1;
        value = 0;
      }
    }
    if (count > 0) yield offsets.slice(0, count) as Members<M>;
    if (refused) throw this.#refusal(refused);
  }

  /** The offset that a word of bytes is, if it is one. `value` is what its digits mean, rounded if they are many; NaN if it has others. */
  #offsetIn(bytes: Buffer, start: number, end: number, value: number): number | bigint | undefined {
    if (bytes[start] === ZERO && end > start + 1) return undefined;
    if (this.#isNarrow) return value <= 0xffff_ffff ? value : undefined;
    if (value <= Number.MAX_SAFE_INTEGER) return BigInt(value);
    if (Number.isNaN(value) || end - start > MOST_DIGITS) return undefined;
    const exact = BigInt(bytes.toString("latin1", start, end));
    return exact <= this.#family.last ? exact : undefined;
  }

  #refusal(word: Buffer): InvalidArgumentError {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // which shows the mark
    const shown = decoder.decode(word.subarray(0, SHOWN), { stream: true }); // without the last character if it is cut
    return new InvalidArgumentError(`invalid offset: line ${this.#line}: ${JSON.stringify(shown)}${word.length > SHOWN ? "..." : ""} `
      + `is not a whole number from 0 to ${this.#family.last} in plain digits`);
  }
}

/**
 * The offsets in text, such as a file with one on each line. White space of ASCII, commas and a byte order mark at the beginning separate
 * them. Everything else is refused: signs, points, leading zeros, and so the second part of "1,000".
 *
 * @param family `R` or `R64`
 * @param text chunks of UTF-8 text or bytes, such as a stream of a file, cut anywhere
 * @returns Some thousand offsets at a time.
 * @throws InvalidArgumentError with the line and the text of what is no offset of the family, after the offsets before it
 * @remarks O(1) for each byte. See docs/commands.md.
 */
export async function* offsetsIn<M extends Member>(
  family: Family<M>, text: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): AsyncGenerator<Members<M>, void, undefined> {
  const reader = new TextReader(family);
  let rest = Buffer.alloc(0);
  for await (const chunk of text) {
    const given: unknown = chunk, bytes = typeof given === "string" ? Buffer.from(given) : given;
    if (!(bytes instanceof Uint8Array)) throw new InvalidArgumentError(`invalid text: ${described(given)} in it is neither text nor bytes`);
    const known = Buffer.concat([rest, bytes]);
    let end = known.length;
    while (end > 0 && !separates(known[end - 1]!)) end--;
    yield* reader.read(known.subarray(0, end));
    rest = known.subarray(end);
    if (rest.length >= TOO_LONG) break;
  }
  yield* reader.read(Buffer.concat([rest, END]));
}
