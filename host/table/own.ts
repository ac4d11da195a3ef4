// Data types other than bitmaps, each with a table of its own: its commands have one prefix, not those of the families.

import { about as aboutIntegers, integers } from "./integers.ts";
import { about as aboutNames, names } from "./names.ts";
import type { Command } from "./row.ts";

export interface Own {
  /** The prefix of its commands without the dot. */
  id: string;
  /** Its struct family in C, and the header that declares it if it is not a row of the table of families. */
  family: string;
  header?: string;
  rows: Command[];
  /** The document in docs/ and the table here have this name; the document begins with `about`. */
  document: string;
  about: string;
}

export const own: Own[] = [
  { id: "RI", family: "families[RI]", rows: integers, document: "integers", about: aboutIntegers },
  { id: "RN", family: "dictionaries", header: "server/names.h", rows: names, document: "names", about: aboutNames },
];
