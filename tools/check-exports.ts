// check-exports: finds needless exports in AssemblyScript. knip does this for the other TypeScript, but misses exports in files with
// AssemblyScript's decorators. An export is needless if
//
//   - no other file uses it, and tools/generate-facts.ts does not read it for the host, or
//   - only tests use it: neither its own file nor another one outside assembly/__tests__ does, or
//   - assembly/index.ts exports it to the host, and the host does not call it.

import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import ts from "typescript";

/** What these files export is used outside AssemblyScript: by the host, by its tests, and by as-pect. */
const ENTRIES = ["assembly/index.ts", "assembly/trap.ts", "bench/kernels/kernels.ts", "assembly/__tests__/world/module.ts"];

const isTest = (path: string): boolean => path.startsWith("assembly/__tests__/");

const config = ts.getParsedCommandLineOfConfigFile("assembly/tsconfig.json", {}, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: ({ messageText }) => { throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n")); },
})!;
const program = ts.createProgram(config.fileNames, config.options), checker = program.getTypeChecker();
const sources = program.getSourceFiles().map((file) => ({ file, path: relative(".", file.fileName) }))
  .filter(({ path }) => /^(assembly|bench)\//.test(path));

/** For each symbol, the files that use it. */
const users = new Map<ts.Symbol, Set<string>>();

function collectUses(node: ts.Node, path: string): void {
  if (ts.isIdentifier(node)) {
    let symbol = checker.getSymbolAtLocation(node);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    const declares = symbol?.declarations?.some((declaration) => ts.getNameOfDeclaration(declaration) === node);
    if (symbol && !declares) users.set(symbol, (users.get(symbol) ?? new Set()).add(path));
  }
  ts.forEachChild(node, (child) => collectUses(child, path));
}

/** The exports that the file itself declares; for a namespace, its members. */
function exportsOf(module: ts.Symbol, path: string): ts.Symbol[] {
  const inFile = (node: ts.Node): boolean => relative(".", node.getSourceFile().fileName) === path;
  return checker.getExportsOfModule(module).filter(({ declarations }) => declarations?.some(inFile))
    .flatMap((symbol) => (symbol.flags & ts.SymbolFlags.ValueModule ? exportsOf(symbol, path) : [symbol]));
}

const factsSource = readFileSync("tools/generate-facts.ts", "utf8");
const isFact = ({ name }: ts.Symbol): boolean => factsSource.includes(JSON.stringify(name));

const found: string[] = [];
for (const { file, path } of sources) collectUses(file, path);
for (const { file, path } of sources.filter((source) => !ENTRIES.includes(source.path))) {
  const module = checker.getSymbolAtLocation(file);
  for (const symbol of (module ? exportsOf(module, path) : []).filter((one) => !isFact(one))) {
    const using = [...users.get(symbol) ?? []];
    const line = ts.getLineAndCharacterOfPosition(file, symbol.declarations![0]!.getStart(file)).line + 1;
    if (using.every((user) => user === path)) found.push(`${path}:${line}: no other file uses the export ${symbol.name}`);
    else if (!isTest(path) && using.every(isTest)) found.push(`${path}:${line}: only tests use the export ${symbol.name}`);
  }
}

// Each export of assembly/index.ts becomes a member of the host's `struct core`.
const host = readdirSync("host", { recursive: true, encoding: "utf8" }).filter((name) => /\.[ch]$/.test(name)).map((name) => readFileSync(`host/${name}`, "utf8")).join("");
const index = checker.getSymbolAtLocation(program.getSourceFile("assembly/index.ts")!)!;
for (const { name } of checker.getExportsOfModule(index)) {
  if (!new RegExp(`\\bcore\\.${name}\\b`).test(host)) found.push(`assembly/index.ts: the host does not call the export ${name}`);
}

for (const text of found) console.log(text);
if (found.length > 0) process.exit(1);
