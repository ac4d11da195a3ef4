// Videos with ids up to a billion, and their attributes: many attributes a video, many videos an attribute.

import type { Random } from "../../test/support/random.ts";

/** How the videos of an attribute come about. */
type Kind = "common" | "rare" | "campaign" | "recent";

export interface Attribute {
  readonly name: string;
  readonly kind: Kind;
  /** Ascending ids of the videos that have it. */
  readonly videos: number[];
}

const NAMES = [
  "locked", "effects", "music", "vertical", "subtitled", "original", "monetized", "duet", "reviewed", "commented", "pinned", "promoted",
  "spring", "summer", "autumn", "winter", "trending", "uploading", "pending", "appealed",
] as const;

const KINDS: readonly Kind[] = ["common", "common", "rare", "rare", "campaign", "recent"];

/**
 * Videos are uploaded in order of their ids, in [1, ids]. Common attributes have the most videos, and rare ones one in a hundred of
 * `videos`. A campaign marks most uploads of some days, one after the other, and a recent attribute belongs to the last uploads only.
 */
export function attributes(random: Random, ids: number, videos: number): Attribute[] {
  return NAMES.map((name, n) => {
    const kind = KINDS[n % KINDS.length]!, chosen = new Set<number>();
    const count = Math.max(20, Math.floor(kind === "common" ? videos / (1 + n) : kind === "rare" ? videos / 100 : videos / 5));
    if (kind === "campaign") {
      const days = 5, each = Math.floor(count / days);
      for (let day = 0; day < days; day++) {
        const first = 1 + random.below(ids - 2 * each);
        for (let i = 0; i < 1.25 * each; i++) if (random.chance(0.8)) chosen.add(first + i);
      }
    }
    const from = kind === "recent" ? Math.floor(ids * 0.99) : 0;
    while (kind !== "campaign" && chosen.size < Math.min(count, (ids - from) / 2)) chosen.add(1 + from + random.below(ids - from));
    return { name, kind, videos: [...chosen].sort((a, b) => a - b) };
  });
}
