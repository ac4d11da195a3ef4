// Loads a file of ids into a sharded bitmap on three masters, kills the program in the middle, and loads the rest: how many ids a second,
// and how much memory the program takes.
//
//   IDS=100000000   how many ids the file has
//   BY=hash         how the bitmap is cut: hash or range

import { Cluster as Client } from "ioredis";
import { fork } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { offsetsIn, R } from "../client/src/index.ts";
import { roar } from "../client/src/ioredis.ts";
import { Cluster } from "../test/support/cluster.ts";
import { inWords, thisMachine } from "./machine.ts";

const IDS = Number(process.env.IDS ?? 100_000_000), BY = process.env.BY === "range" ? "range" : "hash";
const SHARDS = 12, UNIVERSE = 2 ** 28;
/** Odd, so that the ids are all different, and in no order. */
const FACTOR = 0x9e37_79b1;

interface Job {
  ports: number[];
  file: string;
  skip: number;
}

/** What a program says while it loads, and at its end. */
interface Report {
  done: number;
  seconds: number;
  peakMb: number;
  cardinality?: number;
}

const WIDTH = Math.ceil(UNIVERSE / SHARDS / 65_536) * 65_536;
const SHARDING = BY === "hash" ? { by: BY, shards: SHARDS } as const : { width: WIDTH, shards: SHARDS };

async function loadFile({ ports, file, skip }: Job): Promise<void> {
  const client = new Client(ports.map((port) => ({ host: "127.0.0.1", port }))), bitmap = roar(client).r.sharded("ids", SHARDING), start = performance.now();
  const report = (done: number): Report =>
    ({ done, seconds: (performance.now() - start) / 1000, peakMb: process.resourceUsage().maxRSS / 1024 });
  const onProgress = (progress: { readonly done: number }): boolean => process.send!(report(progress.done));
  const { done } = await bitmap.load(offsetsIn(R, createReadStream(file)), { skip, onProgress });
  process.send!({ ...report(done), cardinality: await bitmap.count() } satisfies Report);
  client.disconnect();
  process.disconnect();
}

async function writeIds(file: string): Promise<void> {
  const out = createWriteStream(file);
  for (let i = 0; i < IDS;) {
    const lines: string[] = [];
    for (const end = Math.min(IDS, i + 100_000); i < end; i++) lines.push(String((Math.imul(i, FACTOR) >>> 0) % UNIVERSE));
    if (!out.write(`${lines.join("\n")}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "close");
}

/** Runs a program that loads, and kills it when it has loaded so many ids. Answers its last report. */
async function run(job: Job, killAt = Infinity): Promise<Report> {
  const child = fork(import.meta.filename, [JSON.stringify(job)]);
  let last: Report | undefined, printed = 0;
  child.on("message", (message) => {
    last = message as Report;
    if (last.done - printed >= IDS / 20) {
      printed = last.done;
      console.error(`${last.done} ids, ${last.seconds.toFixed(1)} s, ${last.peakMb.toFixed(0)} MB`);
    }
    if (last.done >= killAt) child.kill("SIGKILL");
  });
  await once(child, "exit");
  return last!;
}

const [, , job] = process.argv;
if (job) await loadFile(JSON.parse(job) as Job);
else {
  const folder = mkdtempSync(join(tmpdir(), "redis-roar-ids-")), file = join(folder, "ids.txt"), cluster = await Cluster.start(3);
  try {
    await writeIds(file);
    const whole = { ports: cluster.ports, file, skip: 0 };
    const first = await run(whole, IDS / 2), second = await run({ ...whole, skip: first.done });
    const rate = Math.round(IDS / (first.seconds + second.seconds)).toLocaleString("en"), peak = Math.max(first.peakMb, second.peakMb);
    const size = (statSync(file).size / 2 ** 20).toFixed(0);
    console.log(`${inWords(thisMachine())}; ${IDS} ids in ${size} MB of text, ${SHARDS} shards by ${BY} on 3 masters`);
    console.log(`killed after ${first.done} ids and ${first.seconds.toFixed(1)} s, the rest in ${second.seconds.toFixed(1)} s: ${rate} ids a second`);
    console.log(`peak memory of the program ${peak.toFixed(0)} MB; members ${second.cardinality} of ${IDS}`);
    if (second.cardinality !== IDS) process.exitCode = 1;
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  }
}
