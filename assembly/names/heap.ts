// Heaps: the names of consecutive ids, as records one behind the other. A dictionary of few names is a heap; of
// a larger one, each heap is a segment, and the segments that lead from names to ids are tables (table.ts).
//
//   +0   u8  form = 4     +1   u8  0
//   +2   u16 bytes of each record, if all have as many; otherwise 0
//   +4   u32 the first id
//   +8   u32 ids: as many records follow
//   +12  u32 names: records of names that were not deleted
//   +16  u32 where the records end
//   +20  u32 where the samples end
//   +24  u32 bytes that deleted names take in addition to a byte each
//   +28  records
//        ...
//        samples, downwards from their end: u32 where record 16, 32, 48 ... begins
//
// Where all records have as many bytes, as those of UUIDs do, no sample need be read, which is one place in
// memory less for each name that is looked up.
// An arena of zeros is a dictionary without names.

import { arena } from "../env/memory";
import { Memory, Own, view16, view32, view8 } from "../env/view";
import { Record } from "./record";

/** Records from one sample to the next. */
// @ts-ignore: decorator
@inline const SAMPLED: u32 = 16;
/** Heaps of this many bytes or more grow by a quarter at a time. */
// @ts-ignore: decorator
@inline const AMPLE_FROM: usize = 4096;
/** A heap is compacted when deleted names take this part of it. */
// @ts-ignore: decorator
@inline const DEAD_PART: usize = 4;

/** The most bytes of a segment of names, where it need not have more for a single name. */
export function namesLimit(): usize { return <usize>(arena.most() >> 1) & ~7; }

/** A heap in memory M, or in memory 0. */
export abstract class Heap {
  @inline static readonly FORM: u32 = 4;
  @inline static readonly RECORDS: usize = 28;
  @inline private static readonly EVEN: u32 = 2;
  @inline private static readonly FIRST: u32 = 4;
  @inline private static readonly COUNT: u32 = 8;
  @inline private static readonly LIVE: u32 = 12;
  @inline private static readonly USED: u32 = 16;
  @inline private static readonly END: u32 = 20;
  @inline private static readonly DEAD: u32 = 24;

  /** Whether the arena is the zeros of a new dictionary. */
  @inline static isNew<M extends Memory>(): bool { return view8<M>(0, 0) == 0; }
  @inline static isHeap<M extends Memory>(): bool { return view8<M>(0, 0) == Heap.FORM; }
  @inline static first<M extends Memory>(): u32 { return view32<M>(0, Heap.FIRST); }
  @inline static count<M extends Memory>(): u32 { return view32<M>(0, Heap.COUNT); }
  @inline static live<M extends Memory>(): u32 { return view32<M>(0, Heap.LIVE); }
  @inline static used<M extends Memory>(): usize { return view32<M>(0, Heap.USED); }
  @inline static end<M extends Memory>(): usize { return view32<M>(0, Heap.END); }
  @inline static dead<M extends Memory>(): usize { return view32<M>(0, Heap.DEAD); }
  /** The id after the last one. */
  @inline static next<M extends Memory>(): u64 { return <u64>Heap.first<M>() + Heap.count<M>(); }
  /** Whether one of the heap's ids is `id`, whether or not its name was deleted. */
  @inline static has<M extends Memory>(id: u64): bool { return id - Heap.first<M>() < Heap.count<M>(); }

  /** Makes memory 0, of any content, a heap whose first id will be `first`. */
  static create(first: u32): void {
    Heap.reserve(Heap.RECORDS);
    memory.fill(0, 0, Heap.RECORDS);
    store<u8>(0, Heap.FORM);
    Heap.clear(first);
  }

  /** Removes all records; the first id will be `first`. */
  static clear(first: u32): void {
    store<u32>(0, first, Heap.FIRST);
    store<u32>(0, 0, Heap.COUNT);
    store<u32>(0, 0, Heap.LIVE);
    store<u32>(0, Heap.RECORDS, Heap.USED);
    store<u32>(0, arena.size(), Heap.END);
    store<u32>(0, 0, Heap.DEAD);
  }

  // --- Reading ---------------------------------------------------------------------------------------------

  @inline private static samples(count: u32): usize { return <usize>((count - u32(count > 0)) / SAMPLED) << 2; }

  /** Where record `index` begins. */
  static locate<M extends Memory>(index: u32): usize {
    const even = view16<M>(0, Heap.EVEN);
    if (even) return Heap.RECORDS + <usize>index * even;
    const group = index / SAMPLED;
    let at = group ? <usize>view32<M>(Heap.end<M>() - (<usize>group << 2), 0) : Heap.RECORDS;
    for (let rest = index % SAMPLED; rest; rest--) at += Record.bytes<M>(at);
    return at;
  }

  // --- Adding ----------------------------------------------------------------------------------------------

  @inline private static reserve(bytes: usize): void { if (arena.size() < <u32>bytes) arena.grow(<u32>bytes); }

  /** The bytes that the heap will take with a record of `bytes` bytes more. */
  @inline private static needed(bytes: usize): usize {
    return Heap.used<Own>() + bytes + Heap.samples(Heap.count<Own>() + 1);
  }

  /** Whether a record of so many bytes belongs into this heap, and not into another one behind it. */
  static takes(bytes: usize): bool { return !Heap.count<Own>() || Heap.needed(bytes) <= namesLimit(); }

  /** Whether the dictionary has few names with another record of so many bytes. */
  static isSmallWith(bytes: usize, mostNames: u32, mostBytes: usize): bool {
    const count = Heap.count<Own>();
    return !count || (count < mostNames && Heap.needed(bytes) <= min(mostBytes, namesLimit()));
  }

  /** Makes room for a record of so many bytes. */
  static makeRoom(bytes: usize): void {
    const needed = Heap.needed(bytes), end = Heap.end<Own>();
    if (needed <= end) return;
    const ample: usize = end < AMPLE_FROM ? 0 : min(end + (end >> 2), namesLimit());
    Heap.reserve(max(needed, ample));
    Heap.moveSamples(arena.size());
  }

  private static moveSamples(end: usize): void {
    const bytes = Heap.samples(Heap.count<Own>());
    if (bytes) memory.copy(end - bytes, Heap.end<Own>() - bytes, bytes);
    store<u32>(0, <u32>end, Heap.END);
  }

  /** Begins the next record, for which there is room; returns where it is to be written. */
  static push(bytes: usize, isDead: bool): usize {
    const count = Heap.count<Own>(), at = Heap.used<Own>();
    Heap.sample(count, at);
    if (!count) store<u16>(0, bytes <= u16.MAX_VALUE ? <u16>bytes : 0, Heap.EVEN);
    else if (load<u16>(0, Heap.EVEN) != <u32>bytes) store<u16>(0, 0, Heap.EVEN);
    store<u32>(0, count + 1, Heap.COUNT);
    store<u32>(0, Heap.live<Own>() + u32(!isDead), Heap.LIVE);
    store<u32>(0, <u32>(at + bytes), Heap.USED);
    return at;
  }

  /** Notes where record `index` begins, if it is sampled. */
  @inline private static sample(index: u32, at: usize): void {
    if (index && !(index % SAMPLED)) store<u32>(Heap.end<Own>() - (<usize>(index / SAMPLED) << 2), <u32>at);
  }

  // --- Removing --------------------------------------------------------------------------------------------

  /** Removes the name of record `index`, which was not deleted, and compacts the heap if that is worth it. */
  static remove(index: u32): void {
    const at = Heap.locate<Own>(index), bytes = Record.bytes<Own>(at);
    Record.kill(at, bytes);
    store<u32>(0, Heap.live<Own>() - 1, Heap.LIVE);
    store<u32>(0, <u32>(Heap.dead<Own>() + bytes - 1), Heap.DEAD);
    if (!Heap.live<Own>()) Heap.clear(<u32>Heap.next<Own>());
    else if (Heap.dead<Own>() * DEAD_PART > Heap.used<Own>()) Heap.compact();
    else return;
    Heap.cut();
  }

  /** Makes all records of deleted names a byte long. */
  private static compact(): void {
    const count = Heap.count<Own>();
    let from = Heap.RECORDS, to = Heap.RECORDS;
    for (let i: u32 = 0; i < count; i++) {
      const bytes = Record.bytes<Own>(from);
      Heap.sample(i, to);
      if (Record.isDead<Own>(from)) store<u8>(to++, 0);
      else { memory.copy(to, from, bytes); to += bytes; }
      from += bytes;
    }
    store<u16>(0, 0, Heap.EVEN);
    store<u32>(0, <u32>to, Heap.USED);
    store<u32>(0, 0, Heap.DEAD);
  }

  /** Gives back memory that is not needed. */
  private static cut(): void {
    const end = Heap.used<Own>() + Heap.samples(Heap.count<Own>());
    Heap.moveSamples(end);
    arena.cut(<u32>end);
  }

  /** Removes the ids from record `index` on, where `names` of them have names. */
  static truncate(index: u32, names: u32): void {
    const at = Heap.locate<Own>(index);
    store<u32>(0, index, Heap.COUNT);
    store<u32>(0, Heap.live<Own>() - names, Heap.LIVE);
    store<u32>(0, <u32>at, Heap.USED);
  }
}
