// The core without a server: what calls consist of, that the generated files are up to date, and that every method is documented.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { commands } from "../../host/table/commands.ts";
import { callsOf, R, R64 } from "../../client/src/index.ts";
import { type Call, prefixed } from "../../client/src/call.ts";
import { callsOf as samplesOf, isKey } from "../support/calls.ts";
import { families, R as R32 } from "../support/family.ts";
import { methodCallOf } from "../support/methods.ts";
import { projectRoot } from "../support/server.ts";

it("client/ is up to date with the command table", () => {
  execFileSync(join(projectRoot, "node_modules/.bin/tsx"), ["tools/generate-client.ts", "--check", "client"], { cwd: projectRoot, stdio: "pipe" });
});

it("every call has the words of its command, and knows its keys", () => {
  for (const family of families) {
    const calls = (family === R32 ? callsOf(R) : callsOf(R64)) as unknown as Record<string, (...args: unknown[]) => Call<unknown>>;
    for (const row of commands) {
      for (const words of samplesOf(row, family)) {
        const { method, args } = methodCallOf(row, family, words), call = calls[method.name]!(...args);
        expect(call.name).toBe(`${family.name}.${row.name}`);
        expect(call.args.map(String), row.name).toEqual(words.map(String));
        expect(call.keys, row.name).toEqual(words.filter(isKey));
        expect(call.readonly).toBe(row.flags.includes("readonly"));
      }
    }
  }
});

it("a prefix is put before each key and nothing else", () => {
  const call = callsOf(R).queryStore("a", "#1 & #2", ["a", Buffer.from("b")]);
  expect(prefixed(call, "p:").args.map(String)).toEqual(["p:a", "#1 & #2", "2", "p:a", "p:b"]);
  expect(prefixed(call, "p:").keys.map(String)).toEqual(["p:a", "p:a", "p:b"]);
  expect(prefixed(call, "")).toBe(call);
});

/** Public functions and methods of a source file without a doc comment. */
function undocumented(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2023, true), missing: string[] = [];
  const nameOf = (node: ts.Node): string | undefined => (node as { name?: ts.Node }).name?.getText();
  const hasOwn = (node: ts.Node): boolean => (ts.getLeadingCommentRanges(file.text, node.pos) ?? []).some(({ pos }) => file.text.startsWith("/**", pos));
  /** Overloads of one name share a comment. */
  const hasComment = (node: ts.Node, siblings: readonly ts.Node[]): boolean =>
    hasOwn(node) || siblings.some((one) => nameOf(one) !== undefined && nameOf(one) === nameOf(node) && hasOwn(one));
  const has = (node: ts.Node, ...kinds: ts.SyntaxKind[]): boolean =>
    ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kinds.includes(kind));
  const isPrivate = (node: ts.ClassElement): boolean =>
    (node.name && ts.isPrivateIdentifier(node.name)) || has(node, ts.SyntaxKind.ProtectedKeyword, ts.SyntaxKind.OverrideKeyword);
  for (const statement of file.statements.filter((one) => has(one, ts.SyntaxKind.ExportKeyword))) {
    const named = statement as unknown as { name?: ts.Identifier };
    if (!hasComment(statement, file.statements)) missing.push(`${path}: ${named.name?.text ?? statement.getText().slice(0, 60)}`);
    if (!ts.isClassDeclaration(statement)) continue;
    for (const member of statement.members.filter((one) => ts.isMethodDeclaration(one) && !isPrivate(one))) {
      if (!hasComment(member, statement.members)) missing.push(`${path}: ${named.name?.text}.${member.name!.getText()}`);
    }
  }
  return missing;
}

/** What users call. The other files are for the package itself. */
const PUBLIC = ["bitmaps.ts", "calls.ts", "commands.ts", "errors.ts", "family.ts", "integer-calls.ts", "integers.ts", "ioredis.ts", "limits.ts", "multi.ts", "name-calls.ts", "names.ts", "node-redis.ts", "query.ts", "question.ts", "roar.ts", "sdk.ts", "transport.ts", "types.ts"];

it("everything public has a doc comment", () => {
  const source = join(projectRoot, "client/src"), files = [...PUBLIC, "sharded/bitmap.ts", "sharded/failure.ts", "sharded/integers.ts", "sharded/members.ts", "sharded/names.ts", "sharded/shards.ts"];
  expect(readdirSync(source)).toEqual(expect.arrayContaining(PUBLIC));
  expect(files.flatMap((name) => undocumented(join(source, name)))).toEqual([]);
});
