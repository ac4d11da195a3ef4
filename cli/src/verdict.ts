// Decides whether a value can be a bitmap. A server stores both bitmaps and text as strings. In doubt, these rules assume that a value is
// not a bitmap. docs/cli.md lists them.

/** What a value holds. */
export type Verdict =
  | "bitmap" | "integers" | "core bitmap" | "integers for ids" | "names"
  | "ids of names" | "fields that expire"
  | "empty" | "number" | "text" | "JSON" | "HyperLogLog" | "compressed or encoded" | "mostly text" | "not integers";

const CONVERTIBLE = new Set<Verdict>(["bitmap", "integers", "core bitmap", "integers for ids", "names"]);
/** The verdicts on values that convert can convert. */
export const isConvertible = (verdict: Verdict): boolean => CONVERTIBLE.has(verdict);

/** First bytes of formats other than bitmaps. */
const SIGNATURES: readonly (readonly number[])[] = [
  [0x1f, 0x8b],                         // gzip
  [0x28, 0xb5, 0x2f, 0xfd],             // zstd
  [0x04, 0x22, 0x4d, 0x18],             // LZ4 frame
  [0x42, 0x5a, 0x68],                   // bzip2
  [0xfd, 0x37, 0x7a, 0x58, 0x5a],       // xz
  [0x50, 0x4b, 0x03, 0x04],             // zip
  [0x78, 0x01], [0x78, 0x5e], [0x78, 0x9c], [0x78, 0xda], // zlib
  [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50],       // snappy
  [0x89, 0x50, 0x4e, 0x47], [0xff, 0xd8, 0xff], [0x47, 0x49, 0x46, 0x38], [0x25, 0x50, 0x44, 0x46], // PNG, JPEG, GIF, PDF
  [0xac, 0xed, 0x00, 0x05],             // Java serialization
  [0x80, 0x02, 0x7d], [0x80, 0x03, 0x7d], [0x80, 0x04, 0x95], [0x80, 0x05, 0x95], // Python pickle
  [0x04, 0x08, 0x7b], [0x04, 0x08, 0x5b], [0x04, 0x08, 0x6f], [0x04, 0x08, 0x49], // Ruby Marshal
  [0x4f, 0x62, 0x6a, 0x01],             // Avro
  [0x52, 0x45, 0x44, 0x49, 0x53],       // RDB
  [0x3a, 0x30, 0x00, 0x00], [0x3b, 0x30], // portable roaring bitmaps
];

const begins = (value: Uint8Array, signature: readonly number[]): boolean => signature.every((byte, i) => value[i] === byte);

/** Whether a byte occurs in text: printable ASCII, or tab, line feed, carriage return. */
const isPrintable = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Whether the bytes are UTF-8 without control characters. A value that was cut is judged without its last character. */
function isText(value: Uint8Array, isWhole: boolean): boolean {
  let text: string;
  try {
    text = decoder.decode(isWhole ? value : withoutCutCharacter(value));
  } catch {
    return false;
  }
  return !/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text);
}

/** Without the bytes of a UTF-8 character at the end that may be incomplete. */
function withoutCutCharacter(value: Uint8Array): Uint8Array {
  let end = value.length;
  while (end > 0 && end > value.length - 4 && (value[end - 1]! & 0xc0) === 0x80) end--;
  return value.subarray(0, end > 0 && value[end - 1]! >= 0xc0 ? end - 1 : value.length);
}

/** Bytes from which on the share of printable ones says something. */
const TELLING = 12;
/** The largest share of printable bytes, among those that are not 0, in a bitmap. Random bytes have 38 %. */
const PRINTABLE_MOST = 0.75;

/** What a string is. `value` may be only the first bytes, 64 or more, of one that is longer. */
export function verdictOnString(value: Uint8Array, isWhole = true): Verdict {
  if (value.length === 0) return "empty";
  const ascii = value.length <= 20 ? String.fromCharCode(...value) : "";
  if (/^-?(0|[1-9]\d*)$/.test(ascii)) return "number";
  if (value.length >= 16 && begins(value, [0x48, 0x59, 0x4c, 0x4c]) && value[4]! <= 1) return "HyperLogLog";
  if (isText(value, isWhole)) return isJson(value, isWhole) ? "JSON" : "text";
  // Shorter ones could be bitmaps that happen to begin like this, but those hardly save anything.
  if (SIGNATURES.some((signature) => begins(value, signature))) return "compressed or encoded";
  let printable = 0, others = 0;
  for (const byte of value.subarray(0, 65_536)) {
    if (isPrintable(byte)) printable++;
    else if (byte !== 0) others++;
  }
  return printable >= TELLING && printable > PRINTABLE_MOST * (printable + others) ? "mostly text" : "bitmap";
}

function isJson(value: Uint8Array, isWhole: boolean): boolean {
  const text = new TextDecoder().decode(value).trim();
  if (!/^[[{"]/.test(text)) return false;
  if (!isWhole || text.length > 1_000_000) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const LAST_32 = 0xffff_ffff, LAST_64 = 2n ** 64n - 1n;

/** Whether a text is an offset, without leading zeros, signs and spaces, which would be lost. */
export const isOffset = (text: string): boolean => /^(0|[1-9]\d{0,19})$/.test(text) && (text.length < 20 || BigInt(text) <= LAST_64);

/** Members of a set, as they arrive. They stay 32 bits wide as long as all of them fit. */
export class Members {
  #narrow = new Uint32Array(64);
  #wide: BigUint64Array | undefined;
  count = 0;
  /** A member that is no offset, if there is one. */
  refused: string | undefined;

  add(member: Buffer): void {
    const text = member.length <= 20 ? member.toString("latin1") : "";
    if (!isOffset(text)) {
      this.refused ??= member.toString("utf8").slice(0, 40);
      return;
    }
    const value = Number(text);
    this.addOffset(value <= LAST_32 ? value : BigInt(text));
  }

  addOffset(value: number | bigint): void {
    if (value <= LAST_32 && !this.#wide) {
      if (this.count === this.#narrow.length) this.#narrow = grown(this.#narrow, Uint32Array);
      this.#narrow[this.count++] = Number(value);
      return;
    }
    this.#wide ??= BigUint64Array.from(this.#narrow.subarray(0, this.count), BigInt);
    if (this.count >= this.#wide.length) this.#wide = grown(this.#wide, BigUint64Array);
    this.#wide[this.count++] = BigInt(value);
  }

  /** Whether the members need 64 bits. */
  get areWide(): boolean { return this.#wide !== undefined; }

  /** The members in the order in which they came, perhaps with repetitions. */
  get offsets(): Uint32Array | BigUint64Array {
    return this.#wide?.subarray(0, this.count) ?? this.#narrow.subarray(0, this.count);
  }
}

function grown<T extends Uint32Array | BigUint64Array>(old: T, type: new (length: number) => T): T {
  const larger = new type(Math.max(64, old.length * 2));
  (larger.set as (from: T) => void)(old);
  return larger;
}
