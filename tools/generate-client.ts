// generate-client <client/>           writes src/calls.ts, src/integer-calls.ts, src/name-calls.ts and the tables of methods in README.md
//                                     from host/table/
// generate-client --check <client/>   fails if that would change a file

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, answers } from "../host/table/answers.ts";
import { type Arg, type Command, commands, type Kind, type Method, type Repeated } from "../host/table/commands.ts";
import { integers } from "../host/table/integers.ts";
import { names } from "../host/table/names.ts";

// --- Parameters of methods ---------------------------------------------------------------------------------------------------

interface Parameter {
  name: string;
  type: string;
  optional: boolean;
  /** What the argument is, for its documentation. */
  meaning: string;
  /** Calls of CallBuilder's methods that write it. */
  write: (value: string) => string;
}

/** The documents that describe commands. */
const pageOf = (row: Command): string =>
  `docs/${integers.includes(row) ? "integers" : names.includes(row) ? "names" : "commands"}.md#${row.name.toLowerCase()}`;

const OF_FAMILY = "0 to 4294967295 in `r`, to 18446744073709551615 in `r64`";

const KINDS: Record<Kind, { type: string; meaning: string }> = {
  offset: { type: "Offset<M>", meaning: OF_FAMILY },
  end: { type: "Offset<M>", meaning: `not included: ${OF_FAMILY}, or one more` },
  bit: { type: "Bit", meaning: "0 or 1" },
  rank: { type: "Offset<M>", meaning: "counted from 0; negative from the end" },
  range: { type: "BitRange<M>", meaning: "bytes or bits, both ends included; all if it is not given" },
  number: { type: "number", meaning: "the most members to answer" },
  draws: { type: "number", meaning: "how many different members; negative: as many, some of which may repeat" },
  distance: { type: "Offset<M>", meaning: "added to each member; may be negative" },
  question: { type: "Question", meaning: "only members of this expression count" },
  names: { type: "List<Name>", meaning: "names, one at least, each of 1 to 65,535 bytes" },
  operations: { type: "readonly FieldOperation<M>[]", meaning: "carried out in this order" },
  ranges: { type: "List<readonly [min: Offset<M>, max: Offset<M>]>", meaning: "pairs of a first and a last offset, one at least" },
  value: { type: "Offset<M>", meaning: "an integer of 64 bits, which may be negative" },
  bound: { type: "Bound<M>", meaning: 'an integer, `"-inf"`, `"+inf"`, or an integer behind `(`, which is excluded' },
  entries: { type: "List<readonly [id: Offset<M>, value: Offset<M>]>", meaning: "pairs of an id and its value, one at least, such as a Map" },
  edges: { type: "List<Offset<M>>", meaning: "values in ascending order, one at least" },
  fractions: { type: "List<number>", meaning: "numbers from 0 to 1, one at least" },
  page: { type: "readonly [offset: number, count: number]", meaning: "how many to skip, and the most to answer; a negative count: all" },
  text: { type: "string", meaning: "text" },
  bytes: { type: "Uint8Array", meaning: "bytes" },
};

const fail = (row: Command, why: string): never => {
  throw new Error(`commands.ts: ${row.name}: ${why}`);
};
const repeatedOf = (row: Command): Repeated =>
  (isReadOnly(row) ? "same" : row.repeated ?? fail(row, "a write says what a second execution of it changes"));
const isReadOnly = ({ flags }: Command): boolean => flags.includes("readonly");
const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const quoted = (text: string): string => JSON.stringify(text);
const isWords = ({ type, of }: Arg): boolean => type === "oneof" && of!.every((one) => one.type === "token");
/** An argument that is one value: a key, or of a kind. */
const isValue = ({ type, kind }: Arg): boolean => type === "key" || kind !== undefined;

const REPEATED_IN_WORDS: Record<Repeated, string> = {
  same: "",
  differs: "A second execution can change the key again, so it is not sent again when a connection breaks.",
  destination: "If the destination is among the sources, it is not sent again when a connection breaks.",
};

/** Kinds that are lists, after which their parameters are called. */
const LISTS: readonly Kind[] = ["ranges", "entries", "edges", "fractions", "names"];

/** The parameter for an argument that is one value, or a list of such values. */
function valueParameter(row: Command, { name, type, kind, multiple, optional }: Arg): Parameter {
  const called = type === "key" && name === "names" ? "dictionary" : name;
  const base = { name: camel(multiple && kind !== "operations" ? `${called}s` : called), optional: optional === true && kind !== "operations" };
  if (type === "key") {
    return multiple
      ? { ...base, type: "List<Key>", meaning: "keys, one at least", write: (value) => `.keyList(${value})` }
      : { ...base, type: "Key", meaning: called === name ? "a key" : "the key of the names", write: (value) => `.key(${value})` };
  }
  const known = KINDS[kind!];
  if (kind === "operations") {
    return { ...base, name: "operations", type: isReadOnly(row) ? "readonly FieldGet<M>[]" : known.type, meaning: known.meaning, write: (value) => `.operations(${value})` };
  }
  if (LISTS.includes(kind!)) return { ...base, name: kind!, ...known, write: (value) => `.${kind}(${value})` };
  if (multiple && kind !== "offset") return fail(row, `${name}: only offsets and keys can be lists`);
  if (multiple) {
    return { ...base, type: "List<Offset<M>>", meaning: `${known.meaning}; one at least`, write: (value) => `.offsets(${quoted(base.name)}, ${value})` };
  }
  if (kind === "range" || kind === "question" || kind === "page") return { ...base, ...known, write: (value) => `.${kind}(${value})` };
  return { ...base, ...known, write: (value) => `.${kind}(${quoted(name)}, ${value})` };
}

/** Names of arguments that are numbers of keys or ranges. */
const NUMBERS = /^num(keys|facets|rows|cols|ranges)$/;

interface Signature {
  positional: Parameter[];
  options: Parameter[];
  /** Statements that write the arguments; the first continues the builder's construction. */
  first: string;
  rest: string[];
}

/** The parameters of a method, and the statements that write its call. */
function signature(row: Command, method: Method): Signature {
  const made: Signature = { positional: [], options: [], first: "", rest: [] };
  const words = row.methods.flatMap(({ word, also }) => [word ?? [], also ?? []].flat()), own = [method.word, method.also];
  const given = row.methods.flatMap((one) => one.given ?? []);
  /** Appends to the chain that builds the call, which ends at the first optional argument. */
  const always = (text: string): void => {
    if (made.rest.length === 0) made.first += text;
    else made.rest.push(`call${text};`);
  };
  const option = (parameter: Parameter): void => {
    made.options.push({ ...parameter, optional: true });
    const value = `options.${parameter.name}`;
    made.rest.push(`if (${value} !== undefined) call${parameter.write(value)};`);
  };
  const visit = (any: Arg): void => {
    const arg = any.kindWith && own.includes(any.kindWith[0]) ? { ...any, kind: any.kindWith[1] } : any;
    if (NUMBERS.test(arg.name)) return; // they are written with the keys
    if (arg.needs !== undefined && arg.needs !== method.given && !own.includes(arg.needs)) return;
    if (arg.without !== undefined && arg.without === method.given) return;
    if (arg.optional && given.includes(arg.name)) {
      if (method.given !== arg.name) return;
      const token = arg.token === undefined ? "" : `.word(${quoted(arg.token)})`;
      const parameter = { ...valueParameter(row, arg), optional: false };
      made.positional.push(parameter);
      always(token + parameter.write(parameter.name));
      return;
    }
    if (isValue(arg) && arg.token) {
      const parameter = valueParameter(row, { ...arg, name: arg.token.toLowerCase() });
      const write = arg.token === "COUNT" ? (value: string) => `.number("count", ${value}, 1n)` : parameter.write; // which cannot be 0
      option({ ...parameter, write: (value) => `.word(${quoted(arg.token!)})${write(value)}` });
    } else if (isValue(arg)) {
      const parameter = valueParameter(row, arg), { name, write } = parameter;
      if (parameter.optional && arg.kind !== "range") option(parameter);
      else {
        made.positional.push(parameter);
        if (parameter.optional) made.rest.push(`if (${name} !== undefined) call${write(name)};`);
        else always(arg.type === "key" && NUMBERS.test(row.args[row.args.indexOf(arg) - 1]?.name ?? "") ? `.numberedKeys(${name})` : write(name));
      }
    } else if (arg.type === "token") {
      if (own.includes(arg.token)) always(`.word(${quoted(arg.token!)})`);
      else if (!words.includes(arg.token!)) {
        const name = arg.name;
        made.options.push({ name, type: "boolean", optional: true, meaning: `\`${arg.token}\``, write: () => "" });
        made.rest.push(`if (options.${name}) call.word(${quoted(arg.token!)});`);
      }
    } else if (isWords(arg) && arg.of!.some(({ token }) => words.includes(token!))) {
      if (arg.of!.some(({ token }) => token === method.word)) always(`.word(${quoted(arg.token!)}).word(${quoted(method.word!)})`);
    } else if (isWords(arg)) {
      const parameter: Parameter = {
        name: arg.name, type: arg.of!.map(({ token }) => quoted(token!)).join(" | "), optional: arg.optional === true,
        meaning: "a keyword", write: (value) => `${arg.token === undefined ? "" : `.word(${quoted(arg.token)})`}.word(${value})`,
      };
      if (parameter.optional) option(parameter);
      else {
        made.positional.push(parameter);
        always(parameter.write(parameter.name));
      }
    } else if (arg.type === "oneof") {
      const chosen = arg.of!.find(({ token, of }) => (token ?? of![0]!.token) === method.word);
      if (!chosen) return fail(row, `${method.name}: none of the alternatives of ${arg.name} begins with ${method.word}`);
      for (const part of chosen.type === "block" ? chosen.of! : [chosen]) visit(part);
    } else fail(row, `${arg.name}: has no kind`);
  };
  for (const arg of row.args) visit(arg);
  return made;
}

// --- Answers and documentation -----------------------------------------------------------------------------------------------

/** What methods answer if the row describes the replies of several. */
const ONE_OF_SEVERAL: Partial<Record<Answer, string>> = {
  count: "The number of members.", counts: "A number of members for each.", offsets: "The members in ascending order.", bytes: "The bitmap's bytes.",
};
const answerName = (answer: Answer): string => answers[answer].member ?? answer.replace("?", "OrNull");

function replyOf(row: Command, { answer }: Method): string {
  const text = answers[answer].text ?? (row.methods.length > 1 ? ONE_OF_SEVERAL[answer] : undefined) ?? row.reply;
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\bnil\b/g, "null");
}

function errorsOf(row: Command, { positional, options }: Signature): string {
  const checked = [...positional, ...options].some(({ type }) => /Offset|Bit\b|BitRange|number|Field|List/.test(type));
  return [
    ...(row.keys.some(({ access }) => access === "read" || access === "modify" || access === "insert") ? ["WrongTypeError"] : []),
    ...(checked ? ["InvalidArgumentError"] : []),
    ...(row.flags.includes("deny-oom") ? ["OutOfMemoryError"] : []),
    ...(positional.some(({ type }) => type === "Uint8Array") ? ["InvalidPayloadError"] : []),
    ...(row.missing === "error" ? ["RoarError if a key is missing"] : []),
  ].join(", ");
}

function syntax(row: Command, method: Method): string {
  const { positional, options } = signature(row, method);
  const always = positional.map(({ name, optional }) => (optional ? `${name}?` : name));
  const braces = options.length > 0 ? [`{ ${options.map(({ name }) => `${name}?`).join(", ")} }`] : [];
  return `${method.name}(${[...always, ...braces].join(", ")})`;
}

function parameters({ positional, options }: Signature): string {
  const list = positional.map(({ name, type, optional }) => `${name}${optional ? "?" : ""}: ${type}`);
  if (options.length > 0) list.push(`options: { ${options.map(({ name, type }) => `${name}?: ${type} | undefined`).join("; ")} } = {}`);
  return list.join(", ");
}

/** What an argument is in commands of integers and names, whose families are named otherwise. */
function inFamilyOf(row: Command, meaning: string): string {
  if (integers.includes(row)) return meaning.replace(OF_FAMILY, "0 to 9007199254740991 in `ri`, to 18446744073709551615 in `ri64`");
  return names.includes(row) ? meaning.replace(OF_FAMILY, "0 to 4294967295") : meaning;
}

function documentation(row: Command, method: Method): string {
  const made = signature(row, method), errors = errorsOf(row, made);
  return [
    `${method.summary ?? row.summary}.`,
    "",
    ...made.positional.map(({ name, meaning }) => `@param ${name} ${inFamilyOf(row, meaning)}`),
    ...(made.options.length > 0 ? [`@param options ${made.options.map(({ name, meaning }) => `\`${name}\`: ${inFamilyOf(row, meaning)}`).join("; ")}`] : []),
    `@returns ${replyOf(row, method)}`,
    ...(errors ? [`@throws ${errors}`] : []),
    `@remarks ${row.complexity}.${REPEATED_IN_WORDS[repeatedOf(row)].replace(/^(?=.)/, " ")} Since ${row.since}. See ${pageOf(row)}.`,
  ].map((line) => `   *${line && " "}${line}`).join("\n").replace(/^/, "  /**\n").concat("\n   */");
}

// --- Files -------------------------------------------------------------------------------------------------------------------

const HEADER = "// Generated by tools/generate-client.ts from the command table, host/table/.\n";
const LAYOUT = "/* eslint-disable @stylistic/max-len */\n";

interface MethodOf {
  row: Command;
  method: Method;
}

const methodsOf = (rows: readonly Command[]): MethodOf[] => rows.flatMap((row) => row.methods.map((method) => ({ row, method })));

function callMethod({ row, method }: MethodOf): string {
  const made = signature(row, method);
  const repeated = repeatedOf(row) === "same" ? "" : `, ${quoted(repeatedOf(row))}`;
  const begin = `new CallBuilder(this.family, ${quoted(row.name)}, ${isReadOnly(row)}${repeated})`;
  const end = `.answers(this.answers.${answerName(method.answer)})`;
  const body = made.rest.length === 0
    ? [`return ${begin}${made.first}${end};`]
    : [`const call = ${begin}${made.first};`, ...made.rest, `return call${end};`];
  return `${documentation(row, method)}
  ${method.name}(${parameters(made)}): Call<${answers[method.answer].type}> {
${body.map((line) => `    ${line}`).join("\n")}
  }
`;
}

/** A file with a class of calls. */
interface CallsFile {
  rows: readonly Command[];
  types: readonly string[];
  className: string;
  /** The class's parameter, `M extends Member` or another one; without members, ids are numbers. */
  parameter: string;
  answers: string;
  family: string;
  readOnly: string;
  methodName: string;
  about: string;
}

/** Types with ids that are numbers. */
const withNumbers = (text: string): string => text.replace(/\b(?:Offset|Count)<M>|\bM\b/g, "number");

function file({ rows, types, className, parameter, answers: ofReplies, family, readOnly, methodName, about }: CallsFile): string {
  const [of] = parameter.split(" "), methods = methodsOf(rows).map(callMethod).join("\n");
  const imported = of === "M" ? ["Count", family, "Member", "Offset"] : ["Name", family];
  return `${HEADER}${LAYOUT}
import { ${ofReplies} } from "./answers.js";
import { type Call, CallBuilder } from "./call.js";
import type { ${imported.join(", ")} } from "./family.js";
import type { ${types.join(", ")} } from "./types.js";

/** The methods of {@link ${className}}, and whether their commands only read. */
export const ${readOnly} = {
${methodsOf(rows).map(({ row, method }) => `  ${method.name}: ${isReadOnly(row)},`).join("\n")}
} as const;

/** The name of a method that is a command. */
export type ${methodName} = keyof typeof ${readOnly};

/** ${about} */
export class ${className}<${parameter}> {
  readonly family: ${family}<${of}>;
  protected readonly answers: ${ofReplies}<${of}>;

  constructor(family: ${family}<${of}>) {
    this.family = family;
    this.answers = new ${ofReplies}(family);
  }

${of === "M" ? methods : withNumbers(methods)}}
`;
}

const table = (rows: readonly Command[]): string => [
  "| Method | Answer | Command |",
  "|---|---|---|",
  ...methodsOf(rows).map(({ row, method }) => {
    const { type: full } = answers[method.answer], type = (names.includes(row) ? withNumbers(full) : full).replace(/<[MN]>/g, "").replaceAll("|", "\\|");
    const words = [method.word ?? [], method.also ?? []].flat().map((word) => ` \`${word}\``).join("");
    return `| \`${syntax(row, method)}\` | \`${type}\` | [${row.name}](../${pageOf(row)})${words} |`;
  }),
].join("\n");

/** The text with a table between its two marks. */
function withTable(text: string, mark: string, rows: readonly Command[]): string {
  const before = `<!-- ${mark} -->\n`, after = `\n<!-- /${mark} -->`, begin = text.indexOf(before), end = text.indexOf(after);
  if (begin < 0 || end < 0) throw new Error(`README.md has no place for the table of ${mark}`);
  return `${text.slice(0, begin)}${before}${table(rows)}${text.slice(end)}`;
}

const calls = file({
  rows: commands, className: "Calls", parameter: "M extends Member", answers: "Answers", family: "Family", readOnly: "readOnly", methodName: "MethodName",
  types: ["Bit", "BitRange", "FieldGet", "FieldOperation", "Key", "List", "Page", "Question", "Statistics"],
  about: "The commands of a family as values, which a pipeline sends, or which you send yourself.",
});
const integerCalls = file({
  rows: integers, className: "IntegerCalls", parameter: "M extends Member", answers: "Answers", family: "IntegerFamily",
  readOnly: "integersReadOnly", methodName: "IntegerMethodName",
  types: ["Bound", "EntryPage", "IntegerStatistics", "Key", "List", "Question", "Sum", "Summary"],
  about: "The commands of integers for ids as values, which a pipeline sends, or which you send yourself.",
});
const nameCalls = file({
  rows: names, className: "NameCalls", parameter: "N extends Name", answers: "NameAnswers", family: "NameFamily",
  readOnly: "namesReadOnly", methodName: "NameMethodName", types: ["Bit", "FoundNames", "Key", "List", "NamePage"],
  about: "The commands of names for ids as values, which a pipeline sends, or which you send yourself.",
});

const [mode, folder] = process.argv.slice(2).length === 2 ? process.argv.slice(2) : ["--write", process.argv[2]];
if (!folder || !["--write", "--check"].includes(mode)) throw new Error("usage: generate-client [--check] <client/>");
const pathOf = (name: string): string => join(folder, name);
const tables: [mark: string, rows: readonly Command[]][] = [["methods", commands], ["integers", integers], ["names", names]];
const readme = tables.reduce((text, [mark, rows]) => withTable(text, mark, rows), readFileSync(pathOf("README.md"), "utf8"));
const made: [name: string, text: string][] = [
  ["src/calls.ts", calls], ["src/integer-calls.ts", integerCalls], ["src/name-calls.ts", nameCalls], ["README.md", readme],
];
for (const [name, text] of made) {
  if (mode === "--write") writeFileSync(pathOf(name), text);
  else if (readFileSync(pathOf(name), "utf8") !== text) throw new Error(`${pathOf(name)} does not match host/table/: run make documents`);
}
