// Real data sets: test/data/<name>.zip holds one text file per set, with ascending members separated by commas.

import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";

/** The sets of a data set, in the order of the numbers in their files' names. */
export const dataset = (name: string): number[][] => setsIn(new URL(`../data/${name}.zip`, import.meta.url));

/** The sets in any such zip file. */
export function setsIn(path: string | URL): number[][] {
  const files = unzipSync(readFileSync(path));
  const byNumber = new Intl.Collator("en", { numeric: true });
  return Object.keys(files)
    .sort(byNumber.compare)
    .map((file) => Buffer.from(files[file]!).toString("latin1").trim().split(",").map(Number));
}
