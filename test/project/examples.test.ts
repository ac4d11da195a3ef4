// The examples in the command table, which docs/commands.md and docs/integers.md show, must be what redis-cli prints.

import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { own } from "../../host/table/own.ts";
import { families } from "../support/family.ts";
import { byName, useServer } from "../support/suite.ts";
import { cliBinary } from "../support/version.ts";

/** Commands whose replies differ between the families, in the number of offsets or the format of a payload. Their examples are for R. */
const only32 = ["SETFULL", "STAT", "EXPORT", "IMPORT"];

describe("the example in the command table", () => {
  const server = useServer();
  const tables = [
    ...families.map(({ name: family }) => ({ family, rows: commands.filter(({ name }) => family === "R" || !only32.includes(name)) })),
    ...own.map(({ id, rows: of }) => ({ family: id, rows: of })),
  ];
  const rows = tables.flatMap(({ family, rows: of }) => of.map(({ name, example }) => ({ name: `${family}.${name}`, family, example })));

  it.each(byName(rows))("of %s prints what it says", (_, { name, family, example }) => {
    expect(example.some(([command]) => command.replace(/^R\./, `${family}.`).split(" ")[0] === name)).toBe(true);
    for (const [command, printed] of example) {
      const input = `${command.replace(/^R\./, `${family}.`)}\n`;
      const { stdout } = spawnSync(cliBinary, ["-s", server.socket, "--no-raw"], { input, encoding: "utf8" });
      expect(stdout.trim(), command).toBe(printed);
    }
  });
});
