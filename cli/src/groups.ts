// Keys whose names are alike belong together: programs combine them. A command cannot combine a bitmap with a set or a native bitmap, so a
// group is converted as a whole, or its mixture is reported.

import { patternOf, shown } from "./names.js";

/** A type that keys are converted to. Bitmaps of the two families cannot be combined with each other either. */
export type Kind = "R" | "R64" | "native" | "set" | "integers";

/** What becomes of a key: it is converted, from so many bytes to so many; it has a new type already; or it stays. */
export type Outcome = Converted | { already: Kind } | { stays: string };

export interface Converted {
  kind: Kind;
  before: number;
  after: number;
}

/** A group that has keys of several types. */
export interface Mixture {
  pattern: string;
  /** Keys of a new type, and keys that stay. */
  converted: number;
  stay: number;
  why: string;
}

/** A group that stays as a whole. */
export interface Refusal {
  pattern: string;
  keys: number;
  why: string;
}

interface Group {
  converted: number;
  already: number;
  kinds: Set<Kind>;
  /** Types of keys that had one before. */
  former: Set<Kind>;
  before: number;
  after: number;
  /** Keys that stay, by reason, with one of them. */
  stay: Map<string, { keys: number; such: Buffer }>;
}

/** Names beyond so many patterns are one group. */
const GROUPS_MOST = 100_000, REST = "*";

export class Groups {
  readonly #groups = new Map<string, Group>();

  note(name: Buffer, outcome: Outcome): void {
    const group = this.#of(name);
    if ("already" in outcome) {
      group.already++;
      group.former.add(outcome.already);
    } else if ("stays" in outcome) {
      const same = group.stay.get(outcome.stays);
      if (same) same.keys++;
      else group.stay.set(outcome.stays, { keys: 1, such: name });
    } else {
      group.converted++;
      group.kinds.add(outcome.kind);
      group.before += outcome.before;
      group.after += outcome.after;
    }
  }

  #of(name: Buffer): Group {
    const own = patternOf(name), pattern = this.#groups.has(own) || this.#groups.size < GROUPS_MOST ? own : REST;
    let group = this.#groups.get(pattern);
    if (!group) {
      group = { converted: 0, already: 0, kinds: new Set(), former: new Set(), before: 0, after: 0, stay: new Map() };
      this.#groups.set(pattern, group);
    }
    return group;
  }

  /** In the order of their names. */
  mixtures(): Mixture[] {
    return this.#sorted().flatMap(([pattern, group]) => {
      const { converted, already, stay } = group, families = new Set([...group.kinds, ...group.former]);
      if (converted + already === 0 || (stay.size === 0 && families.size < 2)) return [];
      return [{ pattern, converted: converted + already, stay: keysIn(stay), why: reasonOf(stay) ?? FAMILIES }];
    });
  }

  /**
   * The groups that cannot be converted as a whole, or would not save `minSaving`. A group of which a part is converted is to be finished,
   * whatever it saves. Others are not in the result; `includes` then tells which keys are to be converted.
   */
  refusals(minSaving: number | undefined): { refusals: Refusal[]; includes: (name: Buffer) => boolean } {
    const refusals: Refusal[] = [], refused = new Set<Group>();
    for (const [pattern, group] of this.#sorted()) {
      const { converted, already, before, after, stay } = group, keys = converted + keysIn(stay);
      if (keys === 0) continue;
      const saves = minSaving === undefined || already > 0 || (after < before && after <= before * (1 - minSaving));
      const differs = group.former.has("R") && (group.former.has("R64") || group.kinds.has("R64"));
      const why = reasonOf(stay) ?? (differs ? FAMILIES : saves ? undefined : "would not become smaller");
      if (why === undefined) continue;
      refused.add(group);
      refusals.push({ pattern, keys, why });
    }
    return { refusals, includes: (name) => !refused.has(this.#of(name)) };
  }

  #sorted(): [pattern: string, group: Group][] {
    return [...this.#groups].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Whether a key's group has bitmaps of 64 bits, so that all of them have to be such. */
  isWide(name: Buffer): boolean {
    const { kinds, former } = this.#of(name);
    return kinds.has("R64") || former.has("R64");
  }
}

const keysIn = (stay: Group["stay"]): number => [...stay.values()].reduce((sum, { keys }) => sum + keys, 0);

const FAMILIES = "some ids need R64, and commands do not take it together with R";

/** Why most of these keys stay, and one of them. Of reasons of equally many keys the first in the alphabet: SCAN has no order. */
function reasonOf(stay: Group["stay"]): string | undefined {
  const [most] = [...stay].sort(([x, a], [y, b]) => b.keys - a.keys || (x < y ? -1 : 1));
  return most && `${most[0]}, such as ${shown(most[1].such)}`;
}
