import { arena } from "../env/memory";
import {
  BLOCK_MAX, HEADER_BYTES, TINY_MAX, addFreedBytes, alignedBump, allocate, allocateFresh, blockBytes, bumpMark, freeLists,
  freeListsAreSound, freeListsBytes, freedBytes, heldAt, holdBack, letGo, makeRoom, release, resetToFull, resize, used, wasteful,
} from "../arena/arena";
import { insert } from "../write/point";
import { Trial, freshArena, nothingBehind } from "./bitmap-arena";
import { growCount } from "./world";

/** Blocks in use, every byte of each marked with a number of its own. */
class Blocks {
  at: usize[] = [];
  bytes: u32[] = [];
  marks: u8[] = [];
  private next: u8 = 1;

  constructor(private trial: Trial) {
    freshArena(40);
    resetToFull();
  }

  private mark(i: i32): void {
    this.next = this.next == 250 ? 1 : this.next + 1;
    this.marks[i] = this.next;
    memory.fill(this.at[i], this.next, blockBytes(this.bytes[i]));
  }

  /** Adds a block that was just allocated. */
  keep(at: usize, bytes: u32): void {
    this.trial.holds(at >= HEADER_BYTES && (at & 7) == 0 && at + blockBytes(bytes) <= bumpMark(), "a block in the used part");
    this.at.push(at);
    this.bytes.push(bytes);
    this.marks.push(0);
    this.mark(this.at.length - 1);
  }

  add(bytes: u32): void { this.keep(allocate(bytes), bytes); }

  drop(i: i32): void {
    this.check(i);
    release(this.at[i], this.bytes[i]);
    const at = this.at.pop(), bytes = this.bytes.pop(), mark = this.marks.pop();
    if (i == this.at.length) return;
    this.at[i] = at;
    this.bytes[i] = bytes;
    this.marks[i] = mark;
  }

  refit(i: i32, bytes: u32): void {
    const from = this.bytes[i], at = resize(this.at[i], from, bytes);
    this.trial.holds(bytes > from || at == this.at[i], "shrinking does not move");
    this.at[i] = at;
    this.bytes[i] = min(from, bytes);
    this.checkBytes(i, min(from, bytes));     // kept
    this.bytes[i] = bytes;
    this.mark(i);
  }

  private checkBytes(i: i32, bytes: usize): void {
    for (let at = this.at[i], end = at + bytes; at < end; at++) {
      if (load<u8>(at) != this.marks[i]) { this.trial.fail("a block's contents changed at " + at.toString()); return; }
    }
  }

  check(i: i32): void { this.checkBytes(i, blockBytes(this.bytes[i])); }

  /** That no block was touched, and blocks, lists and what was freed make up the used part. */
  checkAll(): void {
    let bytes = HEADER_BYTES + freeListsBytes() + freedBytes();
    for (let i = 0; i < this.at.length; i++) { this.check(i); bytes += blockBytes(this.bytes[i]); }
    this.trial.same(bumpMark(), bytes, "bump mark");
    this.trial.holds(bumpMark() <= <usize>arena.size(), "bump mark in the arena");
    this.trial.holds(freeListsAreSound(), "free lists");
    this.trial.holds(nothingBehind(), "nothing behind the arena");
  }
}

/** A size, small ones more often, class borders often. */
function anySize(trial: Trial): u32 {
  const size = 1 + trial.random.below(1 << trial.random.between(3, 13));
  return trial.random.below(3) ? size : <u32>blockBytes(size);
}

describe("size classes", () => {
  it("are 64, ascending, and each size has the least that holds it", () => {
    const trial = new Trial(100);
    let classes = 0, size: usize = 0, smaller: usize = 0;
    for (let bytes: usize = 1; bytes <= BLOCK_MAX; bytes++) {
      const block = blockBytes(bytes);
      if (block != size) { classes++; smaller = size; size = block; }
      trial.holds(block >= bytes && block > smaller && smaller < bytes, "the least class that holds " + bytes.toString());
      trial.holds(block % 8 == 0, "a multiple of 8");
      trial.same(blockBytes(block), block, "a class holds its own size");
      trial.holds((block - bytes) * 8 < bytes + 64, "an eighth is lost at most");
    }
    trial.same(classes, 64, "classes");
    trial.same(size, 8192, "the largest");
    trial.end();
  });
});

describe("blocks", () => {
  it("never overlap, whatever is allocated, freed and resized", () => {
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

  it("come back from the list of their class, the last freed first", () => {
    const trial = new Trial(102), blocks = new Blocks(trial);
    for (let i = 0; i < 12; i++) blocks.add(i % 3 ? 1000 : 24);
    const first = blocks.at[1], second = blocks.at[4];
    makeRoom(400);
    blocks.drop(4);
    trial.holds(freeLists() != 0, "lists from 4096 bytes on");
    blocks.drop(1);
    const bump = bumpMark();
    trial.same(allocate(1001), first, "the last freed of that class");
    trial.same(allocate(1024), second, "then the one before");
    trial.same(bumpMark(), bump, "nothing from above the bump mark");
    trial.holds(allocate(1000) == bump, "then fresh bytes");
    trial.end();
  });

  it("are only counted when freed in a small arena", () => {
    const trial = new Trial(103), blocks = new Blocks(trial);
    for (let i = 0; i < 5; i++) blocks.add(100);
    blocks.drop(2);
    trial.same(freeLists(), 0, "no lists");
    trial.same(freedBytes(), 104, "freed");
    trial.same(allocate(100), HEADER_BYTES + 5 * 104, "a fresh block");
    trial.end();
  });

  it("lower the bump mark when freed at the top", () => {
    const trial = new Trial(104), blocks = new Blocks(trial);
    for (let i = 0; i < 10; i++) blocks.add(1000);
    const top = blocks.at[9];
    blocks.drop(9);
    trial.same(bumpMark(), top, "bump mark");
    trial.same(freedBytes(), 0, "freed");
    blocks.refit(8, 100);
    trial.same(bumpMark(), blocks.at[8] + 104, "bump mark after shrinking");
    blocks.refit(8, 3000);
    trial.same(bumpMark(), blocks.at[8] + 3072, "bump mark after growing in place");
    trial.same(freedBytes(), 0, "freed");
    blocks.checkAll();
    trial.end();
  });

  it("are cut from larger ones before the arena grows", () => {
    const trial = new Trial(105), blocks = new Blocks(trial);
    for (let i = 0; i < 8; i++) blocks.add(2048);
    const hole = blocks.at[3];
    makeRoom(400);
    blocks.drop(3);
    trial.holds(heldAt() - bumpMark() < 512, "no room for a fresh one");
    const grown = growCount(), size = arena.size(), freed = freedBytes();
    blocks.add(500);
    trial.same(blocks.at[blocks.at.length - 1], hole, "the block begins where the larger one did");
    trial.same(freedBytes(), freed - 512, "the rest is free");
    blocks.checkAll();
    for (let i = 0; i < 3; i++) blocks.add(512);
    trial.same(freedBytes(), freed - 2048, "all of it is used");
    trial.same(growCount(), grown, "not grown");
    trial.same(arena.size(), size, "size");
    blocks.checkAll();
    trial.end();
  });

  it("keep their contents when they grow between others", () => {
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

  it("of a bitset lie on a cache line, what is skipped is free", () => {
    const trial = new Trial(107), blocks = new Blocks(trial);
    for (let i: u32 = 0; i < 40; i++) {
      const at = bumpMark(), aligned = alignedBump(), freed = freedBytes(), hadLists = freeLists() != 0;
      trial.holds(aligned >= at && aligned < at + 64 && (aligned + 8) % 64 == 0, "alignedBump");
      blocks.keep(allocateFresh(BLOCK_MAX), <u32>BLOCK_MAX);
      trial.same(blocks.at[blocks.at.length - 1], aligned, "where the bitset lies");
      trial.holds(hadLists || freedBytes() == freed + (aligned - at), "bytes skipped");
      blocks.checkAll();
      blocks.add(8 * (1 + i % 9));
      if (i == 20) blocks.drop(3);            // there are lists from here on
    }
    trial.end();
  });
});

describe("bytes held back", () => {
  it("stay at the end and whole while the arena grows", () => {
    const trial = new Trial(108);
    for (let round: u32 = 0; round < 40; round++) {
      const blocks = new Blocks(trial), bytes: usize = 1 + trial.random.below(round % 2 ? 100 : 30000);
      holdBack(bytes);
      for (let i: usize = 0; i < bytes; i++) store<u8>(heldAt() + i, <u8>(i * 7 + round));
      for (let i = 0; i < 60; i++) {
        blocks.add(anySize(trial));
        trial.holds(heldAt() + bytes == <usize>arena.size(), "at the end");
        trial.holds(bumpMark() <= heldAt(), "out of reach");
      }
      for (let i: usize = 0; i < bytes; i++) trial.holds(load<u8>(heldAt() + i) == <u8>(i * 7 + round), "whole");
      letGo();
      trial.same(heldAt(), arena.size(), "let go");
      blocks.checkAll();
    }
    trial.end();
  });
});

describe("an arena", () => {
  it("ends at 4 GiB", () => {
    expect(() => {
      freshArena(40);
      resetToFull();
      makeRoom(<usize>0xffffffff - HEADER_BYTES + 1);
    }).toThrow("2^32 bytes do not fit");
    expect(() => {
      freshArena(40);
      resetToFull();
      holdBack(4096);
      makeRoom(<usize>0xffffffff - HEADER_BYTES);
    }).toThrow("they do not with bytes held back");
  });

  it("tells how much of it is in use", () => {
    const trial = new Trial(109);
    trial.same(used(), 16, "empty");
    for (let count: u32 = 1; count <= TINY_MAX; count++) {
      insert(<u64>count * 5);
      trial.same(used(), count < 3 ? 16 : 16 + 2 * count, "tiny");
    }
    insert(1000);
    trial.same(used(), bumpMark(), "full");
    trial.holds(used() > 80, "a full one is larger");
    trial.end();
  });

  it("is wasteful when a quarter of it is freed, unless that is little", () => {
    const trial = new Trial(110);
    trial.same(wasteful(), 0, "empty");
    const blocks = new Blocks(trial);
    trial.same(wasteful(), 0, "without blocks");
    for (let i = 0; i < 3; i++) blocks.add(80);               // 280 bytes in use: a quarter and 64 are 134
    addFreedBytes(134);
    trial.same(wasteful(), 0, "a quarter and 64");
    addFreedBytes(1);
    trial.same(wasteful(), 1, "more");
    trial.end();
  });
});
