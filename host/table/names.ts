// Commands RN.*: names for ids. They have a type of their own, so they are a table of their own.

import { bulk, type Command, int, integer, key, multiple, NIL, offset, OK, option, string } from "./row.ts";

const name = string("name", "names"), id = offset("id"), dictionary = { ...key, name: "names" };
const SMALL = "of fewer than 64 names, O(n)";

export const names: Command[] = [
  {
    name: "ADD", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "same", parsed: true, summary: "Returns the ids of names, and gives ids to those that have none",
    complexity: `O(1) for each name; in a dictionary ${SMALL}`, keys: [{ at: 1, access: "modify" }], args: [key, multiple(name)],
    reply: "An array of the ids. Names that the dictionary does not have get the next ones, in the order given.", missing: "creates", methods: [{ name: "add", answer: "offsets" }],
    example: [["RN.ADD users ada bob", "1) (integer) 0\n2) (integer) 1"], ["RN.ADD users carol ada", "1) (integer) 2\n2) (integer) 0"]],
  },
  {
    name: "ID", since: "1.0.0", flags: ["readonly"], parsed: true, summary: "Returns the ids of names", complexity: `O(1) for each name; in a dictionary ${SMALL}`,
    keys: [{ at: 1, access: "read" }], args: [key, multiple(name)], reply: "An array of the ids, nil for a name that has none. Nothing is added.",
    missing: "empty", methods: [{ name: "ids", answer: "ids?" }],
    example: [["RN.ADD users ada bob", "1) (integer) 0\n2) (integer) 1"], ["RN.ID users bob eve", "1) (integer) 1\n2) (nil)"]],
  },
  {
    name: "NAME", since: "1.0.0", flags: ["readonly"], parsed: true, summary: "Returns the names of ids", complexity: "O(log n) for each id",
    keys: [{ at: 1, access: "read" }], args: [key, multiple(id)], reply: "An array of the names, nil for an id that has none.", missing: "empty", methods: [{ name: "names", answer: "names?" }],
    example: [["RN.ADD users ada bob", "1) (integer) 0\n2) (integer) 1"], ["RN.NAME users 1 7", `1) ${bulk("bob")}\n2) (nil)`]],
  },
  {
    name: "DEL", since: "1.0.0", flags: ["write"], repeated: "same", parsed: true, summary: "Removes names", complexity: "O(1) for each name, and O(n) in a segment now and then",
    keys: [{ at: 1, access: "modify" }], args: [key, multiple(name)],
    reply: "How many of the names were there. Their ids are not used again. The key stays, even without names.", missing: 0, methods: [{ name: "del", answer: "count" }],
    example: [["RN.ADD users ada bob", "1) (integer) 0\n2) (integer) 1"], ["RN.DEL users ada eve", int(1)], ["RN.ADD users ada", "1) (integer) 2"]],
  },
  {
    name: "CARD", since: "1.0.0", flags: ["readonly", "fast"], parsed: true, summary: "Counts the names", complexity: "O(1) for each segment",
    keys: [{ at: 1, access: "read" }], args: [key], reply: "The number of names.", missing: 0, methods: [{ name: "card", answer: "count" }],
    example: [["RN.ADD users ada bob", "1) (integer) 0\n2) (integer) 1"], ["RN.CARD users", int(2)]],
  },
  {
    name: "SCAN", since: "1.0.0", flags: ["readonly"], summary: "Lists ids and names page by page", complexity: "O(count)",
    keys: [{ at: 1, access: "read" }], args: [key, string("cursor", "offset"), option("COUNT", integer("n", "number"))],
    reply: "The next cursor, `0` at the end, and ids in ascending order, each followed by its name. A page ends early after 256 KiB.",
    missing: "scan", methods: [{ name: "scan", answer: "name page" }],
    example: [["RN.ADD users ada bob", "1) (integer) 0\n2) (integer) 1"], ["RN.SCAN users 0 COUNT 1", `1) ${bulk("1")}\n2) 1) (integer) 0\n   2) ${bulk("ada")}`],
      ["RN.SCAN users 1 COUNT 1", `1) ${bulk("0")}\n2) 1) (integer) 1\n   2) ${bulk("bob")}`]],
  },
  {
    name: "SETBITS", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "same", summary: "Sets the bits of names in a bitmap, and gives ids to those that have none",
    complexity: `O(1) for each name; in a dictionary ${SMALL}`, keys: [{ at: 1, access: "modify" }, { at: 2, access: "modify" }],
    args: [dictionary, key, multiple(name)],
    reply: "How many of the bits were 0. The bitmap is one of `R` or `R64`; a missing one becomes one of `R`.", missing: "creates", methods: [{ name: "setBits", answer: "count" }],
    example: [["RN.SETBITS users read:7 ada bob", int(2)], ["RN.SETBITS users read:7 bob carol", int(1)], ["RN.ID users carol", "1) (integer) 2"]],
    details: "All names are added and all bits are set, or none.",
  },
  {
    name: "GETBITS", since: "1.0.0", flags: ["readonly"], summary: "Returns the bits of names in a bitmap", complexity: `O(1) for each name; in a dictionary ${SMALL}`,
    keys: [{ at: 1, access: "read" }, { at: 2, access: "read" }], args: [dictionary, key, multiple(name)],
    reply: "An array of the bits, 0 for a name that has no id.", missing: "zeros", methods: [{ name: "getBits", answer: "bits" }],
    example: [["RN.SETBITS users read:7 ada bob", int(2)], ["RN.GETBITS users read:7 bob eve", "1) (integer) 1\n2) (integer) 0"]],
  },
  {
    name: "CLEARBITS", since: "1.0.0", flags: ["write"], repeated: "same", summary: "Clears the bits of names in a bitmap",
    complexity: `O(1) for each name; in a dictionary ${SMALL}`, keys: [{ at: 1, access: "read" }, { at: 2, access: "modify" }],
    args: [dictionary, key, multiple(name)], reply: "How many of the bits were 1. No name gets an id or loses it.", missing: 0, methods: [{ name: "clearBits", answer: "count" }],
    example: [["RN.SETBITS users read:7 ada bob", int(2)], ["RN.CLEARBITS users read:7 bob eve", int(1)]],
  },
  {
    name: "QUERY", since: "1.0.0", flags: ["readonly"], mayOffload: true, summary: "Returns the names of the members of an expression over bitmaps, page by page",
    complexity: "O(n) in the size of what is read to find the members, and O(1) for each name, or O(log n) where ids are far apart",
    keys: [{ at: 1, access: "read" }, { at: 4, access: "read", numbered: true }],
    args: [dictionary, string("expression"), integer("numkeys"), multiple(key), option("FROM", id), option("LIMIT", integer("n", "number"))],
    reply: "The id to go on from, nil at the end, and the names of the members from `id` on in the order of their ids, at most `n`. A page ends early where the reply would "
      + "exceed `redis-roar.reply-limit` or `reply-limit-bytes`. Members without a name are left out.",
    missing: "empty", methods: [{ name: "query", answer: "found names" }],
    example: [["RN.SETBITS users read:7 ada bob carol", int(3)], ["RN.SETBITS users read:8 bob eve", int(2)],
      ["RN.QUERY users \"#1 - #2\" 2 read:7 read:8 LIMIT 1", `1) (integer) 2\n2) 1) ${bulk("ada")}`],
      ["RN.QUERY users \"#1 - #2\" 2 read:7 read:8 FROM 2", `1) (nil)\n2) 1) ${bulk("carol")}`]],
    details: "The expression is one of [QUERY](commands.md#query), over bitmaps of either family and integers. A missing dictionary has no names.",
  },
  {
    name: "LOAD", since: "1.0.0", flags: ["write", "deny-oom"], repeated: "differs", summary: "Adds names with given ids, as a rewritten AOF has them",
    complexity: "O(n) in the names", keys: [{ at: 1, access: "modify" }], args: [key, string("payload", "bytes")],
    reply: "`OK`", missing: "creates", methods: [{ name: "loadPayload", answer: "ok" }], example: [["RN.LOAD users \"\\x05\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x03ada\"", OK], ["RN.ID users ada bob", `1) (integer) 5\n2) ${NIL}`]],
    details: "The payload is a part of a dictionary: the first id and the number of ids as 32-bit integers, little endian, and a record for each. "
      + "The server writes it when it rewrites an AOF or moves a key to another server. All of it is checked. The first id must be the next one of the "
      + "dictionary or greater; then the ids in between are not used.",
  },
];

export const about = `# Names for ids

Bitmaps are sets of integers, and many ids are not: UUIDs, large random numbers, mail addresses, tags. Commands \`RN.*\` keep a dictionary that
gives each name an id, from 0 on, and finds both by the other. So a bitmap of a million readers stays small, whatever the ids of
the readers look like. Keys have the type \`roarnames\`.

- **Names** are 1 to 65,535 bytes of anything. **Ids** are given in order, so they are dense, and none is given twice: a name that was deleted and
  added again gets a new one. A dictionary has up to 4,294,967,295 ids, over all its time.
- **UUIDs, hexadecimal and decimal ids are packed** without being told: 36 characters of a UUID, or 32 hexadecimal digits, take 16 bytes, and 19
  decimal digits take 8. The name that comes back is the one that went in, to the byte: letters of either case (not of both
  in one name, which is kept as it is), and zeros at the beginning.
- **Only ADD gives ids.** ID and NAME reply nil for what is not there.

    RN.ADD users 6f1c5b0e-96a6-4b9a-8f0e-3b2f5b1c9d10         the id of this user, a new one if need be
    RN.SETBITS users read:article:7 6f1c5b0e-96a6-4b9a-8f0e-3b2f5b1c9d10       the same, and who has it has read article 7
    RN.NAME users 0 1 2                                       the names of members

The hashes that find names are keyed with a secret that a server draws when it starts, so nobody can choose names that slow it down. COPY costs
the same for a dictionary of any size, and no write copies or moves more than a segment of it ([architecture.md](architecture.md#names-for-ids)).
`;
