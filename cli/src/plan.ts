// A key that is converted, the plan for it, and why a key is not.

import type { Kind } from "./groups.js";
import { type Answer, type Connection, type Node, type Word } from "./servers.js";

/** What a key becomes: names are a bitmap with a dictionary. */
export type Target = "roaring" | "native" | "set" | "integers" | "names";

/** A key that is not converted. */
export class Skipped extends Error {}
/** The key has changed while it was converted. */
export class Changed extends Error {}
/** The copy has other members than the value. */
export class Different extends Error {}

/** Where a key is, and the connection that watches it. */
export interface Place {
  node: Node;
  /** That of the node's allocator. */
  quantum: 8 | 16;
  watcher: Connection;
}

export interface Subject {
  name: Buffer;
  type: string;
  expires: number;
}

/** A value to build. */
export interface Plan {
  kind: Kind;
  /** The commands that make the temporary key. None if the key is to be removed: sets without members do not exist. */
  build: (temporary: Buffer) => Word[][];
  removes?: boolean;
  /** The command that reads it back, if one is enough. */
  readBack?: (temporary: Buffer) => Word[];
  /** Throws unless the temporary key, or what was read back of it, has all members and no others. */
  verify: (readBack: Answer | undefined, connection: Connection, temporary: Buffer) => Promise<void> | void;
  bytesAfter: number;
}
