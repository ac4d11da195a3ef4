// Names of keys, which may hold any bytes, and the patterns of names that belong together.

/** Bytes that redis-cli shows as a letter behind a backslash. */
const LETTERS: Record<string, string> = { "\\": "\\", "\n": "n", "\r": "r", "\t": "t", "\x07": "a", "\b": "b" };
const BYTES = new Map(Object.entries(LETTERS).map(([byte, letter]) => [letter, byte]));

/** The name as text, as redis-cli shows it: bytes that are no printable text become \n and the like, or \xNN. */
export function shown(name: Buffer): string {
  const text = name.toString("utf8");
  if (!/[\x00-\x1f\x7f\\]/.test(text) && Buffer.from(text).equals(name) && !text.includes("\ufffd")) return text;
  return name.toString("latin1").replace(/[^ -~]|\\/g, (byte) =>
    (LETTERS[byte] ? `\\${LETTERS[byte]}` : `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`));
}

/** Bytes as SCAN's MATCH takes them. */
export const globOf = (name: Buffer): Buffer => Buffer.from(name.toString("latin1").replace(/[*?[\]\\]/g, "\\$&"), "latin1");

/** What \xNN, \n and the like stand for in text, made of the text between them and of the bytes. */
function unescaped(text: string, ofByte: (byte: Buffer) => Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const match of text.matchAll(/\\(?:x([0-9a-fA-F]{2})|([\\nrtab"]))/g)) {
    const [all, hex, letter] = match;
    parts.push(Buffer.from(text.slice(from, match.index)), ofByte(hex ? Buffer.from(hex, "hex") : Buffer.from(BYTES.get(letter!) ?? letter!)));
    from = match.index + all.length;
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from))]);
}

/** The bytes of a name that was given as text, as shown() writes it. */
export const nameBytes = (text: string): Buffer => unescaped(text, (byte) => byte);

/** The bytes of a pattern for SCAN that was given as text. Bytes that were given as \xNN stand for themselves, also \x2a. */
export const patternBytes = (text: string): Buffer => unescaped(text, globOf);

const SEPARATORS = /([:/.|{}_#@,; -])/;

/** What a part of a name is likely to be, if it is not a word: an id, a date, a hash. */
const isVariable = (part: string): boolean =>
  /^\d+$/.test(part) || /\\[xnrtab]/.test(part) || (/\d/.test(part) && (part.length >= 20 || /^[0-9a-f]{8,}$/i.test(part)));

/** A name with * for the parts that number or identify things: user:42:tags becomes user:*:tags. */
export function patternOf(name: Buffer): string {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
  const text = shown(name).replace(uuid, "*");
  const parts = text.split(SEPARATORS).map((part) => (isVariable(part) ? "*" : part.replace(/\d+/g, "*")));
  // A date or the like is one variable part: 2024-05-01, 10.0.0.1.
  return parts.join("").replace(/\*(?:[.\-_]\*)+/g, "*").replace(/\*+/g, "*");
}

/** So many words at one place of names are no longer told apart. */
const WORDS = 24;

/**
 * Which patterns become one, because they differ in one part that has many values: names of users, say. Returns the general pattern of each
 * that has one.
 */
export function generalized(patterns: Iterable<string>): Map<string, string> {
  const now = new Map(Array.from(patterns, (pattern) => [pattern, pattern]));
  for (let place = 0, longest = 1; place < longest; place += 2) {
    const alike = new Map<string, { words: Set<string>; patterns: string[] }>();
    for (const [pattern, general] of now) {
      const parts = general.split(SEPARATORS);
      longest = Math.max(longest, parts.length);
      if (place >= parts.length || parts[place] === "*" || parts[place] === "") continue;
      const rest = [...parts.slice(0, place), "*", ...parts.slice(place + 1)].join("");
      let same = alike.get(rest);
      if (!same) alike.set(rest, same = { words: new Set(), patterns: [] });
      same.words.add(parts[place]!);
      same.patterns.push(pattern);
    }
    for (const [rest, { words, patterns: members }] of alike) {
      // The first part names what the keys are about, so it takes more to give it up.
      if (words.size >= (place === 0 ? 8 * WORDS : WORDS)) for (const member of members) now.set(member, rest);
    }
  }
  for (const [pattern, general] of now) if (pattern === general) now.delete(pattern);
  return now;
}

/** CRC16 (XMODEM), by which a cluster distributes keys. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return crc & 0xffff;
}

const SLOTS = 16_384;

/** The slot of a key in a cluster. */
export function slotOf(name: Buffer): number {
  const open = name.indexOf("{"), close = open < 0 ? -1 : name.indexOf("}", open + 1);
  return crc16(close > open + 1 ? name.subarray(open + 1, close) : name) % SLOTS;
}

let tags: string[] | undefined;
/** A hash tag, without braces, that puts a key into that slot. */
export function tagOf(slot: number): string {
  if (!tags) {
    tags = [];
    for (let n = 0, found = 0; found < SLOTS; n++) {
      const text = n.toString(36), at = crc16(Buffer.from(text)) % SLOTS;
      if (tags[at] === undefined) {
        tags[at] = text;
        found++;
      }
    }
  }
  return tags[slot]!;
}
