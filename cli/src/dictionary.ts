// Dictionaries of names: names one a line, as load reads them and unload writes them.

import { Exit, Failure } from "./failure.js";
import { type Form, inParts } from "./load.js";
import { type Answer, type Connection, type Word } from "./servers.js";

/** The type that a server gives to a dictionary. */
export const NAMES_TYPE = "roarnames";

/** The most bytes of a name. */
export const LONGEST_NAME = 65_535;
export const isName = (bytes: Uint8Array): boolean => bytes.length > 0 && bytes.length <= LONGEST_NAME;
/** Names in one command and in one reply. */
const PART = 1000, PAGE = 10_000;
const LINE_FEED = 10, RETURN = 13;

function nameOf(bytes: Buffer, where: string): Buffer {
  if (bytes.length > LONGEST_NAME) throw new Failure(`${where}: the name has more than 65,535 bytes`, Exit.SOME_FAILED);
  return bytes;
}

/** One name of any bytes without line feeds; in CSV, also with them, but in UTF-8. */
export const NAME_FORM: Form<Buffer> = {
  what: "a name",
  longest: LONGEST_NAME,
  ofLine: (chunk, start, end, line) => nameOf(chunk.subarray(start, end), `line ${line}`),
  ofRow([cell = ""], row) {
    // The CSV parser replaces what is not UTF-8, and then it is another name.
    if (cell.includes("\ufffd")) throw new Failure(`row ${row}: ${JSON.stringify(cell.slice(0, 40))} is not UTF-8; load such names as lines, without --csv`, Exit.SOME_FAILED);
    return cell === "" ? undefined : nameOf(Buffer.from(cell), `row ${row}`);
  },
};

/** The commands that add names to a dictionary, and, if a bitmap is given, set their bits in it. */
export function adding(dictionary: Buffer, bitmap: Buffer | undefined, names: readonly Buffer[]): Word[][] {
  const words: Word[] = bitmap ? ["RN.SETBITS", dictionary, bitmap] : ["RN.ADD", dictionary];
  return inParts(names, PART).map((part) => [...words, ...part]);
}

/** All names of a dictionary in the order of their ids, in pages. */
export async function* namePages(connection: Connection, dictionary: Buffer): AsyncGenerator<Buffer[]> {
  let cursor = "0";
  do {
    const [next, list] = await connection.run("RN.SCAN", dictionary, cursor, "COUNT", PAGE) as [Buffer, Answer[]];
    cursor = String(next);
    yield list.filter((_, i) => i % 2 === 1) as Buffer[];
  } while (cursor !== "0");
}

/** The same of the members of a bitmap. Members without a name are left out. */
export async function* memberNamePages(connection: Connection, dictionary: Buffer, bitmap: Buffer): AsyncGenerator<Buffer[]> {
  for (let from: Answer = 0; from !== null;) {
    const [next, names] = await connection.run("RN.QUERY", dictionary, "#1", 1, bitmap, "FROM", String(from), "LIMIT", PAGE) as [Answer, Buffer[]];
    from = next;
    yield names;
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
