// Dictionaries of names: names one a line, as load reads them and unload writes them.

import { Exit, Failure, interruption } from "./failure.js";
import { type Form } from "./load.js";
import { type Answer, type Connection, type Word } from "./servers.js";

/** The type that a server gives to a dictionary. */
export const NAMES_TYPE = "roarnames";

/** The most bytes of a name. */
const LONGEST = 65_535;
/** Names in one command and in one reply. */
const PART = 1000, PAGE = 10_000;
const LINE_FEED = 10, RETURN = 13;

function nameOf(bytes: Buffer, where: string): Buffer {
  if (bytes.length > LONGEST) throw new Failure(`${where}: the name has more than 65,535 bytes`, Exit.SOME_FAILED);
  return bytes;
}

/** One name of any bytes without line feeds; in CSV, also with them, but in UTF-8. */
export const NAME_FORM: Form<Buffer> = {
  what: "a name",
  longest: LONGEST,
  ofLine: (chunk, start, end, line) => nameOf(chunk.subarray(start, end), `line ${line}`),
  ofRow([cell = ""], row) {
    // The CSV parser replaces what is not UTF-8, and then it is another name.
    if (cell.includes("\ufffd")) throw new Failure(`row ${row}: ${JSON.stringify(cell.slice(0, 40))} is not UTF-8; load such names as lines, without --csv`, Exit.SOME_FAILED);
    return cell === "" ? undefined : nameOf(Buffer.from(cell), `row ${row}`);
  },
};

/** Adds names to a dictionary, and, if a bitmap is given, sets their bits in it. */
export async function addNames(
  connection: Connection, dictionary: Buffer, bitmap: Buffer | undefined, names: readonly Buffer[],
): Promise<void> {
  const words: Word[] = bitmap ? ["RN.SETBITS", dictionary, bitmap] : ["RN.ADD", dictionary];
  const parts = Array.from({ length: Math.ceil(names.length / PART) }, (_, i) => names.slice(i * PART, (i + 1) * PART));
  await Promise.all(parts.map((part) => connection.run(...words, ...part)));
}

/** Hands all names of a dictionary on in the order of their ids, page by page. */
export async function namePages(connection: Connection, dictionary: Buffer, take: (names: Buffer[]) => Promise<void>): Promise<void> {
  let cursor = "0";
  do {
    const [next, list] = await connection.run("RN.SCAN", dictionary, cursor, "COUNT", PAGE) as [Buffer, Answer[]];
    cursor = String(next);
    await take(list.filter((_, i) => i % 2 === 1) as Buffer[]);
  } while (cursor !== "0" && !interruption.asked);
}

/** The same of the members of a bitmap. Members without a name are left out. */
export async function memberNamePages(
  connection: Connection, dictionary: Buffer, bitmap: Buffer, take: (names: Buffer[]) => Promise<void>,
): Promise<void> {
  for (let from: Answer = 0; from !== null && !interruption.asked;) {
    const [next, names] = await connection.run("RN.QUERY", dictionary, "#1", 1, bitmap, "FROM", String(from), "LIMIT", PAGE) as [Answer, Buffer[]];
    from = next;
    await take(names);
  }
}

/** Names as lines. Throws if a name cannot be a line that load reads as the same name. */
export function linesOf(names: readonly Buffer[]): Buffer {
  const end = Buffer.of(LINE_FEED);
  return Buffer.concat(names.flatMap((name) => {
    if (!name.includes(LINE_FEED) && name.at(-1) !== RETURN) return [name, end];
    throw new Failure(`the name ${JSON.stringify(name.toString("utf8").slice(0, 40))} has a line break, so it is not one line`, Exit.SOME_FAILED);
  }));
}
