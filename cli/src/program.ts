// The commands of the tool, and how a run ends.

import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { advise } from "./commands/advise.js";
import { bench } from "./commands/bench.js";
import { convert, restore } from "./commands/convert.js";
import { inspect } from "./commands/inspect.js";
import { join, split } from "./commands/join.js";
import { load } from "./commands/load.js";
import { unload } from "./commands/unload.js";
import { watch } from "./commands/watch.js";
import { Exit, exitOf, interruption, lineOf } from "./failure.js";
import { Connection } from "./servers.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

export const program = new Command("redis-roar")
  .description("Roaring bitmaps in Redis and Valkey: estimate savings, and convert data.")
  .version(version)
  .showHelpAfterError("(--help lists the options)")
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

/** Closes all connections, so that nothing waits for an answer any more. */
export const closeAll = (): void => Connection.closeAll(new Error("no answer"));

/** Runs the tool with these arguments, and returns the number that it ends with. Runs in one process come one after the other. */
export async function run(args: readonly string[]): Promise<number> {
  process.exitCode = undefined;
  try {
    await program.parseAsync(args, { from: "user" });
    // A command that is meant to be interrupted says that all is well.
    if (!interruption.asked || process.exitCode === Exit.OK) return Number(process.exitCode ?? Exit.OK);
    console.error("redis-roar: interrupted");
    return Exit.INTERRUPTED;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? Exit.OK : Exit.USAGE;
    console.error(`redis-roar: ${interruption.asked ? "interrupted; " : ""}${lineOf(error)}`);
    return interruption.asked ? Exit.INTERRUPTED : exitOf(error);
  } finally {
    closeAll();
  }
}
