// A damaged bitmap is brought back from a replica by the commands that docs/operations.md shows.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { R } from "../support/family.ts";
import { roarOn } from "../support/roar.ts";
import { projectRoot } from "../support/server.ts";
import { useTrapServer } from "../support/trap.ts";
import { cliBinary } from "../support/version.ts";
import { inStep, replicate } from "../support/waiting.ts";

const primary = useTrapServer({ listens: true, config: ["repl-diskless-sync-delay 0"] }), replica = useTrapServer({ listens: true });
const text = readFileSync(join(projectRoot, "docs/operations.md"), "utf8");
const [, section] = text.split("### A damaged bitmap");
const script = /```sh\n([^]*?)```/.exec(section!)![1]!;

it("the commands of the page bring back a bitmap of any name", async () => {
  const members = [3, 5, 10, 13, 70_000, 4_294_967_295], folder = mkdtempSync(join(tmpdir(), "redis-roar-recovery-"));
  const shell = script.replaceAll("redis-cli -h primary", `${cliBinary} -s ${primary.socket}`)
    .replaceAll("redis-cli -h replica", `${cliBinary} -s ${replica.socket}`).replace(" seconds", " 5000");
  await replicate(replica, primary);
  try {
    for (const key of ["key", "a key: 'it\"s' $x"]) {
      await roarOn(primary, R).load(key, members);
      await primary.run("EXPIRE", key, 5000);
      await inStep(replica, primary);
      expect(await primary.connection.refusal("ROAR.TRAP", key, "WRITE")).toContain("internal error");
      expect(await primary.connection.refusal("R.BITCOUNT", key)).toContain("damaged");

      const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-euc", shell], { cwd: folder, env: { ...process.env, key }, encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      const [ttl, imported, before, after, renamed, expires] = stdout.trim().split("\n");
      expect(Number(ttl)).toBeGreaterThan(4900);
      expect({ imported, before, after, renamed, expires }).toEqual({ imported: "6", before: "6", after: "6", renamed: "OK", expires: "1" });
      await inStep(replica, primary);
      for (const server of [primary, replica]) {
        expect(await roarOn(server, R).members(key)).toEqual(members);
        expect(await server.run("TTL", key)).toBeGreaterThan(4900);
      }
      expect(await primary.run("R.SETBIT", key, 7, 1)).toBe(0);
    }
    expect(await primary.run("DBSIZE")).toBe(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
