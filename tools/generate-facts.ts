// generate-facts <facts.h>: what the host must know that is decided elsewhere, as C: numbers of the core, from assembly/, and the
// version, from package.json.
// generate-facts <faults.json>: the names and texts of the core's faults in the order of their numbers, for JavaScript.
//
// The core's declarations are found by name in whichever file exports them: `export const enum NAME`, `export const NAME`, and
// `static readonly NAME` of a class, which is then called CLASS.NAME.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Enums, with their names in C and the prefix of their members there. */
const ENUMS = [
  { name: "Operation", inC: "operation", prefix: "" },
  { name: "Change", inC: "change", prefix: "" },
  { name: "Format", inC: "format", prefix: "" },
  { name: "Overflow", inC: "overflow", prefix: "" },
  { name: "Unit", inC: "unit", prefix: "" },
  { name: "Measure", inC: "measure", prefix: "BY_" },
  { name: "Fault", inC: "fault", prefix: "FAULT_" },
  { name: "Mistake", inC: "mistake", prefix: "MISTAKE_" },
  { name: "Spread", inC: "spread", prefix: "SPREAD_" },
  { name: "Only", inC: "only", prefix: "ONLY_" },
  { name: "Done", inC: "done", prefix: "DONE_" },
  { name: "Deed", inC: "deed", prefix: "VALUE_" },
  { name: "Ask", inC: "ask", prefix: "ASK_" },
  { name: "RangeOption", inC: "range_option", prefix: "RANGE_" },
  { name: "Aggregate", inC: "aggregate", prefix: "AGGREGATE_" },
];

/** Enums whose doc comments are texts that the host gets by a function. */
const TEXTS = ["Fault", "Mistake"];

/** Constants, with their names in C. */
const CONSTANTS = [
  ["BITSET_BYTES", "BITSET_BYTES"], ["COUNTERS_BYTES", "COUNTERS_BYTES"], ["Entry.BYTES", "ENTRY_BYTES"], ["FORM_DAMAGED", "FORM_DAMAGED"],
  ["Block.PREFIX", "PREFIX_BYTES"], ["DESK_BYTES", "DESK_BYTES"], ["DESK_TEXT", "DESK_TEXT"], ["NAME_MOST", "NAME_MOST"], ["NO_ID", "NO_ID"], ["TABLES", "TABLES"], ["SELF", "SELF"], ["TINY_PAYLOAD", "TINY_PAYLOAD"],
] as const;

interface Member {
  name: string;
  value: bigint;
  /** Its doc comment, without the full stop; empty if there is none. */
  text: string;
}

function fail(why: string): never {
  throw new Error(`generate-facts: ${why}`);
}

// --- Reading the core's sources ---------------------------------------------------------------------------------------------

const files = readdirSync("assembly", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.includes("__tests__"))
  .map((path) => join("assembly", path)).sort();
const statements = files.flatMap((path) =>
  [...ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true).statements]);
const isExported = (node: ts.EnumDeclaration | ts.VariableStatement): boolean =>
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
const enums = statements.filter(ts.isEnumDeclaration).filter(isExported);
const variables = statements.filter(ts.isVariableStatement).flatMap((statement) => statement.declarationList.declarations
  .map((declaration) => ({ name: declaration.name.getText(), declaration, exported: isExported(statement) })));
const properties = statements.filter(ts.isClassDeclaration).flatMap((owner) => owner.members.filter(ts.isPropertyDeclaration)
  .map((declaration) => ({ name: `${owner.name?.text}.${declaration.name.getText()}`, declaration, exported: true })));
const constants: { name: string; declaration: ts.VariableDeclaration | ts.PropertyDeclaration; exported: boolean }[] =
  [...variables, ...properties];

/** The only one of these; fails if there is none, or more than one. */
function only<T extends ts.Node>(what: string, found: T[]): T {
  const [first, second] = found;
  if (!first) fail(`assembly/ exports no ${what}`);
  if (second) fail(`${what} is exported by both ${first.getSourceFile().fileName} and ${second.getSourceFile().fileName}`);
  return first;
}

const BINARY = new Map<ts.SyntaxKind, (x: bigint, y: bigint) => bigint>([
  [ts.SyntaxKind.PlusToken, (x, y) => x + y],
  [ts.SyntaxKind.MinusToken, (x, y) => x - y],
  [ts.SyntaxKind.AsteriskToken, (x, y) => x * y],
  [ts.SyntaxKind.SlashToken, (x, y) => x / y],
  [ts.SyntaxKind.LessThanLessThanToken, (x, y) => x << y],
]);

/** The value of a constant expression: numbers, other constants, casts and the operators above. */
function valueOf(node: ts.Expression): bigint {
  if (ts.isNumericLiteral(node)) return BigInt(node.text);
  if (ts.isParenthesizedExpression(node) || ts.isTypeAssertionExpression(node) || ts.isAsExpression(node)) return valueOf(node.expression);
  if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) return constantValue(node.getText(), node.getSourceFile());
  const operator = ts.isBinaryExpression(node) ? BINARY.get(node.operatorToken.kind) : undefined;
  if (ts.isBinaryExpression(node) && operator) return operator(valueOf(node.left), valueOf(node.right));
  return fail(`cannot evaluate ${node.getText()} in ${node.getSourceFile().fileName}`);
}

/** The constant that `name` means in the file `from`, or everywhere: the file's own one, else the exported one. */
function constantValue(name: string, from?: ts.SourceFile): bigint {
  const named = constants.filter((constant) => constant.name === name);
  const own = named.filter(({ declaration }) => declaration.getSourceFile() === from);
  const found = own.length ? own : named.filter(({ exported }) => exported);
  const { initializer } = only(`constant ${name}`, found.map(({ declaration }) => declaration));
  return initializer ? valueOf(initializer) : fail(`${name} has no value`);
}

/** An enum's members count up from 0, or from the value given. */
function enumMembers(name: string): Member[] {
  const found = only(`enum ${name}`, enums.filter((declaration) => declaration.name.text === name));
  let next = 0n;
  return found.members.map((member) => {
    const value = member.initializer ? valueOf(member.initializer) : next;
    const comments = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "");
    next = value + 1n;
    return { name: member.name.getText(), value, text: comments.join(" ").replace(/\s+/g, " ").trim().replace(/\.$/, "") };
  });
}

// --- Writing C --------------------------------------------------------------------------------------------------------------

const number = (value: bigint): string => (value <= 0x7fffffffn ? `${value}` : value <= 0xffffffffn ? `${value}u` : `${value}ull`);

function enumInC({ name, inC, prefix }: typeof ENUMS[number]): string {
  const members = enumMembers(name);
  return `enum ${inC} {\n${members.map((member) => `    ${prefix}${member.name} = ${number(member.value)}`).join(",\n")}\n};\n`;
}

function textsInC(name: string): string {
  const { inC, prefix } = ENUMS.find((one) => one.name === name) ?? fail(`${name} is not listed`);
  const cases = enumMembers(name).filter(({ text }) => text).map((member) => `    case ${prefix}${member.name}: return ${JSON.stringify(member.text)};`);
  return `static inline const char *${inC}_text(uint32_t number) {
    switch (number) {
${cases.join("\n")}
    default: return "unknown ${inC}";
    }
}
`;
}

function factsInC(): string {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const parts = /^(\d+)\.(\d{1,2})\.(\d{1,2})$/.exec(version)?.slice(1).map(Number);
  const [major, minor, patch] = parts ?? fail(`${version} is not a version`);
  return `/* Generated by tools/generate-facts.ts from assembly/ and package.json. */
#ifndef ROAR_FACTS_H
#define ROAR_FACTS_H

#include <stdint.h>

#define MODULE_VERSION ${major! * 10000 + minor! * 100 + patch!}
#define MODULE_VERSION_TEXT "${version}"

${CONSTANTS.map(([name, inC]) => `#define ${inC} ${number(constantValue(name))}`).join("\n")}

${ENUMS.map(enumInC).join("\n")}
${TEXTS.map(textsInC).join("\n")}
#endif
`;
}

function faultsInJson(): string {
  const members = enumMembers("Fault");
  if (members.some(({ value }, i) => value !== BigInt(i))) fail("the numbers of Fault have gaps");
  return `${JSON.stringify(members.map(({ name, text }) => ({ name, text })))}\n`;
}

const target = process.argv[2] ?? fail("usage: generate-facts <facts.h> | <faults.json>");
writeFileSync(target, target.endsWith(".json") ? faultsInJson() : factsInC());
