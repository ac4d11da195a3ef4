// How many bytes inserting entries may allocate, for operations that make room before they change anything
// (arena/layout/blocks.ts says why). All are upper bounds: insert.ts says how nodes grow and split.

import { Own } from "../../env/view";
import { Directory } from "../read/directory";
import { Node } from "../layout/node";

/** The most room that insertions take, and which leaves become roomy. */
export abstract class Room {
  /**
   * The most that Room.toInsert() counts for one entry at one level: a sibling, and two larger blocks for the
   * node above.
   */
  @inline private static readonly A_LEVEL: usize = 8192;
  /** More than Room.toInsert() returns for one entry. */
  @inline static readonly AMPLE: usize = <usize>Node.LEVELS_MAX * Room.A_LEVEL;
  /**
   * Bytes per entry of all the blocks that a leaf moves through as it grows from empty to LEAF_MAX,
   * and of the blocks that splits take.
   */
  @inline private static readonly AN_ENTRY: usize = 160;
  /** The same for each slot of an inner node as it grows from empty to INNER_MAX. */
  @inline private static readonly A_SLOT: usize = 200;

  /** The most bytes that inserting `entries` (1 or 2) entries at `key` into a full arena allocates. */
  static toInsert(key: u64, entries: u32): usize {
    let node = Node.root<Own>(), level = node.level<Own>();
    let count = node.count<Own>(), above: u32 = 0, splits: usize = 0;
    while (true) {
      // A node that is full, or gets full, is split in two.
      // The node above it, or a new root, takes up to `entries` more slots.
      if (count + entries > (level ? Node.INNER_MAX : Node.LEAF_MAX)) {
        splits += Node.block(level, level ? (count >> 1) + 2 : Node.LEAF_MAX)
          + Node.block(level + 1, above + 1) + Node.block(level + 1, above + 2);
      }
      if (!level) break;
      above = count;
      node = node.slotAt(Directory.slotFor<Own>(node, key)).child<Own>();
      level = node.level<Own>();
      count = node.count<Own>();
    }
    if (splits) return (splits + Node.ROOMY_BYTES) * entries;
    return node.isRoomy() ? 0 : Room.toGrow(count, entries, node == Node.root<Own>());
  }

  /**
   * Room that is enough for inserting `entries` entries into a full arena: at two places, and anywhere between
   * them if `entries` includes all entries that are there already. At more places it is enough together with
   * Room.toInsert() for each leaf. No entry may be removed before the last one is inserted.
   */
  static forEntries(entries: u64): u64 {
    const root = Node.root<Own>(), level = root.level<Own>(), count = root.count<Own>();
    // The second term: what nodes at both ends of a range take, and what Room.toInsert() returns for the last
    // entry, though it needs less.
    if (level || count + entries > Node.LEAF_MAX) {
      return entries * Room.AN_ENTRY + <u64>(2 * level + 3) * Room.A_LEVEL;
    }
    return Room.toGrow(count, <u32>entries, true);
  }

  /** The most bytes that appending `entries` entries in leaves as full as they can be allocates. */
  static forLeaves(entries: u32): u64 {
    const leaves = entries / Node.LEAF_MAX + 1;
    return <u64>leaves * Node.ROOMY_BYTES + Room.forSlots(leaves);
  }

  /** The most bytes that appending the leaves allocates for the nodes above. */
  private static forSlots(leaves: u32): u64 {
    const root = Node.root<Own>(), level = root.level<Own>();
    let node = root;
    while (node.level<Own>() > 1) node = node.slotAt(node.count<Own>() - 1).child<Own>();
    const count = node.count<Own>();
    if (!level || count + leaves > Node.INNER_MAX) {
      return <u64>leaves * Room.A_SLOT + <u64>(level + 3) * Room.A_LEVEL;
    }
    let bytes: u64 = 0, block = node.isRoomy() ? Node.ROOMY_INNER : Node.block(1, count);
    for (let n = count + 1; n <= count + leaves; n++) {
      if ((node.isRoomy() && n <= Node.ROOMY_SLOTS) || Node.block(1, n) == block) continue;
      block = Node.block(1, n);
      bytes += block;
    }
    return bytes;
  }

  /**
   * Bytes of the blocks that a leaf moves through while it grows by `entries` entries.
   * It has `count` and is not roomy.
   */
  private static toGrow(count: u32, entries: u32, isRoot: bool): usize {
    let bytes: usize = 0;
    for (let n = count + 1; n <= count + entries; n++) {
      if (Node.block(0, n) == Node.block(0, n - 1)) continue;
      if (Room.becomesRoomy(Node.bytes(0, n), isRoot)) return bytes + Node.ROOMY_BYTES;
      bytes += Node.block(0, n);
    }
    return bytes;
  }

  /** Whether a leaf becomes roomy when it needs a larger block, of `bytes` bytes. */
  @inline static becomesRoomy(bytes: usize, isRoot: bool): bool {
    return bytes > Node.SMALL && !isRoot;
  }
}
