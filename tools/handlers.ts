// C code that follows from a row of the command table: the beginning of a handler, and the reports of a call's keys.

import type { Access, Arg, Command } from "../host/table/commands.ts";

const KEY_FLAGS: Record<Access, string[]> = {
  read: ["RO", "ACCESS"],
  modify: ["RW", "ACCESS", "UPDATE"],
  update: ["RW", "UPDATE"],
  insert: ["RW", "INSERT"],
  overwrite: ["OW", "INSERT"],
};

/** An expression for these flags of the server. */
export const flags = (prefix: string, names: string[]): string =>
  names.map((name) => `REDISMODULE_CMD_${prefix}_${name}`).join(" | ") || "0";
export const keyFlags = (access: Access, more: string[] = []): string => flags("KEY", [...KEY_FLAGS[access], ...more]);

/** The arity as the server defines it: it includes the command's name, and is negative if there may be more arguments. */
export function arity({ args }: Command): number {
  const required = 1 + args.filter(({ optional }) => !optional).length;
  return args.some(({ optional, multiple }) => optional || multiple) ? -required : required;
}

// --- Handlers ---------------------------------------------------------------------------------------------------------------

/** What the beginning of a handler does before it calls the command's own function. */
interface Beginning {
  /** Declarations, "type name". */
  variables: string[];
  /** Takes away a word behind a list. */
  cut?: string;
  /** Branches of the loop over options, which may be in any order. */
  options: string[];
  /** Calls that return 0 after an error reply, in this order. */
  calls: string[];
  /** What the command's function gets, besides the call. */
  parameters: { type: string; value: string }[];
  /** A list, and the call that frees it at the end. */
  list?: { name: string; end: string };
}

/** Adds an option: a word, or a word and an offset. `add` declares a variable, whose value without the option is 0. */
function parseOption({ options, variables }: Beginning, { name, type, kind, token }: Arg, add: (cType: string) => void): void {
  if (type === "token") {
    add("int");
    options.push(`if (!${name} && argument_is(c, at, "${token}")) ${name} = 1;`);
  } else if (kind === "offset") {
    add("uint64_t");
    variables.push(`int has_${name} = 0`);
    options.push(`if (!has_${name} && at + 1 < c->argc && argument_is(c, at, "${token}")) {
            has_${name} = 1, at++;
            if (!parse_offset(c, at, "${name}", &${name})) return REDISMODULE_OK;
        }`);
  } else throw new Error(`commands.ts: nothing parses an option like ${token}`);
}

/** Adds the argument at this position of argv. */
function parse(begin: Beginning, arg: Arg, at: number): void {
  const { name, kind, type, token, optional, multiple } = arg;
  const add = (cType: string, value = name): void => {
    begin.variables.push(`${cType} ${value}`);
    begin.parameters.push({ type: cType, value });
  };
  if (type === "key") return;
  if (kind === "offset" && multiple) {
    begin.variables.push(`uint64_t *${name}`, "uint32_t length");
    begin.parameters.push({ type: "uint64_t *", value: name }, { type: "uint32_t", value: "length" });
    begin.calls.push(`parse_values(c, ${at}, "${name}", &${name}, &length)`);
    begin.list = { name, end: `free_values(c, ${name})` };
  } else if (kind === "names") {
    begin.variables.push("naming n");
    begin.parameters.push({ type: "naming *", value: "&n" });
    begin.calls.push(`begin_naming(c, ${at}, &n)`);
    begin.list = { name, end: "end_naming(&n)" };
  } else if (type === "token" && begin.list) {
    add("int");
    begin.cut = `c->argc -= ${name} = argument_is(c, c->argc - 1, "${token}");`;
  } else if (optional && token) {
    parseOption(begin, arg, (cType) => {
      begin.variables.push(`${cType} ${name} = 0`);
      begin.parameters.push({ type: cType, value: name });
    });
  } else if (kind === "offset") {
    add("uint64_t");
    begin.calls.push(`parse_offset(c, ${at}, "${name}", &${name})`);
  } else if (kind === "end") {
    add("cardinality");
    begin.calls.splice(-1, 1, `parse_start_end(c, ${at - 1}, &start, &end)`); // in place of that of `start`
  } else if (kind === "bit") {
    add("uint32_t");
    begin.calls.push(`parse_bit(c, ${at}, "${name}", &${name})`);
  } else if (type === "integer" && (!kind || kind === "value")) {
    add("int64_t");
    begin.calls.push(`parse_index(c, ${at}, &${name})`);
  } else if (kind === "rank") {
    add("uint64_t");
    add("int", "from_end");
    begin.calls.push(`parse_rank(c, ${at}, &${name}, &from_end)`);
  } else throw new Error(`commands.ts: nothing parses an argument like ${name}`);
}

/** The replies for missing keys. */
const MISSING: Partial<Record<Command["missing"], string>> = {
  0: "RedisModule_ReplyWithLongLong(c->ctx, 0)",
  [-1]: "RedisModule_ReplyWithLongLong(c->ctx, -1)",
  nil: "RedisModule_ReplyWithNull(c->ctx)",
  "[]": "RedisModule_ReplyWithArray(c->ctx, 0)",
  string: 'RedisModule_ReplyWithSimpleString(c->ctx, "")',
};

/** What handlers of rows that read get in place of a missing key, if the row says that it counts as empty. */
const EMPTY = "b = bitmap_empty();";

/** How the key, argv[1], is opened. A row that lacks `deny-oom` creates no key above maxmemory. */
function opener({ flags: have, keys: [key], missing }: Command): string | undefined {
  if (key!.at !== 1 || key!.to !== undefined || key!.access === "overwrite") return undefined;
  if (key!.access === "read") return "open_read(c, 1, &b)";
  if (missing !== "creates") return "open_write(c, 1, &k)";
  return have.includes("deny-oom") ? "open_create(c, 1, &k)" : "open_create_below_maxmemory(c, 1, &k)";
}

function beginning(row: Command): Beginning & { open?: string } {
  const begin: Beginning = { variables: [], options: [], calls: [], parameters: [] };
  row.args.forEach((arg, i) => parse(begin, arg, i + 1));
  const open = opener(row);
  if (open === undefined) return begin;
  const reads = row.keys[0]!.access === "read";
  begin.variables.push(reads ? "const bitmap *b" : "open_key k");
  begin.parameters.unshift(reads ? { type: "const bitmap *", value: "b" } : { type: "open_key *", value: "&k" });
  return { ...begin, open };
}

/** The declaration of the command's own function. */
export function declaration(row: Command): string {
  const name = `${row.name.toLowerCase()}_command`;
  if (row.handledBy) return "";
  return row.parsed ? `int ${name}(${["call *c", ...beginning(row).parameters.map(({ type }) => type)].join(", ")});` : `handler ${name};`;
}

/** The function that a row has as its handler: the command's own one, or for a row with `parsed` one that calls it. */
export const handlerOf = ({ name, parsed, handledBy }: Command): string => `${(handledBy ?? name).toLowerCase()}_${parsed ? "parsed" : "command"}`;

/** That function, if the command's own one is another. */
export function handlerInC(row: Command): string {
  if (!row.parsed) return "";
  const { variables, cut, options, calls, parameters, list, open } = beginning(row), reply = MISSING[row.missing];
  const reads = row.keys[0]!.access === "read", isEmpty = reads && row.missing === "empty";
  if (open && !reply && !isEmpty && !open.startsWith("open_create")) throw new Error(`commands.ts: ${row.name}: nothing replies ${row.missing}`);
  const command = `${row.name.toLowerCase()}_command(${["c", ...parameters.map(({ value }) => value)].join(", ")});`;
  const isMissing = reads ? `if (b == NULL) ${reply};` : `if (k.value == NULL) abandon(&k), ${reply};`;
  const act = open === undefined ? [command]
    : isEmpty ? [`if (${open}) {`, `    if (b == NULL) ${EMPTY}`, `    ${command}`, "}"]
    : reply ? [`if (${open}) {`, `    ${isMissing}`, `    else ${command}`, "}"] : [`if (${open}) ${command}`];
  const lines = [
    ...variables.map((variable) => `${variable};`), ...(cut ? [cut] : []), ...calls.map((call) => `if (!${call}) return REDISMODULE_OK;`),
    ...(options.length > 0 ? [`for (int at = ${-arity(row)}; at < c->argc; at++) {`, `    ${[...options, "return reply_syntax_error(c);"].join("\n        else ")}`, "}"] : []),
    ...act, ...(list ? [`${list.end};`] : []), "return REDISMODULE_OK;",
  ];
  return `static int ${handlerOf(row)}(call *c) {\n${lines.map((line) => `    ${line}\n`).join("")}}\n`;
}

// --- Keys -------------------------------------------------------------------------------------------------------------------

/** Whether the server has to ask the module for the keys of each call. */
export const asksKeys = ({ keys }: Command): boolean =>
  keys.some(({ oneKeyFor, modifyWith, numbered, keyword }) => oneKeyFor ?? modifyWith ?? keyword ?? numbered);

/** The statement that reports the keys of a key spec; `next` is the one after it. */
function report(spec: Command["keys"][number], next?: Command["keys"][number]): string {
  const { at, to, access, oneKeyFor, optionBefore, modifyWith, numbered, behind, keyword } = spec;
  const usage = modifyWith ? `modifies ? ${keyFlags("modify")} : ${keyFlags(access)}` : keyFlags(access);
  if (keyword) {
    return `for (int at = 2; at < c->argc; at++) {\n        if (!word_at(c, at, "${keyword}")) continue;\n`
      + `        report_numbered(c, at + 3, ${usage});\n        break;\n    }`;
  }
  if (numbered) {
    const known = next?.behind === undefined ? "" : behind === undefined ? "int last = " : "last = ";
    return behind === undefined ? `${known}report_numbered(c, ${at}, ${usage});` : `if (last) ${known}report_numbered(c, last + ${behind + 1}, ${usage});`;
  }
  const first = optionBefore ? `(word_at(c, ${at}, "${optionBefore}") ? ${at + 2} : ${at})` : `${at}`;
  const last = oneKeyFor ? `word_at(c, 1, "${oneKeyFor}") ? ${first} : c->argc - 1` : to ? "c->argc - 1" : first;
  return `report_keys(c, ${first}, ${last}, ${usage});`;
}

/** The function that reports the keys of a call; empty if the server does not ask for them. */
export function keysInC(row: Command): string {
  if (!asksKeys(row)) return "";
  const word = row.keys[0]!.modifyWith;
  const lines = [
    ...(word ? ["int modifies = 0;", `for (int at = ${-arity(row)}; at < c->argc; at++) modifies |= argument_is(c, at, "${word}");`] : []),
    ...row.keys.map((spec, i) => report(spec, row.keys[i + 1])), "return REDISMODULE_OK;",
  ];
  return `static int ${row.name.toLowerCase()}_keys_of(call *c) {\n${lines.map((line) => `    ${line}\n`).join("")}}\n`;
}
