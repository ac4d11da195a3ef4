// What clients send and the module writes to the server's log: names of keys and module arguments. None of it may end a line, so that no
// client can forge one, nor send control characters to a terminal, nor fill the disk.

import { describe, expect, it } from "vitest";
import { dumpOf } from "../support/dump.ts";
import { families, R } from "../support/family.ts";
import { roarOn } from "../support/roar.ts";
import { builtModule, type Server } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";
import { useTrapServer } from "../support/trap.ts";

const FORGED = "12345:M 01 Jan 2030 00:00:00.000 # <redis-roar> forged";
/** Names of keys, and how the log shows them. */
const names: [what: string, name: Buffer, shown: string][] = [
  ["plain", Buffer.from("user:1 {a}"), "user:1 {a}"],
  ["with a line feed", Buffer.from(`k'\n${FORGED}\r\n`), String.raw`k\'\n${FORGED}\r\n`],
  ["with unprintable bytes", Buffer.from("\0\t\x1b[31m\x7f\x80\xff\\", "latin1"), String.raw`\x00\x09\x1b[31m\x7f\x80\xff\\`],
  ["empty", Buffer.alloc(0), ""],
  ["of 128 bytes", Buffer.alloc(128, "a"), "a".repeat(128)],
  ["of 129 bytes", Buffer.alloc(129, "a"), `${"a".repeat(128)}...`],
  ["of a million line feeds", Buffer.alloc(1_000_000, "\n"), `${"\\n".repeat(128)}...`],
  ["of many unprintable bytes", Buffer.alloc(500, 1), `${"\\x01".repeat(128)}...`],
];
const named = names.map(([name, bytes, shown]) => ({ name, bytes, shown }));

/** The lines of the module, or that look as if they were, that the action adds to the log; without their time stamps. */
async function linesOf(server: Server, action: () => Promise<unknown>): Promise<string[]> {
  const before = server.log().length;
  await action();
  const lines = server.log().slice(before).split("\n").filter((line) => line.includes("<redis-roar>"));
  return lines.map((line) => line.replace(/^\d+:\w \d+ \w+ \d{4} [\d:.]+ /, ""));
}

describe.each(byName(named))("a key's name in the log: %s", (_, { bytes, shown }) => {
  const server = useServer();

  it.each(byName(families))("is quoted where a payload is refused: %s", async (_name, family) => {
    const lines = await linesOf(server, async () => {
      expect(await server.connection.refusal("RESTORE", bytes, 0, dumpOf(family.type, Buffer.from("nonsense!")))).toMatch(/^ERR Bad data/);
    });
    expect(lines).toEqual([expect.stringMatching(/^# <redis-roar> key '.*': invalid (reroaring|roaring64) payload of 9 bytes: /)]);
    expect(lines[0]).toContain(`key '${shown}': invalid ${family.type}`);
  });
});

describe("a key's name in the log of a trap", () => {
  const server = useTrapServer();

  it.each(byName(named))("is quoted: %s", async (_, { bytes, shown }) => {
    await server.run("R.SETBIT", bytes, 1, 1);
    const lines = await linesOf(server, () => server.connection.refusal("ROAR.TRAP", bytes, "READ"));
    expect(lines).toEqual([expect.stringContaining(`# <redis-roar> trap in ROAR.TRAP, key '${shown}': `)]);
  });

  it("is quoted where a damaged bitmap is saved", async () => {
    const [, bytes, shown] = names[1]!;
    await roarOn(server, R).load("k", [1, 2, 3]);
    await server.run("RENAME", "k", bytes.toString());
    await server.connection.refusal("ROAR.TRAP", bytes, "WRITE");
    const lines = await linesOf(server, () => server.run("SAVE"));
    expect(lines).toEqual([`# <redis-roar> key '${shown}': saving an empty bitmap in its place: it is damaged`]);
  });
});

describe("a module argument in the log", () => {
  const server = useServer({ module: null });

  it("is quoted where it is refused", async () => {
    const loaded = (...args: string[]): Promise<string[]> =>
      linesOf(server, () => server.connection.refusal("MODULE", "LOAD", builtModule, ...args));
    const forged = `x\n${FORGED}`, shown = String.raw`x\n${FORGED}`;
    expect(await loaded(forged)).toEqual([`# <redis-roar> unknown or incomplete module argument '${shown}'`]);
    expect(await loaded("CPU", forged)).toEqual([`# <redis-roar> unknown CPU level '${shown}': must be auto, v2, v3, v4 or neon`]);
    expect(await loaded("REPLY-LIMIT", forged)).toEqual([
      `# <redis-roar> invalid REPLY-LIMIT '${shown}': must be a number from 1 to 4294967295`,
    ]);
    expect(await loaded("DEBUG", "a".repeat(5000))).toEqual([
      `# <redis-roar> unknown or incomplete module argument '${"a".repeat(128)}...'`,
    ]);
  });
});
