// Commands RI.*: integers for ids. They have a type of their own, so they are a table of their own.

import { type Arg, block, bulk, type Command, int, integer, key, multiple, NIL, offset, oneOf, OK, option, optional, string, token } from "./row.ts";

const id = offset("id"), numkeys = integer("numkeys");

/** The ids that count: members of an expression over bitmaps. */
const within: Arg = {
  ...block("within", { ...string("expression"), token: "WITHIN" }, numkeys, multiple(key)), kind: "question", optional: true,
};
const WITHIN = { at: 0, access: "read", keyword: "WITHIN", numbered: true } as const;

const bounds = [string("min", "bound"), string("max", "bound")];
const LEAVES = "O(n) in the leaves of up to 512 ids whose values may lie between the bounds";

const STAT = [
  "type: integers", "cardinality: 2", "min id: 7", "max id: 8", "min value: 17", "max value: 31",
  "leaves of pairs: 1", "\\tids: 2", "\\tbytes: 4", "leaves of slices: 0", "\\tids: 0", "\\tbytes: 0", "",
].join("\\n");

export const integers: Command[] = [
  {
    name: "SET", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "same", summary: "Stores the values of ids",
    complexity: "O(log n) for each id", keys: [{ at: 1, access: "modify" }],
    args: [
      key, optional(oneOf("condition", token("NX"), token("XX"))), optional(oneOf("comparison", token("GT"), token("LT"))), optional(token("CH")),
      { ...multiple(block("data", id, integer("value"))), kind: "entries" },
    ],
    reply: "The number of ids added; with `CH`, of ids added or changed.", missing: "creates", methods: [{ name: "set", answer: "count" }],
    example: [["RI.SET age 7 31 8 17", int(2)], ["RI.SET age GT CH 7 30 8 18", int(1)]],
  },
  {
    name: "INCRBY", since: "1.0.0", flags: ["write", "deny-oom", "fast"], repeated: "differs", parsed: true, summary: "Adds to the value of an id",
    complexity: "O(log n)", keys: [{ at: 1, access: "modify" }], args: [key, id, integer("increment", "value")],
    reply: "The new value.", missing: "creates", methods: [{ name: "incrBy", answer: "value" }],
    example: [["RI.INCRBY likes 7 5", int(5)], ["RI.INCRBY likes 7 -2", int(3)]],
  },
  {
    name: "GET", since: "1.0.0", flags: ["readonly", "fast"], parsed: true, summary: "Returns the value of an id", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, id], reply: "The value, or nil if the id has none.", missing: "nil", methods: [{ name: "get", answer: "value?" }],
    example: [["RI.SET age 7 31", int(1)], ["RI.GET age 7", int(31)], ["RI.GET age 8", NIL]],
  },
  {
    name: "MGET", since: "1.0.0", flags: ["readonly"], parsed: true, summary: "Returns the values of several ids", complexity: "O(log n) for each id",
    keys: [{ at: 1, access: "read" }], args: [key, multiple(id)], reply: "The values, nil for an id without one.", missing: "empty", methods: [{ name: "mGet", answer: "values" }],
    example: [["RI.SET age 7 31", int(1)], ["RI.MGET age 7 8", "1) (integer) 31\n2) (nil)"]],
  },
  {
    name: "DEL", since: "1.0.0", flags: ["write"], repeated: "same", parsed: true, summary: "Removes ids and their values", complexity: "O(log n) for each id",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(id)], reply: "How many ids had a value.", missing: 0, methods: [{ name: "del", answer: "count" }],
    example: [["RI.SET age 7 31 8 17", int(2)], ["RI.DEL age 8 9", int(1)]],
  },
  {
    name: "DELRANGE", since: "1.0.0", flags: ["write"], repeated: "same", summary: "Removes the ids whose values lie between two bounds",
    complexity: `${LEAVES}, and O(log n) for each id removed`, keys: [{ at: 1, access: "modify" }, WITHIN], args: [key, ...bounds, within],
    reply: "How many ids were removed.", missing: 0, methods: [{ name: "delRange", answer: "count" }],
    example: [["RI.SET seen 7 1000 8 2000", int(2)], ["RI.DELRANGE seen -inf (2000", int(1)]],
  },
  {
    name: "CARD", since: "1.0.0", flags: ["readonly", "fast"], parsed: true, summary: "Counts the ids", complexity: "O(1)",
    keys: [{ at: 1, access: "read" }], args: [key], reply: "The number of ids.", missing: 0, methods: [{ name: "card", answer: "count" }],
    example: [["RI.SET age 7 31 8 17", int(2)], ["RI.CARD age", int(2)]],
  },
  {
    name: "COUNT", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Counts the ids whose values lie between two bounds",
    complexity: LEAVES, keys: [{ at: 1, access: "read" }, WITHIN], args: [key, ...bounds, within],
    reply: "The number of ids.", missing: 0, methods: [{ name: "count", answer: "count" }],
    example: [["RI.SET age 7 31 8 17", int(2)], ["RI.COUNT age 18 +inf", int(1)]],
  },
  {
    name: "SUM", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Adds up the values", complexity: "O(1) for each segment; with WITHIN O(n) in the leaves",
    keys: [{ at: 1, access: "read" }, WITHIN], args: [key, within],
    reply: "The number of ids, and the exact sum of their values: a string if it is beyond 64 bits.", missing: "empty", methods: [{ name: "sum", answer: "sum" }],
    example: [["RI.SET paid 7 31 8 17", int(2)], ["R64.SETBIT vip 8 1", int(0)], ["RI.SUM paid", "1) (integer) 2\n2) (integer) 48"],
      ["RI.SUM paid WITHIN #1 1 vip", "1) (integer) 1\n2) (integer) 17"]],
  },
  {
    name: "STATS", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Returns number, sum, extremes and mean of the values", complexity: "O(n) in the leaves",
    keys: [{ at: 1, access: "read" }, WITHIN], args: [key, within],
    reply: "A map: `count`, `sum` as of SUM, `min`, `max`, and the `mean` as a string; nil for the last three without ids.", missing: "empty", methods: [{ name: "stats", answer: "summary" }],
    example: [["RI.SET age 7 31 8 18", int(2)],
      ["RI.STATS age", "1) \"count\"\n 2) (integer) 2\n 3) \"sum\"\n 4) (integer) 49\n 5) \"min\"\n 6) (integer) 18\n 7) \"max\"\n 8) (integer) 31\n 9) \"mean\"\n10) \"24.5\""]],
  },
  {
    name: "RANK", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Returns how many ids come before an id in the order of values",
    complexity: "O(n) in the leaves", keys: [{ at: 1, access: "read" }, WITHIN], args: [key, id, optional(token("REV")), within],
    reply: "The rank in the order of (value, id), or with `REV` in the reverse order; nil if the id has no value.", missing: "nil", methods: [{ name: "rank", answer: "rank?" }],
    example: [["RI.SET score 7 31 8 17", int(2)], ["RI.RANK score 7", int(1)], ["RI.RANK score 7 REV", int(0)]],
  },
  {
    name: "RANGE", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Returns ids in the order of their values",
    complexity: "O(n) in the leaves; both ends of the order are found in one pass, ranks in the middle in up to 64",
    keys: [{ at: 1, access: "read" }, WITHIN],
    args: [
      key, { ...string("start", "rank"), kindWith: ["BYVALUE", "bound"] }, { ...string("stop", "rank"), kindWith: ["BYVALUE", "bound"] }, optional(token("BYVALUE")), optional(token("REV")),
      { ...option("LIMIT", block("limit", integer("offset"), integer("count"))), kind: "page", needs: "BYVALUE" }, optional(token("WITHVALUES")), within,
    ],
    reply: "The ids from rank `start` to rank `stop` in the order of (value, id), negative ranks from the end; with `BYVALUE` those whose values lie "
      + "between two bounds. `REV` reverses the order, and then takes the greater bound first, as ZRANGE does. With `WITHVALUES`, each id is followed by its value.",
    missing: "[]", methods: [
      { name: "range", answer: "ids" }, { name: "rangeWithValues", answer: "entries", word: "WITHVALUES", summary: "Returns ids and their values in the order of the values" },
      { name: "rangeByValue", answer: "ids", word: "BYVALUE", summary: "Returns the ids whose values lie between two bounds, in the order of their values" },
      {
        name: "rangeByValueWithValues", answer: "entries", word: "BYVALUE", also: "WITHVALUES",
        summary: "Returns the ids whose values lie between two bounds, and the values, in their order",
      },
    ],
    example: [["RI.SET score 7 31 8 17 9 50", int(3)], ["RI.RANGE score 0 1 REV WITHVALUES", "1) (integer) 9\n2) (integer) 50\n3) (integer) 7\n4) (integer) 31"],
      ["RI.RANGE score 18 +inf BYVALUE", "1) (integer) 7\n2) (integer) 9"]],
  },
  {
    name: "QUANTILE", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Returns the values below which given parts of the ids lie",
    complexity: "O(n) in the leaves, up to 64 times for each quantile", keys: [{ at: 1, access: "read" }, WITHIN],
    args: [key, multiple(string("q", "fractions")), within],
    reply: "For each `q` from 0 to 1 the least value that at least q of the ids do not exceed; nils without ids.", missing: "empty", methods: [{ name: "quantiles", answer: "values" }],
    example: [["RI.SET ms 1 10 2 20 3 90", int(3)], ["RI.QUANTILE ms 0.5 1", "1) (integer) 20\n2) (integer) 90"]],
  },
  {
    name: "HISTOGRAM", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Counts the ids of each value, or between edges",
    complexity: "O(n) in the ids; with EDGES in the leaves times the edges", keys: [{ at: 1, access: "read" }, WITHIN],
    args: [
      key, optional({ ...block("edges", integer("n"), multiple(integer("edge"))), token: "EDGES", kind: "edges" }),
      { ...option("TOP", integer("k", "number")), without: "edges" }, within,
    ],
    reply: "Pairs of a value and its number of ids, ascending; with `TOP` the `k` values with most ids. With `EDGES`, which ascend, one number more "
      + "than edges: of ids below the first, and from each edge up to below the next.", missing: "[]", methods: [
      { name: "histogram", answer: "histogram", summary: "Counts the ids of each value" },
      { name: "histogramBetween", answer: "counts", given: "edges", summary: "Counts the ids whose values lie below the first edge, between two edges, and from the last one on" },
    ],
    example: [["RI.SET age 7 31 8 17 9 17", int(3)], ["RI.HISTOGRAM age", "1) 1) (integer) 17\n   2) (integer) 2\n2) 1) (integer) 31\n   2) (integer) 1"],
      ["RI.HISTOGRAM age EDGES 2 18 30", "1) (integer) 2\n2) (integer) 0\n3) (integer) 1"]],
  },
  {
    name: "MERGE", since: "1.0.0", flags: ["write", "deny-oom"], mayOffload: true, repeated: "destination", summary: "Stores the values of several keys in one",
    complexity: "O(n) in the ids of all sources", keys: [{ at: 1, access: "overwrite" }, { at: 3, access: "read", numbered: true }],
    args: [{ name: "dest", type: "key" }, numkeys, multiple(key), option("AGGREGATE", oneOf("aggregate", token("SUM"), token("MIN"), token("MAX")))],
    reply: "The number of ids stored. `AGGREGATE` says what becomes of an id that several keys have; their sum, by default.", missing: "empty", methods: [{ name: "merge", answer: "count" }],
    example: [["RI.SET mon 7 1 8 2", int(2)], ["RI.SET tue 8 3", int(1)], ["RI.MERGE week 2 mon tue", int(2)], ["RI.GET week 8", int(5)]],
  },
  {
    name: "SCAN", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Lists ids and values page by page", complexity: "O(log n + count)",
    keys: [{ at: 1, access: "read" }], args: [key, offset("cursor"), option("COUNT", integer("n", "number"))],
    reply: "The next cursor, `0` at the end, and ids in ascending order, each followed by its value.", missing: "scan", methods: [{ name: "scan", answer: "entry page" }],
    example: [["RI.SET age 7 31 8 17", int(2)], ["RI.SCAN age 0 COUNT 1", "1) \"8\"\n2) 1) (integer) 7\n   2) (integer) 31"],
      ["RI.SCAN age 8 COUNT 1", "1) \"0\"\n2) 1) (integer) 8\n   2) (integer) 17"]],
  },
  {
    name: "OPTIMIZE", since: "1.0.0", handledBy: "OPTIMIZE", flags: ["readonly"], mayOffload: "segments", summary: "Writes a key anew without free blocks", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key], reply: "`OK`", missing: "error", methods: [{ name: "optimize", answer: "ok" }],
    example: [["RI.SET age 7 31", int(1)], ["RI.OPTIMIZE age", OK]],
  },
  {
    name: "STAT", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Returns statistics about a key and its leaves",
    complexity: "O(1) for each leaf of up to 512 ids", keys: [{ at: 1, access: "read" }], args: [key, optional(token("JSON"))],
    reply: "Text, or JSON with `JSON`: type, number of ids, the least and greatest id and value; and leaves, ids and bytes of those that hold "
      + "pairs of id and value, and of those that hold bit slices.", missing: "nil", methods: [{ name: "stat", answer: "text?" }, { name: "statJson", answer: "integer statistics?", word: "JSON" }],
    example: [["RI.SET age 7 31 8 17", int(2)], ["RI.STAT age", bulk(STAT)]],
  },
];

export const about = `# Integers for ids

Commands \`RI.*\` keep one signed 64-bit integer for each id, from 0 to 18446744073709551615, that has one: an age, a score, an amount, or the
time when somebody was last seen. An id without one has none, which is not 0. Keys have the type \`roar-ints\`. Ten million ids with values below
131,072 take 23.5 MB, about two bytes and a half for each; a sorted set takes more than 100. Options, bounds and errors are those of sorted sets
(ZADD, ZRANGE, ZCOUNT), and a key without ids is deleted, as a sorted set is. Bounds \`min\` and \`max\` are integers, \`-inf\`, \`+inf\`, or
\`(\` and an integer that is excluded.

\`WITHIN expression numkeys key [key ...]\`, always last, counts only ids that are members of an [expression](commands.md#query) over bitmaps
of either family:

    RI.SUM paid WITHIN "#1 & #2" 2 vip active:may

**In expressions**, a key of integers is the ids that have a value, and its values can be compared: \`#2 >= 18\`, also with \`<\`, \`<=\`,
\`>\`, \`=\` and \`!=\`; \`18 <= #2 < 30\`; \`#2 < #3\` for the ids that have a value in both keys. Comparisons bind tighter than \`&\`.
This works in QUERY, QUERYSTORE, FACET, CROSSCARD, and WITHIN. A comparison takes 2 to 3 ms for ten million ids, and about 10 ms if both sides
are keys. It takes less where it matters for fewer ids: in \`#1 & #2 >= 18\`, for those near the members of a small bitmap \`#1\` (0.15 ms for 200 of
ten million), and for a page of QUERY with LIMIT, for those from its beginning to its end. Bounds of one key that follow one another, as in
\`18 <= #2 < 30\` or \`#2 >= 18 & #2 < 30\`, are computed in one pass. Commands of \`R.*\` do not see ids above 4294967295.

    R.QUERY "#1 & 18 <= #2 < 30 - #3" 3 vip age lost MEMBERS LIMIT 10
    R.QUERY "#1 >= 1000" 1 seen                        the time was stored by RI.SET seen GT id time
    R.QUERY "#1 < #2" 2 seen:cart seen:payment         an ordered funnel

A rank takes a pass over all values, from 2 ms for ten million on. A leaderboard that mostly asks for ranks is quicker as a sorted set, which
finds them in O(log n); its top is found here in about a millisecond.
`;
