// Loading bitmaps from streams of offsets, and dictionaries from streams of names: in batches, some of them on their way at the same time.

import { AbortError, InvalidArgumentError, InvalidPayloadError, OutOfMemoryError, RoarError, WrongTypeError } from "./errors.js";
import { described, type Family, integer, type Member, type Offset, R } from "./family.js";
import type { Signal } from "./limits.js";
import { type Members, membersFor } from "./containers.js";
import { ShardsFailedError } from "./sharded/failure.js";

/** The state of a load in progress. */
export interface LoadProgress {
  /** Offsets or names from the beginning of the source that are loaded. With `skip`, a later load goes on from there. */
  readonly done: number;
}

/** Options of a load. */
export interface LoadOptions {
  /** Offsets in a batch, 100,000 if it is not given; of names 1000. */
  readonly batch?: number | undefined;
  /** Batches that are on their way at the same time; 4 if it is not given. */
  readonly inFlight?: number | undefined;
  /** Offsets or names at the beginning of the source that are loaded already. */
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
  /** Offsets or names from the beginning of the source that are loaded: `skip` for a load that goes on. More of them may be. */
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

/** Gathers the items that one call sends. */
export interface Gatherer<I, B> {
  /** What items are, in errors. */
  readonly what: string;
  /** Adds an item, and answers whether the batch is full. Throws {@link InvalidArgumentError}. */
  add(item: I): boolean;
  /** The batch, unless it is empty; then begins another one. */
  take(): B | undefined;
  /** Whether what a source yields is one item, and not a list of items. */
  isOne(given: unknown): boolean;
}

const count = (name: string, value: number, least = 1n): number => Number(integer(name, value, least, 2n ** 53n - 1n));

/** The items of a batch. */
export const batchSize = (size: number): number => count("batch", size);

/** Loads a source with `send`, which is given batches. Answers how many items of the source are loaded. */
export async function loadBatches<I, B>(
  source: AsyncIterable<I | Iterable<I>> | Iterable<I | Iterable<I>>, options: LoadOptions, gatherer: Gatherer<I, B>,
  send: (batch: B) => Promise<unknown>,
): Promise<LoadProgress> {
  const { signal, onProgress } = options, { what } = gatherer;
  const retries = count("retries", options.retries ?? 3, 0n), skip = count("skip", options.skip ?? 0, 0n);
  const window = new Window(count("inFlight", options.inFlight ?? 4), skip, (done) => onProgress?.({ done }));
  let read = 0;

  const attempt = async (batch: B): Promise<void> => {
    for (let failures = 0; ; failures++) {
      try {
        await send(batch);
        return;
      } catch (error) {
        if (failures === retries || signal?.aborted || isPermanent(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** failures));
      }
    }
  };
  const flush = async (): Promise<void> => {
    const batch = gatherer.take();
    if (batch !== undefined) await window.start(read, () => attempt(batch));
  };
  const isOver = (): boolean => window.failure !== undefined || signal?.aborted === true;
  const add = (item: I): boolean => ++read > skip && gatherer.add(item);
  /** Adds what the source yields. Answers a promise only if there is something to wait for: most items come one by one. */
  const take = (given: I | Iterable<I>): Promise<void> | undefined => {
    if (gatherer.isOne(given)) return add(given as I) ? flush() : undefined;
    if (typeof given !== "object" || given === null || given instanceof Uint8Array || !(Symbol.iterator in given)) {
      const hint = what === "offset" ? "; offsetsIn reads offsets from text" : "";
      throw new InvalidArgumentError(`invalid ${what}: ${described(given)} in the source${hint}`);
    }
    return takeAll(given);
  };
  const takeAll = async (items: Iterable<I>): Promise<void> => {
    for (const item of items) {
      if (add(item)) await flush();
      if (isOver()) return;
    }
  };

  let failure: { error: unknown } | undefined;
  try {
    const given: unknown = source, isList = typeof given === "object" && given !== null && !(given instanceof Uint8Array);
    if (!isList || !(Symbol.iterator in given || Symbol.asyncIterator in given)) {
      throw new InvalidArgumentError(`invalid source: ${described(given)} is not a list of ${what}s`);
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
  if (signal?.aborted) throw new LoadError(`ended by its signal after ${window.done} ${what}s`, window.done, signal.reason);
  if (failure) {
    const why = failure.error instanceof Error ? failure.error.message : String(failure.error);
    throw new LoadError(`ended after ${window.done} ${what}s: ${why}`, window.done, failure.error);
  }
  return { done: Math.min(window.done, read) }; // the source may be shorter than `skip`
}

/** Offsets, which are sent in ascending order. */
class OffsetGatherer<M extends Member> implements Gatherer<Offset<M>, Members<M>> {
  readonly what = "offset";
  readonly #family: Family<M>;
  readonly #size: number;
  #batch: Members<M>;
  #filled = 0;

  constructor(family: Family<M>, size: number) {
    this.#family = family;
    this.#size = size;
    this.#batch = membersFor(family, size);
  }

  isOne(given: unknown): boolean {
    return typeof given !== "object";
  }

  add(offset: Offset<M>): boolean {
    const given: unknown = offset, family = this.#family;
    this.#batch[this.#filled++] = typeof given === "number" && family === (R as unknown) && given >= 0 && given <= 0xffff_ffff && Number.isInteger(given)
      ? given
      : family.member(integer("offset", offset, 0n, family.last));
    return this.#filled === this.#size;
  }

  take(): Members<M> | undefined {
    if (this.#filled === 0) return undefined;
    const members = this.#batch.subarray(0, this.#filled).sort() as Members<M>;
    this.#batch = membersFor(this.#family, this.#size);
    this.#filled = 0;
    return members;
  }
}

/** Loads a source with `send`, which is given offsets in ascending order. Answers how many offsets of the source are loaded. */
export async function load<M extends Member>(
  family: Family<M>, source: LoadSource<M>, options: LoadOptions, send: (members: Members<M>) => Promise<unknown>,
): Promise<LoadProgress> {
  const gatherer = new OffsetGatherer(family, batchSize(options.batch ?? 100_000));
  return loadBatches<Offset<M>, Members<M>>(source as AsyncIterable<Offset<M>> | Iterable<Offset<M>>, options, gatherer, send);
}
