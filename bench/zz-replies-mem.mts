import { startContenders, stopContenders } from "./contender.ts";
import { load, ofMembers } from "./load.ts";
import { scattered } from "./generators.ts";
const cs = (await startContenders([])).filter((c) => !c.native);
for (let i = 0; i < 4; i++) {
  const r = await load(cs, ofMembers("m" + i, [scattered(i + 1, 2 ** 24, 2 ** 24 / 1000)]));
  console.log([...r].map(([c, b]) => c.name + " " + b).join("  "));
}
await stopContenders(cs);
