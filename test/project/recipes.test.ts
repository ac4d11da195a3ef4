// The sessions in docs/recipes.md and docs/moving.md must print what they show. A block of lines that begin with `> ` goes to one
// redis-cli, because a transaction needs one connection. A block that begins with `$ ` is a shell command. Any other block is a file, which
// the text before it names.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../support/server.ts";
import { byName, useServer } from "../support/suite.ts";
import { cliBinary } from "../support/version.ts";

const BLOCK = /(?:^ {4}.*\n)+/gm;
const COMMAND = /^[>$] (.*)$/;
const FILE_NAME = /\bas\s+`([\w.]+)`:\s*$/;

const recipesOf = (document: string) => readFileSync(join(projectRoot, document), "utf8").split(/^## /m).slice(1).map((text) => ({
  name: text.split("\n", 1)[0]!,
  blocks: [...text.matchAll(BLOCK)].map(({ 0: block, index }) =>
    ({ lines: block.replace(/^ {4}/gm, "").trimEnd().split("\n"), before: text.slice(0, index) })),
})).filter(({ blocks }) => blocks.length > 0);

describe.each(["docs/recipes.md", "docs/moving.md"])("%s", (document) => {
  const recipes = recipesOf(document);
  const server = useServer();

  /** The output of a shell command, in which redis-cli connects to the server and prints what it prints on a terminal. */
  function shell(command: string, input = ""): string {
    const bin = join(server.directory, "bin"), path = process.env.PATH!;
    const wrapper = `#!/bin/sh\nPATH='${path}'\nexec '${cliBinary}' -s '${server.socket}' --no-raw "$@"\n`;
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "redis-cli"), wrapper, { mode: 0o755 });
    const options = { cwd: server.directory, input, env: { ...process.env, PATH: `${bin}:${path}` }, timeout: 20_000 };
    const { stdout, stderr, status } = spawnSync("sh", ["-c", command], { ...options, encoding: "utf8" });
    expect({ status, stderr }, command).toEqual({ status: 0, stderr: "" });
    return stdout;
  }

  it("has sessions", () => {
    const firsts = recipes.flatMap(({ blocks }) => blocks.map(({ lines }) => lines[0]!.slice(0, 2)));
    expect(firsts.filter((first) => first === "> ").length).toBeGreaterThan(2);
  });

  it.each(byName(recipes))("%s: the commands print what it shows", (_, { blocks }) => {
    for (const { lines, before } of blocks) {
      const commands = lines.flatMap((line) => COMMAND.exec(line)?.[1] ?? []);
      const shown = lines.filter((line) => !COMMAND.test(line));
      if (commands.length === 0) {
        const name = FILE_NAME.exec(before)?.[1];
        expect(name, "a file without a name").toBeDefined();
        writeFileSync(join(server.directory, name!), `${lines.join("\n")}\n`);
        continue;
      }
      const printed = lines[0]!.startsWith("$ ") ? shell(commands.join("\n")) : shell("redis-cli", `${commands.join("\n")}\n`);
      expect(printed.trimEnd().split("\n")).toEqual(shown);
    }
  });
});
