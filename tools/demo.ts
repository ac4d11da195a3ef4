// demo: loads 200 real sets into bitmaps of this module and into native bitmaps, combines them, and compares memory and time.
//
// It compares each result with JavaScript's Set; a difference ends it with status 1. Times are those that the server measures
// (INFO commandstats), without network and client, and the least of several rounds: the first call of a size gets memory that is new to
// the server, and whatever else the machine does only adds to a time.

import { bitmapOf } from "../bench/generators.ts";
import { loading } from "../bench/load.ts";
import { parseCommandStatistics } from "../bench/statistics.ts";
import { dataset } from "../test/support/data.ts";
import { Server } from "../test/support/server.ts";

const OPERATIONS = ["AND", "OR", "XOR"] as const, ROUNDS = 5;

function combined(operation: (typeof OPERATIONS)[number], a: Set<number>, b: Set<number>): number {
  let both = 0;
  for (const member of a) both += b.has(member) ? 1 : 0;
  if (operation === "AND") return both;
  return operation === "OR" ? a.size + b.size - both : a.size + b.size - 2 * both;
}

function check(what: string, found: unknown, expected: number): void {
  if (Number(found) !== expected) throw new Error(`${what}: ${String(found)}, expected ${expected}`);
}

const sets = dataset("census1881"), models = sets.map((members) => new Set(members));
const server = await Server.start();

/** Microseconds that the server has spent in a command since the last CONFIG RESETSTAT. */
async function spentIn(command: string): Promise<number> {
  const statistics = parseCommandStatistics(String(await server.run("INFO", "commandstats")));
  return statistics.get(command.toLowerCase())?.microseconds ?? NaN;
}

async function memoryOf(prefix: string): Promise<number> {
  let bytes = 0;
  for (let i = 0; i < sets.length; i++) bytes += await server.usage(`${prefix}:${i}`);
  return bytes;
}

interface Row {
  what: string;
  roaring: number;
  native: number;
  unit: string;
}

const rows: Row[] = [];

/** The least that each side takes, in rounds of its own. R.BITOP returns the cardinality; native BITOP needs a BITCOUNT after it. */
async function timesOf(roaring: () => Promise<void>, native: () => Promise<void>): Promise<Omit<Row, "what">> {
  const least = async (work: () => Promise<void>, commands: readonly string[]): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await server.run("CONFIG", "RESETSTAT");
      await work();
      let spent = 0;
      for (const command of commands) spent += await spentIn(command);
      times.push(spent / 1000);
    }
    return Math.min(...times);
  };
  return { roaring: await least(roaring, ["R.BITOP"]), native: await least(native, ["bitop", "bitcount"]), unit: "ms" };
}

try {
  for (const [i, members] of sets.entries()) {
    await server.connection.pipeline(loading({ named: (command) => `R.${command}` }, `roaring:${i}`, members));
    await server.run("SET", `native:${i}`, bitmapOf(members));
    check(`R.BITCOUNT of set ${i}`, await server.run("R.BITCOUNT", `roaring:${i}`), members.length);
    check(`first member of set ${i}`, await server.run("R.BITPOS", `roaring:${i}`, 1), members[0]!);
  }
  rows.push({ what: "memory of 200 sets", roaring: await memoryOf("roaring") / 1024, native: await memoryOf("native") / 1024, unit: "KiB" });

  for (const operation of OPERATIONS) {
    const expected = models.slice(1).map((model, i) => combined(operation, models[i]!, model));
    const time = await timesOf(async () => {
      for (const [i, count] of expected.entries()) {
        check(`R.BITOP ${operation} of sets ${i} and ${i + 1}`, await server.run("R.BITOP", operation, "r", `roaring:${i}`, `roaring:${i + 1}`), count);
      }
    }, async () => {
      for (const [i, count] of expected.entries()) {
        await server.run("BITOP", operation, "n", `native:${i}`, `native:${i + 1}`);
        check("native BITCOUNT", await server.run("BITCOUNT", "n"), count);
      }
    });
    rows.push({ what: `${operation} of 199 pairs with count`, ...time });
  }

  const all = new Set(sets.flat()).size, keysOf = (prefix: string): string[] => sets.map((_, i) => `${prefix}:${i}`);
  const time = await timesOf(async () => {
    check("R.BITOP OR of all sets", await server.run("R.BITOP", "OR", "r", ...keysOf("roaring")), all);
  }, async () => {
    await server.run("BITOP", "OR", "n", ...keysOf("native"));
    check("native BITCOUNT", await server.run("BITCOUNT", "n"), all);
  });
  rows.push({ what: "OR of all 200 with count", ...time });
} finally {
  await server.stop();
}

const members = sets.reduce((sum, set) => sum + set.length, 0);
console.log(`census1881: 200 sets of 1 to ${Math.max(...sets.map((set) => set.length)).toLocaleString("en")} members, ${members.toLocaleString("en")} in total. Every result was compared with a plain Set.\nTimes in the server, the least of ${ROUNDS} rounds.\n`);
const cell = (value: number, unit: string): string => `${value.toLocaleString("en", { maximumFractionDigits: unit === "ms" ? 2 : 0 })} ${unit}`.padStart(14);
console.log(`${"".padEnd(28)}${"R.*".padStart(14)}${"native".padStart(14)}`);
for (const { what, roaring, native, unit } of rows) console.log(`${what.padEnd(28)}${cell(roaring, unit)}${cell(native, unit)}`);
