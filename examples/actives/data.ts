// Users who sign up day by day, and the days on which they are active.

import type { Random } from "../../test/support/random.ts";

export const DAYS = 30;
/** Days on which an advertisement brings users who stay less than others, and days on which few people come. */
export const isCampaign = (day: number): boolean => day % 10 === 4;
const isWeekend = (day: number): boolean => day % 7 >= 5;

export interface Site {
  /** The ids of those who signed up on each day, both ends included. */
  cohorts: [first: number, last: number][];
  /** For each id, the days on which the user was active: bit n is day n. */
  active: Uint32Array;
}

/**
 * One in 200 of all ids signs up each day. New users come often, and less so every day, and those of a campaign least; of older users,
 * one in 25 comes. On weekends, a third of all stays away.
 */
export function site(random: Random, ids: number): Site {
  const growth = Math.floor(ids / 200), base = ids - growth * DAYS, active = new Uint32Array(ids);
  const cohorts = Array.from({ length: DAYS }, (_, day): [number, number] => [base + day * growth, base + (day + 1) * growth - 1]);
  for (let day = 0; day < DAYS; day++) {
    const share = isWeekend(day) ? 0.67 : 1;
    for (let visit = 0; visit < share * base / 25; visit++) active[random.below(base)]! |= 1 << day;
    for (const [joined, [first, last]] of cohorts.slice(0, day + 1).entries()) {
      const age = day - joined, comes = age === 0 ? 1 : share * (isCampaign(joined) ? 0.3 : 0.6) / age ** (isCampaign(joined) ? 0.8 : 0.5);
      for (let id = first; id <= last; id++) if (random.chance(comes)) active[id]! |= 1 << day;
    }
  }
  return { cohorts, active };
}

/** Whether a user was active on a day. */
export const isActive = ({ active }: Site, id: number, day: number): boolean => ((active[id]! >>> day) & 1) === 1;

/** Those who were active on a day, in the order of ids. */
export function activeOn(all: Site, day: number): number[] {
  const ids: number[] = [];
  for (let id = 0; id < all.active.length; id++) if (isActive(all, id, day)) ids.push(id);
  return ids;
}
