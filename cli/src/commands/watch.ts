// The command watch.

import { once } from "node:events";
import { Option } from "commander";
import { Exit, interruption } from "../failure.js";
import { type Reading, readNode, serveMetrics } from "../metrics.js";
import { command, wholeNumber } from "../options.js";
import { placesOf, type ServerOptions, Servers } from "../servers.js";
import { bytesText, countText, tableText } from "../text.js";

interface Flags extends ServerOptions {
  interval: number;
  once?: boolean;
  all?: boolean;
  metrics?: { host: string; port: number };
}

/** ":9121" or "0.0.0.0:9121"; without a host, only this machine can connect. */
function listenAddress(text: string): { host: string; port: number } {
  const [, host, port] = /^(?:\[?([^\]]*?)\]?:)?(\d+)$/.exec(text) ?? [];
  return { host: host || "127.0.0.1", port: wholeNumber(1, 65_535)(port ?? "") };
}

const COMMANDS = 12;

/** Fields that the first lines show, and those of them that follow from others. */
const SHOWN = new Set(["bitmaps", "arena_bytes", "r_keys", "r64_keys", "r_bytes", "r64_bytes", "traps", "longest_question_us", "longest_query_us"]);

/** What commands did between two readings of a node. */
interface Rate {
  name: string;
  calls: number;
  microseconds: number;
}

function ratesOf(now: readonly Reading[], before: readonly Reading[]): Rate[] {
  const sums = new Map<string, Rate>();
  const add = (readings: readonly Reading[], sign: 1 | -1): void => {
    for (const { name, calls, microseconds } of readings.flatMap(({ commands }) => commands)) {
      const sum = sums.get(name) ?? { name, calls: 0, microseconds: 0 };
      sums.set(name, { name, calls: sum.calls + sign * calls, microseconds: sum.microseconds + sign * microseconds });
    }
  };
  add(now, 1);
  add(before, -1);
  return [...sums.values()].filter(({ calls }) => calls > 0);
}

const perCall = ({ calls, microseconds }: Rate): number => microseconds / calls;
const timeText = (microseconds: number): string => (microseconds < 1000 ? `${microseconds.toFixed(1)} \u00b5s` : `${(microseconds / 1000).toFixed(1)} ms`);

/** What matters of a node: keys, bytes, commands a second, the worst query, traps. */
function summaryOf(now: Reading, before: Reading, seconds: number): [title: string, text: string][] {
  const { fields, usedMemory, maxMemory } = now, rates = ratesOf([now], [before]), calls = rates.reduce((sum, rate) => sum + rate.calls, 0);
  const [slowest] = rates.toSorted((a, b) => perCall(b) - perCall(a)), longest = fields.get("longest_question_us") ?? fields.get("longest_query_us") ?? 0;
  return [
    ["bitmaps", countText(fields.get("bitmaps") ?? 0)],
    ["their bytes", bytesText(fields.get("arena_bytes") ?? 0)],
    ["server memory", `${bytesText(usedMemory)}${maxMemory > 0 ? ` of ${bytesText(maxMemory)}` : ""}`],
    ["commands a second", countText(Math.round(calls / seconds))],
    ["slowest of them", slowest ? `${slowest.name}, ${timeText(perCall(slowest))} a call` : "-"],
    ["longest query on a thread", longest > 0 ? timeText(longest) : "-"],
    ["traps", countText(fields.get("traps") ?? 0)],
  ];
}

/** The screen for two readings, `seconds` apart. Fields of INFO that are 0 on all nodes are left out, unless all are to be shown. */
function screen(now: Reading[], before: Reading[], seconds: number, all: boolean): string {
  const names = [...new Set(now.flatMap(({ fields }) => [...fields.keys()]))].filter((name) =>
    all || (!SHOWN.has(name) && now.some(({ fields }) => (fields.get(name) ?? 0) !== 0)));
  const value = (name: string, number: number | undefined): string =>
    number === undefined ? "" : name.endsWith("bytes") ? bytesText(number) : countText(number);
  const summaries = now.map((reading, i) => summaryOf(reading, before[i]!, seconds));
  const fields = tableText([{ title: "" }, ...now.map(({ address }) => ({ title: address, align: "right" as const }))], [
    ...summaries[0]!.map(([title], line) => [title, ...summaries.map((summary) => summary[line]![1])]),
    ...names.map((name) => [name.replaceAll("_", " "), ...now.map((reading) => value(name, reading.fields.get(name)))]),
  ]);
  const rates = ratesOf(now, before).sort((a, b) => b.microseconds - a.microseconds).slice(0, COMMANDS);
  const commands = tableText(
    [{ title: "command" }, { title: "calls/s", align: "right" }, { title: "\u00b5s a call", align: "right" }, { title: "of the time", align: "right" }],
    rates.map((rate) => [
      rate.name, countText(Math.round(rate.calls / seconds)), perCall(rate).toFixed(1), `${(rate.microseconds / 1e4 / seconds / now.length).toFixed(1)} %`,
    ]));
  return `${fields}\n\n${rates.length > 0 ? commands : "no calls"}\n`;
}

export const watch = command("watch", "show the bitmaps, bytes and commands of a server continuously, or export them to Prometheus")
  .addOption(new Option("--interval <seconds>", "time between two updates").argParser(wholeNumber(1, 3600)).default(2))
  .option("--once", "measure over one interval, print, and exit")
  .option("--all", "show all fields of INFO redis-roar, also those that are 0")
  .addOption(new Option("--metrics <address>", "serve http://<address>/metrics; :9121 is this machine only, 0.0.0.0:9121 all").argParser(listenAddress))
  .addHelpText("after", `
Examples:
  redis-roar watch
  redis-roar watch --metrics :9121`)
  .action(async (flags: Flags) => {
    // It is meant to be interrupted.
    process.exitCode = Exit.OK;
    if (flags.metrics) {
      const { host, port } = flags.metrics, places = await placesOf(flags);
      const server = await serveMetrics(port, host, places.map(({ options }) => ({ ...options, db: 0 })));
      console.log(`http://${host.includes(":") ? `[${host}]` : host}:${port}/metrics`);
      if (!interruption.asked) await once(interruption.signal, "abort");
      server.close();
      server.closeAllConnections();
      return;
    }
    const { nodes } = await Servers.open(flags);
    const read = (): Promise<Reading[]> => Promise.all(nodes.map(({ connection }) => readNode(connection)));
    let before = await read();
    for (let at = performance.now(); ;) {
      await interruption.pause(flags.interval * 1000);
      if (interruption.asked) return;
      const now = await read(), end = performance.now();
      if (process.stdout.isTTY && !flags.once) process.stdout.write("\x1b[H\x1b[2J");
      console.log(screen(now, before, (end - at) / 1000, flags.all ?? false));
      if (flags.once) return;
      before = now;
      at = end;
    }
  });
