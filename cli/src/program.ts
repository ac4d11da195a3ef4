// The commands of the tool, and how a run ends.

import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { advise } from "./commands/advise.js";
import { bench } from "./commands/bench.js";
import { convert, restore } from "./commands/convert.js";
import { inspect } from "./commands/inspect.js";
import { join, split } from "./commands/join.js";
import { load, unload } from "./commands/load.js";
import { watch } from "./commands/watch.js";
import { ErrorAnswer, Exit, Failure, lineOf } from "./failure.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

const program = new Command("redis-roar")
  .description("Roaring bitmaps in Redis and Valkey: what they would save, and moving data to them.")
  .version(version)
  .showHelpAfterError("(--help shows what there is)")
  .exitOverride()
  .addCommand(advise)
  .addCommand(inspect)
  .addCommand(convert)
  .addCommand(restore)
  .addCommand(join)
  .addCommand(split)
  .addCommand(load)
  .addCommand(unload)
  .addCommand(watch)
  .addCommand(bench);

/** Runs the tool with these arguments, and returns the number that it ends with. Runs in one process come one after the other. */
export async function run(args: readonly string[]): Promise<number> {
  process.exitCode = undefined;
  try {
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? Exit.OK);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? Exit.OK : Exit.USAGE;
    console.error(`redis-roar: ${lineOf(error)}`);
    if (error instanceof Failure) return error.exit;
    return error instanceof ErrorAnswer && error.code === "NOPERM" ? Exit.PERMISSION : Exit.SOME_FAILED;
  }
}
