// BITFIELD and BITFIELD_RO, computed with integers of unlimited width.

import { integer as parseInteger, type Reply } from "../../support/resp.ts";
import { SYNTAX } from "../../support/suite.ts";
import { type Call, refuse } from "./call.ts";
import { type Edges } from "./edges.ts";

interface Step {
  readonly kind: "GET" | "SET" | "INCRBY";
  readonly signed: boolean;
  readonly width: bigint;
  readonly offset: bigint;
  readonly overflow: "WRAP" | "SAT" | "FAIL";
  readonly value: bigint;
}

function parseType(text: string): Pick<Step, "signed" | "width"> {
  const [, kind, digits] = /^([iu])([1-9][0-9]*)$/.exec(text) ?? [];
  const width = BigInt(digits ?? 0);
  if (width === 0n || width > (kind === "i" ? 64n : 63n)) {
    refuse("ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.");
  }
  return { signed: kind === "i", width };
}

function parsePlace(text: string, width: bigint, last: bigint): bigint {
  const [, hash, digits] = /^(#?)(0|[1-9][0-9]*)$/.exec(text) ?? [];
  const offset = digits === undefined ? -1n : BigInt(digits) * (hash ? width : 1n);
  return offset < 0n || offset + width - 1n > last ? refuse("ERR bit offset is not an integer or out of range") : offset;
}

function parse(call: Call): Step[] {
  const { args, family } = call, steps: Step[] = [];
  let overflow: Step["overflow"] = "WRAP";
  for (let at = 2; at < args.length;) {
    const kind = args[at]!.toUpperCase(), rest = args.length - at - 1;
    if (kind === "OVERFLOW" && rest > 0) {
      const word = args[at + 1]!.toUpperCase();
      overflow = word === "WRAP" || word === "SAT" || word === "FAIL" ? word : refuse("ERR Invalid OVERFLOW type specified");
      at += 2;
      continue;
    }
    if (kind !== "GET" && kind !== "SET" && kind !== "INCRBY") refuse(SYNTAX);
    if (rest < (kind === "GET" ? 2 : 3)) refuse(SYNTAX);
    const type = parseType(args[at + 1]!), offset = parsePlace(args[at + 2]!, type.width, family.last);
    steps.push({ kind, ...type, offset, overflow, value: kind === "GET" ? 0n : call.index(at + 3) });
    at += kind === "GET" ? 3 : 4;
  }
  return steps;
}

function readField(set: Edges, { signed, width, offset }: Step): bigint {
  let value = 0n;
  for (let i = 0n; i < width; i++) value = value * 2n + BigInt(set.has(offset + i));
  return signed ? BigInt.asIntN(Number(width), value) : value;
}

function writeField(set: Edges, { width, offset }: Step, value: bigint): void {
  for (let i = 0n; i < width; i++) set.assign(offset + i, offset + i + 1n, ((value >> (width - 1n - i)) & 1n) === 1n);
}

/** The value to store for one that may not fit the field; undefined if nothing is stored. */
function fit(value: bigint, { signed, width, overflow }: Step): bigint | undefined {
  const least = signed ? -(2n ** (width - 1n)) : 0n, most = least + 2n ** width - 1n;
  if (value >= least && value <= most) return value;
  if (overflow === "FAIL") return undefined;
  if (overflow === "WRAP") return signed ? BigInt.asIntN(Number(width), value) : BigInt.asUintN(Number(width), value);
  return value > most ? most : least;
}

/** The value that SET stores. As in native BITFIELD, a negative one wraps to 64 bits in an unsigned field. */
const given = ({ signed, value }: Step): bigint => (signed ? value : BigInt.asUintN(64, value));

export function bitfield(call: Call, mayWrite: boolean): Reply {
  const steps = parse(call), writes = steps.some(({ kind }) => kind !== "GET");
  if (writes && !mayWrite) refuse("ERR BITFIELD_RO only supports the GET subcommand");
  const set = writes ? call.create(1) : call.source(1);
  return steps.map((step) => {
    const before = readField(set, step);
    if (step.kind === "GET") return number(before);
    const value = fit(step.kind === "SET" ? given(step) : before + step.value, step);
    if (value === undefined) return null;
    writeField(set, step, value);
    return number(step.kind === "SET" ? before : value);
  });
}

const number = (value: bigint): Reply => parseInteger(String(value));
