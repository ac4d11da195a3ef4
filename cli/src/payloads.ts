// Payloads of files, in every form that IMPORT takes. The core tells the forms apart, and says what is wrong with others.

import { type Core, CoreError, Format } from "./core/core.js";
import { Exit, Failure } from "./failure.js";
import { loadFaults } from "./load-core.js";

/** Makes the core hold the bitmap of a payload; returns the number of its fault, 0 if there is none. */
function faultOf(core: Core, wide: boolean, payload: Uint8Array): number {
  try {
    core.read(wide ? Format.ANY_WIDE : Format.ANY, payload);
    return 0;
  } catch (error) {
    if (error instanceof CoreError && error.fault !== undefined) return error.fault;
    throw error;
  }
}

/** What load --format takes, by the name of the fault that says so. */
const SYSTEMS: Record<string, string> = { CLICK_HOUSE: "; load it with --format clickhouse", DORIS: "; load it with --format doris or starrocks" };
/** A line with an id, which the core takes for hexadecimal. */
const ID = /^\d{1,20}\r?\n$/;

/** Makes the core hold the bitmap of a payload. Throws a failure that says what the payload looks like. */
export async function readPayload(core: Core, wide: boolean, payload: Buffer): Promise<void> {
  if (payload.length === 0) throw new Failure("the file has no bytes");
  const faults = await loadFaults(), first = faultOf(core, wide, payload), isText = faults[first]?.name === "BASE64";
  const fault = isText ? faultOf(core, wide, Buffer.from(payload.toString("latin1"), "base64")) : first;
  if (fault === 0) return;
  const { name, text } = faults[fault]!;
  if (name === "HAS_WIDE_OFFSETS") throw new Failure("the file is a bitmap of 64 bits: load it with --wide", Exit.USAGE);
  if (ID.test(payload.toString("latin1", 0, payload.indexOf(10) + 1))) throw new Failure("the file has an id on each line: load it without --roaring", Exit.USAGE);
  throw new Failure(`the file is no roaring bitmap that can be loaded: ${isText && name !== "BASE64" ? "it is Base64 text, and " : ""}${text}${SYSTEMS[name] ?? ""}`);
}
