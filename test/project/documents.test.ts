// What the documents say of the project, where a machine can tell: sessions, files, names in files, targets of make.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../support/server.ts";
import { useServer } from "../support/suite.ts";

const textOf = (path: string): string => readFileSync(join(projectRoot, path), "utf8");
const documents = ["README.md", ...readdirSync(join(projectRoot, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
const found = (text: string, pattern: RegExp): RegExpMatchArray[] => [...text.matchAll(pattern)];

/** Where a path may begin that the text abbreviates. */
const folders = ["", "assembly", "host", "test"];
const resolve = (path: string): string | undefined => folders.map((folder) => join(folder, path)).find((at) => existsSync(join(projectRoot, at)));

/** A heading as GitHub makes an anchor of it. */
const anchorOf = (heading: string): string => heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");

describe.each(documents)("%s", (document) => {
  const text = textOf(document);

  it("links to what there is", () => {
    for (const [, target] of found(text, /\]\((?!https?:)([^)]+)\)/g)) {
      const [path, anchor] = target!.split("#") as [string, string?];
      const file = path ? join(dirname(document), path) : document;
      expect(existsSync(join(projectRoot, file)), target).toBe(true);
      if (anchor) expect(found(textOf(file), /^#+ (.*)$/gm).map(([, heading]) => anchorOf(heading!)), target).toContain(anchor);
    }
  });

  it("names files that there are, and what is in them", () => {
    for (const [, path] of found(text, /`((?:assembly|host|test|tools|bench|fuzz|docs)\/[\w./-]*|[\w-]+\.(?:ts|c|h))`/g)) {
      expect(resolve(path!), path).toBeDefined();
    }
    for (const [, name, path] of found(text, /`(\w+)(?:\(\))?`(?:,| in) `([\w./-]+\.(?:ts|c|h))`/g)) {
      expect(textOf(resolve(path!)!), `${name} in ${path}`).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });

  it("names targets that make has", () => {
    const targets = found(textOf("Makefile"), /^([a-z-]+): /gm).map(([, target]) => target);
    for (const [, target] of found(text, /(?:`|^ {4})make ([a-z-]+)/gm)) expect(targets).toContain(target);
  });
});

describe("the README", () => {
  const server = useServer();
  const session = found(textOf("README.md"), /^ {4}127\.0\.0\.1:6379> (.*)\n((?: {4}(?!127\.0\.0\.1).+\n)*)/gm);

  it("has a session that is what redis-cli prints", () => {
    expect(session.length).toBeGreaterThan(10);
    for (const [, command, printed] of session) {
      const { stdout } = spawnSync("redis-cli", ["-s", server.socket, "--no-raw"], { input: `${command}\n`, encoding: "utf8" });
      if (!command!.startsWith("MEMORY")) expect(stdout.trim(), command).toBe(printed!.replace(/^ {4}/gm, "").trim());   // the allocator's to say
    }
  });

  it("and docs/operations.md name each field of INFO", async () => {
    const told = found((await server.run("INFO", "redis-roar")) as string, /^(redis-roar_\w+):/gm).map(([, field]) => field);
    expect(found(textOf("docs/operations.md"), /^\| `(redis-roar_\w+)`/gm).map(([, field]) => field)).toEqual(told);
  });
});
