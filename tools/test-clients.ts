// test-clients [language ...]: runs the programs in test/clients, in several languages, against a server and a cluster of three nodes, and
// prints a table at the end. The exit status is 0 only if nothing failed.
//
// A program prints a line for each of its checks, `ok <name>` or `failed <name>: <why>`. It fails too if it ends with an error, or leaves
// out one of the checks that every language has. A language whose interpreter or library is missing is reported as not run;
// `make test-clients` installs Debian's packages first.
//
// The last line is `N passed, N failed` over all languages. It is also written to build/test-results/count-clients.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { Cluster } from "../test/support/cluster.ts";
import { Server } from "../test/support/server.ts";
import { conclude, type Count, execute, withExitStatus } from "./run.ts";

const PROGRAMS = "build/clients";
const SECONDS = "120";

interface Language {
  name: string;
  /** Prints the version of the library, and fails if it is not there. */
  version: string;
  /** Compiles the program, if that is needed. */
  compile?: string;
  run: string;
  /** The library knows clusters, and the program has a check of that name. */
  cluster?: boolean;
}

/** Debian keeps the sources of Go's libraries here. */
const GO = "env GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS=-p=1";

const languages: Language[] = [
  { name: "python", version: `python3 -c 'import redis; print("redis-py", redis.__version__)'`, run: "python3 test/clients/python.py", cluster: true },
  { name: "php", version: `php -r 'echo "phpredis ", phpversion("redis") ?: exit(1);'`, run: "php test/clients/php.php", cluster: true },
  { name: "ruby", version: `ruby -e 'require "redis"; puts "redis-rb #{Redis::VERSION}"'`, run: "ruby test/clients/ruby.rb", cluster: true },
  {
    name: "go", version: "dpkg-query -W -f 'redigo ${Version}' golang-github-gomodule-redigo-dev",
    compile: `${GO} go build -o ${PROGRAMS}/go test/clients/go.go`, run: `${PROGRAMS}/go`,
  },
  {
    name: "c", version: "dpkg-query -W -f 'hiredis ${Version}' libhiredis-dev",
    compile: `cc -std=gnu11 -Wall -Wextra -Werror -o ${PROGRAMS}/c test/clients/c.c -lhiredis -lroaring`, run: `${PROGRAMS}/c`,
  },
  { name: "perl", version: `perl -MRedis -e 'print "Redis $Redis::VERSION"'`, run: "perl test/clients/perl.pl" },
  { name: "lua", version: `lua5.1 -e 'print((require "redis")._VERSION)'`, run: "lua5.1 test/clients/lua.lua" },
];

/** What the program of every language checks. */
const CHECKS = ["question", "exact members", "no result", "bad argument", "wrong type", "export", "import"];

/** Debian's Python, whose packages the system installs, comes before any other in PATH. */
const PATH = `/usr/bin:${process.env.PATH}`;

const shell = (command: string, env: Record<string, string> = {}) =>
  execute("env", [`PATH=${PATH}`, ...Object.entries(env).map(([name, value]) => `${name}=${value}`), "timeout", SECONDS, "sh", "-c", command]);

/** Runs the program of a language and counts its checks. */
async function test({ name, compile, run, cluster }: Language, env: Record<string, string>): Promise<Count> {
  const compiled = compile ? await shell(compile) : { status: 0, output: "" };
  const { status, output } = compiled.status === 0 ? await shell(run, env) : compiled;
  const lines = output.split("\n"), passed = lines.flatMap((line) => /^ok (.*)$/.exec(line)?.[1] ?? []);
  const failed = lines.filter((line) => line.startsWith("failed "));
  const missing = [...CHECKS, ...(cluster ? ["cluster"] : [])]
    .filter((check) => !lines.some((line) => line === `ok ${check}` || line.startsWith(`failed ${check}`)));
  console.log(`\n> ${name}\n${output.trimEnd()}`);
  if (missing.length > 0) console.log(`checks that did not run: ${missing.join(", ")}`);
  return withExitStatus({ passed: passed.length, failed: failed.length + missing.length }, status);
}

/** How many commands the nodes of the cluster have sent elsewhere. */
async function redirections(nodes: Cluster): Promise<number> {
  const stats = (await nodes.onAll("INFO", "errorstats")) as string[];
  return stats.reduce((sum, text) => sum + Number(/^errorstat_MOVED:count=(\d+)/m.exec(text)?.[1] ?? 0), 0);
}

const wanted = process.argv.slice(2), unknown = wanted.filter((name) => !languages.some((language) => language.name === name));
if (unknown.length > 0) throw new Error(`unknown language: ${unknown.join(" ")}`);
mkdirSync(PROGRAMS, { recursive: true });
const server = await Server.start({ listens: true }), cluster = await Cluster.start(3);
const rows: string[] = [], counts: Count[] = [];
for (const language of languages.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const found = spawnSync("sh", ["-c", language.version], { encoding: "utf8", env: { ...process.env, PATH } });
  if (found.status !== 0) {
    rows.push(`${language.name.padEnd(8)} not run: its library is missing`);
    continue;
  }
  await server.run("FLUSHALL");
  await cluster.onAll("CONFIG", "RESETSTAT");
  const count = await test(language, { ROAR_PORT: String(server.port), ROAR_CLUSTER_PORT: String(cluster.ports[0]) });
  counts.push(count);
  const redirected = language.cluster ? `, ${await redirections(cluster)} commands redirected in the cluster` : "";
  rows.push(`${language.name.padEnd(8)} ${found.stdout.trim().padEnd(24)} ${count.passed} passed, ${count.failed} failed${redirected}`);
}
await Promise.all([server.stop(), cluster.stop()]);
console.log(`\n${rows.join("\n")}`);
conclude(counts.length > 0 ? counts : [{ passed: 0, failed: 1 }], "count-clients");
