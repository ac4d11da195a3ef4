// Active users: a bitmap for each day, with the ids of the users who were active.
//
//   {active}:<day>                     users of a day. One slot has all days, because they are combined with each other
//   active:<day>:from:<part>           what one process of the site wrote on a day, anywhere in a cluster
//   {active}:kept:<name>               a union of days that is kept for some time

import type { RoarClient } from "redis-roar-client";

const dayKey = (day: number): string => `{active}:${day}`, partKey = (day: number, part: string): string => `active:${day}:from:${part}`;
const keptKey = (name: string): string => `{active}:kept:${name}`;
const days = (first: number, last: number): string[] => Array.from({ length: last - first + 1 }, (_, n) => dayKey(first + n));

/** Seconds that a part is kept after the last write to it. `collect` has to run at least once in this time. */
const PART_TTL = 3 * 86_400;
/** Users in one command. A larger one would hold up other clients, and a command has at most a million arguments. */
const BATCH = 10_000;

/** Writes. All users of a site write to the bitmap of today, which is a hot key: collect before you write. */
export class Visits {
  readonly #client: RoarClient;
  readonly #part: string;
  readonly #waiting = new Map<number, Set<number>>();

  /** @param part names this process. Each process writes to a bitmap of its own, which can be on a node of its own. */
  constructor(client: RoarClient, part: string) {
    this.#client = client;
    this.#part = part;
  }

  /** A user is active. Nothing is sent; who comes again on the same day is kept once. */
  visit(user: number, day: number): void {
    (this.#waiting.get(day) ?? this.#waiting.set(day, new Set()).get(day)!).add(user);
  }

  /** How many visits have not been written yet. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Sends what has come since the last time. Call it every second or so, and before the process ends. What could not be written waits for
   * the next call, and this one rejects: a visit is forgotten only when the server has it. Writing a visit twice changes nothing.
   */
  async send(): Promise<void> {
    const failures: unknown[] = [];
    for (const [day, users] of [...this.#waiting]) {
      this.#waiting.delete(day); // visits from now on wait in a new set
      const all = [...users];
      for (let at = 0; at < all.length; at += BATCH) {
        const some = all.slice(at, at + BATCH), key = partKey(day, this.#part);
        try {
          await this.#client.multi().r.setBits(key, some).call("EXPIRE", key, PART_TTL).exec();
        } catch (error) {
          failures.push(error);
          for (const user of some) this.visit(user, day);
        }
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, `${failures.length} writes failed`);
  }
}

/** Questions. Most of them store nothing, so they can go to a replica. */
export class Actives {
  readonly #client: RoarClient;
  readonly #r: RoarClient["r"];

  constructor(client: RoarClient) {
    this.#client = client;
    this.#r = client.r;
  }

  /**
   * Adds what the processes have written on a day to its bitmap, and returns how many were active. Parts may be in other slots, so they go
   * through this process. They are only read, and end by themselves: collecting again, or in two processes at once, changes nothing, and
   * a late visit is there the next time. When the day is over, `close` gives back room for more users.
   */
  async collect(day: number, parts: readonly string[], close = false): Promise<number> {
    const payloads = await Promise.all(parts.map((part) => this.#r.export(partKey(day, part))));
    for (const payload of payloads) if (payload !== null) await this.#r.import(dayKey(day), payload);
    const count = await this.daily(day);
    if (close && count > 0) await this.#r.optimize(dayKey(day));
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

  /** The union of days, kept under a name for `seconds`. BITOP removes the TTL of its destination, and the transaction sets it again. */
  async keep(name: string, first: number, last: number, seconds: number): Promise<number> {
    const [count] = await this.#client.multi().r.bitOp("OR", keptKey(name), days(first, last)).call("EXPIRE", keptKey(name), seconds).exec();
    return count;
  }

  static readonly keys = { day: dayKey, days, part: partKey, kept: keptKey };
}
