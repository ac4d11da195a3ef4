// Where to cut the keys of several bitmaps into parts that take about equally long to walk through. The cost
// of a leaf is estimated from its numbers of entries and members, so entries are not read. The walk through
// the leaves takes a sample every so often: the key that it is at. Between any two cuts there are equally many
// samples.
//
// Memory 0 meanwhile:
//
//   +0   u64 cost since the last sample
//   +8   u32 samples
//   +16  samples in ascending order, u64 each

import { Side, reply, right, segments, work } from "../../env/memory";
import { Right } from "../../env/view";
import { Arena } from "../../arena/layout/header";
import { Directory } from "../../arena/read/directory";
import { Node, Slot } from "../../arena/layout/node";
import { BITSET_BYTES, Container } from "../../container/limits";

/** Takes samples of keys, some of which become cuts. */
abstract class Cuts {
  /** The cost of a container apart from its payload, in bytes of a bitset. */
  @inline private static readonly CONTAINER_COST: u64 = 1024;
  /** Samples for each part. With more, parts would be more alike. */
  @inline static readonly SAMPLES: u32 = 8;
  @inline static readonly SINCE: usize = 0;
  @inline static readonly COUNT: usize = 8;
  @inline static readonly HEADER: usize = 16;
  @inline static readonly SAMPLE_BYTES: usize = 8;

  @inline static sampleAt(index: u32): usize { return Cuts.HEADER + <usize>index * Cuts.SAMPLE_BYTES; }

  /** The cost of all leaves below the node, which have that many members. */
  static costBelow(node: Node, members: u64): u64 {
    if (!node.level<Right>()) return Cuts.costOf(node, members);
    let cost: u64 = 0;
    for (let i: u32 = 0, count = node.count<Right>(); i < count; i++) {
      const slot = node.slotAt(i);
      cost += Cuts.costBelow(changetype<Node>(Cuts.childOf(node, slot)), slot.cardinality<Right>());
    }
    return cost;
  }

  @inline private static childOf(node: Node, slot: Slot): usize {
    const child = slot.child<Right>();
    if (child.level<Right>() >= node.level<Right>()) unreachable();       // only a damaged arena
    return changetype<usize>(child);
  }

  /** The cost of a leaf that has that many members. In a packed one, each may be in a container of its own. */
  private static costOf(leaf: Node, members: u64): u64 {
    work.spend(1);
    const count = <u64>leaf.count<Right>();
    if (leaf.page.isPacked<Right>()) return count * Cuts.CONTAINER_COST;
    return count * Cuts.CONTAINER_COST
      + min(members * <u64>Container.MEMBER_BYTES, count * <u64>BITSET_BYTES);
  }

  /** Takes a sample at every `step` of the cost. */
  static sampleBelow(node: Node, members: u64, step: u64): void {
    if (!node.level<Right>()) { Cuts.sampleLeaf(node, Cuts.costOf(node, members), step); return; }
    for (let i: u32 = 0, count = node.count<Right>(); i < count; i++) {
      const slot = node.slotAt(i);
      Cuts.sampleBelow(changetype<Node>(Cuts.childOf(node, slot)), slot.cardinality<Right>(), step);
    }
  }

  /** Takes the samples of a leaf, as if each of its entries, or members of a packed one, had the same cost. */
  private static sampleLeaf(leaf: Node, cost: u64, step: u64): void {
    const since = load<u64>(Cuts.SINCE), count = leaf.count<Right>();
    for (let at = step - since; at <= cost; at += step) {
      const index = min(<u32>(at * count / cost), count - 1);
      insertSample(leaf.page.isPacked<Right>() ? leaf.page.keyAt<Right>(index)
        : leaf.entryAt(index).key<Right>());
    }
    store<u64>(Cuts.SINCE, (since + cost) % step);
  }
}

/**
 * Adds up to `parts` - 1 keys to the reply, ascending: those at which the containers of operands
 * 0 .. sources - 1 are to be cut. Memory 0, which is fresh, is only worked in.
 */
export function cuts(sources: u32, parts: u32): void {
  const samples = parts * Cuts.SAMPLES;
  Arena.reserve(Cuts.sampleAt(samples));
  let cost: u64 = 0;
  for (let source: u32 = 0; source < sources; source++) {
    right.select(source);
    segments.show(Side.RIGHT, 0);
    do cost += Cuts.costBelow(Node.root<Right>(), Directory.membersHere<Right>());
    while (segments.next(Side.RIGHT));
  }
  store<u64>(Cuts.SINCE, 0);
  store<u32>(Cuts.COUNT, 0);
  for (let source: u32 = 0; source < sources; source++) {
    right.select(source);
    segments.show(Side.RIGHT, 0);
    do Cuts.sampleBelow(Node.root<Right>(), Directory.membersHere<Right>(), cost / samples + 1);
    while (segments.next(Side.RIGHT));
  }
  const count = load<u32>(Cuts.COUNT);
  let last = load<u64>(Cuts.sampleAt(0));          // without samples, the same key each time, and no reply
  for (let part: u32 = 1; part < parts; part++) {
    const key = load<u64>(Cuts.sampleAt(part * count / parts));
    if (key > last) reply.member(key);
    last = max(last, key);
  }
}

/** Adds the key to the samples. */
function insertSample(key: u64): void {
  const count = load<u32>(Cuts.COUNT);
  let at = Cuts.sampleAt(count);
  for (; at > Cuts.HEADER && load<u64>(at - Cuts.SAMPLE_BYTES) > key; at -= Cuts.SAMPLE_BYTES) {
    store<u64>(at, load<u64>(at - Cuts.SAMPLE_BYTES));
  }
  store<u64>(at, key);
  store<u32>(Cuts.COUNT, count + 1);
}
