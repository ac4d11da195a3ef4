// What the pages of commands say beyond docs/commands.md: the task that a command is for, what does the same without the module, and what
// to read next.

interface Command {
  /** What native bitmaps or sets have for it. */
  native: string;
  /** Other commands that do nearly the same. */
  also: readonly string[];
}

export interface Task {
  title: string;
  commands: Readonly<Record<string, Command>>;
}

const NONE = "none: read the value and do it in the program";

export const tasks: readonly Task[] = [
  {
    title: "Change and test single members", commands: {
      SETBIT: { native: "`SETBIT`; `SADD`, `SREM`", also: ["SETBITS", "GETBIT", "BITFIELD"] },
      GETBIT: { native: "`GETBIT`; `SISMEMBER`", also: ["GETBITS", "MGETBIT"] },
      SETBITS: { native: "a pipeline of `SETBIT`; `SADD`", also: ["SETBIT", "CLEARBITS", "IMPORT"] },
      CLEARBITS: { native: "a pipeline of `SETBIT key offset 0`; `SREM`", also: ["SETBITS", "CLEARRANGE", "CLEAR"] },
      GETBITS: { native: "a pipeline of `GETBIT`; `SMISMEMBER`", also: ["GETBIT", "MGETBIT"] },
      MGETBIT: { native: "a pipeline of `GETBIT`, one for each key", also: ["GETBITS", "FACET"] },
    },
  },
  {
    title: "Count", commands: {
      BITCOUNT: { native: "`BITCOUNT`; `SCARD`", also: ["MBITCOUNT", "BITOPCARD", "RANK"] },
      MBITCOUNT: { native: "a pipeline of `BITCOUNT`; of `SCARD`", also: ["BITCOUNT", "FACET"] },
      COUNTS: { native: "a pipeline of `BITCOUNT key min max BIT`", also: ["RANK", "BITCOUNT"] },
      BITOPCARD: { native: "`BITOP` into a temporary key, then `BITCOUNT`; `SINTERCARD`", also: ["QUERY", "BITOP", "JACCARD"] },
    },
  },
  {
    title: "Combine and query", commands: {
      QUERY: { native: "several `BITOP` into temporary keys; `SINTER`, `SUNION`, `SDIFF`", also: ["QUERYSTORE", "BITOPCARD", "FACET"] },
      QUERYSTORE: { native: "several `BITOP`; `SINTERSTORE`, `SUNIONSTORE`, `SDIFFSTORE`", also: ["QUERY", "BITOP"] },
      BITOP: { native: "`BITOP`, which does not count its result; `SINTERSTORE`, `SUNIONSTORE`, `SDIFFSTORE`", also: ["BITOPCARD", "QUERYSTORE", "DIFF"] },
      DIFF: { native: "`BITOP DIFF` (Redis 8.2); `SDIFFSTORE`", also: ["BITOP", "QUERYSTORE"] },
    },
  },
  {
    title: "Compare and rank bitmaps", commands: {
      FACET: { native: "a `BITOP` and a `BITCOUNT` for each bitmap; `SINTERCARD` for each set", also: ["CROSSCARD", "QUERY", "JACCARD"] },
      CROSSCARD: { native: "a `BITOP` and a `BITCOUNT` for each pair; `SINTERCARD` for each", also: ["FACET", "BITOPCARD"] },
      JACCARD: { native: "two `BITOP` and two `BITCOUNT`", also: ["FACET", "CONTAINS", "BITOPCARD"] },
      CONTAINS: { native: "`BITOP AND`, then compare `BITCOUNT`s; `SINTERCARD`", also: ["JACCARD", "BITOPCARD"] },
    },
  },
  {
    title: "List members, page by page, at random, by rank", commands: {
      GETINTARRAY: { native: "`GET`, decoded by the program; `BITRANGEINTARRAY` (Redis 8.12); `SMEMBERS`", also: ["SCAN", "RANGE", "QUERY"] },
      RANGE: { native: "`BITRANGEINTARRAY` with `BIT` (Redis 8.12)", also: ["SCAN", "RANGEINTARRAY", "QUERY"] },
      RANGES: { native: NONE, also: ["RANGE", "COUNTS", "SETRANGE"] },
      SCAN: { native: "`SSCAN`, which may repeat members", also: ["RANGE", "QUERY"] },
      RANGEINTARRAY: { native: NONE, also: ["SELECT", "RANGE"] },
      RANK: { native: "`BITCOUNT key 0 offset BIT`", also: ["SELECT", "BITCOUNT"] },
      SELECT: { native: NONE, also: ["RANK", "RANGEINTARRAY"] },
      MIN: { native: "`BITPOS key 1`", also: ["MAX", "BITPOS", "POPMIN"] },
      MAX: { native: NONE, also: ["MIN", "POPMAX"] },
      BITPOS: { native: "`BITPOS`", also: ["MIN", "SELECT"] },
      RANDMEMBER: { native: "`SRANDMEMBER`", also: ["POPMIN", "SELECT"] },
      RANDPOP: { native: "`SPOP`", also: ["RANDMEMBER", "POPMIN"] },
      POPMIN: { native: "`BITPOS` and `SETBIT` in a script; `SPOP`, which takes any member", also: ["POPMAX", "MIN"] },
      POPMAX: { native: NONE, also: ["POPMIN", "MAX"] },
    },
  },
  {
    title: "Change ranges and whole bitmaps", commands: {
      SETRANGE: { native: "`SETRANGE` with bytes of ones", also: ["CLEARRANGE", "FLIPRANGE", "SETFULL"] },
      CLEARRANGE: { native: "`SETRANGE` with bytes of zeros", also: ["SETRANGE", "CLEARBITS", "CLEAR"] },
      FLIPRANGE: { native: NONE, also: ["SETRANGE", "BITOP"] },
      CLEAR: { native: "`DEL`, which also removes the key", also: ["CLEARRANGE", "CLEARBITS"] },
      SETFULL: { native: "none", also: ["SETRANGE"] },
      SETINTARRAY: { native: "`DEL`, then `SADD`", also: ["SETBITS", "APPENDINTARRAY", "IMPORT"] },
      APPENDINTARRAY: { native: "`SADD`", also: ["SETBITS", "SETINTARRAY"] },
      DELETEINTARRAY: { native: "`SREM`", also: ["CLEARBITS"] },
    },
  },
  {
    title: "Integers in bits", commands: {
      BITFIELD: { native: "`BITFIELD`", also: ["BITFIELD_RO", "SETBIT"] },
      BITFIELD_RO: { native: "`BITFIELD_RO`", also: ["BITFIELD", "GETBIT"] },
    },
  },
  {
    title: "Exchange with other types and programs", commands: {
      EXPORT: { native: "`GET`; `DUMP`", also: ["IMPORT", "QUERY"] },
      IMPORT: { native: "`SET`; `RESTORE`", also: ["EXPORT", "FROMBITMAP"] },
      FROMBITMAP: { native: "none", also: ["TOBITMAP", "IMPORT"] },
      TOBITMAP: { native: "none", also: ["FROMBITMAP", "EXPORT"] },
      SETBITARRAY: { native: "none", also: ["GETBITARRAY", "FROMBITMAP"] },
      GETBITARRAY: { native: "none", also: ["SETBITARRAY", "TOBITMAP"] },
    },
  },
  {
    title: "Look inside, and save memory", commands: {
      STAT: { native: "`STRLEN`; `OBJECT ENCODING`", also: ["OPTIMIZE"] },
      OPTIMIZE: { native: "none", also: ["STAT"] },
    },
  },
];
