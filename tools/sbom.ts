// sbom <folder>: writes what the module and the packages are made of, and the module is made with, as CycloneDX:
//
//   redis-roar-<version>.cdx.json          all packages of package-lock.json, wasm2c of the package wabt, and SIMDe, whose headers are
//                                          compiled into the module
//   redis-roar-client-<version>.cdx.json   what an installation of the client brings along
//   redis-roar-cli-<version>.cdx.json      what an installation of the command-line tool brings along
//
// All come from `npm sbom`. What changes from run to run is replaced: the time is SOURCE_DATE_EPOCH, by default that of the last commit,
// and there is no serial number. So is what one version of npm says and another does not: its own version, the folders of packages,
// and a package once for each folder that has it. So the same lock file and the same SIMDe give the same bytes.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Component {
  type: string;
  name: string;
  version: string;
  "bom-ref": string;
  purl?: string;
  description?: string;
  properties?: { name: string; value: string }[];
}

interface Bom {
  serialNumber?: string;
  metadata: { timestamp: string; tools: { name: string; version?: string }[]; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28 });

/** The time that stands for that of the build, as `tools/package` has it. */
const time = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? run("git", "log", "-1", "--format=%ct")) * 1000).toISOString();

/** The first of those that have the same name, in the order of their names. */
const distinct = <T>(list: readonly T[], name: (entry: T) => string): T[] =>
  [...new Map(list.toReversed().map((entry) => [name(entry), entry]))].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);

function npmSbom(...options: string[]): Bom {
  if (Number.parseInt(run("npm", "--version")) < 10) throw new Error("sbom: npm 10 or newer is needed");
  const bom = JSON.parse(run("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", ...options)) as Bom;
  delete bom.serialNumber;
  bom.metadata.timestamp = time;
  for (const tool of bom.metadata.tools) delete tool.version;
  bom.components = distinct(bom.components, (component) => component["bom-ref"]);
  bom.dependencies = distinct(bom.dependencies, ({ ref }) => ref);
  for (const dependency of bom.dependencies) dependency.dependsOn.sort();
  for (const component of [bom.metadata.component, ...bom.components]) {
    component.properties = component.properties?.filter(({ name }) => name !== "cdx:npm:package:path");
    // npm calls packages of this repository after their folders.
    component.name = component["bom-ref"].replace(/@[^@]*$/, "");
  }
  return bom;
}

/** Adds components that no npm package stands for, and makes the project depend on them. */
function add(bom: Bom, components: Component[]): void {
  bom.components.push(...components);
  const project = bom.dependencies.find(({ ref }) => ref === bom.metadata.component["bom-ref"]);
  project!.dependsOn.push(...components.map((component) => component["bom-ref"]));
  bom.dependencies.push(...components.map((component) => ({ ref: component["bom-ref"], dependsOn: [] })));
}

function wasm2c(bom: Bom): Component {
  const { version } = bom.components.find(({ name }) => name === "wabt")!;
  return {
    type: "application", name: "wasm2c", version, "bom-ref": `wasm2c@${version}`, purl: `pkg:npm/wabt@${version}#bin/wasm2c`,
    description: "Turns WebAssembly into C; its declarations are compiled into the module",
  };
}

function simde(): Component {
  const version = run("dpkg-query", "-W", "-f", "${Version}", "libsimde-dev");
  return {
    type: "library", name: "simde", version, "bom-ref": `simde@${version}`, purl: `pkg:deb/debian/libsimde-dev@${version}`,
    description: "Headers that express vector instructions of WebAssembly as those of the processor",
  };
}

const [folder] = process.argv.slice(2);
if (!folder) throw new Error("sbom <folder>");
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const module = npmSbom();
add(module, [wasm2c(module), simde()]);
mkdirSync(folder, { recursive: true });
const brought = (name: string): Bom => npmSbom("--workspace", name, "--omit", "dev");
const boms = { "redis-roar": module, "redis-roar-client": brought("redis-roar-client"), "redis-roar-cli": brought("redis-roar") };
for (const [name, bom] of Object.entries(boms)) {
  const file = join(folder, `${name}-${version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
  console.log(file);
}
