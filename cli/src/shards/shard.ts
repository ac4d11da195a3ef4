// Types that the files of join share.

import { type Node, type Servers, type Word } from "../servers.js";

export interface Shard {
  name: Buffer;
  /** The offset of its bit 0 in the bitmap. */
  offset: bigint;
  node: Node;
}

/** A shard that was checked. */
export interface Found extends Shard {
  /** Bytes of the string. */
  length: number;
  /** MEMORY USAGE. */
  bytes: number;
  /** Milliseconds since the epoch, or below 0: never. */
  expires: number;
}

/** The keys of the script that adds a shard, beside the bitmap. */
export interface ScriptKeys {
  added: Buffer;
  lock: Buffer;
  source: Buffer;
  piece: Buffer;
  before: Buffer;
}

/** A join that is under way. */
export interface Joining {
  readonly servers: Servers;
  readonly options: { readonly key: Buffer };
  /** The node of the bitmap. */
  readonly home: Node;
  readonly family: "R" | "R64";
  /** The command that adds a source's members to the bitmap. */
  script(how: "MOVE" | "COPY", shard: Found, keys: ScriptKeys, holder?: string): Word[];
}

/** The shard has changed while it was moved. */
export class Changed extends Error {}
