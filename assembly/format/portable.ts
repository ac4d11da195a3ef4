// The portable 32-bit stream of https://github.com/RoaringBitmap/RoaringFormatSpec: a bitmap of 32-bit
// offsets, little-endian. Its container keys are the low 16 bits of a directory's keys. The portable 64-bit
// stream is a sequence of such streams (wide.ts).
//
//   cookie          if no container has runs:  u32 12346, u32 containers
//                   else:                      u16 12347, u16 containers - 1, then a bit per container that
//                                              marks runs, in (containers + 7) / 8 bytes
//   key header      per container: u16 key, u16 cardinality - 1
//   offset header   per container: u32 position of its payload, from the cookie on. Absent after 12347 with
//                   fewer than 4 containers
//   payloads        in the layouts of container/limits.ts: an array up to 4096 members, a bitset above, or
//                   runs

import { SELF, Side, left, output, right, segments } from "../env/memory";
import { Own, Right } from "../env/view";
import { Fault } from "../env/fault";
import { Allocator, Block } from "../arena/layout/blocks";
import { Entry } from "../arena/layout/entry";
import { Directory, Place } from "../arena/read/directory";
import { append, appendFull, closeIfFull, finish, nextKey } from "../arena/builder/builder";
import { begin } from "../arena/builder/state";
import { emit, emitArray } from "../combine/shape/emit";
import { Shape } from "../combine/shape/shape";
import { Places, Scratch } from "../combine/shape/scratch";
import { Choice, Kind } from "../container/kind";
import { BITSET_BYTES, Container } from "../container/limits";
import { isAscending } from "../container/array";
import { Bitset } from "../container/bitset";
import { runsToArray, runsToBitset } from "../container/convert";
import { Runs } from "../container/run";
import { ShortBitset, spanOfBitset } from "../container/short";
import { Sparse } from "../container/sparse";

const enum Cookie { NO_RUNS = 12346, RUNS = 12347 }
/** Writes and reads streams of the portable format. */
export abstract class Stream {
  /** A stream with runs has an offset header only from this many containers on. */
  @inline private static readonly OFFSETS_FROM: u32 = 4;
  /** Container keys of a 32-bit bitmap. */
  @inline static readonly KEYS: u32 = 65536;
  /** A full container's payload, one run: u16 1, u16 0, u16 65535. */
  @inline private static readonly FULL_PAYLOAD: u64 = 0xffff00000001;

  /** Bytes of everything before the payloads. */
  @inline private static streamHeaderBytes(containers: u32, hasRuns: bool): u32 {
    if (!hasRuns) return 8 + 8 * containers;
    return 4 + ((containers + 7) >> 3) + (containers < Stream.OFFSETS_FROM ? 4 : 8) * containers;
  }

  // --- Writing -----------------------------------------------------------------------------------------------
  // A stream has the containers [firstKey, lastKey] of memory 0, whose keys are equal above their low 16 bits.
  // `first` is the place of the first of them, in the segment shown, which is shown again after each walk.

  @inline private static isRuns(kind: Kind): bool { return kind == Kind.RUNS || kind == Kind.FULL; }

  /** Bytes of the payload of one container of the entry. A full container is one run. */
  @inline private static containerBytes(entry: Entry): u32 {
    const kind = entry.kind<Own>();
    if (kind == Kind.FULL) return <u32>Container.runsBytes(1);
    if (entry.isStreamedAsArray()) return <u32>Container.arrayBytes(entry.count<Own>());
    return <u32>(kind == Kind.RUNS ? entry.payloadBytes<Own>() : BITSET_BYTES);
  }

  @inline private static containerCount(entry: Entry): u32 {
    return entry.kind<Own>() == Kind.FULL ? Container.UNIVERSE : entry.count<Own>();
  }

  /** Containers of the entry with keys in [firstKey, lastKey]. */
  @inline private static containersOf(entry: Entry, firstKey: u64, lastKey: u64): u32 {
    return <u32>(min(entry.lastKey<Own>(), lastKey) - max(entry.key<Own>(), firstKey) + 1);
  }

  @inline private static within(place: u64, lastKey: u64): bool {
    return place != 0 && Place.entry(place).key<Own>() <= lastKey;
  }

  /** The number of containers in the stream, and in the top bit whether any of them has runs. */
  private static survey(first: u64, firstKey: u64, lastKey: u64): u32 {
    const home = segments.at(Side.OWN);
    let containers: u32 = 0, hasRuns: u32 = 0;
    for (let place = first; Stream.within(place, lastKey); place = Place.next<Own>(place)) {
      const entry = Place.entry(place);
      containers += Stream.containersOf(entry, firstKey, lastKey);
      hasRuns |= u32(Stream.isRuns(entry.kind<Own>()));
    }
    segments.show(Side.OWN, home);
    return containers | (hasRuns << 31);
  }

  /** Bytes of the stream. */
  static bytes(first: u64, firstKey: u64, lastKey: u64): u64 {
    const found = Stream.survey(first, firstKey, lastKey), home = segments.at(Side.OWN);
    let bytes: u64 = Stream.streamHeaderBytes(found & 0x7fffffff, found >> 31 != 0);
    for (let place = first; Stream.within(place, lastKey); place = Place.next<Own>(place)) {
      const entry = Place.entry(place);
      bytes += <u64>Stream.containerBytes(entry) * Stream.containersOf(entry, firstKey, lastKey);
    }
    segments.show(Side.OWN, home);
    return bytes;
  }

  /** Writes the stream. */
  static write(first: u64, firstKey: u64, lastKey: u64): void {
    const found = Stream.survey(first, firstKey, lastKey), containers = found & 0x7fffffff,
      hasRuns = found >> 31 != 0, home = segments.at(Side.OWN);
    if (hasRuns) {
      output.put(((containers - 1) << 16) | Cookie.RUNS, 4);
      Stream.writeRunMarks(first, firstKey, lastKey);
      segments.show(Side.OWN, home);
    } else {
      output.put(Cookie.NO_RUNS, 4);
      output.put(containers, 4);
    }
    Stream.writeKeys(first, firstKey, lastKey);
    segments.show(Side.OWN, home);
    if (!hasRuns || containers >= Stream.OFFSETS_FROM) {
      Stream.writePositions(first, firstKey, lastKey, Stream.streamHeaderBytes(containers, hasRuns));
      segments.show(Side.OWN, home);
    }
    Stream.writePayloads(first, firstKey, lastKey);
  }

  /** Writes the key header. */
  @inline private static writeKeys(first: u64, firstKey: u64, lastKey: u64): void {
    for (let place = first; Stream.within(place, lastKey); place = Place.next<Own>(place)) {
      const entry = Place.entry(place), countLessOne = Stream.containerCount(entry) - 1;
      let key = max(entry.key<Own>(), firstKey);
      for (let n = Stream.containersOf(entry, firstKey, lastKey); n; n--, key++) {
        output.put((<u32>key & (Stream.KEYS - 1)) | (countLessOne << 16), 4);
      }
    }
  }

  /** Writes the offset header. The first payload is at `position`. */
  @inline private static writePositions(first: u64, firstKey: u64, lastKey: u64, position: u32): void {
    for (let place = first; Stream.within(place, lastKey); place = Place.next<Own>(place)) {
      const entry = Place.entry(place);
      for (let n = Stream.containersOf(entry, firstKey, lastKey); n; n--) {
        output.put(position, 4);
        position += Stream.containerBytes(entry);
      }
    }
  }

  @inline private static writePayloads(first: u64, firstKey: u64, lastKey: u64): void {
    for (let place = first; Stream.within(place, lastKey); place = Place.next<Own>(place)) {
      const entry = Place.entry(place);
      if (entry.kind<Own>() != Kind.FULL) { Stream.writePayload(entry); continue; }
      for (let n = Stream.containersOf(entry, firstKey, lastKey); n;
        n--) output.put(Stream.FULL_PAYLOAD, <u32>Container.runsBytes(1));
    }
  }

  /** Writes the payload of an entry that is not FULL. */
  @inline private static writePayload(entry: Entry): void {
    const payload = entry.payload<Own>();
    switch (entry.kind<Own>()) {
      case Kind.SPARSE: Stream.writeSparse(entry); return;
      case Kind.SHORT: Stream.writeShort(entry); return;
      case Kind.BITSET:
        if (entry.isStreamedAsArray()) Stream.writeMembers(payload, 0, Container.UNIVERSE);
        else output.write(payload, Stream.containerBytes(entry));
        return;
      case Kind.ARRAY:
      case Kind.RUNS:
      case Kind.SINGLE:
      case Kind.PAIR: output.write(payload, Stream.containerBytes(entry)); return;
      case Kind.FULL:
      default: unreachable();
    }
  }

  /** Writes a sparse bitset as an array or a bitset. */
  private static writeSparse(entry: Entry): void {
    const at = entry.payload<Own>(), asArray = entry.isStreamedAsArray();
    let end: u32 = 0;                           // the first word that is not written yet
    for (let step = Sparse.stepTo(at, 0); step; step = Sparse.stepAfter(at, step)) {
      const word = Sparse.wordOf(step), bits = Sparse.bitsAt(at, step);
      if (asArray) { Stream.writeBits(bits, word << 6); continue; }
      output.fill(0, (word - end) << 3);
      output.put(bits, 8);
      end = word + 1;
    }
    if (!asArray) output.fill(0, (Container.WORDS - end) << 3);
  }

  /** Writes a short bitset as an array or a bitset. */
  private static writeShort(entry: Entry): void {
    const at = entry.payload<Own>(), low = ShortBitset.low<Own>(at);
    const end = ShortBitset.end<Own>(at), base = ShortBitset.base<Own>(at);
    if (entry.isStreamedAsArray()) { Stream.writeMembers(base, low, end); return; }
    output.fill(0, low >> 3);
    output.write(base + (low >> 3), (end - low) >> 3);
    output.fill(0, (Container.UNIVERSE - end) >> 3);
  }

  /** Writes the values from `low` to before `end`, both multiples of 64, of the bitset at `at` as an array. */
  private static writeMembers(at: usize, low: u32, end: u32): void {
    for (let value = low; value < end; value += 64) Stream.writeBits(load<u64>(at + (value >> 3)), value);
  }

  /** Writes the numbers of the 1 bits of a word, plus `first`, as members of an array. */
  @inline private static writeBits(bits: u64, first: u32): void {
    for (; bits; bits &= bits - 1) output.put(first + ctz(bits), <u32>Container.MEMBER_BYTES);
  }

  /** Writes the bits that mark runs. */
  private static writeRunMarks(first: u64, firstKey: u64, lastKey: u64): void {
    let marks: u32 = 0, filled: u32 = 0;
    for (let place = first; Stream.within(place, lastKey); place = Place.next<Own>(place)) {
      const entry = Place.entry(place), mark = u32(Stream.isRuns(entry.kind<Own>()));
      for (let n = Stream.containersOf(entry, firstKey, lastKey); n; n--) {
        marks |= mark << filled;
        if (++filled == 8) { output.put(marks, 1); marks = 0; filled = 0; }
      }
    }
    if (filled) output.put(marks, 1);
  }

  // --- Reading -----------------------------------------------------------------------------------------------
  // The payload is the operand that `right` shows. It may hold anything:
  // every read is checked against its size first.

  /**
   * The result of Stream.read() for a fault, in the high half.
   * Without a fault, the result is the address behind the stream.
   */
  @inline private static faulty(fault: Fault): u64 { return (<u64>fault) << 32; }

  /** Whether a stream may begin at `at` of the payload: with a cookie and a number of containers. */
  static beginsAt(at: u64): bool {
    if (at + 8 > <u64>right.size()) return false;
    const cookie = right.load32(<usize>at, 0);
    return (cookie & 0xffff) == Cookie.RUNS
      || (cookie == Cookie.NO_RUNS && right.load32(<usize>at, 4) <= Stream.KEYS);
  }

  /** Whether the stream at `at`, which may be one, has no containers. */
  @inline static isEmptyAt(at: u64): bool { return right.load32(<usize>at, 0) == Cookie.NO_RUNS; }

  /**
   * Appends the containers of the stream at `from` to the builder, with `base` added to their keys. Without
   * `builds`, it only finds the end of the stream: what the containers hold is not looked at. `right` shows
   * operand `k`. Returns the address behind the stream, or Stream.faulty().
   */
  static read(k: u32, from: u64, base: u64, builds: bool): u64 {
    const size = <u64>right.size();
    if (from + 8 > size) return Stream.faulty(Fault.CUT_SHORT);
    const cookie = right.load32(<usize>from, 0);
    let containers: u32, marks: u64 = 0, at = from + 8;
    if (cookie == Cookie.NO_RUNS) {
      containers = right.load32(<usize>from, 4);
    } else if ((cookie & 0xffff) == Cookie.RUNS) {
      containers = (cookie >> 16) + 1;
      marks = from + 4;
      at = marks + ((containers + 7) >> 3);
    } else return Stream.faulty(Fault.UNKNOWN_COOKIE);
    if (containers > Stream.KEYS) return Stream.faulty(Fault.TOO_MANY_CONTAINERS);
    const heads = at;
    at += <u64>containers << 2;
    const offsets = at, hasOffsets = !marks || containers >= Stream.OFFSETS_FROM;
    if (hasOffsets) at += <u64>containers << 2;
    if (at > size) return Stream.faulty(Fault.CUT_SHORT);

    for (let i: u32 = 0; i < containers; i++) {
      const head = right.load32(<usize>(heads + (<u64>i << 2)), 0);
      const key = head & 0xffff;
      const count = (head >> 16) + 1;
      if (builds && base + key < nextKey()) return Stream.faulty(Fault.KEYS_NOT_ASCENDING);
      if (hasOffsets && right.load32(<usize>(offsets + (<u64>i << 2)), 0) != <u32>(at - from)) {
        return Stream.faulty(Fault.WRONG_OFFSET);
      }
      const hasRuns = marks != 0 && ((right.load8(<usize>(marks + (i >> 3)), 0) >> (i & 7)) & 1) != 0;
      const end = !builds ? Stream.skip(at, hasRuns, count)
        : hasRuns ? Stream.readRuns(k, at, base + key, count)
        : Container.isArraySized(count) ? Stream.readArray(at, base + key, count)
        : Stream.readBitset(k, at, base + key, count);
      if (end >> 32) return end;
      at = end;
    }
    return at;
  }

  /** The address behind the container at `at`, or Stream.faulty(). */
  private static skip(at: u64, hasRuns: bool, count: u32): u64 {
    const size = <u64>right.size();
    if (hasRuns && at + Container.RUNS_HEADER_BYTES > size) return Stream.faulty(Fault.CUT_SHORT);
    const end = at + (hasRuns ? Container.runsBytes(right.load16(<usize>at, 0))
      : Container.isArraySized(count) ? Container.arrayBytes(count) : BITSET_BYTES);
    return end > size ? Stream.faulty(Fault.CUT_SHORT) : end;
  }

  // Each of these appends the container at `at` and returns the address behind it, or Stream.faulty().

  private static readArray(at: u64, key: u64, count: u32): u64 {
    const bytes = Container.arrayBytes(count), end = at + bytes;
    if (end > <u64>right.size()) return Stream.faulty(Fault.CUT_SHORT);
    if (!isAscending<Right>(<usize>at, count)) return Stream.faulty(Fault.ARRAY_NOT_ASCENDING);
    const low = right.load16(<usize>at, 0), high = right.load16(<usize>(end - Container.MEMBER_BYTES), 0);
    if (Choice.suitable(count, Choice.wordsBetween(low, high)) != Kind.ARRAY) {
      Places.make(Scratch.TEMP);
      right.copy(Places.at(Scratch.FIRST), <usize>at, bytes);
      emit(key, Shape.of(Kind.ARRAY, count, Places.at(Scratch.FIRST)));
      return end;
    }
    emitArray(key, <usize>at, count);
    return end;
  }

  private static readBitset(k: u32, at: u64, key: u64, count: u32): u64 {
    const end = at + BITSET_BYTES;
    if (end > <u64>right.size()) return Stream.faulty(Fault.CUT_SHORT);
    left.select(k);
    const held = Bitset.cardinality(<usize>at);
    left.select(SELF);
    if (held != count) return Stream.faulty(Fault.BITSET_CARDINALITY);
    if (count == Container.UNIVERSE) { appendFull(key, 1); return end; }
    if (Choice.suitable(count, ShortBitset.wordsOf(spanOfBitset<Right>(<usize>at))) != Kind.BITSET) {
      Places.make(Scratch.TEMP);
      right.copy(Places.at(Scratch.FIRST), <usize>at, BITSET_BYTES);
      emit(key, Shape.of(Kind.BITSET, count, Places.at(Scratch.FIRST)));
      left.select(SELF);
      return end;
    }
    const to = Allocator.allocateFresh(BITSET_BYTES);
    right.copy(to, <usize>at, BITSET_BYTES);
    append(key, count).setBlock(Kind.BITSET, count, to);
    closeIfFull();
    return end;
  }

  private static readRuns(k: u32, at: u64, key: u64, count: u32): u64 {
    const size = <u64>right.size();
    if (at + Container.RUNS_HEADER_BYTES > size) return Stream.faulty(Fault.CUT_SHORT);
    const bytes = Container.runsBytes(right.load16(<usize>at, 0)), end = at + bytes;
    if (end > size) return Stream.faulty(Fault.CUT_SHORT);
    const fault = Runs.check<Right>(<usize>at, count);
    if (fault != Fault.NONE) return Stream.faulty(fault);
    if (count == Container.UNIVERSE) { appendFull(key, 1); return end; }
    const words = Choice.wordsBetween(right.load16(<usize>at, 2), Runs.last<Right>(<usize>at));
    if (Choice.prefersRuns(right.load16(<usize>at, 0), count, words)) {
      const to = Allocator.allocateFresh(Block.bytes(bytes));
      right.copy(to, <usize>at, bytes);
      append(key, count).setBlock(Kind.RUNS, count, to);
      closeIfFull();
      return end;
    }
    // Other writers may choose runs where an array or a bitset is smaller: these are converted.
    Places.make(Scratch.TEMP);
    const to = Places.at(Scratch.FIRST), kind = Container.isArraySized(count) ? Kind.ARRAY : Kind.BITSET;
    left.select(k);
    if (kind == Kind.ARRAY) runsToArray(<usize>at, to); else runsToBitset(<usize>at, to);
    left.select(SELF);
    emit(key, Shape.of(kind, count, to));
    return end;
  }
}

/** Bytes of memory 0 as one stream. All its members must be below 2^32. */
export function portableBytes(): u64 { return Stream.bytes(Directory.seek<Own>(0), 0, Stream.KEYS - 1); }
export function writePortable(): void { Stream.write(Directory.seek<Own>(0), 0, Stream.KEYS - 1); }

/** Builds the bitmap of the stream at `from` of operand 0 in memory 0, a fresh arena. */
export function readPortable(from: u64 = 0): Fault {
  right.select(0);
  begin(<u64>right.size() / 2 + 1, 0);        // a container takes at least six bytes
  const end = Stream.read(0, from, 0, true);
  if (end >> 32) return <Fault>(end >> 32);
  if (end != <u64>right.size()) return Fault.TRAILING_BYTES;
  finish();
  return Fault.NONE;
}
