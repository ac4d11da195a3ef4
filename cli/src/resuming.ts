// How far a load is, in a file: for the next run, if this one is killed. What it counts is in the server; more may be.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Exit, Failure } from "./failure.js";

/** Identifies the load: a later run with this file has to load the same. */
export interface Task {
  key: string;
  source: string | null;
  bytes: number;
  how: string;
}

/** What is loaded. */
export type Things = "ids" | "names";

export class Resuming {
  readonly #path: string;
  readonly #task: Task;
  readonly #things: Things;
  /** Ids or names from the beginning of the source that an earlier run has loaded, and how many members the key had then. */
  readonly loaded: number = 0;
  readonly #members: bigint = 0n;

  constructor(path: string, task: Task, things: Things) {
    this.#path = path;
    this.#task = task;
    this.#things = things;
    if (!existsSync(path)) return;
    const { loaded, members } = this.#read();
    this.loaded = loaded;
    this.#members = BigInt(members);
  }

  #read(): { loaded: number; members: string } {
    let found: Partial<Task & { loaded: number; members: string }>;
    try {
      found = JSON.parse(readFileSync(this.#path, "utf8")) as typeof found;
    } catch {
      found = {};
    }
    const { loaded, members } = found, isCount = (text: unknown): boolean => /^\d+$/.test(String(text));
    if (!isCount(loaded) || !isCount(members)) throw new Failure(`${this.#path} is not a file of --resume`, Exit.USAGE);
    for (const name of ["key", "source", "bytes", "how"] as const) {
      if (found[name] !== this.#task[name]) throw new Failure(`${this.#path} belongs to another load, with a different ${name}: ${String(found[name])}`, Exit.USAGE);
    }
    return { loaded: loaded!, members: members! };
  }

  /** Throws if the key has fewer members than the earlier run left: then ids that it loaded are lost. */
  check(members: bigint): void {
    if (members >= this.#members) return;
    throw new Failure(`${this.#task.key} has ${members} members, but had ${this.#members} after the first ${this.loaded} ${this.#things}: some were lost or removed. `
      + `Delete ${this.#path} to load all ${this.#things} again, or use --skip ${this.loaded} without --resume to skip them`, Exit.USAGE);
  }

  /** A kill leaves the old file or the new one. */
  note(loaded: number, members: bigint): void {
    writeFileSync(`${this.#path}.new`, `${JSON.stringify({ ...this.#task, loaded, members: String(members) })}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Deletes the file at the end of the load. */
  end(): void { rmSync(this.#path, { force: true }); }
}
