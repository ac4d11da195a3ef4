// Commands on the members of one bitmap: bits, arrays, ranges, queries, fields.

import { type Arg, type Command, NIL, OK, block, bulk, int, integer, key, list, multiple, offset, oneOf, option, optional, pairs, string, token } from "./row.ts";

const start = offset("start"), end = integer("end", "end");
const unit = optional(oneOf("unit", token("BYTE"), token("BIT")));
const range: Arg = {
  ...optional(block("range", integer("start"), optional(block("end-unit-block", integer("end"), unit)))), kind: "range",
};

const LIMIT = "A reply above the [limits](operations.md#limits) is refused, because the server builds the whole reply before it sends any of it.";
const HALF_OPEN = "The range includes `start` and excludes `end`. Ends go up to 4294967296 with `R.`, and to 18446744073709551616 with `R64.`.";
const REMOVES =
  "The server accepts this command above `maxmemory`, so that it can make room; see [what it takes meanwhile](operations.md#memory).";

const INDEXES =
  "`start` and `end` are indexes of bytes (`BYTE`, the default) or bits (`BIT`) in the string that native `SETBIT` would make of the "
  + "same members. The range includes both. Negative indexes count from the end of the string.";

const fields = (operation: Arg): Arg => ({ ...optional(multiple(operation)), kind: "operations" });

export const members: Command[] = [
  // --- Bits --------------------------------------------------------------------------------------------------------------------

  {
    name: "SETBIT", since: "1.0.0", flags: ["write", "deny-oom", "fast"], parsed: true, repeated: "same",
    summary: "Sets or clears the bit at an offset, and returns its previous value", complexity: "O(log n)",
    keys: [{ at: 1, access: "modify" }], args: [key, offset(), integer("value", "bit")],
    reply: "The bit's previous value, 0 or 1.", missing: "creates",
    details: "Clearing a bit of a missing key creates an empty bitmap.",
    methods: [{ name: "setBit", answer: "bit" }],
    example: [
      ["R.SETBIT k 7 1", int(0)],
      ["R.SETBIT k 7 0", int(1)],
    ],
  },
  {
    name: "GETBIT", since: "1.0.0", flags: ["readonly", "fast"], parsed: true,
    summary: "Returns the bit at an offset", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, offset()],
    reply: "0 or 1.", missing: 0,
    methods: [{ name: "getBit", answer: "bit" }],
    example: [
      ["R.SETBIT k 7 1", int(0)],
      ["R.GETBIT k 7", int(1)],
      ["R.GETBIT k 8", int(0)],
    ],
  },
  {
    name: "BITCOUNT", since: "1.0.0", flags: ["readonly"],
    summary: "Counts the members of a bitmap, or those in a range", complexity: "O(1); O(log n) with a range",
    keys: [{ at: 1, access: "read" }],
    args: [key, range],
    reply: "The number of members.", missing: 0, details: `${INDEXES} Without \`end\`, the range extends to the end of the string.`,
    methods: [{ name: "bitCount", answer: "count" }],
    example: [
      ["R.SETINTARRAY k 1 5 9 100", OK],
      ["R.BITCOUNT k", int(4)],
      ["R.BITCOUNT k 0 0", int(2)],
      ["R.BITCOUNT k 1", int(2)],
      ["R.BITCOUNT k 5 -1 BIT", int(3)],
    ],
  },
  {
    name: "MBITCOUNT", since: "1.0.0", flags: ["readonly"],
    summary: "Counts the members of several bitmaps", complexity: "O(k) for k keys",
    keys: [{ at: 1, to: -1, access: "read" }], args: [multiple(key)],
    reply: "The number of members of each key.", missing: "zeros",
    details: "One call returns the counts for a page, such as the likes of fifty posts.",
    methods: [{ name: "mBitCount", answer: "counts" }],
    example: [
      ["R.SETINTARRAY likes:1 7 9", OK],
      ["R.SETINTARRAY likes:2 7 8 9", OK],
      ["R.MBITCOUNT likes:1 likes:2 likes:3", list(2, 3, 0)],
    ],
  },
  {
    name: "BITPOS", since: "1.0.0", flags: ["readonly"],
    summary: "Finds the first set or clear bit of a bitmap, or in a range", complexity: "O(log n); O(n) to find a clear bit after a run of set bits",
    keys: [{ at: 1, access: "read" }],
    args: [key, integer("bit", "bit"), range],
    reply: "The bit's offset from the start of the bitmap, or -1 if there is no such bit.", missing: -1,
    details: `${INDEXES} Without \`end\`, the first clear bit may lie beyond the last member. The first clear bit of a missing key is 0. That of an empty bitmap is 0 too, but -1 if a range is given, because `
      + "no bit is in the range. With a range, native `BITPOS` replies the same for an empty string.",
    methods: [{ name: "bitPos", answer: "offset?" }],
    example: [
      ["R.SETINTARRAY k 0 1 9", OK],
      ["R.BITPOS k 1", int(0)],
      ["R.BITPOS k 0", int(2)],
      ["R.BITPOS k 1 1", int(9)],
      ["R.CLEAR k", int(3)],
      ["R.BITPOS k 0", int(0)],
      ["R.BITPOS k 0 0 -1", int(-1)],
    ],
  },
  {
    name: "GETBITS", since: "1.0.0", flags: ["readonly"], parsed: true,
    summary: "Returns the bits at several offsets", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "read" }], args: [key, multiple(offset())],
    reply: "0 or 1 for each offset.", missing: "[]",
    methods: [{ name: "getBits", answer: "bits" }],
    example: [
      ["R.SETINTARRAY k 1 5", OK],
      ["R.GETBITS k 0 1 5", list(0, 1, 1)],
    ],
  },
  {
    name: "MGETBIT", since: "1.0.0", flags: ["readonly"], parsed: true,
    summary: "Returns the bit at one offset of several bitmaps", complexity: "O(k log n) for k keys",
    keys: [{ at: 2, to: -1, access: "read" }], args: [offset(), multiple(key)],
    reply: "0 or 1 for each key.", missing: "zeros",
    details: "One call shows which of many bitmaps contain an offset, such as the tags of a user.",
    methods: [{ name: "mGetBit", answer: "bits" }],
    example: [
      ["R.SETINTARRAY tag:chess 7 9", OK],
      ["R.SETINTARRAY tag:go 8 9", OK],
      ["R.MGETBIT 7 tag:chess tag:go none", list(1, 0, 0)],
    ],
  },
  {
    name: "SETBITS", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "same",
    summary: "Sets the bits at several offsets, and returns how many were clear", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(offset())],
    reply: "The number of bits that changed from 0 to 1.", missing: "creates",
    methods: [{ name: "setBits", answer: "count" }],
    example: [
      ["R.SETBITS k 1 5 9", int(3)],
      ["R.SETBITS k 5 6", int(1)],
    ],
  },
  {
    name: "CLEARBITS", since: "1.0.0", flags: ["write"], parsed: true, repeated: "same",
    summary: "Clears the bits at several offsets", complexity: "O(m log n) for m offsets",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(offset()), optional(token("COUNT"))],
    reply: "`OK`; with `COUNT` the number of bits that changed from 1 to 0.", missing: "nil",
    details: `Only the last argument can be \`COUNT\`. \`CLEARBITS key COUNT\`, without offsets, clears nothing and replies 0. ${REMOVES}`,
    methods: [
      { name: "clearBits", answer: "ok?" },
      { name: "clearBitsCount", answer: "count?", word: "COUNT", summary: "Clears the bits at several offsets, and returns how many were set" },
    ],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEARBITS k 2 7 COUNT", int(1)],
      ["R.CLEARBITS k 1", OK],
      ["R.GETINTARRAY k", list(3, 9)],
      ["R.CLEARBITS none 1", NIL],
    ],
  },
  {
    name: "CLEAR", since: "1.0.0", flags: ["write"], parsed: true, repeated: "same",
    summary: "Removes all members of a bitmap and keeps the key", complexity: "O(1)",
    keys: [{ at: 1, access: "modify" }], args: [key],
    reply: "The number of members removed.", missing: "nil",
    methods: [{ name: "clear", answer: "count?" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEAR k", int(4)],
      ["EXISTS k", int(1)],
    ],
  },

  // --- Arrays of members -------------------------------------------------------------------------------------------------------

  {
    name: "SETINTARRAY", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "same",
    summary: "Creates a bitmap from values", complexity: "O(m log m) for m values",
    keys: [{ at: 1, access: "overwrite" }], args: [key, multiple(offset("value"))],
    reply: "`OK`.", missing: "creates",
    details: "Values may be in any order. The key's old value and TTL are discarded.",
    methods: [{ name: "setIntArray", answer: "ok" }],
    example: [
      ["R.SETINTARRAY k 9 3 3", OK],
      ["R.GETINTARRAY k", list(3, 9)],
    ],
  },
  {
    name: "APPENDINTARRAY", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "same",
    summary: "Adds values to a bitmap", complexity: "O(m log n) for m values",
    keys: [{ at: 1, access: "insert" }], args: [key, multiple(offset("value"))],
    reply: "`OK`.", missing: "creates",
    methods: [{ name: "appendIntArray", answer: "ok" }],
    example: [
      ["R.SETINTARRAY k 3 9", OK],
      ["R.APPENDINTARRAY k 5 9", OK],
      ["R.GETINTARRAY k", list(3, 5, 9)],
    ],
  },
  {
    name: "GETINTARRAY", since: "1.0.0", flags: ["readonly"], parsed: true, mayOffload: true,
    summary: "Returns all members of a bitmap", complexity: "O(n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The members in ascending order.", missing: "[]",
    details: LIMIT,
    methods: [{ name: "getIntArray", answer: "offsets" }],
    example: [
      ["R.SETINTARRAY k 9 3", OK],
      ["R.GETINTARRAY k", list(3, 9)],
      ["R.GETINTARRAY none", list()],
    ],
  },
  {
    name: "DELETEINTARRAY", since: "1.0.0", flags: ["write"], parsed: true, repeated: "same",
    summary: "Removes values from a bitmap", complexity: "O(m log n) for m values",
    keys: [{ at: 1, access: "update" }], args: [key, multiple(offset("value"))],
    reply: "`OK`.", missing: "creates",
    details: `A missing key becomes an empty bitmap, but above \`maxmemory\` it is refused. ${REMOVES}`,
    methods: [{ name: "deleteIntArray", answer: "ok" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.DELETEINTARRAY k 2 3 4", OK],
      ["R.GETINTARRAY k", list(1, 9)],
    ],
  },
  {
    name: "RANGEINTARRAY", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Returns the members in a range of ranks", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, start, offset("end")],
    reply: "The members with ranks `start` to `end`, in ascending order.", missing: "[]",
    details: `Ranks count from 0, and the range includes both ends. ${LIMIT} To select by member rather than by rank, use \`RANGE\`.`,
    methods: [{ name: "rangeIntArray", answer: "offsets" }],
    example: [
      ["R.SETINTARRAY k 10 20 30 40", OK],
      ["R.RANGEINTARRAY k 1 2", list(20, 30)],
    ],
  },

  // --- Ranges ------------------------------------------------------------------------------------------------------------------

  {
    name: "SETRANGE", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "same",
    summary: "Sets all bits in a range", complexity: "O(log n + c) for c containers in the range",
    keys: [{ at: 1, access: "insert" }], args: [key, start, end],
    reply: "`OK`.", missing: "creates",
    details: `${HALF_OPEN} An empty range creates an empty bitmap.`,
    methods: [{ name: "setRange", answer: "ok" }],
    example: [
      ["R.SETRANGE k 10 1000000", OK],
      ["R.BITCOUNT k", int(999990)],
    ],
  },
  {
    name: "CLEARRANGE", since: "1.0.0", flags: ["write"], parsed: true, repeated: "same",
    summary: "Clears all bits in a range, and returns how many were set", complexity: "O(log n + c) for c containers in the range",
    keys: [{ at: 1, access: "modify" }], args: [key, start, end],
    reply: "The number of bits that changed from 1 to 0.", missing: 0,
    details: `${HALF_OPEN} ${REMOVES}`,
    methods: [{ name: "clearRange", answer: "count" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.CLEARRANGE k 2 9", int(2)],
      ["R.GETINTARRAY k", list(1, 9)],
    ],
  },
  {
    name: "FLIPRANGE", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "differs",
    summary: "Inverts all bits in a range, and returns the new number of members", complexity: "O(log n + c) for c containers in the range",
    keys: [{ at: 1, access: "modify" }], args: [key, start, end],
    reply: "The number of members after the change.", missing: "creates",
    details: HALF_OPEN,
    methods: [{ name: "flipRange", answer: "count" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.FLIPRANGE k 2 6", int(4)],
      ["R.GETINTARRAY k", list(1, 4, 5, 9)],
    ],
  },
  {
    name: "SETFULL", since: "1.0.0", flags: ["write", "deny-oom"], parsed: true, repeated: "same",
    summary: "Creates a bitmap that holds every offset", complexity: "O(1)",
    keys: [{ at: 1, access: "insert" }], args: [key],
    reply: "`OK`.", missing: "creates",
    details: "If the key exists, the reply is the error `Roaring: key already exist`. A full bitmap takes little more memory than an empty one, even with 2^64 members.",
    methods: [{ name: "setFull", answer: "ok" }],
    example: [
      ["R.SETFULL k", OK],
      ["R.BITCOUNT k", int(4294967296)],
      ["R.SETFULL k", "(error) Roaring: key already exist"],
    ],
  },

  // --- Queries: extremes, ranks, lists of members ------------------------------------------------------------------------------

  {
    name: "MIN", since: "1.0.0", flags: ["readonly", "fast"], parsed: true,
    summary: "Returns the smallest member", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The member, or -1 if the bitmap is empty.", missing: -1,
    methods: [{ name: "min", answer: "offset?" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.MIN k", int(1)],
      ["R.MIN none", int(-1)],
    ],
  },
  {
    name: "MAX", since: "1.0.0", flags: ["readonly", "fast"], parsed: true,
    summary: "Returns the largest member", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key],
    reply: "The member, or -1 if the bitmap is empty.", missing: -1,
    methods: [{ name: "max", answer: "offset?" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.MAX k", int(9)],
      ["R.MAX none", int(-1)],
    ],
  },
  {
    name: "RANK", since: "1.0.0", flags: ["readonly", "fast"], parsed: true,
    summary: "Counts the members less than or equal to an offset", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, offset()],
    reply: "The number of members less than or equal to `offset`.", missing: 0,
    methods: [{ name: "rank", answer: "count" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.RANK k 3", int(3)],
      ["R.RANK k 8", int(3)],
      ["R.RANK k 0", int(0)],
    ],
  },
  {
    name: "SELECT", since: "1.0.0", flags: ["readonly", "fast"], parsed: true,
    summary: "Returns the member with a given rank", complexity: "O(log n)",
    keys: [{ at: 1, access: "read" }], args: [key, integer("rank", "rank")],
    reply: "The member, or nil if the rank is out of range.", missing: "nil",
    details: "Ranks count from 0. Negative ranks count from the end: -1 is the largest member.",
    methods: [{ name: "select", answer: "offset?" }],
    example: [
      ["R.SETINTARRAY k 1 2 3 9", OK],
      ["R.SELECT k 0", int(1)],
      ["R.SELECT k -1", int(9)],
      ["R.SELECT k 4", NIL],
    ],
  },
  {
    name: "RANGE", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Returns the members between two offsets", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, offset("min"), offset("max"), optional(token("REV")), option("LIMIT", integer("n", "number"))],
    reply: "The members from `min` to `max` inclusive, in ascending order, with `REV` in descending order; with `LIMIT` only the first `n`.", missing: "[]",
    details: `\`REV\` and \`LIMIT\` may come in either order. With \`REV\`, too, only the members that are returned are read. ${LIMIT}`,
    methods: [{ name: "range", answer: "offsets" }],
    example: [
      ["R.SETINTARRAY k 10 20 30 40", OK],
      ["R.RANGE k 15 40", list(20, 30, 40)],
      ["R.RANGE k 15 40 LIMIT 1", list(20)],
      ["R.RANGE k 15 40 REV LIMIT 2", list(40, 30)],
    ],
  },
  {
    name: "RANGES", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Returns the runs of consecutive members between two offsets",
    complexity: "O(log n + m) for the containers with the m runs returned",
    keys: [{ at: 1, access: "read" }], args: [key, offset("min"), offset("max"), option("LIMIT", integer("n", "number"))],
    reply: "An array of pairs, the first and the last member of each run, in ascending order; with `LIMIT` only the first `n` pairs.", missing: "[]",
    details: "A run is as long as possible: the offset before its first member and the one after its last member are not members, or not between `min` "
      + `and \`max\`. A run of any length is one pair, and costs as much as one of any other length if its containers are full. Each pair counts as two elements of the reply. ${LIMIT}`,
    methods: [{ name: "ranges", answer: "ranges" }],
    example: [
      ["R.SETRANGE k 10 20", OK],
      ["R.SETBITS k 30 31 40", int(3)],
      ["R.RANGES k 0 4294967295", pairs([10, 19], [30, 31], [40, 40])],
      ["R.RANGES k 15 30", pairs([15, 19], [30, 30])],
      ["R.RANGES k 15 40 LIMIT 1", pairs([15, 19])],
    ],
  },
  {
    name: "COUNTS", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Counts the members of each of several ranges", complexity: "O(log n) for each range",
    keys: [{ at: 1, access: "read" }], args: [key, integer("numranges"), { ...multiple(block("range", offset("min"), offset("max"))), kind: "ranges" }],
    reply: "An array: for each range, the number of members from `min` to `max` inclusive.", missing: "zeros",
    details: "`numranges` is the number of ranges. They may overlap and come in any order. A range with `min` above `max` is empty.",
    methods: [{ name: "rangeCounts", answer: "counts" }],
    example: [
      ["R.SETINTARRAY k 10 20 30 40", OK],
      ["R.COUNTS k 2 0 25 15 40", list(2, 3)],
      ["R.COUNTS none 1 0 9", list(0)],
    ],
  },
  {
    name: "SCAN", since: "1.0.0", flags: ["readonly"], mayOffload: true,
    summary: "Iterates over the members of a bitmap", complexity: "O(log n + m) for m members returned",
    keys: [{ at: 1, access: "read" }], args: [key, offset("cursor"), option("COUNT", integer("n", "number"))],
    reply: "The cursor for the next call, and an array of members. Cursor `0` means that the iteration is complete.", missing: "scan",
    details: "Start with cursor 0. The cursor is the smallest member not yet returned, so a member that is present throughout the iteration is returned exactly once, even if other members change meanwhile. `COUNT` defaults to 10; a call returns at most as many members as the [limits](operations.md#limits) allow.",
    methods: [{ name: "scan", answer: "page" }],
    example: [
      ["R.SETINTARRAY k 10 20 30", OK],
      ["R.SCAN k 0 COUNT 2", list(bulk("30"), "1) (integer) 10\n   2) (integer) 20")],
      ["R.SCAN k 30 COUNT 2", list(bulk("0"), "1) (integer) 30")],
    ],
  },

  // --- Samples, and members taken from either end ------------------------------------------------------------------------------

  {
    name: "RANDMEMBER", since: "1.0.0", flags: ["readonly"], tips: ["nondeterministic_output"], mayOffload: true,
    summary: "Returns members at random", complexity: "O(k log n) for k members",
    keys: [{ at: 1, access: "read" }], args: [key, optional(integer("count", "draws"))],
    reply: "A member, or nil if there is none; with `count` an array of members.", missing: "nil or []",
    details: "Every member is equally likely. A positive `count` returns that many different members, or all if there are fewer, in "
      + `ascending order. A negative one returns that many members that are drawn independently, so that some may repeat, as with native \`SRANDMEMBER\`. ${LIMIT}`,
    methods: [
      { name: "randMember", answer: "offset?", summary: "Returns a member at random" },
      { name: "randMembers", answer: "offsets", given: "count", summary: "Returns several members at random" },
    ],
    example: [
      ["R.SETINTARRAY k 7", OK],
      ["R.RANDMEMBER k", int(7)],
      ["R.RANDMEMBER k 5", list(7)],
      ["R.RANDMEMBER k -3", list(7, 7, 7)],
      ["R.RANDMEMBER none", NIL],
    ],
  },
  {
    name: "POPMIN", since: "1.0.0", flags: ["write"], repeated: "differs", mayOffload: "reply",
    summary: "Removes the smallest members, and returns them", complexity: "O(k log n) for k members",
    keys: [{ at: 1, access: "modify" }], args: [key, optional(integer("count", "number"))],
    reply: "The smallest member, or nil if there is none; with `count` an array of that many members, or of all if there are no more, in ascending order.", missing: "nil or []",
    details: `Can draw the next number from a pool. When its last member is removed, the key remains as an empty bitmap. A list above the limits of replies is refused. ${REMOVES}`,
    methods: [
      { name: "popMin", answer: "offset?", summary: "Removes the smallest member, and returns it" },
      { name: "popMins", answer: "offsets", given: "count" },
    ],
    example: [
      ["R.SETINTARRAY free 3 5 8 9", OK],
      ["R.POPMIN free", int(3)],
      ["R.POPMIN free 2", list(5, 8)],
      ["R.GETINTARRAY free", list(9)],
    ],
  },
  {
    name: "POPMAX", since: "1.0.0", flags: ["write"], repeated: "differs", mayOffload: "reply",
    summary: "Removes the largest members, and returns them", complexity: "O(k log n) for k members",
    keys: [{ at: 1, access: "modify" }], args: [key, optional(integer("count", "number"))],
    reply: "The largest member, or nil if there is none; with `count` an array of that many members, or of all if there are no more, in descending order.", missing: "nil or []",
    details: `When its last member is removed, the key remains as an empty bitmap. A list above the limits of replies is refused. ${REMOVES}`,
    methods: [
      { name: "popMax", answer: "offset?", summary: "Removes the largest member, and returns it" },
      { name: "popMaxes", answer: "offsets", given: "count" },
    ],
    example: [
      ["R.SETINTARRAY k 3 5 8 9", OK],
      ["R.POPMAX k", int(9)],
      ["R.POPMAX k 2", list(8, 5)],
      ["R.GETINTARRAY k", list(3)],
    ],
  },
  {
    name: "RANDPOP", since: "1.0.0", flags: ["write"], tips: ["nondeterministic_output"], repeated: "differs", mayOffload: "reply",
    summary: "Removes members at random, and returns them", complexity: "O(k log n) for k members",
    keys: [{ at: 1, access: "modify" }], args: [key, optional(integer("count", "number"))],
    reply: "The member removed, or nil if there is none; with `count` an array of that many members, or of all if there are no more, in ascending order.", missing: "nil or []",
    details: "Every member is equally likely, as with native `SPOP`. When its last member is removed, the key is deleted, again as with `SPOP` and unlike `POPMIN`. Replicas and the AOF get `CLEARBITS` of "
      + `the members, or \`DEL\`. More than 100,000 members at a time are refused, unless they are all, and so is a list above the limits of replies. ${REMOVES}`,
    methods: [
      { name: "randPop", answer: "offset?", summary: "Removes a member at random, and returns it" },
      { name: "randPops", answer: "offsets", given: "count", summary: "Removes several members at random, and returns them" },
    ],
    example: [
      ["R.SETINTARRAY raffle 7", OK],
      ["R.RANDPOP raffle", int(7)],
      ["EXISTS raffle", int(0)],
      ["R.RANDPOP raffle 5", list()],
    ],
  },

  // --- Fields: integers --------------------------------------------------------------------------------------------------------

  {
    name: "BITFIELD", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "differs",
    summary: "Reads and writes integers of any width at any offset", complexity: "O(w log n) for fields of w bits in total",
    keys: [{ at: 1, access: "modify" }], args: [
      key,
      fields(oneOf("operation",
        block("get-block", token("GET"), string("encoding"), string("offset")),
        block("write", optional(oneOf("overflow-block", ...["WRAP", "SAT", "FAIL"].map((word) => block(word.toLowerCase(), token("OVERFLOW"), token(word))))),
          oneOf("write-operation",
            block("set-block", token("SET"), string("encoding"), string("offset"), integer("value")),
            block("incrby-block", token("INCRBY"), string("encoding"), string("offset"), integer("increment")))))),
    ],
    reply: "For each operation the value read by `GET`, the previous value for `SET`, or the new value for `INCRBY`; nil if `OVERFLOW FAIL` prevented a write.", missing: "zeros",
    details: "Like native `BITFIELD`: encodings are `i1` to `i64` and `u1` to `u63`; an offset counts bits or, written as `#n`, fields of that width; the bit at the offset is the most significant one. Only writes create the key. A field must not extend beyond the last offset.",
    methods: [{ name: "bitField", answer: "fields" }],
    example: [
      ["R.BITFIELD k SET u8 0 200 INCRBY u8 0 100", list(0, 44)],
      ["R.BITFIELD k OVERFLOW SAT INCRBY u8 0 1000 GET u4 #0", list(255, 15)],
    ],
  },
  {
    name: "BITFIELD_RO", since: "1.0.0", flags: ["readonly", "fast"],
    summary: "Reads integers of any width at any offset", complexity: "O(w log n) for fields of w bits in total",
    keys: [{ at: 1, access: "read" }], args: [key, fields(block("get-block", token("GET"), string("encoding"), string("offset")))],
    reply: "The values, in the order of the operations.", missing: "zeros",
    details: "Like `BITFIELD`, with `GET` as the only operation.",
    methods: [{ name: "bitFieldRo", answer: "fields" }],
    example: [
      ["R.SETBITS k 0 1", int(2)],
      ["R.BITFIELD_RO k GET u2 0 GET i2 0", list(3, -1)],
    ],
  },
];
