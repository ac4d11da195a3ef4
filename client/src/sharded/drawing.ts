// Choosing members at random from shards, of which only the numbers of members are known.

/** A random number below `bound`, which is at most 2^64. All are equally likely: a draw that would favor some is repeated. */
function below(bound: bigint): bigint {
  const most = 2n ** 64n - 2n ** 64n % bound;
  for (;;) {
    const [number] = crypto.getRandomValues(new BigUint64Array(1));
    if (number! < most) return number! % bound;
  }
}

/**
 * How many of `count` members each shard gives, if every set of so many members is equally likely; `sizes` are the shards' numbers of
 * members. Shards that give none are left out. O(count * log(shards) + shards).
 */
export function drawn(sizes: readonly bigint[], count: bigint): Map<number, number> {
  const ends: bigint[] = []; // the ranks at which shards end
  let total = 0n;
  for (const size of sizes) ends.push(total += size);
  if (count >= total) return new Map(sizes.flatMap((size, shard): [number, number][] => (size > 0n ? [[shard, Number(size)]] : [])));
  const ranks = new Set<bigint>(), shares = new Map<number, number>();
  for (let most = total - count; most < total; most++) { // Floyd's way to draw without putting back
    const rank = below(most + 1n), chosen = ranks.has(rank) ? most : rank, shard = shardAt(ends, chosen);
    ranks.add(chosen);
    shares.set(shard, (shares.get(shard) ?? 0) + 1);
  }
  return shares;
}

/** The shard of a rank: the first that ends behind it. */
function shardAt(ends: readonly bigint[], rank: bigint): number {
  let low = 0, high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > rank) high = middle;
    else low = middle + 1;
  }
  return low;
}
