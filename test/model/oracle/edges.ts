// A set of offsets, stored as the places where its stretches begin and end. A set of 2^64 offsets then takes no more than a set of one.
// [a, b, c, d] holds every x with a <= x < b or c <= x < d: x is a member if an odd number of edges is less than or equal to it.

/** Whether an operation keeps a member that `count` of its sources hold; `inFirst` says whether the first source is one of them. */
type Keeps = (count: number, inFirst: boolean) => boolean;

export class Edges {
  #edges: bigint[];

  constructor(edges: readonly bigint[] = []) {
    this.#edges = [...edges];
  }

  static of(offsets: Iterable<bigint>): Edges {
    const edges: bigint[] = [];
    for (const offset of [...offsets].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))) {
      if (edges.at(-1) === offset + 1n) continue;
      if (edges.at(-1) === offset) edges.pop();
      else edges.push(offset);
      edges.push(offset + 1n);
    }
    return new Edges(edges);
  }

  clone(): Edges {
    return new Edges(this.#edges);
  }

  /** The set with every member greater by `distance`. */
  moved(distance: bigint): Edges {
    return new Edges(this.#edges.map((edge) => edge + distance));
  }

  /** The number of edges, which determines what operations cost. */
  get complexity(): number {
    return this.#edges.length;
  }

  /** The number of edges less than `x`. */
  #below(x: bigint): number {
    let low = 0, high = this.#edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#edges[middle]! < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(x: bigint): boolean {
    return this.#below(x + 1n) % 2 === 1;
  }

  /** Adds or removes all of [from, to). */
  assign(from: bigint, to: bigint, value: boolean): void {
    if (from >= to) return;
    const first = this.#below(from), end = this.#below(to + 1n);
    const edges: bigint[] = [];
    if ((first % 2 === 1) !== value) edges.push(from);
    if ((end % 2 === 1) !== value) edges.push(to);
    this.#edges.splice(first, end - first, ...edges);
  }

  flip(from: bigint, to: bigint): void {
    if (from >= to) return;
    for (const edge of [from, to]) {
      const at = this.#below(edge);
      if (this.#edges[at] === edge) this.#edges.splice(at, 1);
      else this.#edges.splice(at, 0, edge);
    }
  }

  /** The stretches of members as [from, to) pairs, clipped to [low, high). */
  *stretches(low = 0n, high = 2n ** 64n): Generator<[from: bigint, to: bigint]> {
    const edges = this.#edges;
    for (let at = this.#below(low + 1n) & ~1; at < edges.length && edges[at]! < high; at += 2) {
      const from = edges[at]! < low ? low : edges[at]!, to = edges[at + 1]! > high ? high : edges[at + 1]!;
      if (from < to) yield [from, to];
    }
  }

  count(low?: bigint, high?: bigint): bigint {
    let sum = 0n;
    for (const [from, to] of this.stretches(low, high)) sum += to - from;
    return sum;
  }

  /** The members in [low, high), at most `limit` of them. */
  members(low = 0n, high = 2n ** 64n, limit = Infinity): bigint[] {
    const members: bigint[] = [];
    for (const [from, to] of this.stretches(low, high)) {
      for (let x = from; x < to; x++) {
        if (members.length >= limit) return members;
        members.push(x);
      }
    }
    return members;
  }

  /** The members in [low, high) from the greatest downwards, at most `limit` of them. */
  membersDown(low: bigint, high: bigint, limit: number): bigint[] {
    const members: bigint[] = [];
    for (const [from, to] of [...this.stretches(low, high)].reverse()) {
      for (let x = to - 1n; x >= from && members.length < limit; x--) members.push(x);
    }
    return members;
  }

  get min(): bigint | undefined {
    return this.#edges[0];
  }

  get max(): bigint | undefined {
    const last = this.#edges.at(-1);
    return last === undefined ? undefined : last - 1n;
  }

  /** The member with this rank, counted from 0. */
  select(rank: bigint): bigint | undefined {
    for (const [from, to] of this.stretches()) {
      if (rank < to - from) return from + rank;
      rank -= to - from;
    }
    return undefined;
  }

  /** The number of different keys x >> 16. */
  containers(): bigint {
    let sum = 0n, last = -1n;
    for (const [from, to] of this.stretches()) {
      const first = from >> 16n, end = (to - 1n) >> 16n;
      sum += end - first + (first === last ? 0n : 1n);
      last = end;
    }
    return sum;
  }

  /** The members that the operation keeps. It must not keep what no source holds. */
  static combine(sources: readonly Edges[], keeps: Keeps): Edges {
    const at = sources.map(() => 0);
    const result: bigint[] = [];
    for (let kept = false; ;) {
      let next: bigint | undefined;
      sources.forEach((source, i) => {
        const edge = source.#edges[at[i]!];
        if (edge !== undefined && (next === undefined || edge < next)) next = edge;
      });
      if (next === undefined) return new Edges(result);
      sources.forEach((source, i) => {
        if (source.#edges[at[i]!] === next) at[i]!++;
      });
      const held = at.filter((edges) => edges % 2 === 1).length;
      if (keeps(held, at[0]! % 2 === 1) !== kept) {
        kept = !kept;
        result.push(next);
      }
    }
  }
}
