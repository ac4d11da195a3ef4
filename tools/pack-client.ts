// pack-client <folder>   packs the JavaScript client, which is in client/dist, into redis-roar-client-<version>.tgz in a folder
// pack-client --types    writes declarations for CommonJS programs, *.d.cts, beside those in client/dist
//
// The address of the project is known only where it is released: GITHUB_REPOSITORY, or else the remote `origin` if it is on GitHub. If it
// is known, package.json says where the package comes from, and the links of README.md lead there. If not, they are only text.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = join(import.meta.dirname, ".."), CLIENT = join(ROOT, "client"), DIST = join(CLIENT, "dist"), STAGE = join(ROOT, "build/client-package");

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
}

/** Links to files outside of the package lead to the project, or become text. */
function readme(text: string, { version }: Manifest, url: string | undefined): string {
  return text.replace(/\[([^\]]*)\]\(\.\.\/([^)]*)\)/g, (_, label: string, target: string) => (url ? `[${label}](${url}/blob/v${version}/${target})` : label));
}

function pack(folder: string): void {
  const url = projectUrl(), manifest = JSON.parse(readFileSync(join(CLIENT, "package.json"), "utf8")) as Manifest;
  delete manifest.scripts;
  if (url) {
    manifest.repository = { type: "git", url: `git+${url}.git`, directory: "client" };
    manifest.homepage = `${url}/tree/v${manifest.version}/client#readme`;
    manifest.bugs = `${url}/issues`;
  }
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(DIST, join(STAGE, "dist"), { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(STAGE, "LICENSE"));
  writeFileSync(join(STAGE, "README.md"), readme(readFileSync(join(CLIENT, "README.md"), "utf8"), manifest, url));
  writeFileSync(join(STAGE, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const PATH = process.env.PATH!.split(":").filter((entry) => !entry.endsWith("node_modules/.bin")).join(":"); // without an old npm there
  const args = ["pack", "--silent", "--pack-destination", resolve(folder)];
  execFileSync("npm", args, { cwd: STAGE, env: { ...process.env, PATH }, stdio: ["ignore", "ignore", "inherit"] });
}

const [argument] = process.argv.slice(2);
if (!argument) throw new Error("usage: pack-client <folder> | --types");
if (argument === "--types") writeTypes();
else pack(argument);
