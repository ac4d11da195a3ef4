// Who is online, and the days on which users sign in.

import type { Random } from "../../test/support/random.ts";

export const DAYS_OF_YEAR = 365;

/** A user id: those who joined lately come more often. */
const visitor = (random: Random, users: number): number => Math.floor(users * (1 - random.unit() ** 3));

/** Users who are online in each of some minutes, 1 in 20. One in ten of those who are online goes each minute, and others come. */
export function heartbeats(random: Random, users: number, minutes: number): Set<number>[] {
  let online = new Set<number>();
  return Array.from({ length: minutes }, () => {
    online = new Set([...online].filter(() => !random.chance(0.1)));
    while (online.size < users / 20) online.add(visitor(random, users));
    return online;
  });
}

/** The days of a year, from 0, on which a user signs in `count` times, in streaks of a few days. */
export function someDays(random: Random, count: number): Set<number> {
  const days = new Set<number>();
  while (days.size < Math.min(count, DAYS_OF_YEAR)) {
    const first = random.below(DAYS_OF_YEAR), last = Math.min(DAYS_OF_YEAR - 1, first + random.below(6));
    for (let day = first; day <= last && days.size < count; day++) days.add(day);
  }
  return days;
}

/** A user's year: most sign in a few times, some often, and some every day of a streak up to the last day. */
export function year(random: Random): Set<number> {
  const kind = random.unit();
  if (kind < 0.7) return someDays(random, 1 + random.below(20));
  if (kind < 0.95) return someDays(random, 20 + random.below(150));
  const days = someDays(random, 50), streak = random.below(DAYS_OF_YEAR);
  for (let n = 0; n < streak; n++) days.add(DAYS_OF_YEAR - 1 - n);
  return days;
}
