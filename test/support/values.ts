// What the tests of SETINTARRAY and APPENDINTARRAY have in common.

import { notOffsets } from "./family.ts";
import { itDeclares, itMindsMemory, itRefuses, itRunsEverywhere, offsetError, type Suite } from "./suite.ts";

/** Tests what holds for every write that takes a key and one or more values. `access` is what it declares of its key. */
export function itWritesValues(suite: Suite, access: "RW" | "OW"): void {
  itRunsEverywhere(suite, ["k", 2, 1]);
  itMindsMemory(suite, "write", ["k", 9]);
  itDeclares(suite, {
    arity: -3,
    flags: ["write", "denyoom"],
    keys: [{ first: 1, last: 1, access }],
    call: ["k", 1, 2],
    keysInCall: ["k"],
  });
  const error = offsetError(suite.family, "value");
  itRefuses(suite, {
    arity: [[], ["k"]],
    bad: notOffsets(suite.family).flatMap((bad) =>
      [["k", bad], ["k", 1, bad, 2], ["k", 9, 8, bad]].map((args) => [args, error] as const),
    ),
    good: ["k", 1],
  });
}
