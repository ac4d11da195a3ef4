// The commands join and split.

import { type Command, InvalidArgumentError, Option } from "commander";
import { Backup } from "../backup.js";
import { Exit } from "../failure.js";
import { loadCore } from "../load-core.js";
import { nameBytes } from "../names.js";
import { command, wholeNumber } from "../options.js";
import { Progress } from "../progress.js";
import { needModule, type ServerOptions, Servers } from "../servers.js";
import { Joiner, type Joined } from "../shards/join.js";
import { ShardNames } from "../shards/names.js";
import { split as splitKey } from "../shards/split.js";
import { bytesText, countText } from "../text.js";

interface NamingFlags extends ServerOptions {
  width: bigint;
  first: bigint;
  digits: number;
  dryRun?: boolean;
  maxRate?: number;
  json?: boolean;
  progress: boolean;
}

interface JoinFlags extends NamingFlags {
  wide?: boolean;
  expiry?: "latest" | "none";
  assumeBitmaps?: boolean;
  parallel?: number;
  backup?: string;
}

const bits = (least: bigint) => (text: string): bigint => {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (value < least || value > 2n ** 64n) throw new InvalidArgumentError(`must be a whole number from ${least} on.`);
  return value;
};

/** The options that say how shards are named. */
const naming = (made: Command): Command => made
  .addOption(new Option("--width <bits>", "bits of a shard").argParser(bits(1n)).makeOptionMandatory())
  .addOption(new Option("--first <number>", "the number of the shard with offset 0").argParser(bits(0n)).default(0n, "0"))
  .addOption(new Option("--digits <number>", "numbers are padded with zeros to so many digits").argParser(wholeNumber(1, 20)).default(1))
  .option("--dry-run", "say what would be done, and write nothing")
  .addOption(new Option("--max-rate <number>", "so many shards a second at most").argParser(wholeNumber(1)));

/** So many failures are shown. */
const FAILURES = 10;

function report(flags: JoinFlags, key: string, result: Joined): string {
  const { shards, joined, others, members, bytesBefore, bytesAfter, failed, isPartial } = result;
  const done = flags.dryRun ? `${countText(shards)} shards would be joined` : `${countText(joined)} of ${countText(shards)} shards joined`;
  const sizes = flags.dryRun ? `${bytesText(bytesBefore)} would become about ${bytesText(bytesAfter)}` : `${bytesText(bytesBefore)} became ${bytesText(bytesAfter)}`;
  return [
    `${done}; ${flags.dryRun ? "they have" : `${key} has`} ${countText(BigInt(members))} members${shards > 0 ? `; ${sizes}` : ""}`,
    ...(others > 0 ? [`${countText(others)} keys with names like these are no shards, and stay`] : []),
    ...(failed.length > 0 ? [`${countText(failed.length)} failed:`, ...failed.slice(0, FAILURES).map((one) => `  ${one.key}: ${one.why}`)] : []),
    ...(failed.length > FAILURES ? [`  and ${countText(failed.length - FAILURES)} more (--json lists all)`] : []),
    ...(isPartial ? ["interrupted; the same command goes on from here"] : []),
  ].join("\n");
}

export const join = naming(command("join", "make one roaring bitmap of native bitmaps that were split by hand; needs the module")
  .argument("<pattern>", "names of the shards, with * for the number; \\xNN stands for a byte")
  .argument("<key>", "the bitmap"))
  .option("--wide", "join to R64, for offsets above 2^32 - 1")
  .addOption(new Option("--expiry <rule>", "if shards expire: the bitmap with the last of them, or never").choices(["latest", "none"]))
  .option("--assume-bitmaps", "take shards for bitmaps, even if they look like text")
  .addOption(new Option("--parallel <number>", "groups of small shards, or large shards, at a time; by default 4, in a cluster 16")
    .argParser(wholeNumber(1, 64)))
  .option("--backup <file>", "add the shards' values to a file, for `redis-roar restore`")
  .option("--json", "print JSON")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Bit i of shard n becomes member (n - first) * width + i. First all shards are looked at: if one is no
native bitmap, has more bits than the width, or expires without --expiry, nothing is changed. Then a
shard is deleted as soon as the bitmap has its members, unless it has changed meanwhile. Ctrl-C ends
after the shards at hand; running the command again goes on, and also adds what was written since.

Examples:
  redis-roar join 'video:drama:*' video:drama --width 10000 --dry-run
  redis-roar join 'video:drama:*' video:drama --width 10000 --backup drama.backup
  redis-roar join 'seen:*:low' seen --width 4294967296 --wide       # the number is the high half of an id`)
  .action(async (pattern: string, key: string, flags: JoinFlags) => {
    const names = new ShardNames(pattern, flags), core = await loadCore(), servers = await Servers.open(flags), bar = new Progress("shards", flags.progress);
    let backup: Backup | undefined;
    try {
      await needModule(servers);
      backup = flags.backup && !flags.dryRun ? await Backup.append(flags.backup) : undefined;
      const result = await new Joiner(servers, core, {
        key: nameBytes(key), names, wide: flags.wide ?? false, expiry: flags.expiry, assumeBitmaps: flags.assumeBitmaps ?? false,
        dryRun: flags.dryRun ?? false, maxRate: flags.maxRate ?? Infinity, parallel: flags.parallel ?? (servers.isCluster ? 16 : 4), backup,
        onProgress: (done, expected) => bar.show(done, expected),
      }).join();
      bar.end();
      console.log(flags.json ? JSON.stringify(result, null, 2) : report(flags, key, result));
      if (result.failed.length > 0) process.exitCode = Exit.SOME_FAILED;
    } finally {
      bar.end();
      await backup?.close();
    }
  });

export const split = naming(command("split", "make native bitmaps of a roaring one, as they were before join; needs the module")
  .argument("<key>", "the bitmap")
  .argument("<pattern>", "names of the shards, with * for the number"))
  .option("--json", "print JSON")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Each shard with members becomes a native bitmap with the bitmap's time of expiry; one that is there gets
them in addition. The bitmap is deleted when it is empty. In a cluster all have to be in one slot.

Example:
  redis-roar split video:drama 'video:drama:*' --width 10000`)
  .action(async (key: string, pattern: string, flags: NamingFlags) => {
    const names = new ShardNames(pattern, flags), core = await loadCore(), servers = await Servers.open(flags), bar = new Progress("shards", flags.progress);
    try {
      await needModule(servers);
      const result = await splitKey(servers, core, {
        key: nameBytes(key), names, dryRun: flags.dryRun ?? false, maxRate: flags.maxRate ?? Infinity,
        onProgress: (done, expected) => bar.show(done, expected),
      });
      bar.end();
      const text = `${countText(BigInt(result.members))} members ${flags.dryRun ? "would be" : "are"} in ${countText(result.shards)} shards${result.isPartial ? "\ninterrupted; the same command goes on from here" : ""}`;
      console.log(flags.json ? JSON.stringify(result, null, 2) : text);
    } finally {
      bar.end();
    }
  });
