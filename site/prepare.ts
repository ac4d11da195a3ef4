// Makes the pages of the site from the documents of the project, in site/pages. Each command gets a page of its own, links between
// documents become links between pages, and pictures are copied. VitePress then builds the site and fails if a link leads nowhere.

import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { commands as rows, type Command as Row } from "../host/table/commands.ts";
import { R } from "../test/support/family.ts";
import { methodCallOf, wordsOf } from "../test/support/methods.ts";
import { tasks } from "./tasks.ts";

const project = fileURLToPath(new URL("..", import.meta.url)), target = join(project, "site/pages");
const read = (path: string): string => readFileSync(join(project, path), "utf8");

/** The page of a document, without its ending. */
const pages = new Map<string, string>();
for (const name of readdirSync(join(project, "docs")).filter((file) => file.endsWith(".md"))) pages.set(`docs/${name}`, name.slice(0, -3));
pages.set("docs/commands.md", "commands/index");
pages.set("README.md", "start");
pages.set("client/README.md", "javascript");
if (existsSync(join(project, "cli/README.md"))) pages.set("cli/README.md", "command-line");
pages.set("examples/README.md", "examples/index");
for (const name of ["CHANGELOG", "CONTRIBUTING", "SECURITY"]) pages.set(`${name}.md`, name.toLowerCase());
for (const name of readdirSync(join(project, "examples"))) {
  if (existsSync(join(project, `examples/${name}/README.md`))) pages.set(`examples/${name}/README.md`, `examples/${name}/index`);
}
pages.set("test/data/README.md", "data");

/** Commands whose sections docs/commands.md has, by their anchors. */
const commands = new Map([...read("docs/commands.md").matchAll(/^## (.+)$/gm)].map(([, name]) => [name!.toLowerCase(), name!]));

const webPath = (page: string): string => `/${page.replace(/(^|\/)index$/, "$1")}`;

/** Where a link of a document leads on the site. Sources have no page: undefined. */
function destination(document: string, link: string): string | undefined {
  const [path, anchor] = link.split("#") as [string, string?], file = path === "" ? document : posix.normalize(posix.join(dirname(document), path));
  if (file === "docs/commands.md" && anchor && commands.has(anchor)) return `/commands/${anchor}`;
  const page = pages.get(file);
  if (page !== undefined) return `${webPath(page)}${anchor ? `#${anchor}` : ""}`;
  if (/\.(svg|png|json)$/.test(file)) return `/${file}`;
  return undefined;
}

/** The title of a document. */
const titleOf = (document: string): string => /^# (.+)$/m.exec(read(document))?.[1] ?? document;

/** What a link says: names of documents, which readers of the site do not know, become titles. */
function labelOf(document: string, label: string, link: string): string {
  if (!/^[\w./-]+\.md$/.test(label)) return label;
  const [path, anchor] = link.split("#") as [string, string?], file = path === "" ? document : posix.normalize(posix.join(dirname(document), path));
  if (!pages.has(file)) return label;
  const heading = anchor && [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, text]) => text!)
    .find((text) => text.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-") === anchor);
  return heading ? `${titleOf(file)}: ${heading}` : titleOf(file);
}

/** Code that a document indents, as a block with a button that copies it. Code in lists stays as it is. */
function fenced(block: string, before: string): string {
  const last = before.trimEnd().split("\n").at(-1) ?? "";
  if (!/\n\s*\n$|^$/.test(before) || /^\s+\S|^(?:[-*]|\d+\.) /.test(last)) return block;
  const code = block.replace(/^(?: {4}|\t)/gm, "").trimEnd();
  return `\`\`\`${/^(?:\$|>|127\.0\.0\.1:\d+>) /.test(code) ? "console" : "sh"}\n${code}\n\`\`\`\n`;
}

/** Text of a document as text of a page: links, and what Vue would take for a tag or an expression of its own. */
function converted(document: string, text: string): string {
  const parts = text.split(/(^```[^]*?^```$|^(?: {4}|\t).*\n(?:(?:[ \t]*\n)*(?: {4}|\t).*\n)*|`[^`\n]+`)/m);
  return parts.map((part, n) => {
    if (n % 2 === 1) return /^(?: {4}|\t)/.test(part) ? fenced(part, parts[n - 1]!) : part;
    return part
      .replace(/<!--[^]*?-->/g, "")
      .replace(/(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\((?!https?:)([^)\s]+)\)/g, (whole, picture: string, label: string, link: string) => {
        const to = destination(document, link);
        if (to && /\.(svg|png|json)$/.test(to)) copyFile(to.slice(1));
        if (to) return `${picture}[${labelOf(document, label, link)}](${to})`;
        return picture ? whole : label;
      })
      .replace(/\{\{/g, "&#123;&#123;");
  }).join("");
}

/** Code spans may be the labels of links, which `converted` cannot see whole. */
const withCodeLinks = (document: string, text: string): string =>
  text.replace(/\[(`[^`]+`)\]\((?!https?:)([^)\s]+)\)/g, (_, label: string, link: string) => {
    const to = destination(document, link);
    if (to && /\.(svg|png|json)$/.test(to)) copyFile(to.slice(1));
    return to ? `<a href="${to}"><code>${label.slice(1, -1).replaceAll("<", "&lt;")}</code></a>` : label;
  });

function copyFile(path: string): void {
  const to = join(target, "public", path);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(project, path), to);
}

function write(page: string, text: string): void {
  const path = join(target, `${page}.md`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

rmSync(target, { recursive: true, force: true });
for (const [document, page] of pages) {
  if (document !== "docs/commands.md") write(page, withCodeLinks(document, converted(document, read(document))));
}

// --- A page for each command, and one that lists them by task.

const names = [...commands.values()], listed = tasks.flatMap((task) => Object.keys(task.commands));
for (const name of names) if (listed.filter((one) => one === name).length !== 1) throw new Error(`site/tasks.ts needs ${name} once`);
const pageOf = (name: string): string => `/commands/${name.toLowerCase()}`;

const quoted = (word: string): string => (/^\d{1,15}$/.test(word) ? word : JSON.stringify(word));

/** A value as JavaScript. */
function inJavaScript(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Buffer.isBuffer(value)) return `Buffer.from(${JSON.stringify(value.toString("latin1"))}, "latin1")`;
  if (Array.isArray(value)) return `[${value.map(inJavaScript).join(", ")}]`;
  if (typeof value === "object" && value !== null) return `{ ${Object.entries(value).map(([name, one]) => `${name}: ${inJavaScript(one)}`).join(", ")} }`;
  return JSON.stringify(value);
}

/** The last call of a row's example that is of its command, in several languages. */
function snippets(row: Row): string {
  const line = row.example.map(([one]) => one).findLast((one) => wordsOf(one)[0] === `R.${row.name}`);
  if (line === undefined) return "";
  const [name, ...words] = wordsOf(line), { method, args } = methodCallOf(row, R, words);
  const blocks: [title: string, language: string, code: string][] = [
    ["redis-cli", "sh", line],
    ["JavaScript", "js", `await r.${method.name}(${args.map(inJavaScript).join(", ")});`],
    ["Python", "py", `client.execute_command(${[name!, ...words].map(quoted).join(", ")})`],
    ["Go", "go", `client.Do(ctx, ${[name!, ...words].map(quoted).join(", ")}).Result()`],
    ["Java (not run)", "java", `jedis.sendCommand(() -> "${name}".getBytes(), ${words.map((word) => JSON.stringify(word)).join(", ")});`],
  ];
  const code = blocks.map(([title, language, text]) => `\`\`\`${language} [${title}]\n${text}\n\`\`\``).join("\n");
  const clients = "`r` is [redis-roar-client](/javascript), `client` a connection of redis-py or go-redis, `jedis` one of Jedis.";
  const tested = "Tests run this call with redis-cli and in JavaScript, and [programs in Python and Go](/clients) with other calls. Java is not run.";
  return `## In your language\n\n::: code-group\n${code}\n:::\n\n${clients} ${tested}\n`;
}

const [list, ...sections] = read("docs/commands.md").split(/^(?=## )/m);
const summaries = new Map(rows.map(({ name, summary }) => [name, summary]));
const byTask = tasks.map(({ title, commands: some }) => `## ${title}\n\n| Command | | Without the module |\n|---|---|---|\n${Object.entries(some)
  .map(([name, { native }]) => `| [${name}](${pageOf(name)}) | ${summaries.get(name)!} | ${native} |`).join("\n")}`).join("\n\n");
write("commands/index", converted("docs/commands.md", list!).replace(/\| Command \| \|\n[^]*?\n(?=\n)/, `${byTask}\n\n## Errors\n`));
for (const section of sections) {
  const name = /^## (.+)$/m.exec(section)![1]!, row = rows.find((one) => one.name === name)!;
  const { native, also } = tasks.find((task) => name in task.commands)!.commands[name]!;
  const replies = name === "STAT" ? "in RESP3 a verbatim string, in RESP2 a bulk string" : "the same in RESP2 and RESP3 (nil is a null in RESP3)";
  const facts = `- Without the module: ${native}.\n- Protocols: ${replies}.\n- See also: ${also.map((other) => `[${other}](${pageOf(other)})`).join(", ")}.\n`;
  const text = converted("docs/commands.md", section.replace(/^## .+$/m, `# R.${name}, R64.${name}`))
    .replace(/^- Since .*\n/m, (since) => `${since}${facts}`).replace(/^Example:$/m, "## Example");
  write(`commands/${name.toLowerCase()}`, `---\ntitle: ${name}\n---\n\n${text}\n${snippets(row)}`);
}

// --- The home page: the README's introduction and table.

/** What 50 readers take, as areas: a dot and a square. */
function hero(): string {
  const { rows: measured } = JSON.parse(read("docs/bench/typical.json")) as { rows: { what: string; values: Record<string, number> }[] };
  const { native, "redis-roar": ours } = measured.find(({ what }) => what.startsWith("readers of an article") && what.includes("bytes"))!.values;
  const WIDTH = 320, side = 220, dot = side * Math.sqrt(ours! / native!);
  const text = (x: number, y: number, size: number, fill: string, words: string): string =>
    `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" text-anchor="middle" font-family="sans-serif">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${WIDTH}" role="img">
${text(WIDTH / 2, 22, 15, "#7a7a7a", "50 readers among 10 million ids")}
<rect x="20" y="44" width="${side}" height="${side}" rx="4" fill="#c4652a" fill-opacity=".85"/>
${text(20 + side / 2, 44 + side / 2, 22, "#fff", `${(native! / 1e6).toFixed(2)} MB`)}${text(20 + side / 2, 44 + side / 2 + 24, 14, "#fff", "native bitmap,")}${text(20 + side / 2, 44 + side / 2 + 42, 14, "#fff", "set bit by bit")}
<rect x="${283 - dot / 2}" y="${44 + side - dot}" width="${dot.toFixed(2)}" height="${dot.toFixed(2)}" fill="#1a7f64"/>
<path d="M283 ${44 + side - 8}v-20" stroke="#1a7f64" stroke-width="1.5" fill="none"/>
${text(280, 44 + side - 50, 18, "#1a9f7c", `${ours!} B`)}${text(280, 44 + side - 34, 12, "#1a9f7c", "redis-roar")}
${text(WIDTH / 2, 300, 12, "#7a7a7a", "areas in proportion to bytes of memory")}
</svg>\n`;
}

const readme = read("README.md"), table = /<!-- typical keys -->([^]*?)<!-- \/typical keys -->/.exec(readme)![1]!;
const session = /^## First session$([^]*?)^## /m.exec(readme)![1]!;
write("index", `---
layout: home
hero:
  name: redis-roar
  text: Compressed bitmaps for Redis and Valkey
  image: { src: /hero.svg, alt: "50 readers among 10 million ids: 2.62 MB as a native bitmap, 240 bytes with redis-roar; areas in proportion" }
  tagline: Readers, likes, tags, active users, presence; integers and names for ids. Exact, small, and combined in microseconds.
  actions:
    - { theme: brand, text: Try it, link: /start }
    - { theme: alt, text: Calculate your memory, link: /calculator }
    - { theme: alt, text: Commands, link: /commands/ }
features:
  - { title: The commands you know, details: "R.SETBIT, R.GETBIT, R.BITCOUNT and R.BITOP behave like the native ones. R64. takes offsets of 64 bits." , link: /moving }
  - { title: Queries, details: "atleast(3, #1..#7) counts the users who came on at least three days of seven, or lists them page by page. Nothing is stored.", link: /commands/query }
  - { title: Integers for ids, details: "Ages, scores, amounts, the time last seen: two to seven bytes an id, counted, added up, ranked, and compared in queries.", link: /integers }
  - { title: Names for ids, details: "UUIDs and other strings get small ids, and back, in an eighth of what two hashes take.", link: /names }
  - { title: No pauses, details: "Keys of any size change in pieces of 256 KiB, long queries run on threads, and a crafted payload gets an error reply.", link: /operations }
  - { title: Six systems, details: "Unique readers, attributes, tags, active users, presence, likes: complete programs that check their answers.", link: /examples/ }
---

## In ten seconds

| How do I | |
|---|---|
| count readers, visitors, actives | [Unique readers](/examples/readers/), [active users](/examples/actives/) |
| make a leaderboard | [By word: leaderboard](/recipes#by-word) |
| use UUIDs and other string ids | [String ids](/recipes#string-ids) |
| use a cluster | [Bitmaps in a cluster](/cluster) |
| know the memory of 3 % of 10 million ids | [Calculator](/calculator?count=300000&of=10000000) |
| choose between native bitmaps, sets, Redis 8.12 and this | [Choosing](/choosing) |
| move my data without downtime | [Migration](/migration) |
| leave again | [Going back](/migration#going-back) |

## Memory and time

${converted("README.md", table)}

## A first session

${converted("README.md", session)}
`);
writeFileSync(join(target, "public", "hero.svg"), hero());
write("calculator", `---
title: Calculator
---

# How much memory would your data take?

Paste ids, enter how many members among how many ids, or drop a roaring file. This page computes the bytes with the code that runs in the server: the core of the module, as WebAssembly. Nothing leaves your browser.

<Calculator />
`);
writeFileSync(join(target, "navigation.json"), JSON.stringify({
  commands: tasks.map(({ title, commands: some }) =>
    ({ text: title, collapsed: true, items: Object.keys(some).map((text) => ({ text, link: pageOf(text) })) })),
  examples: [...pages].filter(([document]) => /^examples\/.+\/README/.test(document)).map(([document, page]) =>
    ({ text: /^# (.+)$/m.exec(read(document))![1]!, link: webPath(page) })),
}));
console.log(`${pages.size + names.length + 2} pages in site/pages`);
