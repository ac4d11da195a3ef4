#!/usr/bin/env node
// redis-roar: the command-line tool. docs/cli.md describes it.

import { Exit, interruption, lineOf } from "./failure.js";

// The reader of the output may leave early, as head does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(Exit.OK);
  console.error(`redis-roar: ${lineOf(error)}`);
  process.exit(Exit.SOME_FAILED);
});
let cut = (): void => {};
interruption.listen(() => cut());
// Loaded after that, since it takes a moment in which a signal may come.
const { closeAll, run } = await import("./program.js");
cut = closeAll;
process.exitCode = await run(process.argv.slice(2));
