// The command unload.

import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { Option } from "commander";
import { Format } from "../core/core.js";
import { linesOf, memberNamePages, namePages, NAMES_TYPE } from "../dictionary.js";
import { type System, SYSTEMS, writtenFor } from "../exchange.js";
import { Exit, Failure, interruption } from "../failure.js";
import { readKey, typeOf } from "../inspect.js";
import { INTEGERS_TYPE, pairPages } from "../integers.js";
import { writeLines } from "../load.js";
import { loadCore } from "../load-core.js";
import { nameBytes, shown } from "../names.js";
import { command } from "../options.js";
import { RunLines, writeRuns } from "../ranges.js";
import { familyOf, memberPages } from "../roaring.js";
import { needModule, type Node, Servers } from "../servers.js";
import { isSharded, type ShardFlags, shardedOf, sharding } from "./sharding.js";

interface UnloadFlags extends ShardFlags {
  wide?: boolean;
  roaring?: boolean;
  format?: System;
  base64?: boolean;
  ranges?: boolean;
  names?: string;
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

/** Writes pages as lines, until the run is interrupted. */
async function writePages<Page>(
  file: string | undefined, pages: AsyncIterable<Page>, linesOfPage: (page: Page) => string | Uint8Array,
): Promise<void> {
  await toOutput(file, async (write) => {
    for await (const page of pages) {
      await write(linesOfPage(page));
      if (interruption.asked) return;
    }
  });
}

/** Writes a key that is no bitmap, or a bitmap as names; returns whether it was one of these. */
async function writeOther({ connection }: Node, name: Buffer, type: string, flags: UnloadFlags): Promise<boolean> {
  const { names, output, ranges } = flags, roaring = flags.roaring || flags.format !== undefined;
  const isOther = type === INTEGERS_TYPE || type === NAMES_TYPE;
  if (isOther && (roaring || ranges || names !== undefined)) {
    throw new Failure(`${shown(name)}: of type ${type}, not a bitmap: --roaring, --format, --ranges and --names are for bitmaps`, Exit.USAGE);
  }
  if (names !== undefined && !familyOf(type)) throw new Failure(`${shown(name)}: of type ${type}, but --names needs a roaring bitmap`, Exit.USAGE);
  if (type === INTEGERS_TYPE) {
    await writePages(output, pairPages(connection, name), (pairs) => pairs.map(([id, value]) => `${id},${value}\n`).join(""));
  } else if (type === NAMES_TYPE) {
    await writePages(output, namePages(connection, name), linesOf);
  } else if (names !== undefined) {
    await writePages(output, memberNamePages(connection, nameBytes(names), name), linesOf);
  }
  return isOther || names !== undefined;
}

export const unload = sharding(command("unload", "write members, integers for ids, or names: one per line, or as a portable roaring file")
  .argument("<key>", "the key; \\xNN stands for a byte. May also be a native bitmap or a set of integers"))
  .option("-o, --output <file>", "the file; standard output if there is none")
  .option("--roaring", "write a portable roaring bitmap, of 64 bits if the key holds R64")
  .addOption(new Option("--format <system>", "write a bitmap of this system: a groupBitmap state, of UInt64 if the key holds R64, or a BITMAP")
    .choices(SYSTEMS))
  .option("--base64", "write it as Base64 text, as Elasticsearch, OpenSearch, Doris and StarRocks take it")
  .option("--ranges", "write a line for each run of consecutive members, such as 10-19")
  .option("--names <dictionary>", "write the names that the members of the bitmap have in this dictionary")
  .option("--wide", "the shards hold R64")
  .addHelpText("after", `
Examples:
  redis-roar unload users | wc -l
  redis-roar unload users --roaring -o users.roaring
  redis-roar unload users --format clickhouse -o users.state
  redis-roar unload users --roaring --base64
  redis-roar unload age                                # lines such as 7,31
  redis-roar unload read:7 --names users
  redis-roar unload users --shards 16 --by hash -o users.txt`)
  .action(async (key: string, flags: UnloadFlags) => {
    const fail = (why: string): never => { throw new Failure(why, Exit.USAGE); }, { format } = flags;
    if (flags.roaring && format) fail("--roaring and --format exclude each other");
    const asWhole = flags.roaring || format !== undefined, option = format ? "--format" : "--roaring";
    if (flags.base64 && !asWhole) fail("--base64 is for --roaring and --format");
    if (asWhole && isSharded(flags)) fail(`${option} writes one key: unload each shard separately, or write lines`);
    if (asWhole && flags.ranges) fail(`${option} and --ranges exclude each other`);
    if (flags.names !== undefined && (asWhole || flags.ranges || isSharded(flags))) fail("--names excludes --roaring, --format, --ranges and shards");
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key);
    const sharded = shardedOf(servers, core, key, flags.wide ?? false, flags);
    if (sharded) {
      await needModule(servers);
      await toOutput(flags.output, async (write) => {
        const runs = new RunLines(write);
        await sharded.members(async (members) => {
          if (flags.ranges) return runs.addAll(members);
          for (let at = 0; at < members.length; at += LINES) await write(`${members.subarray(at, at + LINES).join("\n")}\n`);
        });
        return runs.end();
      });
      return;
    }
    const node = servers.nodeOf(name), type = await typeOf(node.connection, name), family = familyOf(type);
    if (await writeOther(node, name, type, flags)) return;
    if (flags.ranges) {
      await toOutput(flags.output, (write) => writeRuns(core, node, name, new RunLines(write)));
      return;
    }
    if (family && !asWhole) {
      await toOutput(flags.output, (write) => memberPages(node.connection, family, name, LINES, (page) => write(`${page.join("\n")}\n`)));
      return;
    }
    const holds = await readKey(core, node, name);
    if (asWhole) {
      const isWide = holds === "R64" || (core.maximum() ?? 0n) > 0xffff_ffffn;
      const bytes = format ? writtenFor(core, format, isWide) : core.write(isWide ? Format.PORTABLE_WIDE : Format.PORTABLE);
      await toOutput(flags.output, (write) => write(flags.base64 ? `${Buffer.from(bytes).toString("base64")}\n` : bytes));
      return;
    }
    await toOutput(flags.output, (write) => writeLines(core, write));
  });
