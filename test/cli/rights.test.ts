// The rights that docs/cli.md lists for each command are enough, and each of them is needed and named when it is missing.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Advice } from "../../cli/src/advising/rows.ts";
import { Backup } from "../../cli/src/backup.ts";
import { program } from "../../cli/src/program.ts";
import { bytesOf } from "../support/resp.ts";
import { projectRoot } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { type Ended, toolOn } from "../support/tool.ts";
import { isSeven, serverName, since } from "../support/version.ts";
import { bitmapOf } from "./keyspace.ts";

const server = useServer();
const folder = mkdtempSync(join(tmpdir(), "redis-roar-")), backup = join(folder, "backup"), ids = join(folder, "ids"), kept = join(folder, "kept");
const pairs = join(folder, "pairs"), several = Array.from({ length: 200 }, (_, i) => i);
afterAll(() => rmSync(folder, { recursive: true }));

/** The runs of a command that take all rights of its row, but for +info: without it, the tool takes a server for an old one. */
const runs: Record<string, string[][]> = {
  advise: [["advise"]],
  inspect: [["inspect", "k"], ["inspect", "full"], ["inspect", "n"], ["inspect", "i"]],
  convert: [
    ["convert", "--match", "[nbi]*", "--backup", kept], ["convert", "--match", "k", "--to", "native"], ["convert", "--match", "l", "--to", "set"], ["convert", "--match", "x"],
    ["convert", "--match", "[zh]", "--to", "integers"], ["convert", "--match", "w", "--names", "d"],
  ],
  restore: [["restore", backup]],
  join: [
    ["join", "s:*", "k", "--width", "1000", "--expiry", "latest", "--backup", kept], ["join", "long:*", "k2", "--width", "100000000"],
    ["join", "wide:*", "k3", "--width", "1000"],
  ],
  split: [["split", "k", "s:*", "--width", "1000"], ["split", "l", "u:*", "--width", "1000"]],
  load: [
    ["load", "k", ids], ["load", "k", ids, "--ranges"], ["load", "v", pairs, "--type", "integers"], ["load", "d", ids, "--type", "names"],
    ["load", "k", ids, "--names", "d"],
  ],
  unload: [
    ["unload", "k"], ["unload", "k", "--roaring"], ["unload", "n"], ["unload", "i"], ["unload", "t", "--shards", "2"], ["unload", "k", "--ranges"],
    ["unload", "v"], ["unload", "d"], ["unload", "k", "--names", "d"],
  ],
  watch: [["watch", "--once", "--interval", "1"]],
  bench: [["bench", "k", "l", "--seconds", "0.001"]],
};

const rows = readFileSync(join(projectRoot, "docs/cli.md"), "utf8").split("## Rights")[1]!.split("\n## ")[0]!.matchAll(/^\| `(\w+)` \| (.*) \|$/gm);
const [, version] = serverName.split(" ") as [string, string], [major = 0, minor = 0] = version.split(".").map(Number);
const tellsExpiry = serverName.startsWith("Valkey") ? major >= 9 : major * 100 + minor >= 802;
const rights = new Map(Array.from(rows, ([, command, text]) => {
  // Servers and forms that are not tried here have rights of their own.
  const tried = text!.replace(/; in a cluster.*/, "").replace(/, from Redis 8\.2.*/, tellsExpiry ? " `+pttl`" : "");
  // A right that only servers with fields that expire have.
  const more = (command === "convert" || command === "advise") && since({ Redis: "7.4", Valkey: "9.0" }) ? ["+hpttl"] : [];
  return [command!, [...more, ...tried.matchAll(/`(\+[^`]*)`/g)].flatMap(([, list]) => list!.replaceAll("\\|", "|").split(" "))];
}));

/** Rights without which advise only counts the keys of a type. */
const optional = ["+zcard", "+zscan", "+hlen", "+hscan", "+hpttl"];
const isNeeded = (name: string, right: string): boolean => (right !== "+info" || name === "watch") && !(name === "advise" && optional.includes(right));

beforeEach(async ({ skip }) => {
  if (!isSeven) skip(`${serverName}: has no PEXPIRETIME and no rights to all subcommands`);
  rmSync(kept, { force: true });
  writeFileSync(ids, "1\n2\n");
  writeFileSync(pairs, "1,2\n");
  await server.connection.pipeline([
    ["SET", "n", bitmapOf([1, 900_000])], ["SET", "b", bitmapOf([1, 900_000]), "PX", 1_000_000], ["SADD", "i", ...Array.from({ length: 600 }, (_, i) => 3 * i)],
    ["R.SETINTARRAY", "k", 1, 5001], ["R.SETINTARRAY", "l", 1, 70_000], ["R.SETBIT", "t:{0}", 1, 1], ["PEXPIRE", "k", 1_000_000],
    ["SET", "s:1", bitmapOf([5]), "PX", 2_000_000], ["SET", "s:2", bitmapOf([6, 700])], ["SET", "s:5", bitmapOf([9]), "PX", 2_000_000],
    ["SETBIT", "long:1", 2_000_000, 1], ["SETBIT", "wide:1", 5, 1], ["SETBIT", "wide:1", 9000, 0], ["SET", "x", "text"],
    ["DEL", "full"], ["R.SETFULL", "full"], ["RI.SET", "v", 7, 31], ["RN.ADD", "d", "ada"],
    ["ZADD", "z", ...Array.from({ length: 900 }, (_, i) => [i % 7, i]).flat()], ["HSET", "h", ...several.flatMap((i) => [3 * i, i])], ["SADD", "w", ...several.map((i) => `reader ${i}`)],
  ]);
  if (existsSync(backup)) return;
  const file = await Backup.append(backup);
  await file.add({ name: Buffer.from("n"), expires: -1, value: bytesOf(await server.run("DUMP", "n")) });
  await file.close();
});

/** Runs the tool as a user who has these rights, until a run fails; returns how it ended, and what the last run has printed. */
async function runAs(allowed: readonly string[], commands: string[][]): Promise<Ended> {
  await server.run("ACL", "SETUSER", "limited", "reset", "on", ">secret", "allkeys", ...allowed);
  vi.stubEnv("REDISCLI_AUTH", "secret");
  let last = "";
  try {
    for (const args of commands) {
      const ended = await toolOn(server, ...args, "--user", "limited");
      if (ended.status !== 0) return ended;
      last = ended.out;
    }
    return { status: 0, out: last, error: "" };
  } finally {
    vi.unstubAllEnvs();
    await server.run("ACL", "DELUSER", "limited");
  }
}

describe("the rights of", () => {
  it("all commands are listed", () => {
    expect([...rights.keys()].sort()).toEqual(program.commands.map((command) => command.name()).sort());
  });

  it.each(program.commands.map((command) => command.name()))("%s are enough", async (name) => {
    expect(await runAs(rights.get(name)!, runs[name]!)).toMatchObject({ status: 0, error: "" });
  });

  it.each(Array.from(rights, ([name, list]) => list.filter((right) => isNeeded(name, right)).map((right) => [name, right] as const)).flat())("%s have %s, which is named when it is missing", async (name, right) => {
    const { status, error } = await runAs(rights.get(name)!.filter((one) => one !== right), runs[name]!);
    expect({ status, error }).toMatchObject({ status: 4, error: expect.stringMatching(/^redis-roar: .*\n$/) });
    const command = right.slice(1).replace("|", "\\|");
    expect(error).toMatch(new RegExp(`NOPERM .*'${command}'|executing the script can't run|ACL failure in script.*'${command}'`, "i"));
  });

  it.each(rights.get("advise")!.filter((right) => optional.includes(right)))("advise need not have %s, without which it only counts the keys", async (right) => {
    const { status, out, error } = await runAs(rights.get("advise")!.filter((one) => one !== right), [["advise", "--json"]]);
    expect({ status, error }).toEqual({ status: 0, error: "" });
    const advice = JSON.parse(out) as Advice, type = right.startsWith("+z") ? "zset" : "hash";
    expect(advice.notPermitted).toBe(1);
    expect(advice.notes).toContain(`this user may not run ${right.slice(1).toUpperCase()}, so ${type === "zset" ? "sorted sets" : "hashes"} are only counted`);
    expect(advice.rows.filter((row) => row.type === type)).toMatchObject([{ kind: type, keys: 1, keysRead: 0, isConvertible: false }]);
    expect(advice.rows.filter(({ kind }) => kind === "integers for ids")).toHaveLength(1);
  });
});
