// The command inspect.

import { writeFileSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import { type Inspection, inspect as inspectKey, pictureOf, svgOf } from "../inspect.js";
import { loadCore } from "../load-core.js";
import { nameBytes } from "../names.js";
import { command, wholeNumber } from "../options.js";
import { type ServerOptions, Servers } from "../servers.js";
import { bytesText, countText, tableText } from "../text.js";

interface Flags extends ServerOptions {
  from?: bigint;
  to?: bigint;
  lines: number;
  svg?: string;
  json?: boolean;
}

function offset(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (value < 0n || value >= 2n ** 64n) throw new InvalidArgumentError("must be an offset, 0 to 18446744073709551615.");
  return value;
}

const WIDTH = 64;

function report(found: Inspection): string {
  const { key, holds, cardinality, minimum, maximum, bytesNow, bytesRoaring, bytesExported, containers, parts } = found;
  const rebuilt = bytesRoaring === null ? "" : `; ${bytesText(bytesRoaring)} ${holds.startsWith("R") ? "if it were rebuilt" : "as a roaring bitmap"}`;
  const inKinds = containers.filter((kind) => kind.containers > 0n);
  return [
    `${key}: ${holds}`,
    `${countText(cardinality)} members${minimum === null ? "" : ` from ${minimum} to ${maximum}`}`,
    `${bytesText(bytesNow)} with the key${rebuilt}; ${bytesText(Number(bytesExported))} exported`,
    ...(cardinality > 0n ? [`${((bytesRoaring ?? bytesNow) * 8 / Number(cardinality)).toPrecision(3)} bits a member`] : []),
    "",
    ...(inKinds.length > 0 ? [tableText(
      [{ title: "containers" }, { title: "number", align: "right" }, { title: "members", align: "right" }, { title: "exported", align: "right" }],
      inKinds.map((kind) => [kind.kind, countText(kind.containers), countText(kind.members), bytesText(Number(kind.bytes))])), ""] : []),
    ...(parts.some(({ members }) => members > 0n) ? [...pictureOf(found, WIDTH), `each character is ${countText(parts[0]!.to - parts[0]!.from + 1n)} offsets, or one more`] : ["no members in this range"]),
  ].join("\n");
}

export const inspect = command("inspect", "show the contents of a bitmap and the distribution of its members; also of native bitmaps and sets")
  .argument("<key>", "the key; \\xNN stands for a byte")
  .addOption(new Option("--from <offset>", "first offset to show").argParser(offset))
  .addOption(new Option("--to <offset>", "last offset to show").argParser(offset))
  .addOption(new Option("--lines <number>", "lines of the picture").argParser(wholeNumber(1, 1000)).default(8))
  .option("--svg <file>", "write a picture")
  .option("--json", "print JSON; numbers that may be large are strings")
  .addHelpText("after", `
Examples:
  redis-roar inspect readers:42
  redis-roar inspect readers:42 --from 1000000 --to 2000000 --svg readers.svg`)
  .action(async (key: string, flags: Flags) => {
    const core = await loadCore(), servers = await Servers.open(flags), name = nameBytes(key);
    const range = { ...(flags.from !== undefined && { from: flags.from }), ...(flags.to !== undefined && { to: flags.to }) };
    const found = await inspectKey(core, servers.nodeOf(name), name, range, flags.lines * WIDTH);
    if (flags.svg) writeFileSync(flags.svg, svgOf(found));
    console.log(flags.json ? JSON.stringify(found, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value), 2) : report(found));
  });
