// A node of the directory: its layout, and the size of its block.
//
//   node   +0  u8  level: 0 for a leaf, otherwise one more than its children's
//          +1  u8  1 for a roomy node, at least 16 for a packed leaf
//          +2  u16 count: entries or slots; members in a packed leaf
//   leaf   +4  entries, 12 bytes each, at most LEAF_MAX (entry.ts)
//   inner  +4  slots, 20 bytes each, at most INNER_MAX:
//                +0  u64 key: the least key below the child
//                +8  u32 child
//                +12 u64 cardinality of everything below the child
//
// A packed leaf has a layout of its own (arena/packed/layout.ts), and in a full arena its block is a page of
// Page.BYTES bytes.
//
// A node's block fits what the node holds, not what it could hold; large blocks grow in
// steps. Roomy nodes are the exception. The block of a roomy leaf has room for LEAF_MAX entries;
// arena/change/insert.ts says which leaves become roomy, and why. That of a roomy inner node has room for
// ROOMY_SLOTS slots: the root above the first pages grows where it is, below them (arena/change/forms.ts).

import { Memory, Own, view16, view32, view64, view8 } from "../../env/view";
import { Header } from "./header";
import { Block } from "./blocks";
import { Entry, Offset } from "./entry";
import { Group, Page } from "../packed/layout";
/** A slot of an inner node: a child, its least key, and how many members are below it. */
@final @unmanaged
export class Slot {
  @inline static readonly BYTES: usize = 20;

  @inline key<M extends Memory>(): u64 { return view64<M>(changetype<usize>(this), 0); }
  @inline child<M extends Memory>(): Node {
    return changetype<Node>(<usize>view32<M>(changetype<usize>(this), 8));
  }

  @inline cardinality<M extends Memory>(): u64 { return view64<M>(changetype<usize>(this), 12); }
  @inline link(): usize { return changetype<usize>(this) + 8; }

  @inline add(members: i64): void {
    store<u64>(changetype<usize>(this), load<u64>(changetype<usize>(this), 12) + members, 12);
  }

  write(key: u64, child: usize, cardinality: u64): void {
    store<u64>(changetype<usize>(this), key);
    store<u32>(changetype<usize>(this), <u32>child, 8);
    store<u64>(changetype<usize>(this), cardinality, 12);
  }
}

/** A node of the directory. */
@final @unmanaged
export class Node {
  @inline static readonly LEAF_MAX: u32 = 254;
  @inline static readonly INNER_MAX: u32 = 126;
  @inline private static readonly LEVEL: u32 = 0;
  @inline private static readonly ROOMY: u32 = 1;
  @inline private static readonly COUNT: u32 = 2;
  @inline static readonly HEADER: usize = 4;
  /** More levels than the 2^48 keys can ever need. */
  @inline static readonly LEVELS_MAX: u32 = 16;
  /**
   * Blocks of leaves larger than this grow in steps of STEP, so that a leaf that fills up moves four times and
   * not forty.
   */
  @inline static readonly SMALL: usize = 1024;
  @inline private static readonly STEP: usize = 512;
  /** An inner node larger than this gets a block of Page.BYTES, and then one for INNER_MAX slots. */
  @inline private static readonly INNER_SMALL: usize = 256;
  /** Bytes of a full inner node. */
  @inline private static readonly INNER_BYTES: usize = Node.HEADER + <usize>Node.INNER_MAX * Slot.BYTES;
  /** Bytes to allocate for a roomy leaf. A full leaf takes as many. */
  @inline static readonly ROOMY_BYTES: usize = 3072;
  /** Bytes to allocate for a roomy inner node, of up to ROOMY_SLOTS slots. */
  @inline static readonly ROOMY_INNER: usize = 576;
  @inline static readonly ROOMY_SLOTS: u32 = 28;

  @inline static root<M extends Memory>(): Node {
    return Header.isTiny<M>() ? changetype<Node>(0) : changetype<Node>(<usize>view32<M>(0, Header.ROOT));
  }

  /** The node that the link at this address leads to. */
  @inline static linked(link: usize): Node { return changetype<Node>(<usize>load<u32>(link)); }
  /** The packed leaf that it is. */
  @inline get page(): Page { return changetype<Page>(this); }
  @inline level<M extends Memory>(): u32 { return view8<M>(changetype<usize>(this), Node.LEVEL); }
  @inline isRoomy(): bool { return load<u8>(changetype<usize>(this), Node.ROOMY) == 1; }
  @inline setRoomy(roomy: bool): void { store<u8>(changetype<usize>(this), u8(roomy), Node.ROOMY); }
  @inline count<M extends Memory>(): u32 { return view16<M>(changetype<usize>(this), Node.COUNT); }
  @inline setCount(count: u32): void { store<u16>(changetype<usize>(this), <u16>count, Node.COUNT); }
  /** Writes the header of a node that is not roomy. */
  @inline write(level: u32, count: u32): void {
    store<u32>(changetype<usize>(this), level | (count << 16));
  }

  @inline entryAt(index: u32): Entry {
    return changetype<Entry>(changetype<usize>(this) + Node.HEADER + <usize>index * Entry.BYTES);
  }

  /** Node.entryAt() for a leaf that may be packed: then `index` is that of the group's first member. */
  @inline entryIn<M extends Memory>(index: u32): Entry {
    return this.page.isPacked<M>() ? changetype<Entry>(Group.at(this.page, index)) : this.entryAt(index);
  }

  @inline slotAt(index: u32): Slot {
    return changetype<Slot>(changetype<usize>(this) + Node.HEADER + <usize>index * Slot.BYTES);
  }

  /** Bytes to allocate for a node with `count` entries or slots that is not roomy. */
  @inline static bytes(level: u32, count: u32): usize {
    const bytes = Node.HEADER + <usize>count * (level ? Slot.BYTES : Entry.BYTES);
    if (!level) return bytes <= Node.SMALL ? bytes : (bytes + Node.STEP - 1) & ~(Node.STEP - 1);
    return bytes <= Node.INNER_SMALL ? bytes : bytes <= Page.BYTES ? Page.BYTES : Node.INNER_BYTES;
  }

  /** Bytes that the node was allocated for. */
  @inline allocatedFor(): usize {
    return !this.level<Own>() && this.page.isPacked<Own>() ? Page.BYTES : this.ordinaryBytes();
  }

  /** Bytes that the node, which is no page, was allocated for. */
  @inline ordinaryBytes(): usize {
    const level = this.level<Own>();
    if (this.isRoomy()) return level ? Node.ROOMY_INNER : Node.ROOMY_BYTES;
    return Node.bytes(level, this.count<Own>());
  }

  /** Bytes of that node's block. */
  @inline static block(level: u32, count: u32): usize {
    return Block.bytes(Node.bytes(level, count));
  }

  @inline itemBytes(): usize {
    return this.level<Own>() ? Slot.BYTES : Entry.BYTES;
  }

  @inline isFull(): bool {
    return this.count<Own>() >= (this.level<Own>() ? Node.INNER_MAX : Node.LEAF_MAX);
  }
}

/** The least key of the node's first item. */
// @ts-ignore: decorator
@inline export function firstKey(node: Node): u64 {
  return !node.level<Own>() && node.page.isPacked<Own>()
    ? node.page.keyAt<Own>(0)
    : load<u64>(changetype<usize>(node), Node.HEADER) & Offset.KEY_MAX;
}
