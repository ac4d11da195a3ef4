// Queries: expressions over any number of bitmaps.

import { type Arg, type Command, block, bulk, int, integer, key, list, multiple, offset, oneOf, option, optional, string, token } from "./row.ts";

const expression = string("expression"), numkeys = integer("numkeys");

/** A number of keys, followed by the keys. */
const numbered = (number: string, name: string): [Arg, Arg] => [integer(number), multiple({ name, type: "key" })];

export const queries: Command[] = [
  {
    name: "QUERY", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Evaluates an expression over bitmaps, and returns the number of its members or the members",
    complexity: "O(n) in the size of the expression and of the bitmaps, once for each term that contains them; "
      + "with LIMIT in the size of the containers that are read to find n members",
    keys: [{ at: 3, access: "read", numbered: true }],
    args: [
      expression, numkeys, multiple(key),
      optional(oneOf("form", block("card", token("CARD"), option("LIMIT", integer("n", "number"))), block("members", token("MEMBERS"), optional(token("REV")), option("FROM", offset()), option("LIMIT", integer("n", "number"))),
        token("EXPORT"))),
    ],
    reply: "With `CARD`, the default, the number of members, at most `n`; with `MEMBERS` the members from `offset` on in ascending order, or with `REV` in descending order, at most `n`; "
      + "with `EXPORT` what [EXPORT](#export) replies for a bitmap of these members.",
    missing: "empty",
    details: [
      "Nothing is stored, so this command also works on replicas. An expression consists of",
      "",
      "| | Members |",
      "|---|---|",
      "| `#1`, `#2`, ... | those of the first key, the second key, ... |",
      "| `[a..b]` | the offsets from `a` to `b` inclusive |",
      "| `~x` | all offsets of the family that are not in `x` |",
      "| `x & y` | in both |",
      "| `x - y` | in `x` and not in `y` |",
      "| `x ^ y` | in one of the two and not in both |",
      "| `x \\| y` | in `x` or `y` |",
      "| `all(x, ...)` | in all arguments |",
      "| `any(x, ...)` | in any argument |",
      "| `one(x, ...)` | in exactly one argument |",
      "| `atleast(k, x, ...)` | in `k` arguments or more |",
      "| `atmost(k, x, ...)` | in `k` arguments or fewer |",
      "| `exactly(k, x, ...)` | in exactly `k` arguments |",
      "| `#1 >= 18`, `18 <= #1 < 30`, `#1 != 5` | the ids whose [integer](integers.md) in a key of `RI` compares like that |",
      "| `#1 < #2` | the ids that have integers in both keys, which compare like that |",
      "",
      "Comparisons and `~` bind tightest, then `&` and `-`, then `^`, then `|`. Operators that bind equally are applied from left to right. Parentheses "
      + "group. Among the arguments of a function, `#1..#7` stands for seven keys. White space is ignored, and names of functions may be in "
      + "upper case. Every key must be in the expression. An expression has at most 65,534 keys, 65,535 characters, 131,072 operands and 64 "
      + "levels of parentheses, functions and complements.",
      "",
      "An error shows the position of the mistake, such as `ERR Roaring: query: expected ')' at character 9`. "
      + "`MEMBERS` with a `LIMIT` stops as soon as it has found `n` members. To read a long result page by page, set `FROM` to one more "
      + "than the last member of the page before. `REV`, `FROM` and `LIMIT` may come in any order. Without `LIMIT`, the members are counted first, because replies have "
      + "[limits](operations.md#limits).",
      "",
      "With `REV`, `FROM` is the greatest offset to return, by default the family's last one, and the next page begins one below the last member of "
      + "this page. The containers of the result are evaluated from the greatest downwards, so the last ten members cost what ten members at that end "
      + "cost, however large the bitmaps are. For each container, `REV` searches the directories of the keys that have it, so a long "
      + "list of members that are far apart takes [several times as long](operations.md#queries-with-many-operands) as in ascending order.",
      "",
      "`CARD` with a `LIMIT` other than 0 stops once it has counted `n` members, so it is a fast way to check whether there are at least `n`.",
      "",
      "A term reads a key once, even if it names the key several times. A query that takes longer than `redis-roar.question-ms`, by default five "
      + "seconds, is [ended with an error](operations.md#queries-with-many-operands).",
    ].join("\n"),
    methods: [
      { name: "queryCard", answer: "count", word: "CARD", summary: "Returns the number of members of an expression over bitmaps" },
      { name: "queryMembers", answer: "offsets", word: "MEMBERS", summary: "Returns the members of an expression over bitmaps in ascending order" },
      { name: "queryExport", answer: "bytes", word: "EXPORT", summary: "Returns the members of an expression over bitmaps in the portable Roaring format" },
    ],
    example: [
      ["R.SETINTARRAY go 1 2 3 5", "OK"],
      ["R.SETINTARRAY rust 2 3 4", "OK"],
      ["R.SETINTARRAY banned 3", "OK"],
      ["R.QUERY \"(#1 | #2) - #3\" 3 go rust banned", int(4)],
      ["R.QUERY \"(#1 | #2) - #3\" 3 go rust banned CARD LIMIT 2", int(2)],
      ["R.QUERY \"(#1 | #2) - #3\" 3 go rust banned MEMBERS FROM 2 LIMIT 2", list(2, 4)],
      ["R.QUERY \"(#1 | #2) - #3\" 3 go rust banned MEMBERS REV FROM 4 LIMIT 2", list(4, 2)],
      ["R.QUERY \"atleast(2, #1..#3)\" 3 go rust banned MEMBERS", list(2, 3)],
      ["R.QUERY \"(#1 & #2\" 2 go rust", "(error) ERR Roaring: query: expected ')' at character 9"],
    ],
  },
  {
    name: "QUERYSTORE", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "destination", mayOffload: true,
    summary: "Stores the members of an expression over bitmaps",
    complexity: "O(n) in the size of the expression and of the bitmaps, once for each term that contains them",
    keys: [{ at: 1, access: "update" }, { at: 4, access: "read", numbered: true }],
    args: [
      { name: "destkey", type: "key" }, expression, numkeys, multiple(key),
      option("OFFSET", integer("distance", "distance")), option("FROM", offset()), option("LIMIT", integer("limit", "number")),
    ],
    reply: "The cardinality of the result.", missing: "empty",
    details: "Takes the expressions of [QUERY](#query). The destination may be one of the keys. Its old value, of any type, and its TTL are "
      + "discarded. An empty result is stored as an empty bitmap. `FROM` and `LIMIT` store only part of the members: the first `limit` of those that are at least `offset`. "
      + "`OFFSET` adds a number, which may be negative, to each of them. If a member would leave the range of offsets, the command fails and changes nothing. "
      + "Multiples of 65536 are fastest: then containers only get other keys.",
    methods: [{ name: "queryStore", answer: "count" }],
    example: [
      ["R.SETINTARRAY a 1 2 3", "OK"],
      ["R.SETINTARRAY b 2 3 4", "OK"],
      ["R.QUERYSTORE c \"#1 ^ #2\" 2 a b", int(2)],
      ["R.GETINTARRAY c", list(1, 4)],
      ["R.QUERYSTORE c \"#1 | #2\" 2 a b OFFSET 1000 FROM 2 LIMIT 2", int(2)],
      ["R.GETINTARRAY c", list(1002, 1003)],
      ["R.QUERYSTORE c \"#1\" 1 c OFFSET -1002", int(2)],
      ["R.GETINTARRAY c", list(0, 1)],
    ],
  },
  {
    name: "FACET", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Counts the members that an expression shares with each of many bitmaps, or finds the most similar bitmaps",
    complexity: "O(e + n) for an expression that takes O(e), and the total size n of the facets that are read; with TOP only a few are read",
    keys: [{ at: 3, access: "read", numbered: true }, { at: 5, access: "read", numbered: true, behind: 1 }],
    args: [
      expression, numkeys, multiple(key), ...numbered("numfacets", "facet"),
      { ...oneOf("measure", token("CARD"), token("JACCARD"), token("OVERLAP")), token: "BY", optional: true },
      option("TOP", integer("k", "number")), { ...option("MIN", string("n")), needs: "k" },
    ],
    reply: "For each facet, in the order given, a number of members, or with `BY JACCARD` or `BY OVERLAP` a ratio as a string; with `TOP` or `MIN` pairs of "
      + "a facet's key and its number, the largest first.",
    missing: "empties",
    details: [
      "The expression, which is one of [QUERY](#query), is evaluated once and counted against each facet.",
      "",
      "| | For the members E of the expression and F of a facet |",
      "|---|---|",
      "| `BY CARD`, the default | the number of members of E & F |",
      "| `BY JACCARD` | the members of E & F, divided by those of E \\| F; -1 if both are empty |",
      "| `BY OVERLAP` | the members of E & F, divided by those of the smaller of the two; -1 if one of them is empty |",
      "",
      "`TOP k` finds the `k` largest numbers above 0. It reads the facets in descending order of an upper bound that follows from their sizes, each only "
      + "as long as it may be among the first `k`, so most are not read at all. Among equal numbers, the facet that was given first ranks higher. "
      + "`MIN n` omits facets whose number is below `n`: a number of members, or a ratio from 0 to 1 with up to 18 decimal places. Options may come in any order. "
      + "Expression and facets have at most 65,534 keys together.",
      "",
      "Cluster clients and proxies find the keys by `COMMAND GETKEYS`, because key specs cannot describe the position of the second list. All keys must be in one slot.",
    ].join("\n"),
    methods: [
      { name: "facet", answer: "counts", summary: "Counts the members that an expression shares with each of many bitmaps" },
      { name: "facetTop", answer: "ranking", given: "k", summary: "Finds the bitmaps that share the most members with an expression" },
      { name: "facetJaccard", answer: "ratios", word: "JACCARD", summary: "Returns the Jaccard similarity of an expression and each of many bitmaps" },
      { name: "facetJaccardTop", answer: "ratio ranking", word: "JACCARD", given: "k", summary: "Finds the bitmaps with the greatest Jaccard similarity to an expression" },
      { name: "facetOverlap", answer: "ratios", word: "OVERLAP", summary: "Returns the overlap of an expression and each of many bitmaps" },
      { name: "facetOverlapTop", answer: "ratio ranking", word: "OVERLAP", given: "k", summary: "Finds the bitmaps with the greatest overlap with an expression" },
    ],
    example: [
      ["R.SETINTARRAY segment 1 2 3 4", "OK"],
      ["R.SETINTARRAY tag:chess 1 2 9", "OK"],
      ["R.SETINTARRAY tag:go 2 3 4 5", "OK"],
      ["R.SETINTARRAY tag:poker 7", "OK"],
      ["R.FACET #1 1 segment 3 tag:chess tag:go tag:poker", list(2, 3, 0)],
      ["R.FACET \"#1 - [1..1]\" 1 segment 3 tag:chess tag:go tag:poker TOP 2", `1) 1) ${bulk("tag:go")}\n   2) ${int(3)}\n2) 1) ${bulk("tag:chess")}\n   2) ${int(1)}`],
      ["R.FACET #1 1 segment 2 tag:chess tag:go BY JACCARD", list(bulk("0.4"), bulk("0.6"))],
    ],
  },
  {
    name: "CROSSCARD", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Counts the members that each row of bitmaps shares with each column",
    complexity: "O(n + p) for the total size n of all bitmaps, and p pairs of containers of a row and a column",
    keys: [
      { at: 2, access: "read", numbered: true }, { at: 4, access: "read", numbered: true, behind: 1 },
      { at: 8, access: "read", numbered: true, behind: 3 },
    ],
    args: [
      ...numbered("numrows", "row"), ...numbered("numcols", "column"),
      { ...block("within", { ...expression, token: "WITHIN" }, numkeys, multiple(key)), kind: "question", optional: true },
    ],
    reply: "For each row an array with one number for each column: how many members the two share. With `WITHIN`, only members of the expression count.",
    missing: "empties",
    details: "All bitmaps are read once, in one pass. The expression is one of [QUERY](#query), and is evaluated once. Rows, columns and the "
      + "expression have at most 65,534 keys together. As with [FACET](#facet), `COMMAND GETKEYS` finds the keys.",
    methods: [{ name: "crossCard", answer: "table" }],
    example: [
      ["R.SETINTARRAY joined:mon 1 2 3", "OK"],
      ["R.SETINTARRAY joined:tue 4 5", "OK"],
      ["R.SETINTARRAY active:mon 1 2", "OK"],
      ["R.SETINTARRAY active:tue 1 3 4", "OK"],
      ["R.CROSSCARD 2 joined:mon joined:tue 2 active:mon active:tue", `1) 1) ${int(2)}\n   2) ${int(2)}\n2) 1) ${int(0)}\n   2) ${int(1)}`],
      ["R.CROSSCARD 1 joined:mon 2 active:mon active:tue WITHIN \"~#1\" 1 joined:tue", `1) 1) ${int(2)}\n   2) ${int(2)}`],
    ],
  },
];
