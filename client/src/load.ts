// Loading bitmaps from streams of offsets: in batches, some of them on their way at the same time.

import { AbortError, InvalidArgumentError, InvalidPayloadError, OutOfMemoryError, RoarError, WrongTypeError } from "./errors.js";
import { described, type Family, integer, type Member, type Offset, R } from "./family.js";
import type { Signal } from "./limits.js";
import { type Members, membersFor } from "./portable.js";
import { ShardsFailedError } from "./sharded/failure.js";

/** The state of a load in progress. */
export interface LoadProgress {
  /** Offsets from the beginning of the source that are loaded. With `skip`, a later load goes on from there. */
  readonly done: number;
}

/** Options of a load. */
export interface LoadOptions {
  /** Offsets in a batch; 100,000 if it is not given. */
  readonly batch?: number | undefined;
  /** Batches that are on their way at the same time; 4 if it is not given. */
  readonly inFlight?: number | undefined;
  /** Offsets at the beginning of the source that are loaded already. */
  readonly skip?: number | undefined;
  /** How often a batch is sent again if it fails; 3 if it is not given. Loading a batch twice is harmless. */
  readonly retries?: number | undefined;
  /** Ends the load, after the batches in flight have finished. */
  readonly signal?: Signal | undefined;
  /** Called each time that more of the source is loaded. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** Offsets, one by one or several at a time. */
export type LoadSource<M extends Member> = AsyncIterable<Item<M>> | Iterable<Item<M>>;
type Item<M extends Member> = Offset<M> | readonly Offset<M>[] | Members<M>;

/** A load that ended before its source did. The batches that were loaded stay loaded. */
export class LoadError extends RoarError {
  /** Offsets from the beginning of the source that are loaded: `skip` for a load that goes on. More of them may be. */
  readonly done: number;

  constructor(message: string, done: number, cause: unknown) {
    super(message, { cause });
    this.done = done;
  }

  override get name(): string {
    return "LoadError";
  }
}

const RETRY_MS = 100;

/** Errors that another attempt would meet again. */
function isPermanent(error: unknown): boolean {
  if (error instanceof ShardsFailedError) return error.failed.some((one) => isPermanent(one.error));
  return [AbortError, InvalidArgumentError, InvalidPayloadError, OutOfMemoryError, WrongTypeError].some((Class) => error instanceof Class);
}

/** The batches that are on their way, in the order of the source. */
class Window {
  readonly #most: number;
  readonly #waiting: { end: number; finished: boolean }[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #report: (done: number) => void;
  done: number;
  failure: { error: unknown } | undefined;

  constructor(most: number, done: number, report: (done: number) => void) {
    this.#most = most;
    this.done = done;
    this.#report = report;
  }

  /** Starts a batch that ends at this offset of the source, when there is room for it. */
  async start(end: number, run: () => Promise<unknown>): Promise<void> {
    while (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.failure) return;
    const batch = { end, finished: false };
    this.#waiting.push(batch);
    const running: Promise<void> = run().then(() => {
      batch.finished = true;
      const before = this.done;
      while (this.#waiting[0]?.finished) this.done = this.#waiting.shift()!.end;
      if (this.done > before) this.#report(this.done);
    }).catch((error: unknown) => {
      this.failure ??= { error };
    }).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** Loads a source with `send`, which is given offsets in ascending order. Answers how many offsets of the source are loaded. */
export async function load<M extends Member>(
  family: Family<M>, source: LoadSource<M>, options: LoadOptions, send: (members: Members<M>) => Promise<unknown>,
): Promise<LoadProgress> {
  const { signal, onProgress } = options;
  const count = (name: string, value: number, least = 1n): number => Number(integer(name, value, least, 2n ** 53n - 1n));
  const size = count("batch", options.batch ?? 100_000), retries = count("retries", options.retries ?? 3, 0n);
  const skip = count("skip", options.skip ?? 0, 0n);
  const window = new Window(count("inFlight", options.inFlight ?? 4), skip, (done) => onProgress?.({ done }));
  let batch = membersFor(family, size), filled = 0, read = 0;

  const attempt = async (members: Members<M>): Promise<void> => {
    for (let failures = 0; ; failures++) {
      try {
        await send(members);
        return;
      } catch (error) {
        if (failures === retries || signal?.aborted || isPermanent(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** failures));
      }
    }
  };
  const flush = async (): Promise<void> => {
    if (filled === 0) return;
    const members = batch.subarray(0, filled).sort() as Members<M>;
    batch = membersFor(family, size);
    filled = 0;
    await window.start(read, () => attempt(members));
  };
  const isOver = (): boolean => window.failure !== undefined || signal?.aborted === true;
  const add = (offset: Offset<M>): void => {
    if (++read <= skip) return;
    const given: unknown = offset;
    batch[filled++] = typeof given === "number" && family === (R as unknown) && given >= 0 && given <= 0xffff_ffff && Number.isInteger(given)
      ? given
      : family.member(integer("offset", offset, 0n, family.last));
  };
  /** Adds an item. Answers a promise only if there is something to wait for: most offsets come one by one. */
  const take = (item: Item<M>): Promise<void> | undefined => {
    if (typeof item !== "object") {
      add(item);
      return filled === size ? flush() : undefined;
    }
    if (item === null || item instanceof Uint8Array || !(Symbol.iterator in item)) {
      throw new InvalidArgumentError(`invalid offset: ${described(item)} in the source; offsetsIn reads offsets from text`);
    }
    return takeAll(item as Iterable<Offset<M>>);
  };
  const takeAll = async (items: Iterable<Offset<M>>): Promise<void> => {
    for (const offset of items) {
      add(offset);
      if (filled === size) await flush();
      if (isOver()) return;
    }
  };

  let failure: { error: unknown } | undefined;
  try {
    const given: unknown = source, isList = typeof given === "object" && given !== null && !(given instanceof Uint8Array);
    if (!isList || !(Symbol.iterator in given || Symbol.asyncIterator in given)) {
      throw new InvalidArgumentError(`invalid source: ${described(given)} is not a list of offsets`);
    }
    if (!isOver()) {
      if (Symbol.iterator in source) {
        for (const item of source) {
          const waiting = take(item);
          if (waiting) await waiting;
          if (isOver()) break;
        }
      } else {
        for await (const item of source) {
          const waiting = take(item);
          if (waiting) await waiting;
          if (isOver()) break;
        }
      }
    }
    if (!isOver()) await flush();
  } catch (error) {
    failure = { error };
  }
  await window.settle();
  failure ??= window.failure;
  if (signal?.aborted) throw new LoadError(`ended by its signal after ${window.done} offsets`, window.done, signal.reason);
  if (failure) {
    const why = failure.error instanceof Error ? failure.error.message : String(failure.error);
    throw new LoadError(`ended after ${window.done} offsets: ${why}`, window.done, failure.error);
  }
  return { done: Math.min(window.done, read) }; // the source may be shorter than `skip`
}
