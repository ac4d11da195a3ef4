// check-limits: finds files and functions of the core that are too long to read at a glance. In assembly/, tests apart,
//
//   - a file has at most LINES lines, and a function or method at most FUNCTION_LINES, and PARAMETERS parameters;
//   - no two files export the same name, other than assembly/index.ts and trap.ts, which export to the host.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const LINES = 450;
const FUNCTION_LINES = 60;
const PARAMETERS = 5;

const ENTRIES = ["assembly/index.ts", "assembly/trap.ts"];

/** What is above a limit, and where it is. */
const found = new Map<string, string>();
/** The files that export each name. */
const exporters = new Map<string, string[]>();

function checkFunction(node: ts.FunctionDeclaration | ts.MethodDeclaration, file: ts.SourceFile): void {
  if (!node.name || !node.body) return;
  const line = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
  const name = node.name.getText(file), lines = line(node.end) - line(node.name.getStart(file)) + 1, parameters = node.parameters.length;
  if (lines > FUNCTION_LINES) found.set(`${name} has ${lines} lines`, file.fileName);
  if (parameters > PARAMETERS) found.set(`${name} has ${parameters} parameters`, file.fileName);
}

function check(node: ts.Node, file: ts.SourceFile): void {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) checkFunction(node, file);
  ts.forEachChild(node, (child) => check(child, file));
}

/** The names that a statement declares and exports. */
function exportedNames(statement: ts.Statement): string[] {
  const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (!isExported) return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.DeclarationStatement;
  return name ? [name.getText()] : [];
}

const paths = readdirSync("assembly", { recursive: true, encoding: "utf8" }).map((name) => join("assembly", name))
  .filter((path) => path.endsWith(".ts") && !path.includes("__tests__")).sort();
for (const path of paths) {
  const text = readFileSync(path, "utf8"), file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split("\n").length - 1;
  if (lines > LINES) found.set(`${path} has ${lines} lines`, path);
  check(file, file);
  if (ENTRIES.includes(path)) continue;
  for (const name of file.statements.flatMap(exportedNames)) exporters.set(name, [...exporters.get(name) ?? [], path]);
}
for (const [name, files] of exporters) {
  if (files.length > 1) found.set(`${name} is exported twice`, files.join(" and "));
}

for (const [text, where] of found) console.log(`${where}: ${text}`);
if (found.size > 0) process.exit(1);
