// Questions: expressions over any number of bitmaps.

import { type Command, block, int, integer, key, list, multiple, offset, oneOf, option, optional, string, token } from "./row.ts";

const expression = string("expression"), numkeys = integer("numkeys");

export const questions: Command[] = [
  {
    name: "QUERY", since: "1.0.0", flags: ["readonly"], mayLeave: true,
    summary: "Answers an expression over bitmaps: how many members it has, or which",
    complexity: "O(n) in the size of the expression and of the bitmaps, once for each term that they are in; "
      + "with LIMIT in the size of what is read to find so many members",
    keys: [{ at: 3, access: "read", numbered: true }],
    args: [
      expression, numkeys, multiple(key),
      optional(oneOf("form", block("card", token("CARD"), option("LIMIT", integer("n", "number"))), block("members", token("MEMBERS"), option("FROM", offset()), option("LIMIT", integer("n", "number"))),
        token("EXPORT"))),
    ],
    reply: "With `CARD`, the default, the number of members, at most `n`; with `MEMBERS` the members from `offset` on in ascending order, `n` at most; "
      + "with `EXPORT` what [EXPORT](#export) replies for a bitmap of these members.",
    missing: "empty",
    details: [
      "Nothing is stored, so this command also works on replicas. An expression is made of",
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
      "",
      "`~` binds tightest, then `&` and `-`, then `^`, then `|`. Operators that bind equally are applied from left to right. Parentheses "
      + "group. Among the arguments of a function, `#1..#7` stands for seven keys. White space is ignored, and names of functions may be in "
      + "upper case. Every key must be in the expression. An expression has at most 65,534 keys, 65,535 characters, 131,072 operands and 64 "
      + "levels of parentheses, functions and complements.",
      "",
      "An error says where the expression is wrong, such as `ERR Roaring: query: expected ')' at character 9`. "
      + "`MEMBERS` with a `LIMIT` stops as soon as it has found so many members. To read a long answer page by page, set `FROM` to one more "
      + "than the last member of the page before. `FROM` and `LIMIT` may come in either order. Without `LIMIT`, the members are counted first, because replies have "
      + "[limits](operations.md#limits).",
      "",
      "`CARD` with a `LIMIT` other than 0 stops once it has counted `n` members, so it is the way to ask whether there are so many.",
      "",
      "A term reads a key once, however often it names it. A question that takes longer than `redis-roar.question-ms`, by default five "
      + "seconds, is [ended with an error](operations.md#questions-with-many-operands).",
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
      ["R.QUERY \"atleast(2, #1..#3)\" 3 go rust banned MEMBERS", list(2, 3)],
      ["R.QUERY \"(#1 & #2\" 2 go rust", "(error) ERR Roaring: query: expected ')' at character 9"],
    ],
  },
  {
    name: "QUERYSTORE", since: "1.0.0", flags: ["write", "deny-oom"],
    summary: "Stores the members of an expression over bitmaps",
    complexity: "O(n) in the size of the expression and of the bitmaps, once for each term that they are in",
    keys: [{ at: 1, access: "update" }, { at: 4, access: "read", numbered: true }],
    args: [{ name: "destkey", type: "key" }, expression, numkeys, multiple(key)],
    reply: "The cardinality of the result.", missing: "empty",
    details: "Takes the expressions of [QUERY](#query). The destination may be one of the keys. Its old value, of any type, and its TTL are "
      + "discarded. An empty result is stored as an empty bitmap.",
    methods: [{ name: "queryStore", answer: "count" }],
    example: [
      ["R.SETINTARRAY a 1 2 3", "OK"],
      ["R.SETINTARRAY b 2 3 4", "OK"],
      ["R.QUERYSTORE c \"#1 ^ #2\" 2 a b", int(2)],
      ["R.GETINTARRAY c", list(1, 4)],
    ],
  },
];
