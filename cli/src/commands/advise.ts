// The command advise.

import { writeFileSync } from "node:fs";
import { Option } from "commander";
import { Adviser } from "../advise.js";
import { loadCore } from "../load-core.js";
import { patternBytes } from "../names.js";
import { command, percentage, wholeNumber } from "../options.js";
import { Progress } from "../progress.js";
import { jsonOf, pageOf, tableOf } from "../report.js";
import { type ServerOptions, Servers } from "../servers.js";

interface Flags extends ServerOptions {
  match?: string;
  sample?: number;
  maxRate?: number;
  share: number;
  replicas?: boolean;
  top: number;
  json?: boolean;
  html?: string;
  progress: boolean;
}

export const advise = command("advise", "estimate the memory that values would take as roaring bitmaps or as integers for ids; works on any server, and never writes")
  .option("--match <pattern>", "only keys whose names match, as in SCAN; \\xNN for a byte")
  .addOption(new Option("--sample <number>", "read only this many values of each group, and estimate the others").argParser(wholeNumber(2)))
  .addOption(new Option("--max-rate <number>", "maximum number of keys per second").argParser(wholeNumber(1)))
  .addOption(new Option("--share <percentage>", "maximum share of time in which a server works for the tool").argParser(percentage).default(0.5, "50"))
  .option("--replicas", "in a cluster, read from replicas")
  .addOption(new Option("--top <number>", "number of groups to show").argParser(wholeNumber(1)).default(40))
  .option("--json", "print JSON")
  .option("--html <file>", "write a page with charts")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Native bitmaps and sets of integers are measured as roaring bitmaps (R, R64), sorted sets and hashes of
ids as integers for ids (RI), and sets of strings as bitmaps (R) with one dictionary of names (RN) for
each group. Of hashes that give ids to names, it says what a dictionary would take.

Examples:
  redis-roar advise
  redis-roar advise --match 'user:*' --sample 200 --html advice.html
  REDISCLI_AUTH=secret redis-roar advise -u rediss://reader@redis.example.com --json`)
  .action(async (flags: Flags) => {
    const core = await loadCore(), servers = await Servers.open(flags, flags.replicas), bar = new Progress("keys", flags.progress);
    try {
      const adviser = new Adviser(servers, core, {
        maxRate: flags.maxRate ?? Infinity, share: flags.share, onProgress: (done, expected) => bar.show(done, expected),
        ...(flags.match !== undefined && { match: patternBytes(flags.match) }), ...(flags.sample !== undefined && { sample: flags.sample }),
      });
      const advice = await adviser.advise();
      bar.end();
      if (flags.html) writeFileSync(flags.html, pageOf(advice));
      console.log(flags.json ? jsonOf(advice) : tableOf(advice, flags.top));
    } finally {
      bar.end();
    }
  });
