// Sorts a list of offsets with a radix sort. The host lays memory 0 out as follows:
//
//   +0               u64 offset, `count` times
//   +8 * count       room for another `count` offsets
//   +16 * count      COUNTERS_BYTES for the counters
//
// Each pass sorts by one byte of the offsets, from the lowest byte to the highest,
// and keeps the order of offsets that have the same byte. Bytes that are equal in all offsets need no pass.

/** A radix sort: by one byte after the other. */
abstract class Radix {
  @inline static readonly DIGITS: u32 = 256;
  @inline private static readonly OFFSET_BYTES: usize = 8;
  @inline static readonly COUNTER_BYTES: u32 = 4;

  /** Sorts the `count` offsets if the greatest is fewer than `containers` containers above the least. */
  static sortIfNearer(count: u32, containers: u64): void {
    const end = <usize>count * Radix.OFFSET_BYTES, first = load<u64>(0);
    let least = first, greatest = first, differing: u64 = 0, previous = first, descends = false;
    for (let at: usize = 0; at < end; at += Radix.OFFSET_BYTES) {
      const offset = load<u64>(at);
      least = min(least, offset);
      greatest = max(greatest, offset);
      differing |= offset ^ first;
      descends = descends || offset < previous;
      previous = offset;
    }
    if (!descends || (greatest - least) >> 16 >= containers) return;
    let from: usize = 0, to = end;
    for (let shift: u64 = 0; shift < 64; shift += 8) {
      if (!((differing >> shift) & 0xff)) continue;
      Radix.distribute(from, to, end, shift);
      const free = from;
      from = to;
      to = free;
    }
    if (from) memory.copy(0, from, end);
  }

  /** Copies the offsets that take `bytes` bytes at `from` to `to`, sorted by their byte from bit `shift` on. */
  private static distribute(from: usize, to: usize, bytes: usize, shift: u64): void {
    const counters = bytes << 1;
    memory.fill(counters, 0, COUNTERS_BYTES);
    for (let at = from; at < from + bytes; at += Radix.OFFSET_BYTES) {
      const counter = Radix.counterAt(counters, load<u64>(at) >> shift);
      store<u32>(counter, load<u32>(counter) + <u32>Radix.OFFSET_BYTES);
    }
    // From here on a counter is the address of the next offset with its byte.
    let next = <u32>to;
    for (let digit: u64 = 0; digit < Radix.DIGITS; digit++) {
      const counter = Radix.counterAt(counters, digit), bytesOfDigit = load<u32>(counter);
      store<u32>(counter, next);
      next += bytesOfDigit;
    }
    for (let at = from; at < from + bytes; at += Radix.OFFSET_BYTES) {
      const offset = load<u64>(at), counter = Radix.counterAt(counters, offset >> shift),
        target = load<u32>(counter);
      store<u64>(target, offset);
      store<u32>(counter, target + <u32>Radix.OFFSET_BYTES);
    }
  }

  @inline private static counterAt(counters: usize, digit: u64): usize {
    return counters + (<usize>(digit & (Radix.DIGITS - 1)) << 2);
  }
}
/** Room for the counters. */
// @ts-ignore: decorator
@inline export const COUNTERS_BYTES: u32 = Radix.DIGITS * Radix.COUNTER_BYTES;

/** Sorts the `count` offsets. */
export function sort(count: u32): void { Radix.sortIfNearer(count, u64.MAX_VALUE); }

/**
 * Sorts the `count` offsets unless they are sparse: unless there are at least as many containers from the
 * least to the greatest offset as offsets.
 */
export function sortUnlessSparse(count: u32): void { Radix.sortIfNearer(count, count); }
