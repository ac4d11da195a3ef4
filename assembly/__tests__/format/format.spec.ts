import { Own } from "../../env/view";
import { Directory, Place } from "../../arena/read/directory";
import { Fault } from "../../env/fault";
import { Change } from "../../combine/rebuild/range";
import { Format, deserialize, serialize, serializedBytes } from "../../format/index";
import { insert } from "../../write/point";
import { changeRange } from "../../write/range";
import { Form, Trial, build, freshArena, readArena } from "../support/bitmap-arena";
import {
  KEY_MAX, Model, OFFSET_MAX, Style, anyModel, appendContainer, plainOf, range, runsOf, streamedOf,
} from "../support/bitmap-model";
import { Random, addOperandCopy, clear, enter, outputAt, outputBytes, setOutputLimit } from "../world/world";
import { Kind } from "../../container/kind";

/** The bytes of a hexadecimal string, which may contain spaces. */
function bytesOf(hex: string): StaticArray<u8> {
  const digits = hex.replaceAll(" ", ""), bytes = new StaticArray<u8>(digits.length >> 1);
  for (let i = 0; i < bytes.length; i++) bytes[i] = <u8>u32.parse(digits.substring(2 * i, 2 * i + 2), 16);
  return bytes;
}

function hexAt(at: usize, bytes: usize): string {
  let hex = "";
  for (let i: usize = 0; i < bytes; i++) hex += (<u32>load<u8>(at + i)).toString(16).padStart(2, "0");
  return hex;
}

/**
 * Reads the payload into a new arena.
 * The operands are windows that start 1 << shift bytes apart and overlap by `reach` bytes.
 */
function read(format: Format, at: usize, bytes: usize, shift: u32 = 31, reach: usize = 0x7fffffff): Fault {
  clear();
  freshArena(40);
  for (let from: usize = 0; from < bytes || !from; from += (<usize>1) << shift) {
    addOperandCopy(at + from, <u32>min(bytes - from, ((<usize>1) << shift) + reach));
  }
  const fault = deserialize(format, bytes, shift);
  enter();
  return fault;
}

function readBytes(format: Format, bytes: StaticArray<u8>, cut: i32 = 0): Fault {
  return read(format, changetype<usize>(bytes), <usize>(bytes.length - cut));
}

/** Serializes memory 0, with the output limited to the announced number of bytes. Returns that number. */
function write(trial: Trial, format: Format): usize {
  const bytes = serializedBytes(format);
  enter();
  setOutputLimit(<u32>bytes);
  serialize(format);
  trial.same(outputBytes(), bytes, "bytes written");
  enter();
  return <usize>bytes;
}

/** The payload of an arena with those members, in hexadecimal. */
function writtenOf(members: u64[], format: Format): string {
  const trial = new Trial(215);
  for (let i = 0; i < members.length; i++) insert(members[i]);
  const bytes = write(trial, format);
  trial.end();
  return hexAt(outputAt(), bytes);
}

/** The first 64 bytes of the payload of [low, high], in hexadecimal. */
function writtenRange(low: u64, high: u64, format: Format): string {
  const trial = new Trial(216);
  build(range(low, high), Form.RUNS, trial.random);
  const bytes = write(trial, format);
  trial.end();
  return hexAt(outputAt(), min(bytes, 64));
}

/** The members of the payload, parsed by the format's specification. */
function parse(format: Format, at: usize, bytes: usize): Model {
  const model = new Model(), end = at + bytes;
  if (format == Format.NATIVE && load<u8>(at) == 1) {
    for (at += 5; at < end; at += 4) model.append(load<u32>(at), load<u32>(at));
    return model;
  }
  if (format == Format.NATIVE) at++;
  if (format == Format.NATIVE || format == Format.PORTABLE) {
    if (parseStream(at, 0, model) != end) model.ordered = false;
    return model;
  }
  const parts = load<u64>(at) == OFFSET_MAX;
  if (parts) at += 8;
  let left = load<u64>(at);
  for (at += 8; left; left--) {
    if (!parts) { at = parseStream(at + 4, <u64>load<u32>(at) << 32, model); continue; }
    const head = load<u64>(at), first = load<u64>(at, 8) << 16;
    if (!(head >> 63)) { at = parseStream(at + 8, head << 32, model); continue; }
    model.append(first, first + ((head << 1 >> 1) << 16) - 1);
    at += 16;
  }
  if (at != end) model.ordered = false;
  return model;
}

/** Appends the members of the portable stream at `start`, plus `base`. Returns the stream's end. */
function parseStream(start: usize, base: u64, model: Model): usize {
  const hasRuns = load<u16>(start) == 12347;
  const containers = <usize>(hasRuns ? load<u16>(start, 2) + 1 : load<u32>(start, 4));
  const marks = start + 4, heads = hasRuns ? marks + (containers + 7) / 8 : start + 8;
  const hasOffsets = !hasRuns || containers >= 4;
  let at = heads + containers * (hasOffsets ? 8 : 4);
  for (let i: usize = 0; i < containers; i++) {
    const first = base + (<u64>load<u16>(heads + 4 * i) << 16), count = <u32>load<u16>(heads + 4 * i, 2) + 1;
    if (hasOffsets && load<u32>(heads + 4 * containers + 4 * i) != <u32>(at - start)) model.ordered = false;
    if (hasRuns && (load<u8>(marks + i / 8) >> u8(i % 8)) & 1) {
      for (let n = load<u16>(at), run = at + 2; n; n--, run += 4) {
        model.append(first + load<u16>(run), first + load<u16>(run) + load<u16>(run, 2));
      }
      at += 2 + 4 * <usize>load<u16>(at);
    } else if (count <= 4096) {
      for (let n = count; n; n--, at += 2) model.append(first + load<u16>(at), first + load<u16>(at));
    } else {
      for (let v: usize = 0; v < 65536; v++) {
        if ((load<u8>(at + (v >> 3)) >> u8(v & 7)) & 1) model.append(first + v, first + v);
      }
      at += 8192;
    }
  }
  return at;
}

/**
 * Writes the set, checks the payload, reads it back and checks the result. Returns the payload's first byte.
 */
function roundTrip(trial: Trial, model: Model, form: Form, format: Format): u8 {
  trial.steps++;
  build(model, form, trial.random);
  trial.is(model, "built");
  const bytes = write(trial, format), at = outputAt(), first = load<u8>(at);
  const difference = parse(format, at, bytes).differs(model);
  if (difference != "") trial.fail("written payload: " + difference);
  if (format == Format.NATIVE && !(model.cardinality() >> 32)) {
    const listed = 5 + 4 * model.cardinality();
    trial.holds(
      first == 1 ? <u64>bytes == listed : first == 2 && bytes < listed, "the payload has the shorter form",
    );
  }
  const copy = new StaticArray<u8>(<i32>bytes);
  memory.copy(changetype<usize>(copy), at, bytes);
  trial.same(readBytes(format, copy), 0, "fault of the payload");
  trial.is(model, "read");
  // A list of members: the arena read from it has no runs.
  if (first == 1 && format == Format.NATIVE) return first;
  trial.same(write(trial, format), bytes, "bytes when written again");
  trial.same(
    memory.compare(changetype<usize>(copy), outputAt(), bytes), 0, "comparison with the bytes written again",
  );
  return first;
}

/** A container of that style, alone or among others. */
function styled(style: i32, base: u64, random: Random, alone: bool): Model {
  const model = new Model();
  if (alone) { appendContainer(model, base, style, random); return model; }
  if (random.below(2)) appendContainer(model, base + random.below(9), random.below(Style.STYLES), random);
  appendContainer(model, base + 100, style, random);
  if (random.below(2)) {
    appendContainer(model, base + 101 + random.below(9), random.below(Style.STYLES), random);
  }
  if (random.below(2)) appendContainer(model, base + 65535, random.below(Style.STYLES), random);
  return model;
}

function expectFault(format: Format, hex: string, fault: Fault): void {
  expect(readBytes(format, bytesOf(hex))).toBe(fault, hex);
}

/** Checks that the payload is valid and that none of its proper prefixes is. */
function everyCut(trial: Trial, format: Format, bytes: StaticArray<u8>): void {
  trial.same(readBytes(format, bytes), 0, "fault of the whole payload");
  for (let cut = 1; cut <= bytes.length; cut++) {
    trial.steps = cut;
    trial.same(readBytes(format, bytes, cut), Fault.CUT_SHORT, "fault of a prefix");
  }
}

function changeByte(at: usize, random: Random): void {
  const how = random.below(4);
  if (how == 0) store<u8>(at, <u8>random.next());
  else if (how == 1) store<u8>(at, load<u8>(at) ^ <u8>(<u32>1 << random.below(8)));
  else store<u8>(at, load<u8>(at) + (how == 2 ? 1 : 255));
}

// Arrays {3, 4, 100} and {65543}; and runs {0..7, ...} beside an array.
const TWO_ARRAYS = "3a300000 02000000 0000 0200 0100 0000 18000000 1e000000 0300 0400 6400 0700";
const THREE_WITH_RUNS = "3b300200 02 0000 0200 0100 0700 ffff 0000 "
  + "0300 0400 6400 0200 0100 0500 0900 0100 ffff";

describe("the 32-bit payload", () => {
  it("is byte for byte that of CRoaring", () => {
    expect(writtenOf([], Format.NATIVE)).toBe("0100000000");
    expect(writtenOf([3, 4, 100], Format.NATIVE)).toBe("0103000000030000000400000064000000");
    expect(writtenOf([1, 3, 5, 7, 9, 11], Format.NATIVE).substring(0, 10)).toBe(
      "0106000000", "a list as long as the stream",
    );
    expect(writtenOf([1, 3, 5, 7, 9, 11, 13], Format.NATIVE).substring(0, 10)).toBe(
      "023a300000", "a stream shorter than the list",
    );
    expect(writtenRange(0, 4999, Format.NATIVE)).toBe("023b3000000100008713010000008713");
    expect(writtenRange(65536, 131071, Format.NATIVE)).toBe("023b300000010100ffff01000000ffff");
    expect(writtenRange(0, u32.MAX_VALUE, Format.NATIVE).substring(0, 10)).toBe("023b30ffff");
  });

  it("is written and read for containers of all kinds", () => {
    const trial = new Trial(200);
    let members = 0, streams = 0;
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        if (roundTrip(trial, styled(style, 0, trial.random, form == 0), form, Format.NATIVE) == 1) {
          members++;
        } else {
          streams++;
        }
      }
    }
    trial.holds(members > 0 && streams > 0, "both forms occur");
    trial.end();
  });

  it("is a list of members whenever that is shorter in total, whatever kinds the containers have", () => {
    const trial = new Trial(201), styles: Style[] = [Style.BITSET_LEAST, Style.MANY_RUNS, Style.FULL];
    for (let i = 0; i < styles.length; i++) {
      const model = new Model();
      appendContainer(model, 7, styles[i], trial.random);
      for (let key: u64 = 8; key < 60000; key++) model.append(key << 16, key << 16);
      trial.same(roundTrip(trial, model, Form.RUNS, Format.NATIVE), 1, "form");
    }
    trial.end();
  });

  it("can be read when its members are repeated or out of order", () => {
    const trial = new Trial(202);
    const bytes = bytesOf("01 06000000 64000000 03000000 ffffffff 64000000 00000000 03000000");
    trial.same(readBytes(Format.NATIVE, bytes), 0, "fault of the payload");
    trial.is(range(0, 0).append(3, 3).append(100, 100).append(u32.MAX_VALUE, u32.MAX_VALUE), "read");
    trial.end();
  });
});

describe("the 64-bit payload", () => {
  it("is byte for byte the portable stream, or written in parts", () => {
    expect(writtenOf([], Format.WIDE)).toBe("0000000000000000");
    expect(writtenOf([3, 4, 100, 0x500000007], Format.WIDE)).toBe("0200000000000000"
      + "000000003a3000000100000000000200100000000300040064"
      + "00" + "050000003a3000000100000000000000100000000700");
    expect(writtenRange(0x300000000, 0x300001387, Format.WIDE)).toBe(
      "0100000000000000" + "03000000" + "3b3000000100008713010000008713",
    );
    expect(writtenRange(0, (<u64>1 << 40) - 1, Format.WIDE)).toBe("ffffffffffffffff" + "0100000000000000"
      + "0000000100000080" + "0000000000000000");
  });

  it("is written and read for containers of all kinds", () => {
    const trial = new Trial(203), bases: u64[] = [0, 65536, KEY_MAX - 65535];
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        const model = styled(style, bases[form % 3], trial.random, form == 0);
        roundTrip(trial, model, form, Format.WIDE);
        roundTrip(trial, model, form, Format.PORTABLE_WIDE);
      }
    }
    trial.end();
  });

  it("is written and read across many 64-bit buckets", () => {
    const trial = new Trial(204);
    for (let i = 0; i < 30; i++) {
      const step: u64 = 1 + trial.random.below(i % 2 ? 200000 : 30000);
      const model = anyModel(trial.random.below(200000), step, 20, trial.random);
      roundTrip(trial, model, trial.random.below(Form.FORMS), Format.WIDE);
      roundTrip(trial, model, trial.random.below(Form.FORMS), Format.WIDE_PARTS);
    }
    trial.end();
  });

  it("is the portable stream for any number of containers, unless spans of full ones make it large", () => {
    const trial = new Trial(217), many: u64 = (1 << 20) + 1000;
    freshArena(40);
    for (let i: u64 = 0; i < many; i++) insert(i << 17);
    enter();
    trial.same(
      serializedBytes(Format.WIDE), serializedBytes(Format.PORTABLE_WIDE),
      "bytes of many separate containers",
    );
    changeRange(Change.SET, many << 17, (many + (1 << 20) + 2) << 17, 1);
    enter();
    trial.holds(
      serializedBytes(Format.WIDE) < serializedBytes(Format.PORTABLE_WIDE), "a long span is written in parts",
    );
    trial.end();
  });

  it("is the portable stream up to 2^20 consecutive full containers, and in parts above", () => {
    const trial = new Trial(205), end = ((<u64>1 << 20) + 77) << 16;
    roundTrip(trial, range(77 << 16, end - 1), Form.PLAIN, Format.WIDE);
    trial.same(load<u64>(outputAt()), 17, "number of 64-bit buckets");
    roundTrip(trial, range(77 << 16, end + 65535), Form.PLAIN, Format.WIDE);
    trial.same(load<u64>(outputAt()), OFFSET_MAX, "mark of a payload in parts");
    trial.end();
  });

  it("stores a span of full containers as one part", () => {
    const trial = new Trial(206), far = <u64>1 << 60;
    roundTrip(trial, range(0, OFFSET_MAX), Form.PLAIN, Format.WIDE);
    roundTrip(trial, range(1, OFFSET_MAX - 1), Form.EITHER, Format.WIDE);
    roundTrip(trial, range(5 << 16, far + 3), Form.EITHER, Format.WIDE);
    roundTrip(
      trial, range(3, 5).append(70000, far).append(far + 2, far + 9).append(far * 3, far * 5),
      Form.EITHER, Format.WIDE,
    );
    for (let i = 0; i < 60; i++) {
      const model = new Model();
      model.append(0, <u64>trial.random.below(1 << 20) << 16);
      let key = (model.maximum() >> 16) + 1;
      // Containers and ranges, near the borders of 64-bit buckets and far from them.
      for (let j = 0; j < 8; j++) {
        key = trial.random.below(2)
          ? key + trial.random.below(4)
          : max(key, (key | 65535) - 1 + trial.random.below(3));
        if (trial.random.below(2)) {
          appendContainer(model, key, trial.random.below(Style.STYLES), trial.random);
          key++;
          continue;
        }
        const span: u64 = 65534 + trial.random.below(4)
          + <u64>trial.random.below(3) * trial.random.below(1 << 21);
        model.append(
          (key << 16) + 65535 * trial.random.below(2), ((key + span) << 16) + trial.random.below(65536),
        );
        key += span + 1;
      }
      const last = model.maximum() >> 16;
      model.append((last + 5) << 16, (last + 5 + (1 << 20)) << 16);     // in parts for certain
      roundTrip(trial, model, trial.random.below(Form.FORMS), Format.WIDE);
      trial.same(load<u64>(outputAt()), OFFSET_MAX, "mark of a payload in parts");
      roundTrip(trial, model, trial.random.below(Form.FORMS), Format.WIDE_PARTS);
    }
    trial.end();
  });

  it("stores many short spans as parts too, so that a small arena never has a huge payload", () => {
    const trial = new Trial(218), gaps = new Model(), mixed = new Model();
    for (let i: u64 = 0; i < 20; i++) gaps.append(i << 32, (i << 32) + (65535 << 16) - 1);
    roundTrip(trial, gaps, Form.PLAIN, Format.WIDE);
    trial.same(serializedBytes(Format.WIDE), 16 + 20 * 16, "bytes");
    let key: u64 = 65000;
    for (let i: u64 = 0; i < 400; i++) {      // across a 64-bit bucket's border
      const span = i % 6;
      if (span) {
        mixed.append(key << 16, ((key + span) << 16) - 1);
      } else {
        mixed.append((key << 16) + i, (key << 16) + i);
      }
      key += span + 1 + trial.random.below(2);
    }
    mixed.append(key << 16, (key + (1 << 20)) << 16);
    roundTrip(trial, mixed, Form.EITHER, Format.WIDE);
    expect(serializedBytes(Format.WIDE)).toBeLessThan(400 * 42);
    trial.end();
  });
});

describe("the portable 32-bit stream", () => {
  it("is byte for byte that of the specification", () => {
    expect(writtenOf([], Format.PORTABLE)).toBe("3a30000000000000");
    expect(writtenOf([3, 4, 100, 65543], Format.PORTABLE)).toBe(TWO_ARRAYS.replaceAll(" ", ""));
  });

  it("is written and read for containers of all kinds", () => {
    const trial = new Trial(207);
    for (let style = 0; style < Style.STYLES; style++) {
      for (let form: i32 = 0; form < Form.FORMS; form++) {
        roundTrip(trial, styled(style, 0, trial.random, form == 0), form, Format.PORTABLE);
      }
    }
    trial.end();
  });

  it("has an array for a bitset of 4096 members or fewer, and a bitset for one of more", () => {
    const trial = new Trial(219), counts: u32[] = [1024, 1025, 3583, 3584, 3585, 4095, 4096, 4097, 60000];
    for (let c = 0; c < counts.length; c++) {
      const model = new Model();
      // Runs of fifteen.
      for (let i: u64 = 0; i < counts[c]; i++) model.append(i + i / 15, i + i / 15);
      build(model, Form.BITSET, trial.random);
      trial.same(Place.entry(Directory.seek<Own>(0)).kind<Own>(), Kind.BITSET, "kind of the container");
      trial.same(serializedBytes(Format.PORTABLE), 16 + streamedOf(counts[c]), "bytes");
      roundTrip(trial, model, Form.BITSET, Format.PORTABLE);
    }
    trial.end();
  });

  it("with runs has offsets from four containers on", () => {
    const trial = new Trial(208);
    for (let containers: u64 = 1; containers <= 17; containers++) {
      const model = new Model();
      for (let key: u64 = 0; key < containers; key++) model.append(key << 16, (key << 16) + 99);
      roundTrip(trial, model, Form.RUNS, Format.PORTABLE);
      const header = 4 + (containers + 7) / 8 + (containers < 4 ? 4 : 8) * containers;
      trial.same(serializedBytes(Format.PORTABLE), header + 6 * containers, "bytes");
    }
    trial.end();
  });

  it("may contain runs that take more bytes than another kind", () => {
    const trial = new Trial(209);
    for (let gap: u32 = 2; gap < 40; gap++) {
      for (let length: u32 = 1; length < 4; length++) {
        const model = new Model();
        for (let at: u32 = gap & 3; at + length <= 65536; at += length + gap) {
          model.append(at, at + length - 1);
        }
        const runs = <u32>model.intervals;
        const bytes = new StaticArray<u8>(4 + 1 + 4 + 2 + 4 * runs);
        const at = changetype<usize>(bytes);
        store<u32>(at, 12347);
        store<u8>(at, 1, 4);
        store<u16>(at, 0, 5);
        store<u16>(at, <u16>(model.cardinality() - 1), 7);
        store<u16>(at, <u16>runs, 9);
        for (let i: u32 = 0; i < runs; i++) {
          store<u16>(at + 11 + 4 * i, <u16>model.low(i));
          store<u16>(at + 13 + 4 * i, <u16>(length - 1));
        }
        trial.same(readBytes(Format.PORTABLE, bytes), 0, "fault of the payload");
        trial.is(model, "read");
        const count = <u32>model.cardinality();
        const entry = Place.entry(Directory.seek<Own>(0)), isRuns = entry.kind<Own>() == Kind.RUNS;
        if (isRuns) trial.holds(runsOf(runs) <= plainOf(count), "runs where these are small");
        else trial.holds(entry.payloadBytes<Own>() <= runsOf(runs), "another kind where that is smaller");
      }
    }
    trial.same(
      readBytes(Format.PORTABLE, bytesOf("3b300000 01 0000 0100 0200 0300 0000 0900 0000")),
      0, "fault of the payload",
    );
    trial.is(range(3, 3).append(9, 9), "read from two runs of one member");
    trial.end();
  });

  it("may contain full containers as a bitset or as a run", () => {
    const trial = new Trial(210), bytes = new StaticArray<u8>(8 + 8 + 8192), at = changetype<usize>(bytes);
    store<u64>(at, 0x0000000100000000 | 12346);
    store<u32>(at, 0xffff0005, 8);
    store<u32>(at, 16, 12);
    memory.fill(at + 16, 0xff, 8192);
    trial.same(readBytes(Format.PORTABLE, bytes), 0, "fault of the payload");
    trial.is(range(5 << 16, (6 << 16) - 1), "read from a bitset");
    const runs = bytesOf("3b300100 03 0500 ffff 0600 ffff 0100 0000 ffff 0100 0000 ffff");
    trial.same(readBytes(Format.PORTABLE, runs), 0, "fault of the payload");
    trial.is(range(5 << 16, (7 << 16) - 1), "read from runs");
    trial.end();
  });
});

describe("reading a payload", () => {
  it("finds each fault of a stream", () => {
    expectFault(Format.PORTABLE, TWO_ARRAYS, Fault.NONE);
    expectFault(Format.PORTABLE, "", Fault.CUT_SHORT);
    expectFault(Format.PORTABLE, TWO_ARRAYS + "00", Fault.TRAILING_BYTES);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("3a30", "3930"), Fault.UNKNOWN_COOKIE);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("3a300000", "3a300100"), Fault.UNKNOWN_COOKIE);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("02000000", "01000100"), Fault.TOO_MANY_CONTAINERS);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("02000000", "ffffffff"), Fault.TOO_MANY_CONTAINERS);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("02000000", "00000100"), Fault.CUT_SHORT);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("0100 0000", "0000 0000"), Fault.KEYS_NOT_ASCENDING);
    expectFault(
      Format.PORTABLE, TWO_ARRAYS.replace("0000 0200 0100", "0200 0200 0100"), Fault.KEYS_NOT_ASCENDING,
    );
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("18000000", "19000000"), Fault.WRONG_OFFSET);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("1e000000", "18000000"), Fault.WRONG_OFFSET);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("0400 6400", "0300 6400"), Fault.ARRAY_NOT_ASCENDING);
    expectFault(Format.PORTABLE, TWO_ARRAYS.replace("0400 6400", "6500 6400"), Fault.ARRAY_NOT_ASCENDING);
  });

  it("finds each fault of runs", () => {
    expectFault(Format.PORTABLE, THREE_WITH_RUNS, Fault.NONE);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS + "00", Fault.TRAILING_BYTES);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0100 0700", "0100 0600"), Fault.RUNS_CARDINALITY);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0100 0700", "0100 0800"), Fault.RUNS_CARDINALITY);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0200 0100 0500", "0000 0100 0500"), Fault.NO_RUNS);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0900 0100", "0700 0100"), Fault.RUNS_NOT_ASCENDING);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0900 0100", "0000 0100"), Fault.RUNS_NOT_ASCENDING);
    expectFault(
      Format.PORTABLE, THREE_WITH_RUNS.replace("0100 0500 0900 0100", "0500 0500 0100 0100"),
      Fault.RUNS_NOT_ASCENDING,
    );
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0900 0100", "ffff 0100"), Fault.RUN_TOO_LONG);
    expectFault(Format.PORTABLE, THREE_WITH_RUNS.replace("0900 0100", "0900 f7ff"), Fault.RUN_TOO_LONG);
  });

  it("finds every flipped bit of a bitset", () => {
    const trial = new Trial(211), model = new Model();
    appendContainer(model, 3, Style.BITSET, trial.random);
    build(model, Form.PLAIN, trial.random);
    const bytes = write(trial, Format.PORTABLE), payload = outputAt() + 16;
    trial.same(read(Format.PORTABLE, outputAt(), bytes), 0, "fault of the unchanged payload");
    for (let i = 0; i < 100; i++) {
      const at = payload + trial.random.below(8192), kept = load<u8>(at);
      store<u8>(at, kept ^ <u8>(<u32>1 << trial.random.below(8)));
      trial.same(
        read(Format.PORTABLE, outputAt(), bytes), Fault.BITSET_CARDINALITY, "fault after flipping a bit",
      );
      store<u8>(at, kept);
    }
    trial.end();
  });

  it("finds each fault around the streams", () => {
    expectFault(Format.NATIVE, "", Fault.CUT_SHORT);
    expectFault(Format.NATIVE, "00", Fault.UNKNOWN_COOKIE);
    expectFault(Format.NATIVE, "03 00000000", Fault.UNKNOWN_COOKIE);
    expectFault(Format.NATIVE, "01 00000000 00", Fault.TRAILING_BYTES);
    expectFault(Format.NATIVE, "01 ffffffff 00000000", Fault.CUT_SHORT);
    expectFault(Format.NATIVE, "02" + TWO_ARRAYS, Fault.NONE);
    expectFault(Format.NATIVE, "02" + TWO_ARRAYS + "00", Fault.TRAILING_BYTES);
    const bucket = "00000000" + TWO_ARRAYS, next = "01000000" + TWO_ARRAYS;
    expectFault(Format.WIDE, "0200000000000000" + bucket + next, Fault.NONE);
    expectFault(Format.WIDE, "0200000000000000" + next + bucket, Fault.KEYS_NOT_ASCENDING);
    expectFault(Format.WIDE, "0200000000000000" + next + next, Fault.KEYS_NOT_ASCENDING);
    expectFault(Format.WIDE, "0100000000000000" + bucket + next, Fault.TRAILING_BYTES);
    expectFault(Format.WIDE, "0300000000000000" + bucket + next, Fault.CUT_SHORT);
    expectFault(Format.WIDE, "feffffffffffffff" + bucket + next, Fault.CUT_SHORT);
    expectFault(
      Format.WIDE, "0200000000000000" + bucket + next.replace("0300", "0500"), Fault.ARRAY_NOT_ASCENDING,
    );
    expectFault(Format.PORTABLE_WIDE, "ffffffffffffffff" + "0000000000000000", Fault.CUT_SHORT);
  });

  it("accepts each 64-bit bucket once, in ascending order", () => {
    const low = "05000000 3a300000 01000000 0000 0000 10000000 0700";
    const high = low.replace("0000 0000 10000000", "0100 0000 10000000");
    const none = "05000000 3a300000 00000000";
    expectFault(Format.WIDE, "0200000000000000" + low + high, Fault.KEYS_NOT_ASCENDING);
    expectFault(Format.WIDE, "0200000000000000" + low + none, Fault.KEYS_NOT_ASCENDING);
    expectFault(Format.WIDE, "0100000000000000" + none, Fault.NONE);
  });

  it("accepts a 64-bit payload in windows, but no prefix of it", () => {
    const trial = new Trial(214), random = trial.random;
    for (let i = 0; i < 4; i++) {
      const model = new Model();
      for (let n: u64 = 0; n < 40; n++) {
        const styles: Style[] = [Style.SINGLE, Style.PAIR, Style.FEW, Style.ENDS, Style.FULL];
        appendContainer(model, (n << 16) + random.below(3), styles[random.below(styles.length)], random);
        if (i % 2 && n % 8 == 0) model.append((n << 32) + (9 << 16), (n << 32) + (20 << 16) - 1);
      }
      if (i == 0) appendContainer(model, 50 << 16, Style.BITSET, random);
      build(model, Form.EITHER, random);
      const bytes = write(trial, Format.WIDE_PARTS), longest: usize = i ? 400 : 9000;
      for (let shift: u32 = 5; shift < 15; shift++) {
        trial.steps++;
        trial.same(read(Format.WIDE_PARTS, outputAt(), bytes, shift, longest), 0, "fault of the payload");
        trial.is(model, "read");
        for (let cut: usize = 1; cut < bytes - 8; cut += random.between(1, 200)) {
          trial.same(
            read(Format.WIDE_PARTS, outputAt(), bytes - cut, shift, longest),
            Fault.CUT_SHORT, "fault of a prefix",
          );
        }
      }
    }
    const five = new Model();
    for (let n: u64 = 0; n < 5; n++) five.append(n << 32, n << 32);
    build(five, Form.EITHER, random);
    write(trial, Format.WIDE);
    trial.same(
      read(Format.WIDE, outputAt(), 8 + 4 * 22, 5, 400), Fault.CUT_SHORT,
      "fault of a prefix that ends where a window starts",
    );
    trial.same(
      deserialize(Format.NATIVE, <u64>u32.MAX_VALUE + 1, 31),
      Fault.TOO_LONG, "fault of a 32-bit payload of 4 GiB",
    );
    trial.end();
  });

  it("finds each fault of parts", () => {
    const parts = "ffffffffffffffff 0200000000000000", bucket = "0000000000000000" + TWO_ARRAYS;
    const span = "0300000000000080 0500000000000000";
    expectFault(Format.WIDE, parts + bucket + span, Fault.NONE);
    expectFault(Format.WIDE, parts + bucket + span + "00", Fault.TRAILING_BYTES);
    expectFault(Format.WIDE, parts + span + bucket, Fault.KEYS_NOT_ASCENDING);
    expectFault(Format.WIDE, parts + span + span.replace("0500", "0700"), Fault.KEYS_NOT_ASCENDING);
    expectFault(Format.WIDE, parts + span + span.replace("0500", "0800"), Fault.NONE);
    expectFault(Format.WIDE, parts + bucket + span.replace("0300", "0000"), Fault.KEY_TOO_GREAT);
    expectFault(
      Format.WIDE, parts + bucket + span.replace("0500000000000000", "feffffffffff0000"), Fault.KEY_TOO_GREAT,
    );
    expectFault(
      Format.WIDE, parts + bucket + span.replace("0500000000000000", "fdffffffffff0000"), Fault.NONE,
    );
    expectFault(
      Format.WIDE, parts + bucket + span.replace("0500000000000000", "0500000000000100"), Fault.KEY_TOO_GREAT,
    );
    expectFault(Format.WIDE, parts + bucket + "ffffffffffffffff 0500000000000000", Fault.KEY_TOO_GREAT);
    expectFault(Format.WIDE, parts + bucket + "0000000001000000" + TWO_ARRAYS, Fault.KEY_TOO_GREAT);
  });

  it("rejects every prefix of a payload", () => {
    const trial = new Trial(212), span = "0300000000000080 0500000000000000";
    everyCut(trial, Format.NATIVE, bytesOf("01 03000000 03000000 04000000 64000000"));
    everyCut(trial, Format.NATIVE, bytesOf("02" + TWO_ARRAYS));
    everyCut(trial, Format.NATIVE, bytesOf("02" + THREE_WITH_RUNS));
    everyCut(trial, Format.PORTABLE, bytesOf("3a300000 00000000"));
    everyCut(trial, Format.PORTABLE, bytesOf(THREE_WITH_RUNS));
    everyCut(
      trial, Format.WIDE, bytesOf("0200000000000000 00000000" + TWO_ARRAYS + "01000000" + THREE_WITH_RUNS),
    );
    everyCut(trial, Format.WIDE, bytesOf(
      "ffffffffffffffff 0300000000000000" + span + "0100000000000000" + TWO_ARRAYS
      + span.replace("0500000000000000", "0000020000000000"),
    ));
    const model = new Model();
    appendContainer(model, 3, Style.BITSET_LEAST, trial.random);
    build(model, Form.PLAIN, trial.random);
    const bytes = write(trial, Format.PORTABLE);
    for (let cut: usize = 1; cut < bytes; cut += 1 + bytes / 500) {
      trial.same(
        read(Format.PORTABLE, outputAt(), bytes - cut), Fault.CUT_SHORT, "fault of a prefix with a bitset",
      );
    }
    trial.end();
  });

  it("finds a fault in a damaged payload or builds a valid bitmap from it", () => {
    const trial = new Trial(213), random = trial.random;
    let accepted = 0;
    for (let i = 0; i < 60; i++) {
      const format: Format = i % 3 == 0 ? Format.NATIVE : i % 3 == 1 ? Format.WIDE : Format.PORTABLE;
      const model = new Model();
      for (let key: u64 = random.below(3), n = random.between(1, 6); n; n--, key += 1 + random.below(2)) {
        const styles: Style[] = [Style.SINGLE, Style.PAIR, Style.FEW, Style.ENDS, Style.FULL, Style.LACKING];
        appendContainer(model, i % 6 == 1 ? key << 16 : key, styles[random.below(styles.length)], random);
      }
      if (i % 6 == 4) model.append((model.maximum() | 65535) + 1, <u64>1 << 50);
      build(model, Form.EITHER, random);
      const bytes = write(trial, format);
      const good = new StaticArray<u8>(<i32>bytes);
      const changed = new StaticArray<u8>(<i32>bytes);
      const at = changetype<usize>(changed);
      memory.copy(changetype<usize>(good), outputAt(), bytes);
      for (let j = 0; j < 200; j++) {
        trial.steps++;
        memory.copy(at, changetype<usize>(good), bytes);
        for (let n = random.between(1, 3); n; n--) changeByte(at + random.below(<u32>bytes), random);
        const fault = read(format, at, bytes - (random.below(8) ? 0 : random.below(<u32>bytes)));
        if (fault != Fault.NONE) {
          trial.holds(
            fault <= Fault.RUNS_CARDINALITY || fault == Fault.KEY_TOO_GREAT, "the fault is one of payloads",
          );
          continue;
        }
        accepted++;
        trial.sound("accepted");
        const set = readArena(0);
        trial.holds(set.ordered, "the members are ascending");
        if (set.cardinality() < 1 << 20) roundTrip(trial, set, Form.EITHER, format);
      }
    }
    trial.occurred(accepted, "a damaged payload is accepted");
    trial.end();
  });
});
