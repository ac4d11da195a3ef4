// The settings: configuration parameters redis-roar.*, and module arguments of the same names in upper case. The struct of settings and
// the rows that host/server/config.c reads and registers are generated from here (tools/generate-settings.ts).

interface Common {
  /** The parameter's name. The module argument has it in upper case, unless `switch` says that its presence alone turns the setting on. */
  name: string;
  /** What the value means, for the struct. */
  meaning: string;
  /** It cannot be changed after loading. */
  fixed?: true;
}

interface Words extends Common {
  /** The first one is the default. Values are indexes into this list. */
  words: string[];
  /** What errors about the module argument call the value, if not by the argument. */
  called?: string;
}

interface Amount extends Common {
  least: number;
  /** Without it, any number that a signed integer of 64 bits can hold. */
  most?: number;
  /** Without it, the host decides. */
  initial?: number;
  /** A number of bytes: the parameter accepts units. */
  bytes?: true;
}

interface Switch extends Common {
  switch: true;
}

export type Setting = Words | Amount | Switch;

const MIB = 1024 * 1024;

export const settings: Setting[] = [
  { name: "cpu", fixed: true, words: ["auto", "v2", "v3", "v4", "neon"], called: "CPU level", meaning: "the wanted CPU level" },
  { name: "debug", fixed: true, switch: true, meaning: "whether to register R.DEBUG" },
  { name: "r64-replies", words: ["compatible", "strings"], meaning: "1: 64-bit offsets in replies are always bulk strings" },
  // hiredis refuses longer arrays.
  { name: "reply-limit", least: 1, most: 2 ** 32 - 1, initial: 100_000_000, meaning: "the most members in one reply" },
  // SCAN must be able to return a member, even to a script.
  { name: "reply-limit-bytes", least: 1024, initial: 256 * MIB, bytes: true, meaning: "the most bytes in one reply" },
  // The server itself calls a script slow after this time (busy-reply-threshold), and lets other clients end it.
  { name: "question-ms", least: 0, most: 86_400_000, initial: 5000, meaning: "the most milliseconds that a query may take; 0 for no limit" },
  // More threads than processors gain nothing.
  { name: "threads", least: 0, most: 64, meaning: "how many threads may evaluate queries; 0 for none" },
  // Reading this much takes the core 0.03 ms, for bitsets, to 1 ms. Offloading takes 0.02 ms.
  { name: "threads-from-bytes", least: 0, initial: MIB, bytes: true, meaning: "how many bytes such a query reads or replies at least" },
  // With its prefix of 8 bytes, a full segment fills a size class of the server's allocator.
  { name: "segment-bytes", least: 1024, most: 0xffff_fffe, initial: 256 * 1024 - 8, bytes: true, fixed: true, meaning: "the most that a segment of a large bitmap takes" },
];
