// test-servers [--short] [server ...]: runs the integration tests on servers of several versions, and prints a table at the end. The exit
// status is 0 only if no test failed.
//
//   servers   those of tools/fetch-servers and "installed", the redis-server in PATH; by default all
//   --short   runs a few files that depend most on the server
//
// A server that cannot be fetched, or does not run on this machine, is reported as not run and counts neither as passed nor as failed.
// GitHub shows a warning.
// The last line is `N passed, N failed` over all servers. It is also written to build/test-results/count-servers.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import type { ServerCount } from "./count-reporter.ts";
import { conclude, ending, RESULTS, withExitStatus } from "./run.ts";

interface TestedServer {
  name: string;
  version: string;
  /** Absent if the server cannot be run; `version` then says why. */
  binary?: string;
  count?: ServerCount;
}

/** These test the build, not the module in a server. */
const WITHOUT_SERVER = "build bench salts corpus release calls package packed";
const SHORT = ["test/commands/", "test/model/native", "test/durability/persistence", "test/server/cluster", "test/server/migration"];

function fetchServers(names: string[]): TestedServer[] {
  console.log("> fetch-servers: takes about a minute if build/servers is empty");
  const { stdout } = spawnSync("bash", ["tools/fetch-servers", ...names], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return stdout.trimEnd().split("\n").filter(Boolean).map((line) => {
    const [name, version, binary] = line.split("\t") as [string, string, string];
    return { name, version, ...(binary && { binary }) };
  });
}

function installedServer(): TestedServer {
  const found = /v=(\S+)/.exec(spawnSync("redis-server", ["--version"], { encoding: "utf8" }).stdout ?? "");
  return { name: "installed", version: found?.[1] ?? "there is no redis-server in PATH", ...(found && { binary: "redis-server" }) };
}

/** Runs the tests on a server. A run that reports nothing counts as one failure. */
async function test(binary: string, files: string[]): Promise<ServerCount> {
  const report = `${RESULTS}/server.json`;
  rmSync(report, { force: true });
  const env = { ...process.env, ROAR_SERVER: binary, ROAR_CPU: "best", ROAR_BRIEF: "1", ROAR_SKIP: WITHOUT_SERVER, ROAR_COUNT: report };
  const status = await ending(spawn("node_modules/.bin/vitest", ["run", ...files], { stdio: ["ignore", "inherit", "inherit"], env }));
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: {} };
  const count = JSON.parse(readFileSync(report, "utf8")) as ServerCount;
  return withExitStatus(count, status);
}

function printTable(servers: TestedServer[]): void {
  const rows = servers.map(({ name, version, count }) => [
    name, count ? version : "not run", String(count?.passed ?? "-"), String(count?.failed ?? "-"),
    String(count ? Object.values(count.skipped).reduce((sum, n) => sum + n, 0) : "-"),
  ]);
  const table = [["server", "version", "passed", "failed", "skipped"], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  console.log();
  for (const [i, row] of table.entries()) {
    console.log(row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join("  "));
    const { version, count } = servers[i - 1] ?? {};
    if (i > 0 && !count) console.log(`${process.env.GITHUB_ACTIONS ? `::warning::not tested, ${row[0]}: ` : "    "}${version}`);
    for (const [reason, times] of Object.entries(count?.skipped ?? {})) console.log(`    ${times} skipped: ${reason}`);
  }
}

const words = process.argv.slice(2), names = words.filter((word) => !word.startsWith("-")), files = words.includes("--short") ? SHORT : [];
const wanted = (name: string): boolean => names.length === 0 || names.includes(name);
const fetched = names.length === 1 && names[0] === "installed" ? [] : fetchServers(names);
const servers = [installedServer(), ...fetched].filter(({ name }) => wanted(name));
if (servers.length < names.length || servers.length === 0) throw new Error(`unknown server among: ${names.join(" ")}`);

mkdirSync(RESULTS, { recursive: true });
for (const server of servers) {
  if (!server.binary) continue;
  console.log(`\n> ${server.name}: ${server.binary}, version ${server.version}`);
  server.count = await test(server.binary, files);
}
printTable(servers);
conclude(servers.flatMap(({ count }) => count ?? []), "count-servers");
