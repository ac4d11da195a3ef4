// pack client <folder>   packs the JavaScript client, which is in client/dist, into redis-roar-client-<version>.tgz in a folder
// pack cli <folder>      packs the command-line tool, which is in cli/dist, into redis-roar-<version>.tgz
// pack --types           writes declarations for CommonJS programs, *.d.cts, beside those in client/dist
//
// The address of the project is known only where it is released: GITHUB_REPOSITORY, or else the remote `origin` if it is on GitHub. If it
// is known, package.json says where the package comes from, and the links of README.md lead there. If not, they are only text.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

type Package = "client" | "cli";

const ROOT = join(import.meta.dirname, ".."), DIST = join(ROOT, "client/dist");

/** The compiled files, with their folders. */
const compiled = (ending: string): string[] => readdirSync(DIST, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(ending));

/** node16 refuses declarations of modules to CommonJS programs, although require() loads modules in all supported versions of Node.js. */
function writeTypes(): void {
  for (const name of compiled(".d.ts")) {
    const text = readFileSync(join(DIST, name), "utf8").replace(/(from "|import\(")(\.[^"]*)\.js"/g, '$1$2.cjs"');
    writeFileSync(join(DIST, name.replace(/\.d\.ts$/, ".d.cts")), text);
  }
}

/** The project on GitHub, such as `https://github.com/owner/name`. */
function projectUrl(): string | undefined {
  const { GITHUB_REPOSITORY: repository, GITHUB_SERVER_URL: server = "https://github.com" } = process.env;
  if (repository) return `${server}/${repository}`;
  let origin = "";
  try {
    origin = execFileSync("git", ["config", "remote.origin.url"], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined; // no git, or no such remote
  }
  const path = /^(?:https:\/\/|git@|ssh:\/\/git@)github\.com[/:](.+?)(?:\.git)?$/.exec(origin)?.[1];
  return path && `https://github.com/${path}`;
}

interface Manifest {
  version: string;
  repository?: object;
  homepage?: string;
  bugs?: string;
  scripts?: object;
  devDependencies?: object;
}

/** Links to files outside of the package lead to the project, or become text. */
function readme(text: string, { version }: Manifest, url: string | undefined): string {
  return text.replace(/\[([^\]]*)\]\(\.\.\/([^)]*)\)/g, (_, label: string, target: string) => (url ? `[${label}](${url}/blob/v${version}/${target})` : label));
}

function pack(name: Package, folder: string): void {
  const source = join(ROOT, name), stage = join(ROOT, `build/${name}-package`);
  const url = projectUrl(), manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  delete manifest.scripts;
  delete manifest.devDependencies;
  if (url) {
    manifest.repository = { type: "git", url: `git+${url}.git`, directory: name };
    manifest.homepage = `${url}/tree/v${manifest.version}/${name}#readme`;
    manifest.bugs = `${url}/issues`;
  }
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(source, "dist"), join(stage, "dist"), { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
  writeFileSync(join(stage, "README.md"), readme(readFileSync(join(source, "README.md"), "utf8"), manifest, url));
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const PATH = process.env.PATH!.split(":").filter((entry) => !entry.endsWith("node_modules/.bin")).join(":"); // without an old npm there
  const args = ["pack", "--silent", "--pack-destination", resolve(folder)];
  execFileSync("npm", args, { cwd: stage, env: { ...process.env, PATH }, stdio: ["ignore", "ignore", "inherit"] });
}

const [what, folder] = process.argv.slice(2);
if (what === "--types") writeTypes();
else if ((what === "client" || what === "cli") && folder) pack(what, folder);
else throw new Error("usage: pack client | cli <folder>, or pack --types");
