// What QUERY and QUERYSTORE must reply.

import { expect } from "vitest";
import type { Reply } from "../../support/resp.ts";
import { SYNTAX } from "../../support/suite.ts";
import { type Answer, type Call, integer, list, page, refuse } from "./call.ts";
import type { Edges } from "./edges.ts";
import { evaluate, parse } from "./expression.ts";
import { exportedSet } from "./streams.ts";

/** The number of keys, which is the argument at `at`. */
export function keyCount({ args }: Call, at: number, name = "numkeys"): number {
  const text = args[at]!;
  if (!/^[1-9][0-9]*$/.test(text) || Number(text) >= 2 ** 32) refuse(`ERR ${name} should be greater than 0`);
  return Number(text) > args.length - at - 1 ? refuse("ERR Number of keys can't be greater than number of args") : Number(text);
}

/** The members of the expression at `at`, or the check of the reply that refuses it. Its sources follow their number. */
export function questioned(call: Call, at: number, keys: number): Edges | ((reply: Reply) => void) {
  const { family, args } = call, tree = parse(args[at]!, keys, family.last);
  if (tree === undefined) return (reply) => expect((reply as Error).message).toMatch(/^ERR Roaring: query: .* at character [1-9][0-9]*$/);
  return evaluate(tree, args.slice(at + 2, at + 2 + keys).map((_, i) => call.source(at + 2 + i)), family.last);
}

export function query(call: Call): Answer {
  const { args } = call, keys = keyCount(call, 2), form = 3 + keys;
  if (args.length > form && !["CARD", "MEMBERS", "EXPORT"].some((known) => call.is(form, known))) {
    refuse(`${SYNTAX}: more keys than numkeys, or a word other than CARD, MEMBERS and EXPORT`);
  }
  const { down, from, limit } = page(call, form + 1, call.is(form, "MEMBERS") ? ["REV", "FROM", "LIMIT"] : call.is(form, "CARD") ? ["LIMIT"] : []);
  const set = questioned(call, 1, keys);
  if (typeof set === "function") return set;
  if (call.is(form, "EXPORT")) return exportedSet(call.family, set);
  if (!call.is(form, "MEMBERS")) return integer(limit > 0n && set.count() > limit ? limit : set.count());
  const [low, high] = down ? [0n, (from ?? call.family.last) + 1n] : [from ?? 0n, 2n ** 64n], count = set.count(low, high);
  return list(set, low, high, count < limit ? count : limit, down);
}

const DISTANCE = /^-?(?:0|[1-9][0-9]*)$/;

/** OFFSET, FROM and LIMIT from an argument on, in any order. */
function part(call: Call, at: number): { from: bigint; limit: bigint | undefined; distance: bigint } {
  const { last } = call.family, open = new Set(["OFFSET", "FROM", "LIMIT"]);
  let from = 0n, limit: bigint | undefined, distance = 0n;
  for (; at < call.args.length; at += 2) {
    const word = ["OFFSET", "FROM", "LIMIT"].find((one) => call.is(at, one)) ?? refuse(`${SYNTAX}: more keys than numkeys`);
    if (at + 1 === call.args.length || !open.delete(word)) refuse(SYNTAX);
    if (word === "FROM") from = call.offset(at + 1, "offset");
    else if (word === "LIMIT") limit = call.limit(at + 1);
    else {
      const text = call.args[at + 1]!;
      distance = DISTANCE.test(text) ? BigInt(text) : last + 1n;
      if (distance > last || distance < -last) refuse(`ERR invalid offset: must be an integer between -${last} and ${last}`);
    }
  }
  return { from, limit, distance };
}

export function querystore(call: Call): Answer {
  const keys = keyCount(call, 3), { from, limit, distance } = part(call, 4 + keys);
  const set = questioned(call, 2, keys);
  if (typeof set === "function") return set;
  const stored = set.clone();
  stored.assign(0n, from, false);
  const beyond = limit === undefined ? undefined : stored.select(limit);
  if (beyond !== undefined) stored.assign(beyond, call.family.last + 1n, false);
  const least = stored.select(0n);
  if (least !== undefined && (least + distance < 0n || stored.max! + distance > call.family.last)) {
    refuse("ERR Roaring: a member would be moved out of the range of offsets");
  }
  return integer(call.overwrite(1, stored.moved(distance)).count());
}
