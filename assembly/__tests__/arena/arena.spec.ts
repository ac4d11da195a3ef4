import { arena } from "../../env/memory";
import { Allocator, Block } from "../../arena/layout/blocks";
import { Arena, Header } from "../../arena/layout/header";
import { adjust, insertEntry } from "../../arena/change/insert";
import { Page } from "../../arena/packed/layout";
import { promoteContainer, used, wasteful } from "../../arena/change/forms";
import { insert } from "../../write/point";
import { Trial, freshArena, nothingBehind } from "../support/bitmap-arena";
import { growCount, succeeds } from "../world/world";

/**
 * The blocks in use. Every byte of a block holds the block's mark,
 * a number that is different from block to block.
 */
class Blocks {
  at: usize[] = [];
  bytes: u32[] = [];
  marks: u8[] = [];
  private next: u8 = 1;

  constructor(private trial: Trial) {
    freshArena(40);
    Arena.resetToFull();
  }

  private mark(i: i32): void {
    this.next = this.next == 250 ? 1 : this.next + 1;
    this.marks[i] = this.next;
    memory.fill(this.at[i], this.next, Block.bytes(this.bytes[i]));
  }

  /** Adds a block that was just allocated. */
  keep(at: usize, bytes: u32): void {
    this.trial.holds(
      at >= Header.BYTES && at + Block.bytes(bytes) <= Header.bump(),
      "an allocated block lies in the used part",
    );
    this.trial.same(at & 7, 0, "address of a block modulo 8");
    this.at.push(at);
    this.bytes.push(bytes);
    this.marks.push(0);
    this.mark(this.at.length - 1);
  }

  add(bytes: u32): void { this.keep(Allocator.allocate(bytes), bytes); }

  drop(i: i32): void {
    this.check(i);
    Allocator.release(this.at[i], this.bytes[i]);
    const at = this.at.pop(), bytes = this.bytes.pop(), mark = this.marks.pop();
    if (i == this.at.length) return;
    this.at[i] = at;
    this.bytes[i] = bytes;
    this.marks[i] = mark;
  }

  refit(i: i32, bytes: u32): void {
    const from = this.bytes[i], at = Allocator.resize(this.at[i], from, bytes);
    this.trial.holds(bytes > from || at == this.at[i], "shrinking does not move a block");
    this.at[i] = at;
    this.bytes[i] = min(from, bytes);
    this.checkBytes(i, min(from, bytes));
    this.bytes[i] = bytes;
    this.mark(i);
  }

  private checkBytes(i: i32, bytes: usize): void {
    for (let at = this.at[i], end = at + bytes; at < end; at++) {
      if (load<u8>(at) != this.marks[i]) {
        this.trial.fail("a block's contents changed at " + at.toString());
        return;
      }
    }
  }

  check(i: i32): void { this.checkBytes(i, Block.bytes(this.bytes[i])); }

  /**
   * Checks that all blocks are intact, and that header,
   * blocks, free lists and freed bytes add up to the used part.
   */
  checkAll(): void {
    let bytes = Header.BYTES + Allocator.freeListsBytes() + Header.freed();
    for (let i = 0; i < this.at.length; i++) { this.check(i); bytes += Block.bytes(this.bytes[i]); }
    this.trial.same(Header.bump(), bytes, "bump mark");
    this.trial.holds(Header.bump() <= <usize>arena.size(), "the bump mark lies in the arena");
    this.trial.holds(Allocator.freeListsAreSound(), "the free lists are sound");
    this.trial.holds(nothingBehind(), "nothing was written behind the arena");
  }
}

/** A random size, more often small than large; a third are the size of a class. */
function anySize(trial: Trial): u32 {
  const size = 1 + trial.random.below(1 << trial.random.between(3, 13));
  return trial.random.below(3) ? size : <u32>Block.bytes(size);
}

describe("size classes", () => {
  it("are 64, and Block.bytes() picks the smallest one that holds a size", () => {
    const trial = new Trial(100);
    let classes = 0, size: usize = 0, smaller: usize = 0;
    for (let bytes: usize = 1; bytes <= Block.MAX; bytes++) {
      const block = Block.bytes(bytes);
      if (block != size) { classes++; smaller = size; size = block; }
      trial.holds(
        block >= bytes && block > smaller && smaller < bytes,
        "blockBytes() is the smallest class for " + bytes.toString(),
      );
      trial.holds(block % 8 == 0, "a class is a multiple of 8");
      trial.same(Block.bytes(block), block, "block for a class's own size");
      trial.holds((block - bytes) * 8 < bytes + 64, "a class wastes no more than about an eighth");
    }
    trial.same(classes, 64, "number of classes");
    trial.same(size, 8192, "largest class");
    trial.end();
  });
});

describe("blocks", () => {
  it("never overlap under random allocations, releases and resizes", () => {
    const trial = new Trial(101);
    for (let round = 0; round < 6; round++) {
      const blocks = new Blocks(trial), most: u32 = 20 << round;
      for (let i: u32 = 0; i < 4000; i++) {
        trial.steps++;
        const action = trial.random.below(8), held = <u32>blocks.at.length;
        if (!held || (action < 3 && held < most)) blocks.add(anySize(trial));
        else if (action < 6) blocks.drop(trial.random.below(held));
        else blocks.refit(trial.random.below(held), anySize(trial));
        if (i % 100 == 0) blocks.checkAll();
      }
      while (blocks.at.length) blocks.drop(trial.random.below(blocks.at.length));
      blocks.checkAll();
    }
    trial.end();
  });

  it("are reused from their class's free list, last freed first", () => {
    const trial = new Trial(102), blocks = new Blocks(trial);
    for (let i = 0; i < 12; i++) blocks.add(i % 3 ? 1000 : 24);
    const first = blocks.at[1], second = blocks.at[4];
    Arena.makeRoom(400);
    blocks.drop(4);
    trial.holds(Allocator.freeListsBytes() != 0, "an arena of 4096 bytes keeps free lists");
    blocks.drop(1);
    const bump = Header.bump();
    trial.same(Allocator.allocate(1001), first, "first allocation: the block freed last");
    trial.same(Allocator.allocate(1024), second, "second allocation: the block freed before it");
    trial.same(Header.bump(), bump, "bump mark after two allocations");
    trial.holds(Allocator.allocate(1000) == bump, "the third allocation takes the block above the bump mark");
    trial.end();
  });

  it("of a small arena are counted when they are freed, but not reused", () => {
    const trial = new Trial(103), blocks = new Blocks(trial);
    for (let i = 0; i < 5; i++) blocks.add(100);
    blocks.drop(2);
    trial.same(Allocator.freeListsBytes(), 0, "address of free lists");
    trial.same(Header.freed(), 104, "freed bytes");
    trial.same(Allocator.allocate(100), Header.BYTES + 5 * 104, "address of the next block");
    trial.end();
  });

  it("at the top lower the bump mark when they are freed or shrunk", () => {
    const trial = new Trial(104), blocks = new Blocks(trial);
    for (let i = 0; i < 10; i++) blocks.add(1000);
    const top = blocks.at[9];
    blocks.drop(9);
    trial.same(Header.bump(), top, "bump mark after releasing");
    trial.same(Header.freed(), 0, "freed bytes");
    blocks.refit(8, 100);
    trial.same(Header.bump(), blocks.at[8] + 104, "bump mark after shrinking");
    blocks.refit(8, 3000);
    trial.same(Header.bump(), blocks.at[8] + 3072, "bump mark after growing in place");
    trial.same(Header.freed(), 0, "freed bytes");
    blocks.checkAll();
    trial.end();
  });

  it("are cut from larger free blocks before the arena grows", () => {
    const trial = new Trial(105), blocks = new Blocks(trial);
    for (let i = 0; i < 8; i++) blocks.add(2048);
    const hole = blocks.at[3];
    Arena.makeRoom(400);
    blocks.drop(3);
    trial.holds(Arena.heldAt() - Header.bump() < 512, "a new block does not fit above the bump mark");
    const grown = growCount(), size = arena.size(), freed = Header.freed();
    blocks.add(500);
    trial.same(blocks.at[blocks.at.length - 1], hole, "address of the block, compared with the larger one");
    trial.same(Header.freed(), freed - 512, "freed bytes after one block");
    blocks.checkAll();
    for (let i = 0; i < 3; i++) blocks.add(512);
    trial.same(Header.freed(), freed - 2048, "freed bytes after four blocks");
    trial.same(growCount(), grown, "number of times the arena grew");
    trial.same(arena.size(), size, "size of the arena");
    blocks.checkAll();
    trial.end();
  });

  it("between other blocks keep their contents when they grow", () => {
    const trial = new Trial(106), blocks = new Blocks(trial);
    for (let i = 0; i < 20; i++) blocks.add(10);
    for (let bytes: u32 = 11; bytes <= 8192; bytes += 1 + bytes / 9) {
      trial.steps = bytes;
      blocks.refit(7, bytes);
      if (bytes > 8000) blocks.refit(7, 8192);
      blocks.checkAll();
    }
    trial.end();
  });

  it("of a bitset start on a cache line, and the bytes skipped for that are free", () => {
    const trial = new Trial(107), blocks = new Blocks(trial);
    for (let i: u32 = 0; i < 40; i++) {
      const at = Header.bump(), aligned = Allocator.alignedBump(), freed = Header.freed(),
        hadLists = Allocator.freeListsBytes() != 0;
      trial.holds(
        aligned >= at && aligned < at + 64 && (aligned + 8) % 64 == 0,
        "alignedBump() is the next start of a cache line",
      );
      blocks.keep(Allocator.allocateFresh(Block.MAX), <u32>Block.MAX);
      trial.same(blocks.at[blocks.at.length - 1], aligned, "address of the bitset");
      trial.holds(hadLists || Header.freed() == freed + (aligned - at), "skipped bytes are counted as freed");
      blocks.checkAll();
      blocks.add(8 * (1 + i % 9));
      if (i == 20) blocks.drop(3);            // from here on there are free lists
    }
    trial.end();
  });
});

describe("holding back bytes", () => {
  it("keeps them intact at the end of the arena while it grows", () => {
    const trial = new Trial(108);
    for (let round: u32 = 0; round < 40; round++) {
      const blocks = new Blocks(trial), bytes: usize = 1 + trial.random.below(round % 2 ? 100 : 30000);
      Arena.holdBack(bytes);
      for (let i: usize = 0; i < bytes; i++) store<u8>(Arena.heldAt() + i, <u8>(i * 7 + round));
      for (let i = 0; i < 60; i++) {
        blocks.add(anySize(trial));
        trial.holds(Arena.heldAt() + bytes == <usize>arena.size(), "the bytes held back are at the end");
        trial.holds(Header.bump() <= Arena.heldAt(), "no block reaches the bytes held back");
      }
      for (let i: usize = 0; i < bytes; i++) {
        trial.holds(load<u8>(Arena.heldAt() + i) == <u8>(i * 7 + round), "the bytes held back are intact");
      }
      Header.release();
      trial.same(Arena.heldAt(), arena.size(), "start of the bytes held back after letting go");
      blocks.checkAll();
    }
    trial.end();
  });
});

describe("an arena", () => {
  it("cannot reach 4 GiB", () => {
    expect(succeeds(() => {
      freshArena(40);
      Arena.resetToFull();
      Arena.makeRoom(<usize>0xffffffff - Header.BYTES + 1);
    })).toBe(false, "room up to 2^32 bytes");
    expect(succeeds(() => {
      freshArena(40);
      Arena.resetToFull();
      Arena.holdBack(4096);
      Arena.makeRoom(<usize>0xffffffff - Header.BYTES);
    })).toBe(false, "room up to 2^32 bytes and bytes held back");
  });

  it("counts its bytes in use: to the end of its leaf or short bitset when tiny, then to the bump mark",
    () => {
      const trial = new Trial(109);
      trial.same(used(), 16, "used by the empty bitmap");
      for (let count: u32 = 1; count <= 32; count++) {
        insert(<u64>count * 2000);
        trial.same(used(), max<u32>(16, 4 + 2 * count), "used by a tiny arena of one container, the first");
      }
      freshArena(32);
      for (let count: u32 = 1; count <= Page.ITEMS_MAX; count++) {
        insert(<u64>count << 20);
        // Lows and highs of two bytes, and a base if that is less than a byte more for each high.
        if (count > 20) trial.holds(used() <= 12 + 4 * count, "a tiny arena of many containers uses no more");
      }
      insert(<u64>(Page.ITEMS_MAX + 1) << 20);
      trial.same(used(), Header.bump(), "used by a full arena");
      freshArena(32);
      for (let offset: u64 = 0; offset < 1920; offset += 3) {
        insert(offset);
        const count = offset / 3 + 1, words = offset / 64 + 1;
        if (count > 4) {
          trial.same(used(), 16 + 8 * words,
            "used by a tiny arena with a short bitset of " + count.toString());
        }
      }
      insert(1920);
      trial.same(used(), Header.bump(), "used by a full arena with a short bitset");
      trial.end();
    });

  it("is wasteful when more than an eighth of it and 64 bytes are freed", () => {
    const trial = new Trial(110);
    trial.same(wasteful(), 0, "empty bitmap");
    const blocks = new Blocks(trial);
    Header.setEntries(2);                         // of more members than a full arena becomes a tiny one with
    Header.setCardinality(512);
    trial.same(wasteful(), 0, "no blocks");
    blocks.add(96);
    blocks.add(8);
    blocks.add(8);
    blocks.add(128);
    // 288 bytes are in use then, with the header: an eighth of that and 64 is 100.
    blocks.add(8);
    blocks.drop(0);
    trial.same(Header.freed(), 96, "freed by then");
    trial.same(wasteful(), 0, "96 bytes freed");
    blocks.drop(1);
    trial.same(Header.freed(), 104, "freed in the end");
    trial.same(wasteful(), 1, "104 bytes freed");
    trial.end();
  });

  it("is wasteful when it holds so few lone members that the tiny form takes less than half", () => {
    const trial = new Trial(111);
    const few: u32[] = [1, 2, 9, 32, 65, 200], more: u32[] = [512, 1000];
    for (let i = 0; i < few.length + more.length; i++) {
      const members = i < few.length ? few[i] : more[i - few.length];
      Arena.resetToEmpty();
      promoteContainer();
      for (let key: u32 = 0; key < members; key++) {
        insertEntry(key).setSingle(key);
        adjust(key, 1);
      }
      trial.same(wasteful(), u32(i < few.length), members.toString() + " lone members");
    }
    trial.end();
  });
});
