// A migration without downtime, as docs/migration.md describes it: from native bitmaps and sets to roaring bitmaps and back, while services
// read and write, and while `convert` is killed and continued. KEYS=20000 is the size of a real one.

import { Redis } from "ioredis";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Conversion } from "../../cli/src/convert.ts";
import { MigratingBitmaps } from "../../client/src/index.ts";
import { roar } from "../../client/src/ioredis.ts";
import { random, seed } from "../support/random.ts";
import { bytesOf } from "../support/resp.ts";
import { useServer } from "../support/suite.ts";
import { tool, toolFile } from "../support/tool.ts";
import { waitUntil } from "../support/waiting.ts";
import { bitmapOf } from "./keyspace.ts";

const KEYS = Number(process.env.KEYS ?? 1200), SERVICES = 6, IDS = 1_000_000;
const server = useServer();

/** Keys of the migration: native bitmaps, then sets. Some would not become smaller by themselves. */
const isNative = (i: number): boolean => i < KEYS / 2;
const keyOf = (i: number): string => (isNative(i) ? `user:${i}:visited` : `post:${i}:readers`);

/** A service with keys of its own, which it reads and writes all the time, and checks every answer. */
class Service {
  answers = 0;
  over = false;
  readonly #redis = new Redis(server.socket, { stringNumbers: true });
  readonly #ids: number[];
  readonly #models: Map<number, Set<number>>;
  readonly #rng;
  readonly #bitmaps: Record<"former" | "roaring", Record<"native" | "set", MigratingBitmaps>>;
  creates: "former" | "roaring" = "former";

  constructor(n: number, models: Map<number, Set<number>>) {
    this.#models = models;
    this.#ids = [...models.keys()].filter((i) => i % SERVICES === n);
    this.#rng = random(seed + n);
    const client = roar(this.#redis), of = (creates: "former" | "roaring") =>
      ({ native: new MigratingBitmaps(client, { from: "native", creates }), set: new MigratingBitmaps(client, { from: "set", creates }) });
    this.#bitmaps = { former: of("former"), roaring: of("roaring") };
  }

  async run(): Promise<void> {
    const rng = this.#rng;
    while (!this.over) {
      const i = rng.pick(this.#ids), key = keyOf(i), model = this.#models.get(i)!, what = rng.below(6), offset = rng.below(IDS);
      const bitmaps = this.#bitmaps[this.creates][isNative(i) ? "native" : "set"];
      if (what < 2) {
        this.#check(await bitmaps.add(key, [offset]), model.has(offset) ? 0 : 1, key);
        model.add(offset);
      } else if (what === 2) {
        const gone = model.size > 5 ? [...model].slice(0, 1) : [];
        this.#check(await bitmaps.remove(key, gone), gone.length, key);
        for (const one of gone) model.delete(one);
      } else if (what === 3) this.#check(await bitmaps.count(key), model.size, key);
      else if (what === 4) this.#check(await bitmaps.has(key, offset), model.has(offset), key);
      else {
        const j = rng.pick(this.#ids.filter((one) => isNative(one) === isNative(i)).slice(0, 50)), other = this.#models.get(j)!;
        this.#check(await bitmaps.countOf("AND", [key, keyOf(j)]), [...model].filter((one) => other.has(one)).length, key);
      }
      await sleep(1);
    }
    this.#redis.disconnect();
  }

  #check(actual: number | boolean, expected: number | boolean, key: string): void {
    if (actual !== expected) throw new Error(`${key}: ${actual}, expected ${expected} (SEED=${seed})`);
    this.answers++;
  }
}

/** Runs the tool, kills it once a part of the keys is converted, and runs it again to the end. */
async function killedAndContinued(type: RegExp, ...args: string[]): Promise<Conversion[]> {
  const words = ["convert", "--whole-groups", "-s", server.socket, ...args];
  const child = spawn(process.execPath, [toolFile, ...words, "--max-rate", String(Math.max(400, KEYS / 4))], { stdio: "ignore" }), ended = once(child, "exit");
  const changed = async (): Promise<number> => {
    const types = await server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["TYPE", keyOf(i)]));
    return types.filter((one) => type.test(String(one))).length;
  };
  const before = await changed();
  await waitUntil(async () => (await changed()) - before > KEYS / 10);
  child.kill("SIGKILL");
  await ended;
  expect((await changed()) - before).toBeLessThan(KEYS / 2);
  const results: Conversion[] = [];
  // A key that changes too often is tried again by another run.
  for (let run = 0; run < 5 && (results.length === 0 || results.at(-1)!.failed.length > 0); run++) {
    results.push(JSON.parse((await tool([...words, "--json"])).out) as Conversion);
  }
  return results;
}

it("moves keys to roaring bitmaps and back while services run and the tool is killed, without a wrong answer", async () => {
  const rng = random(seed), models = new Map<number, Set<number>>();
  for (let from = 0; from < KEYS; from += 500) {
    const some = Array.from({ length: Math.min(500, KEYS - from) }, (_, n) => from + n);
    await server.connection.pipeline(some.map((i) => {
      const members = new Set(Array.from({ length: 6 + (i % 10 === 0 ? 0 : rng.below(60)) }, () => rng.below(i % 10 === 0 ? 100 : IDS)));
      models.set(i, members);
      return isNative(i) ? ["SET", keyOf(i), bitmapOf(members)] : ["SADD", keyOf(i), ...members];
    }));
  }
  const services = Array.from({ length: SERVICES }, (_, n) => new Service(n, models)), running = services.map((service) => service.run());
  const alive = Promise.race(running.map((one) => one.then(() => { throw new Error("a service has ended"); })));
  const migrate = async (): Promise<void> => {
    // Both groups, whose keys stay mixed until the end.
    for (const pattern of ["user:*:visited", "post:*:readers"]) {
      const half = await killedAndContinued(/reroaring/, "--match", pattern, "--assume-bitmaps");
      expect(half.at(-1)).toMatchObject({ refused: [], mixed: [], failed: [] });
    }
    const types = new Set(await server.connection.pipeline(Array.from({ length: KEYS }, (_, i) => ["TYPE", keyOf(i)])));
    expect(types).toEqual(new Set(["reroaring"]));
    for (const service of services) service.creates = "roaring";
    await sleep(200);
    // And back, because the team has changed its mind.
    for (const service of services) service.creates = "former";
    for (const [pattern, to, type] of [["user:*:visited", "native", /string/], ["post:*:readers", "set", /set/]] as const) {
      expect((await killedAndContinued(type, "--match", pattern, "--to", to)).at(-1)).toMatchObject({ refused: [], mixed: [], failed: [] });
    }
  };
  await Promise.race([migrate(), alive]);
  for (const service of services) service.over = true;
  await Promise.all(running);
  const answers = services.reduce((sum, service) => sum + service.answers, 0);
  for (let i = 0; i < KEYS; i++) {
    const sorted = [...models.get(i)!].sort((a, b) => a - b);
    const value = await server.run(isNative(i) ? "GET" : "SMEMBERS", keyOf(i)), right = bitmapOf(sorted), what = `${keyOf(i)}, SEED=${seed}`;
    if (!isNative(i)) expect((value as string[]).map(Number).sort((a, b) => a - b), what).toEqual(sorted);
    if (!isNative(i)) continue;
    // A native bitmap keeps its length when its last bits are cleared.
    expect(bytesOf(value).subarray(0, right.length).equals(right), what).toBe(true);
    expect(await server.run("BITCOUNT", keyOf(i)), what).toBe(sorted.length);
  }
  expect(answers).toBeGreaterThan(500);
  console.log(`${KEYS} keys, ${answers} answers checked`);
  for (const key of await server.run("KEYS", "redis-roar:*") as string[]) expect(await server.run("PTTL", key)).toBeGreaterThan(0);
}, 600_000);
