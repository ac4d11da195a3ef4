// Comparing bitmaps.

import { type Core, type Format } from "./core/core.js";

/** Whether two payloads have the same members. Bitmaps with the same members may have other containers, so these are packed. */
export function haveSameMembers(core: Core, a: Uint8Array, b: Uint8Array, format: Format): boolean {
  if (Buffer.compare(a, b) === 0) return true;
  const [first, second] = [a, b].map((payload) => {
    core.read(format, payload);
    core.pack();
    return core.write(format);
  });
  return Buffer.compare(first!, second!) === 0;
}
