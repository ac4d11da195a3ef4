// Colors: in a terminal or with FORCE_COLOR, and never with NO_COLOR.

import picocolors from "picocolors";

/** Whether text for this stream gets colors. A CI is not a terminal, and can set FORCE_COLOR. */
export function wantsColors({ isTTY }: { isTTY?: boolean }, { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTTY === true && TERM !== "dumb";
}

/** Colors of text for standard output. Text for standard error has none. */
export const colors = picocolors.createColors(wantsColors(process.stdout, process.env));
