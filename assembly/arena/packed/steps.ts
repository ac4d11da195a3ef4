// A walk through a packed leaf, group by group. The walk keeps what the next step needs in memory 0, and each
// step reads the highs of one group and the first one behind it:
//
//   +0   u64 base
//   +8   u64 high of the next group
//   +16  u32 address of that high
//   +20  u32 width

import { PageGroups } from "./groups";
import { Memory } from "../../env/view";
import { Group, Page } from "./layout";

/** A walk through the groups of a packed leaf: what its next step needs. */
@final @unmanaged
export class Steps {
  @inline static readonly BYTES: usize = 24;
  @inline private static readonly NEXT: u32 = 8;
  @inline private static readonly NEXT_AT: u32 = 16;
  @inline private static readonly NEXT_WIDTH: u32 = 20;

  /** Begins a walk at the group of the entry, which is the next one. Returns the address of its lows. */
  @inline static begin<M extends Memory>(entry: Group, steps: Steps): usize {
    const leaf = changetype<Page>(Group.leaf<M>(entry)), header = leaf.header<M>(),
      width = Page.widthIn(header);
    const index = Group.index(leaf, entry);
    const at = leaf.highsIn(header) + <usize>(index * width);
    store<u64>(changetype<usize>(steps), leaf.baseIn<M>(header));
    store<u64>(changetype<usize>(steps), Page.high<M>(at, width), Steps.NEXT);
    store<u32>(changetype<usize>(steps), <u32>at, Steps.NEXT_AT);
    store<u32>(changetype<usize>(steps), width, Steps.NEXT_WIDTH);
    return leaf.lowsIn(header) + Page.LOW_BYTES * <usize>index;
  }

  /** The key of the walk's next group. */
  @inline key(): u64 {
    return load<u64>(changetype<usize>(this), Steps.NEXT) + load<u64>(changetype<usize>(this));
  }

  /** Whether all members of the walk's leaf have one key, so that it has no highs. */
  @inline isOfOneKey(): bool { return !load<u32>(changetype<usize>(this), Steps.NEXT_WIDTH); }

  /** Steps to the next group, from which on the leaf has `most` members. Returns those of the group. */
  @inline on<M extends Memory>(most: u32): u32 {
    const width = load<u32>(changetype<usize>(this), Steps.NEXT_WIDTH),
      mine = load<u64>(changetype<usize>(this), Steps.NEXT);
    const at = <usize>load<u32>(changetype<usize>(this), Steps.NEXT_AT) + width;
    if (most == 1) return 1;
    const next = Page.high<M>(at, width);
    if (next == mine) return this.far<M>(at, most);
    store<u32>(changetype<usize>(this), <u32>at, Steps.NEXT_AT);
    store<u64>(changetype<usize>(this), next, Steps.NEXT);
    return 1;
  }

  /** Steps.on() for a group of several members, the second one's high being at `at`. */
  private far<M extends Memory>(at: usize, most: u32): u32 {
    const width = load<u32>(changetype<usize>(this), Steps.NEXT_WIDTH),
      count = PageGroups.endOf<M>(at, width, load<u64>(changetype<usize>(this), Steps.NEXT), 1, most);
    at += <usize>((count - 1) * width);
    store<u32>(changetype<usize>(this), <u32>at, Steps.NEXT_AT);
    if (count < most) store<u64>(changetype<usize>(this), Page.high<M>(at, width), Steps.NEXT);
    return count;
  }
}

/** Members of the leaf from `place` on, whose entry is that of a group. */
// @ts-ignore: decorator
@inline export function membersInLeaf(place: u64): u32 { return (<u32>(place >> 32) - <u32>place) >> 1; }
