// Runs a native command and the module's command of the same name on the same bits with the same arguments.

import { expect, it } from "vitest";
import { type Member, range } from "./family.ts";
import { nativeString } from "./model.ts";
import type { Arguments, Suite } from "./suite.ts";

/** Bitmaps of a few bytes and of a few containers. None ends with a zero byte. */
const shapes: Record<string, readonly Member[]> = {
  "one bit": [12],
  "a few bits": [0, 3, 8, 9, 17, 100],
  "bytes of ones": range(0, 24),
  "ones after a gap": range(65530, 30),
  "three containers": [...range(0, 6000, 2), ...range(65536, 70000)],
};

/** Tests that the command replies to each argument list (after the key) with the same bytes as the native command. */
export function itAnswersAsNative({ roar, name, server }: Suite, lists: readonly Arguments[]): void {
  const native = name.split(".")[1]!;
  it.each(Object.entries(shapes))("on %s", async (_, members) => {
    await roar.load("roar", members);
    await server.run("SET", "native", nativeString(new Set(members)));
    for (const args of lists) {
      const [expected, actual] = await Promise.all([
        roar.connection.bytes(native, "native", ...args),
        roar.connection.bytes(name, "roar", ...args),
      ]);
      expect(actual.toString("latin1"), `${native} ${args.join(" ")}`).toBe(expected.toString("latin1"));
    }
  });
}
