// Two sparse bitsets few of whose bytes meet, which means that both have them. Walks over the words' masks and
// looks at those bytes only. Unless the host expands bytes by a mask in one instruction, that is quicker than
// expanding both.

import { bytes, left, right, vector } from "../env/memory";
import { Left, Own, Right } from "../env/view";
import { Kernel, Sink } from "./kernel";
import { Container } from "./limits";
import { Sparse } from "./sparse";

/** Kernels for sparse bitsets few of whose bytes meet. */
export abstract class Meeting {
  /** The result if too many members are shared. */
  @inline static readonly MANY: u32 = u32.MAX_VALUE;
  /** The most bytes that are expected to meet. */
  @inline private static readonly MOST: u32 = 224;
  /** Bytes that bytes.gather() takes at a time. */
  @inline private static readonly PART: usize = 512;

  /** Whether so few bytes of left `a` and right `b` probably meet that these kernels are the quicker ones. */
  @inline static isRare(a: usize, b: usize): bool {
    return vector.width() < 64
      && Sparse.valueCount<Left>(a) * Sparse.valueCount<Right>(b) <= Meeting.MOST * Container.BYTES;
  }

  /**
   * Intersects left `a` with right `b`, few of whose bytes meet: looks at those only. Writes the members as an
   * array to `out` and returns their number, or MANY once they are more than `most`, up to 512
   * of which may follow. `out` needs room for them.
   */
  static intersect<S extends Sink>(a: usize, b: usize, most: u32, out: usize): u32 {
    let aValue = Sparse.values(a), aMask = Sparse.masks<Left>(a), aSummary = Sparse.summary<Left>(a);
    let bValue = Sparse.values(b), bMask = Sparse.masks<Right>(b), bSummary = Sparse.summary<Right>(b);
    let members: u32 = 0;
    for (let low: u32 = 0; low < Container.UNIVERSE; low += 512, aSummary++, bSummary++) {
      const aWords = left.load8(aSummary, 0), bWords = right.load8(bSummary, 0);
      const x = vector.spread(left.load64(aMask, 0), aWords), y = vector.spread(right.load64(bMask, 0), bWords);
      for (let meet = x & y; meet; meet &= meet - 1) {
        const before = (meet & -meet) - 1;
        let bits = left.load8(aValue + <usize>popcnt(x & before), 0)
          & right.load8(bValue + <usize>popcnt(y & before), 0);
        members += popcnt(bits);
        if (!Kernel.stores<S>()) continue;
        for (const first = low + (<u32>ctz(meet) << 3); bits; bits &= bits - 1) {
          store<u16>(out, first + ctz(bits));
          out += Container.MEMBER_BYTES;
        }
      }
      if (members > most) return Meeting.MANY;
      aMask += <usize>popcnt(aWords);
      bMask += <usize>popcnt(bWords);
      aValue += <usize>popcnt(x);
      bValue += <usize>popcnt(y);
    }
    return members;
  }

  /**
   * Writes left `a` less right `b` to `out` as a sparse bitset, which has no member if all are shared. Returns
   * the number of those, or MANY once they are more than `most`. `out` needs BITSET_BYTES, and so does `work`,
   * which must not overlap it.
   */
  static subtract(a: usize, b: usize, most: u32, out: usize, work: usize): u32 {
    left.copy(out, a, Sparse.bytes<Left>(a));
    let aValue = Sparse.values(out), aMask = Sparse.masks<Own>(out), aSummary = Sparse.summary<Own>(out);
    let bValue = Sparse.values(b), bMask = Sparse.masks<Right>(b), bSummary = Sparse.summary<Right>(b);
    let shared: u32 = 0, any = false;
    for (const end = aSummary + Container.WORDS / 8; aSummary < end; aSummary++, bSummary++) {
      const aWords: u32 = load<u8>(aSummary), bWords = right.load8(bSummary, 0), mask = aMask;
      const x = vector.spread(load<u64>(aMask), aWords), y = vector.spread(right.load64(bMask, 0), bWords);
      for (let meet = x & y; meet; meet &= meet - 1) {
        const before = (meet & -meet) - 1, at = aValue + <usize>popcnt(x & before);
        const own: u32 = load<u8>(at), kept = own & ~right.load8(bValue + <usize>popcnt(y & before), 0);
        store<u8>(at, kept);
        shared += popcnt(own ^ kept);
        if (kept) continue;
        any = true;
        Meeting.forget(mask, aSummary, aWords, <u32>ctz(meet));
      }
      if (shared > most) return Meeting.MANY;
      aMask += <usize>popcnt(aWords);
      bMask += <usize>popcnt(bWords);
      aValue += <usize>popcnt(x);
      bValue += <usize>popcnt(y);
    }
    if (any) Meeting.dropZeros(out, work);
    return shared;
  }

  /**
   * Removes byte `byte` of eight words from the mask of its word, and a word without bytes from the summary.
   * `words` are those of the eight that have masks, at `masks`.
   */
  @inline private static forget(masks: usize, summary: usize, words: u32, byte: u32): void {
    const word = (<u32>1) << (byte >> 3), at = masks + <usize>popcnt(words & (word - 1));
    const kept = <u32>load<u8>(at) & ~((<u32>1) << (byte & 7));
    store<u8>(at, kept);
    if (!kept) store<u8>(summary, <u32>load<u8>(summary) & ~word);
  }

  /** Removes the values and masks that are 0 from the payload at `at`. */
  private static dropZeros(at: usize, work: usize): void {
    const from = Sparse.values(at), masks = Sparse.masks<Own>(at), summary = Sparse.summary<Own>(at);
    const bits = work + 2 * Container.WORDS, kept = bits + 64;
    memory.copy(work, masks, summary - masks);
    memory.copy(kept, summary, Container.WORDS / 8);
    const to = Meeting.gather(from, from, masks - from, bits);
    const end = Meeting.gather(to, work, summary - masks, bits);
    memory.copy(end, kept, Container.WORDS / 8);
    Sparse.setCounts(at, <u32>(to - from), <u32>(end - to));
  }

  /** Moves those of `count` bytes at `from` that are not 0 to `to`; returns the end. Clears what follows. */
  private static gather(to: usize, from: usize, count: usize, bits: usize): usize {
    memory.fill(from + count, 0, Meeting.PART);
    for (const end = from + count; from < end; from += Meeting.PART) to += <usize>bytes.gather(to, from, bits);
    return to;
  }
}
