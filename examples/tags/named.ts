// Users and tags by name, as most systems have them: an account's UUID, a word. Two dictionaries give them integers, and the bitmaps are
// those of service.ts. A dictionary is one key, in a cluster, too.

import type { Names, RoarClient, ShardingOptions } from "redis-roar-client";
import { Tags } from "./service.ts";

const USERS = "user:ids", TAGS = "tag:ids";

export class NamedTags {
  readonly #rn: Names<string>;
  readonly #tags: Tags;

  constructor(client: RoarClient, sharding?: ShardingOptions) {
    this.#rn = client.rn;
    this.#tags = new Tags(client, sharding);
  }

  /** Gives a user tags; users and tags that are new get integers. If it rejects, call it again: doing it twice changes nothing. */
  async give(user: string, tags: readonly string[]): Promise<void> {
    if (tags.length === 0) return;
    const [[id], ids] = await Promise.all([this.#rn.add(USERS, [user]), this.#rn.add(TAGS, tags)]);
    await this.#tags.set(id!, ids);
  }

  /** Takes tags away from a user. Names that are unknown stay so. */
  async take(user: string, tags: readonly string[]): Promise<void> {
    const id = await this.#userId(user), ids = await this.#tagIds(tags);
    if (id !== null) await this.#tags.set(id, ids.filter((tag) => tag !== null), false);
  }

  /** The tags of a user, in the order in which they were first given to anybody. */
  async tagsOf(user: string): Promise<string[]> {
    const id = await this.#userId(user);
    return id === null ? [] : this.#namesOf(TAGS, await this.#tags.tagsOf(id));
  }

  /** How many users a segment has: an expression over tags, `#1` being the first. A tag that nobody ever had is an error. */
  async size(segment: string, tags: readonly string[]): Promise<number> {
    return this.#tags.size(segment, await this.#known(tags));
  }

  /** The users of a segment, page by page. */
  async *pages(segment: string, tags: readonly string[], count = 1000): AsyncIterable<string[]> {
    for await (const page of this.#tags.pages(segment, await this.#known(tags), count)) yield await this.#namesOf(USERS, page);
  }

  /**
   * Removes a user everywhere: the tags first and then the name, so that a call that fails in between can be repeated. The integer is not
   * given to anybody else.
   */
  async forget(user: string): Promise<void> {
    const id = await this.#userId(user);
    if (id === null) return;
    await this.#tags.remove(id);
    await this.#rn.del(USERS, [user]);
  }

  async #userId(user: string): Promise<number | null> {
    return (await this.#rn.ids(USERS, [user]))[0]!;
  }

  async #tagIds(tags: readonly string[]): Promise<(number | null)[]> {
    return tags.length === 0 ? [] : this.#rn.ids(TAGS, tags);
  }

  async #known(tags: readonly string[]): Promise<number[]> {
    const ids = await this.#tagIds(tags), unknown = ids.indexOf(null);
    if (unknown >= 0) throw new Error(`nobody ever had the tag ${tags[unknown]}`);
    return ids as number[];
  }

  async #namesOf(key: string, ids: readonly number[]): Promise<string[]> {
    return ids.length === 0 ? [] : (await this.#rn.names(key, ids)).filter((name) => name !== null);
  }

  /** The keys of the dictionaries. */
  static readonly keys = { users: USERS, tags: TAGS };
}
