// What FACET and CROSSCARD must reply.

import type { Reply } from "../../support/resp.ts";
import { SYNTAX } from "../../support/suite.ts";
import { type Answer, type Call, integer, refuse } from "./call.ts";
import { Edges } from "./edges.ts";
import { keyCount, questioned } from "./questions.ts";
import { ratio } from "./ratio.ts";

const shared = (a: Edges, b: Edges): bigint => Edges.combine([a, b], (count) => count === 2).count();

interface Score {
  readonly key: string;
  readonly part: bigint;
  readonly whole: bigint;
}

/** The options from `at` on: where the arguments of BY, TOP and MIN are. */
function options(call: Call, at: number): Map<string, number> {
  const found = new Map<string, number>();
  for (; at < call.args.length; at += 2) {
    const word = ["BY", "TOP", "MIN"].find((known) => call.is(at, known));
    if (word === undefined) refuse(`${SYNTAX}: more keys than numfacets, or a word other than BY, TOP and MIN`);
    if (found.has(word) || at + 1 === call.args.length) refuse(SYNTAX);
    found.set(word, at + 1);
  }
  return found;
}

/** A number from 0 to 1 as a fraction. */
function share(text: string): { part: bigint; whole: bigint } {
  const [, digits, places = ""] = /^([01])(?:\.([0-9]{1,18}))?$/.exec(text) ?? [];
  const part = BigInt((digits ?? "2") + places), whole = 10n ** BigInt(places.length);
  return part <= whole ? { part, whole } : refuse("ERR invalid min: must be a number from 0 to 1 with at most 18 decimal places");
}

export function facet(call: Call): Answer {
  const { args } = call, keys = keyCount(call, 2), number = 3 + keys;
  if (number === args.length) refuse(`${SYNTAX}: numfacets is missing`);
  const facets = keyCount(call, number, "numfacets"), at = number + 1, words = options(call, at + facets);
  const by = words.has("BY") ? args[words.get("BY")!]!.toUpperCase() : "CARD";
  if (!["CARD", "JACCARD", "OVERLAP"].includes(by)) refuse(SYNTAX);
  const top = words.has("TOP") ? call.limit(words.get("TOP")!) : undefined;
  const min = words.get("MIN");
  const parsed = (place: number): { part: bigint; whole: bigint } => (by === "CARD" ? { part: call.limit(place), whole: 1n } : share(args[place]!));
  const least = min === undefined ? { part: 0n, whole: 1n } : parsed(min);
  const one = questioned(call, 1, keys);
  if (typeof one === "function") return one;
  const scores = args.slice(at, at + facets).map((key, i): Score => {
    const set = call.source(at + i), part = shared(one, set), [a, b] = [one.count(), set.count()];
    return { key, part, whole: by === "CARD" ? 1n : by === "JACCARD" ? a + b - part : a < b ? a : b };
  });
  const reply = ({ part, whole }: Score): Reply => (by === "CARD" ? integer(part) : ratio(part, whole));
  if (top === undefined && min === undefined) return scores.map(reply);
  const kept = scores.filter(({ part, whole }) =>
    whole > 0n && part * least.whole >= least.part * whole && (part > 0n || top === undefined));
  kept.sort((x, y) => (x.part * y.whole < y.part * x.whole ? 1 : x.part * y.whole > y.part * x.whole ? -1 : 0));
  return kept.slice(0, top === undefined || top > kept.length ? kept.length : Number(top)).map((score) => [score.key, reply(score)]);
}

export function crosscard(call: Call): Answer {
  const { args } = call, rows = keyCount(call, 1, "numrows"), number = 2 + rows;
  if (number === args.length) refuse(`${SYNTAX}: numcols is missing`);
  const columns = keyCount(call, number, "numcols"), within = number + 1 + columns;
  let limit: ReturnType<typeof questioned> | undefined;
  if (within < args.length) {
    if (!call.is(within, "WITHIN")) refuse(`${SYNTAX}: more keys than numcols, or a word other than WITHIN`);
    if (within + 2 >= args.length) refuse(SYNTAX);
    const keys = keyCount(call, within + 2);
    if (within + 3 + keys !== args.length) refuse(`${SYNTAX}: more keys than numkeys`);
    limit = questioned(call, within + 1, keys);
    if (typeof limit === "function") return limit;
  }
  const sets = (at: number, count: number): Edges[] => Array.from({ length: count }, (_, i) => call.source(at + i));
  const inside = (set: Edges): Edges => (limit === undefined ? set : Edges.combine([set, limit as Edges], (count) => count === 2));
  const counted = sets(number + 1, columns).map(inside);
  return sets(2, rows).map((row) => counted.map((column) => integer(shared(row, column))));
}
