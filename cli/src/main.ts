#!/usr/bin/env node
// redis-roar: the command-line tool. docs/cli.md describes it.

import { Exit, interruption, lineOf } from "./failure.js";
import { run } from "./program.js";

// Whoever reads the output may leave early, as head does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(Exit.OK);
  console.error(`redis-roar: ${lineOf(error)}`);
  process.exit(Exit.SOME_FAILED);
});
interruption.listen();
process.exitCode = await run(process.argv.slice(2));
