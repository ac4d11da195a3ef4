// The command load.

import { constants, createReadStream, openSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Option } from "commander";
import { bitmapDestination, type Destination, integersDestination, isAbort, namesDestination } from "../destinations.js";
import { readFrom, type System, SYSTEMS } from "../exchange.js";
import { Exit, exitOf, Failure, interruption, lineOf } from "../failure.js";
import { importTo, inPages } from "../load.js";
import { loadCore } from "../load-core.js";
import { nameBytes } from "../names.js";
import { command, wholeNumber } from "../options.js";
import { readPayload } from "../payloads.js";
import { Progress } from "../progress.js";
import { loadRuns } from "../ranges.js";
import { Resuming } from "../resuming.js";
import { type Connection, needModule, Servers } from "../servers.js";
import { countText, durationText } from "../text.js";
import { isSharded, type ShardFlags, shardedOf, sharding } from "./sharding.js";

interface LoadFlags extends ShardFlags {
  type: "bitmap" | "integers" | "names";
  names?: string;
  resume?: string;
  csv?: string;
  value?: string;
  roaring?: boolean;
  format?: System;
  ranges?: boolean;
  wide?: boolean;
  batch?: number;
  skip: number;
  progress: boolean;
}

/** The number of items that are sent together: ids as one payload, others as words of commands. */
const BATCH_IDS = 1_000_000, BATCH_WORDS = 50_000;

/** Refuses options that exclude each other. */
function checkFlags(flags: LoadFlags): void {
  const { type, names, csv, value, format, ranges, resume, skip, wide } = flags, roaring = flags.roaring || format !== undefined;
  const fail = (why: string): never => { throw new Failure(why, Exit.USAGE); };
  if (flags.roaring && format !== undefined) fail("--roaring and --format exclude each other");
  if (csv !== undefined && roaring) fail("--csv excludes --roaring and --format");
  if (resume !== undefined && (skip > 0 || roaring)) fail("--resume excludes --skip, --roaring and --format");
  if (ranges && (csv !== undefined || roaring || resume !== undefined || skip > 0 || isSharded(flags))) {
    fail("--ranges excludes --csv, --roaring, --format, --resume, --skip and shards");
  }
  if (names !== undefined && type !== "bitmap") fail("--names sets bits in a bitmap, and excludes --type");
  const form = names !== undefined ? "--names" : type !== "bitmap" ? `--type ${type}` : undefined;
  if (form && (roaring || ranges || wide || isSharded(flags))) fail(`${form} excludes --roaring, --format, --ranges, --wide and shards`);
  if (type === "integers" ? (csv === undefined) !== (value === undefined) : value !== undefined) {
    fail("--value names the column of values, for --type integers with --csv");
  }
}

/** The destination of lines that are not ids; undefined for ids. */
function destinationOf({ type, names }: LoadFlags, connection: Connection, name: Buffer): Destination | undefined {
  if (type === "integers") return integersDestination(connection, name);
  if (type === "names") return namesDestination(connection, name, undefined);
  return names === undefined ? undefined : namesDestination(connection, nameBytes(names), name);
}

export const load = sharding(command("load", "add ids, integers for ids, or names to a key: one per line, or columns of CSV; or a roaring file; needs the module")
  .argument("<key>", "the key; \\xNN stands for a byte")
  .argument("[file]", "the file; standard input if there is none"))
  .addOption(new Option("--type <type>", "what the key is: integers are lines of an id and its value, such as 7,31; names go to a dictionary")
    .choices(["bitmap", "integers", "names"]).default("bitmap"))
  .option("--names <dictionary>", "the lines are names: add them to this dictionary, and set their bits in the bitmap")
  .option("--csv <column>", "the file is CSV, and its first line has the names of columns")
  .option("--value <column>", "the column of the values, for --type integers with --csv")
  .option("--roaring", "the file is a roaring bitmap in any form that IMPORT takes")
  .addOption(new Option("--format <system>", "the file is a bitmap of this system: a groupBitmap state, or a BITMAP; also as Base64 text").choices(SYSTEMS))
  .option("--ranges", "each line is a range of ids, such as 10-19, both ends included")
  .option("--wide", "load into R64, for ids above 2^32 - 1")
  .addOption(new Option("--batch <number>", "number of items that are sent together; by default 1,000,000 ids, or 50,000 integers or names")
    .argParser(wholeNumber(1, 16_000_000)))
  .addOption(new Option("--skip <number>", "skip this many items, which were loaded before").argParser(wholeNumber(0)).default(0))
  .option("--resume <file>", "record the progress in a file, and continue from there if the file exists")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Ids that are members already are harmless, and so are names, so an interrupted load can be repeated.
Integers replace the values that ids have. With --resume, a load continues where it stopped, also
after a kill.

Examples:
  cut -f1 users.tsv | redis-roar load users
  redis-roar load users users.csv --csv user_id --wide
  redis-roar load users users.roaring --roaring
  redis-roar load users users.state --format clickhouse
  redis-roar load users users.txt --resume users.load
  redis-roar load age users.csv --type integers --csv user_id --value age
  redis-roar load users mails.txt --type names                       # a dictionary
  redis-roar load read:7 mails.txt --names users                     # a bitmap, and its dictionary
  redis-roar load users users.txt --shards 16 --by hash              # over the nodes of a cluster`)
  .action(async (key: string, file: string | undefined, flags: LoadFlags) => {
    checkFlags(flags);
    const wide = flags.wide ?? false, bytes = file === undefined ? 0 : statSync(file).size;
    const { csv, value, names, batch: size } = flags, type = flags.type === "bitmap" ? undefined : flags.type;
    const how = JSON.stringify({ wide, csv, value, type, names, shards: flags.shards, width: flags.shardWidth?.toString(), by: flags.by });
    const things = type === "names" || names !== undefined ? "names" : "ids";
    const resuming = flags.resume === undefined ? undefined : new Resuming(flags.resume, { key, source: file ?? null, bytes, how }, things);
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key);
    await needModule(servers);
    const sharded = shardedOf(servers, core, key, wide, flags), { connection } = servers.nodeOf(sharded?.layout.keyOf(0) ?? name);
    const bitmap = bitmapDestination(core, connection, name, wide, sharded), other = destinationOf(flags, connection, name);
    const destination = other ?? bitmap;
    // Fails early, before the input is read, if the user lacks the right or the key has another type.
    let members = await destination.count();
    resuming?.check(members);
    const bar = new Progress("bytes", flags.progress && bytes > 0), begun = performance.now(), skip = resuming?.loaded ?? flags.skip;
    let loaded = skip;
    const input = inputOf(file);
    try {
      if (flags.ranges) {
        const ranges = await loadRuns(connection, name, wide, input);
        console.log(`${countText(ranges)} ranges loaded; the key has ${countText(await destination.count())} members`);
        if (interruption.asked) throw new Failure("not all ranges are loaded", Exit.INTERRUPTED);
        return;
      }
      if (flags.roaring || flags.format) {
        const read = await buffer(input), source = sharded ? await loadCore() : core;
        const payload = flags.format ? await readFrom(source, flags.format, wide, read) : read;
        if (!flags.format) await readPayload(source, wide, read);
        let ids = source.cardinality();
        if (sharded) ids = await inPages(source, size ?? BATCH_IDS, (page) => bitmap.send(wide ? page : Uint32Array.from(page, Number)));
        else await importTo(connection, name, wide, payload);
        members = await destination.count();
        console.log(`${countText(ids)} ids loaded; ${sharded ? "the shards have" : "the key has"} ${countText(members)} members`);
        return;
      }
      let read = 0;
      input.on("data", (part: Buffer) => bar.show(read += part.length, bytes)).pause();
      const columns = csv === undefined ? undefined : value === undefined ? [csv] : [csv, value];
      const count = await destination.load({
        input, columns, skip, batch: size ?? (other ? BATCH_WORDS : BATCH_IDS),
        sent: async (items) => {
          loaded += items;
          resuming?.note(loaded, await destination.count());
        },
      });
      if (count < skip && !interruption.asked) {
        throw new Failure(`the input has only ${countText(count)} ${things}, but the first ${countText(skip)} should be skipped`, Exit.USAGE);
      }
      members = await destination.count();
      if (!interruption.asked) resuming?.end();
    } catch (error) {
      if (isAbort(error)) throw new Failure("nothing is loaded");
      const exit = exitOf(error), hint = resuming ? "; run the same command again to continue" : `; continue with --skip ${loaded}`;
      // After wrong arguments, the same command would end in the same way.
      throw new Failure(`${lineOf(error)}${loaded > 0 && exit !== Exit.USAGE ? hint : ""}`, exit);
    } finally {
      bar.end();
      input.destroy();
    }
    const seconds = (performance.now() - begun) / 1000, now = loaded - skip, rate = countText(Math.round(now / seconds));
    const held = type ?? "members";
    console.log(`${countText(now)} ${things} loaded in ${durationText(seconds)}, ${rate} a second; the key has ${countText(members)} ${held}`);
    if (interruption.asked) throw new Failure(`${resuming ? "run the same command again to continue" : `continue with --skip ${loaded}`}`, Exit.INTERRUPTED);
  });

/**
 * The bytes of a file, or of standard input, until the run is interrupted. A pipe that has a name is read as standard input is: threads of
 * Node.js would wait for its other end, and the process for them.
 */
function inputOf(file: string | undefined): Readable {
  const input = file === undefined ? process.stdin
    : statSync(file).isFIFO() ? new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
    : createReadStream(file, { highWaterMark: 1024 * 1024 });
  return addAbortSignal(interruption.signal, input);
}
