// specialise <roaring.wasm> <roaring.c> <core-roaring.c>: rewrites the output of wasm2c for a module that has a single instance.
//
// wasm2c writes C for any number of instances of a WebAssembly module: each function takes an instance and finds its memory and
// imports through it. The core needs one memory, which the host swaps between calls, and one set of imports. What it does need is in
// `state` (host/core/wasm-rt.h). This step replaces the instance:
//
//   w2c_roaring_f_0(instance, x)                           -> w2c_roaring_f_0(PASS_STATE_AND x)
//   w2c_left_load64(instance->w2c_left_instance, at, 8)    -> w2c_left_load64(PASS_STATE_AND at, 8)
//   i64_load_default32(&instance->w2c_memory, at + 8u)     -> i64_load_default32(PASS_STATE_AND at + 8u)
//
// The compiler must assume that a store through a byte pointer may change instance->w2c_memory. It knows that such a store cannot
// change `state`, so base and size of the memory stay in registers. This makes the bitset kernels a third faster.
//
// FORCE_READ is removed too. It keeps loads whose only effect is to hit a guard page. Bounds are checked explicitly here, and its
// empty asm statement only stops the compiler from vectorizing, which costs 40 %.
//
// If a later version of wasm2c changes its output, a pattern matches more or less often than expected, or something is left over.
// Both fail the build.

import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { outline } from "./wasm.ts";

function fail(text: string): never {
  console.error(`specialise: ${text}`);
  console.error("specialise: this step knows the output of wasm2c 1.0.39; has the wabt package been updated?");
  process.exit(1);
}

/** The C code being rewritten. Each change states how often its pattern must match. */
class Text {
  text: string;

  constructor(text: string) {
    this.text = text;
  }

  count(pattern: RegExp): number {
    return this.text.match(pattern)?.length ?? 0;
  }

  private expect(what: string, found: number, expected: number): void {
    if (found !== expected) fail(`${what}: found ${found} times, expected ${expected}`);
  }

  replace(what: string, pattern: RegExp, by: string | ((...found: string[]) => string), expected: number): void {
    this.expect(what, this.count(pattern), expected);
    this.text = typeof by === "string" ? this.text.replace(pattern, by) : this.text.replace(pattern, by);
  }

  /** Fails if the pattern is found at all. */
  refuse(pattern: RegExp): void {
    const left = pattern.exec(this.text);
    if (left) fail(`left over: ${this.text.slice(left.index).split("\n")[0]}`);
  }

  /** Removes the text from the only match of `from` up to the next match of `to`, which stays. */
  cut(what: string, from: RegExp, to: RegExp): void {
    this.expect(`start of ${what}`, this.count(new RegExp(from, "gm")), 1);
    const start = this.text.search(from), length = this.text.slice(start).search(to);
    if (length < 0) fail(`end of ${what}: not found`);
    this.text = this.text.slice(0, start) + this.text.slice(start + length);
  }
}

/** A pattern that matches exactly this text. */
function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g");
}

/** The functions of the core that each function of the core calls. */
function callGraph(text: string): Map<string, Set<string>> {
  const calls = new Map<string, Set<string>>();
  let callees: Set<string> | undefined;
  for (const line of text.split("\n")) {
    const definition = /^(?:static )?\w+ (w2c_roaring_\w+)\(.*\{$/.exec(line);
    if (definition?.[1]) calls.set(definition[1], callees = new Set());
    else if (line === "}") callees = undefined;
    else for (const call of line.matchAll(/\b(w2c_roaring_\w+)\(/g)) callees?.add(call[1]!);
  }
  return calls;
}

/** The functions that call themselves, directly or through others. */
function recursiveFunctions(calls: Map<string, Set<string>>): string[] {
  const reaches = (from: string): boolean => {
    const seen = new Set<string>(), open = [...calls.get(from) ?? []];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (!seen.has(name)) open.push(...calls.get(name) ?? []);
      seen.add(name);
    }
    return seen.has(from);
  };
  return [...calls.keys()].filter(reaches);
}

const [wasmFile, source, target] = process.argv.slice(2);
if (!wasmFile || !source || !target) throw new Error("usage: specialise <roaring.wasm> <roaring.c> <core-roaring.c>");
const wasm = outline(wasmFile), defined = wasm.sections.get("Function")!.length, exported = wasm.exports.length;
const c = new Text(readFileSync(source, "utf8"));

// wasm2c emits its vector accessors only if a function uses vectors.
const vectors = c.count(/^#define DEFINE_SIMD_LOAD_FUNC/gm);

// Code that a single instance without tables and data segments does not need.
const TYPES_OF_FUNCTIONS = /^#if defined\(__GNUC__\) \|\| defined\(__clang__\)\n#define FUNC_TYPE_DECL_EXTERN_T/m;
c.replace("header", /^#include "roaring\.h"$/gm, '#include "core/wasm-rt.h"', 1);
c.cut("indirect calls", /^static inline bool func_types_eq/m, /^static inline bool add_overflow/m);
c.cut("loading of data", /^static inline void load_data/m, /^#define DEF_MEM_CHECKS0/m);
c.cut("data segments and tables", /^static inline void memory_init/m, TYPES_OF_FUNCTIONS);
c.cut("tail calls", TYPES_OF_FUNCTIONS, vectors ? /^#if defined\(__GNUC__\) && defined\(__x86_64__\)\n#define SIMD_FORCE_READ/m : /^static \w+ w2c_roaring_/m);
c.cut("function types", /^FUNC_TYPE_T\(w2c_roaring_t0\)/m, /^static void init_memories/m);
c.cut("creation of the memory", /^static void init_memories/m, /^\/\* export: /m);
c.cut("export of the memory", /^\/\* export: 'memory' \*\//m, /^static void init_instance_import/m);
c.cut("instances", /^static void init_instance_import/m, /^\w+ w2c_roaring_\w+\(w2c_roaring\* instance/m);

// FORCE_READ has one definition for integers, two for floats, and three for vectors.
c.replace("FORCE_READ", /(#define (?:SIMD_)?FORCE_READ\w*\(var\)) __asm__\(.*\);$/gm, "$1", 3 + 3 * vectors);

// The accessors in the preamble: 3 macros with 2 checked accessors each; unchecked ones of 2 kinds for numbers and 4 for vectors.
// Uses of the macros still contain the word `mem`, but the macros no longer evaluate it.
c.replace("MEM_ADDR", /\(\(mem\)->data_end - \(addr\) - \(n\)\)|&\(\(mem\)->data\[addr\]\)/g, "(state->memory_base + (addr))", 2);
c.replace("check of a range", /res > \(mem\)->size/g, "res > state->memory_size", 1);
c.replace("check of an access", /> mem->size\)/g, "> state->memory_size)", 1);
c.replace("parameters of checked accessors", /\(wasm_rt##shared##memory_t\* mem,(?: *\\\n)? +/g, "(TAKE_STATE_AND ", 6);
c.replace("parameters of unchecked accessors", /\(wasm_rt_memory_t\* mem, u64 addr/g, "(TAKE_STATE_AND u64 addr", 2 + 4 * vectors);
c.replace("calls of unchecked accessors", /_unchecked\(mem, addr/g, "_unchecked(PASS_STATE_AND addr", 6);
c.replace("memory_fill", /memory_fill\(wasm_rt_memory_t\* mem, /g, "memory_fill(TAKE_STATE_AND ", 1);
c.replace("memory_copy", /memory_copy\(wasm_rt_memory_t\* dest,\s+const wasm_rt_memory_t\* src,\s+/g, "memory_copy(TAKE_STATE_AND ", 1);

// The wrappers of exports become static, because the builds for all CPU levels are linked together.
c.replace("save of a segment register", literal(`#if WASM_RT_USE_SEGUE_FOR_THIS_MODULE
#if !WASM_RT_SEGUE_FREE_SEGMENT
  void* segue_saved_base = wasm_rt_segue_read_base();
#endif
  wasm_rt_segue_write_base(instance->w2c_memory.data);
#endif
`), "", exported);
c.replace("restore of a segment register", literal(`#if WASM_RT_USE_SEGUE_FOR_THIS_MODULE && !WASM_RT_SEGUE_FREE_SEGMENT
  wasm_rt_segue_write_base(segue_saved_base);
#endif
`), "", exported);
c.replace("exports", /(^\/\* export: '\w+' \*\/\n)(?=\w+ w2c_roaring_\w+\(w2c_roaring\* instance)/gm, "$1static ", exported);

// The instance. The expected counts come from patterns that match calls whatever their arguments are.
const sites = c.count(/\bw2c_roaring_\w+\(/g);
const taking = (_: string, start: string, more?: string): string => `${start}(TAKE_STATE${more ? "_AND " : ""}`;
const passing = (_: string, start: string, more?: string): string => `${start}(PASS_STATE${more ? "_AND " : ""}`;
const finding = (_: string, start: string, rest: string): string => `${start}(TAKE_WORKER${rest ? `_AND ${rest}` : ""}) {\n  FIND_STATE;`;
c.replace("declarations", /^(static \w+ w2c_roaring_\w+)\(w2c_roaring\*(?! instance)(, )?/gm, taking, defined);
c.replace("definitions", /^(\w+ w2c_roaring_\w+)\(w2c_roaring\* instance(, )?/gm, taking, defined);
c.replace("definitions of exports", /^(static \w+ w2c_roaring_\w+)\(w2c_roaring\* instance(?:, )?(.*)\) \{$/gm, finding, exported);
c.replace("calls", /\b(w2c_roaring_\w+)\(instance(, )?/g, passing, sites - 2 * defined - exported);
c.replace("calls of imports", /\b(w2c_[a-z]+_\w+)\(instance->w2c_[a-z]+_instance(, )?/g, passing, c.count(/\bw2c_(?!roaring_)[a-z]+_\w+\(/g));

const accesses = c.count(/^  .*\b\w+_default32\(/gm), fills = c.count(/^ +memory_fill\(/gm), copies = c.count(/^ +memory_copy\(/gm);
c.replace("sources of copies", /&instance->w2c_memory, &instance->w2c_memory, /g, "&instance->w2c_memory, ", copies);
c.replace("accesses", /&instance->w2c_memory, /g, "PASS_STATE_AND ", accesses + fills + copies);
c.refuse(/\binstance\b|wasm_rt_memory_t|__asm__|w2c_memory/);

// Only recursive functions can exhaust the stack. They count their depth (wasm-rt.h); the others pay nothing.
for (const name of recursiveFunctions(callGraph(c.text))) {
  c.replace(`body of ${name}`, new RegExp(`(^\\w+ ${name}\\([^]*?\n  FUNC_)(PROLOGUE;\n[^]*?\n  FUNC_)(EPILOGUE;\n[^]*?^}$)`, "gm"), "$1RECURSIVE_$2RECURSIVE_$3", 1);
}

writeFileSync(target, `/* Generated by tools/specialise.ts from ${basename(source)}, the output of wasm2c; included by host/core/core.core.c. */
#pragma GCC system_header
${c.text}`);
