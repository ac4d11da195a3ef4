// What advise says: a row for each kind of values in each group, and notes.

import { type Core } from "../core/core.js";
import { countText } from "../text.js";
import { isConvertible, type Verdict } from "../verdict.js";
import { type Found, type Group, regressionOf } from "./found.js";

export interface AdviceRow {
  pattern: string;
  type: string;
  /** What the values are; the server's type if they were not read. */
  kind: string;
  /** Whether convert can convert them, and, with a dictionary, they would not take more together. */
  isConvertible: boolean;
  /** `R` or `R64`; "R, R64" if some need 64 bits; `RI` for integers for ids; "R, RN" for bitmaps and a dictionary; `RN` for the latter. */
  family: string | null;
  keys: number;
  keysRead: number;
  bytesNow: number;
  /** With the dictionary, if there is one. */
  bytesRoaring: number | null;
  /**
   * The 95 % confidence interval of bytesRoaring is that many bytes to each side; 0 if that is exact. Infinite, which is null in JSON, if
   * it is not known: where there is a dictionary, and for large keys of integers.
   */
  uncertainty: number;
  saved: number | null;
  /** Keys that would become larger, and by how much together; without the dictionary. */
  largerKeys: number;
  largerBytes: number;
  /** The names that a dictionary would have, and the bytes that it would take. */
  names: number | null;
  bytesDictionary: number | null;
}

export interface Advice {
  servers: string[];
  keys: number;
  seconds: number;
  /** The search was ended before all keys were seen. */
  isPartial: boolean;
  rows: AdviceRow[];
  bytesNow: number;
  bytesConvertible: number;
  bytesRoaring: number;
  /** Keys that disappeared while they were read, or that the user may not read. */
  vanished: number;
  notPermitted: number;
  /** What makes the figures less exact, and what they leave out. */
  notes: string[];
}

const isMeasured = (verdict: Verdict): boolean => isConvertible(verdict) || verdict === "ids of names";

function familyOf(verdict: Verdict, { wide, keys }: Found): string {
  if (verdict === "integers for ids") return "RI";
  if (verdict === "names") return "R, RN";
  if (verdict === "ids of names") return "RN";
  return wide === 0 ? "R" : wide === keys ? "R64" : "R, R64";
}

/** The rows of a group, given what a dictionary's key takes besides its value. */
export function rowsOf(core: Core, group: Group, dictionaryKey: number): AdviceRow[] {
  const { pattern, type, read } = group;
  const none = {
    pattern, type, isConvertible: false, family: null, bytesRoaring: null, uncertainty: 0, saved: null, largerKeys: 0, largerBytes: 0,
    names: null, bytesDictionary: null,
  };
  if (read.size === 0) return [{ ...none, kind: type, keys: group.keys, keysRead: 0, bytesNow: group.now }];
  let keysRead = 0, nowRead = 0;
  for (const { keys, now } of read.values()) {
    keysRead += keys;
    nowRead += now;
  }
  const unread = group.keys - keysRead;
  return Array.from(read, ([verdict, found]) => {
    const keys = found.keys + Math.round(unread * found.keys / keysRead);
    const rest = (group.now - nowRead) * found.now / nowRead, bytesNow = Math.round(found.now + rest);
    const row = { ...none, kind: verdict, keys, keysRead: found.keys, bytesNow };
    if (!isMeasured(verdict)) return row;
    const { slope, variance } = regressionOf(found), scale = keys / found.keys, others = keys - found.keys;
    const unreadRoaring = others * (found.roaring - slope * found.now) / found.keys + slope * rest;
    const values = Math.round(found.roaring + (others > 0 ? Math.max(0, unreadRoaring) : 0));
    const known = found.inexact > 0 ? Infinity : 0;
    const measured = {
      ...row, family: familyOf(verdict, found),
      uncertainty: unread > 0 ? Math.round(1.96 * keys * Math.sqrt(variance / found.keys * (1 - found.keys / keys))) : known,
      largerKeys: Math.round(found.largerKeys * scale), largerBytes: Math.round(found.largerBytes * scale),
    };
    if (verdict === "names") {
      const { names, bytes } = group.names.with(others, found.keys), bytesDictionary = bytes + dictionaryKey;
      const typical = (): number => Math.round((found.own + group.names.bytesOfSets(core)) * scale);
      const bytesRoaring = (group.names.isJoined ? typical() : values) + bytesDictionary, saved = bytesNow - bytesRoaring;
      return { ...measured, isConvertible: saved > 0, bytesRoaring, saved, uncertainty: Infinity, names, bytesDictionary };
    }
    const priced = { ...measured, isConvertible: isConvertible(verdict), bytesRoaring: values, saved: bytesNow - values };
    if (verdict !== "ids of names") return priced;
    return { ...priced, uncertainty: Infinity, names: Math.round(found.names * scale), bytesDictionary: values };
  });
}

const sum = (rows: readonly AdviceRow[], field: "keys"): number => rows.reduce((total, row) => total + row[field], 0);
/** "1 key is", "2 keys are". */
const areKeys = (rows: readonly AdviceRow[], what: [one: string, several: string]): string => {
  const keys = sum(rows, "keys");
  return `${countText(keys)} ${keys === 1 ? what[0] : what[1]}`;
};

/** Patterns of rows, the first few. */
function patternsOf(rows: readonly AdviceRow[]): string {
  const patterns = [...new Set(rows.map(({ pattern }) => pattern))], FEW = 3;
  return patterns.slice(0, FEW).join(", ") + (patterns.length > FEW ? ` and ${countText(patterns.length - FEW)} more` : "");
}

/** What there is to say about the rows. */
export function notesOn(rows: readonly AdviceRow[], groups: Iterable<Group>): string[] {
  const ofKind = (kind: Verdict): AdviceRow[] => rows.filter((row) => row.kind === kind);
  const notes: string[] = [], core = ofKind("core bitmap"), integers = ofKind("integers for ids"), names = ofKind("names"), ids = ofKind("ids of names");
  if (core.length > 0) {
    const more = "docs/choosing.md says what redis-roar adds to it";
    notes.push(`${areKeys(core, ["key is a bitmap", "keys are bitmaps"])} of the server's own type, which is compressed, too; ${more}`);
  }
  if (integers.length > 0) {
    notes.push(`${areKeys(integers, ["sorted set or hash has", "sorted sets and hashes have"])} integers for ids; convert --to integers makes keys of RI.* of such`);
  }
  if (names.some((row) => row.isConvertible)) {
    notes.push("sets of names would be bitmaps of ids, with one dictionary for each group; convert --names makes these. What they take depends on"
      + " the order in which names get their ids, so it is not exact");
  }
  const larger = names.filter((row) => !row.isConvertible);
  if (larger.length > 0) notes.push(`sets like ${patternsOf(larger)} would be larger as bitmaps with a dictionary: they share too few names`);
  if (ids.length > 0) {
    notes.push(`hashes like ${patternsOf(ids)} give ids to names. A dictionary (RN.*) could take their place, but it gives ids itself, from 0 on: keys`
      + " that have the old ids would have to be made anew, so convert leaves such hashes alone");
  }
  if (rows.some((row) => row.keys > row.keysRead && row.bytesRoaring !== null)) notes.push("figures of sampled groups are estimates");
  const list = [...groups];
  const full = list.filter((group) => group.names.isFull).map(({ pattern }) => pattern).sort();
  if (full.length > 0) {
    const rest = full.length > 1 ? ` and ${countText(full.length - 1)} other ${full.length === 2 ? "group" : "groups"}` : "";
    notes.push(`there are too many names to know all of them: figures of ${full[0]!}${rest} are estimates from a part of the sets, or missing; --match with one group has more room`);
  }
  if (list.some(({ names: { isJoined, names: count } }) => isJoined && count > 0)) notes.push("groups of sets that were joined, because their names are alike, would have one dictionary; their figures are estimates");
  return notes;
}
