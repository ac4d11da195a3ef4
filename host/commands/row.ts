// What a row of the command table says, and what rows are written with.

/** What a command does with the value of a key, in the words of the server's key specs. */
export type Access =
  | "read"        // RO ACCESS
  | "modify"      // RW ACCESS UPDATE: the reply tells something of what was there
  | "update"      // RW UPDATE
  | "insert"      // RW INSERT
  | "overwrite";  // OW INSERT: what it was in the C module

interface Keys {
  /** Position in argv of the first. */
  at: number;
  /** Of the last, counted from the end; one key only if absent. */
  to?: -1;
  access: Access;
}

export interface Arg {
  name: string;
  type: "key" | "string" | "integer" | "token" | "oneof" | "block";
  /** The word that it is, for a token, or that stands before it. */
  token?: string;
  optional?: true;
  multiple?: true;
  /** Alternatives of a oneof, parts of a block. */
  of?: Arg[];
}

type Flag = "readonly" | "write" | "deny-oom" | "fast";

export interface Command {
  /** Without the family's prefix. */
  name: string;
  since: string;
  flags: Flag[];
  /** A sentence without its full stop, as COMMAND DOCS have it. */
  summary: string;
  complexity: string;
  keys: Keys[];
  args: Arg[];
  /** What comes back, for a reader. */
  reply: string;
  /** The reply for a missing key; "creates" if the key is then made, "empty" if it counts as one without members. */
  missing: 0 | -1 | "nil" | "[]" | "creates" | "empty" | "error" | "string" | "scan" | "fields";
  /** A session that begins without any key: commands and what redis-cli prints. */
  example: [command: string, printed: string][];
  /** What else there is to know, in Markdown. */
  details?: string;
}

export const key: Arg = { name: "key", type: "key" };
export const string = (name: string): Arg => ({ name, type: "string" });
export const integer = (name: string): Arg => ({ name, type: "integer" });
export const token = (word: string): Arg => ({ name: word.toLowerCase(), type: "token", token: word });
export const oneOf = (name: string, ...of: Arg[]): Arg => ({ name, type: "oneof", of });
export const block = (name: string, ...of: Arg[]): Arg => ({ name, type: "block", of });
export const option = (word: string, arg: Arg): Arg => ({ ...arg, token: word, optional: true });
export const optional = (arg: Arg): Arg => ({ ...arg, optional: true });
export const multiple = (arg: Arg): Arg => ({ ...arg, multiple: true });

/** A list as redis-cli prints it. */
export const list = (...items: (number | string)[]): string =>
  items.map((item, i) => `${i + 1}) ${typeof item === "number" ? `(integer) ${item}` : item}`).join("\n") || "(empty array)";
export const int = (value: number): string => `(integer) ${value}`;
export const bulk = (text: string): string => `"${text}"`;
export const OK = "OK", NIL = "(nil)";
