// From commands as text to calls of the JavaScript client's methods, and from what redis-cli prints to what the methods answer.

import { type Answer, type Arg, type Command as Row, commands, type Method } from "../../host/table/commands.ts";
import { type Family, R } from "./family.ts";

export interface MethodCall {
  method: Method;
  args: unknown[];
}

/** The words of a line for redis-cli. Strings have one character for each byte. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g)].map(([word, quoted]) => (quoted === undefined ? word : unescaped(quoted)));

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

const unescaped = (text: string): string => text.replace(/\\(x[0-9a-f]{2}|.)/g, (_, escape: string) =>
  (escape.length > 1 ? String.fromCharCode(Number.parseInt(escape.slice(1), 16)) : ESCAPES[escape] ?? escape));

const integerOf = (family: Family, word: string): number | bigint => (family === R ? Number(word) : BigInt(word));

function fieldOperations(family: Family, words: string[]): unknown[] {
  const operations: unknown[] = [];
  let overflow: string | undefined;
  while (words.length > 0) {
    const kind = words.shift()!;
    if (kind === "OVERFLOW") {
      overflow = words.shift();
      continue;
    }
    const type = words.shift()!, at = words.shift()!, place = at.startsWith("#") ? at : integerOf(family, at);
    if (kind === "GET") operations.push([kind, type, place]);
    else operations.push([kind, type, place, BigInt(words.shift()!), ...(overflow === undefined ? [] : [overflow])]);
  }
  return operations;
}

/** The method that makes the call of a command, and its arguments. */
export function methodCallOf(row: Row, family: Family, line: readonly (string | number | bigint | Buffer)[]): MethodCall {
  const rest = line.map((word) => (Buffer.isBuffer(word) ? word.toString("latin1") : String(word)));
  const words = row.methods.flatMap(({ word }) => word ?? []);
  const [plain] = [...row.methods.filter(({ word }) => word === undefined), ...row.methods];
  const given = row.args.findIndex(({ name }) => row.methods.some((one) => one.given === name));
  const option = row.args[given]?.token;
  const isGiven = given >= 0 && (option === undefined ? rest.length > given : rest.includes(option));
  const isMeant = (one: Method): boolean =>
    (one.word === undefined ? !words.some((word) => rest.includes(word)) : rest.includes(one.word))
    && (one.given !== undefined) === isGiven;
  const method = row.methods.find(isMeant) ?? plain!;
  const args: unknown[] = [], options: Record<string, unknown> = {}, complement = rest[0] === "NOT";
  let keys = Infinity;
  const value = ({ type, kind }: Arg, word: string): unknown => {
    if (type === "key" || kind === "text") return word;
    if (kind === "bytes") return Buffer.from(word, "latin1");
    return kind === "bit" || kind === "number" || kind === "draws" ? Number(word) : integerOf(family, word);
  };
  const visit = (arg: Arg): void => {
    if (/^num(keys|facets|rows|cols|ranges)$/.test(arg.name)) keys = Number(rest.shift());
    else if (arg.kind === "operations") args.push(fieldOperations(family, rest.splice(0)));
    else if (arg.kind === "ranges") {
      const bounds = rest.splice(0).map((word) => integerOf(family, word));
      args.push(Array.from({ length: bounds.length / 2 }, (_, i) => [bounds[2 * i], bounds[2 * i + 1]]));
    } else if (arg.kind === "range") {
      const [start, end, unit] = rest.splice(0);
      if (start === undefined) return;
      args.push({ start: integerOf(family, start), ...(end !== undefined && { end: integerOf(family, end) }), ...(unit && { unit }) });
    } else if (arg.kind === "question") {
      if (rest[0] !== "WITHIN") return;
      const [, expression, , ...within] = rest.splice(0);
      options[arg.name] = { expression, keys: within };
    } else if (arg.token && arg.type !== "token") {
      if (rest[0] !== arg.token) return;
      if (arg.type === "oneof") rest.splice(0, 2);
      else if (arg.name === method.given) args.push(value(arg, rest.splice(0, 2)[1]!));
      else options[arg.token.toLowerCase()] = value(arg, rest.splice(0, 2)[1]!);
    } else if (arg.multiple) {
      const count = complement ? 1 : Math.min(keys, rest.length - (words.includes(rest.at(-1)!) ? 1 : 0));
      args.push(rest.splice(0, count).map((word) => value(arg, word)));
    } else if (arg.type === "token") {
      if (rest[0] === arg.token && rest.shift() !== method.word) options[arg.name] = true;
    } else if (arg.type === "oneof" && arg.of!.every(({ type }) => type === "token")) {
      if (!arg.optional) args.push(rest.shift());
      else if (rest.length > 0) options[arg.name] = rest.shift();
    } else if (arg.type === "oneof") {
      for (const part of arg.of!.flatMap(({ type, of, ...one }) => (type === "block" ? of! : [{ type, ...one }]))) visit(part);
    } else if (!arg.optional || (arg.name === method.given && rest.length > 0)) args.push(value(arg, rest.shift()!));
    else if (rest.length > 0) options[arg.name] = value(arg, rest.shift()!);
  };
  for (const arg of row.args) visit(arg);
  if (rest.length > 0) throw new Error(`${row.name}: left over: ${rest.join(" ")}`);
  return { method, args: Object.keys(options).length > 0 ? [...args, options] : args };
}

export const rowOf = (command: string): Row => commands.find(({ name }) => name === command.split(".")[1])!;

/** A reply as redis-cli prints it: integers as bigints. */
export type Printed = bigint | string | null | Printed[];

export function parsePrinted(printed: string): Printed {
  const text = printed.trim();
  if (text === "(nil)") return null;
  if (text === "(empty array)") return [];
  if (text.startsWith("(integer) ")) return BigInt(text.slice(10));
  if (!/^\d+\) /.test(text)) return text.startsWith('"') ? unescaped(text.slice(1, -1)) : text;
  const items: string[] = [];
  for (const line of text.split("\n")) {
    if (/^\d+\) /.test(line)) items.push(line.replace(/^\d+\) /, ""));
    else items[items.length - 1] += `\n${line.trim()}`;
  }
  return items.map(parsePrinted);
}

/** What a method answers for this reply. */
export function answerOf(answer: Answer, family: Family, printed: Printed): unknown {
  const member = (value: Printed): unknown => integerOf(family, String(value));
  if (printed === null) return null;
  switch (answer) {
    case "bit": case "length": return Number(printed);
    case "bits": return (printed as bigint[]).map(Number);
    case "boolean": return printed === 1n;
    case "count": case "count?": return member(printed);
    case "table": return (printed as Printed[][]).map((row) => row.map(member));
    case "ratios": return (printed as Printed[]).map((ratio) => (Number(ratio) < 0 ? null : Number(ratio)));
    case "ranking": return (printed as [Printed, Printed][]).map(([key, count]) => [key, member(count)]);
    case "ratio ranking": return (printed as [Printed, Printed][]).map(([key, ratio]) => [key, Number(ratio)]);
    case "counts": return (printed as Printed[]).map(member);
    case "ranges": return (printed as Printed[][]).map((pair) => pair.map(member));
    case "offset?": return printed === -1n ? null : member(printed);
    case "offsets": return (printed as Printed[]).map(member);
    case "page": {
      const [cursor, members] = printed as [string, Printed[]];
      return { members: members.map(member), cursor: cursor === "0" ? null : member(cursor) };
    }
    case "ratio?": return Number(printed) < 0 ? null : Number(printed);
    case "bytes": case "bytes?": return Buffer.from(printed as string, "latin1");
    case "statistics?": return JSON.parse(printed as string) as unknown;
    case "ok": case "ok?": case "text": case "text?": case "fields": return printed;
  }
}
