// ab.mts CMD,CMD.. [name=path ...]: 'ours' is build/redis-roar.so
import { startContenders, stopContenders } from "./contender.ts";
import { measureCommands, uses } from "./suites/commands.ts";
const [cmds, ...peers] = process.argv.slice(2);
const wanted = new Set(cmds!.split(","));
for (const k of Object.keys(uses)) if (!wanted.has(k)) delete (uses as any)[k];
const cs = await startContenders(peers.map((p) => ({ name: p.split("=")[0]!, module: p.split("=")[1]! })));
for await (const row of measureCommands(cs)) console.log(row.what.padEnd(16), Object.entries(row.values).map(([n, v]) => `${n} ${v.toFixed(v < 10 ? 3 : 1)}`).join("  "));
await stopContenders(cs);
