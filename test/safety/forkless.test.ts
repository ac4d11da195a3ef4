// Saving without fork, as Valkey can from 9.2 on: a thread of the server calls rdb_save while the main thread serves clients, and opens no
// key for writing meanwhile that the thread reads. test/support/forkless.c stands for such a server.
//
// SECONDS says how long keys are saved while clients ask and write; by default half a second for each family.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { callOf, isKey, rows } from "../support/calls.ts";
import { families, type Family, R } from "../support/family.ts";
import type { Command, Reply } from "../support/resp.ts";
import { built, projectRoot, withDebug } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";
import { waitUntil } from "../support/waiting.ts";

const MILLISECONDS = 1000 * Number(process.env.SECONDS ?? 0.5);
const IN_USE = "TRYAGAIN Roaring: the key cannot be written while it is saved";
const HANDLES_FORKLESS = 1 << 6, HANDLES_SLOT_MIGRATION = 1 << 5;

const folder = mkdtempSync(join(tmpdir(), "redis-roar-forkless-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compile(): string {
  const module = join(folder, "forkless.so"), source = join(projectRoot, "test/support/forkless.c");
  const compiler = ["clang-19", "clang", "gcc"].find((name) => spawnSync(name, ["--version"]).status === 0) ?? "cc";
  execFileSync(compiler, ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", module, source, "-ldl", "-lpthread"]);
  return module;
}

// Every question that may leave the main thread does.
const moduleArguments = [built("redis-roar-trap.so"), ...withDebug, "THREADS", "2", "THREADS-FROM-BYTES", "0"];
// The server's compression looks into a table that it has not cleared, on the thread's stack, and may not give the same bytes each time.
const server = useServer({ module: compile(), moduleArguments, config: ["rdbcompression no"] });
afterEach(() => server.run("FORKLESS.END"));

/** How often each key has been saved since FORKLESS.BEGIN, how many of the payloads were unlike the first one, and that one. */
const end = async (): Promise<[saves: number, unlike: number, payload: string][]> => (await server.run("FORKLESS.END")) as never;

/** Expects that what a thread saved is what DUMP returns, between what DUMP adds. */
async function expectSaved(key: string, payload: string): Promise<void> {
  expect(payload.length).toBeGreaterThan(0);
  expect(((await server.run("DUMP", key)) as string).includes(payload), key).toBe(true);
}

const load = (family: Family, key: string): Promise<Reply> => server.run(`${family.name}.SETINTARRAY`, key, 1, 2, 3, 70_000);

it("the module says that it can be saved without fork, where the server has an option for it", async () => {
  const options = (await server.run("FORKLESS.OPTIONS")) as number;
  expect(options & (HANDLES_FORKLESS | HANDLES_SLOT_MIGRATION)).toBe(HANDLES_FORKLESS | HANDLES_SLOT_MIGRATION);
});

describe.each(byName(rows))("%s", (name, { row, family }) => {
  const call = callOf(row, family), keys = [...new Set(call.filter((word) => isKey(word)))];
  // OPTIMIZE changes no member, and is no write for the server, which would keep others from the module.
  const writes = keys.some((key) => /^[wo]/.test(key)) || row.name === "OPTIMIZE";

  it(writes ? "refuses to write to keys that are being saved" : "reads keys that are being saved", async () => {
    for (const key of keys) await (key.startsWith("s") ? server.run("SET", key, "text") : key === "w:none" ? server.run("DEL", key) : load(family, key));
    const before = await Promise.all(keys.map((key) => server.run("DUMP", key)));
    for (const key of keys) await server.run("FORKLESS.BEGIN", key);
    const refused = await server.run(name, ...call).then(() => "", ({ message }: Error) => message);
    await end();
    expect(refused).toBe(writes ? IN_USE : "");
    expect(await Promise.all(keys.map((key) => server.run("DUMP", key)))).toEqual(before);
    await server.run(name, ...call);
  });
});

describe.each(byName(families))("%s bitmaps that are saved on threads", (prefix) => {
  const name = (command: string): string => `${prefix}.${command}`;

  it("are saved as they are, while clients ask about them and write to others", { timeout: MILLISECONDS + 60_000 }, async () => {
    const few = "few", many = "many", ranges = "ranges", saved = [few, many, ranges];
    await server.run(name("SETINTARRAY"), few, 1, 2, 3, 70_000, 4_000_000_000);
    await server.run(name("SETINTARRAY"), many, ...Array.from({ length: 20_000 }, (_, i) => i * 37));
    for (const start of [0, 100_000, 9_000_000]) await server.run(name("SETRANGE"), ranges, start, start + 90_000);
    const questions: Command[] = [
      [name("QUERY"), "#1 | #2 | #3", 3, ...saved, "CARD"], [name("BITOPCARD"), "XOR", ...saved], [name("GETBIT"), many, 37],
      [name("BITCOUNT"), ranges], [name("EXPORT"), many], [name("STAT"), few],
    ];
    const answers = await server.connection.pipeline(questions);
    for (const key of saved) await server.run("FORKLESS.BEGIN", key);

    const deadline = Date.now() + MILLISECONDS;
    let rounds = 0;
    for (; rounds < 2 || Date.now() < deadline; rounds++) {
      const [asked, [written, refused, copied]] = await Promise.all([
        server.connection.pipeline(questions),
        server.speaking(3).pipeline([
          [name("SETINTARRAY"), "written", ...Array.from({ length: 3000 }, (_, i) => i * (1 + rounds % 50))],
          [name("SETBIT"), many, 5, 1], ["COPY", many, "copied", "REPLACE"], [name("SETBIT"), "copied", rounds + 5, 1],
          ["DUMP", "written"], ...(rounds % 50 === 1 ? [["BGSAVE"], ["SAVE"]] : []),
        ]),
      ]);
      expect(asked).toEqual(answers);
      expect([written, (refused as Error).message, copied]).toEqual(["OK", IN_USE, 1]);
    }
    for (const [i, [saves, unlike, payload]] of (await end()).entries()) {
      expect(saves).toBeGreaterThan(0);
      expect(unlike).toBe(0);
      await expectSaved(saved[i]!, payload);
    }
    expect(await server.run(name("BITCOUNT"), "written")).toBe(3000);
    await waitUntil(async () => (await server.info("rdb_bgsave_in_progress")) === "0");
  });
});

it("a damaged bitmap is saved on a thread as an empty one", async () => {
  await load(R, "damaged");
  await expect(server.run("ROAR.TRAP", "damaged", "WRITE")).rejects.toThrow(/internal error/);
  await server.run("FORKLESS.BEGIN", "damaged");
  const [[, unlike, payload]] = (await end()) as [[number, number, string]];
  expect(unlike).toBe(0);
  await expectSaved("damaged", payload);
  await server.run("R.SETBITARRAY", "empty", "0");
  await expectSaved("empty", payload);
  expect(server.log()).toMatch(/saving an empty bitmap in its place: it is damaged/);
});
