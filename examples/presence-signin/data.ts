// Heartbeats of users, and the days on which users sign in.

import type { Random } from "../../test/support/random.ts";

export const DAYS_OF_YEAR = 365;

/** Users who are online in each of some minutes. One in ten of those who are online goes each minute, and others come. */
export function heartbeats(random: Random, users: number, minutes: number): Set<number>[] {
  let online = new Set<number>();
  return Array.from({ length: minutes }, () => {
    online = new Set([...online].filter(() => !random.chance(0.1)));
    while (online.size < users / 20) online.add(random.below(users));
    return online;
  });
}

/** The days of a year, from 0, on which a user signs in `count` times: a streak up to `today`, and other days. */
export function signIns(random: Random, count: number, today: number): Set<number> {
  const days = new Set<number>(), streak = random.below(Math.min(count, today) + 1);
  for (let n = 0; n < streak; n++) days.add(today - n);
  while (days.size < Math.min(count, today + 1)) days.add(random.below(today + 1));
  return days;
}
