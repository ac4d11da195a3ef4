// Data types other than bitmaps, each with a table of its own: its commands have one prefix, not those of the families.

import { names, about as aboutNames } from "./names.ts";
import type { Command } from "./row.ts";

export interface Own {
  /** The prefix of its commands without the dot. */
  id: string;
  /** Its struct family in C, and the header that declares it. */
  family: string;
  header: string;
  rows: Command[];
  /** The document in docs/ and the table here have this name; the document begins with `about`. */
  document: string;
  about: string;
}

export const own: Own[] = [
  { id: "RN", family: "dictionaries", header: "server/names.h", rows: names, document: "names", about: aboutNames },
];
