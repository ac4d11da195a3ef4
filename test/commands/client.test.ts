// Calls the commands through a client library, as an application does.

import { expect, it } from "vitest";
import { Client } from "../support/client.ts";
import { families } from "../support/family.ts";
import { useServer } from "../support/suite.ts";

const server = useServer();

it.each(families.map(({ name, last }) => [name, last] as const))("%s commands work through redis-modules-sdk", async (name, last) => {
  const client = await Client.of(server);
  const run = (command: string, ...args: (string | number | bigint)[]) => client.run(`${name}.${command}`, ...args);
  expect(await run("SETBIT", "a", last, 1)).toBe("0");
  expect(await run("GETBIT", "a", last)).toBe("1");
  expect(await run("SETINTARRAY", "b", 5, 3, 9)).toBe("OK");
  expect(await run("APPENDINTARRAY", "b", last)).toBe("OK");
  expect(await run("GETINTARRAY", "b")).toEqual(["3", "5", "9", String(last)]);
  expect(await run("BITOP", "and", "both", "a", "b")).toBe("1");
  expect(await run("BITCOUNT", "b", 0, 0)).toBe("2");
  expect(await run("BITPOS", "both", 1)).toBe(String(last));
  await expect(run("SETBIT", "a", "x", 1)).rejects.toThrow(/ERR invalid offset/);
  await client.close();
});
