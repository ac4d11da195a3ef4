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

/** The options for the names of shards. */
const naming = (made: Command): Command => made
  .addOption(new Option("--width <bits>", "bits of a shard").argParser(bits(1n)).makeOptionMandatory())
  .addOption(new Option("--first <number>", "the number of the shard with offset 0").argParser(bits(0n)).default(0n, "0"))
  .addOption(new Option("--digits <number>", "number of digits to which shards' numbers are padded with zeros").argParser(wholeNumber(1, 20)).default(1))
  .option("--dry-run", "report what would be done, and write nothing")
  .addOption(new Option("--max-rate <number>", "maximum number of shards per second").argParser(wholeNumber(1)));

/** The maximum number of failures that are shown. */
const FAILURES = 10;

function report(flags: JoinFlags, key: string, result: Joined): string {
  const { shards, joined, others, members, bytesBefore, bytesAfter, failed, isPartial } = result;
  const done = flags.dryRun ? `${countText(shards)} shards would be joined` : `${countText(joined)} of ${countText(shards)} shards joined`;
  const sizes = flags.dryRun ? `${bytesText(bytesBefore)} would become about ${bytesText(bytesAfter)}` : `${bytesText(bytesBefore)} became ${bytesText(bytesAfter)}`;
  return [
    `${done}; ${flags.dryRun ? "they have" : `${key} has`} ${countText(BigInt(members))} members${shards > 0 ? `; ${sizes}` : ""}`,
    ...(others > 0 ? [`${countText(others)} keys with similar names are not shards, and stay as they are`] : []),
    ...(failed.length > 0 ? [`${countText(failed.length)} failed:`, ...failed.slice(0, FAILURES).map((one) => `  ${one.key}: ${one.why}`)] : []),
    ...(failed.length > FAILURES ? [`  and ${countText(failed.length - FAILURES)} more (--json lists all)`] : []),
    ...(isPartial ? ["interrupted; run the same command again to continue"] : []),
  ].join("\n");
}

export const join = naming(command("join", "make one roaring bitmap of native bitmaps that were split by hand; needs the module")
  .argument("<pattern>", "names of the shards, with * for the number; \\xNN stands for a byte")
  .argument("<key>", "the bitmap"))
  .option("--wide", "join to R64, for offsets above 2^32 - 1")
  .addOption(new Option("--expiry <rule>", "TTL of the bitmap if shards have one: that of the last shard to expire, or none").choices(["latest", "none"]))
  .option("--assume-bitmaps", "treat shards as bitmaps, even if they look like text")
  .addOption(new Option("--parallel <number>", "number of groups of small shards, or of large shards, to move at a time; by default 4, in a cluster 16")
    .argParser(wholeNumber(1, 64)))
  .option("--backup <file>", "add the shards' values to a file, for `redis-roar restore`")
  .option("--json", "print JSON")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Bit i of shard n becomes member (n - first) * width + i. First all shards are checked: if one is not a
native bitmap, has more bits than the width, or has a TTL and --expiry is missing, nothing is changed.
Then each shard is deleted as soon as the bitmap has its members, unless it has changed meanwhile.
Ctrl-C ends the run after the current shards; running the command again continues it, and also adds
the bits that were set since.

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

export const split = naming(command("split", "split a roaring bitmap into native bitmaps, the reverse of join; needs the module")
  .argument("<key>", "the bitmap")
  .argument("<pattern>", "names of the shards, with * for the number"))
  .option("--json", "print JSON")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Each shard with members becomes a native bitmap with the bitmap's TTL; members are added to a shard that
exists already. The bitmap is deleted when it is empty. In a cluster all keys have to be in one slot.

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
      const text = `${countText(BigInt(result.members))} members ${flags.dryRun ? "would be" : "are"} in ${countText(result.shards)} shards${result.isPartial ? "\ninterrupted; run the same command again to continue" : ""}`;
      console.log(flags.json ? JSON.stringify(result, null, 2) : text);
    } finally {
      bar.end();
    }
  });
