// Seeded random numbers. A failing test prints its seed, and SEED=<number> repeats the run.

export interface Random {
  /** A float in [0, 1). */
  unit(): number;
  /** An integer in [0, bound), for bounds up to 2^53. */
  below(bound: number): number;
  /** An integer in [0, 2^64). */
  u64(): bigint;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** The same elements in a random order. */
  shuffled<T>(from: readonly T[]): T[];
}

/** sfc32, a small generator of good quality. */
export function random(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const u32 = (): number => {
    const t = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  for (let i = 0; i < 16; i++) u32();
  const unit = (): number => (u32() * 2 ** 21 + (u32() >>> 11)) / 2 ** 53;
  const below = (bound: number): number => Math.floor(unit() * bound);
  return {
    unit,
    below,
    u64: () => (BigInt(u32()) << 32n) | BigInt(u32()),
    chance: (probability) => unit() < probability,
    pick: (from) => from[below(from.length)]!,
    shuffled: (from) => from.map((element) => ({ element, at: unit() })).sort((x, y) => x.at - y.at).map(({ element }) => element),
  };
}

export const seed = process.env.SEED === undefined ? Date.now() % 2 ** 31 : Number(process.env.SEED);

/** Calls a test body with a generator for the seed of the run plus `after`, and adds that seed to the message of a failure. */
export function seeded(body: (random: Random) => Promise<void>, after = 0): () => Promise<void> {
  return async () => {
    try {
      await body(random(seed + after));
    } catch (error) {
      if (error instanceof Error) error.message += `\n  repeat with SEED=${seed + after}`;
      throw error;
    }
  };
}
