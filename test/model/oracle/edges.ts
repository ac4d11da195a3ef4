// A set of offsets as the places where it begins and ends: simpler than any bitmap, and a set of 2^64 costs what one of one
// member does. [a, b, c, d] is every x with a <= x < b or c <= x < d: an x is a member when an odd number of edges is at or below it.

/** Whether a combination keeps what `count` of its sources hold, the first among them or not. */
export type Keeps = (count: number, inFirst: boolean) => boolean;

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

  /** How many edges there are: what the model costs. */
  get complexity(): number {
    return this.#edges.length;
  }

  /** How many edges are below `x`. */
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

  /** Makes all of [from, to) members, or none. */
  assign(from: bigint, to: bigint, value: boolean): void {
    if (from >= to) return;
    const first = this.#below(from), behind = this.#below(to + 1n);
    const edges: bigint[] = [];
    if ((first % 2 === 1) !== value) edges.push(from);
    if ((behind % 2 === 1) !== value) edges.push(to);
    this.#edges.splice(first, behind - first, ...edges);
  }

  flip(from: bigint, to: bigint): void {
    if (from >= to) return;
    for (const edge of [from, to]) {
      const at = this.#below(edge);
      if (this.#edges[at] === edge) this.#edges.splice(at, 1);
      else this.#edges.splice(at, 0, edge);
    }
  }

  /** The stretches of members, [from, to) each, as far as they lie in [low, high). */
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

  /** The members from `low` on, below `high`, `limit` of them at most. */
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

  get min(): bigint | undefined {
    return this.#edges[0];
  }

  get max(): bigint | undefined {
    const last = this.#edges.at(-1);
    return last === undefined ? undefined : last - 1n;
  }

  /** The member that `rank` others come before. */
  select(rank: bigint): bigint | undefined {
    for (const [from, to] of this.stretches()) {
      if (rank < to - from) return from + rank;
      rank -= to - from;
    }
    return undefined;
  }

  /** How many different values x >> 16 has. */
  containers(): bigint {
    let sum = 0n, last = -1n;
    for (const [from, to] of this.stretches()) {
      const first = from >> 16n, end = (to - 1n) >> 16n;
      sum += end - first + (first === last ? 0n : 1n);
      last = end;
    }
    return sum;
  }

  /** What the combination keeps. It must keep nothing that no source holds. */
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
