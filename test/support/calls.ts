// A valid call of every command.

import { type Command as Row, commands } from "../../host/table/commands.ts";
import { families, type Family } from "./family.ts";
import { emptyStream } from "./format.ts";
import type { Argument } from "./resp.ts";

/**
 * Arguments for every command, with all options. The first letter of a key's name says how the command uses it. It reads r (a bitmap),
 * e (a bitmap of either family) and s (a string), changes w (a bitmap), and overwrites o (a key of any type).
 */
const calls: Readonly<Record<string, readonly Argument[]>> = {
  SETBIT: ["w:1", 7, 1],
  GETBIT: ["r:1", 7],
  BITCOUNT: ["r:1", 0, -1, "BIT"],
  MBITCOUNT: ["r:1", "r:2", "r:3"],
  BITPOS: ["r:1", 1, 0, -1, "BIT"],
  BITOP: ["OR", "o:1", "r:1", "r:2", "r:3"],
  SETINTARRAY: ["w:1", 7, 8],
  APPENDINTARRAY: ["w:1", 7, 8],
  GETINTARRAY: ["r:1"],
  GETBITS: ["r:1", 7, 8],
  MGETBIT: [7, "r:1", "r:2", "r:3"],
  SETBITS: ["w:1", 7, 8],
  CLEARBITS: ["w:1", 1, 8, "COUNT"],
  CLEAR: ["w:1"],
  DELETEINTARRAY: ["w:1", 1, 8],
  RANGEINTARRAY: ["r:1", 0, 1],
  SETRANGE: ["w:1", 7, 9],
  CLEARRANGE: ["w:1", 1, 9],
  FLIPRANGE: ["w:1", 1, 9],
  SETFULL: ["w:none"],
  MIN: ["r:1"],
  MAX: ["r:1"],
  RANK: ["r:1", 7],
  SELECT: ["r:1", 0],
  RANGE: ["r:1", 0, 9, "REV", "LIMIT", 5],
  RANGES: ["r:1", 0, 9, "LIMIT", 5],
  COUNTS: ["r:1", 2, 0, 9, 5, 7],
  SCAN: ["r:1", 0, "COUNT", 5],
  RANDMEMBER: ["r:1", 5],
  RANDPOP: ["w:1", 9],
  POPMIN: ["w:1", 2],
  POPMAX: ["w:1", 2],
  BITOPCARD: ["OR", "r:1", "r:2", "r:3"],
  DIFF: ["w:1", "r:1", "r:2"],
  CONTAINS: ["r:1", "r:2", "ALL"],
  JACCARD: ["r:1", "r:2"],
  SETBITARRAY: ["w:1", "01"],
  GETBITARRAY: ["r:1"],
  EXPORT: ["r:1"],
  IMPORT: ["w:1", "(a stream)", "REPLACE"],
  FROMBITMAP: ["o:1", "s:1", "OFFSET", 9, "LSB"],
  TOBITMAP: ["o:1", "r:1", "LSB"],
  BITFIELD: ["w:1", "OVERFLOW", "SAT", "SET", "u8", 0, 1, "INCRBY", "i8", "#1", 1],
  BITFIELD_RO: ["r:1", "GET", "u8", 0],
  STAT: ["e:1", "JSON"],
  OPTIMIZE: ["r:1", "MEM"],
  QUERY: ["#1 - #2 | #3", 3, "r:1", "r:2", "r:3", "CARD"],
  FACET: ["#1 - #2", 2, "r:1", "r:2", 3, "r:3", "r:4", "r:5", "BY", "JACCARD", "TOP", 2, "MIN", 1],
  CROSSCARD: [2, "r:1", "r:2", 2, "r:3", "r:4", "WITHIN", "#1 | [1..9]", 1, "r:5"],
  QUERYSTORE: ["o:1", "#1 - #2 | #3", 3, "r:1", "r:2", "r:3", "OFFSET", 5, "FROM", 1, "LIMIT", 9],
};

/** Calls in which other arguments are keys: those of the operation that a key spec names in `oneKeyFor`. */
const otherCalls: Readonly<Record<string, readonly Argument[]>> = {
  BITOP: ["NOT", "o:1", "r:1", 100],
  BITOPCARD: ["NOT", "r:1", 100],
};

/** The arguments of the call in a family. */
export const callOf = (row: Row, family: Family): Argument[] =>
  calls[row.name]!.map((word) => (word === "(a stream)" ? emptyStream(family.bits) : word));

/** Every command of both families. */
export const rows: readonly { readonly row: Row; readonly family: Family; readonly name: string }[] =
  families.flatMap((family) => commands.map((row) => ({ row, family, name: `${family.name}.${row.name}` })));

/** The calls of a command that have their keys at different places. */
export const callsOf = (row: Row, family: Family): Argument[][] =>
  [callOf(row, family), ...(row.name in otherCalls ? [[...otherCalls[row.name]!]] : [])];

/** Whether an argument of these calls is a key. */
export const isKey = (word: Argument): word is string => /^[rewso]:/.test(String(word));
