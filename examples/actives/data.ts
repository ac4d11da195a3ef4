// Users who sign up day by day, and the days on which they are active.

import type { Random } from "../../test/support/random.ts";

export const DAYS = 30;

export interface Site {
  /** The ids of those who signed up on each day, both ends included. */
  cohorts: [first: number, last: number][];
  /** Who was active on each day. */
  days: Set<number>[];
}

/** One in 200 of all ids signs up each day. New users come often, and less so every day; of older users, one in 25 comes. */
export function site(random: Random, ids: number): Site {
  const growth = Math.floor(ids / 200), base = ids - growth * DAYS;
  const cohorts = Array.from({ length: DAYS }, (_, day): [number, number] => [base + day * growth, base + (day + 1) * growth - 1]);
  const days = cohorts.map((_, day) => {
    const active = new Set<number>();
    for (let visit = 0; visit < base / 25; visit++) active.add(random.below(base));
    for (const [joined, [first, last]] of cohorts.slice(0, day + 1).entries()) {
      for (let id = first; id <= last; id++) if (random.chance(0.7 / (1 + day - joined) ** 0.6)) active.add(id);
    }
    return active;
  });
  return { cohorts, days };
}
