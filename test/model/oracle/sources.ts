// Random bitmaps for expressions: containers of every kind at keys that several bitmaps share, and spans of full ones between them.

import { type Family, range } from "../../support/family.ts";
import type { Random } from "../../support/random.ts";
import type { Command } from "../../support/resp.ts";
import { Edges } from "./edges.ts";

/** A bitmap, and the commands that make it: none if its key is missing. */
export interface Source {
  readonly key: string;
  readonly set: Edges;
  readonly commands: readonly Command[];
}

const CONTAINER = 65_536;

/** Keys of containers that sources of a family have in common: near one another, far apart, and at the ends of the universe. */
function sharedKeys(random: Random, { bits, last }: Family): bigint[] {
  const top = last >> 16n, anywhere = random.u64() >> BigInt(80 - bits);
  const far = bits === 32 ? [0x7fffn, 0x8000n] : [2n ** 16n - 1n, 2n ** 16n, 2n ** 31n, 2n ** 47n - 1n, 2n ** 47n, 2n ** 48n - 3n];
  const known = [0n, 1n, 2n, 3n, 9n, anywhere, ...far, top - 1n, top];
  const chosen = known.filter(() => random.chance(0.4));
  return chosen.length > 0 ? chosen : [random.pick(known)];
}

class Draft {
  readonly commands: Command[] = [];
  set = new Edges();
  readonly #key: string;
  readonly #family: Family;

  constructor(key: string, family: Family) {
    this.#key = key;
    this.#family = family;
  }

  #send(command: string, ...args: (bigint | number)[]): void {
    this.commands.push([`${this.#family.name}.${command}`, this.#key, ...args]);
  }

  empty(): void {
    this.#send("SETBIT", 0, 0);
  }

  full(): void {
    this.#send("SETFULL");
    this.set.assign(0n, this.#family.last + 1n, true);
  }

  add(members: readonly bigint[]): void {
    if (members.length > 0) this.#send("APPENDINTARRAY", ...members);
    this.set = Edges.combine([this.set, Edges.of(members)], (count) => count > 0);
  }

  /** Adds or removes [from, to). */
  assign(from: bigint, to: bigint, value: boolean): void {
    const end = to > this.#family.last ? this.#family.last : to;
    this.#send(value ? "SETRANGE" : "CLEARRANGE", from, end);
    this.set.assign(from, end, value);
  }
}

/** `count` sources. Those that are `rich` have arrays and bitsets of thousands of members in some containers. */
export function randomSources(random: Random, family: Family, count: number, rich: boolean): Source[] {
  const keys = sharedKeys(random, family), ends = [0, 1, 63, 64, 65_534, 65_535];
  const low = (): number => (random.chance(0.1) ? random.pick(ends) : random.below(CONTAINER));
  const pools = keys.map((_, i) => range(0, rich && i < 2 ? 8000 : 60).map(low));
  const draft = (name: string): Draft => {
    const made = new Draft(name, family), habit = random.pick([0.15, 0.5, 0.9]);
    /** [from, to) in the container. */
    const stretch = (base: bigint): readonly [bigint, bigint] => {
      const from = random.chance(0.3) ? random.pick(ends) : random.below(CONTAINER);
      const most = CONTAINER - from, size = random.chance(0.2) ? most : 1 + random.below(Math.min(most, random.pick([4, 300, 40_000])));
      return [base + BigInt(from), base + BigInt(from + size)];
    };
    const kinds: ((base: bigint, pool: readonly number[]) => void)[] = [
      (base, pool) => made.add(range(0, 1 + random.below(2)).map(() => base + BigInt(random.pick(pool)))),
      (base, pool) => {
        const share = random.pick([0.02, 0.2, 0.45, 0.8]);
        made.add(pool.filter(() => random.chance(share)).map((member) => base + BigInt(member)));
      },
      (base) => range(0, 1 + random.below(random.pick([2, 12]))).forEach(() => made.assign(...stretch(base), true)),
      (base) => made.assign(base, base + BigInt(CONTAINER), true),
      (base) => {
        made.assign(base, base + BigInt(CONTAINER), true);
        range(0, 1 + random.below(5)).forEach(() => made.assign(...stretch(base), false));
      },
    ];
    if (random.chance(0.05)) return made;                     // missing
    if (random.chance(0.04)) made.full();
    else made.empty();
    if (random.chance(0.05)) return made;
    if (random.chance(0.15)) {
      const [from, to] = [random.pick(keys), random.pick(keys)].sort((a, b) => (a < b ? -1 : 1)) as [bigint, bigint];
      made.assign(from << 16n, (to + BigInt(random.below(2))) << 16n, true);
    }
    keys.forEach((key, i) => {
      if (random.chance(habit)) random.pick(kinds)(key << 16n, pools[i]!);
    });
    if (random.chance(0.1)) made.assign(...stretch(random.pick(keys) << 16n), false);
    return made;
  };
  return range(0, count).map((i) => {
    const key = `source:${i}`, { commands, set } = draft(key);
    return { key, set, commands };
  });
}
