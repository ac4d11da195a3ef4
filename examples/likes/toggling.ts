// Three ways to toggle a like while many clients do the same.

import type { Connected } from "../support/example.ts";

/** Toggles a user's like of a post. Returns how often it had to try again. */
type Toggle = (client: Connected, key: string, user: bigint) => Promise<number>;

/** Sets a bit only if it still is what the client saw. The id stays text: numbers in Lua are doubles. */
const COMPARE_AND_SET = `
if redis.call("R64.GETBIT", KEYS[1], ARGV[1]) ~= tonumber(ARGV[2]) then return 0 end
redis.call("R64.SETBIT", KEYS[1], ARGV[1], 1 - ARGV[2])
return 1`;

/** One atomic command. */
const toggle: Toggle = async ({ r64 }, key, user) => {
  await r64.toggle(key, user);
  return 0;
};

/** Reads, then writes only if nothing has changed meanwhile. Useful if the client has to decide something between the two. */
const compareAndSet: Toggle = async ({ r64, redis }, key, user) => {
  for (let retries = 0; ; retries++) {
    const seen = await r64.getBit(key, user);
    if (Number(await redis.eval(COMPARE_AND_SET, 1, key, String(user), seen)) === 1) return retries;
  }
};

/** Reads, then writes: another client can write between the two, and its change is lost. */
const readThenWrite: Toggle = async ({ r64 }, key, user) => {
  await r64.setBit(key, user, await r64.getBit(key, user) === 1 ? 0 : 1);
  return 0;
};

export const ways = { "`toggle`": toggle, "compare-and-set in Lua": compareAndSet, "read, then write (wrong)": readThenWrite } as const;
