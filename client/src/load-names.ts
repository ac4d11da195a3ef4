// Loading dictionaries from streams of names.

import { type Name, nameWord } from "./family.js";
import { batchSize, type Gatherer, loadBatches, type LoadOptions, type LoadProgress } from "./load.js";

/** Names, one by one or several at a time. */
export type NameSource = AsyncIterable<Name | readonly Name[]> | Iterable<Name | readonly Name[]>;

/** The most bytes of names in a batch, apart from its last name. */
const BATCH_BYTES = 2 ** 20;

/** Names in the order of the source. */
class NameGatherer implements Gatherer<Name, Name[]> {
  readonly what = "name";
  readonly #size: number;
  #batch: Name[] = [];
  #bytes = 0;

  constructor(size: number) {
    this.#size = size;
  }

  isOne(given: unknown): boolean {
    return typeof given !== "object" || given instanceof Uint8Array;
  }

  add(name: Name): boolean {
    const word = nameWord(name);
    this.#batch.push(word);
    this.#bytes += word.length;
    return this.#batch.length === this.#size || this.#bytes >= BATCH_BYTES;
  }

  take(): Name[] | undefined {
    const names = this.#batch;
    this.#batch = [];
    this.#bytes = 0;
    return names.length > 0 ? names : undefined;
  }
}

/** Loads a source with `send`, which is given names in their order. Answers how many names of the source are loaded. */
export async function loadNames(
  source: NameSource, options: LoadOptions, send: (names: Name[]) => Promise<unknown>,
): Promise<LoadProgress> {
  return loadBatches(source, options, new NameGatherer(batchSize(options.batch ?? 1000)), send);
}
