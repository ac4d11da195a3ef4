// Reading several shards beside each other, in the order of what they have.

/** A shard that is read piece by piece beside others. */
export interface Stream<T> {
  readonly shard: number;
  /** What has been read and not yet passed on, in order. */
  read: T[];
  /** Whether it may have more. */
  isOpen: boolean;
}

/** The order of what shards have. */
export interface Order<T> {
  isAfter(a: T, b: T): boolean;
  sorted(items: readonly T[]): T[];
}

/** The least number of items to read of a shard. */
const LEAST = 16;

/**
 * What the streams have, in order, page by page. A page has `size` items, and the last one less. `read` reads the next ones of some
 * streams, up to `share` of each.
 */
export async function* merged<T, S extends Stream<T>>(
  streams: readonly S[], size: number, { isAfter, sorted }: Order<T>, read: (short: readonly S[], share: number) => Promise<unknown>,
): AsyncGenerator<T[], void, undefined> {
  const share = Math.max(LEAST, Math.ceil(1.25 * size / Math.max(1, streams.length)));
  let page: T[] = [];
  while (streams.some((stream) => stream.isOpen || stream.read.length > 0)) {
    await read(streams.filter((stream) => stream.isOpen && 2 * stream.read.length < share), share);
    const open = streams.filter(({ isOpen }) => isOpen);
    if (open.some((stream) => stream.read.length === 0)) continue;
    // Nothing before the last item of a shard that has more can still come.
    const ends = open.map((stream) => stream.read.at(-1)!);
    const end = ends.reduce<T | undefined>((a, b) => (a === undefined || isAfter(a, b) ? b : a), undefined);
    const ready: T[] = [];
    for (const stream of streams) {
      const after = end === undefined ? -1 : stream.read.findIndex((item) => isAfter(item, end));
      const count = after < 0 ? stream.read.length : after;
      for (let i = 0; i < count; i++) ready.push(stream.read[i]!);
      stream.read = stream.read.slice(count);
    }
    for (const item of sorted(ready)) {
      page.push(item);
      if (page.length < size) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}
