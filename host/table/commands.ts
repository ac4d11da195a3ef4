// The command table: one row per command, for both families. Registration, COMMAND DOCS, key specs, ACL categories and
// docs/commands.md are generated from it (tools/generate-commands.ts), and so are the methods of the JavaScript client
// (tools/generate-client.ts). Tests loop over it. It holds data only.

import { bitmaps } from "./bitmaps.ts";
import { members } from "./members.ts";
import { queries } from "./queries.ts";
import type { Command } from "./row.ts";

export type { Answer } from "./answers.ts";
export type { Access, Arg, Command, Kind, Method, Repeated } from "./row.ts";

export const commands: Command[] = [...members, ...bitmaps, ...queries];
