// The command table: one row a command, for both families. Registration, COMMAND DOCS, key specs, ACL categories and
// docs/commands.md are generated from it (tools/generate-commands.ts), and tests loop over it. Data only.

/** What a command does with the value of a key, in the words of the server's key specs. */
export type Access =
  | "read"        // RO ACCESS
  | "modify"      // RW ACCESS UPDATE: the reply tells something of what was there
  | "update"      // RW UPDATE
  | "insert"      // RW INSERT
  | "overwrite";  // OW INSERT: what it was in the C module

export interface Keys {
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

export type Flag = "readonly" | "write" | "deny-oom" | "fast";

export interface Command {
  /** Without the family's prefix. */
  name: string;
  since: string;
  group: "bits" | "arrays" | "ranges" | "query" | "algebra" | "exchange" | "fields" | "form";
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

const key: Arg = { name: "key", type: "key" };
const string = (name: string): Arg => ({ name, type: "string" });
const integer = (name: string): Arg => ({ name, type: "integer" });
const token = (word: string): Arg => ({ name: word.toLowerCase(), type: "token", token: word });
const oneOf = (name: string, ...of: Arg[]): Arg => ({ name, type: "oneof", of });
const block = (name: string, ...of: Arg[]): Arg => ({ name, type: "block", of });
const option = (word: string, arg: Arg): Arg => ({ ...arg, token: word, optional: true });
const optional = (arg: Arg): Arg => ({ ...arg, optional: true });
const multiple = (arg: Arg): Arg => ({ ...arg, multiple: true });

const start = integer("start"), end = integer("end");
const unit = optional(oneOf("unit", token("BYTE"), token("BIT")));

const operation = oneOf("operation", ...["AND", "OR", "XOR", "NOT", "DIFF", "DIFF1", "ANDOR", "ONE"].map(token));

/** A list as redis-cli prints it. */
const list = (...items: (number | string)[]): string =>
  items.map((item, i) => `${i + 1}) ${typeof item === "number" ? `(integer) ${item}` : item}`).join("\n") || "(empty array)";
const int = (value: number): string => `(integer) ${value}`;
const bulk = (text: string): string => `"${text}"`;
const OK = "OK", NIL = "(nil)";
const STAT = [
  "type: bitmap", "cardinality: 3", "number of containers: 1", "max value: 3", "min value: 1",
  "number of array containers: 1", "\\tarray container values: 3", "\\tarray container bytes: 6",
  "bitset  containers: 0", "\\tbitset  container values: 0", "\\tbitset  container bytes: 0",
  "run containers: 0", "\\trun container values: 0", "\\trun container bytes: 0", "",
].join("\\n");

const LIMIT = "Refused for more than 100,000,000 members: the server builds a reply in full before it sends it.";
const STRING_LIMIT = "Refused, before any of it is built, if the string is longer than `proto-max-bulk-len`.";
const HALF_OPEN = "The range is half open: `start` belongs to it, `end` does not. `R.` takes ends up to 4294967296.";

const INDEXES =
  "Indexes count bytes, or bits with `BIT`, of the string that native `SETBIT` would make of the members; negative ones "
  + "count from its end.";

export const commands: Command[] = [
  {
    name: "SETBIT", since: "1.0.0", group: "bits", flags: ["write", "deny-oom", "fast"],
    summary: "Sets or clears the bit at an offset, and returns what it was", complexity: "O(log n)",
    keys: [{ at: 1, access: "modify" }], args: [key, integer("offset"), integer("value")],
    reply: "The bit's value before, 0 or 1.", missing: "creates",
    details: "Clearing a bit of a missing key creates an empty bitmap.",
    example: [
      ["R.SETBIT k 7 1", int(0)],
      ["R.SETBIT k 7 0", int(1)],
    ],
  },
  {
    name: "GETBIT", since: "1.0.0", group: "bits", flags: ["readonly", "fast"],
    summary: "Returns the bit at an offset", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, integer("offset")],
    reply: "0 or 1.", missing: 0,
    example: [
      ["R.SETBIT k 7 1", int(0)],
      ["R.GETBIT k 7", int(1)],
      ["R.GETBIT k 8", int(0)],
    ],
  },
  {
    name: "BITCOUNT", since: "1.0.0", group: "bits", flags: ["readonly"],
    summary: "Counts the members, all or those in a range", complexity: "O(1), O(log n) with a range",
    keys: [{ at: 1, access: "read" }],
    args: [key, optional(block("range", integer("start"), integer("end"), unit))],
    reply: "The number of members.", missing: 0, details: INDEXES,
    example: [
      ["R.SETINTARRAY k 1 5 9 100", OK],
      ["R.BITCOUNT k", int(4)],
      ["R.BITCOUNT k 0 0", int(2)],
      ["R.BITCOUNT k 5 -1 BIT", int(3)],
    ],
  },
  {
    name: "BITPOS", since: "1.0.0", group: "bits", flags: ["readonly"],
    summary: "Finds the first set or clear bit, of all or in a range", complexity: "O(log n), O(n) in runs of ones when a clear bit is sought",
    keys: [{ at: 1, access: "read" }],
    args: [
      key, integer("bit"),
      optional(block("range", integer("start"), optional(block("end-unit-block", integer("end"), unit)))),
    ],
    reply: "The bit's offset, counted from the bitmap's start; -1 if there is none.", missing: -1,
    details: `${INDEXES} A clear bit is found beyond the last member too, unless an end is given. On a missing key the first clear bit is 0.`,
    example: [
      ["R.SETINTARRAY k 0 1 9", OK],
      ["R.BITPOS k 1", int(0)],
      ["R.BITPOS k 0", int(2)],
      ["R.BITPOS k 1 1", int(9)],
    ],
  },
  {
    name: "BITOP", since: "1.0.0", group: "algebra", flags: ["write", "deny-oom"],
    summary: "Combines bitmaps and stores the result", complexity: "O(n) in the sizes of the sources",
    // NOT's `last` stands where the other operations have keys, and key specs cannot tell operations apart: a keyword
    // spec matches a word anywhere in the arguments, so also a key of that name. It is therefore reported as a key. What
    // that means: a Cluster client has to send the three-argument form, or a `last` whose slot is that of the keys.
    keys: [{ at: 2, access: "update" }, { at: 3, to: -1, access: "read" }],
    args: [
      operation,
      { name: "destkey", type: "key" }, multiple(key), optional(integer("last")),
    ],
    reply: "The cardinality of the result.", missing: "empty",
    details: [
      "| Operation | Members of the result | Sources |",
      "|---|---|---|",
      "| `AND` | in all sources | 1 or more |",
      "| `OR` | in any source | 1 or more |",
      "| `XOR` | in an odd number of sources | 1 or more |",
      "| `NOT` | not in the source, from 0 to its greatest member, or to `last` if that is greater | 1 |",
      "| `DIFF` | in the first source and in no other | 2 or more |",
      "| `DIFF1` | not in the first source, but in another | 2 or more |",
      "| `ANDOR` | in the first source and in another | 2 or more |",
      "| `ONE` | in exactly one source | 2 or more |",
      "",
      "`last` goes with `NOT` alone. The destination may be a source, may hold a value of any type before, and loses its TTL. "
      + "An empty result leaves an empty bitmap.",
    ].join("\n"),
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3 4", OK],
      ["R.BITOP AND both a b", int(2)],
      ["R.GETINTARRAY both", list(2, 3)],
      ["R.BITOP NOT rest a 5", int(3)],
      ["R.GETINTARRAY rest", list(0, 4, 5)],
    ],
  },
  {
    name: "SETINTARRAY", since: "1.0.0", group: "arrays", flags: ["write", "deny-oom"],
    summary: "Makes a bitmap of the values given", complexity: "O(m log m) for m values",
    keys: [{ at: 1, access: "overwrite" }], args: [key, multiple(integer("value"))],
    reply: "`OK`.", missing: "creates",
    details: "Values come in any order. What the key held is replaced, and a TTL dropped.",
    example: [
      ["R.SETINTARRAY k 9 3 3", OK],
      ["R.GETINTARRAY k", list(3, 9)],
    ],
  },
  {
    name: "APPENDINTARRAY", since: "1.0.0", group: "arrays", flags: ["write", "deny-oom"],
    summary: "Adds values to a bitmap", complexity: "O(m log n) for m values",
    keys: [{ at: 1, access: "insert" }], args: [key, multiple(integer("value"))],
    reply: "`OK`.", missing: "creates",
    example: [
      ["R.SETINTARRAY k 3 9", OK],
      ["R.APPENDINTARRAY k 5 9", OK],
      ["R.GETINTARRAY k", list(3, 5, 9)],
    ],
  },
  {
    name: "GETINTARRAY", since: "1.0.0", group: "arrays", flags: ["readonly"],
    summary: "Returns all members", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The members, ascending.", missing: "[]",
    details: LIMIT,
    example: [
      ["R.SETINTARRAY k 9 3", OK],
      ["R.GETINTARRAY k", list(3, 9)],
      ["R.GETINTARRAY none", list()],
    ],
  },
  {
    name: "GETBITS", since: "1.0.0", group: "bits", flags: ["readonly"],
    summary: "Returns the bits at several offsets", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "read" }], args: [key, multiple(integer("offset"))],
    reply: "0 or 1 for each offset.", missing: "[]",
    example: [
      ["R.SETINTARRAY k 1 5", OK],
      ["R.GETBITS k 0 1 5", list(0, 1, 1)],
    ],
  },
  {
    name: "SETBITS", since: "1.0.0", group: "bits", flags: ["write", "deny-oom"],
    summary: "Sets the bits at several offsets, and returns how many were clear", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(integer("offset"))],
    reply: "How many bits went from 0 to 1.", missing: "creates",
    example: [
      ["R.SETBITS k 1 5 9", int(3)],
      ["R.SETBITS k 5 6", int(1)],
    ],
  },
  {
    name: "CLEARBITS", since: "1.0.0", group: "bits", flags: ["write", "deny-oom"],
    summary: "Clears the bits at several offsets", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(integer("offset")), optional(token("COUNT"))],
    reply: "`OK`; with `COUNT` how many bits went from 1 to 0.", missing: "nil",
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEARBITS k 2 7 COUNT", int(1)],
      ["R.CLEARBITS k 1", OK],
      ["R.GETINTARRAY k", list(3, 9)],
      ["R.CLEARBITS none 1", NIL],
    ],
  },
  {
    name: "CLEAR", since: "1.0.0", group: "bits", flags: ["write"],
    summary: "Removes all members, not the key", complexity: "O(1)",
    keys: [{ at: 1, access: "modify" }], args: [key],
    reply: "How many members there were.", missing: "nil",
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEAR k", int(4)],
      ["EXISTS k", int(1)],
    ],
  },
  {
    name: "DELETEINTARRAY", since: "1.0.0", group: "arrays", flags: ["write", "deny-oom"],
    summary: "Removes values from a bitmap", complexity: "O(m log n) for m values",
    keys: [{ at: 1, access: "update" }], args: [key, multiple(integer("value"))],
    reply: "`OK`.", missing: "creates",
    details: "A missing key becomes an empty bitmap.",
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.DELETEINTARRAY k 2 3 4", OK],
      ["R.GETINTARRAY k", list(1, 9)],
    ],
  },
  {
    name: "RANGEINTARRAY", since: "1.0.0", group: "arrays", flags: ["readonly"],
    summary: "Returns the members of a range of ranks", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, start, end],
    reply: "The members whose ranks are `start` to `end`, ascending.", missing: "[]",
    details: "Ranks count from 0; both ends are included. A range of more than 100,000,000 ranks is refused. `RANGE` is by members.",
    example: [
      ["R.SETINTARRAY k 10 20 30 40", OK],
      ["R.RANGEINTARRAY k 1 2", list(20, 30)],
    ],
  },
  {
    name: "SETRANGE", since: "1.0.0", group: "ranges", flags: ["write", "deny-oom"],
    summary: "Sets all bits of a range", complexity: "O(log n + c) for c containers in the range",
    keys: [{ at: 1, access: "insert" }], args: [key, start, end],
    reply: "`OK`.", missing: "creates",
    details: `${HALF_OPEN} An empty range creates an empty bitmap.`,
    example: [
      ["R.SETRANGE k 10 1000000", OK],
      ["R.BITCOUNT k", int(999990)],
    ],
  },
  {
    name: "CLEARRANGE", since: "1.0.0", group: "ranges", flags: ["write", "deny-oom"],
    summary: "Clears all bits of a range", complexity: "O(log n + c) for c containers in the range",
    keys: [{ at: 1, access: "modify" }], args: [key, start, end],
    reply: "How many bits went from 1 to 0.", missing: 0,
    details: HALF_OPEN,
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEARRANGE k 2 9", int(2)],
      ["R.GETINTARRAY k", list(1, 9)],
    ],
  },
  {
    name: "FLIPRANGE", since: "1.0.0", group: "ranges", flags: ["write", "deny-oom"],
    summary: "Inverts all bits of a range", complexity: "O(log n + c) for c containers in the range",
    keys: [{ at: 1, access: "modify" }], args: [key, start, end],
    reply: "How many members there are then.", missing: "creates",
    details: HALF_OPEN,
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.FLIPRANGE k 2 6", int(4)],
      ["R.GETINTARRAY k", list(1, 4, 5, 9)],
    ],
  },
  {
    name: "SETFULL", since: "1.0.0", group: "ranges", flags: ["write", "deny-oom"],
    summary: "Makes a bitmap of all offsets", complexity: "O(1)",
    keys: [{ at: 1, access: "insert" }], args: [key],
    reply: "`OK`.", missing: "creates",
    details: "`Roaring: key already exist` if it does. A full bitmap takes about as little as an empty one, also of 2^64 offsets.",
    example: [
      ["R.SETFULL k", OK],
      ["R.BITCOUNT k", int(4294967296)],
      ["R.SETFULL k", "(error) Roaring: key already exist"],
    ],
  },
  {
    name: "MIN", since: "1.0.0", group: "query", flags: ["readonly", "fast"],
    summary: "Returns the least member", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The member; -1 if there is none.", missing: -1,
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.MIN k", int(1)],
      ["R.MIN none", int(-1)],
    ],
  },
  {
    name: "MAX", since: "1.0.0", group: "query", flags: ["readonly", "fast"],
    summary: "Returns the greatest member", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The member; -1 if there is none.", missing: -1,
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.MAX k", int(9)],
      ["R.MAX none", int(-1)],
    ],
  },
  {
    name: "RANK", since: "1.0.0", group: "query", flags: ["readonly", "fast"],
    summary: "Counts the members up to an offset", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, integer("offset")],
    reply: "How many members are at most `offset`.", missing: 0,
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.RANK k 3", int(3)],
      ["R.RANK k 8", int(3)],
      ["R.RANK k 0", int(0)],
    ],
  },
  {
    name: "SELECT", since: "1.0.0", group: "query", flags: ["readonly", "fast"],
    summary: "Returns the member of a rank", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, integer("rank")],
    reply: "The member; nil if there are not so many.", missing: "nil",
    details: "Ranks count from 0; negative ones from the end, -1 is the greatest member.",
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.SELECT k 0", int(1)],
      ["R.SELECT k -1", int(9)],
      ["R.SELECT k 4", NIL],
    ],
  },
  {
    name: "RANGE", since: "1.0.0", group: "query", flags: ["readonly"],
    summary: "Returns the members between two offsets", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, integer("min"), integer("max"), option("LIMIT", integer("n"))],
    reply: "The members from `min` to `max`, both included, ascending; with `LIMIT` the first `n` of them.", missing: "[]",
    details: LIMIT,
    example: [
      ["R.SETINTARRAY k 10 20 30 40", OK],
      ["R.RANGE k 15 40", list(20, 30, 40)],
      ["R.RANGE k 15 40 LIMIT 1", list(20)],
    ],
  },
  {
    name: "SCAN", since: "1.0.0", group: "query", flags: ["readonly"],
    summary: "Iterates over the members", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, integer("cursor"), option("COUNT", integer("n"))],
    reply: "The cursor to go on with, and members; the cursor `0` says that there are no more.", missing: "scan",
    details: "Begin with cursor 0. The cursor is the least offset still to read, so that members that stay are returned once, whatever is written meanwhile. `COUNT` is 10 by default, and at most 100,000,000.",
    example: [
      ["R.SETINTARRAY k 10 20 30", OK],
      ["R.SCAN k 0 COUNT 2", list(bulk("30"), "1) (integer) 10\n   2) (integer) 20")],
      ["R.SCAN k 30 COUNT 2", list(bulk("0"), "1) (integer) 30")],
    ],
  },
  {
    name: "BITOPCARD", since: "1.0.0", group: "algebra", flags: ["readonly"],
    summary: "Counts the members that BITOP would store", complexity: "O(n) in the sizes of the sources",
    keys: [{ at: 2, to: -1, access: "read" }], args: [operation, multiple(key), optional(integer("last"))],
    reply: "The cardinality of the result.", missing: "empty",
    details: "Operations are those of `BITOP`. Nothing is built and nothing stored.",
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3 4", OK],
      ["R.BITOPCARD AND a b", int(2)],
      ["R.BITOPCARD OR a b", int(4)],
      ["R.BITOPCARD NOT a 9", int(7)],
    ],
  },
  {
    name: "DIFF", since: "1.0.0", group: "algebra", flags: ["write", "deny-oom"],
    summary: "Stores the members of one bitmap that another lacks", complexity: "O(n) in the sizes of the sources",
    keys: [{ at: 1, access: "update" }, { at: 2, access: "read" }, { at: 3, access: "read" }], args: [{ name: "destkey", type: "key" }, { name: "key1", type: "key" }, { name: "key2", type: "key" }],
    reply: "`OK`.", missing: "error",
    details: "The destination may be a source, and loses its TTL. `BITOP DIFF` takes more sources.",
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2", OK],
      ["R.DIFF d a b", OK],
      ["R.GETINTARRAY d", list(1, 3)],
    ],
  },
  {
    name: "CONTAINS", since: "1.0.0", group: "algebra", flags: ["readonly"],
    summary: "Tells how two bitmaps lie to each other", complexity: "O(n), or less: it ends with the first container that decides",
    keys: [{ at: 1, access: "read" }, { at: 2, access: "read" }], args: [{ name: "key1", type: "key" }, { name: "key2", type: "key" }, optional(oneOf("mode", token("ALL"), token("ALL_STRICT"), token("EQ")))],
    reply: "1 or 0.", missing: "error",
    details: "Without a mode: whether they have a member in common. `ALL`: whether key1 has all members of key2; `ALL_STRICT`: and others as well; `EQ`: and no others. The mode is upper case.",
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3", OK],
      ["R.CONTAINS a b", int(1)],
      ["R.CONTAINS a b ALL", int(1)],
      ["R.CONTAINS a b EQ", int(0)],
    ],
  },
  {
    name: "JACCARD", since: "1.0.0", group: "algebra", flags: ["readonly"],
    summary: "Returns the similarity of two bitmaps", complexity: "O(n) in the sizes of both",
    keys: [{ at: 1, access: "read" }, { at: 2, access: "read" }], args: [{ name: "key1", type: "key" }, { name: "key2", type: "key" }],
    reply: "The members in both by the members in any, a number from 0 to 1 as a string; -1 if there is no member at all.", missing: "error",
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3 4", OK],
      ["R.JACCARD a b", bulk("0.5")],
    ],
  },
  {
    name: "SETBITARRAY", since: "1.0.0", group: "exchange", flags: ["write", "deny-oom"],
    summary: "Makes a bitmap of a string of 0 and 1", complexity: "O(m) for m characters",
    keys: [{ at: 1, access: "overwrite" }], args: [key, string("string")],
    reply: "`OK`.", missing: "creates",
    details: "Any character but `1` is a 0. What the key held is replaced, and a TTL dropped.",
    example: [
      ["R.SETBITARRAY k 0101", OK],
      ["R.GETINTARRAY k", list(1, 3)],
    ],
  },
  {
    name: "GETBITARRAY", since: "1.0.0", group: "exchange", flags: ["readonly"],
    summary: "Returns a bitmap as a string of 0 and 1", complexity: "O(m) for m characters",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "A character for every offset up to the greatest member; `0` for an empty bitmap.", missing: "string",
    details: STRING_LIMIT,
    example: [
      ["R.SETINTARRAY k 1 3", OK],
      ["R.GETBITARRAY k", bulk("0101")],
    ],
  },
  {
    name: "EXPORT", since: "1.0.0", group: "exchange", flags: ["readonly"],
    summary: "Returns a bitmap in the portable Roaring format", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The stream of the [RoaringFormatSpec](https://github.com/RoaringBitmap/RoaringFormatSpec): its 32-bit layout, or with `R64.` the 64-bit one.", missing: "nil",
    details: `Every Roaring library reads it. ${STRING_LIMIT}`,
    example: [
      ["R.SETINTARRAY k 1 2", OK],
      ["R.EXPORT k", bulk(String.raw`:0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x02\x00`)],
    ],
  },
  {
    name: "IMPORT", since: "1.0.0", group: "exchange", flags: ["write", "deny-oom"],
    summary: "Adds the members of a bitmap in the portable Roaring format", complexity: "O(n)",
    keys: [{ at: 1, access: "modify" }], args: [key, string("payload"), optional(token("REPLACE"))],
    reply: "How many members there are then.", missing: "creates",
    details: "With `REPLACE` the payload is all that the key then holds, without a TTL. A payload that breaks the format in any way is refused: `ERR invalid roaring payload: ...`.",
    example: [
      [String.raw`R.IMPORT k ":0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x02\x00"`, int(2)],
      ["R.GETINTARRAY k", list(1, 2)],
      ["R.IMPORT k nonsense", "(error) ERR invalid roaring payload: it begins with an unknown cookie"],
    ],
  },
  {
    name: "FROMBITMAP", since: "1.0.0", group: "exchange", flags: ["write", "deny-oom"],
    summary: "Makes a bitmap of a native one", complexity: "O(m) for m bytes",
    keys: [{ at: 1, access: "overwrite" }, { at: 2, access: "read" }], args: [key, { name: "stringkey", type: "key" }],
    reply: "How many members there are.", missing: "empty",
    details: "What the key held is replaced, and a TTL dropped.",
    example: [
      ["SETBIT native 7 1", int(0)],
      ["R.FROMBITMAP k native", int(1)],
      ["R.GETINTARRAY k", list(7)],
    ],
  },
  {
    name: "TOBITMAP", since: "1.0.0", group: "exchange", flags: ["write", "deny-oom"],
    summary: "Makes a native bitmap of a bitmap", complexity: "O(m) for m bytes",
    keys: [{ at: 1, access: "overwrite" }, { at: 2, access: "read" }], args: [{ name: "stringkey", type: "key" }, key],
    reply: "The length of the native bitmap in bytes.", missing: "error",
    details: `What the string key held is replaced, whatever its type, and a TTL dropped. ${STRING_LIMIT}`,
    example: [
      ["R.SETINTARRAY k 1 9", OK],
      ["R.TOBITMAP native k", int(2)],
      ["GETBIT native 9", int(1)],
    ],
  },
  {
    name: "BITFIELD", since: "1.0.0", group: "fields", flags: ["write", "deny-oom"],
    summary: "Reads and writes integers of any width at any offset", complexity: "O(w log n) for w bits in all",
    keys: [{ at: 1, access: "modify" }], args: [
      key,
      optional(multiple(oneOf("operation",
        block("get-block", token("GET"), string("encoding"), string("offset")),
        block("write", optional(oneOf("overflow-block", ...["WRAP", "SAT", "FAIL"].map((word) => block(word.toLowerCase(), token("OVERFLOW"), token(word))))),
          oneOf("write-operation",
            block("set-block", token("SET"), string("encoding"), string("offset"), integer("value")),
            block("incrby-block", token("INCRBY"), string("encoding"), string("offset"), integer("increment"))))))),
    ],
    reply: "For each operation: the value read, the value before it was set, or the sum; nil where `OVERFLOW FAIL` forbade it.", missing: "fields",
    details: "As native `BITFIELD`: encodings `i1` to `i64` and `u1` to `u63`, an offset counts bits or, as `#n`, such fields, and the bit at the offset is the most significant. The key is created by writes only. A field must end with the last offset at the latest.",
    example: [
      ["R.BITFIELD k SET u8 0 200 INCRBY u8 0 100", list(0, 44)],
      ["R.BITFIELD k OVERFLOW SAT INCRBY u8 0 1000 GET u4 #0", list(255, 15)],
    ],
  },
  {
    name: "BITFIELD_RO", since: "1.0.0", group: "fields", flags: ["readonly", "fast"],
    summary: "Reads integers of any width at any offset", complexity: "O(w log n) for w bits in all",
    keys: [{ at: 1, access: "read" }], args: [key, optional(multiple(block("get-block", token("GET"), string("encoding"), string("offset"))))],
    reply: "The values.", missing: "fields",
    details: "`BITFIELD` with `GET` alone.",
    example: [
      ["R.SETBITS k 0 1", int(2)],
      ["R.BITFIELD_RO k GET u2 0 GET i2 0", list(3, -1)],
    ],
  },
  {
    name: "STAT", since: "1.0.0", group: "form", flags: ["readonly"],
    summary: "Tells what a bitmap is made of", complexity: "O(c) for c containers",
    keys: [{ at: 1, access: "read" }], args: [key, optional(token("JSON"))],
    reply: "Text, or JSON; a verbatim string in RESP3.", missing: "nil",
    details: "`R.STAT` and `R64.STAT` both take keys of either family. A range of full containers counts as so many containers of runs. Bytes are what the portable format needs, not what is allocated.",
    example: [
      ["R.SETINTARRAY k 1 2 3", OK],
      ["R.STAT k", bulk(STAT)],
    ],
  },
  {
    name: "OPTIMIZE", since: "1.0.0", group: "form", flags: ["readonly"],
    summary: "Rebuilds a bitmap in the least space", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key, optional(token("MEM"))],
    reply: "`OK`.", missing: "error",
    details: "Works on this node's copy alone: no member changes, so nothing is replicated and nobody told. Memory is given back with `MEM`, any other word, or none.",
    example: [
      ["R.SETINTARRAY k 1 2 3", OK],
      ["R.OPTIMIZE k", OK],
      ["R.GETINTARRAY k", list(1, 2, 3)],
    ],
  },
];
