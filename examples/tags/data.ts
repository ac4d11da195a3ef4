// Which users have which tags.

import type { Random } from "../../test/support/random.ts";

/** The users of each tag. Half of the first tag's users share the second, and tag n has about 1 / (n + 2) of all users. */
export function tagged(random: Random, users: number, tags: number): Set<number>[] {
  const sets = Array.from({ length: tags }, (_, tag) => {
    const set = new Set<number>(), size = Math.ceil(users / (tag + 2));
    for (let i = 0; i < size; i++) set.add(random.below(users));
    return set;
  });
  for (const user of sets[0]!) if (random.chance(0.5)) sets[1]!.add(user);
  return sets;
}
