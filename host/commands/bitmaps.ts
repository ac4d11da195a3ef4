// Commands on whole bitmaps: set operations, exchange with other formats, and the form in memory.

import { type Command, OK, bulk, int, integer, key, list, multiple, oneOf, optional, string, token } from "./row.ts";

const operation = oneOf("operation", ...["AND", "OR", "XOR", "NOT", "DIFF", "DIFF1", "ANDOR", "ONE"].map(token));

const STRING_LIMIT = "Refused, before any of it is built, if the string is longer than `proto-max-bulk-len`.";
const STAT = [
  "type: bitmap", "cardinality: 3", "number of containers: 1", "max value: 3", "min value: 1",
  "number of array containers: 1", "\\tarray container values: 3", "\\tarray container bytes: 6",
  "bitset  containers: 0", "\\tbitset  container values: 0", "\\tbitset  container bytes: 0",
  "run containers: 0", "\\trun container values: 0", "\\trun container bytes: 0", "",
].join("\\n");

export const bitmaps: Command[] = [
  // --- Set operations and relations --------------------------------------------------------------------------------------------

  {
    name: "BITOP", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "BITOPCARD", since: "1.0.0", flags: ["readonly"],
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
    name: "DIFF", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "CONTAINS", since: "1.0.0", flags: ["readonly"],
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
    name: "JACCARD", since: "1.0.0", flags: ["readonly"],
    summary: "Returns the similarity of two bitmaps", complexity: "O(n) in the sizes of both",
    keys: [{ at: 1, access: "read" }, { at: 2, access: "read" }], args: [{ name: "key1", type: "key" }, { name: "key2", type: "key" }],
    reply: "The members in both by the members in any, a number from 0 to 1 as a string; -1 if there is no member at all.", missing: "error",
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3 4", OK],
      ["R.JACCARD a b", bulk("0.5")],
    ],
  },

  // --- Exchange with other formats ---------------------------------------------------------------------------------------------

  {
    name: "SETBITARRAY", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "GETBITARRAY", since: "1.0.0", flags: ["readonly"],
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
    name: "EXPORT", since: "1.0.0", flags: ["readonly"],
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
    name: "IMPORT", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "FROMBITMAP", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "TOBITMAP", since: "1.0.0", flags: ["write", "deny-oom"],
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

  // --- Form in memory ----------------------------------------------------------------------------------------------------------

  {
    name: "STAT", since: "1.0.0", flags: ["readonly"],
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
    name: "OPTIMIZE", since: "1.0.0", flags: ["readonly"],
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
