// Random expressions over random bitmaps of both families, compared with a sweep over the places where the bitmaps change.
//
//   SEED          repeats a run
//   EXPRESSIONS   how many, in runs with the next seeds (default 20000; 4000 on all but the best CPU level)

import { describe, expect, it } from "vitest";
import { type Answer, integer } from "./oracle/call.ts";
import type { Edges } from "./oracle/edges.ts";
import { LONGEST, parse, render, Sweep, type Tree } from "./oracle/expression.ts";
import { compare, questions } from "./oracle/foretell.ts";
import { randomSources, type Source } from "./oracle/sources.ts";
import { named, randomTree, simpler, withTwin } from "./oracle/trees.ts";
import { families, type Family, type Member, member, range } from "../support/family.ts";
import { readPayload } from "../support/format.ts";
import { type Random, seeded } from "../support/random.ts";
import { bytesOf, type Command, type Reply } from "../support/resp.ts";
import { byName, expectEqual, useServer } from "../support/suite.ts";
import { withDebug } from "../support/server.ts";

const EXPRESSIONS = Number(process.env.EXPRESSIONS ?? (process.env.ROAR_BRIEF ? 4000 : 20_000));
/** The expressions of one run. */
const RUN = 4000;
const MOST_KEYS = 40;
const BATCH = 25;
const MOST_LISTED = 1000n;
const MOST_EXPORTED = 3000n;
/** Containers of a result that is exported or looked at as a whole. */
const MOST_CONTAINERS = 300n;

/** A command with the reply that it must give. */
type Asked = readonly [command: Command, expected: Answer];

const server = useServer({ moduleArguments: withDebug });

/** How often each form was compared. */
type Compared = Record<"card" | "members" | "export" | "store" | "storeIntoSource", number>;

interface Question {
  readonly random: Random;
  readonly family: Family;
  readonly text: string;
  readonly keys: readonly Source[];
  readonly members: Edges;
  readonly cuts: readonly bigint[];
}

/** Commands that put an expression with these members to the server in every form, or in most cases only in the cheap ones. */
function* asked({ random, family, text, keys, members, cuts }: Question, compared: Compared): Generator<Asked> {
  const names = keys.map(({ key }) => key), count = members.count();
  const query = (...form: (string | bigint | number)[]): Command => [`${family.name}.QUERY`, text, names.length, ...names, ...form];
  const page = (from: bigint, limit: number): [Asked, bigint[]] => {
    const listed = members.members(from, 2n ** 64n, limit);
    compared.members++;
    return [[query("MEMBERS", "FROM", from, "LIMIT", limit), listed.map(integer)], listed];
  };

  compared.card++;
  yield [query(...random.pick([[], ["CARD"]])), integer(count)];
  const at = random.pick(cuts) + BigInt(random.below(3) - 1), from = at < 0n ? 0n : at > family.last ? family.last : at;
  yield page(from, random.below(random.pick([3, 100, 500])))[0];
  if (random.chance(0.2)) {
    const size = 1 + random.below(100);
    for (let next = 0n, pages = 0; next <= family.last && pages < 6; pages++) {
      const [question, listed] = page(next, size);
      yield question;
      if (listed.length < size) break;
      next = listed.at(-1)! + 1n;
    }
  }
  if (count <= MOST_LISTED && random.chance(0.3)) {
    compared.members++;
    yield [query("MEMBERS"), members.members().map(integer)];
  }
  if (members.containers() > MOST_CONTAINERS || random.chance(0.5)) return;
  compared.store++;
  // The copy of a source that is given twice would be another source, and its result could have other containers.
  const isCopied = new Set(names).size === names.length && random.chance(0.3), target = isCopied ? random.below(keys.length) : -1;
  const sources = names.with(target, target < 0 ? names.at(-1)! : "target");
  if (target >= 0) {
    compared.storeIntoSource++;
    yield [["COPY", names[target]!, "target", "REPLACE"], Number(keys[target]!.commands.length > 0)];
    if (keys[target]!.commands.length === 0) yield [["UNLINK", "target"], () => {}];
  }
  yield [[`${family.name}.QUERYSTORE`, "target", text, sources.length, ...sources], integer(count)];
  yield* questions("target", { family, set: members });
  compared.export++;
  let stream: Reply;
  const kept: Answer = (reply) => { stream = reply; };
  yield [query("EXPORT"), kept];
  const same: Answer = (reply) => expect(reply === stream, "the stream is that of what was stored").toBe(true);
  yield [[`${family.name}.EXPORT`, "target"], same];
  if (count > MOST_EXPORTED) return;
  const read: Answer = (reply) => expectEqual(membersIn(family, reply), members.members().map(member));
  yield [query("EXPORT"), read];
}

const membersIn = ({ bits }: Family, stream: Reply): Member[] =>
  readPayload(bits, bits === 32 ? Buffer.concat([Buffer.from([2]), bytesOf(stream)]) : bytesOf(stream));

/** Puts expressions over sources of their own to the server. */
async function compareSome(random: Random, count: number, rich: boolean, compared: Compared): Promise<void> {
  const family = random.pick(families), shape = { keys: 1 + random.below(random.pick([3, 8, MOST_KEYS])), depth: 8 };
  const sources = randomSources(random, family, shape.keys, rich);
  const near = sources.flatMap(({ set }) => [...set.stretches()].flat()).filter((offset) => offset <= family.last);
  const offsets = [0n, family.last, random.u64() & family.last, ...range(0, 20).flatMap(() => (near.length > 0 ? random.pick(near) : []))];
  const sweep = new Sweep(sources.map(({ set }) => set), offsets.flatMap((offset) => [offset, offset + 1n]), family.last + 1n);
  const ends = (): [bigint, bigint] => {
    const [a, b] = [random.pick(offsets), random.pick(offsets)];
    return a < b ? [a, b] : [b, a];
  };

  await server.run("FLUSHALL", "SYNC");
  const loaded = await server.connection.pipeline(sources.flatMap(({ commands }) => commands));
  expect(loaded.filter((reply) => reply instanceof Error)).toEqual([]);
  for (let done = 0; done < count; done += BATCH) {
    const put: { tree: Tree; asked: Asked }[] = [];
    for (let i = 0; i < BATCH; i++) {
      const tree = randomTree(random, { ...shape, depth: 1 + random.below(8), operands: random.pick([2, 4, 12, 40]), ends });
      const [plain, ownKeys] = named(tree);
      if (ownKeys.length === 0) continue;
      const [renumbered, keys] = random.chance(0.2) ? withTwin(random, plain, ownKeys) : [plain, ownKeys];
      const text = render(renumbered, random);
      if (text.length > LONGEST) continue;
      expect(parse(text, keys.length, family.last), text).toEqual(renumbered);
      const members = sweep.edges(sweep.evaluate(tree));
      const question = { random, family, text, keys: keys.map((key) => sources[key]!), members, cuts: sweep.cuts };
      for (const one of asked(question, compared)) put.push({ tree, asked: one });
    }
    const replies = await server.connection.pipeline(put.map(({ asked: [command] }) => command));
    for (const [i, { tree, asked: [command, expected] }] of put.entries()) {
      try {
        compare(replies[i]!, expected);
      } catch (error) {
        (error as Error).message += `\n  ${command.join(" ")}${await explained(random, family, tree, sources, sweep)}`;
        throw error;
      }
    }
  }
}

/** The simplest tree found that the server answers wrongly, and the commands that make its sources. */
async function explained(random: Random, family: Family, tree: Tree, sources: readonly Source[], sweep: Sweep): Promise<string> {
  if (server.dead) return "";
  const plain = { ...random, chance: () => false };
  const question = (of: Tree): readonly [(string | number)[], Source[]] => {
    const [renumbered, keys] = named(of), used = keys.map((key) => sources[key]!);
    return [[render(renumbered, plain), keys.length, ...used.map(({ key }) => key)], used];
  };
  const isWrong = async (of: Tree): Promise<boolean> => {
    const [args] = question(of), members = sweep.edges(sweep.evaluate(of)), count = integer(members.count());
    const [counted, listed, stored] = await server.connection.pipeline([
      [`${family.name}.QUERY`, ...args], [`${family.name}.QUERY`, ...args, "MEMBERS", "LIMIT", 1000], [`${family.name}.QUERYSTORE`, "target", ...args],
    ]);
    return counted !== count || stored !== count || String(listed) !== String(members.members(0n, 2n ** 64n, 1000));
  };
  for (let found = true; found;) {
    found = false;
    for (const next of simpler(tree)) {
      if (named(next)[1].length === 0 || !await isWrong(next)) continue;
      tree = next;
      found = true;
      break;
    }
  }
  const [args, used] = question(tree), commands = used.flatMap((source) => source.commands.map((words) => words.join(" ").slice(0, 300)));
  return `\n  ${await isWrong(tree) ? "wrong" : "right, but not the whole"}: ${args.join(" ")}\n  after:\n    ${commands.join("\n    ")}`;
}

const runs = range(0, Math.ceil(EXPRESSIONS / RUN)).map((i) => ({ name: `seed + ${i}`, i }));

describe("random expressions have the members that a sweep finds", () => {
  it.each(byName(runs))("%s", (_, { i }) =>
    seeded(async (random) => {
      const compared: Compared = { card: 0, members: 0, export: 0, store: 0, storeIntoSource: 0 };
      for (let done = 0; done < Math.min(RUN, EXPRESSIONS);) {
        const rich = random.chance(0.25), count = rich ? 50 : 100;
        await compareSome(random, count, rich, compared);
        done += count;
      }
      for (const [form, times] of Object.entries(compared)) expect(times, form).toBeGreaterThan(Math.min(RUN, EXPRESSIONS) / 50);
    }, i)(),
  );
});
