// Active users: a bitmap for each day, with the ids of the users who were active.

import type { Redis } from "ioredis";
import type { RoarClient } from "redis-roar-client";

const dayKey = (day: number): string => `active:${day}`, partKey = (day: number, part: string): string => `active:${day}:from:${part}`;
const days = (first: number, last: number): string[] => Array.from({ length: last - first + 1 }, (_, n) => dayKey(first + n));

/** Writes. All users of a site write to the bitmap of today, which is a hot key: collect before you write. */
export class Visits {
  readonly #r: RoarClient["r"];
  readonly #part: string;
  readonly #waiting = new Map<number, Set<number>>();

  /** @param part names this process. Each process writes to a bitmap of its own, which can be on a node of its own. */
  constructor({ r }: Pick<RoarClient, "r">, part: string) {
    this.#r = r;
    this.#part = part;
  }

  /** A user is active. Nothing is sent; who comes again on the same day is kept once. */
  visit(user: number, day: number): void {
    (this.#waiting.get(day) ?? this.#waiting.set(day, new Set()).get(day)!).add(user);
  }

  /** Sends what has come since the last time: one command for each day. Call it every second or so. */
  async send(): Promise<void> {
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const [day, users] of all) await this.#r.setBits(partKey(day, this.#part), users);
  }
}

/** Questions. Most of them store nothing, so they can go to a replica. */
export class Actives {
  readonly #redis: Redis;
  readonly #r: RoarClient["r"];

  constructor(redis: Redis, { r }: RoarClient) {
    this.#redis = redis;
    this.#r = r;
  }

  /** Brings what the processes wrote on a day together. When the day is over, `close` it, which also gives back room for more users. */
  async collect(day: number, parts: readonly string[], close = false): Promise<number> {
    const count = await this.#r.bitOp("OR", dayKey(day), [dayKey(day), ...parts.map((part) => partKey(day, part))]);
    if (close) {
      await this.#r.optimize(dayKey(day));
      await this.#redis.unlink(...parts.map((part) => partKey(day, part)));
    }
    return count;
  }

  /** Active users of a day. */
  async daily(day: number): Promise<number> {
    return this.#r.bitCount(dayKey(day));
  }

  /** Active users of the days from `first` to `last`, each counted once: weekly and monthly ones. */
  async between(first: number, last: number): Promise<number> {
    return this.#r.bitOpCard("OR", days(first, last));
  }

  /** Of those who were active on a day, the share who came again `later` days later: 1 is next-day retention. */
  async retention(day: number, later = 1): Promise<number> {
    const [both, first] = await Promise.all([this.#r.bitOpCard("AND", [dayKey(day), dayKey(day + later)]), this.daily(day)]);
    return first === 0 ? 0 : both / first;
  }

  /** How many of those who signed up, as a range of ids, were active on a day. A range of ids is a cohort, so nothing else is stored. */
  async ofCohort([first, last]: readonly [first: number, last: number], day: number): Promise<number> {
    return this.#r.queryCard(`#1 & [${first}..${last}]`, [dayKey(day)]);
  }

  /** How many were active on at least `least` of the days from `first` to `last`. */
  async often(least: number, first: number, last: number): Promise<number> {
    return this.#r.atLeast(least, days(first, last));
  }

  /** The union of days, kept in a key for `seconds`. BITOP removes the TTL of its destination, and the transaction sets it again. */
  async keep(key: string, first: number, last: number, seconds: number): Promise<number> {
    const replies = await this.#redis.multi().call("R.BITOP", "OR", key, ...days(first, last)).expire(key, seconds).exec();
    for (const [error] of replies!) if (error) throw error;
    return Number(replies![0]![1]);
  }

  static readonly keys = { day: dayKey, days, part: partKey };
}
