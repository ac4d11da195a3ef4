import { startContenders, stopContenders } from "./contender.ts";
import { measure } from "./measure.ts";
const cs = await startContenders([{ name: "base", module: "/tmp/replies-2.so" }, { name: "peer", module: "/tmp/peer/c-roaring.so" }]);
const v = await measure(cs.filter((c) => !c.native), (c) => ({ timed: c.named("SETBIT"), commands: [0, 1].map((b) => [c.named("SETBIT"), c.key("x"), 15, b]) }));
console.log("small", v);
for (const c of cs) if (!c.native) await c.run([[c.named("SETINTARRAY"), c.key("x"), ...Array.from({ length: 4096 }, (_, i) => i * 15), 7]]);
console.log("crossing", await measure(cs.filter((c) => !c.native), (c) => ({ timed: c.named("SETBIT"), commands: [0, 1].map((b) => [c.named("SETBIT"), c.key("x"), 15, b]) })));
await stopContenders(cs);
