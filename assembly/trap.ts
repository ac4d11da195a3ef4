// The core with one export more, for tests of the sandbox: a function that reads outside its memory.

import { arena } from "./memory";

export * from "./index";

/** Reads the byte after the arena's last. */
export function trap(): u32 { return load<u8>(arena.size()); }
