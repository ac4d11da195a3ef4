// Portable streams of sets.

import { type Family, type Member, member } from "../../support/family.ts";
import { readPayload } from "../../support/format.ts";
import { bytesOf } from "../../support/resp.ts";
import { expectEqual } from "../../support/suite.ts";
import { type Answer, STRING_LIMIT, stringLength, TooMuch } from "./call.ts";
import type { Edges } from "./edges.ts";

const MOST_EXPORTED = 100_000n;
/** With more containers than this, of at least 14 bytes each, a stream is too long for a string. */
const TOO_MANY_CONTAINERS = STRING_LIMIT / 14n + 1n;

/** The sorted members of a portable stream. */
const readStream = (bits: 32 | 64, stream: Buffer): Member[] =>
  readPayload(bits, bits === 32 ? Buffer.concat([Buffer.from([2]), stream]) : stream);

/** Checks that the reply is a stream of the set. */
export function exportedSet({ bits }: Family, set: Edges): Answer {
  if (set.containers() > TOO_MANY_CONTAINERS) stringLength(STRING_LIMIT + 1n);
  if (set.count() > MOST_EXPORTED) throw new TooMuch();
  const members = set.members().map(member);
  return (reply) => expectEqual(readStream(bits, bytesOf(reply)), members);
}
