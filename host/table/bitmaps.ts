// Commands on whole bitmaps: set operations, exchange with other formats, and containers in memory.

import { type Command, OK, bulk, int, integer, key, list, multiple, offset, oneOf, option, optional, string, token } from "./row.ts";

const operation = oneOf("operation", ...["AND", "OR", "XOR", "NOT", "DIFF", "DIFF1", "ANDOR", "ONE"].map(token));

const STRING_LIMIT = "A string longer than `proto-max-bulk-len` is refused before any of it is built.";
const REPLY_LIMIT = "A string longer than `proto-max-bulk-len` or `redis-roar.reply-limit-bytes` is refused before any of it is built.";
const STAT = [
  "type: bitmap", "cardinality: 3", "number of containers: 1", "max value: 3", "min value: 1",
  "number of array containers: 1", "\\tarray container values: 3", "\\tarray container bytes: 6",
  "bitset  containers: 0", "\\tbitset  container values: 0", "\\tbitset  container bytes: 0",
  "run containers: 0", "\\trun container values: 0", "\\trun container bytes: 0", "",
].join("\\n");

export const bitmaps: Command[] = [
  // --- Set operations and relations --------------------------------------------------------------------------------------------

  {
    name: "BITOP", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "destination",
    summary: "Performs a set operation on bitmaps, and stores the result", complexity: "O(n) in the total size of the sources",
    // NOT has `last` where the other operations have keys. A keyword spec would not help: it matches a word anywhere in the
    // arguments, and so also a key of that name.
    keys: [{ at: 2, access: "update" }, { at: 3, to: -1, access: "read", oneKeyFor: "NOT" }],
    args: [
      operation,
      { name: "destkey", type: "key" }, multiple(key), optional(offset("last")),
    ],
    reply: "The cardinality of the result.", missing: "empty",
    details: [
      "| Operation | Members of the result | Sources |",
      "|---|---|---|",
      "| `AND` | in all sources | 1 or more |",
      "| `OR` | in any source | 1 or more |",
      "| `XOR` | in an odd number of sources | 1 or more |",
      "| `NOT` | not in the source, from 0 to its largest member, or to `last` if that is larger | 1 |",
      "| `DIFF` | in the first source and in no other source | 2 or more |",
      "| `DIFF1` | in any other source and not in the first | 2 or more |",
      "| `ANDOR` | in the first source and in any other | 2 or more |",
      "| `ONE` | in exactly one source | 1 or more |",
      "",
      "Only `NOT` takes `last`: it has a single source, and a second key is refused as an invalid `last`. The destination may be one of the sources. Its old value, of any type, and its TTL are discarded. "
      + "An empty result is stored as an empty bitmap.",
    ].join("\n"),
    methods: [{ name: "bitOp", answer: "count" }],
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
    name: "BITOPCARD", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Returns the number of members that BITOP would store", complexity: "O(n) in the total size of the sources",
    keys: [{ at: 2, to: -1, access: "read", oneKeyFor: "NOT", optionBefore: "LIMIT" }],
    args: [operation, option("LIMIT", integer("n", "number")), multiple(key), optional(offset("last"))],
    reply: "The cardinality of the result; with `LIMIT` at most `n`.", missing: "empty",
    details: "Takes the operations of `BITOP`, without storing a result. With `LIMIT`, counting stops at `n` members, which is a fast way to "
      + "check whether there are at least `n`. `LIMIT 0` means no limit. The word `LIMIT` right after the operation is always the option: a key of that "
      + "name can be given in any other position.",
    methods: [{ name: "bitOpCard", answer: "count" }],
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3 4", OK],
      ["R.BITOPCARD AND a b", int(2)],
      ["R.BITOPCARD OR a b", int(4)],
      ["R.BITOPCARD OR LIMIT 3 a b", int(3)],
      ["R.BITOPCARD NOT a 9", int(7)],
    ],
  },
  {
    name: "DIFF", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "destination",
    summary: "Stores the difference of two bitmaps", complexity: "O(n) in the total size of the sources",
    keys: [{ at: 1, access: "update" }, { at: 2, access: "read" }, { at: 3, access: "read" }], args: [{ name: "destkey", type: "key" }, { name: "key1", type: "key" }, { name: "key2", type: "key" }],
    reply: "`OK`.", missing: "error",
    details: "The result holds the members of `key1` that are not in `key2`. The destination may be one of the sources; its old value and TTL are discarded. `BITOP DIFF` takes more than two sources.",
    methods: [{ name: "diff", answer: "ok" }],
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2", OK],
      ["R.DIFF d a b", OK],
      ["R.GETINTARRAY d", list(1, 3)],
    ],
  },
  {
    name: "CONTAINS", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Tests whether two bitmaps intersect, or one contains the other", complexity: "O(n); stops at the first container that decides the answer",
    keys: [{ at: 1, access: "read" }, { at: 2, access: "read" }], args: [{ name: "key1", type: "key" }, { name: "key2", type: "key" }, optional(oneOf("mode", token("ALL"), token("ALL_STRICT"), token("EQ")))],
    reply: "1 if so, otherwise 0.", missing: "error",
    details: "Without a mode, tests whether the bitmaps have a member in common. `ALL`: whether `key2` is a subset of `key1`. `ALL_STRICT`: whether it is a proper subset. `EQ`: whether the bitmaps are equal. The mode must be in upper case.",
    methods: [{ name: "contains", answer: "boolean" }],
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3", OK],
      ["R.CONTAINS a b", int(1)],
      ["R.CONTAINS a b ALL", int(1)],
      ["R.CONTAINS a b EQ", int(0)],
    ],
  },
  {
    name: "JACCARD", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Returns the Jaccard similarity of two bitmaps", complexity: "O(n) in the total size of both",
    keys: [{ at: 1, access: "read" }, { at: 2, access: "read" }], args: [{ name: "key1", type: "key" }, { name: "key2", type: "key" }],
    reply: "The size of the intersection divided by the size of the union, as a string: a number from 0 to 1, or -1 if both bitmaps are empty.", missing: "error",
    methods: [{ name: "jaccard", answer: "ratio?" }],
    example: [
      ["R.SETINTARRAY a 1 2 3", OK],
      ["R.SETINTARRAY b 2 3 4", OK],
      ["R.JACCARD a b", bulk("0.5")],
    ],
  },

  // --- Exchange with other formats ---------------------------------------------------------------------------------------------

  {
    name: "SETBITARRAY", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "same",
    summary: "Creates a bitmap from a string of 0s and 1s", complexity: "O(m) for m characters",
    keys: [{ at: 1, access: "overwrite" }], args: [key, string("string")],
    reply: "`OK`.", missing: "creates",
    details: "Any character other than `1` counts as 0. The key's old value and TTL are discarded.",
    methods: [{ name: "setBitArray", answer: "ok" }],
    example: [
      ["R.SETBITARRAY k 0101", OK],
      ["R.GETINTARRAY k", list(1, 3)],
    ],
  },
  {
    name: "GETBITARRAY", since: "1.0.0", flags: ["readonly"], parsed: true, mayOffload: true,
    summary: "Returns a bitmap as a string of 0s and 1s", complexity: "O(m) for m characters",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "One character for each offset up to the largest member; `0` for an empty bitmap.", missing: "string",
    details: REPLY_LIMIT,
    methods: [{ name: "getBitArray", answer: "text" }],
    example: [
      ["R.SETINTARRAY k 1 3", OK],
      ["R.GETBITARRAY k", bulk("0101")],
    ],
  },
  {
    name: "EXPORT", since: "1.0.0", flags: ["readonly"], parsed: true, mayOffload: true, tips: ["nondeterministic_output"],
    summary: "Returns a bitmap in the portable Roaring format", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The bitmap as defined by the [RoaringFormatSpec](https://github.com/RoaringBitmap/RoaringFormatSpec), in the 32-bit layout or, with `R64.`, the 64-bit one.", missing: "nil",
    details: `Every Roaring library can read it. ${REPLY_LIMIT}`,
    methods: [{ name: "export", answer: "bytes?" }],
    example: [
      ["R.SETINTARRAY k 1 2", OK],
      ["R.EXPORT k", bulk(String.raw`:0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x02\x00`)],
    ],
  },
  {
    name: "IMPORT", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "same",
    summary: "Adds the members of a serialized bitmap",
    complexity: "O(m + c log n) for a payload of m bytes and c containers; O(m + n) if c is large",
    keys: [{ at: 1, access: "modify" }], args: [key, string("payload", "bytes"), optional(token("REPLACE"))],
    reply: "The number of members after the import.", missing: "creates",
    details: [
      "With `REPLACE` the payload replaces the key's old value and TTL. An invalid payload is refused with `ERR invalid roaring payload: ...`, and the key stays as it was.",
      "",
      "The form of the payload is recognized:",
      "",
      "| | `R.` | `R64.` |",
      "|---|---|---|",
      "| the portable format of 32 bits, as written by `R.EXPORT`, by `roaring_bitmap_portable_serialize` in C and by `RoaringBitmap.serialize` in Java | yes | yes |",
      "| CRoaring's own form, of `roaring_bitmap_serialize`; an empty list of it, `01 00 00 00 00`, only with `R.` | yes | yes |",
      "| the portable format of 64 bits, as written by `R64.EXPORT` | no | yes |",
      "| the legacy form of Java's `Roaring64NavigableMap`, in signed or unsigned order | no | yes |",
      "| Base64 text of any of these, in either alphabet, with or without padding and line breaks | yes | yes |",
      "",
      "The error for other payloads says what they look like: states of ClickHouse's `groupBitmap`, bitmaps of Apache Doris and StarRocks, CRoaring's frozen form, "
      + "serialized Java objects, the reply of `DUMP`, gzip, hexadecimal text, and what `redis-cli` shows in a terminal. Only the type `BITMAP32` of Doris is accepted: it is the same as CRoaring's own form. `redis-roar load --format` reads those of ClickHouse, Doris and StarRocks.",
    ].join("\n"),
    methods: [{ name: "import", answer: "count" }],
    example: [
      [String.raw`R.IMPORT k ":0\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x10\x00\x00\x00\x01\x00\x02\x00"`, int(2)],
      ["R.GETINTARRAY k", list(1, 2)],
      ["R.IMPORT k \"no bitmap\"", "(error) ERR invalid roaring payload: it begins with an unknown cookie"],
    ],
  },
  {
    name: "FROMBITMAP", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "same",
    summary: "Creates a bitmap from a native bitmap, or adds to one", complexity: "O(m) for m bytes; with MERGE, O(m + c log n) for c containers of the string, or O(m + n) if c is large",
    keys: [{ at: 1, access: "overwrite", modifyWith: "MERGE" }, { at: 2, access: "read" }],
    args: [key, { name: "stringkey", type: "key" }, option("OFFSET", offset()), optional(token("MERGE")), optional(token("LSB"))],
    reply: "The number of members of the key afterwards.", missing: "empty",
    details: "Bit `i` becomes member `offset` + `i`; `offset` can be any number. A string with a set bit that would exceed the last offset is refused. "
      + "With `LSB`, bit `i` of the string is bit `i % 8`, counted from the lowest, of byte `i / 8`, as in Java's `BitSet.toByteArray()` and in BSON; without it, counted from the highest, as with `SETBIT`. "
      + "Without `MERGE`, the key's old value, of any type, and its TTL are discarded. With `MERGE`, the members are added to the key, which must be a bitmap or missing. "
      + "`stringkey` is not changed, unless it is the same key: then the bitmap replaces the string. "
      + "So it can join native bitmaps that were [split by hand](recipes.md#join-native-bitmaps-that-were-split-by-hand).",
    methods: [{ name: "fromBitmap", answer: "count" }],
    example: [
      ["SETBIT native 7 1", int(0)],
      ["R.FROMBITMAP k native", int(1)],
      ["R.GETINTARRAY k", list(7)],
      ["R.FROMBITMAP k native OFFSET 10000 MERGE", int(2)],
      ["R.GETINTARRAY k", list(7, 10_007)],
      ["R.FROMBITMAP native native", int(1)],
      ["R.GETBIT native 7", int(1)],
      ["SET fromjava A", OK],
      ["R.FROMBITMAP k fromjava LSB", int(2)],
      ["R.GETINTARRAY k", list(0, 6)],
    ],
  },
  {
    name: "TOBITMAP", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "same",
    summary: "Converts a bitmap to a native bitmap, and stores it", complexity: "O(m) for m bytes",
    keys: [{ at: 1, access: "overwrite" }, { at: 2, access: "read" }], args: [{ name: "stringkey", type: "key" }, key, optional(token("LSB"))],
    reply: "The length of the native bitmap in bytes.", missing: "error",
    details: `With \`LSB\`, the string has the bits of each byte from the lowest on, as \`BitSet.valueOf()\` of Java takes them. The old value of \`stringkey\`, of any type, and its TTL are discarded. ${STRING_LIMIT}`,
    methods: [{ name: "toBitmap", answer: "length" }],
    example: [
      ["R.SETINTARRAY k 1 9", OK],
      ["R.TOBITMAP native k", int(2)],
      ["GETBIT native 9", int(1)],
      ["R.SETINTARRAY k 0 6", OK],
      ["R.TOBITMAP forjava k LSB", int(1)],
      ["GET forjava", bulk("A")],
    ],
  },

  // --- Containers in memory ----------------------------------------------------------------------------------------------------

  {
    name: "STAT", since: "1.0.0", flags: ["readonly"], mayOffload: true, tips: ["nondeterministic_output"],
    summary: "Returns statistics about the containers of a bitmap", complexity: "O(c) for c containers",
    keys: [{ at: 1, access: "read" }], args: [key, optional(token("JSON"))],
    reply: "Text, or JSON; in RESP3 a verbatim string.", missing: "nil",
    details: "`R.STAT` and `R64.STAT` both accept keys of either family. A word other than `JSON` is accepted too and means text, as in the C module. Each full container counts as one run container. Bytes are those of the portable format, not of allocated memory.",
    methods: [
      { name: "stat", answer: "text?" },
      { name: "statJson", answer: "statistics?", word: "JSON", summary: "Returns statistics about the containers of a bitmap as an object" },
    ],
    example: [
      ["R.SETINTARRAY k 1 2 3", OK],
      ["R.STAT k", bulk(STAT)],
    ],
  },
  {
    name: "OPTIMIZE", since: "1.0.0", flags: ["readonly"], mayOffload: "segments",
    summary: "Converts each container of a bitmap to its smallest kind", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key, optional(token("MEM"))],
    reply: "`OK`.", missing: "error",
    details: "Affects only this node's copy: no member changes, so nothing is replicated and no event is sent. Unused memory is freed with or without `MEM`; any other word is accepted, too.",
    methods: [{ name: "optimize", answer: "ok" }],
    example: [
      ["R.SETINTARRAY k 1 2 3", OK],
      ["R.OPTIMIZE k", OK],
      ["R.GETINTARRAY k", list(1, 2, 3)],
    ],
  },
];
