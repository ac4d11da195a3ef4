// The exporter, the dashboard and the alerts with a real Prometheus: the program in PATH, or the one that PROMETHEUS names.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { R64, range } from "../support/family.ts";
import { roarOn } from "../support/roar.ts";
import { freePort, projectRoot } from "../support/server.ts";
import { toolFile } from "../support/tool.ts";
import { useTrapServer } from "../support/trap.ts";
import { waitUntil } from "../support/waiting.ts";

const program = process.env.PROMETHEUS ?? "prometheus";
const lacksProgram = Boolean(spawnSync(program, ["--version"]).error);
const LACKS_PROGRAM = "there is no prometheus in PATH: apt-get install prometheus, or set PROMETHEUS";
const server = useTrapServer();

interface Dashboard {
  panels: { title: string; targets: { expr: string }[]; gridPos: { x: number; y: number; w: number; h: number } }[];
}
interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}
interface Result {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}
interface Evaluated {
  data: { groups: { rules: { name: string; state: string; health: string; lastError?: string }[] }[] };
}

const alertsFile = join(projectRoot, "cli/prometheus/alerts.yml");
const { panels } = JSON.parse(readFileSync(join(projectRoot, "cli/grafana/redis-roar.json"), "utf8")) as Dashboard;
const alerts = (parse(readFileSync(alertsFile, "utf8")) as Rules).groups.flatMap(({ rules }) => rules);

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

/** Runs `use` while the tool serves metrics on a port. */
async function exporting(use: (port: number) => Promise<void>): Promise<void> {
  const port = await freePort();
  const tool = spawn(process.execPath, [toolFile, "watch", "--metrics", `:${port}`, "-s", server.socket], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => tool.stdout.once("data", resolve));
  try {
    await use(port);
  } finally {
    await stop(tool, "SIGINT");
  }
}

class Prometheus {
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  /** Runs `use` with a Prometheus that asks the exporter and evaluates the alerts twice a second. */
  static async watching(exporter: number, use: (prometheus: Prometheus) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "redis-roar-prometheus-")), port = await freePort();
    mkdirSync(join(folder, "data"));
    writeFileSync(join(folder, "prometheus.yml"), JSON.stringify({ // which is YAML, too
      global: { scrape_interval: "500ms", evaluation_interval: "500ms" },
      rule_files: [alertsFile],
      scrape_configs: [{ job_name: "roar", static_configs: [{ targets: [`127.0.0.1:${exporter}`] }] }],
    }));
    const process = spawn(program, [
      `--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`, "--log.level=error",
    ], { stdio: "ignore" });
    try {
      await use(new Prometheus(port));
    } finally {
      await stop(process, "SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #get(path: string): Promise<unknown> {
    return (await fetch(`http://127.0.0.1:${this.#port}/api/v1/${path}`)).json();
  }

  async ask(query: string): Promise<Result> {
    return await this.#get(`query?${new URLSearchParams({ query }).toString()}`) as Result;
  }

  /** The value of a query that has one; undefined until Prometheus knows it. */
  async valueOf(query: string): Promise<number | undefined> {
    const found = await this.ask(query).then(({ data }) => data.result[0]?.value[1], () => undefined);
    return found === undefined ? undefined : Number(found);
  }

  /** The alerts that are not inactive, in the order of the file. */
  async raised(): Promise<Record<string, string>> {
    const { data } = await this.#get("rules") as Evaluated;
    const evaluated = data.groups.flatMap(({ rules }) => rules);
    expect(evaluated.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert));
    for (const { name, lastError } of evaluated) expect(lastError, name).toBeUndefined();
    return Object.fromEntries(evaluated.filter(({ state }) => state !== "inactive").map(({ name, state }) => [name, state]));
  }
}

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

it("serves every metric that the dashboard and the alerts name", async () => {
  await server.run("R.SETBIT", "k", 7, 1);
  await exporting(async (port) => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const served = new Set(Array.from(text.matchAll(/^\w+/gm), ([name]) => name));
    const named = [...panels.flatMap(({ targets }) => targets), ...alerts].flatMap(({ expr }) => expr.match(/\bredis_\w+/g) ?? []);
    expect(named.length).toBeGreaterThan(alerts.length);
    expect(named.filter((name) => !served.has(name))).toEqual([]);
  });
});

it("explains every alert", () => {
  const text = readFileSync(join(projectRoot, "docs/operations.md"), "utf8");
  expect(Array.from(text.matchAll(/^\| `(Roar\w+)` \|/gm), ([, name]) => name)).toEqual(alerts.map(({ alert }) => alert));
});

describe("Prometheus", () => {
  it("answers every query of the dashboard", async ({ skip }) => {
    if (lacksProgram) skip(LACKS_PROGRAM);
    await exporting((exporter) => Prometheus.watching(exporter, async (prometheus) => {
      await server.run("R.SETINTARRAY", "k", 1, 2, 3);
      await waitUntil(async () => await prometheus.valueOf("redis_roar_command_calls_total{command=\"R.SETINTARRAY\"}") === 1);
      // Rates need two scrapes, between which something happens.
      await waitUntil(async () => {
        await server.run("R.BITCOUNT", "k");
        return (await prometheus.valueOf("rate(redis_roar_command_calls_total{command=\"R.BITCOUNT\"}[10s])") ?? 0) > 0;
      });
      expect(await prometheus.valueOf("redis_roar_up")).toBe(1);
      for (const { title, targets } of panels) {
        for (const { expr } of targets) {
          const { status, error, data } = await prometheus.ask(expr.replaceAll("$node", ".*").replaceAll("$__rate_interval", "10s"));
          expect({ status, error }, `${title}: ${expr}`).toEqual({ status: "success", error: undefined });
          expect(data.result.length, `${title}: ${expr}`).toBeGreaterThan(0);
          for (const { value: [, value] } of data.result) expect(Number(value), `${title}: ${expr}`).not.toBeNaN();
        }
      }
    }));
  });

  it("fires alerts, and none while nothing is wrong", async ({ skip }) => {
    if (lacksProgram) skip(LACKS_PROGRAM);
    await server.kill();
    await server.start(); // counters are 0 again
    await server.run("R.SETBIT", "k", 7, 1);
    for (const [key, first] of [["a", 0], ["b", 1]] as const) {
      await roarOn(server, R64).load(key, range(0, 200_000).map((i) => first + i * 65_536));
    }
    await exporting((exporter) => Prometheus.watching(exporter, async (prometheus) => {
      /** Waits until Prometheus has evaluated the alerts with what the server says now, and then for these. */
      const expectRaised = async (states: Record<string, string>): Promise<void> => {
        await expect.poll(() => prometheus.raised(), { timeout: 30_000 }).toEqual(states);
      };
      await waitUntil(async () => await prometheus.valueOf("count_over_time(redis_roar_up[1m]) > 4") !== undefined);
      await expectRaised({});

      await server.connection.refusal("R.IMPORT", "new", "no payload");
      await expectRaised({ RoarPayloadsRefused: "firing" });
      await server.connection.refusal("ROAR.TRAP", "k", "READ");
      await expectRaised({ RoarTrap: "firing", RoarPayloadsRefused: "firing" });
      await server.connection.refusal("ROAR.TRAP", "k", "WRITE");
      const broken = { RoarBitmapDamaged: "firing", RoarTrap: "firing", RoarPayloadsRefused: "firing" };
      await expectRaised(broken);

      await server.run("CONFIG", "SET", "redis-roar.question-ms", 1);
      for (let i = 0; i < 20; i++) await server.connection.refusal("R64.QUERY", "#1 | #2", 2, "a", "b");
      await expectRaised({ ...broken, RoarQuestionsOverdue: "firing" });
      await server.run("CONFIG", "SET", "maxmemory", Math.floor(await server.number("used_memory") * 1.2));
      await expectRaised({ ...broken, RoarQuestionsOverdue: "firing", RoarMemory: "pending" });
      await server.run("CONFIG", "SET", "maxmemory", 0);
      await expectRaised({ ...broken, RoarQuestionsOverdue: "firing" });
      await server.kill();
      await expect.poll(async () => (await prometheus.raised()).RoarDown, { timeout: 30_000 }).toBe("pending");
    }));
    await server.start();
  }, 120_000);

  it("fires alerts of what happened before it watched", async ({ skip }) => {
    if (lacksProgram) skip(LACKS_PROGRAM);
    await server.run("R.SETBIT", "k", 7, 1);
    await server.connection.refusal("R.IMPORT", "new", "no payload");
    await server.connection.refusal("ROAR.TRAP", "k", "WRITE");
    await exporting((exporter) => Prometheus.watching(exporter, async (prometheus) => {
      await expect.poll(() => prometheus.raised(), { timeout: 30_000 })
        .toEqual({ RoarBitmapDamaged: "firing", RoarTrap: "firing", RoarPayloadsRefused: "firing" });
    }));
  }, 60_000);
});
