// The bytes that a bitmap takes in a server, as MEMORY USAGE says. It follows host/core/bitmap.c, the size classes of jemalloc, and what
// each server counts for a key. test/cli/sizes.test.ts compares it with servers, byte for byte.

// --- host/core/bitmap.c -----------------------------------------------------------------------------------------------------------------

/** The bytes before an arena that has no size of its own. */
const PREFIX_BYTES = 8;
/** An arena of up to so many bytes has none; the least bytes of its block, and what they are a multiple of. */
const SMALL_MOST = 4096, LEAST_BYTES = 32, CLASS_BYTES = 16;

/** The bytes that the module asks its allocator for, for an arena that uses that many. */
function requestedBytes(used: number): number {
  return used <= SMALL_MOST ? Math.max(LEAST_BYTES, Math.ceil(used / CLASS_BYTES) * CLASS_BYTES) : PREFIX_BYTES + used;
}

/** The bytes of a bitmap's block as the server's allocator counts them. */
export function blockBytes(used: number): number { return sizeClass(requestedBytes(used), 16); }

/** The most bytes of a segment's arena, unless the module is loaded with another `segment-bytes`. */
export const SEGMENT_BYTES = 256 * 1024 - PREFIX_BYTES;
/** The bytes of a root, and of what it has for each segment; the segments for which a new one has room. */
const ROOT_BYTES = 32, ROW_BYTES = 32;
export type Room = 4 | 8;

/** The bytes of the root of so many segments, which were added one by one. It has room for `room` of them at first. */
export function rootBytes(segments: number, room: Room): number {
  let has: number = room;
  while (has < segments) has = has + 1 + Math.floor((has + 1) / 8) + 8;
  return sizeClass(ROOT_BYTES + has * ROW_BYTES, 16);
}

/** The bytes of the blocks of a value that was built anew, in segments if these are several. */
export function blocksBytes(arenas: readonly number[]): number {
  const bytes = arenas.reduce((sum, used) => sum + blockBytes(used), 0);
  return arenas.length > 1 ? bytes + rootBytes(arenas.length, 8) : bytes;
}

// --- jemalloc ---------------------------------------------------------------------------------------------------------------------------

/**
 * The allocation that holds that many bytes. Servers are built with a quantum of 8 (those that bring their own jemalloc) or of 16 (those of
 * Linux distributions), which makes a difference up to 64 bytes.
 */
export function sizeClass(bytes: number, quantum: 8 | 16): number {
  if (bytes <= 8) return 8;
  if (bytes <= 64) return Math.ceil(bytes / quantum) * quantum;
  const spacing = 2 ** (Math.ceil(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / spacing) * spacing;
}

// --- the servers' keys ------------------------------------------------------------------------------------------------------------------

/** How a server keeps the name of a key that holds a module's value. */
export type KeyLayout =
  /** Redis up to 8.0, Valkey 7.2: a string of its own, and an entry of the dictionary. */
  | "entry"
  /** The same in a cluster of 7.0, with links to other keys of the slot. */
  | "linked"
  /** The same in a cluster of 7.2, where MEMORY USAGE counts a pointer in place of the links. */
  | "pointing"
  /** Valkey 8.0: in the entry of the dictionary. */
  | "embedded"
  /** Redis from 8.2 on, Valkey from 9.0 on: in the value's object, with the TTL if there is one. */
  | "object"
  /** Valkey 8.1: in the object, too, but MEMORY USAGE leaves the object of a module's value out. */
  | "uncounted";

export interface ServerVersion {
  name: "redis" | "valkey";
  /** Such as 8.2.3. */
  version: string;
  /** Whether it is a node of a cluster. */
  isCluster?: boolean;
}

/** How that server keeps names. */
export function keyLayout({ name, version, isCluster = false }: ServerVersion): KeyLayout {
  const [major = 0, minor = 0] = version.split(".").map(Number), at = major * 100 + minor;
  if (isCluster && major === 7 && minor < 4) return minor < 2 ? "linked" : "pointing";
  if (name === "valkey") return at >= 900 ? "object" : at >= 801 ? "uncounted" : at >= 800 ? "embedded" : "entry";
  return at >= 802 ? "object" : "entry";
}

/** The bytes of a string in a server: header, text, and a zero. `least` is the smallest header. */
function stringBytes(length: number, least: 1 | 3): number {
  const header = length < 32 ? least : length < 256 ? 3 : length < 65_536 ? 5 : 9;
  return header + length + 1;
}

/** An object of a server, its pointer to a module's value included; and an entry of a dictionary. */
const OBJECT_BYTES = 16, ENTRY_BYTES = 24;
const LINKS_BYTES = 16, POINTER_BYTES = 8;
/** An object with a name from this length on has room for a TTL in any case. */
const LONG_NAME_BYTES = 128;

/** What MEMORY USAGE counts for a key beside its value, given the bytes of its name. */
export function keyBytes(layout: KeyLayout, quantum: 8 | 16, nameBytes: number, expires: boolean): number {
  if (layout === "uncounted") return 0;
  const links = layout === "linked" ? LINKS_BYTES : layout === "pointing" ? POINTER_BYTES : 0;
  if (layout === "entry" || links > 0) return ENTRY_BYTES + links + sizeClass(stringBytes(nameBytes, 1), quantum);
  if (layout === "embedded") return sizeClass(OBJECT_BYTES + 1 + stringBytes(nameBytes, 3), quantum);
  const hasTime = expires || nameBytes >= LONG_NAME_BYTES;
  return sizeClass(OBJECT_BYTES + (hasTime ? 8 : 0) + 1 + stringBytes(nameBytes, 1), quantum);
}
