// Offsets into ascending order. The host makes memory 0 a list of them:
//
//   +0               u64 an offset, `count` times
//   +8 * count       room for as many again
//   +16 * count      room for the counters: SORTING_BYTES
//
// A byte of all offsets at a time, the lowest first: those with a lesser byte go before those with a greater one, and those with the
// same byte stay as they were. Bytes that are the same in all are passed over.

// @ts-ignore: decorator
@inline const DIGITS: u32 = 256;
// @ts-ignore: decorator
@inline const OFFSET_BYTES: usize = 8;

/**
 * Sorts the `count` offsets unless they are ascending already. `always` 0 also leaves them as they are when they have fewer neighbours
 * than they are: when there are more containers between the least and the greatest than offsets.
 */
export function sort(count: u32, always: u32): void {
  const end = <usize>count * OFFSET_BYTES, first = load<u64>(0);
  let least = first, greatest = first, differing: u64 = 0, before = first, falls = false;
  for (let at: usize = 0; at < end; at += OFFSET_BYTES) {
    const offset = load<u64>(at);
    least = min(least, offset);
    greatest = max(greatest, offset);
    differing |= offset ^ first;
    falls = falls || offset < before;
    before = offset;
  }
  if (!falls || (!always && (greatest - least) >> 16 >= count)) return;
  let from: usize = 0, to = end;
  for (let shift: u64 = 0; shift < 64; shift += 8) {
    if (!((differing >> shift) & 0xff)) continue;
    distribute(from, to, end, shift);
    const other = from;
    from = to;
    to = other;
  }
  if (from) memory.copy(0, from, end);
}

/** Brings the offsets of `bytes` bytes at `from` to `to`, in the order of their bytes `shift` bits up. */
function distribute(from: usize, to: usize, bytes: usize, shift: u64): void {
  const counters = bytes << 1;
  memory.fill(counters, 0, DIGITS * 4);
  for (let at = from; at < from + bytes; at += OFFSET_BYTES) {
    const counter = counterAt(counters, load<u64>(at) >> shift);
    store<u32>(counter, load<u32>(counter) + <u32>OFFSET_BYTES);
  }
  let next = <u32>to;                         // a counter becomes the place of the next offset with that byte
  for (let digit: u64 = 0; digit < DIGITS; digit++) {
    const counter = counterAt(counters, digit), all = load<u32>(counter);
    store<u32>(counter, next);
    next += all;
  }
  for (let at = from; at < from + bytes; at += OFFSET_BYTES) {
    const offset = load<u64>(at), counter = counterAt(counters, offset >> shift), place = load<u32>(counter);
    store<u64>(place, offset);
    store<u32>(counter, place + <u32>OFFSET_BYTES);
  }
}

// @ts-ignore: decorator
@inline function counterAt(counters: usize, digit: u64): usize { return counters + (<usize>(digit & (DIGITS - 1)) << 2); }
