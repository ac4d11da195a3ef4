// Commands on the members of one bitmap: bits, arrays, ranges, queries, fields.

import { type Command, NIL, OK, block, bulk, int, integer, key, list, multiple, oneOf, option, optional, string, token } from "./row.ts";

const start = integer("start"), end = integer("end");
const unit = optional(oneOf("unit", token("BYTE"), token("BIT")));

const LIMIT = "Refused for more than 100,000,000 members: the server builds a reply in full before it sends it.";
const HALF_OPEN = "The range is half open: `start` belongs to it, `end` does not. `R.` takes ends up to 4294967296.";

const INDEXES =
  "Indexes count bytes, or bits with `BIT`, of the string that native `SETBIT` would make of the members; negative ones "
  + "count from its end.";

export const members: Command[] = [
  // --- Bits --------------------------------------------------------------------------------------------------------------------

  {
    name: "SETBIT", since: "1.0.0", flags: ["write", "deny-oom", "fast"],
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
    name: "GETBIT", since: "1.0.0", flags: ["readonly", "fast"],
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
    name: "BITCOUNT", since: "1.0.0", flags: ["readonly"],
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
    name: "BITPOS", since: "1.0.0", flags: ["readonly"],
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
    name: "GETBITS", since: "1.0.0", flags: ["readonly"],
    summary: "Returns the bits at several offsets", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "read" }], args: [key, multiple(integer("offset"))],
    reply: "0 or 1 for each offset.", missing: "[]",
    example: [
      ["R.SETINTARRAY k 1 5", OK],
      ["R.GETBITS k 0 1 5", list(0, 1, 1)],
    ],
  },
  {
    name: "SETBITS", since: "1.0.0", flags: ["write", "deny-oom"],
    summary: "Sets the bits at several offsets, and returns how many were clear", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(integer("offset"))],
    reply: "How many bits went from 0 to 1.", missing: "creates",
    example: [
      ["R.SETBITS k 1 5 9", int(3)],
      ["R.SETBITS k 5 6", int(1)],
    ],
  },
  {
    name: "CLEARBITS", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "CLEAR", since: "1.0.0", flags: ["write"],
    summary: "Removes all members, not the key", complexity: "O(1)",
    keys: [{ at: 1, access: "modify" }], args: [key],
    reply: "How many members there were.", missing: "nil",
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEAR k", int(4)],
      ["EXISTS k", int(1)],
    ],
  },

  // --- Arrays of members -------------------------------------------------------------------------------------------------------

  {
    name: "SETINTARRAY", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "APPENDINTARRAY", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "GETINTARRAY", since: "1.0.0", flags: ["readonly"],
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
    name: "DELETEINTARRAY", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "RANGEINTARRAY", since: "1.0.0", flags: ["readonly"],
    summary: "Returns the members of a range of ranks", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, start, end],
    reply: "The members whose ranks are `start` to `end`, ascending.", missing: "[]",
    details: "Ranks count from 0; both ends are included. A range of more than 100,000,000 ranks is refused. `RANGE` is by members.",
    example: [
      ["R.SETINTARRAY k 10 20 30 40", OK],
      ["R.RANGEINTARRAY k 1 2", list(20, 30)],
    ],
  },

  // --- Ranges ------------------------------------------------------------------------------------------------------------------

  {
    name: "SETRANGE", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "CLEARRANGE", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "FLIPRANGE", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "SETFULL", since: "1.0.0", flags: ["write", "deny-oom"],
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

  // --- Order: least and greatest, ranks, lists ---------------------------------------------------------------------------------

  {
    name: "MIN", since: "1.0.0", flags: ["readonly", "fast"],
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
    name: "MAX", since: "1.0.0", flags: ["readonly", "fast"],
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
    name: "RANK", since: "1.0.0", flags: ["readonly", "fast"],
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
    name: "SELECT", since: "1.0.0", flags: ["readonly", "fast"],
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
    name: "RANGE", since: "1.0.0", flags: ["readonly"],
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
    name: "SCAN", since: "1.0.0", flags: ["readonly"],
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

  // --- Integers ----------------------------------------------------------------------------------------------------------------

  {
    name: "BITFIELD", since: "1.0.0", flags: ["write", "deny-oom"],
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
    name: "BITFIELD_RO", since: "1.0.0", flags: ["readonly", "fast"],
    summary: "Reads integers of any width at any offset", complexity: "O(w log n) for w bits in all",
    keys: [{ at: 1, access: "read" }], args: [key, optional(multiple(block("get-block", token("GET"), string("encoding"), string("offset"))))],
    reply: "The values.", missing: "fields",
    details: "`BITFIELD` with `GET` alone.",
    example: [
      ["R.SETBITS k 0 1", int(2)],
      ["R.BITFIELD_RO k GET u2 0 GET i2 0", list(3, -1)],
    ],
  },
];
