// The commands load and unload.

import { createReadStream, createWriteStream, readFileSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type Readable } from "node:stream";
import { InvalidArgumentError, Option } from "commander";
import { Format } from "../core/core.js";
import { ErrorAnswer, Exit, Failure, interruption, lineOf } from "../failure.js";
import { readKey } from "../inspect.js";
import { addTo, Batches, importTo, readCsv, readLines, writeLines } from "../load.js";
import { loadCore } from "../load-core.js";
import { nameBytes } from "../names.js";
import { command, wholeNumber } from "../options.js";
import { Progress } from "../progress.js";
import { needModule, type ServerOptions, Servers } from "../servers.js";
import { countText, durationText } from "../text.js";

interface LoadFlags extends ServerOptions {
  csv?: string;
  roaring?: boolean;
  wide?: boolean;
  batch: number;
  skip: number;
  progress: boolean;
}

export const load = command("load", "add ids to a bitmap: one a line, a column of CSV, or a portable roaring file; needs the module")
  .argument("<key>", "the key; \\xNN stands for a byte")
  .argument("[file]", "the file; standard input if there is none")
  .option("--csv <column>", "the file is CSV, and its first line has the names of columns")
  .option("--roaring", "the file is a portable roaring bitmap")
  .option("--wide", "load into R64, for ids above 2^32 - 1")
  .addOption(new Option("--batch <number>", "ids that are sent together").argParser((text) => {
    const value = wholeNumber(1)(text);
    if (value > 16_000_000) throw new InvalidArgumentError("must be at most 16000000.");
    return value;
  }).default(1_000_000))
  .addOption(new Option("--skip <number>", "leave out the first ids, which were loaded before").argParser(wholeNumber(0)).default(0))
  .option("--no-progress", "show no progress bar")
  .addHelpText("after", `
Ids that are members already do no harm, so a load that was cut short may simply be repeated.

Examples:
  cut -f1 users.tsv | redis-roar load users
  redis-roar load users users.csv --csv user_id --wide
  redis-roar load users users.roaring --roaring`)
  .action(async (key: string, file: string | undefined, flags: LoadFlags) => {
    if (flags.csv !== undefined && flags.roaring) throw new Failure("--csv and --roaring exclude each other", Exit.USAGE);
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key), { connection } = servers.nodeOf(name);
    const bytes = file === undefined ? 0 : statSync(file).size, bar = new Progress("bytes", flags.progress && bytes > 0), begun = performance.now();
    let loaded = flags.skip, members: number | string = 0;
    try {
      await needModule(servers);
      if (flags.roaring) {
        const payload = readFileSync(file ?? 0);
        core.read(flags.wide ? Format.PORTABLE_WIDE : Format.PORTABLE, payload);
        members = await importTo(connection, name, flags.wide ?? false, payload);
        console.log(`${countText(core.cardinality())} ids loaded; the key has ${countText(Number(members))} members`);
        return;
      }
      const input: Readable = file === undefined ? process.stdin : createReadStream(file, { highWaterMark: 1024 * 1024 });
      let read = 0;
      input.on("data", (part: Buffer) => bar.show(read += part.length, bytes)).pause();
      const batches = new Batches(flags.batch, flags.skip, async (batch) => {
        members = await addTo(core, connection, name, flags.wide ?? false, batch);
        loaded += batch.length;
      });
      if (flags.csv === undefined) await readLines(input, batches);
      else await readCsv(input, flags.csv, batches);
      await batches.flush();
    } catch (error) {
      bar.end();
      const exit = error instanceof Failure ? error.exit : error instanceof ErrorAnswer && error.code === "NOPERM" ? Exit.PERMISSION : Exit.SOME_FAILED;
      throw new Failure(`${lineOf(error)}${loaded > 0 ? `; --skip ${loaded} goes on behind what is loaded` : ""}`, exit);
    } finally {
      bar.end();
      servers.close();
    }
    const seconds = (performance.now() - begun) / 1000;
    console.log(`${countText(loaded - flags.skip)} ids loaded in ${durationText(seconds)}, ${countText(Math.round((loaded - flags.skip) / seconds))} a second; the key has ${countText(Number(members))} members`);
    if (!interruption.asked) return;
    console.error(`redis-roar: interrupted; --skip ${loaded} goes on`);
    process.exitCode = Exit.INTERRUPTED;
  });

interface UnloadFlags extends ServerOptions {
  roaring?: boolean;
  output?: string;
}

export const unload = command("unload", "write the members of a bitmap: one a line, or as a portable roaring file")
  .argument("<key>", "the key; \\xNN stands for a byte. Native bitmaps and sets of integers will do")
  .option("-o, --output <file>", "the file; standard output if there is none")
  .option("--roaring", "write a portable roaring bitmap, of 64 bits if the key holds R64")
  .addHelpText("after", `
Examples:
  redis-roar unload users | wc -l
  redis-roar unload users --roaring -o users.roaring`)
  .action(async (key: string, flags: UnloadFlags) => {
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key);
    try {
      const holds = await readKey(core, servers.nodeOf(name), name);
      if (flags.roaring) {
        const isWide = holds === "R64" || (core.maximum() ?? 0n) > 0xffff_ffffn;
        writeFileSync(flags.output ?? 1, core.write(isWide ? Format.PORTABLE_WIDE : Format.PORTABLE));
        return;
      }
      const output = flags.output === undefined ? process.stdout : createWriteStream(flags.output);
      await writeLines(core, async (text) => {
        if (!output.write(text)) await once(output, "drain");
      });
      if (output !== process.stdout) await new Promise((resolve, reject) => output.once("error", reject).end(() => resolve(undefined)));
    } finally {
      servers.close();
    }
    if (interruption.asked) process.exitCode = Exit.INTERRUPTED;
  });
