// The exporter and the dashboard with a real Prometheus: the program in PATH, or the one that PROMETHEUS names.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freePort, projectRoot } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { toolFile } from "../support/tool.ts";
import { waitUntil } from "../support/waiting.ts";

const program = process.env.PROMETHEUS ?? "prometheus";
const server = useServer();

interface Dashboard {
  templating: { list: { name: string }[] };
  panels: { title: string; targets: { expr: string }[]; gridPos: { x: number; y: number; w: number; h: number } }[];
}
interface Result {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

const { panels } = JSON.parse(readFileSync(join(projectRoot, "cli/grafana/redis-roar.json"), "utf8")) as Dashboard;

it("has a dashboard whose panels do not overlap", () => {
  const taken = new Set<string>();
  for (const { title, gridPos: { x, y, w, h } } of panels) {
    for (let i = 0; i < w * h; i++) {
      const cell = `${x + i % w} ${y + Math.floor(i / w)}`;
      expect(taken.has(cell), title).toBe(false);
      taken.add(cell);
    }
  }
});

it("answers every query of the dashboard in Prometheus", async ({ skip }) => {
  if (spawnSync(program, ["--version"]).error) skip("there is no prometheus in PATH: apt-get install prometheus, or set PROMETHEUS");
  const folder = mkdtempSync(join(tmpdir(), "redis-roar-prometheus-")), exporter = await freePort(), port = await freePort();
  mkdirSync(join(folder, "data"));
  const config = join(folder, "prometheus.yml");
  writeFileSync(config, `global: { scrape_interval: 500ms }\nscrape_configs: [{ job_name: roar, static_configs: [{ targets: ["127.0.0.1:${exporter}"] }] }]\n`);
  const tool = spawn(process.execPath, [toolFile, "watch", "--metrics", `:${exporter}`, "-s", server.socket], { stdio: "ignore" });
  const prometheus = spawn(program, [
    `--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error",
  ], { stdio: "ignore" });
  const ended = Promise.all([tool, prometheus].map((child) => new Promise((resolve) => child.once("exit", resolve))));
  const ask = async (query: string): Promise<Result> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query }).toString()}`);
    return await response.json() as Result;
  };
  /** The value of a query that has one; undefined until Prometheus knows it. */
  const valueOf = async (query: string): Promise<number | undefined> => {
    const found = await ask(query).then(({ data }) => data.result[0]?.value[1], () => undefined);
    return found === undefined ? undefined : Number(found);
  };
  try {
    await server.run("R.SETINTARRAY", "k", 1, 2, 3);
    await waitUntil(async () => await valueOf("redis_roar_command_calls_total{command=\"R.SETINTARRAY\"}") === 1);
    // Rates need two scrapes, between which something happens.
    await waitUntil(async () => {
      await server.run("R.BITCOUNT", "k");
      return (await valueOf("rate(redis_roar_command_calls_total{command=\"R.BITCOUNT\"}[10s])") ?? 0) > 0;
    });
    expect(await valueOf("redis_roar_up")).toBe(1);
    for (const { title, targets } of panels) {
      for (const { expr } of targets) {
        const { status, error, data } = await ask(expr.replaceAll("$node", ".*").replaceAll("$__rate_interval", "10s"));
        expect({ status, error }, `${title}: ${expr}`).toEqual({ status: "success", error: undefined });
        expect(data.result.length, `${title}: ${expr}`).toBeGreaterThan(0);
        for (const { value: [, value] } of data.result) expect(Number(value), `${title}: ${expr}`).not.toBeNaN();
      }
    }
  } finally {
    tool.kill("SIGINT");
    prometheus.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
