// Users and tags: the seven users of a worked example, and a site whose tags follow Zipf's law.

import type { Random } from "../../test/support/random.ts";

/** Seven tags, and which of seven users have them. */
export const SMALL_TAGS = ["vip", "mobile", "email", "male", "mac", "supervip", "lost"] as const;
export const SMALL_USERS: readonly (readonly [user: number, has: readonly (0 | 1)[]])[] = [
  [1, [1, 1, 0, 1, 0, 0, 0]],
  [2, [0, 1, 0, 0, 0, 0, 1]],
  [3, [0, 0, 0, 1, 1, 0, 1]],
  [4, [1, 1, 0, 0, 0, 0, 1]],
  [5, [0, 0, 1, 0, 1, 1, 0]],
  [6, [0, 1, 0, 1, 1, 1, 0]],
  [7, [1, 0, 1, 1, 0, 0, 1]],
];

/** Users of each tag: the first has 30 percent of all users, the one of rank r that many divided by r. Tag 1 shares users with tag 0. */
export function tagged(random: Random, users: number, tags: number): Set<number>[] {
  const sets = Array.from({ length: tags }, (_, tag) => {
    const set = new Set<number>(), size = Math.max(3, Math.round(0.3 * users / (tag + 1)));
    while (set.size < size) set.add(1 + random.below(users));
    return set;
  });
  for (const user of sets[0]!) if (random.chance(0.4)) sets[1]!.add(user);
  return sets;
}
