// Which server the tests run on. ROAR_SERVER names its binary, by default the redis-server in PATH.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

export const serverBinary = process.env.ROAR_SERVER ?? "redis-server";
/** The words that go before a program built for the processor under test. */
export const emulator: readonly string[] = process.env.ROAR_EMULATOR?.split(" ") ?? [];

const sibling = serverBinary.replace(/-server$/, "-cli");
/** The command-line client next to the server, or the one in PATH. */
export const cliBinary = existsSync(sibling) && emulator.length === 0 ? sibling : "redis-cli";

type Name = "Redis" | "Valkey";

const [program, ...before] = [...emulator, serverBinary];
// Valkey 7.2 leaves its name out: "Server v=7.2.7".
const [, name = "Valkey", version] = /^(?:(\w+) s|S)erver v=(\d+\.\d+\.\d+)/.exec(execFileSync(program, [...before, "--version"], { encoding: "utf8" }))!;
/** Such as "Valkey 8.0.1". A reason to skip a test begins with it. */
export const serverName = `${name} ${version}`;

/** Whether the server is at least of the version given for its name. Without a version for its name, the answer is no. */
export function since(versions: Partial<Record<Name, string>>): boolean {
  const least = versions[name as Name];
  return least !== undefined && version!.localeCompare(least, "en", { numeric: true }) >= 0;
}

/** Whether the server has key specs, COMMAND DOCS and COMMAND LIST, ACL DRYRUN, an AOF of several files, and configuration of modules. */
export const isSeven = since({ Redis: "7.0", Valkey: "7.2" });
/** Why a test of the right to read or to write a key cannot run, if it cannot. */
export const noKeyRights = isSeven ? undefined : `${serverName}: ACL rules do not tell reading from writing`;
