// How far a load is, in a file: for the next run, if this one is killed. The ids that it counts are in the server; more of them may be.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Exit, Failure } from "./failure.js";

/** What is loaded: another run that finds the file has to load the same. */
export interface Task {
  key: string;
  source: string | null;
  bytes: number;
  how: string;
}

export class Resuming {
  readonly #path: string;
  readonly #task: Task;
  /** Ids from the beginning of the source that an earlier run has loaded. */
  readonly loaded: number;

  constructor(path: string, task: Task) {
    this.#path = path;
    this.#task = task;
    this.loaded = existsSync(path) ? this.#read() : 0;
  }

  #read(): number {
    let found: Partial<Task & { loaded: number }>;
    try {
      found = JSON.parse(readFileSync(this.#path, "utf8")) as Partial<Task & { loaded: number }>;
    } catch {
      found = {};
    }
    const { loaded } = found;
    if (typeof loaded !== "number" || !Number.isSafeInteger(loaded) || loaded < 0) throw new Failure(`${this.#path} is no file of --resume`, Exit.USAGE);
    for (const name of ["key", "source", "bytes", "how"] as const) {
      if (found[name] !== this.#task[name]) throw new Failure(`${this.#path} is of another load, with another ${name}: ${String(found[name])}`, Exit.USAGE);
    }
    return loaded;
  }

  /** A kill leaves the old file or the new one. */
  note(loaded: number): void {
    writeFileSync(`${this.#path}.new`, `${JSON.stringify({ ...this.#task, loaded })}\n`);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** All is loaded. */
  end(): void { rmSync(this.#path, { force: true }); }
}
