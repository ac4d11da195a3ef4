// Tags in both directions: the users of a tag, and the tags of a user. Both are bitmaps, and both change in one step.
//
// Bitmaps of users are cut into shards by ranges of ids. A shard is in one slot, together with the tags of its users:
//
//   t:<tag>:{shard}       users of the shard who have the tag
//   users:{shard}         all users of the shard
//   age:{shard}           the ages of users of the shard: an integer for each user who has one
//   u:<user>:{shard}      tags of a user of the shard; there are many, so the names are short
//
// One server needs one shard, which is the default. In a cluster the shards are spread over the nodes.

import type { RoarClient, ShardedBitmap, ShardedIntegers, ShardingOptions } from "redis-roar-client";

const tagName = (tag: number): string => `t:${tag}`, userName = (user: number): string => `u:${user}`, EVERYBODY = "users";

/** The name of the ages in a segment: `#1 & 18 <= #2 < 30` over `[vip, AGE]`. */
export const AGE = "age";
type Operand = number | typeof AGE;

export interface Share {
  tag: number;
  users: number;
}

export class Tags {
  readonly #client: RoarClient;
  readonly #sharding: ShardingOptions;
  readonly #everybody: ShardedBitmap<number>;
  readonly #ages: ShardedIntegers<number>;

  /** @param sharding in a cluster such as `{ width: 1_048_576, shards: 64 }`; it cannot be changed while there is data. */
  constructor(client: RoarClient, sharding: ShardingOptions = { shards: 1 }) {
    this.#client = client;
    this.#sharding = sharding;
    this.#everybody = this.#bitmap(EVERYBODY);
    this.#ages = client.ri.sharded(AGE, sharding);
  }

  /**
   * Gives a user tags, or takes them away. The transaction changes both directions or neither. If the connection breaks, it is unknown
   * whether it was executed: call this again, because doing it twice changes nothing.
   */
  async set(user: number, tags: readonly number[], has = true): Promise<void> {
    if (tags.length === 0) return;
    const transaction = this.#client.multi(), shard = this.#everybody.shardOf(user);
    const keyOf = (name: string): string => this.#bitmap(name).keyOf(shard);
    for (const tag of tags) transaction.r.setBit(keyOf(tagName(tag)), user, has ? 1 : 0);
    if (has) transaction.r.setBits(keyOf(userName(user)), tags).r.setBit(keyOf(EVERYBODY), user, 1);
    else transaction.r.clearBits(keyOf(userName(user)), tags);
    await transaction.exec();
  }

  /** Makes a user known who may have no tags. */
  async add(user: number): Promise<void> {
    await this.#everybody.setBit(user, 1);
  }

  /** Takes everything from a user, so that it is as if there never was one. It can be repeated if it fails. */
  async remove(user: number): Promise<void> {
    await this.set(user, await this.tagsOf(user), false);
    await Promise.all([this.#everybody.setBit(user, 0), this.#ages.del([user])]);
  }

  async setAge(user: number, age: number): Promise<void> {
    await this.#ages.set([[user, age]]);
  }

  async ageOf(user: number): Promise<number | null> {
    return this.#ages.get(user);
  }

  /** How many users of a segment are younger than the first edge, from each edge up to below the next, and from the last one on. */
  async ages(segment: string, tags: readonly Operand[], edges: readonly number[]): Promise<number[]> {
    return this.#ages.histogramBetween(edges, { within: { expression: segment, keys: this.#tags(tags).flat() } });
  }

  async has(user: number, tag: number): Promise<boolean> {
    return await this.#tag(tag).getBit(user) === 1;
  }

  async tagsOf(user: number): Promise<number[]> {
    return this.#client.r.getIntArray(this.#bitmap(userName(user)).keyOf(this.#everybody.shardOf(user)));
  }

  async usersOf(tag: number, options: { from?: number; limit?: number } = {}): Promise<number[]> {
    return this.#tag(tag).queryMembers("#1", [], options);
  }

  /** Users without a tag: the complement of a bitmap would also have those who are no users. */
  async usersWithout(tag: number): Promise<number[]> {
    return this.#everybody.queryMembers("#1 - #2", [this.#tag(tag)]);
  }

  /** How many users a segment has: an expression over tags and ages, `#1` being the first of `tags`. */
  async size(segment: string, tags: readonly Operand[]): Promise<number> {
    const [first, others] = this.#tags(tags);
    return first.queryCard(segment, others);
  }

  /** The users of a segment, page by page. */
  pages(segment: string, tags: readonly Operand[], count = 1000): AsyncIterable<number[]> {
    const [first, others] = this.#tags(tags);
    return first.queryPages(segment, others, { count });
  }

  /** How alike two tags are: users in common, divided by users of either. */
  async likeness(one: number, other: number): Promise<number> {
    return await this.#tag(one).jaccard(this.#tag(other)) ?? 0;
  }

  /** Which of `among` most users of a segment have. Nothing is stored, so any number of callers may ask at the same time. */
  async topTags(segment: string, tags: readonly Operand[], among: readonly number[], top: number): Promise<Share[]> {
    const [first, others] = this.#tags(tags), facets = new Map(among.map((tag) => [this.#tag(tag), tag]));
    return (await first.facetTop(segment, others, [...facets.keys()], top)).map(([facet, users]) => ({ tag: facets.get(facet)!, users }));
  }

  #bitmap(name: string): ShardedBitmap<number> {
    return this.#client.r.sharded(name, this.#sharding);
  }

  #tag(tag: number): ShardedBitmap<number> {
    return this.#bitmap(tagName(tag));
  }

  #tags([first, ...others]: readonly Operand[]): [first: ShardedBitmap<number>, others: ShardedBitmap<number>[]] {
    if (first === undefined) throw new Error("a segment needs a tag");
    // Ages are cut in the same way as bitmaps, and expressions name them in the same way.
    const one = (tag: Operand): ShardedBitmap<number> => (tag === AGE ? this.#bitmap(AGE) : this.#tag(tag));
    return [one(first), others.map(one)];
  }

  /** The keys of the only shard on one server. */
  static readonly keys = {
    usersOf: (tag: number): string => `${tagName(tag)}:{0}`, tagsOf: (user: number): string => `${userName(user)}:{0}`, everybody: `${EVERYBODY}:{0}`,
  };
}
