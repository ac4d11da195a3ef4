// load --ranges and unload --ranges: runs of consecutive ids, one a line, as first-last.

import { createInterface } from "node:readline";
import { type Readable } from "node:stream";
import { type Core } from "./core/core.js";
import { Exit, Failure, interruption } from "./failure.js";
import { readKey } from "./inspect.js";
import { inPages } from "./load.js";
import { type Connection, type Node } from "./servers.js";

const LAST = { R: 2n ** 32n - 1n, R64: 2n ** 64n - 1n };

/** Runs in a reply, lines that are written together, and commands that are sent together. */
const PAGE = 10_000, LINES = 10_000, AT_ONCE = 1000;

/** Joins runs that continue one another, and writes them as lines. */
export class RunLines {
  readonly #write: (text: string) => Promise<void>;
  #lines: string[] = [];
  #first = 0n;
  /** The last id of the run that may go on; undefined before the first one. */
  #last: bigint | undefined;

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  /** Adds a run behind the others. */
  async add(first: bigint, last: bigint): Promise<void> {
    if (this.#last !== undefined && this.#last + 1n !== first) this.#endRun();
    if (this.#last === undefined) this.#first = first;
    this.#last = last;
    if (this.#lines.length >= LINES) await this.#flush();
  }

  async addAll(members: Iterable<number | bigint>): Promise<void> {
    for (const member of members) await this.add(BigInt(member), BigInt(member));
  }

  async end(): Promise<void> {
    if (this.#last !== undefined) this.#endRun();
    await this.#flush();
  }

  #endRun(): void {
    this.#lines.push(`${this.#first}-${this.#last}\n`);
    this.#last = undefined;
  }

  async #flush(): Promise<void> {
    if (this.#lines.length > 0) await this.#write(this.#lines.join(""));
    this.#lines = [];
  }
}

/** Writes the runs of a key: of a roaring bitmap page by page, whatever its size. */
export async function writeRuns(core: Core, node: Node, name: Buffer, lines: RunLines): Promise<void> {
  const type = String(await node.connection.run("TYPE", name)), family = type === "reroaring" ? "R" : type === "roaring64" ? "R64" : undefined;
  if (!family) {
    await readKey(core, node, name);
    await inPages(core, PAGE, (page) => lines.addAll(page));
    return lines.end();
  }
  for (let from = 0n; from <= LAST[family] && !interruption.asked;) {
    const page = await node.connection.run(`${family}.RANGES`, name, String(from), String(LAST[family]), "LIMIT", PAGE) as [unknown, unknown][];
    for (const [first, last] of page) await lines.add(BigInt(String(first)), BigInt(String(last)));
    if (page.length < PAGE) break;
    from = BigInt(String(page.at(-1)![1])) + 1n;
  }
  return lines.end();
}

/** Adds the runs that lines name; a line with one id is a run of one. Returns how many there were. */
export async function loadRuns(connection: Connection, name: Buffer, wide: boolean, input: Readable): Promise<number> {
  const family = wide ? "R64" : "R", runs: [first: bigint, last: bigint][] = [];
  let line = 0, loaded = 0;
  const send = async (): Promise<void> => {
    await Promise.all(runs.map(([first, last]) => connection.run(`${family}.SETRANGE`, name, String(first), String(last + 1n))));
    loaded += runs.length;
    runs.length = 0;
  };
  for await (const raw of createInterface({ input, crlfDelay: Infinity })) {
    const text = line++ === 0 ? raw.replace(/^\ufeff/, "") : raw;
    if (text === "") continue;
    const [, low, high = low] = /^(\d{1,20})(?:-(\d{1,20}))?$/.exec(text) ?? [], first = BigInt(low ?? -1), last = BigInt(high ?? -1);
    if (low === undefined || last > LAST.R64 || first > last) {
      throw new Failure(`line ${line}: ${JSON.stringify(text.slice(0, 50))} is not a range of ids, such as 10-19; ${loaded} ranges are loaded`, Exit.SOME_FAILED);
    }
    if (last > LAST[family]) throw new Failure(`line ${line}: an id is above 2^32 - 1: load it with --wide`, Exit.USAGE);
    runs.push([first, last]);
    if (runs.length === AT_ONCE) await send();
    if (interruption.asked) break;
  }
  await send();
  return loaded;
}
