// The commands load and unload.

import { once } from "node:events";
import { constants, createReadStream, openSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Core, Format } from "../core/core.js";
import { Exit, exitOf, Failure, interruption, lineOf } from "../failure.js";
import { readKey, typeOf } from "../inspect.js";
import { addTo, Batches, importTo, inPages, readCsv, readLines, writeLines } from "../load.js";
import { loadCore } from "../load-core.js";
import { nameBytes } from "../names.js";
import { command, wholeNumber } from "../options.js";
import { readPayload } from "../payloads.js";
import { Progress } from "../progress.js";
import { loadRuns, RunLines, writeRuns } from "../ranges.js";
import { Resuming } from "../resuming.js";
import { familyOf, memberPages } from "../roaring.js";
import { needModule, type ServerOptions, Servers } from "../servers.js";
import { type Offsets, ShardedBitmap } from "../sharded.js";
import { countText, durationText } from "../text.js";

interface ShardFlags extends ServerOptions {
  shards?: number;
  shardWidth?: bigint;
  by: "range" | "hash";
}

/** The options of a bitmap that is spread over keys. */
const sharding = (made: Command): Command => made
  .addOption(new Option("--shards <number>", "number of keys over which the bitmap is spread, <key>:{0}, <key>:{1} ...")
    .argParser(wholeNumber(1, 16_384)))
  .addOption(new Option("--shard-width <offsets>", "offsets of a shard; by default all offsets of the family divided by the number of shards").argParser((text) => {
    if (!/^\d{1,20}$/.test(text)) throw new InvalidArgumentError("must be a whole number.");
    return BigInt(text);
  }))
  .addOption(new Option("--by <how>", "how offsets are spread").choices(["range", "hash"]).default("range"));

const isSharded = ({ shards, shardWidth, by }: ShardFlags): boolean => shards !== undefined || shardWidth !== undefined || by !== "range";

/** The sharded bitmap that the options name, if they do. */
function shardedOf(servers: Servers, core: Core, key: string, wide: boolean, flags: ShardFlags): ShardedBitmap | undefined {
  if (!isSharded(flags)) return undefined;
  const { shards, shardWidth, by } = flags;
  return new ShardedBitmap(servers, core, key, wide, { by, shards, width: shardWidth });
}

interface LoadFlags extends ShardFlags {
  resume?: string;
  csv?: string;
  roaring?: boolean;
  ranges?: boolean;
  wide?: boolean;
  batch: number;
  skip: number;
  progress: boolean;
}

export const load = sharding(command("load", "add ids to a bitmap: one per line, a column of CSV, or a roaring file; needs the module")
  .argument("<key>", "the key; \\xNN stands for a byte")
  .argument("[file]", "the file; standard input if there is none"))
  .option("--csv <column>", "the file is CSV, and its first line has the names of columns")
  .option("--roaring", "the file is a roaring bitmap in any form that IMPORT takes")
  .option("--ranges", "each line is a range of ids, such as 10-19, both ends included")
  .option("--wide", "load into R64, for ids above 2^32 - 1")
  .addOption(new Option("--batch <number>", "number of ids that are sent together").argParser(wholeNumber(1, 16_000_000)).default(1_000_000))
  .addOption(new Option("--skip <number>", "skip this many ids, which were loaded before").argParser(wholeNumber(0)).default(0))
  .option("--resume <file>", "record the progress in a file, and continue from there if the file exists")
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Ids that are members already are harmless, so an interrupted load can be repeated. With --resume, it
continues where it stopped, also after a kill.

Examples:
  cut -f1 users.tsv | redis-roar load users
  redis-roar load users users.csv --csv user_id --wide
  redis-roar load users users.roaring --roaring
  redis-roar load users users.txt --resume users.load
  redis-roar load users users.txt --shards 16 --by hash              # over the nodes of a cluster`)
  .action(async (key: string, file: string | undefined, flags: LoadFlags) => {
    if (flags.csv !== undefined && flags.roaring) throw new Failure("--csv and --roaring exclude each other", Exit.USAGE);
    if (flags.resume !== undefined && (flags.skip > 0 || flags.roaring)) throw new Failure("--resume excludes --skip and --roaring", Exit.USAGE);
    if (flags.ranges && (flags.csv !== undefined || flags.roaring || flags.resume !== undefined || flags.skip > 0 || isSharded(flags))) {
      throw new Failure("--ranges excludes --csv, --roaring, --resume, --skip and shards", Exit.USAGE);
    }
    const wide = flags.wide ?? false, bytes = file === undefined ? 0 : statSync(file).size;
    const how = JSON.stringify({ wide, csv: flags.csv, shards: flags.shards, width: flags.shardWidth?.toString(), by: flags.by });
    const resuming = flags.resume === undefined ? undefined : new Resuming(flags.resume, { key, source: file ?? null, bytes, how });
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key);
    await needModule(servers);
    const sharded = shardedOf(servers, core, key, wide, flags), { connection } = servers.nodeOf(sharded?.layout.keyOf(0) ?? name);
    const count = async (): Promise<bigint> => sharded?.count() ?? BigInt(String(await connection.run(wide ? "R64.BITCOUNT" : "R.BITCOUNT", name)));
    // Fails early, before the input is read, if the user lacks the right or the key has another type.
    let members = await count();
    resuming?.check(members);
    const bar = new Progress("bytes", flags.progress && bytes > 0), begun = performance.now(), skip = resuming?.loaded ?? flags.skip;
    let loaded = skip;
    const send = async (batch: Offsets): Promise<void> => {
      if (!wide && batch instanceof BigUint64Array) throw new Failure("an id is above 2^32 - 1: load it with --wide", Exit.USAGE);
      if (sharded) await sharded.add(batch);
      else members = await addTo(core, connection, name, wide, batch);
    };
    const input = inputOf(file);
    try {
      if (flags.ranges) {
        const ranges = await loadRuns(connection, name, wide, input);
        console.log(`${countText(ranges)} ranges loaded; the key has ${countText(await count())} members`);
        if (interruption.asked) throw new Failure("not all ranges are loaded", Exit.INTERRUPTED);
        return;
      }
      if (flags.roaring) {
        const payload = await buffer(input), source = sharded ? await loadCore() : core;
        await readPayload(source, wide, payload);
        let ids = source.cardinality();
        if (sharded) ids = await inPages(source, flags.batch, (page) => send(wide ? page : Uint32Array.from(page, Number)));
        else members = await importTo(connection, name, wide, payload);
        console.log(`${countText(ids)} ids loaded; ${sharded ? "the shards have" : "the key has"} ${countText(sharded ? await count() : members)} members`);
        return;
      }
      let read = 0;
      input.on("data", (part: Buffer) => bar.show(read += part.length, bytes)).pause();
      const batches = new Batches(flags.batch, skip, async (batch) => {
        await send(batch);
        loaded += batch.length;
        resuming?.note(loaded, sharded ? await count() : members);
      });
      await (flags.csv === undefined ? readLines(input, batches) : readCsv(input, flags.csv, batches)).catch((error: unknown) => {
        if (!isAbort(error)) throw error;
      });
      await batches.flush();
      if (batches.count < skip && !interruption.asked) {
        throw new Failure(`the input has only ${countText(batches.count)} ids, but the first ${countText(skip)} should be skipped`, Exit.USAGE);
      }
      if (sharded) members = await count();
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
    console.log(`${countText(now)} ids loaded in ${durationText(seconds)}, ${rate} a second; the key has ${countText(members)} members`);
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

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

interface UnloadFlags extends ShardFlags {
  wide?: boolean;
  roaring?: boolean;
  ranges?: boolean;
  output?: string;
}

/** The number of lines that are written together. */
const LINES = 65_536;

type Write = (part: string | Uint8Array) => Promise<void>;

/** Lets `work` write to a file, or to standard output, as fast as that takes it. A file is as it was until there is something to write. */
async function toOutput(file: string | undefined, work: (write: Write) => Promise<unknown>): Promise<void> {
  if (file === undefined) {
    await work(async (part) => {
      if (!process.stdout.write(part)) await once(process.stdout, "drain", { signal: interruption.signal }).catch(() => {});
    });
    return;
  }
  let output: FileHandle | undefined;
  const opened = async (): Promise<FileHandle> => (output ??= await open(file, "w"));
  try {
    await work(async (part) => (await opened()).writeFile(part));
    await opened();
  } finally {
    await output?.close();
  }
}

export const unload = sharding(command("unload", "write the members of a bitmap: one per line, or as a portable roaring file")
  .argument("<key>", "the key; \\xNN stands for a byte. May also be a native bitmap or a set of integers"))
  .option("-o, --output <file>", "the file; standard output if there is none")
  .option("--roaring", "write a portable roaring bitmap, of 64 bits if the key holds R64")
  .option("--ranges", "write a line for each run of consecutive members, such as 10-19")
  .option("--wide", "the shards hold R64")
  .addHelpText("after", `
Examples:
  redis-roar unload users | wc -l
  redis-roar unload users --roaring -o users.roaring
  redis-roar unload users --shards 16 --by hash -o users.txt`)
  .action(async (key: string, flags: UnloadFlags) => {
    if (flags.roaring && isSharded(flags)) throw new Failure("--roaring writes one key: unload each shard separately, or write lines", Exit.USAGE);
    if (flags.roaring && flags.ranges) throw new Failure("--roaring and --ranges exclude each other", Exit.USAGE);
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key);
    const sharded = shardedOf(servers, core, key, flags.wide ?? false, flags);
    if (flags.ranges) {
      if (sharded) await needModule(servers);
      await toOutput(flags.output, async (write) => {
        const lines = new RunLines(write);
        if (!sharded) return writeRuns(core, servers.nodeOf(name), name, lines);
        await sharded.members((members) => lines.addAll(members));
        return lines.end();
      });
      return;
    }
    if (sharded) {
      await needModule(servers);
      await toOutput(flags.output, (write) => sharded.members(async (members) => {
        for (let at = 0; at < members.length; at += LINES) await write(`${members.subarray(at, at + LINES).join("\n")}\n`);
      }));
      return;
    }
    const node = servers.nodeOf(name), family = familyOf(await typeOf(node.connection, name));
    if (family && !flags.roaring) {
      await toOutput(flags.output, (write) => memberPages(node.connection, family, name, LINES, (page) => write(`${page.join("\n")}\n`)));
      return;
    }
    const holds = await readKey(core, node, name);
    if (flags.roaring) {
      const isWide = holds === "R64" || (core.maximum() ?? 0n) > 0xffff_ffffn;
      await toOutput(flags.output, (write) => write(core.write(isWide ? Format.PORTABLE_WIDE : Format.PORTABLE)));
      return;
    }
    await toOutput(flags.output, (write) => writeLines(core, write));
  });
