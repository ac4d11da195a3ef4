// Opens the site, build/site, in a browser and uses it: pages, links, search, the calculator, phone width, dark mode. The browser is
// Debian's chromium, or the one that CHROMIUM names. Pictures of what it saw are in build/site-pictures.

import { mkdirSync, readdirSync, readFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";

const project = fileURLToPath(new URL("..", import.meta.url)), site = join(project, "build/site"), pictures = join(project, "build/site-pictures");
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm",
  ".json": "application/json", ".woff2": "font/woff2",
};

const files = readdirSync(site, { recursive: true, encoding: "utf8" }), html = files.filter((file) => file.endsWith(".html") && file !== "404.html");
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url!, "http://localhost").pathname), name = path.endsWith("/") ? `${path}index.html` : path;
  const file = [name, `${name}.html`].map((one) => join(site, one)).find((one) => existsSync(one) && extname(one) !== "");
  if (file) response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  else response.writeHead(404).end();
});
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`, profile = mkdtempSync(join(tmpdir(), "redis-roar-site-"));

let passed = 0, failed = 0;
function check(what: string, holds: boolean, detail = ""): void {
  if (holds) passed++;
  else {
    failed++;
    console.log(`failed: ${what} ${detail}`);
  }
}

// --- Links and pictures of all pages lead somewhere. No browser is needed for that.

const known = new Set(files.map((file) => `/${file}`));
for (const page of html) {
  const text = readFileSync(join(site, page), "utf8");
  for (const [, link] of text.matchAll(/(?:href|src)="(\/[^"#?]*)/g)) {
    const path = decodeURIComponent(link!);
    check(`${page} links to ${path}`, [path, `${path}.html`, `${path}index.html`, `${path}/index.html`].some((one) => known.has(one)));
  }
}

mkdirSync(pictures, { recursive: true });
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  viewport: { width: 1280, height: 900 },
});
const errors: string[] = [];
async function open(path: string, width = 1280): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => errors.push(`${path}: ${error.message}`));
  page.on("console", (message) => { if (message.type() === "error") errors.push(`${path}: ${message.text()}`); });
  await page.setViewportSize({ width, height: 900 });
  await page.goto(`${address}${path}`, { waitUntil: "networkidle" });
  return page;
}

try {
  // --- Pages at the width of a phone: nothing is wider.

  for (const path of ["/", "/start", "/commands/", "/commands/query", "/recipes", "/examples/readers/", "/calculator"]) {
    const page = await open(path, 390);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`${path} fits a phone`, wide <= 390, `is ${wide} wide`);
    if (path === "/" || path === "/calculator") await page.screenshot({ path: join(pictures, `phone${path === "/" ? "" : "-calculator"}.png`) });
    await page.close();
  }

  // --- Start, a command, search.

  const start = await open("/");
  check("the start shows a picture", await start.$eval(".VPHero img", (image) => (image as HTMLImageElement).naturalWidth > 0));
  const asked = ["leaderboard", "string ids", "cluster", "3 % of 10 million", "leave again"], body = (await start.textContent("body"))!.toLowerCase();
  check("the start answers what newcomers ask", asked.every((words) => body.includes(words)), asked.filter((words) => !body.includes(words)).join());
  check("the start says what it is", (await start.textContent("body"))!.includes("Compressed bitmaps for Redis and Valkey"));
  await start.screenshot({ path: join(pictures, "start.png"), fullPage: true });
  await start.keyboard.press("Control+k");
  await start.fill("#localsearch-input", "RANK");
  await start.waitForSelector("#localsearch-list a");
  const found = await start.$$eval("#localsearch-list a", (links) => links.map((link) => (link as HTMLAnchorElement).pathname));
  check("search finds RANK", found.some((path) => /^\/commands\/rank(\.html)?$/.test(path)), found.join(" "));
  await start.screenshot({ path: join(pictures, "search.png") });
  for (const [words, path] of [["leaderboard", "/recipes"], ["uuid", "/recipes"], ["pagination", "/recipes"], ["TTL", "/recipes"], ["downtime", "/migration"]] as const) {
    await start.fill("#localsearch-input", "");
    await start.fill("#localsearch-input", words);
    await start.waitForFunction((wanted) => [...document.querySelectorAll<HTMLAnchorElement>("#localsearch-list a")].some((link) => link.pathname.startsWith(wanted)),
      path, { timeout: 10_000 }).then(() => check(`search finds ${words}`, true), () => check(`search finds ${words}`, false, path));
  }
  await start.close();
  const command = await open("/commands/rank");
  check("its code can be copied", await command.$$eval("button.copy", (all) => all.length) > 2);
  const text = (await command.textContent("main"))!;
  for (const words of ["Without the module: BITCOUNT key 0 offset BIT", "See also:", "Complexity:", "Protocols:", "Java (not run)", 'client.Do(ctx, "R.RANK"']) {
    check(`a command says ${words}`, text.includes(words));
  }
  check("a command has its session", (await command.textContent("main"))!.includes("R.RANK"));
  await command.screenshot({ path: join(pictures, "command.png") });
  await command.click(".VPNavBarAppearance button");
  check("dark mode", await command.evaluate(() => document.documentElement.classList.contains("dark")));
  await command.screenshot({ path: join(pictures, "command-dark.png") });
  await command.close();

  // --- The calculator counts.

  const calculator = await open("/calculator");
  const figures = async (): Promise<string[]> => {
    await calculator.waitForSelector(".calculator .row");
    return calculator.$$eval(".calculator .figure", (all) => all.map((one) => one.textContent!));
  };
  check("the calculator has six figures", (await figures()).length === 6);
  await calculator.fill("input[aria-label='how many']", "6000000");
  await calculator.fill("input[aria-label='of how many']", "100000000");
  await calculator.waitForFunction(() => document.querySelector(".calculator")!.textContent!.includes("6,000,000 members from 0 to 99,999,999"));
  const million = (text: string): number => (/ MB$/.test(text) ? Number(text.split(" ")[0]) : NaN), [narrow, , , stored, , set] = await figures();
  check("it takes daily actives while typing", million(narrow!) > 2 && million(narrow!) < million(stored!) && /GB|MB/.test(set!), (await figures()).join("; "));
  check("and names its assumptions", (await calculator.textContent(".calculator"))!.includes("and its bytes multiplied"));
  await calculator.screenshot({ path: join(pictures, "calculator-actives.png") });
  await calculator.check("input[value=integers]");
  await calculator.fill("input[aria-label='how many']", "1000000");
  await calculator.fill("input[aria-label='greatest value']", "131071");
  await calculator.waitForFunction(() => document.querySelector(".calculator")!.textContent!.includes("1,000,000 ids from 0 to 99,999,999"));
  const [integers, packed, sorted, hash] = (await figures()).map((figure) => Number.parseFloat(figure));
  check("a million of 100 million integers take 5 to 7 MB", integers! >= packed! && packed! > 5 && integers! < 7, `${integers}, ${packed}`);
  check("a sorted set of them takes some 110 MB, and a hash 64", Math.abs(sorted! - 110) < 6 && Math.abs(hash! - 64) < 4, `${sorted}, ${hash}`);
  await calculator.screenshot({ path: join(pictures, "calculator-integers.png") });
  await calculator.check("input[value=paste]");
  await calculator.fill("textarea", "7 42 70000 18446744073709551615");
  await calculator.dispatchEvent("textarea", "change");
  await calculator.waitForFunction(() => document.querySelector(".calculator")!.textContent!.includes("4 members from 7 to 18,446,744,073,709,551,615"));
  check("64-bit ids only fit R64. and sets", (await figures())[0] === "cannot hold them" && (await figures())[3] === "cannot hold them", (await figures()).join("; "));
  await calculator.fill("textarea", "7 seven");
  await calculator.dispatchEvent("textarea", "change");
  await calculator.waitForSelector(".calculator [role=alert]");
  check("what is no id is said", (await calculator.textContent("[role=alert]"))!.includes("\"seven\" must be a whole number"));
  await calculator.check("input[value=file]");
  const portable = Buffer.from("3a3000000100000000000200100000000100020003 00".replaceAll(" ", ""), "hex");
  await calculator.setInputFiles("input[type=file]", { name: "bitmap.roaring", mimeType: "application/octet-stream", buffer: portable });
  await calculator.waitForFunction(() => document.querySelector(".calculator")!.textContent!.includes("3 members from 1 to 3"));
  await calculator.setInputFiles("input[type=file]", { name: "text.txt", mimeType: "text/plain", buffer: Buffer.from("no bitmap") });
  await calculator.waitForSelector(".calculator [role=alert]");
  check("what is no roaring file is said", (await calculator.textContent("[role=alert]"))!.includes("no roaring bitmap"));
  await calculator.check("input[value=choose]");
  await calculator.waitForSelector(".calculator .row");
  await calculator.screenshot({ path: join(pictures, "calculator.png") });
  await calculator.close();
  check("no script error", errors.length === 0, errors.join("; "));
} finally {
  await browser.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(`${html.length} pages: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
