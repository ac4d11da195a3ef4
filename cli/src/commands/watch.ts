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
  metrics?: { host: string; port: number };
}

/** ":9121" or "0.0.0.0:9121"; without a host, only this machine can connect. */
function listenAddress(text: string): { host: string; port: number } {
  const [, host, port] = /^(?:\[?([^\]]*?)\]?:)?(\d+)$/.exec(text) ?? [];
  return { host: host || "127.0.0.1", port: wholeNumber(1, 65_535)(port ?? "") };
}

const COMMANDS = 12;

/** The screen for two readings, `seconds` apart. */
function screen(now: Reading[], before: Reading[], seconds: number): string {
  const names = [...new Set(now.flatMap(({ fields }) => [...fields.keys()]))];
  const value = (name: string, number: number | undefined): string =>
    number === undefined ? "" : name.endsWith("bytes") ? bytesText(number) : countText(number);
  const fields = tableText([{ title: "" }, ...now.map(({ address }) => ({ title: address, align: "right" as const }))], [
    ...names.map((name) => [name.replaceAll("_", " "), ...now.map((reading) => value(name, reading.fields.get(name)))]),
    ["server memory", ...now.map(({ usedMemory }) => bytesText(usedMemory))],
  ]);
  const totals = (readings: Reading[]): Map<string, { calls: number; microseconds: number }> => {
    const sums = new Map<string, { calls: number; microseconds: number }>();
    for (const { name, calls, microseconds } of readings.flatMap(({ commands }) => commands)) {
      const sum = sums.get(name) ?? { calls: 0, microseconds: 0 };
      sums.set(name, { calls: sum.calls + calls, microseconds: sum.microseconds + microseconds });
    }
    return sums;
  };
  const old = totals(before);
  const rates = Array.from(totals(now), ([name, { calls, microseconds }]) => {
    const base = old.get(name) ?? { calls: 0, microseconds: 0 };
    return { name, calls: calls - base.calls, microseconds: microseconds - base.microseconds };
  }).filter(({ calls }) => calls > 0).sort((a, b) => b.microseconds - a.microseconds).slice(0, COMMANDS);
  const commands = tableText(
    [{ title: "command" }, { title: "calls/s", align: "right" }, { title: "\u00b5s a call", align: "right" }, { title: "of the time", align: "right" }],
    rates.map(({ name, calls, microseconds }) => [
      name, countText(Math.round(calls / seconds)), (microseconds / calls).toFixed(1), `${(microseconds / 1e4 / seconds / now.length).toFixed(1)} %`,
    ]));
  return `${fields}\n\n${rates.length > 0 ? commands : "no calls"}\n`;
}

export const watch = command("watch", "show the bitmaps, bytes and commands of a server continuously, or export them to Prometheus")
  .addOption(new Option("--interval <seconds>", "time between two updates").argParser(wholeNumber(1, 3600)).default(2))
  .option("--once", "measure over one interval, print, and exit")
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
      console.log(screen(now, before, (end - at) / 1000));
      if (flags.once) return;
      before = now;
      at = end;
    }
  });
