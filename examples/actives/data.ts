// Users who sign up day by day, and the days on which they are active.

import type { Random } from "../../test/support/random.ts";

export const DAYS = 30;

export interface Site {
  /** The ids of those who signed up on each day, both ends included. */
  cohorts: [first: number, last: number][];
  /** For each id, the days on which the user was active: bit n is day n. */
  active: Uint32Array;
}

/** One in 200 of all ids signs up each day. New users come often, and less so every day; of older users, one in 25 comes. */
export function site(random: Random, ids: number): Site {
  const growth = Math.floor(ids / 200), base = ids - growth * DAYS, active = new Uint32Array(ids);
  const cohorts = Array.from({ length: DAYS }, (_, day): [number, number] => [base + day * growth, base + (day + 1) * growth - 1]);
  for (let day = 0; day < DAYS; day++) {
    for (let visit = 0; visit < base / 25; visit++) active[random.below(base)]! |= 1 << day;
    for (const [joined, [first, last]] of cohorts.slice(0, day + 1).entries()) {
      for (let id = first; id <= last; id++) if (random.chance(0.7 / (1 + day - joined) ** 0.6)) active[id]! |= 1 << day;
    }
  }
  return { cohorts, active };
}

/** Whether a user was active on a day. */
export const isActive = ({ active }: Site, id: number, day: number): boolean => ((active[id]! >>> day) & 1) === 1;

/** Those who were active on a day, `size` ids at a time. */
export function* activeOn(all: Site, day: number, size: number): Generator<number[]> {
  let ids: number[] = [];
  for (let id = 0; id < all.active.length; id++) {
    if (!isActive(all, id, day) || ids.push(id) < size) continue;
    yield ids;
    ids = [];
  }
  if (ids.length > 0) yield ids;
}
