import { writeFileSync } from "node:fs";
import { startContenders, stopContenders } from "./contender.ts";
import { measureCommands } from "./suites/commands.ts";
const all: any = {};
(globalThis as any).RAW = (n: string, t: any[]) => { all[n] = t; };
const cs = await startContenders([{ name: "peer", module: "/tmp/peer/c-roaring.so" }]);
for await (const row of measureCommands(cs)) ;
await stopContenders(cs);
writeFileSync(process.argv[2]!, JSON.stringify(all));
