import { Fault } from "../../env/fault";
import { decodeBase64 } from "../../format/base64";
import { Format, deserialize, serialize, serializedBytes } from "../../format/index";
import { Form, Trial, build, freshArena } from "../support/bitmap-arena";
import { Model, anyModel } from "../support/bitmap-model";
import { addOperandCopy, clear, enter, outputAt, outputBytes, setOutputLimit } from "../world/world";

/** Bytes that grow. */
class Bytes {
  list: StaticArray<u8> = new StaticArray<u8>(64);
  length: i32 = 0;

  put(byte: u32): Bytes {
    if (this.length == this.list.length) {
      const longer = new StaticArray<u8>(2 * this.length);
      memory.copy(changetype<usize>(longer), changetype<usize>(this.list), this.length);
      this.list = longer;
    }
    this.list[this.length++] = <u8>byte;
    return this;
  }

  big32(value: u32): Bytes { return this.put(value >> 24).put(value >> 16).put(value >> 8).put(value); }
  copy(from: usize, bytes: usize): Bytes {
    for (let i: usize = 0; i < bytes; i++) this.put(load<u8>(from + i));
    return this;
  }
}

/** The bytes of a hexadecimal string, which may contain spaces. */
function bytesOf(hex: string): Bytes {
  const digits = hex.replaceAll(" ", ""), bytes = new Bytes();
  for (let i = 0; i < digits.length; i += 2) bytes.put(<u32>u32.parse(digits.substring(i, i + 2), 16));
  return bytes;
}

/** Adds the characters of a text. */
function textOf(text: string): Bytes {
  const bytes = new Bytes();
  for (let i = 0; i < text.length; i++) bytes.put(text.charCodeAt(i));
  return bytes;
}

/** Replaces memory 0 by the bitmap of the first `length` bytes. */
function read(format: Format, bytes: Bytes, length: i32 = bytes.length): Fault {
  clear();
  freshArena(40);
  addOperandCopy(changetype<usize>(bytes.list), length);
  const fault = deserialize(format, length, 31);
  enter();
  return fault;
}

/** Adds the payload of the model in a format. */
function addPayload(trial: Trial, bytes: Bytes, model: Model, format: Format): void {
  build(model, Form.EITHER, trial.random);
  const size = serializedBytes(format);
  enter();
  setOutputLimit(<u32>size);
  serialize(format);
  bytes.copy(outputAt(), outputBytes());
  enter();
}

/** The members of a bucket moved to where its high half says. */
function appendBucket(to: Model, bucket: Model, high: u64): void {
  for (let i = 0; i < bucket.intervals; i++) to.append(high << 32 | bucket.low(i), high << 32 | bucket.high(i));
}

/** A small set of 32-bit offsets. */
function narrow(trial: Trial): Model { return anyModel(trial.random.below(60000), 4, 2, trial.random); }

/** A legacy payload: buckets in the order of `highs`. */
class Legacy {
  bytes: Bytes = new Bytes();
  buckets: Model[] = [];

  constructor(trial: Trial, first: u32, highs: u32[]) {
    this.bytes.put(first).big32(highs.length);
    for (let i = 0; i < highs.length; i++) {
      const bucket = trial.random.below(8) ? narrow(trial) : new Model();
      this.buckets.push(bucket);
      addPayload(trial, this.bytes.big32(highs[i]), bucket, Format.PORTABLE);
    }
  }
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base64 text, with padding and line breaks or without. */
function encoded(bytes: Bytes, plain: bool): Bytes {
  const text = new Bytes();
  for (let i = 0; i < bytes.length; i += 3) {
    const have = min(bytes.length - i, 3);
    let bits: u32 = 0;
    for (let j = 0; j < 3; j++) bits = bits << 8 | (j < have ? bytes.list[i + j] : 0);
    for (let j = 0; j < 4; j++) {
      if (j <= have) text.put(BASE64.charCodeAt(bits >> (18 - 6 * j) & 63)); else if (!plain) text.put(0x3d);
    }
    if (!plain && i % 57 == 54) text.put(13).put(10);
  }
  return text;
}

describe("payloads of any form", () => {
  it("are read as 32-bit and as 64-bit bitmaps", () => {
    const trial = new Trial(980);
    const formats = [Format.PORTABLE, Format.NATIVE];
    for (let i = 0; i < 80; i++) {
      const model = i % 9 ? narrow(trial) : new Model(), format = formats[i & 1], bytes = new Bytes();
      addPayload(trial, bytes, model, format);
      trial.same(read(Format.ANY, bytes), Fault.NONE, "fault of 32 bits");
      trial.is(model, "read");
      if (format == Format.NATIVE && !model.intervals) continue;   // may be a 64-bit stream that is cut short
      trial.same(read(Format.ANY_WIDE, bytes), Fault.NONE, "fault of 32 bits as 64 bits");
      trial.is(model, "read as 64 bits");
    }
    for (let i = 0; i < 40; i++) {
      const first = <u64>trial.random.below(100) << 20, bytes = new Bytes();
      const model = i ? anyModel(first, 5, 2, trial.random) : new Model();
      addPayload(trial, bytes, model, i & 1 ? Format.PORTABLE_WIDE : Format.WIDE_PARTS);
      trial.same(read(Format.ANY_WIDE, bytes), Fault.NONE, "fault of 64 bits");
      trial.is(model, "read");
    }
    trial.end();
  });

  it("are read in Java's legacy form, in signed and in unsigned order", () => {
    const trial = new Trial(981);
    const lows: u32[] = [0, 3, 0x7fffffff], ups: u32[] = [0x80000000, 0xdeadbeef, 0xffffffff];
    for (let i = 0; i < 60; i++) {
      const lower = lows.slice(trial.random.below(4)), upper = ups.slice(trial.random.below(4));
      const highs = i & 1 ? lower.concat(upper) : upper.concat(lower);
      if (!highs.length && i & 2) continue;                        // may be a 64-bit stream that is cut short
      const legacy = new Legacy(trial, <u32>(i >> 1) & 1, highs), model = new Model();
      const sorted = lower.concat(upper);
      for (let j = 0; j < sorted.length; j++) {
        appendBucket(model, legacy.buckets[highs.indexOf(sorted[j])], sorted[j]);
      }
      trial.same(read(Format.ANY_WIDE, legacy.bytes), Fault.NONE, "fault");
      trial.is(model, "read");
      if (!highs.length) continue;
      trial.same(read(Format.ANY, legacy.bytes), Fault.HAS_WIDE_OFFSETS, "fault as 32 bits");
      for (let cut = legacy.bytes.length - 1; cut > 5; cut -= cut > 40 ? trial.random.below(99) + 1 : 1) {
        trial.holds(read(Format.ANY_WIDE, legacy.bytes, max(cut, 6)) != Fault.NONE, "a cut payload is refused");
      }
      trial.holds(read(Format.ANY_WIDE, legacy.bytes.put(0)) != Fault.NONE, "a trailing byte is refused");
    }
    const disorder: u32[][] = [
      [3, 1], [5, 5], [1, 0x80000000, 2], [0x80000001, 0x80000000], [0xffffffff, 1, 0xffffffff],
    ];
    for (let i = 0; i < disorder.length; i++) {
      const legacy = new Legacy(trial, 1, disorder[i]);
      trial.holds(read(Format.ANY_WIDE, legacy.bytes) != Fault.NONE, "buckets in no order are refused");
    }
    trial.end();
  });

  it("are refused if a container in Java's form is invalid", () => {
    const trial = new Trial(982);
    // one bucket, one array of two members that do not ascend
    const bytes = bytesOf("00 00000001 00000007 3a300000 01000000 0000 0100 10000000 0500 0400");
    trial.same(read(Format.ANY_WIDE, bytes), Fault.ARRAY_NOT_ASCENDING, "fault");
    trial.end();
  });

  it("may be Base64 text of one", () => {
    const trial = new Trial(983);
    for (let i = 0; i < 60; i++) {
      const bytes = new Bytes(), wide = i & 1;
      addPayload(trial, bytes, narrow(trial), wide ? Format.PORTABLE_WIDE : Format.PORTABLE);
      const text = encoded(bytes, (i & 2) != 0);
      trial.same(read(wide ? Format.ANY_WIDE : Format.ANY, text), Fault.BASE64, "fault of the text");
      clear();
      addOperandCopy(changetype<usize>(text.list), text.length);
      setOutputLimit(bytes.length + 3);
      trial.same(decodeBase64(), bytes.length, "bytes announced");
      trial.same(outputBytes(), bytes.length, "bytes decoded");
      const differs = memory.compare(outputAt(), changetype<usize>(bytes.list), bytes.length);
      trial.same(differs, 0, "comparison of the bytes");
      enter();
    }
    const others = ["A", "AAAAA", "AA==A", "AAA==", "AA=", "A A", "AAA*", "===="];
    for (let i = 0; i < others.length; i++) {
      trial.holds(read(Format.ANY, textOf(others[i])) != Fault.BASE64, others[i] + " is not Base64");
      trial.holds(read(Format.ANY_WIDE, textOf(others[i])) != Fault.BASE64, others[i] + " is not Base64");
    }
    trial.same(read(Format.ANY, textOf("AA-_")), Fault.BASE64, "alphabet for URLs");
    trial.end();
  });

  it("are refused by the name of what they look like", () => {
    const trial = new Trial(984), stream = "3a300000 01000000 0000 0000 10000000 0500";
    const samples = [
      "1f8b0800 00000000", "aced0005 7372", "07 81 5f 0e 0500 0b00 1122334455667788",
      "00 02 0500 0700", "00 02 05000000 07000000", "01 12 " + stream, "01 81 00 " + stream.repeat(1),
      "00", "01 05000000", "03 0500000001000000", "04 01 07000000 " + stream, "05 01 0700000000000000",
      "0a 01000000 0700000000000000", "0c 02 " + stream, "0d 01 07000000 02 " + stream,
      "0500000000000000 c6350100", stream + " 0a",
    ];
    const names: Fault[] = [
      Fault.GZIP, Fault.JAVA_OBJECT, Fault.DUMPED,
      Fault.CLICK_HOUSE, Fault.CLICK_HOUSE, Fault.CLICK_HOUSE, Fault.UNKNOWN_COOKIE,
      Fault.DORIS, Fault.DORIS, Fault.DORIS, Fault.DORIS, Fault.DORIS,
      Fault.DORIS, Fault.DORIS, Fault.DORIS,
      Fault.FROZEN, Fault.LINE_FEED,
    ];
    for (let i = 0; i < samples.length; i++) {
      trial.same(read(Format.ANY, bytesOf(samples[i])), names[i], samples[i]);
      if (names[i] == Fault.UNKNOWN_COOKIE) continue;
      trial.same(read(Format.ANY_WIDE, bytesOf(samples[i])), names[i], samples[i] + " as 64 bits");
    }
    trial.same(read(Format.ANY, textOf("3a30000000000000")), Fault.HEXADECIMAL, "hexadecimal text");
    trial.same(read(Format.ANY_WIDE, textOf("0100000000000000\n")), Fault.HEXADECIMAL, "hexadecimal text of 64 bits");
    trial.same(read(Format.ANY, textOf("\"\\x3a0\\x00\\x00\"")), Fault.QUOTED, "what a terminal shows");
    const wide = bytesOf("0100000000000000 07000000 " + stream), parts = bytesOf("ff".repeat(8) + "00".repeat(8));
    trial.same(read(Format.ANY, wide), Fault.HAS_WIDE_OFFSETS, "64 bits");
    trial.same(read(Format.ANY, parts), Fault.HAS_WIDE_OFFSETS, "parts");
    trial.same(read(Format.ANY_WIDE, bytesOf("0100000000")), Fault.CUT_SHORT, "a stream of one bucket, cut");
    trial.end();
  });
});
