// Checks what documents say about the project: links, file names, names in files, make targets, sessions, INFO fields.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { withTables } from "../../bench/tables.ts";
import { commands } from "../../host/table/commands.ts";
import { tasks } from "../../site/tasks.ts";
import { withAllTypical, withTypical } from "../../bench/typical.ts";
import type { Results } from "../../bench/results.ts";
import { projectRoot } from "../support/server.ts";
import { useServer } from "../support/suite.ts";
import { cliBinary, serverName } from "../support/version.ts";

const textOf = (path: string): string => readFileSync(join(projectRoot, path), "utf8");
const exists = (path: string): boolean => existsSync(join(projectRoot, path));
const makefiles = ["Makefile", ...readdirSync(join(projectRoot, "tools")).filter((name) => name.endsWith(".mk")).map((name) => `tools/${name}`)]
  .map(textOf).join("");
const documents = ["", "docs"].flatMap((folder) =>
  readdirSync(join(projectRoot, folder)).filter((name) => name.endsWith(".md")).map((name) => join(folder, name)));

/** What a document can refer to, and how it does. */
const patterns = {
  link: /\]\((?!https?:)([^)]+)\)/g,
  file: /`((?:assembly|host|test|tools|bench|fuzz|docs)\/[\w./-]*|[\w-]+\.(?:ts|c|h))`/g,
  nameInFile: /`(?:\w+\.)?(\w+)(?:\(\))?`(?:,| in) `([\w./-]+\.(?:ts|c|h))`/g,
  target: /(?:`|^ {4})make ([a-z0-9-]+)/gm,
};
const found = (text: string, pattern: RegExp): RegExpMatchArray[] => [...text.matchAll(pattern)];

/** The anchor that GitHub gives to a heading. */
const anchorOf = (heading: string): string => heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");

describe.each(documents)("%s", (document) => {
  const text = textOf(document);

  it("links to files and headings that exist", () => {
    for (const [, target] of found(text.replace(/^ *```[^]*?^ *```$/gm, ""), patterns.link)) {
      const [path, anchor] = target!.split("#") as [string, string?];
      const file = path ? join(dirname(document), path) : document;
      expect(exists(file), target).toBe(true);
      if (anchor) expect(found(textOf(file), /^#+ (.*)$/gm).map(([, heading]) => anchorOf(heading!)), target).toContain(anchor);
    }
  });

  it("names files that exist, by their full paths, and identifiers that occur in them", () => {
    for (const [, path] of found(text, patterns.file)) expect(exists(path!), path).toBe(true);
    for (const [, name, path] of found(text, patterns.nameInFile)) {
      expect(textOf(path!), `${name} in ${path}`).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });

  it("names make targets that exist", () => {
    const targets = found(makefiles, /^([a-z0-9-]+): /gm).map(([, target]) => target);
    for (const [, target] of found(text, patterns.target)) expect(targets).toContain(target);
  });
});

it.each(["link", "file", "target"] as const)("the documents contain references of the kind %s", (kind) => {
  expect(documents.flatMap((document) => found(textOf(document), patterns[kind]))).not.toEqual([]);
});

it("README.md and docs/performance.md show the recorded figures of typical keys", () => {
  const readme = textOf("README.md"), page = textOf("docs/performance.md"), results = JSON.parse(textOf("docs/bench/typical.json")) as Results;
  expect(readme).toBe(withTypical(readme, results));
  expect(page).toBe(withAllTypical(page, results));
});

it("docs/performance.md shows the recorded figures of a whole benchmark", () => {
  const page = textOf("docs/performance.md");
  expect(page).toBe(withTables(page, JSON.parse(textOf("docs/bench/results.json")) as Results));
});

it("the site lists each command of bitmaps under one task, beside commands that there are", () => {
  const names = commands.map(({ name }) => name), listed = tasks.flatMap((task) => Object.entries(task.commands));
  expect(listed.map(([name]) => name).sort()).toEqual([...names].sort());
  expect(listed.flatMap(([, { also }]) => also).filter((name) => !names.includes(name))).toEqual([]);
});

describe("docs/clients.md", () => {
  const files = Object.fromEntries(readdirSync(join(projectRoot, "test/clients")).map((name) => [name.split(".")[0]!, `test/clients/${name}`]));
  /** Text without the indentation that all its lines share. A tab counts as four spaces. */
  const dedented = (text: string): string => {
    const lines = text.replaceAll("\t", "    ").trimEnd().split("\n"), depths = lines.filter(Boolean).map((line) => line.search(/\S/));
    return lines.map((line) => line.slice(Math.min(...depths))).join("\n").trim();
  };
  const blocks = found(textOf("docs/clients.md"), /^ *```(\w+)\n([^]*?)^ *```$/gm).map(([, language, text]) => ({ language: language!, text: dedented(text!) }));

  it.each(Object.entries(files))("shows what the program in %s runs", (language, file) => {
    const parts = found(textOf(file), /^[ \t]*(?:#|\/\/|--|\/\*) docs: (?!end)\w+(?: \*\/)?\n([^]*?)^[ \t]*(?:#|\/\/|--|\/\*) docs: end/gm)
      .map(([, text]) => dedented(text!));
    const shown = blocks.filter((block) => block.language === language).map(({ text }) => text);
    expect(parts.length).toBeGreaterThan(0);
    expect(shown).toEqual(expect.arrayContaining(parts));
    // Go has a second library, which is not run.
    if (language !== "go") expect(parts.sort()).toEqual(shown.sort());
  });
});

it("docs/core.md lists every import of the core", () => {
  const declared = found(textOf("assembly/env/memory.ts"), /@external\("(\w+)", "(\w+)"\)/g).map(([, module, name]) => `${module}.${name}`);
  const rows = found(textOf("docs/core.md"), /^\| `(?:\w+\.)(?:\w|\*).*$/gm).map(([row]) => row.split("|")[1]!).join();
  const listed = found(rows, /`(\w+\.\w+)/g).map(([, name]) => name);
  const operands = /^(left|right)\./; // summed up in one row
  expect(rows).toMatch(/`left\.\*`, `right\.\*`/);
  expect(listed.sort()).toEqual(declared.filter((name) => !operands.test(name)).sort());
});

describe("documents and the server", () => {
  const server = useServer();
  const session = found(textOf("README.md"), /^ {4}127\.0\.0\.1:6379> (.*)\n((?: {4}(?!127\.0\.0\.1).+\n)*)/gm);

  it("the session in README.md is what redis-cli prints", async () => {
    expect(session.length).toBeGreaterThan(7);
    const allocator = await server.info("mem_allocator");
    for (const [, command, printed] of session) {
      const { stdout } = spawnSync(cliBinary, ["-s", server.socket, "--no-raw"], { input: `${command}\n`, encoding: "utf8" });
      // The figure depends on the allocator and on what the server adds to a key. README says which server it is for.
      if (command!.startsWith("MEMORY") && !(serverName.startsWith("Redis 7.0.") && allocator.startsWith("jemalloc"))) {
        expect(stdout, command).toMatch(/^\(integer\) \d+\n/);
      } else expect(stdout.trim(), command).toBe(printed!.replace(/^ {4}/gm, "").trim());
    }
  });

  it("docs/operations.md lists every field of INFO redis-roar, in order", async () => {
    const fields = found((await server.run("INFO", "redis-roar")) as string, /^(redis-roar_\w+):/gm).map(([, field]) => field);
    expect(fields).not.toEqual([]);
    expect(found(textOf("docs/operations.md"), /^\| `(redis-roar_\w+)`/gm).map(([, field]) => field)).toEqual(fields);
  });
});

describe("figures", () => {
  const { rows } = JSON.parse(textOf("docs/bench/results.json")) as Results;
  /** What the recorded benchmark measured on the real sets of the demo, in microseconds or bytes. */
  const recorded = (what: string, contender: string): number => rows.find((row) => row.data === "census1881" && row.what === what)!.values[contender]!;

  it("README.md shows a run of make demo that is like the recorded benchmark", () => {
    const shown = new Map(found(textOf("README.md"), /^ {4}(\w[\w ]*?) {2,}([\d,.]+) (?:KiB|ms) {2,}([\d,.]+) (?:KiB|ms)$/gm)
      .map(([, what, ours, native]) => [what!, [ours!, native!].map((figure) => Number(figure.replaceAll(",", "")))] as const));
    const expected = ([["memory of 200 sets", "memory per set, loaded", 200 / 1024], ["AND of 199 pairs with count", "AND of 2", 0.199],
      ["OR of 199 pairs with count", "OR of 2", 0.199], ["XOR of 199 pairs with count", "XOR of 2", 0.199], ["OR of all 200 with count", "OR of 200", 0.001]] as const)
      .map(([what, row, factor]) => [what, (["redis-roar", "native"] as const).map((contender) => recorded(row, contender) * factor)] as const);
    expect([...shown.keys()]).toEqual(expected.map(([what]) => what));
    for (const [what, figures] of expected) {
      // Native times of the demo include a BITCOUNT, and another machine has other caches. An outlier is off by more.
      for (const [n, figure] of figures.entries()) {
        const ratio = shown.get(what)![n]! / figure;
        expect(ratio > 1 / 5 && ratio < 5, `${what}: ${shown.get(what)![n]} where ${figure} was recorded`).toBe(true);
      }
    }
  });

  it("docs/cli.md says how large the files of the core are", () => {
    const bytes = ["core", "imports"].reduce((sum, name) => sum + readFileSync(join(projectRoot, `cli/dist/core/${name}.wasm`)).length, 0);
    const said = Number(/(\d+) kB together/.exec(textOf("docs/cli.md"))![1]) * 1000;
    expect(Math.abs(said / bytes - 1)).toBeLessThan(0.1);
  });
});

it("wherever npx redis-roar stands, the command that works before the first release stands, too", () => {
  for (const document of [...documents, "client/README.md", "cli/README.md"]) {
    const text = textOf(document);
    if (/npx redis-roar/.test(text)) expect(text, document).toContain("node cli/dist/main.js");
  }
});

it("the packages have the license of the project", () => {
  for (const name of ["client", "cli"]) expect(textOf(`${name}/LICENSE`)).toBe(textOf("LICENSE"));
});
