// The commands convert and restore.

import { statSync } from "node:fs";
import { Option } from "commander";
import { Backup, readBackup } from "../backup.js";
import { type Conversion, Converter } from "../convert.js";
import { ErrorAnswer, Exit, Failure, failureAt, interruption, isHopeless } from "../failure.js";
import { loadCore } from "../load-core.js";
import { nameBytes, patternBytes, shown } from "../names.js";
import { command, percentageFromZero, wholeNumber } from "../options.js";
import { Progress } from "../progress.js";
import type { Target } from "../plan.js";
import { needModule, type ServerOptions, Servers } from "../servers.js";
import { bytesText, countText, shareText } from "../text.js";

interface Flags extends ServerOptions {
  match: string;
  to: Exclude<Target, "names">;
  names?: string;
  dryRun?: boolean;
  assumeBitmaps?: boolean;
  wide?: boolean;
  wholeGroups?: boolean;
  minSaving: number;
  maxRate?: number;
  parallel?: number;
  backup?: string;
  json?: boolean;
  progress: boolean;
}

/** The maximum number of failures that are shown. */
const FAILURES = 10;

/** A list of at most so many lines. */
const listed = (lines: readonly string[]): string[] =>
  [...lines.slice(0, FAILURES), ...(lines.length > FAILURES ? [`  and ${countText(lines.length - FAILURES)} more (--json lists all)`] : [])];

function report(flags: Flags, conversion: Conversion): string {
  const { seen, converted, bytesBefore, bytesAfter, skipped, failed, refused, mixed, isPartial } = conversion;
  const saved = bytesBefore - bytesAfter, would = flags.dryRun ? "would be " : "";
  const sizes = ((flags.to === "roaring" || flags.to === "integers") && flags.names === undefined) || !flags.dryRun
    ? `: ${bytesText(bytesBefore)} ${flags.dryRun ? "would become" : "became"} ${bytesText(bytesAfter)}${saved > 0 ? ` (${shareText(saved, bytesBefore)} saved)` : ""}` : "";
  const left = Object.entries(skipped).sort(([, a], [, b]) => b - a).map(([why, count]) => `  ${countText(count)} ${why}`);
  return [
    `${countText(seen)} keys seen, ${countText(converted)} ${would}converted${converted > 0 ? sizes : ""}`,
    ...(left.length > 0 ? ["not converted:", ...left] : []),
    ...(refused.length > 0 ? ["groups that stay as a whole:"] : []),
    ...listed(refused.map(({ pattern, keys, why }) => `  ${pattern}: ${countText(keys)} keys; ${why}`)),
    ...(failed.length > 0 ? [`${countText(failed.length)} failed:`, ...listed(failed.map(({ key, why }) => `  ${key}: ${why}`))] : []),
    ...(mixed.length > 0 && !isPartial ? [
      `warning: groups that ${flags.dryRun ? "would have" : "have"} keys of several types; commands that combine such keys reply WRONGTYPE:`,
      ...listed(mixed.map(({ pattern, converted: done, stay, why }) => `  ${pattern}: ${countText(done)} converted, ${countText(stay)} not: ${why}`)),
      ...(flags.wholeGroups ? [] : ["--whole-groups converts such a group as a whole or not at all"]),
    ] : []),
    ...(isPartial ? [`${interruption.asked ? "interrupted" : "ended by an error"}; run the same command again to continue`] : []),
  ].join("\n");
}

export const convert = command("convert", "convert native bitmaps and sets to roaring bitmaps, or back, and sorted sets and hashes to integers for ids; needs the module")
  .requiredOption("--match <pattern>", "keys whose names match, as in SCAN; '*' for all, \\xNN for a byte")
  .addOption(new Option("--to <type>", "new type of the keys; native and set convert back; integers converts sorted sets and hashes")
    .choices(["roaring", "native", "set", "integers"]).default("roaring"))
  .option("--names <dictionary>", "convert sets of any strings to bitmaps, whose members are the ids of the strings in this dictionary")
  .option("--dry-run", "report what would be done, and write nothing")
  .option("--assume-bitmaps", "treat all strings as bitmaps, even if they look like text")
  .option("--wide", "always convert to R64")
  .option("--whole-groups", "convert keys with names alike together or not at all, also those that become larger")
  .addOption(new Option("--min-saving <percentage>", "convert a key only if it saves at least this")
    .argParser(percentageFromZero).default(0, "0"))
  .addOption(new Option("--max-rate <number>", "maximum number of keys per second").argParser(wholeNumber(1)))
  .addOption(new Option("--parallel <number>", "number of groups of small keys, or of large keys, that each node converts at a time; by default 4, in a cluster 16")
    .argParser(wholeNumber(1, 64)))
  .option("--backup <file>", "add the old values to a file, for `redis-roar restore`")
  .option("--json", "print JSON")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Each key keeps its name and its TTL. Its value is replaced only when a copy has all its members, and
only if it has not changed meanwhile. Ctrl-C ends the run after the current keys; running the command
again continues it. Keys that would not become smaller stay as they are, unless --whole-groups says
that all keys of a group, such as user:*:visited, have to have one type. For native bitmaps that were split by hand, see redis-roar join --help.

Examples:
  redis-roar convert --match 'user:*:visited' --dry-run
  redis-roar convert --match 'user:*:visited' --whole-groups
  redis-roar convert --match 'user:*:visited' --backup visited.backup --max-rate 500
  redis-roar convert --match 'user:*:visited' --to native
  redis-roar convert --match 'score:*' --to integers
  redis-roar convert --match 'readers:*' --names users`)
  .action(async (flags: Flags) => {
    if (flags.names !== undefined && flags.to !== "roaring") throw new Failure("--names excludes --to", Exit.USAGE);
    if ((flags.names !== undefined || flags.to === "integers") && (flags.wide || flags.assumeBitmaps)) {
      throw new Failure(`${flags.names === undefined ? "--to integers" : "--names"} excludes --wide and --assume-bitmaps`, Exit.USAGE);
    }
    const core = await loadCore(), servers = await Servers.open(flags), bar = new Progress("keys", flags.progress);
    let backup: Backup | undefined;
    try {
      const dictionary = flags.names === undefined ? undefined : nameBytes(flags.names), to = dictionary ? "names" : flags.to;
      if (!flags.dryRun || to !== "roaring") await needModule(servers);
      // Fails early if the key has another type.
      if (dictionary) await servers.nodeOf(dictionary).connection.run("RN.CARD", dictionary);
      backup = flags.backup && !flags.dryRun ? await Backup.append(flags.backup) : undefined;
      const converter = new Converter(servers, core, {
        match: patternBytes(flags.match), to, dictionary, dryRun: flags.dryRun ?? false, assumeBitmaps: flags.assumeBitmaps ?? false,
        wide: flags.wide ?? false, wholeGroups: flags.wholeGroups ?? false, minSaving: flags.minSaving,
        maxRate: flags.maxRate ?? Infinity, backup,
        parallel: flags.parallel ?? (servers.isCluster ? 16 : 4),
        onProgress: (done, expected) => bar.show(done, expected),
      });
      const result = await converter.convert();
      bar.end();
      if (!converter.fatal || result.seen > 0) console.log(flags.json ? JSON.stringify(result, null, 2) : report(flags, result));
      if (converter.fatal) throw converter.fatal;
      if (result.failed.length > 0 || (flags.wholeGroups && result.mixed.length > 0)) process.exitCode = Exit.SOME_FAILED;
    } finally {
      bar.end();
      await backup?.close();
    }
  });

export const restore = command("restore", "restore the values of keys from a file that convert --backup wrote")
  .argument("<file>", "the backup")
  .option("--dry-run", "list the keys, and write nothing")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
The values replace the current ones, including changes since the conversion. If a key is in the file
twice, the first value is restored. Keys that have expired meanwhile are not restored.

Example:
  redis-roar restore visited.backup`)
  .action(async (file: string, flags: ServerOptions & { dryRun?: boolean; progress: boolean }) => {
    const { size } = statSync(file), servers = await Servers.open(flags), seen = new Set<string>(), bar = new Progress("bytes", flags.progress);
    let restored = 0, failed = 0, expired = 0, read = 0;
    const summary = (): void => {
      bar.end();
      console.log(`${countText(restored)} keys restored${expired > 0 ? `, ${countText(expired)} had expired` : ""}${failed > 0 ? `, ${countText(failed)} failed` : ""}`);
    };
    try {
      for await (const { name, expires, value } of readBackup(file)) {
        if (interruption.asked) break;
        bar.show(read += name.length + value.length, size);
        const id = name.toString("latin1");
        if (seen.has(id)) continue;
        seen.add(id);
        if (expires >= 0 && expires <= Date.now()) {
          expired++;
        } else if (flags.dryRun) {
          console.log(shown(name));
        } else {
          try {
            await servers.nodeOf(name).connection.run("RESTORE", name, Math.max(0, expires), value, "REPLACE", ...(expires >= 0 ? ["ABSTTL"] : []));
            restored++;
          } catch (error) {
            if (!(error instanceof ErrorAnswer)) throw error;
            if (isHopeless(error)) throw failureAt(shown(name), error);
            failed++;
            console.error(`redis-roar: ${shown(name)}: ${error.message}`);
          }
        }
      }
    } catch (error) {
      if (restored + failed > 0) summary();
      throw error;
    } finally {
      bar.end();
    }
    summary();
    if (failed > 0) process.exitCode = Exit.SOME_FAILED;
  });
