// What a key of values is made of, for RI.STAT.

import { Side, left, reply, segments } from "../env/memory";
import { Left } from "../env/view";
import { Values } from "./layout";
import { Pass, Task } from "./scan";
import { Spot } from "./spot";

/**
 * Replies the number of ids, the least and the greatest id and value, which are 0 without ids; and then leaves,
 * ids and bytes of those with pairs, and of those with slices. A tiny segment is one leaf of pairs. The pass
 * has begun.
 */
export function describeValues(): void {
  Pass.run(Task.STATISTICS);
  const all = Pass.count();
  left.select(0);
  const first = Spot.from<Left>(0);
  reply.member(all);
  reply.member(all ? Spot.id<Left>(first) : 0);
  reply.member(all ? greatestId() : 0);
  reply.member(all ? <u64>Pass.least() : 0);
  reply.member(all ? <u64>Pass.greatest() : 0);
  replyLeaves(false);
  replyLeaves(true);
}

function greatestId(): u64 {
  if (segments.are(Side.LEFT)) segments.seek(Side.LEFT, u64.MAX_VALUE);
  return Spot.lastId<Left>();
}

/** Replies leaves, ids and bytes of all segments. */
function replyLeaves(sliced: bool): void {
  let leaves: u64 = 0, ids: u64 = 0, bytes: u64 = 0;
  left.select(0);
  Spot.from<Left>(0);
  do {
    const pairs = Values.pairs<Left>();
    if (!Values.isFull<Left>()) {
      if (sliced || !pairs) continue;
      leaves++;
      ids += pairs;
      bytes += <u64>pairs * (Values.idBytes<Left>() + Values.valueBytes<Left>());
      continue;
    }
    for (let i: u32 = 0, n = Values.leaves<Left>(); i < n; i++) {
      const leaf = Values.leafAt<Left>(i);
      if (leaf.isSliced<Left>() != sliced) continue;
      leaves++;
      ids += leaf.count<Left>();
      bytes += leaf.bytes<Left>();
    }
  } while (segments.next(Side.LEFT));
  reply.member(leaves);
  reply.member(ids);
  reply.member(bytes);
}
