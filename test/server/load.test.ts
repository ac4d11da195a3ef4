// Loading the module: its arguments and its log line.

import { afterEach, describe, expect, it } from "vitest";
import { R } from "../support/family.ts";
import { builtModule, cpuLevel, Server } from "../support/server.ts";
import { roarOn } from "../support/roar.ts";
import { listedModule } from "../support/suite.ts";

describe("the module", () => {
  let server: Server;
  afterEach(() => server.remove());

  it("logs the CPU level of its core", async () => {
    server = await Server.start();
    expect(server.log()).toMatch(new RegExp(`<redis-roar> core built for CPU level ${cpuLevel ?? "\\w+"}\n`));
    expect(await listedModule(server)).toBeDefined();
  });

  it.skipIf(!cpuLevel)("accepts the CPU level in upper case", async () => {
    server = await Server.start({ moduleArguments: ["cpu", cpuLevel!.toUpperCase()] });
    expect(await roarOn(server, R).run("SETBIT", "k", 1, 1)).toBe(0);
  });

  const invalid = [["CPU", "v9"], ["CPU"], ["CPU", ""], ["SPEED", "11"], ["CPU", "v2", "x"]];
  it.each(invalid.map((args) => [args]))("refuses the arguments %j", async (moduleArguments) => {
    server = new Server({ moduleArguments: moduleArguments.map((word) => word || '""') });
    await expect(server.start()).rejects.toThrow(/<redis-roar>[^]*Can't load module/);
  });

  it("can be loaded at run time, but only once, and not unloaded", async () => {
    server = await Server.start({ module: null });
    expect(await server.run("MODULE", "LOAD", builtModule)).toBe("OK");
    expect(await server.connection.refusal("MODULE", "LOAD", builtModule)).toMatch(/^ERR Error loading/);
    expect(await roarOn(server, R).run("SETBIT", "k", 1, 1)).toBe(0);
    expect(await server.connection.refusal("MODULE", "UNLOAD", "redis-roar")).toMatch(/^ERR/); // it has data types
  });
});
