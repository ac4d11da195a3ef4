// The site: https://vitepress.dev. site/prepare.ts makes the pages.

import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

interface Link {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: Link[];
}
const { commands, examples } = JSON.parse(readFileSync(new URL("../pages/navigation.json", import.meta.url), "utf8")) as Record<"commands" | "examples", Link[]>;

/** Two containers, one with gaps. */
const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#1a7f64" d="M1 2h14v5H1zM1 9h3v5H1zM6 9h2v5H6zM12 9h3v5h-3z"/></svg>';

export default defineConfig({
  title: "redis-roar",
  description: "Compressed bitmaps for Redis and Valkey: a module with roaring bitmaps of 32 and 64 bits",
  base: process.env.SITE_BASE ?? "/",
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  srcDir: "pages",
  outDir: "../build/site",
  cacheDir: "../build/site-cache",
  cleanUrls: false,
  lastUpdated: false,
  vite: { publicDir: "public", server: { fs: { allow: ["../.."] } }, build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: "local", options: { detailedView: false } },
    nav: [
      { text: "Start", link: "/start" }, { text: "Choosing", link: "/choosing" }, { text: "Commands", link: "/commands/" },
      { text: "Recipes", link: "/recipes" }, { text: "CLI", link: "/cli" }, { text: "Examples", link: "/examples/" }, { text: "Calculator", link: "/calculator" },
    ],
    sidebar: [
      { text: "Use", items: [
        { text: "Start", link: "/start" }, { text: "Choosing", link: "/choosing" }, { text: "From native bitmaps or sets", link: "/moving" },
        { text: "Migration without downtime", link: "/migration" }, { text: "Recipes", link: "/recipes" },
        { text: "Command-line tool", link: "/cli" }, { text: "Calculator", link: "/calculator" }, { text: "JavaScript", link: "/javascript" }, { text: "Other clients", link: "/clients" },
        { text: "Cluster", link: "/cluster" },
      ] },
      { text: "Run", items: [{ text: "Operations", link: "/operations" }, { text: "Performance", link: "/performance" }, { text: "What is tested", link: "/evidence" }, { text: "Changes", link: "/changelog" }] },
      { text: "Examples", collapsed: false, items: [{ text: "All", link: "/examples/" }, ...examples] },
      { text: "Commands", collapsed: false, items: [{ text: "All by task", link: "/commands/" }, ...commands] },
      { text: "Inside", collapsed: true, items: [
        { text: "Architecture", link: "/architecture" }, { text: "The core", link: "/core" }, { text: "Experiments", link: "/experiments" },
        { text: "Contributing", link: "/contributing" }, { text: "Security", link: "/security" },
      ] },
    ],
    outline: [2, 3],
    footer: { message: "MIT license" },
  },
});
