// The type of a row in the command table, and helpers to write rows with.

import type { Answer } from "./answers.ts";

/** What a command does with a key's value, and the flags of the server's key specs for it. */
export type Access =
  | "read"        // RO ACCESS
  | "modify"      // RW ACCESS UPDATE: the reply depends on the old value
  | "update"      // RW UPDATE
  | "insert"      // RW INSERT
  | "overwrite";  // OW INSERT: as in the C module

interface Keys {
  /** Position of the first key in argv; of a list with `behind`, the least that it can be. */
  at: number;
  /** Position of the last key, counted from the end. Without it there is one key. */
  to?: -1;
  access: Access;
  /**
   * The operation, the command's first argument, for which `at` is the only key, and the arguments after it are not keys. A key
   * spec cannot say this, so the server asks the module for the keys of each call.
   */
  oneKeyFor?: string;
  /**
   * A keyword that may stand in place of the key at `at`: its value and the keys then follow. No key spec can say this either, so such a
   * spec is for an operation with `oneKeyFor`.
   */
  optionBefore?: string;
  /** A keyword behind the keys with which the access is "modify". Then, too, the server asks the module. */
  modifyWith?: string;
  /** The argument before `at` is the number of keys, as in EVAL. */
  numbered?: true;
  /**
   * The number of keys of this list stands this many arguments behind the last key of the list before it. No key spec can say
   * where that is, so the server asks the module.
   */
  behind?: number;
  /** The list stands behind this keyword, an expression and its number of keys. Its `at` has no meaning. */
  keyword?: string;
}

/** The meaning of a value. It determines the range that clients check and the type that they take. */
export type Kind =
  | "offset"        // of the family: 0 to 2^32 - 1 or 2^64 - 1
  | "end"           // an offset, or one more than the last
  | "bit"           // 0 or 1
  | "rank"          // counted from 0, negative from the end
  | "question"      // a block: an expression, numkeys and keys
  | "range"         // a block: start, end and unit, as native BITCOUNT takes them
  | "number"        // the most to return
  | "draws"         // how many, negative with repetitions
  | "distance"      // between two offsets, positive or negative
  | "names"         // of a dictionary
  | "operations"    // of BITFIELD
  | "ranges"        // blocks of min and max; their number is before them
  | "value"         // of an id: -2^63 to 2^63 - 1
  | "bound"         // a value, "-inf", "+inf", or a value behind "(", which is excluded
  | "entries"       // blocks of an id and its value
  | "edges"         // values that ascend; their number is before them
  | "fractions"     // numbers from 0 to 1
  | "page"          // a block: how many to skip, and the most to return
  | "text"
  | "bytes";

export interface Arg {
  name: string;
  type: "key" | "string" | "integer" | "token" | "oneof" | "block";
  /** What clients offer as one argument. Keys and tokens need no kind, and numkeys follows from the keys. */
  kind?: Kind;
  /** The keyword: of a token itself, of any other argument the word before it. */
  token?: string;
  optional?: true;
  multiple?: true;
  /** Clients offer it only in methods that require this other argument, or have this keyword. */
  needs?: string;
  /** Clients do not offer it in methods that require this other argument. */
  without?: string;
  /** With a keyword, it is of another kind. */
  kindWith?: readonly [word: string, kind: Kind];
  /** The alternatives of a oneof, or the parts of a block. */
  of?: Arg[];
}

/**
 * Hints for clients and proxies: https://redis.io/docs/latest/develop/reference/command-tips/. Lists of members are ascending,
 * and SCAN's cursor is a member, so only random members, and replies that show the containers of this node's copy, are
 * nondeterministic: equal bitmaps can have different containers. Routing needs no tip, because all keys of a command are in one
 * slot.
 */
type Tip = "nondeterministic_output";

/** A method of clients for the command. */
export interface Method {
  name: string;
  answer: Answer;
  /** The keyword with which the command gives this answer. Methods without it leave it out. */
  word?: string;
  /** A second keyword that it needs. */
  also?: string;
  /**
   * The optional argument with which the command gives this answer, and which this method requires. The row's other methods do
   * not have it.
   */
  given?: string;
  summary?: string;
}

/**
 * What a second execution of a write changes, as can happen when a connection breaks: nothing (`same`), something in any case (`differs`),
 * or something if the destination, the first key, is among the other keys (`destination`).
 */
export type Repeated = "same" | "differs" | "destination";

type Flag = "readonly" | "write" | "deny-oom" | "fast";

export interface Command {
  /** The name without the family's prefix. */
  name: string;
  since: string;
  flags: Flag[];
  /** Of each write: what a second execution changes. */
  repeated?: Repeated;
  tips?: Tip[];
  /**
   * A long call may run on a thread. Such a handler opens all its sources before it does anything else, and then calls offloads_listing()
   * or offloads() (host/server/environment.h). The main thread stores the result once the thread has ended, if the sources are unchanged.
   * "segments": only if the bitmap has segments.
   * "reply": the command has run on the main thread, and only its reply may come from a thread (offload_reply() in host/threads/offload.h).
   */
  mayOffload?: true | "segments" | "reply";
  /**
   * The command's function in host/commands/ gets its arguments parsed and its key opened: the generator writes the part of the handler
   * that does so (tools/handlers.ts). That part also replies errors, and `missing` for a missing key. handlers.h declares the function.
   */
  parsed?: true;
  /** The command of another family that handles this one, too. */
  handledBy?: string;
  /** A sentence without its full stop, as in COMMAND DOCS. */
  summary: string;
  complexity: string;
  keys: Keys[];
  args: Arg[];
  /** The reply, described for readers. */
  reply: string;
  /**
   * The reply for a missing key; "creates" if the command creates it; "empty", or "empties" if the reply is a list, if it counts as an
   * empty bitmap.
   */
  missing: 0 | -1 | "nil" | "[]" | "nil or []" | "creates" | "empty" | "empties" | "error" | "string" | "scan" | "zeros";
  /** More than one if the kind of reply depends on a keyword. */
  methods: Method[];
  /** A session on an empty database: commands, and what redis-cli prints. */
  example: [command: string, printed: string][];
  /** Further explanation, in Markdown. */
  details?: string;
}

export const key: Arg = { name: "key", type: "key" };
export const string = (name: string, kind: Kind = "text"): Arg => ({ name, type: "string", kind });
export const integer = (name: string, kind?: Kind): Arg => ({ name, type: "integer", ...(kind && { kind }) });
export const offset = (name = "offset"): Arg => integer(name, "offset");
export const token = (word: string): Arg => ({ name: word.toLowerCase(), type: "token", token: word });
export const oneOf = (name: string, ...of: Arg[]): Arg => ({ name, type: "oneof", of });
export const block = (name: string, ...of: Arg[]): Arg => ({ name, type: "block", of });
export const option = (word: string, arg: Arg): Arg => ({ ...arg, token: word, optional: true });
export const optional = (arg: Arg): Arg => ({ ...arg, optional: true });
export const multiple = (arg: Arg): Arg => ({ ...arg, multiple: true });

/** An array as redis-cli prints it. */
export const list = (...items: (number | string)[]): string =>
  items.map((item, i) => `${i + 1}) ${typeof item === "number" ? `(integer) ${item}` : item}`).join("\n") || "(empty array)";
/** An array of pairs of integers as redis-cli prints it. */
export const pairs = (...items: [number, number][]): string =>
  items.map(([first, last], i) => `${i + 1}) 1) (integer) ${first}\n   2) (integer) ${last}`).join("\n");
export const int = (value: number): string => `(integer) ${value}`;
export const bulk = (text: string): string => `"${text}"`;
export const OK = "OK", NIL = "(nil)";
