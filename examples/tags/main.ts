// Tags: which users have a tag, and which have a combination of tags.

import { asked, example, memoryOf } from "../support/example.ts";
import { tagged } from "./data.ts";

/** Segments: an expression over tags, and what it means for one user. */
const SEGMENTS: readonly [name: string, expression: string, tags: readonly number[], means: (has: readonly boolean[]) => boolean][] = [
  ["0 and 1", "#1 & #2", [0, 1], ([a, b]) => a! && b!],
  ["0 or 1, without 2", "(#1 | #2) - #3", [0, 1, 2], ([a, b, c]) => (a! || b!) && !c],
  ["just one of 0, 1 and 2", "one(#1, #2, #3)", [0, 1, 2], (has) => has.filter(Boolean).length === 1],
  ["3 or more of 0 to 7", "atleast(3, #1..#8)", [0, 1, 2, 3, 4, 5, 6, 7], (has) => has.filter(Boolean).length >= 3],
];

await example("tags", async (run) => {
  const server = await run.server(), { r, redis } = run.connect(server);
  const users = run.scaled(1_000_000, 2000), sets = tagged(run.random, users, run.scaled(5000, 40));
  const tag = (n: number): string => `tag:${n}`, keys = sets.map((_, n) => tag(n)), everyone = Array.from({ length: users }, (_, user) => user);
  const ascending = (set: Iterable<number>): number[] => [...set].sort((a, b) => a - b);

  // --- The table of users and tags.

  for (const [n, set] of sets.entries()) await r.setIntArray(tag(n), set);
  await r.setRange("users", 0, users);
  for (const [n, set] of sets.entries()) {
    run.check(`users of tag ${n}`, await r.bitCount(tag(n)), set.size);
    run.check(`members of tag ${n}`, await r.getIntArray(tag(n)), ascending(set));
  }

  // --- NOT needs to know who exists: the complement of a bitmap ends at its largest member, which need not be the last user.

  const without = everyone.filter((user) => !sets[0]!.has(user));
  run.check("users without tag 0", await r.queryMembers("#1 - #2", ["users", tag(0)]), without);
  run.check("the same, stored", await r.bitOp("DIFF", "without", ["users", tag(0)]), without.length);

  // --- Tags in common, and how alike two tags are.

  const common = ascending(sets[0]!).filter((user) => sets[1]!.has(user)), union = new Set([...sets[0]!, ...sets[1]!]).size;
  run.check("in common", await r.bitOpCard("AND", [tag(0), tag(1)]), common.length);
  run.check("alike", Math.abs((await r.jaccard(tag(0), tag(1)))! - common.length / union) < 1e-9, true);

  // --- The tags of a user, in one call.

  for (let i = 0; i < 20; i++) {
    const user = run.random.below(users);
    run.check(`tags of user ${user}`, await r.mGetBit(user, keys), sets.map((set) => (set.has(user) ? 1 : 0)));
  }
  const [, tagsTime] = await asked(() => r.mGetBit(0, keys));

  // --- Segments, counted and page by page.

  const rows: (string | number)[][] = [];
  for (const [name, expression, tags, means] of SEGMENTS) {
    const right = everyone.filter((user) => means(tags.map((n) => sets[n]!.has(user))));
    const [count, time] = await asked(() => r.queryCard(expression, tags.map(tag)));
    run.check(`segment ${name}`, count, right.length);
    const members: number[] = [];
    for await (const page of r.queryPages(expression, tags.map(tag), { count: 500 })) members.push(...page);
    run.check(`members of segment ${name}`, members, right);
    rows.push([name, `\`${expression.replaceAll("|", "\\|")}\``, count, time]);
  }
  run.table("Segments", ["Tags", "Expression", "Users", "Milliseconds, as the client sees them"], rows);

  let bitmaps = 0, native = 0;
  for (const [n, set] of sets.entries()) {
    bitmaps += await memoryOf(redis, tag(n));
    const last = [...set].reduce((most, user) => Math.max(most, user)), bytes = Buffer.alloc(Math.ceil((last + 1) / 8));
    for (const user of set) bytes[user >> 3]! |= 0x80 >> (user & 7);
    await redis.set("native", bytes);
    run.check(`native users of tag ${n}`, Number(await redis.bitcount("native")), set.size);
    native += await memoryOf(redis, "native");
  }
  run.table("The table", ["", "Figure"], [
    ["Users", users], ["Tags", sets.length], ["Tags set", sets.reduce((sum, { size }) => sum + size, 0)], ["Bytes", bitmaps],
    ["Bytes of native bitmaps", native], ["Milliseconds for all tags of a user", tagsTime],
  ]);
  run.chart({
    title: { text: "Users in each segment of tags", left: "center" }, grid: { left: 170, right: 60, bottom: 40 },
    xAxis: { type: "value" }, yAxis: { type: "category", inverse: true, data: rows.map(([name]) => String(name)) },
    series: [{ type: "bar", data: rows.map(([, , count]) => Number(count)), label: { show: true, position: "right" } }],
  }, { width: 800, height: 300 });
});
