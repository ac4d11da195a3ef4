// generate-commands <commands.c>       writes the rows of host/table/commands.ts as C, for both families
// generate-commands <handlers.h>       declares the functions of the commands
// generate-commands --docs <file.md>   writes them as documentation
// generate-commands --check <file.md>  fails if --docs would change the file

import { readFileSync, writeFileSync } from "node:fs";
import { type Access, type Arg, type Command, commands } from "../host/table/commands.ts";
import { families } from "../host/table/families.ts";
import { type Own, own } from "../host/table/own.ts";
import { arity, asksKeys, declaration, flags, handlerInC, handlerOf, keyFlags, keysInC } from "./handlers.ts";

const ARG_TYPES: Record<Arg["type"], string> = {
  key: "KEY", string: "STRING", integer: "INTEGER", token: "PURE_TOKEN", oneof: "ONEOF", block: "BLOCK",
};

// --- Checks -----------------------------------------------------------------------------------------------------------------

function check(rows: Command[]): void {
  const names = new Set<string>();
  for (const row of rows) {
    const fail = (why: string): never => {
      throw new Error(`commands.ts: ${row.name}: ${why}`);
    };
    if (!/^[A-Z][A-Z0-9_]*$/.test(row.name)) fail("a name is upper case");
    if (names.has(row.name)) fail("appears twice");
    names.add(row.name);
    if (!/^[A-Z].*[^.]$/.test(row.summary)) fail("a summary is a sentence without its full stop");
    if (!row.complexity.startsWith("O(")) fail("a complexity begins with O(");
    if (!/^\d+\.\d+\.\d+$/.test(row.since)) fail("since is a version");
    if (row.flags.includes("write") === row.flags.includes("readonly")) fail("needs one of the flags write and readonly");
    if (row.flags.includes("deny-oom") && !row.flags.includes("write")) fail("only a write can have the flag deny-oom");
    if (row.flags.includes("readonly") && row.keys.some(({ access }) => access !== "read")) fail("readonly, but it writes a key");
    if (row.flags.includes("write") && row.keys.every(({ access }) => access === "read")) fail("a write that writes no key");
    checkKeys(row, fail);
  }
}

/** Names of arguments that are numbers of keys. */
const NUMBERS = /^num(keys|facets|rows|cols)$/;

/** Checks that key specs are consecutive, so that first, last and step describe the same keys, and that each matches an argument. */
function checkKeys({ keys, ...rest }: Command, fail: (why: string) => never): void {
  const row = { ...rest, keys: keys.filter(({ keyword }) => keyword === undefined) };
  if (row.keys.length === 0) fail("has no key");
  row.keys.forEach(({ at, to, oneKeyFor, optionBefore, modifyWith, numbered, behind }, i) => {
    if (behind !== undefined && i === 0) fail("no list of keys is before the first");
    if (to !== undefined && i < row.keys.length - 1) fail("only the last key spec can extend to the end");
    if (numbered && i < row.keys.length - 1 && row.keys[i + 1]!.behind === undefined) fail("nothing says where the keys behind a list are");
    if (numbered && behind === undefined && !NUMBERS.test(row.args[at - 2]?.name ?? "")) fail("numbered keys stand behind their number");
    if (i > 0 && !numbered && at !== row.keys[i - 1]!.at + 1) fail("key specs are not consecutive");
    if (modifyWith !== undefined && i > 0) fail("only the first key spec can have another access");
    if (optionBefore !== undefined && row.args[at - 1]?.token !== optionBefore) fail(`no ${optionBefore} stands before its keys`);
    if (oneKeyFor === undefined) return;
    if (to === undefined) fail("only a key spec that extends to the end can have one key for an operation");
    if (!row.args[0]!.of?.some(({ token }) => token === oneKeyFor)) fail(`its first argument is never ${oneKeyFor}`);
  });
  const place = (i: number): number => i + 1 - row.args.slice(0, i).filter(({ optional }) => optional).length;
  const parts = row.args.filter(({ kind, optional }) => !(kind === "question" && optional && keys.length > row.keys.length)).flatMap((arg) => (arg.kind === "question" ? arg.of! : [arg]));
  const keyArgs = parts.flatMap((arg, i) => (arg.type === "key" ? [{ at: place(i), multiple: arg.multiple ?? false }] : []));
  const agree = row.keys.every(({ at, to, numbered, behind }, i) =>
    (behind !== undefined || keyArgs[i]?.at === at) && keyArgs[i]?.multiple === (to !== undefined || (numbered ?? false)));
  if (!agree || keyArgs.length !== row.keys.length) fail("key specs and arguments disagree");
}

// --- C ----------------------------------------------------------------------------------------------------------------------

const text = (value: string | undefined): string => (value === undefined ? "NULL" : JSON.stringify(value));

/** The C array `name` of these arguments, preceded by the arrays of their parts. */
function argArray(name: string, args: Arg[], keyIndex = { next: 0 }): string {
  const parts: string[] = [];
  const rows = args.map((arg, i) => {
    const subargs = arg.of ? `${name}_${i}` : "NULL";
    if (arg.of) parts.push(argArray(subargs, arg.of, keyIndex));
    const options = [...(arg.optional ? ["OPTIONAL"] : []), ...(arg.multiple ? ["MULTIPLE"] : [])];
    return `    {.name = ${text(arg.name)}, .type = REDISMODULE_ARG_TYPE_${ARG_TYPES[arg.type]}, `
      + `.key_spec_index = ${arg.type === "key" ? keyIndex.next++ : -1}, .token = ${text(arg.token)}, `
      + `.flags = ${flags("ARG", options)}, .subargs = ${subargs}},`;
  });
  return `${parts.join("")}static RedisModuleCommandArg ${name}[] = {\n${rows.join("\n")}\n    {0}\n};\n`;
}

/** The key spec of keys behind a keyword and an expression. */
const behindKeyword = (keyword: string, access: Access): string =>
  `    {.flags = ${keyFlags(access)}, .begin_search_type = REDISMODULE_KSPEC_BS_KEYWORD, .bs.keyword = {${text(keyword)}, 1}, `
  + ".find_keys_type = REDISMODULE_KSPEC_FK_KEYNUM, .fk.keynum = {1, 2, 1}},";

function keyArray(name: string, keys: Command["keys"]): string {
  const rows = keys.map(({ at, to, access, oneKeyFor, modifyWith, numbered, behind, keyword }) => keyword ? behindKeyword(keyword, access)
    : `    {.flags = ${keyFlags(access, [...(oneKeyFor !== undefined || behind !== undefined ? ["INCOMPLETE"] : []), ...(modifyWith ? ["VARIABLE_FLAGS"] : [])])}, `
      + (behind !== undefined
        ? `.begin_search_type = REDISMODULE_KSPEC_BS_UNKNOWN, .bs.index = {${behind}}, .find_keys_type = REDISMODULE_KSPEC_FK_UNKNOWN},`
        : `.begin_search_type = REDISMODULE_KSPEC_BS_INDEX, .bs.index = {${numbered ? at - 1 : at}}, `)
      + (behind !== undefined ? "" : numbered
        ? ".find_keys_type = REDISMODULE_KSPEC_FK_KEYNUM, .fk.keynum = {0, 1, 1}},"
        : `.find_keys_type = REDISMODULE_KSPEC_FK_RANGE, .fk.range = {${to ?? 0}, 1, 0}},`));
  return `static RedisModuleCommandKeySpec ${name}[] = {\n${rows.join("\n")}\n    {0}\n};\n`;
}

function categories(row: Command): string {
  const access = row.flags.includes("write") ? "write" : "read";
  return `${access} ${row.flags.includes("fast") ? "fast" : "slow"} bitmap`;
}

/** What the server calls for a row of a table in C, for each of these families, which C knows as `family`. */
const entries = (name: string, row: string, of: { id: string; family: string }[]): string => of.map(({ id, family }) =>
  `static int ${name}_${id}(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {\n`
  + `    return run_command(&${row}, &${family}, ctx, argv, argc);\n}\n`).join("");

const BITMAPS = families.map(({ id }) => ({ id, family: `families[${id}]` }));

/** Rows of a type of its own as C sees them: bitmaps have commands of the same names. */
const inOwnWords = ({ id, rows }: Own): Command[] => rows.map((row) => ({ ...row, name: `${id}_${row.name}` }));

/** The array in C of the rows of a type of its own. */
const tableOf = ({ id }: Own): string => `${id.toLowerCase()}_commands`;

/** The functions and the rows of a type of its own. */
const ownInC = (type: Own): string => `${inOwnWords(type).map((row, i) =>
  commandInC(row, entries(row.name.toLowerCase(), `${tableOf(type)}[${i}]`, [type]))).join("\n")}
const command ${tableOf(type)}[] = {
${inOwnWords(type).map((row, i) => rowInC(row, [type], type.rows[i]!.name)).join("\n")}
};
`;

function commandInC(row: Command, entry: string): string {
  const name = row.name.toLowerCase();
  return `/* ${row.name} */
${handlerInC(row)}${keysInC(row)}${entry}${keyArray(`${name}_keys`, row.keys)}${argArray(`${name}_args`, row.args)}static const RedisModuleCommandInfo ${name}_info = {
    .version = &version, .summary = ${text(row.summary)},
    .complexity = ${text(row.complexity)}, .since = ${text(row.since)},
    .tips = ${text(row.tips?.join(" "))}, .arity = ${arity(row)}, .key_specs = ${name}_keys, .args = ${name}_args
};
`;
}

function rowInC(row: Command, of: typeof BITMAPS, shown = row.name): string {
  const name = row.name.toLowerCase();
  const [first, ...rest] = row.keys.filter(({ numbered }) => !numbered), legacyLast = rest.at(-1) ?? first;
  const registered = [...row.flags, ...(asksKeys(row) ? ["getkeys-api"] : [])];
  return `    {${text(shown)}, ${handlerOf(row)}, {${of.map(({ id }) => `${name}_${id}`).join(", ")}}, `
    + `${text(registered.join(" "))}, ${text(categories(row))}, ${first?.at ?? 0}, ${legacyLast?.to ?? legacyLast?.at ?? 0}, ${first ? 1 : 0}, `
    + `${row.mayOffload && row.mayOffload !== "reply" ? 1 : 0}, ${asksKeys(row) ? `${name}_keys_of` : "NULL"}, &${name}_info},`;
}

const inC = (): string => `/* Generated by tools/generate-commands.ts from host/table/commands.ts. */
#include "handlers.h"
#include "module.h"
#include "server/args.h"
${own.map(({ header }) => (header ? `#include "${header}"\n` : "")).join("")}
static const RedisModuleCommandInfoVersion version = {
    1, sizeof(RedisModuleCommandHistoryEntry), sizeof(RedisModuleCommandKeySpec), sizeof(RedisModuleCommandArg)
};

${commands.map((row, i) => commandInC(row, entries(row.name.toLowerCase(), `commands[${i}]`, BITMAPS))).join("\n")}
${own.map(ownInC).join("\n")}
const command commands[] = {
${commands.map((row) => rowInC(row, BITMAPS)).join("\n")}
};

const command_table command_tables[] = {
${families.map(({ id }) => `    {commands, sizeof commands / sizeof *commands, &families[${id}], ${id}},`).join("\n")}
${own.map((type) => `    {${tableOf(type)}, sizeof ${tableOf(type)} / sizeof *${tableOf(type)}, &${type.family}, 0},`).join("\n")}
    {0}
};
`;

const inHeader = (): string => `/* Generated by tools/generate-commands.ts from host/table/commands.ts: the command table, and what host/commands/ defines. */
#ifndef ROAR_HANDLERS_H
#define ROAR_HANDLERS_H

#include "core/names.h"
#include "server/keys.h"

extern const command commands[]${own.map((type) => `, ${tableOf(type)}[]`).join("")};

/* The commands of each family: rows, of which entries[entry] is the function. Ends with a row of zeros. */
typedef struct command_table {
    const command *rows;
    size_t count;
    const family *family;
    int entry;
} command_table;
extern const command_table command_tables[];

${[...commands, ...own.flatMap(inOwnWords)].map(declaration).join("\n")}

#endif
`;

// --- Documentation ----------------------------------------------------------------------------------------------------------

function syntax(arg: Arg): string {
  const word = arg.token && arg.type !== "token" ? `${arg.token} ` : "";
  const inner = word + (
    arg.type === "token" ? arg.token!
    : arg.type === "oneof" ? arg.of!.map(syntax).join(" | ")
    : arg.type === "block" ? arg.of!.map(syntax).join(" ")
    : arg.name);
  const repeated = arg.multiple ? `${inner} [${inner} ...]` : inner;
  if (arg.optional) return `[${repeated}]`;
  return arg.type === "oneof" ? `<${repeated}>` : repeated;
}

const MISSING: Record<string, string> = {
  creates: "the key is created.",
  empty: "it counts as empty.",
  empties: "it counts as empty.",
  "[]": "an empty array.",
  error: "`Roaring: key does not exist`.",
  nil: "nil.",
  "nil or []": "nil; with `count` an empty array.",
  string: "an empty simple string.",
  scan: "cursor `0` and an empty array.",
  zeros: "0 in its place.",
};

function commandInMarkdown(row: Command, prefixes: string[]): string {
  const call = [row.name, ...row.args.map(syntax)].join(" ");
  const facts = [
    `- Reply: ${row.reply}`,
    `- Missing key: ${MISSING[row.missing] ?? `\`${row.missing}\`.`}`,
    `- Complexity: ${row.complexity}.`,
    `- Flags: ${row.flags.map((flag) => `\`${flag}\``).join(", ")}. ACL categories: ${categories(row).split(" ").map((c) => `\`@${c}\``).join(", ")}.`,
    ...(row.tips ? [`- Tips: ${row.tips.map((tip) => `\`${tip}\``).join(", ")}.`] : []),
    `- Since ${row.since}.`,
  ];
  return `## ${row.name}

    ${prefixes.map((prefix) => `${prefix}.${call}`).join("\n    ")}

${row.summary}.

${facts.join("\n")}
${row.details ? `\n${row.details}\n` : ""}
Example:

${row.example.map(([command, printed]) => `    > ${command}\n${printed.replace(/^/gm, "    ")}`).join("\n")}
`;
}

const inMarkdown = (): string => `<!-- Generated by tools/generate-commands.ts from host/table/commands.ts. -->

# Commands

Every command exists twice. \`R.\` commands work on keys of type \`reroaring\`, with offsets from 0 to 4294967295. \`R64.\` commands work
on keys of type \`roaring64\`, with offsets from 0 to 18446744073709551615.

Offsets and counts above 9223372036854775807 are replied as bulk strings, because that is the largest integer in RESP2; smaller ones are
integers. With the setting \`redis-roar.r64-replies strings\`, all offsets in the replies of \`R64.\` commands are bulk strings; a -1 that
stands for no offset and all counts remain integers ([why](operations.md#offsets-in-replies)).

[integers.md](integers.md) has the commands \`RI.\` for integers that ids have, and [names.md](names.md) the commands \`RN.\` for names of ids.
[recipes.md](recipes.md) shows how commands solve common tasks together.

| Command | |
|---|---|
${commands.map((row) => `| [${row.name}](#${row.name.toLowerCase()}) | ${row.summary} |`).join("\n")}

Errors common to all commands:

| Error | When |
|---|---|
| \`ERR wrong number of arguments for '...' command\` | |
| \`ERR invalid <name>: must be an unsigned 32 bit integer\` | an offset or value is not such an integer (\`R64.\`: \`64 bit\`). For an end that is too large, the error also says \`, or 4294967296\`, the largest. Arguments are checked before the key |
| \`ERR value is not an integer or out of range\`, \`ERR syntax error\` | as for native commands |
| \`WRONGTYPE Operation against a key holding the wrong kind of value\` | the key holds something else, or a bitmap of the other family |
| \`OOM ...\` | a write needs more memory than is available |

${commands.map((row) => commandInMarkdown(row, families.map(({ id }) => id))).join("\n")}`;

const ownInMarkdown = ({ id, rows, about, document }: Own): string => `<!-- Generated by tools/generate-commands.ts from host/table/${document}.ts. -->

${about}
| Command | |
|---|---|
${rows.map((row) => `| [${row.name}](#${row.name.toLowerCase()}) | ${row.summary} |`).join("\n")}

${rows.map((row) => commandInMarkdown(row, [id])).join("\n")}`;

/** What the file is to contain. */
function documentOf(path: string): string {
  const type = own.find(({ document }) => path.endsWith(`/${document}.md`));
  return type ? ownInMarkdown(type) : inMarkdown();
}

// --- Main -------------------------------------------------------------------------------------------------------------------

check(commands);
for (const { rows } of own) check(rows);
const [mode, file] = process.argv.slice(2);
if (mode === "--docs" && file) writeFileSync(file, documentOf(file));
else if (mode === "--check" && file) {
  if (readFileSync(file, "utf8") !== documentOf(file)) throw new Error(`${file} does not match host/table/: run make documents`);
} else if (mode && !mode.startsWith("--")) writeFileSync(mode, mode.endsWith(".h") ? inHeader() : inC());
else throw new Error("usage: generate-commands <commands.c> | <handlers.h> | --docs <file.md> | --check <file.md>");
