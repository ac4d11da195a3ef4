// The forms of an arena (arena/layout/header.ts has their layouts): when and how a tiny one becomes a full
// one, when a full one should become a tiny one, and how much memory either may give back.
//
//   from                 by                  to                     when
//   tiny, short bitset   promoteContainer()  full, ordinary leaf    it gets another container, or more words
//   tiny, packed leaf    promoteToLeaves()   full, ordinary leaves  a container needs an entry of its own
//   tiny, packed leaf    promotePacked()     full, pages or leaves  it gets more than ITEMS_MAX members
//   full                 packFull()          tiny, packed leaf      that is smaller
//
// The way back goes through a copy (combine/rebuild/rewrite.ts), which the host makes if wasteful() says so
// after a write. It is taken only where it saves much: a bitmap whose size goes up and down would otherwise
// change its form with every write.

import { SELF, arena, left } from "../../env/memory";
import { Own } from "../../env/view";
import { Arena, Header, TINY_PAYLOAD } from "../layout/header";
import { Allocator, Block } from "../layout/blocks";
import { Directory, Place } from "../read/directory";
import { Entry, Offset } from "../layout/entry";
import { blocksOf, layLeaf, layPage } from "./convertleaf";
import { Node } from "../layout/node";
import { PageGroups } from "../packed/groups";
import { Page } from "../packed/layout";
import { PageWriter } from "../packed/begin";
import { bytesWith, insertMember, leaveOne, removeMembers, tightBytesWith, tighten } from "../packed/change";
import { PageMembers } from "../packed/members";
import { Bitset } from "../../container/bitset";
import { toArray } from "../../container/convert";
import { Choice, Kind } from "../../container/kind";
import { Container } from "../../container/limits";
import { ShortBitset } from "../../container/short";

/** Which form an arena has, and when it changes. */
export abstract class Forms {
  /** Most words of a tiny arena's short bitset: with them, the arena takes 256 bytes. */
  @inline static readonly TINY_WORDS: u32 = 30;
  /**
   * The form of ordinary leaves is chosen when it takes less than 7 / 8 of the other: it leaves free blocks
   * behind as it grows.
   */
  @inline static readonly LEAVES_OVER: usize = 8;
  @inline static readonly LEAVES_BELOW: usize = 7;
  /** Arenas below this have fewer freed blocks: they are soon rewritten. */
  @inline private static readonly LARGE_ARENA: usize = 1 << 20;
  /**
   * A full arena of at most TINY_ALWAYS members becomes a tiny one as soon as that takes 7 / 8 of its bytes;
   * one of more, up to TINY_MOST, when that takes half of them.
   */
  @inline private static readonly TINY_ALWAYS: u64 = 64;
  @inline private static readonly TINY_MOST: u64 = 511;
  /** A full arena keeps this many unused bytes, and a quarter of those it uses. */
  @inline static readonly SPARE_BYTES: u64 = 256;

  @inline static writeTinyShort(key: u64, members: u32, header: u32): void {
    store<u32>(0, Header.TINY | (1 << 16));
    changetype<Entry>(Entry.TINY).setKey(key);
    changetype<Entry>(Entry.TINY).setTinyShort(members, header);
  }

  /** The number of ordinary leaves for `entries` entries. */
  @inline static leavesFor(entries: u32): u32 { return (entries + Node.LEAF_MAX - 1) / Node.LEAF_MAX; }

  /** Bytes of a full arena of ordinary leaves that holds what the tiny arena, a packed leaf, does. */
  static promotedBytes(): usize {
    const count = changetype<Page>(0).count<Own>(),
      entries = PageGroups.between<Own>(changetype<Page>(0), 0, count), parts = Forms.leavesFor(entries);
    return Header.BYTES + (parts > 1 ? Node.block(1, parts) : 0)
      + <usize>parts * Node.block(0, (entries + parts - 1) / parts) + blocksOf(changetype<Page>(0), 0, count);
  }

  /** How many pages of up to `most` members the tiny arena's `count` members take. */
  static pagesFor(most: u32, count: u32): u32 {
    let pages: u32 = 0;
    for (let from: u32 = 0; from < count;
      from = Forms.pageEnd(changetype<Page>(0), from, most, count)) pages++;
    return pages;
  }

  /**
   * One past the last of `count` members of the packed leaf that go to the page that begins with member `from`:
   * up to `most`, which is more than a group has.
   */
  static pageEnd(image: Page, from: u32, most: u32, count: u32): u32 {
    return from + most < count ? PageGroups.start<Own>(image, from + most) : count;
  }

  /**
   * The most bytes in freed blocks: an eighth of the arena, or a quarter of a large one. The bytes
   * skipped to align the first page stay free.
   */
  @inline static freedMost(): usize {
    const mark = Header.bump();
    return (Header.isPaged() ? freedWithPages(mark) : Forms.freedPart(mark)) + 64;
  }

  @inline static freedPart(mark: usize): usize { return mark < Forms.LARGE_ARENA ? mark >> 3 : mark >> 2; }

  /** Whether a full arena should become a tiny one. */
  @inline static becomesTiny(): bool {
    const members = Header.cardinality<Own>();
    if (members - 1 >= Forms.TINY_MOST) return false;  // 0 members are 2^64
    const bytes = Forms.packedBytesOfFull();
    const enough: usize = members > Forms.TINY_ALWAYS ? bytes * 2
      : bytes * Forms.LEAVES_OVER / Forms.LEAVES_BELOW;
    return enough <= Header.bump();
  }

  /** Bytes of the tiny arena that holds what the full one does, which has ITEMS_MAX members at most. */
  private static packedBytesOfFull(): usize {
    const first = Directory.first(), last = Directory.last<Own>(), members = <u32>Header.cardinality<Own>();
    if (first == last && first.kind<Own>() == Kind.SHORT) {
      const words = ShortBitset.wordCount<Own>(first.payload<Own>());
      if (words <= Forms.TINY_WORDS) return TINY_PAYLOAD + (<usize>words << 3);
    }
    return PageWriter.tightBytes(first.key<Own>(), last.key<Own>(), members);
  }
}

// --- Tiny: a short bitset ----------------------------------------------------------------------------------

/**
 * Makes the arena a tiny one of a short bitset that a builder has written, if that can hold it and a packed
 * leaf is not smaller.
 */
export function beginTinyShort(key: u64, members: u32, payload: usize): bool {
  const header = load<u32>(payload), words = ShortBitset.wordsOf(header);
  if (words > Forms.TINY_WORDS) return false;
  if (PageWriter.tightBytes(key, key, members) < TINY_PAYLOAD + (<usize>words << 3)) return false;
  memory.copy(TINY_PAYLOAD, payload + Container.SHORT_HEADER_BYTES, <usize>words << 3);
  Forms.writeTinyShort(key, members, header);
  return true;
}

/** Turns a tiny arena that is empty or a short bitset into a full one that holds the same set. */
export function promoteContainer(): void {
  const held = changetype<Node>(0).count<Own>(),
    count = held ? changetype<Entry>(Entry.TINY).count<Own>() : 0;
  const key = changetype<Entry>(Entry.TINY).plainKey<Own>(),
    header = load<u32>(Entry.TINY, 8) & ShortBitset.HEADER;
  const bytes = held ? Container.shortBytes(ShortBitset.wordsOf(header)) : 0;
  const root = changetype<Node>(Header.BYTES), payload = changetype<usize>(root) + Node.block(0, held);
  const top = payload + (bytes ? Block.bytes(bytes) : 0);
  Arena.reserve(top);
  if (held) {
    memory.copy(payload + Container.SHORT_HEADER_BYTES, TINY_PAYLOAD, bytes - Container.SHORT_HEADER_BYTES);
    store<u32>(payload, header);
  }
  memory.fill(0, 0, Header.BYTES);
  store<u8>(0, <u8>Header.FULL);
  store<u32>(0, <u32>changetype<usize>(root), Header.ROOT);
  Header.setBump(top);
  Header.setEntries(held);
  Header.setCardinality(count);
  root.write(0, held);
  if (!held) return;
  root.entryAt(0).setKey(key);
  root.entryAt(0).setBlock(Kind.SHORT, count, payload);
}

/**
 * Whether a tiny arena that is a packed leaf of one container, that of `key`, becomes a short bitset when it
 * gets the member `low`. If so, makes it one, which has the word of `low`.
 */
export function becameShort(key: u64, low: u32): bool {
  const count = changetype<Page>(0).count<Own>();
  if (count < Choice.MEMBERS_A_WORD || count & (Choice.MEMBERS_A_WORD - 1)) return false;
  if (changetype<Page>(0).keyAt<Own>(0) != changetype<Page>(0).keyAt<Own>(count - 1)) return false;
  const lows = changetype<Page>(0).lowsFrom<Own>(0), end = lows + Container.arrayBytes(count);
  const least = min(low, <u32>load<u16>(lows)),
    greatest = max(low, <u32>load<u16>(end - Container.MEMBER_BYTES));
  const words = Choice.wordsBetween(least, greatest);
  if (words > Forms.TINY_WORDS || !Choice.prefersShort(count + 1, words)) return false;
  const wordsEnd = TINY_PAYLOAD + (<usize>words << 3);
  Arena.reserve(wordsEnd);
  spread(lows, end, wordsEnd, least >> 6);
  Forms.writeTinyShort(key, count, ShortBitset.header(least >> 6, words));
  return true;
}

/**
 * Makes the array at [from, end) words, the first of which is word `first`, from TINY_PAYLOAD to before
 * `wordsEnd`. The two may overlap: each call reads four members before any word is written.
 */
function spread(from: usize, end: usize, wordsEnd: usize, first: u32): void {
  const to = TINY_PAYLOAD - (<usize>first << 3);
  let four = load<u64>(from);
  if (from + 8 < end) spread(from + 8, end, wordsEnd, first);
  else memory.fill(TINY_PAYLOAD, 0, wordsEnd - TINY_PAYLOAD);
  for (let i = 0; i < 4; i++, four >>= 16) Bitset.set(to, <u32>four & 0xffff);
}

/** Turns a tiny arena that is a short bitset into a packed leaf. */
export function packShort(): void {
  const key = changetype<Entry>(Entry.TINY).plainKey<Own>(),
    count = changetype<Entry>(Entry.TINY).count<Own>();
  const payload = changetype<Entry>(Entry.TINY).payload<Own>(), words = ShortBitset.wordCount<Own>(payload);
  const low = ShortBitset.low<Own>(payload);
  const bytes = PageWriter.tightBytes(key, key, count), end = TINY_PAYLOAD + (<usize>words << 3);
  Arena.reserve(bytes);
  PageWriter.beginTight(changetype<Page>(0), key, key, count);                // leaves the words as they are
  gather(TINY_PAYLOAD, end, low, changetype<Page>(0).lowsFrom<Own>(0));
  PageWriter.putKeys(changetype<Page>(0), 0, count, key);
}

/**
 * Makes the words from `word` to before `end` an array at `out`, which may overlap them:
 * each call reads a word before any is written.
 */
function gather(word: usize, end: usize, value: u32, out: usize): void {
  let bits = load<u64>(word);
  if (word + 8 < end) gather(word + 8, end, value + 64, out + Container.arrayBytes(<u32>popcnt(bits)));
  for (; bits; bits &= bits - 1, out += Container.MEMBER_BYTES) store<u16>(out, value + <u32>ctz(bits));
}

// --- Tiny: a packed leaf -----------------------------------------------------------------------------------

/**
 * Inserts an absent offset in a tiny arena that is a packed leaf, or empty.
 * Returns false if it is full, or if ordinary leaves would be clearly smaller.
 */
export function insertInTiny(offset: u64): bool {
  if (!changetype<Page>(0).isPacked<Own>()) {
    leaveOne(changetype<Page>(0), offset);
    return true;
  }
  const key = Offset.key(offset);
  if (changetype<Page>(0).count<Own>() == Page.ITEMS_MAX) return false;
  let bytes = bytesWith(changetype<Page>(0), key);
  if (bytes > <usize>arena.size()) {
    const tight = tightBytesWith(key);
    if (Forms.promotedBytes() * Forms.LEAVES_OVER / Forms.LEAVES_BELOW < min(tight, bytes)) return false;
    if (tight < bytes) {
      Arena.reserve(tight);
      tighten(key);
      bytes = tight;
    }
    Arena.reserve(bytes);
  }
  insertMember(changetype<Page>(0), PageMembers.below<Own>(changetype<Page>(0), offset), offset);
  return true;
}

/** Removes the offsets in [low, high] from a tiny arena that is packed. */
export function clearTiny(low: u64, high: u64): void {
  const from = PageMembers.below<Own>(changetype<Page>(0), low), all = changetype<Page>(0).count<Own>();
  const to = high == u64.MAX_VALUE ? all : PageMembers.below<Own>(changetype<Page>(0), high + 1);
  if (to == from) return;
  if (to - from == all) Arena.resetToEmpty(); else removeMembers(changetype<Page>(0), from, to);
}

/** Turns a tiny arena that is packed into a full one, in whose pages there is room for small groups. */
export function promotePacked(): void {
  const count = changetype<Page>(0).count<Own>(),
    most = PageWriter.pageMembers(changetype<Page>(0).keyAt<Own>(0),
      changetype<Page>(0).keyAt<Own>(count - 1)) / 16 * 15;
  const pages = isOfSmallGroups() ? Forms.pagesFor(most, count) : 0;
  if (!pages || Forms.promotedBytes() < Page.START + <usize>pages * Page.BYTES) promoteToLeaves();
  else promoteToPages(pages, most);
}

/** Whether no group of the tiny arena is larger than one in a page. */
function isOfSmallGroups(): bool {
  for (let i: u32 = 0, next: u32 = 0, count = changetype<Page>(0).count<Own>(); i < count; i = next) {
    next = PageGroups.end<Own>(changetype<Page>(0), i);
    if (next - i > PageGroups.MAX) return false;
  }
  return true;
}

/** Turns a tiny arena that is packed into a full one of ordinary leaves. */
export function promoteToLeaves(): void {
  const count = changetype<Page>(0).count<Own>(),
    entries = PageGroups.between<Own>(changetype<Page>(0), 0, count), parts = Forms.leavesFor(entries);
  const image = changetype<Page>(promotedImage(Forms.promotedBytes())),
    root = changetype<Node>(promotedRoot(parts, Node.bytes(1, parts)));
  for (let part: u32 = 0, from: u32 = 0; part < parts; part++) {
    const held = entries * (part + 1) / parts - entries * part / parts,
      to = PageGroups.past(image, from, held);
    const leaf = changetype<Node>(
      layLeaf(image, from, to, changetype<Node>(Allocator.allocateFresh(Node.block(0, held)))));
    placePart(root, part, image.keyAt<Own>(from), leaf, to - from);
    from = to;
  }
  Header.setEntries(entries);
  Header.setCardinality(count);
}

/** Turns a tiny arena that is packed into a full one of `parts` pages of up to `most` members. */
function promoteToPages(parts: u32, most: u32): void {
  const count = changetype<Page>(0).count<Own>(),
    entries = PageGroups.between<Own>(changetype<Page>(0), 0, count);
  const image = changetype<Page>(promotedImage(Page.START + <usize>parts * Page.BYTES));
  const root = changetype<Node>(promotedRoot(parts, Node.ROOMY_INNER));
  if (root) root.setRoomy(true);
  for (let part: u32 = 0, from: u32 = 0; part < parts; part++) {
    const to = Forms.pageEnd(image, from, most, count);
    const page = changetype<Node>(layPage(image, from, to, changetype<Node>(Allocator.allocatePage())));
    placePart(root, part, image.keyAt<Own>(from), page, to - from);
    from = to;
  }
  Header.setEntries(entries);
  Header.setCardinality(count);
}

/**
 * Copies the packed leaf of a tiny arena behind the `bytes` bytes that a full arena with its members takes,
 * and makes memory 0 a full arena. Returns the copy's address.
 */
function promotedImage(bytes: usize): usize {
  const held = changetype<Page>(0).bytes<Own>();
  Arena.reserve(bytes + held);
  memory.copy(bytes, 0, held);
  Arena.resetToFull();
  return bytes;
}

/** The node above `parts` leaves, with a block for `bytes` bytes; 0 if a single leaf is the root. */
function promotedRoot(parts: u32, bytes: usize): usize {
  if (parts == 1) return 0;
  const root = changetype<Node>(Allocator.allocateFresh(Block.bytes(bytes)));
  root.write(1, parts);
  store<u32>(Header.ROOT, <u32>changetype<usize>(root));
  return changetype<usize>(root);
}

/** Makes the leaf, which begins with `key`, child `part` of the root; without a root, the root itself. */
function placePart(root: Node, part: u32, key: u64, leaf: Node, members: u32): void {
  if (root) root.slotAt(part).write(key, changetype<usize>(leaf), members);
  else store<u32>(Header.ROOT, <u32>changetype<usize>(leaf));
}

// --- Giving memory back ------------------------------------------------------------------------------------

/**
 * 1 if the host should rewrite the arena:
 * too much of it, and more than a few small blocks, is free, or the tiny form would do.
 */
export function wasteful(): u32 {
  return u32(!Header.isTiny<Own>() && (Header.freed() > Forms.freedMost() || Forms.becomesTiny()));
}

/** The most bytes in freed blocks of an arena with pages that has this bump mark. */
export function freedWithPages(mark: usize): usize { return Forms.freedPart(mark) + Page.BYTES; }

/**
 * Makes a full arena of ITEMS_MAX members at most, whatever their containers, a tiny one if that takes less.
 */
export function packFull(): void {
  const count = <u32>Header.cardinality<Own>(), first = Directory.first().key<Own>();
  const last = Directory.last<Own>().key<Own>(), bytes = PageWriter.tightBytes(first, last, count);
  if (bytes >= Header.bump()) return;
  Arena.makeRoom(bytes);
  const image = changetype<Page>(Header.bump());
  PageWriter.beginTight(image, first, last, count);
  left.select(SELF);
  let member: u32 = 0;
  for (let place = Directory.seek<Own>(0); place; place = Place.next<Own>(place)) {
    const entry = Place.entry(place), held = entry.count<Own>();
    toArray(entry.kind<Own>(), entry.payload<Own>(), held, image.lowsFrom<Own>(member));
    PageWriter.putKeys(image, member, member + held, entry.key<Own>());
    member += held;
  }
  memory.copy(0, changetype<usize>(image), bytes);
}

/**
 * The bytes that memory 0 should be cut to after it has grown, with working space, or members were removed; 0
 * if it should stay. What is cut off is as much as the change has left, or a fifth of memory 0 and more.
 */
export function shrunkBytes(): u32 {
  const bytes: u64 = used(),
    most = Header.isTiny<Own>() ? 2 * bytes - 1 : bytes + (bytes >> 2) + Forms.SPARE_BYTES;
  return most < arena.size() ? <u32>bytes : 0;
}

/** Bytes in use; the rest of memory 0 may be given back. */
export function used(): u32 {
  if (!Header.isTiny<Own>()) return <u32>Header.bump();
  if (changetype<Page>(0).isPacked<Own>()) return <u32>max(changetype<Page>(0).bytes<Own>(), TINY_PAYLOAD);
  if (!changetype<Node>(0).count<Own>()) return <u32>TINY_PAYLOAD;
  return <u32>(changetype<Entry>(Entry.TINY).payload<Own>()
    + changetype<Entry>(Entry.TINY).payloadBytes<Own>());
}
