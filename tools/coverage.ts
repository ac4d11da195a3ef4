// coverage <directory> <program>...: says which functions and branches of the core were not taken while tests ran.
//
// `make coverage` builds the core with clang's source-based coverage in the directory, from WebAssembly that asc has hardly optimized, so
// that functions and branches are those of the source. The programs are what ran, the module and the replays of the fuzz corpus; the
// directory holds their counters.
//
// wasm2c writes one C function for each function of the WebAssembly, in the same order. In it are one condition for each instruction if,
// br_if and select, and a switch for each br_table, in the same order too. The source map knows the place in assembly/ that each
// instruction comes from. So counters of conditions in C become counters of places in AssemblyScript, summed up over the instances of
// generic and inlined functions. The bounds checks are functions and macros of their own in C, and not counted; nor is select, which
// min() and max() become, and which takes no branch in machine code; nor are conditions of unreachable().
//
// Prints the functions that did not run, and each branch that was not taken: how often its condition was true and how often false. Not all
// branches can be taken: some guard what callers have made sure of, or kinds that do not exist. The exit status is 0 if all functions ran.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "@jridgewell/sourcemap-codec";

const [directory, ...programs] = process.argv.slice(2);
if (!directory || programs.length === 0) throw new Error("usage: coverage <directory> <program>...");

const output = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 30 });

// --- From WebAssembly to places in the source -------------------------------------------------------------------------------

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where the instruction at each offset of the binary comes from: ascending offsets, and the place from there on. */
function readSourceMap(path: string): { offsets: number[]; places: Place[] } {
  const { sources, mappings } = JSON.parse(readFileSync(path, "utf8")) as { sources: string[]; mappings: string };
  const offsets: number[] = [], places: Place[] = [];
  for (const [offset, source, line, column] of decode(mappings).flat()) {
    if (source === undefined) continue;
    offsets.push(offset);
    places.push({ file: sources[source]!, line: line! + 1, column: column! });
  }
  return { offsets, places };
}

interface Condition {
  /** `case 2`: one of br_table's targets. */
  readonly kind: string;
  readonly place: Place;
}

/** Not the library, and not what only tests call. */
const isOurs = (name: string): boolean => name.startsWith("assembly/") && !name.startsWith("assembly/trap/");

interface WasmFunction {
  readonly name: string;
  readonly conditions: Condition[];
}

/** The functions of the WebAssembly, with their conditions in order. */
function readWasm(): WasmFunction[] {
  const { offsets, places } = readSourceMap(join(directory!, "roaring.wasm.map"));
  const placeOf = (offset: number): Place => places[offsets.findLastIndex((from) => from <= offset)]!;
  const functions: WasmFunction[] = [];
  for (const line of output("node_modules/.bin/wasm-objdump", "-d", join(directory!, "roaring.wasm")).split("\n")) {
    const begin = /^[0-9a-f]+ func\[\d+\] <(.*)>:$/.exec(line);
    const step = /^ ([0-9a-f]+): [^|]*\| +(if|br_if|select|br_table)\b([\d ]*)/.exec(line);
    if (begin) functions.push({ name: begin[1]!, conditions: [] });
    if (!step) continue;
    const place = placeOf(parseInt(step[1]!, 16));
    const kinds = step[2] === "br_table" ? step[3]!.trim().split(" ").map((to) => `case ${to}`) : [step[2]!];
    for (const kind of kinds) functions.at(-1)!.conditions.push({ kind, place });
  }
  return functions;
}

// --- Counters -------------------------------------------------------------------------------------------------------------------

interface CFunction {
  readonly name: string;
  readonly count: number;
  /** Line, column, line, column, times true, times false, file, expanded file, kind. */
  readonly branches: number[][];
}

/** The counted functions of the generated C, by name. */
function readCounters(): Map<string, CFunction> {
  const profile = join(directory!, "all.profdata");
  const raw = readdirSync(directory!).filter((name) => name.endsWith(".profraw")).map((name) => join(directory!, name));
  output("llvm-profdata-19", "merge", "-o", profile, ...raw);
  const objects = programs.flatMap((program, i) => (i === 0 ? [program] : ["-object", program]));
  const exported = JSON.parse(output("llvm-cov-19", "export", ...objects, `-instr-profile=${profile}`)) as {
    data: { functions: CFunction[] }[];
  };
  const found = new Map<string, CFunction>();
  for (const one of exported.data[0]!.functions.filter(({ name }) => name.includes(":w2c_roaring_"))) {
    const name = one.name.split(":")[1]!, branches = one.branches.filter((branch) => branch[6] === 0 && branch[8] === 4);
    const other = found.get(name);
    // The levels have one instance each.
    const sum = other && other.branches.length === branches.length
      ? branches.map((branch, i) => branch.map((value, j) => (j === 4 || j === 5 ? value + other.branches[i]![j]! : value)))
      : branches;
    found.set(name, { name, count: one.count + (other?.count ?? 0), branches: sum });
  }
  return found;
}

/** The names of the C functions, in the order of the WebAssembly's. */
function readNames(): string[] {
  const c = readFileSync(join(directory!, "core-roaring.c"), "utf8");
  return Array.from(c.matchAll(/^static \w+ (w2c_roaring_\w+)\(.*\);$/gm), (found) => found[1]!);
}

// --- Putting them together ------------------------------------------------------------------------------------------------------

interface Counted {
  readonly place: Place;
  taken: [yes: number, no: number];
}

const functions = readWasm(), names = readNames(), counters = readCounters();
if (functions.length !== names.length) throw new Error(`${functions.length} functions in WebAssembly, ${names.length} in C`);

/** From assembly/write/batch/add/addAll<...> to assembly/write/batch/add.ts:addAll, where instances and inner functions are one. */
const sourceName = (name: string): string => name.replace(/<.*$/, "").replace(/\|.*$/, "").replace(/\/([^/]+)$/, ".ts:$1");

const runs = new Map<string, number>(), places = new Map<string, Counted>();
functions.forEach(({ name, conditions }, i) => {
  const counted = counters.get(names[i]!);
  if (!counted) throw new Error(`no counters for ${names[i]}`);
  if (!isOurs(name)) return;
  const source = sourceName(name);
  runs.set(source, (runs.get(source) ?? 0) + counted.count);
  if (counted.branches.length !== conditions.length) {
    throw new Error(`${name}: ${conditions.length} conditions in WebAssembly, ${counted.branches.length} in C`);
  }
  conditions.forEach(({ kind, place }, at) => {
    if (kind === "select" || !place.file.startsWith("assembly/")) return;
    const key = `${place.file}:${place.line}:${place.column}:${kind}`, branch = counted.branches[at]!;
    const sum = places.get(key) ?? { place, taken: [0, 0] };
    sum.taken = [sum.taken[0] + branch[4]!, sum.taken[1] + branch[5]!];
    if (kind.startsWith("case")) sum.taken[1] = 1;      // that a case is not taken says nothing
    places.set(key, sum);
  });
});

/** The name of the function around a line: the last one that is declared above it. */
function functionAt({ file, line }: Place): string {
  const above = readFileSync(file, "utf8").split("\n").slice(0, line).reverse();
  return above.map((text) => /^\s*(?:@inline )?(?:export )?(?:@inline )?function (\w+)/.exec(text)?.[1]).find(Boolean) ?? "?";
}

const textAt = ({ file, line }: Place): string => readFileSync(file, "utf8").split("\n")[line - 1]!.trim();

const missing = ({ taken }: Counted): number => taken.filter((times) => times === 0).length;
const order = (a: Place, b: Place): number => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column);

const all = [...places.values()].filter(({ place }) => !textAt(place).includes("unreachable()"));
const gaps = all.filter((one) => missing(one) > 0).sort((a, b) => order(a.place, b.place));
const notRun = [...runs].filter(([, count]) => count === 0).map(([name]) => name).sort();

if (notRun.length > 0) console.log(`Functions that did not run:\n${notRun.map((name) => `  ${name}\n`).join("")}`);
if (gaps.length > 0) console.log("Branches that were not taken:");
for (const { place, taken: [yes, no] } of gaps) {
  const what = yes + no === 0 ? "is never reached" : `always goes the same way (${yes} true, ${no} false)`;
  console.log(`  ${place.file}:${functionAt(place)} (${place.line}:${place.column}) ${what}: ${textAt(place)}`);
}
const branches = 2 * all.length, untaken = gaps.reduce((sum, gap) => sum + missing(gap), 0);
const share = (part: number, whole: number): string => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
console.log(`\nfunctions: ${share(runs.size - notRun.length, runs.size)}`);
console.log(`branches: ${share(branches - untaken, branches)}`);
process.exitCode = notRun.length > 0 ? 1 : 0;
