// The exact bytes of replies, for both families and both protocols. Clients of the C module and of native commands rely on them.

import { describe, expect, it } from "vitest";
import { families, type Family, otherThan } from "../support/family.ts";
import { byName, useServer } from "../support/suite.ts";

/**
 * A command without the prefix of its family, and its reply. In commands, '' is an empty word. In replies, lines end with \n. In both,
 * {F} is the prefix of the family, {bits} is 32 or 64, {last} is the last offset and {end} the greatest end of a range. {big} is the
 * last offset as a reply, and {all} is the number of offsets as a reply. (nil) is the null of the protocol. (txt) marks text that RESP3
 * sends as a verbatim string.
 */
type Row = readonly [command: string, reply: string];

/** Commands before each row: they create two bitmaps, an empty one, a string, and a bitmap of the other family. No other key exists. */
const KEYS: readonly string[] = [
  "{F}.SETINTARRAY k 1 5 9 100", "{F}.SETINTARRAY l 5 9 11", "{F}.SETBIT empty 0 0", "SET string s", "{other}.SETBIT other 1 1",
];

const offsetError = (name: string): string => `-ERR invalid ${name}: must be an unsigned {bits} bit integer`;
const arity = (command: string): string => `-ERR wrong number of arguments for '{F}.${command}' command`;
const WRONGTYPE = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const NO_KEY = "-Roaring: key does not exist";
const LAST = `${offsetError("last")} (NOT takes one source)`;
const SYNTAX = "-ERR syntax error";
const NOT_AN_INTEGER = "-ERR value is not an integer or out of range";
const array = (...items: number[]): string => [`*${items.length}`, ...items.map((item) => `:${item}`)].join("\n");
const bulk = (text: string): string => `$${text.length}\n${text}`;

const bits: readonly Row[] = [
  ["SETBIT none 7 1", ":0"],
  ["SETBIT none 7 0", ":0"],
  ["SETBIT k 5 1", ":1"],
  ["SETBIT k 5 0", ":1"],
  ["SETBIT k {last} 1", ":0"],
  ["SETBIT k x 1", offsetError("offset")],
  ["SETBIT k -1 1", offsetError("offset")],
  ["SETBIT k 18446744073709551616 1", offsetError("offset")],
  ["SETBIT k 1 2", "-ERR invalid value: must be either 0 or 1"],
  ["SETBIT k 1 ''", "-ERR invalid value: must be either 0 or 1"],
  ["SETBIT k 1", arity("SETBIT")],
  ["SETBIT string 1 1", WRONGTYPE],
  ["SETBIT other 1 1", WRONGTYPE],
  ["GETBIT k 5", ":1"],
  ["GETBIT k 6", ":0"],
  ["GETBIT none 6", ":0"],
  ["GETBIT none garbage", offsetError("offset")],
  ["GETBITS k 5 6 100", array(1, 0, 1)],
  ["GETBITS none 5 6", "*0"],
  ["GETBITS none 5 x", offsetError("offset")],
  ["GETBITS k", arity("GETBITS")],
  ["MBITCOUNT k empty none l", array(4, 0, 0, 3)],
  ["MBITCOUNT full k", "*2\n{all}\n:4"],
  ["MBITCOUNT k string", WRONGTYPE],
  ["MBITCOUNT", arity("MBITCOUNT")],
  ["RANDMEMBER none", "(nil)"],
  ["RANDMEMBER none 3", "*0"],
  ["RANDMEMBER empty", "(nil)"],
  ["RANDMEMBER k 4", array(1, 5, 9, 100)],
  ["RANDMEMBER k 0", "*0"],
  ["RANDMEMBER k x", NOT_AN_INTEGER],
  ["RANDMEMBER string x", NOT_AN_INTEGER],
  ["RANDMEMBER k 1 2", SYNTAX],
  ["RANDMEMBER string", WRONGTYPE],
  ["RANDMEMBER", arity("RANDMEMBER")],
  ["RANDPOP none", "(nil)"],
  ["RANDPOP none 3", "*0"],
  ["RANDPOP empty", "(nil)"],
  ["RANDPOP k 4", array(1, 5, 9, 100)],
  ["RANDPOP k 9", array(1, 5, 9, 100)],
  ["RANDPOP k 0", "*0"],
  ["RANDPOP string -1", NOT_AN_INTEGER],
  ["RANDPOP k 1 1", SYNTAX],
  ["RANDPOP other", WRONGTYPE],
  ["RANDPOP", arity("RANDPOP")],
  ["POPMIN none", "(nil)"],
  ["POPMIN empty 3", "*0"],
  ["POPMIN k", ":1"],
  ["POPMIN k 1", array(1)],
  ["POPMIN k 3", array(1, 5, 9)],
  ["POPMIN k 9", array(1, 5, 9, 100)],
  ["POPMIN string -1", NOT_AN_INTEGER],
  ["POPMIN k 1 1", SYNTAX],
  ["POPMIN other", WRONGTYPE],
  ["POPMIN", arity("POPMIN")],
  ["POPMAX none", "(nil)"],
  ["POPMAX k", ":100"],
  ["POPMAX k 3", array(100, 9, 5)],
  ["POPMAX full", "{big}"],
  ["POPMAX string x", NOT_AN_INTEGER],
  ["POPMAX string", WRONGTYPE],
  ["MGETBIT 5 k empty none l", array(1, 0, 0, 1)],
  ["MGETBIT 6 k", array(0)],
  ["MGETBIT {last} full none", array(1, 0)],
  ["MGETBIT x k", offsetError("offset")],
  ["MGETBIT x string", offsetError("offset")],
  ["MGETBIT 5 k string", WRONGTYPE],
  ["MGETBIT 5 other k", WRONGTYPE],
  ["MGETBIT 5", arity("MGETBIT")],
  ["CLEARBITS k 5 6", "+OK"],
  ["CLEARBITS k 5 6 9 COUNT", ":2"],
  ["CLEARBITS k 5 count", ":1"],
  ["CLEARBITS k COUNT", ":0"],
  ["CLEARBITS none 5", "(nil)"],
  ["CLEARBITS none 5 COUNT", "(nil)"],
  ["CLEARBITS k COUNT 5", offsetError("offset")],
  ["CLEAR k", ":4"],
  ["CLEAR empty", ":0"],
  ["CLEAR none", "(nil)"],
  ["MIN k", ":1"],
  ["MAX k", ":100"],
  ["MIN empty", ":-1"],
  ["MAX empty", ":-1"],
  ["MIN none", ":-1"],
  ["MAX none", ":-1"],
];

const arrays: readonly Row[] = [
  ["SETINTARRAY k 3 2 2", "+OK"],
  ["SETINTARRAY k 3 x", offsetError("value")],
  ["SETINTARRAY string 3", WRONGTYPE],
  ["SETINTARRAY k", arity("SETINTARRAY")],
  ["APPENDINTARRAY k 3", "+OK"],
  ["APPENDINTARRAY none 3", "+OK"],
  ["APPENDINTARRAY k -3", offsetError("value")],
  ["DELETEINTARRAY k 1 2", "+OK"],
  ["DELETEINTARRAY none 1", "+OK"],
  ["DELETEINTARRAY k 1 1.5", offsetError("value")],
  ["GETINTARRAY k", array(1, 5, 9, 100)],
  ["GETINTARRAY empty", "*0"],
  ["GETINTARRAY none", "*0"],
  ["GETINTARRAY other", WRONGTYPE],
  ["RANGEINTARRAY k 1 2", array(5, 9)],
  ["RANGEINTARRAY k 3 3", array(100)],
  ["RANGEINTARRAY k 2 99", array(9, 100)],
  ["RANGEINTARRAY k 2 1", "*0"],
  ["RANGEINTARRAY none 0 9", "*0"],
  ["RANGEINTARRAY none 0 100000000", "-Roaring: range too large: maximum 100000000 elements (redis-roar.reply-limit)"],
  ["RANGEINTARRAY string 0 100000000", "-Roaring: range too large: maximum 100000000 elements (redis-roar.reply-limit)"],
  ["RANGEINTARRAY k x 1", offsetError("start")],
  ["RANGEINTARRAY k 1 x", offsetError("end")],
  ["SETBITARRAY k 0110", "+OK"],
  ["SETBITARRAY none ''", "+OK"],
  ["GETBITARRAY l", bulk("000001000101")],
  ["GETBITARRAY empty", bulk("0")],
  ["GETBITARRAY none", "+"],
];

const ranges: readonly Row[] = [
  ["SETRANGE k 2 8", "+OK"],
  ["SETRANGE none 2 2", "+OK"],
  ["SETRANGE k 0 {end}", "+OK"],
  ["SETRANGE k x 8", offsetError("start")],
  ["SETRANGE k 8 x", offsetError("end")],
  ["SETFULL none", "+OK"],
  ["SETFULL k", "-Roaring: key already exist"],
  ["SETFULL empty", "-Roaring: key already exist"],
  ["SETFULL string", WRONGTYPE],
  ["CLEARRANGE k 2 9", ":1"],
  ["CLEARRANGE none 2 9", ":0"],
  ["FLIPRANGE k 4 8", ":6"],
  ["FLIPRANGE none 4 8", ":4"],
];

const indexed: readonly Row[] = [
  ["BITCOUNT k", ":4"],
  ["BITCOUNT none", ":0"],
  ["BITCOUNT none 0 -1", ":0"],
  ["BITCOUNT k 0 0", ":2"],
  ["BITCOUNT k 1 -1 byte", ":2"],
  ["BITCOUNT k 5 9 Bit", ":2"],
  ["BITCOUNT k -1 -2", ":0"],
  ["BITCOUNT k 1", ":2"],
  ["BITCOUNT k -12", ":2"],
  ["BITCOUNT k 13", ":0"],
  ["BITCOUNT none 0", ":0"],
  ["BITCOUNT k x", NOT_AN_INTEGER],
  ["BITCOUNT k 0 BIT", NOT_AN_INTEGER],
  ["BITCOUNT k 0 1 BIT 1", SYNTAX],
  ["BITCOUNT k 0 1 BITS", SYNTAX],
  ["BITCOUNT k 0 x", NOT_AN_INTEGER],
  ["BITPOS k 1", ":1"],
  ["BITPOS k 0", ":0"],
  ["BITPOS k 1 1", ":9"],
  ["BITPOS k 1 13", ":-1"],
  ["BITPOS k 1 6 -1 BIT", ":9"],
  ["BITPOS k 0 12", ":96"],
  ["BITPOS k 0 100 100 BIT", ":-1"],
  ["BITPOS none 1", ":-1"],
  ["BITPOS none 0", ":0"],
  ["BITPOS empty 1", ":-1"],
  ["BITPOS empty 0", ":0"],
  ["BITPOS k 2", "-ERR invalid bit: must be either 0 or 1"],
  ["BITPOS k x", "-ERR invalid bit: must be either 0 or 1"],
  ["BITPOS k 2 0", "-ERR The bit argument must be 1 or 0."],
  ["BITPOS k 1 0 1 BYTES", SYNTAX],
  ["BITPOS k 1 x", NOT_AN_INTEGER],
];

const combined: readonly Row[] = [
  ["BITOP AND d k l", ":2"],
  ["BITOP or d k l", ":5"],
  ["BITOP XOR d k l", ":3"],
  ["BITOP NOT d k", ":97"],
  ["BITOP NOT d k 199", ":196"],
  ["BITOP NOT d none", ":0"],
  ["BITOP DIFF d k l", ":2"],
  ["BITOP DIFF1 d k l", ":1"],
  ["BITOP ANDOR d k l", ":2"],
  ["BITOP ONE d k l", ":3"],
  ["BITOP ONE d k", ":4"],
  ["BITOP ONE d none", ":0"],
  ["BITOP AND d k none", ":0"],
  ["BITOP AND string k", ":4"],
  ["BITOP NAND d k", SYNTAX],
  ["BITOP DIFF d k", arity("BITOP")],
  ["BITOP DIFF1 d k", arity("BITOP")],
  ["BITOP ANDOR d k", arity("BITOP")],
  ["BITOP NOT d k 1 1", arity("BITOP")],
  ["BITOP AND d", arity("BITOP")],
  ["BITOP NOT d k x", LAST],
  ["BITOP NOT d k l", LAST],
  ["BITOP AND d k string", WRONGTYPE],
  ["BITOP OR d other k string", WRONGTYPE],
  ["DIFF d k l", "+OK"],
  ["DIFF d k none", NO_KEY],
  ["DIFF d none k", NO_KEY],
  ["DIFF d k string", WRONGTYPE],
  ["CONTAINS k l", ":1"],
  ["CONTAINS k l ALL", ":0"],
  ["CONTAINS k k all", "-ERR invalid mode argument: all"],
  ["CONTAINS k k ALL_STRICT", ":0"],
  ["CONTAINS k k EQ", ":1"],
  ["CONTAINS k none", NO_KEY],
  ["CONTAINS k l SOME", "-ERR invalid mode argument: SOME"],
  ["JACCARD k l", bulk("0.4")],
  ["JACCARD k k", bulk("1")],
  ["JACCARD k empty", bulk("0")],
  ["JACCARD empty empty", bulk("-1")],
  ["JACCARD none k", NO_KEY],
];

const statistics = (type: string, cardinality: number, containers: number, max: string, min: string, bytes: number): string =>
  `type: ${type}\ncardinality: ${cardinality}\nnumber of containers: ${containers}\nmax value: ${max}\nmin value: ${min}\n`
  + `number of array containers: ${containers}\n\tarray container values: ${cardinality}\n\tarray container bytes: ${bytes}\n`
  + "bitset  containers: 0\n\tbitset  container values: 0\n\tbitset  container bytes: 0\n"
  + "run containers: 0\n\trun container values: 0\n\trun container bytes: 0\n";
const json = (count: number, values: number, bytes: number): string =>
  `{"number_of_containers":"${count}","container_cardinality":"${values}","container_allocated_bytes":"${bytes}"}`;

const form: readonly Row[] = [
  ["OPTIMIZE k", "+OK"],
  ["OPTIMIZE k MEM", "+OK"],
  ["OPTIMIZE k other", "+OK"],
  ["OPTIMIZE none", NO_KEY],
  ["STAT k", `(txt)${statistics("{type}", 4, 1, "100", "1", 8)}`],
  ["STAT k text", `(txt)${statistics("{type}", 4, 1, "100", "1", 8)}`],
  ["STAT empty", `(txt)${statistics("{type}", 0, 0, "0", "{last}", 0)}`],
  [
    "STAT l json",
    '(txt){"type":"{type}","cardinality":"3","number_of_containers":"1","max_value":"11","min_value":"5",'
    + `"array_container":${json(1, 3, 6)},"bitset_container":${json(0, 0, 0)},"run_container":${json(0, 0, 0)}}`,
  ],
  ["STAT none", "(nil)"],
];

/** Commands that the C module does not have. */
const more: readonly Row[] = [
  ["SETBITS k 5 6 7", ":2"],
  ["RANK k 9", ":3"],
  ["RANK none 9", ":0"],
  ["SELECT k 1", ":5"],
  ["SELECT k -1", ":100"],
  ["SELECT k 4", "(nil)"],
  ["SELECT none 0", "(nil)"],
  ["RANGE k 2 50", array(5, 9)],
  ["RANGE k 0 {last} LIMIT 1", array(1)],
  ["RANGE k 0 {last} REV LIMIT 2", array(100, 9)],
  ["RANGE none 0 1", "*0"],
  ["RANGE none 0 1 REV", "*0"],
  ["RANGES k 0 {last}", `*4\n${array(1, 1)}\n${array(5, 5)}\n${array(9, 9)}\n${array(100, 100)}`],
  ["RANGES k 2 9 LIMIT 1", `*1\n${array(5, 5)}`],
  ["RANGES none 0 1", "*0"],
  ["COUNTS k 3 0 {last} 6 4 5 9", array(4, 0, 2)],
  ["COUNTS none 2 0 1 7 7", array(0, 0)],
  ["SCAN k 0 COUNT 2", `*2\n$1\n9\n${array(1, 5)}`],
  ["SCAN k 9", `*2\n$1\n0\n${array(9, 100)}`],
  ["SCAN none 0", "*2\n$1\n0\n*0"],
  ["BITOPCARD AND k l", ":2"],
  ["BITOPCARD ONE k", ":4"],
  ["BITOPCARD OR LIMIT 3 k l", ":3"],
  ["BITOPCARD OR LIMIT 0 k l", ":5"],
  ["BITOPCARD OR LIMIT x string", NOT_AN_INTEGER],
  ["BITOPCARD OR LIMIT 3", arity("BITOPCARD")],
  ["QUERY #1|#2 2 k l CARD LIMIT 3", ":3"],
  ["QUERY #1 1 string CARD LIMIT x", NOT_AN_INTEGER],
  ["BITOPCARD DIFF k", arity("BITOPCARD")],
  ["BITOPCARD DIFF1 k", arity("BITOPCARD")],
  ["BITOPCARD ANDOR k", arity("BITOPCARD")],
  ["BITOPCARD NOT none {last}", "{all}"],
  ["BITFIELD k GET u8 0 OVERFLOW FAIL INCRBY u1 1 1 SET i4 4 -1", "*3\n:68\n(nil)\n:4"],
  ["BITFIELD none GET u8 0", array(0)],
  ["BITFIELD k GET u64 0", "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."],
  ["BITFIELD k GET u8 x", "-ERR bit offset is not an integer or out of range"],
  ["BITFIELD k OVERFLOW x", "-ERR Invalid OVERFLOW type specified"],
  ["BITFIELD_RO k SET u8 0 1", "-ERR BITFIELD_RO only supports the GET subcommand"],
  ["EXPORT none", "(nil)"],
  ["IMPORT k x", "-ERR invalid roaring payload: it is truncated"],
  ["FROMBITMAP k string", ":5"],
  ["FROMBITMAP k none", ":0"],
  ["FROMBITMAP k string OFFSET 7", ":5"],
  ["FROMBITMAP k string OFFSET 7 MERGE", ":8"],
  ["FROMBITMAP k string MERGE OFFSET {last}", "-ERR Roaring: a bit of the string would become an offset above the last"],
  ["FROMBITMAP k string LSB", ":5"],
  ["FROMBITMAP k string LSB OFFSET 7 LSB", SYNTAX],
  ["FROMBITMAP k k OFFSET x", offsetError("offset")],
  ["FROMBITMAP k k MERGE 7", SYNTAX],
  ["FROMBITMAP string string MERGE", WRONGTYPE],
  ["FROMBITMAP string string", ":5"],
  ["FROMBITMAP other string", ":5"],
  ["FROMBITMAP k k", WRONGTYPE],
  ["TOBITMAP string k", ":13"],
  ["TOBITMAP string k LSB", ":13"],
  ["TOBITMAP string none", NO_KEY],
  ["TOBITMAP string none x", SYNTAX],
];

const QUERY = "-ERR Roaring: query:";

/** Without spaces in expressions, because words end there. */
const questions: readonly Row[] = [
  ["QUERY #1&#2 2 k l", ":2"],
  ["QUERY #1|#2 2 k l CARD", ":5"],
  ["QUERY #1 1 none", ":0"],
  ["QUERY ~#1 1 none", "{all}"],
  ["QUERY one(#1..#3) 3 k l empty MEMBERS", array(1, 11, 100)],
  ["QUERY one(#1..#3) 3 k l empty members from 2 limit 1", array(11)],
  ["QUERY ~#1 1 none MEMBERS FROM {last}", "*1\n{big}"],
  ["QUERY #1 1 none MEMBERS", "*0"],
  ["QUERY #1 1 k MEMBERS LIMIT 0", "*0"],
  ["QUERY ~#1 1 none MEMBERS", "-ERR Roaring: reply too large: maximum 100000000 elements (redis-roar.reply-limit)"],
  ["QUERY #1&#2 1 k", `${QUERY} there is no key of that number at character 5`],
  ["QUERY #1 2 k l", `${QUERY} key 2 (#2) is not used`],
  ["QUERY (#1 1 string", `${QUERY} expected ')' at character 4`],
  ["QUERY [2..1]-#1 1 k", `${QUERY} the range ends before it begins at character 5`],
  ["QUERY '' 1 k", `${QUERY} expected an expression at character 1`],
  ["QUERY #1 0 k", "-ERR numkeys should be greater than 0"],
  ["QUERY #1 x k", "-ERR numkeys should be greater than 0"],
  ["QUERY #1 2 k", "-ERR Number of keys can't be greater than number of args"],
  ["QUERY #1 1 k MEMBERS FROM x", offsetError("offset")],
  ["QUERY #1 1 k MEMBERS LIMIT x", NOT_AN_INTEGER],
  ["QUERY #1 1 k LIMIT 1", `${SYNTAX}: more keys than numkeys, or a word other than CARD, MEMBERS and EXPORT`],
  ["QUERY #1 1 k MEMBERS LIMIT 1 LIMIT 1", SYNTAX],
  ["QUERY #1 1 k MEMBERS LIMIT 1 FROM 5", array(5)],
  ["QUERYSTORE d #1 1 k l", `${SYNTAX}: more keys than numkeys`],
  ["QUERY #1 1 string", WRONGTYPE],
  ["QUERY #1 1 other", WRONGTYPE],
  ["QUERY #1 1", arity("QUERY")],
  ["QUERYSTORE d #1|#2 2 k l", ":5"],
  ["QUERYSTORE string #1-#2 2 k l", ":2"],
  ["QUERYSTORE other ~#1 1 none", "{all}"],
  ["QUERYSTORE k #1 1 none", ":0"],
  ["FACET #1 1 k 3 l none empty", array(2, 0, 0)],
  ["FACET #1 1 k 2 l k TOP 1", "*1\n*2\n$1\nk\n:4"],
  ["FACET #1 1 k 2 l none BY JACCARD", "*2\n$3\n0.4\n$1\n0"],
  ["FACET #1 1 k 2 l none BY JACCARD TOP 9", "*1\n*2\n$1\nl\n$3\n0.4"],
  ["FACET #1 1 k 1 string", WRONGTYPE],
  ["FACET #1 1 k 1 l BY x", SYNTAX],
  ["FACET #1 1 k 1", arity("FACET")],
  ["CROSSCARD 2 k none 2 l k", "*2\n*2\n:2\n:4\n*2\n:0\n:0"],
  ["CROSSCARD 1 k 1 l WITHIN #1-[9..9] 1 k", "*1\n*1\n:1"],
  ["CROSSCARD 1 k 1 string", WRONGTYPE],
  ["CROSSCARD 1 k 1", arity("CROSSCARD")],
  ["QUERYSTORE d #1 1 k OFFSET -1 FROM 5 LIMIT 2", ":2"],
  ["QUERYSTORE d #1 1 k LIMIT 0", ":0"],
  ["QUERYSTORE d #1 1 none OFFSET -{last}", ":0"],
  ["QUERYSTORE d #1 1 k OFFSET -2", "-ERR Roaring: a member would be moved out of the range of offsets"],
  ["QUERYSTORE d #1 1 k OFFSET {last}", "-ERR Roaring: a member would be moved out of the range of offsets"],
  ["QUERYSTORE d #1 1 k OFFSET x", "-ERR invalid offset: must be an integer between -{last} and {last}"],
  ["QUERYSTORE d #1 1 k OFFSET +1", "-ERR invalid offset: must be an integer between -{last} and {last}"],
  ["QUERYSTORE d #1 1 k FROM x", offsetError("offset")],
  ["QUERYSTORE d #1 1 k LIMIT -1", NOT_AN_INTEGER],
  ["QUERYSTORE d #1 1 k LIMIT 1 LIMIT 1", SYNTAX],
  ["QUERYSTORE d #1 1 k FROM", SYNTAX],
  ["QUERYSTORE d #1| 1 k", `${QUERY} expected an expression at character 4`],
  ["QUERYSTORE d #1 0 k", "-ERR numkeys should be greater than 0"],
  ["QUERYSTORE d #1 1 k CARD", `${SYNTAX}: more keys than numkeys`],
  ["QUERYSTORE d #1 1 string", WRONGTYPE],
  ["QUERYSTORE d #1 1", arity("QUERYSTORE")],
];

/** Where the families differ. */
const only: Readonly<Record<string, readonly Row[]>> = {
  R: [
    ["QUERY #1 1 k EXPORT", bulk(":0\0\0\x01\0\0\0\0\0\x03\0\x10\0\0\0\x01\0\x05\0\t\0d\0")],
    ["SETBIT k 4294967296 1", offsetError("offset")],
    ["SETBIT k +1 1", offsetError("offset")],
    ["SETBIT k 01 1", offsetError("offset")],
    ["SETRANGE k 5 4", "-ERR invalid end: must be >= start"],
    ["SETRANGE k 5 4294967297", `${offsetError("end")}, or 4294967296`],
    ["BITOPCARD NOT empty 4294967295", ":4294967296"],
  ],
  R64: [
    ["SETBIT k 4294967296 1", ":0"],
    ["SETBIT k +1 1", ":1"],
    ["SETBIT k 01 1", ":1"],
    ["SETRANGE k 5 4", "-ERR invalid end: must >= start"],
    ["SETINTARRAY k 9223372036854775808", "+OK"],
    ["SELECT full 9223372036854775807", ":9223372036854775807"],
    ["SELECT full 9223372036854775808", bulk("9223372036854775808")],
    ["RANGE full 9223372036854775807 9223372036854775808", "*2\n:9223372036854775807\n$19\n9223372036854775808"],
  ],
};

const groups: Readonly<Record<string, readonly Row[]>> = {
  bits, arrays, ranges, indexed, combined, form, more, questions,
  "a full bitmap": [
    ["MAX full", "{big}"],
    ["BITCOUNT full", "{all}"],
    ["BITPOS full 0", ":-1"],
    ["GETINTARRAY full", "-ERR Roaring: reply too large: maximum 100000000 elements (redis-roar.reply-limit)"],
    ["RANGEINTARRAY full {last} {last}", "*1\n{big}"],
    ["SCAN full {last}", "*2\n$1\n0\n*1\n{big}"],
    ["RANGE full 9 {last} REV LIMIT 1", "*1\n{big}"],
    ["RANGES full 0 {last}", "*1\n*2\n:0\n{big}"],
    ["COUNTS full 1 0 {last}", "*1\n{all}"],
    ["CLEAR full", "{all}"],
  ],
};

const variants = families.flatMap((family) =>
  ([2, 3] as const).map((protocol) => ({ family, protocol, name: `${family.name} over RESP${protocol}` })),
);

describe.each(byName(variants))("%s", (_variant, { family, protocol }) => {
  const server = useServer();

  it.each([...Object.values(groups).flat(), ...only[family.name]!])("%s", async (command, reply) => {
    const connection = server.speaking(protocol);
    const preparation = [...KEYS, ...(command.includes("full") ? ["{F}.SETFULL full"] : [])];
    const prepared = await connection.pipeline(preparation.map((words) => wordsOf(words, family)));
    expect(prepared.filter((done) => done instanceof Error)).toEqual([]);
    // The PING proves that the command sent exactly one reply.
    const [actual, next] = await Promise.all([connection.bytes(...wordsOf(`{F}.${command}`, family)), connection.bytes("PING")]);
    expect(actual.toString("latin1")).toBe(bytesOf(reply, family, protocol));
    expect(next.toString("latin1")).toBe("+PONG\r\n");
  });
});

/** An integer reply, or a bulk string from 2^63 on, where RESP's integers end. */
const number = (value: bigint): string => (value < 2n ** 63n ? `:${value}` : bulk(String(value)));

function filled(text: string, family: Family): string {
  const { name, last } = family, narrow = family.bits === 32;
  const values: Record<string, unknown> = {
    F: name, other: otherThan(family).name, bits: family.bits, last, end: narrow ? last + 1n : last,
    big: number(last), all: number(last + 1n), type: narrow ? "bitmap" : "bitmap64",
  };
  return text.replace(/\{(F|other|bits|last|end|big|all|type)\}/g, (_, of: string) => String(values[of]));
}

const wordsOf = (command: string, family: Family): string[] =>
  filled(command, family).split(" ").map((word) => (word === "''" ? "" : word));

function bytesOf(reply: string, family: Family, protocol: 2 | 3): string {
  const text = filled(reply, family);
  if (text.startsWith("(txt)")) {
    const body = text.slice(5);
    return protocol === 2 ? `$${body.length}\r\n${body}\r\n` : `=${body.length + 4}\r\ntxt:${body}\r\n`;
  }
  return `${text}\n`.replaceAll("(nil)", protocol === 2 ? "$-1" : "_").replaceAll("\n", "\r\n");
}
