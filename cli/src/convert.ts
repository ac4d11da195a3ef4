// convert: native bitmaps and sets of integers become roaring bitmaps, or the other way round; sorted sets and hashes become integers for
// ids, and sets of strings bitmaps with a dictionary.
//
// Keys are converted in these steps, so that at each moment each has its old value or its new one, even if the tool or a server dies:
//
//   1  WATCH the keys; read them; decide
//   2  build the new values in temporary keys, which expire, and read them back
//   3  compare all members
//   4  MULTI, RENAME over the old keys, their TTLs, EXEC: nothing happens if one of the keys has changed since 1
//
// Small keys take each step together, since steps cost a round trip each. If one of them has changed, each is tried again by itself. What
// is converted already is no longer a native bitmap or a set, so running the command again goes on where it ended.

import { type Backup } from "./backup.js";
import { type Core } from "./core/core.js";
import { keyBytes, keyLayout } from "./core/sizes.js";
import { ErrorAnswer, failureAt, interruption, isForbiddenCommand, isHopeless } from "./failure.js";
import { type Converted, Groups, type Kind, type Mixture, type Refusal } from "./groups.js";
import { INTEGERS_TYPE } from "./integers.js";
import { shown, slotOf } from "./names.js";
import { Pace } from "./pace.js";
import { Changed, Different, type Place, type Plan, Skipped, type Target } from "./plan.js";
import { Planner } from "./plans.js";
import { CORE_BITMAP, scan } from "./reading.js";
import { Connection, isRedirection, knowsAbsoluteTimes, type Node, quantumOf, type Servers, type Word } from "./servers.js";
import { isTemporary, Temporaries, TEMPORARY_MS, transact } from "./transaction.js";

export interface ConvertOptions {
  match: Buffer;
  to: Target;
  /** To names: the dictionary. */
  dictionary?: Buffer | undefined;
  dryRun: boolean;
  /** All strings are bitmaps, whatever they look like. */
  assumeBitmaps: boolean;
  /** Use R64 even where R would do. */
  wide: boolean;
  /** Convert a key only if that saves at least this share of its memory; at 0, if it saves anything. */
  minSaving: number;
  /** Convert keys with names alike together or not at all, also those that become larger. */
  wholeGroups: boolean;
  maxRate: number;
  parallel: number;
  backup?: Backup | undefined;
  onProgress?: (done: number, expected: number) => void;
}

export interface Conversion {
  seen: number;
  converted: number;
  bytesBefore: number;
  /** By the core for a dry run, else by MEMORY USAGE. */
  bytesAfter: number;
  /** The number of skipped keys by reason. */
  skipped: Record<string, number>;
  failed: { key: string; why: string }[];
  /** With `wholeGroups`, the groups that stay. */
  refused: Refusal[];
  /** Groups that have keys of several types now, or would have. */
  mixed: Mixture[];
  isPartial: boolean;
}

/** The maximum number of attempts for a key that keeps changing. */
const ATTEMPTS = 8;
/** So many keys take the steps together, if a server counts no more than so many bytes for each of them. */
const TOGETHER = 64, SMALL_BYTES = 64 * 1024;

/** Why a key is not converted that is no longer there. */
const GONE = "disappeared";
/** Types that keys have that need not be converted. */
const ALREADY: Record<Target, Record<string, Kind>> = {
  roaring: { reroaring: "R", roaring64: "R64" }, native: { string: "native" }, set: { set: "set" },
  integers: { [INTEGERS_TYPE]: "integers" }, names: { reroaring: "R", roaring64: "R64" },
};
/** Types of keys that can be converted. */
const CONVERTIBLE: Record<Target, readonly string[]> = {
  roaring: ["string", "set", CORE_BITMAP], native: ["reroaring", "roaring64"], set: ["reroaring", "roaring64"],
  integers: ["zset", "hash"], names: ["set"],
};

/** What the first of two passes has found. */
interface Survey {
  groups: Groups;
  includes: (name: Buffer) => boolean;
}

/** A key that is being converted. */
interface Job {
  name: Buffer;
  type: string;
  expires: number;
  bytes: number;
  plan?: Plan;
  temporary?: Buffer;
}

interface Worker extends Place {
  /** Another connection, since MULTI on the first one would end its WATCH. */
  builder: Connection;
}

export class Converter {
  readonly #servers: Servers;
  readonly #core: Core;
  readonly #options: ConvertOptions;
  readonly #temporaries: Temporaries;
  readonly #planner: Planner;
  readonly #groups = new Groups();
  readonly #result: Conversion = {
    seen: 0, converted: 0, bytesBefore: 0, bytesAfter: 0, skipped: {}, failed: [], refused: [], mixed: [], isPartial: false,
  };

  /** With `wholeGroups`, what a first look at all keys has found. */
  readonly #survey: Survey | undefined;
  #expected = 0;
  #fatal: unknown;

  constructor(servers: Servers, core: Core, options: ConvertOptions, survey?: Survey) {
    this.#servers = servers;
    this.#core = core;
    this.#options = options;
    this.#survey = survey;
    this.#temporaries = new Temporaries(servers);
    const { to, assumeBitmaps, wide, wholeGroups, dictionary } = options;
    const isWide = (name: Buffer): boolean => wide || (survey?.groups.isWide(name) ?? false);
    this.#planner = new Planner(core, { to, assumeBitmaps, withEmpty: wholeGroups, isWide, dictionary });
  }

  async convert(): Promise<Conversion> {
    const { dryRun, wholeGroups, to, minSaving } = this.#options;
    if (!wholeGroups || this.#survey) return this.#convertAllKeys();
    const everything = { groups: new Groups(), includes: () => true };
    const first = new Converter(this.#servers, this.#core, { ...this.#options, dryRun: true }, everything);
    const looked = await first.#convertAllKeys(), groups = first.#groups;
    this.#fatal = first.#fatal;
    const { refusals, includes } = groups.refusals(to === "roaring" ? minSaving : undefined);
    const survey = { groups, includes }, second = new Converter(this.#servers, this.#core, this.#options, survey);
    if (looked.isPartial) return { ...looked, converted: 0, refused: refusals };
    const result = await second.#convertAllKeys();
    this.#fatal = second.#fatal;
    return { ...result, refused: refusals, mixed: dryRun ? [] : result.mixed };
  }

  async #convertAllKeys(): Promise<Conversion> {
    const sizes = await Promise.all(this.#servers.nodes.map(({ connection }) => connection.ask("DBSIZE")));
    this.#expected = sizes.reduce<number>((sum, size) => sum + (typeof size === "number" ? size : 0), 0);
    await Promise.all(this.#servers.nodes.map((node) => this.#convertNode(node)));
    this.#result.isPartial = this.#isOver;
    this.#result.mixed = this.#groups.mixtures();
    return this.#result;
  }

  /** The error that ended the conversion early, if one did. */
  get fatal(): unknown { return this.#fatal; }

  async #convertNode(node: Node): Promise<void> {
    const { match, parallel, maxRate } = this.#options, pace = new Pace(maxRate / this.#servers.nodes.length, 1);
    const quantum = await quantumOf(node);
    const connections = await Promise.all(Array.from({ length: parallel + 1 }, () => Connection.open(node.options)));
    const [builder, ...watchers] = connections as [Connection, ...Connection[]];
    try {
      if (!this.#options.dryRun) await this.#temporaries.check(builder, "convert");
      for await (const names of scan(node.connection, { match })) {
        this.#result.seen += names.length;
        const waiting = this.#together(await this.#candidates(node, names));
        const work = async (watcher: Connection): Promise<void> => {
          for (let group = waiting.shift(); group && !this.#isOver; group = waiting.shift()) {
            const keys = group;
            await pace.spend(keys.length, () => this.#convertAll({ node, quantum, watcher, builder }, keys));
          }
        };
        await Promise.all(watchers.map(work));
        this.#options.onProgress?.(this.#result.seen, this.#expected);
        if (this.#isOver) return;
      }
    } catch (error) {
      this.#fatal ??= error;
    } finally {
      for (const connection of connections) connection.close();
    }
  }

  get #isOver(): boolean { return interruption.asked || this.#fatal !== undefined; }

  /** Keys that can be in one transaction. In a cluster they are in one slot. */
  #together(names: Buffer[]): Buffer[][] {
    // A group takes no more than a tenth of a second at the highest rate.
    const most = Math.max(1, Math.min(TOGETHER, Math.floor(this.#options.maxRate / this.#servers.nodes.length / 10)));
    const bySlot = new Map<number, Buffer[]>();
    for (const name of names) {
      const slot = this.#servers.isCluster ? slotOf(name) : 0, group = bySlot.get(slot);
      if (group) group.push(name);
      else bySlot.set(slot, [name]);
    }
    return Array.from(bySlot.values(), (group) =>
      Array.from({ length: Math.ceil(group.length / most) }, (_, i) => group.slice(i * most, (i + 1) * most))).flat();
  }

  /** The keys whose types can be converted. */
  async #candidates(node: Node, names: Buffer[]): Promise<Buffer[]> {
    const types = await Promise.all(names.map((name) => node.connection.ask("TYPE", name)));
    const { to, dictionary } = this.#options, wanted = CONVERTIBLE[to], { isCluster } = this.#servers;
    return names.filter((name, i) => {
      const type = types[i];
      if (isTemporary(name)) return false;
      if (isForbiddenCommand(type)) throw type;
      if (wanted.includes(String(type))) {
        if (dictionary && isCluster && slotOf(dictionary) !== slotOf(name)) {
          this.#skip("in another slot than the dictionary");
          return false;
        }
        if (this.#survey?.includes(name) ?? true) return true;
        this.#skip("of a group that stays as a whole");
        return false;
      }
      const already = ALREADY[to][String(type)];
      if (already) this.#groups.note(name, { already });
      if (type instanceof ErrorAnswer) this.#groups.note(name, { stays: "may not be read" });
      this.#skip(type === "none" ? "disappeared" : type instanceof ErrorAnswer ? "may not be read" : `of type ${String(type)}`);
      return false;
    });
  }

  #skip(why: string): void { this.#result.skipped[why] = (this.#result.skipped[why] ?? 0) + 1; }

  /** Converts keys together, and then each of those by itself that cannot be converted with others. */
  async #convertAll(worker: Worker, names: Buffer[]): Promise<void> {
    const alone = names.length > 1 ? await this.#attempt(worker, names) : names;
    for (const name of alone) {
      if (this.#isOver) return;
      for (let attempt = 1; (await this.#attempt(worker, [name])).length > 0; attempt++) {
        if (attempt < ATTEMPTS) continue;
        this.#fail(name, "it changes too often; run the command again");
        break;
      }
    }
  }

  /** Attempts to convert keys; returns those that have to be tried again, each by itself. */
  async #attempt(worker: Worker, names: Buffer[]): Promise<Buffer[]> {
    const again: Buffer[] = [], settled = new Set<Buffer>(), isAlone = names.length === 1;
    try {
      await this.#convertKeys(worker, names, (name, error) => {
        settled.add(name);
        if (error instanceof Changed || (!isAlone && error instanceof Different)) again.push(name);
        else this.#settle(name, error);
      });
    } catch (error) {
      if (error instanceof ErrorAnswer && !isAlone) return [...again, ...names.filter((name) => !settled.has(name))];
      this.#settle(names[0]!, error);
    }
    return again;
  }

  /** Notes why a key is not converted. */
  #settle(name: Buffer, error: unknown): void {
    if (error instanceof Skipped) {
      this.#skip(error.message);
      if (error.message !== GONE) this.#groups.note(name, { stays: error.message });
    } else if (error instanceof Different) this.#fail(name, "the copy differs from the value, which stays");
    else if (isRedirection(error)) this.#fail(name, "it is moving to another node; run the command again");
    else if (error instanceof ErrorAnswer && !isHopeless(error)) this.#fail(name, error.message);
    else this.#fatal ??= error instanceof ErrorAnswer ? failureAt(shown(name), error) : error;
  }

  #fail(name: Buffer, why: string): void {
    this.#result.failed.push({ key: shown(name), why });
    this.#groups.note(name, { stays: why });
  }

  /** Takes all steps for these keys. `settle` is told of each that is not converted; if this throws, none is. */
  async #convertKeys(worker: Worker, names: Buffer[], settle: (name: Buffer, error: unknown) => void): Promise<void> {
    const { watcher, builder } = worker, { dryRun, backup } = this.#options, made = new Set<Buffer>();
    /** The jobs for which `work` does not throw. */
    const those = async (jobs: Job[], work: (job: Job, i: number) => Promise<void> | void): Promise<Job[]> => {
      const done = await Promise.all(jobs.map(async (job, i) => {
        try {
          await work(job, i);
          return job;
        } catch (error) {
          if (![ErrorAnswer, Skipped, Changed, Different].some((one) => error instanceof one)) throw error;
          settle(job.name, error);
          return undefined;
        }
      }));
      return done.filter((job) => job !== undefined);
    };
    let isWatching = !dryRun;
    try {
      const watched = dryRun ? "OK" : watcher.run("WATCH", ...names);
      const looked = await Promise.all([watched, ...names.map((name) => this.#look(worker, name))]);
      let jobs = await those(looked.slice(1) as Job[], ({ type, bytes }) => {
        if (type === "none" || Number.isNaN(bytes)) throw new Skipped(GONE);
        if (names.length > 1 && bytes > SMALL_BYTES) throw new Changed();
      });
      jobs = await those(jobs, async (job) => {
        job.plan = await this.#planner.plan(worker, job);
        this.#needSaving(job.bytes, job.plan.bytesAfter);
      });
      if (dryRun) {
        for (const { name, bytes, plan } of jobs) this.#converted(name, { kind: plan!.kind, before: bytes, after: plan!.bytesAfter });
        return;
      }
      if (jobs.length === 0) return;

      const building = jobs.map((job) => {
        const temporary = job.temporary = this.#temporaries.nameFor(job.name), plan = job.plan!;
        if (plan.removes) return [];
        made.add(temporary);
        return [...plan.build(temporary), ["PEXPIRE", temporary, TEMPORARY_MS], ["MEMORY", "USAGE", temporary], ...(plan.readBack ? [plan.readBack(temporary)] : [])];
      });
      const built = (await transact(builder, building.flat()))!;
      let at = 0;
      const answers = building.map(({ length }) => built.slice(at, at += length));
      jobs = await those(jobs, async (job, i) => {
        const { plan, temporary } = job, replies = answers[i]!, readBack = plan!.readBack ? replies.pop() : undefined;
        const failed = [...replies, readBack].find((answer) => answer instanceof ErrorAnswer);
        if (failed) throw failed;
        if (!plan!.removes) this.#needSaving(job.bytes, this.#renamedBytes(worker, job, temporary!, Number(replies.at(-1))));
        try {
          await plan!.verify(readBack, builder, temporary!);
        } catch (error) {
          // The copy is made of the value as it is at that time, so a change explains a difference.
          if (error instanceof Different && names.length === 1 && !await transact(watcher, [["PING"]])) throw new Changed();
          throw error;
        }
      });
      if (jobs.length === 0) return;
      if (backup) await this.#backUp(backup, watcher, jobs, worker.node);

      const moving = jobs.map((job) => this.#move(worker.node, job));
      isWatching = false;
      const moved = await transact(watcher, moving.flat());
      if (!moved) {
        for (const { name } of jobs) settle(name, new Changed());
        return;
      }
      at = 0;
      for (const [i, { name, bytes, temporary, plan }] of jobs.entries()) {
        const replies = moved.slice(at, at += moving[i]!.length), failed = replies.find((reply) => reply instanceof ErrorAnswer);
        if (failed) settle(name, failed);
        else {
          made.delete(temporary!);
          this.#converted(name, { kind: plan!.kind, before: bytes, after: plan!.removes ? 0 : Number(replies.at(-1) ?? 0) });
        }
      }
    } finally {
      const unwatched = isWatching && await watcher.ask("UNWATCH").catch(() => {});
      if (isForbiddenCommand(unwatched)) this.#fatal ??= unwatched;
      if (made.size > 0) await builder.ask("UNLINK", ...made).catch(() => {});
    }
  }

  /** The commands that give a key its new value. PERSIST comes first: a key with a TTL is renamed with room for one. */
  #move(node: Node, { name, temporary, expires, plan }: Job): Word[][] {
    if (plan!.removes) return [["UNLINK", name]];
    const setExpiry = knowsAbsoluteTimes(node) ? "PEXPIREAT" : "PEXPIRE";
    return [
      ["PERSIST", temporary!], ["RENAME", temporary!, name], ...(expires >= 0 ? [[setExpiry, name, expires]] : []), ["MEMORY", "USAGE", name],
    ];
  }

  /** What a key is, before it is read. */
  async #look({ watcher, node }: Worker, name: Buffer): Promise<Job> {
    const [type, expires, bytes] = await Promise.all([
      watcher.ask("TYPE", name), watcher.ask(...this.#timeOf(node), name), watcher.ask("MEMORY", "USAGE", name, "SAMPLES", 1000),
    ]);
    for (const answer of [type, expires, bytes]) if (answer instanceof ErrorAnswer) throw answer;
    return { name, type: String(type), expires: Number(expires), bytes: bytes === null ? NaN : Number(bytes) };
  }

  #converted(name: Buffer, outcome: Converted): void {
    this.#result.converted++;
    this.#result.bytesBefore += outcome.before;
    this.#result.bytesAfter += outcome.after;
    this.#groups.note(name, outcome);
  }

  #timeOf(node: Node): [string] { return [knowsAbsoluteTimes(node) ? "PEXPIRETIME" : "PTTL"]; }

  async #backUp(backup: Backup, connection: Connection, jobs: Job[], node: Node): Promise<void> {
    const values = await Promise.all(jobs.map(({ name }) => connection.run("DUMP", name)));
    await backup.add(...jobs.flatMap(({ name, expires }, i) => {
      const value = values[i];
      // Then it has changed, and stays as it is.
      if (!Buffer.isBuffer(value)) return [];
      return [{ name, expires: expires < 0 ? -1 : knowsAbsoluteTimes(node) ? expires : Date.now() + expires, value }];
    }));
  }

  /** Throws if a key would not become smaller by the required share. That of a group is looked at as a whole. */
  #needSaving(bytes: number, bytesAfter: number): void {
    const { to, wholeGroups } = this.#options;
    if (to === "native" || to === "set" || wholeGroups) return;
    if (!(bytesAfter < bytes && bytesAfter <= bytes * (1 - this.#options.minSaving))) throw new Skipped("would not become smaller");
  }

  /** What a key will take, by what its temporary key takes: the names may differ in length. */
  #renamedBytes({ node, quantum }: Worker, { name, expires }: Job, temporary: Buffer, measured: number): number {
    const layout = keyLayout(node.version);
    return measured - keyBytes(layout, quantum, temporary.length, true) + keyBytes(layout, quantum, name.length, expires >= 0);
  }
}
