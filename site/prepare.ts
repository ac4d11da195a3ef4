// Makes the pages of the site from the documents of the project, in site/pages. Each command gets a page of its own, links between
// documents become links between pages, and pictures are copied. VitePress then builds the site and fails if a link leads nowhere.

import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

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

/** Text of a document as text of a page: links, and what Vue would take for a tag or an expression of its own. */
function converted(document: string, text: string): string {
  const parts = text.split(/(^```[^]*?^```$|(?:^(?: {4}|\t).*\n)+|`[^`\n]+`)/m);
  return parts.map((part, n) => {
    if (n % 2 === 1) return part;
    return part
      .replace(/<!--[^]*?-->/g, "")
      .replace(/(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\((?!https?:)([^)\s]+)\)/g, (whole, picture: string, label: string, link: string) => {
        const to = destination(document, link);
        if (to && /\.(svg|png|json)$/.test(to)) copyFile(to.slice(1));
        if (to) return `${picture}[${label}](${to})`;
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

// --- A page for each command, and one that lists them.

const [list, ...sections] = read("docs/commands.md").split(/^(?=## )/m);
write("commands/index", converted("docs/commands.md", list!));
const names = [...commands.values()];
for (const section of sections) {
  const name = /^## (.+)$/m.exec(section)![1]!, text = section.replace(/^## .+$/m, `# R.${name}, R64.${name}`);
  write(`commands/${name.toLowerCase()}`, `---\ntitle: ${name}\n---\n\n${converted("docs/commands.md", text)}`);
}

// --- The home page: the README's introduction and table.

const readme = read("README.md"), table = /<!-- typical keys -->([^]*?)<!-- \/typical keys -->/.exec(readme)![1]!;
const session = /^## First session$([^]*?)^## /m.exec(readme)![1]!;
write("index", `---
layout: home
hero:
  name: redis-roar
  text: Compressed bitmaps for Redis and Valkey
  tagline: Readers, likes, tags, active users, sign-ins, presence. Exact, small, and combined in microseconds.
  actions:
    - { theme: brand, text: Try it, link: /start }
    - { theme: alt, text: Calculate your memory, link: /calculator }
    - { theme: alt, text: Commands, link: /commands/ }
features:
  - { title: The commands you know, details: "R.SETBIT, R.GETBIT, R.BITCOUNT and R.BITOP behave like the native ones. R64. takes offsets of 64 bits." , link: /moving }
  - { title: Queries, details: "atleast(3, #1..#7) counts the users who came on at least three days of seven, or lists them page by page. Nothing is stored.", link: /commands/query }
  - { title: Six systems, details: "Unique readers, attributes, tags, active users, presence, likes: complete programs that check their answers.", link: /examples/ }
---

## Memory and time

${converted("README.md", table)}

## A first session

${converted("README.md", session)}
`);
write("calculator", `---
title: Calculator
---

# How much memory would your data take?

Paste ids, enter how many members among how many ids, or drop a roaring file. This page computes the bytes with the code that runs in the server: the core of the module, as WebAssembly. Nothing leaves your browser.

<Calculator />
`);
writeFileSync(join(target, "navigation.json"), JSON.stringify({
  commands: names.map((text) => ({ text, link: `/commands/${text.toLowerCase()}` })),
  examples: [...pages].filter(([document]) => /^examples\/.+\/README/.test(document)).map(([document, page]) =>
    ({ text: /^# (.+)$/m.exec(read(document))![1]!, link: webPath(page) })),
}));
console.log(`${pages.size + names.length + 2} pages in site/pages`);
