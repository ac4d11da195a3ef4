// Every example of the command table, through every client library: the method that the line stands for answers what the example says.

import { describe, expect, it } from "vitest";
import { RoarError } from "../../client/src/index.ts";
import { type Adapter, asModules, useClient, wrappers } from "../support/adapters.ts";
import { rows } from "../support/calls.ts";
import { R } from "../support/family.ts";
import { answerOf, methodCallOf, parsePrinted, rowOf, wordsOf } from "../support/methods.ts";
import { byName, useServer } from "../support/suite.ts";

/** Commands whose replies differ between the families, in the number of offsets or the format of a payload. Their examples are for R. */
const only32 = ["SETFULL", "STAT", "EXPORT", "IMPORT"];
const tried = rows.filter(({ family, row }) => family === R || !only32.includes(row.name));

describe.each(byName<Adapter>([...wrappers, ...asModules]))("%s", (name, adapter) => {
  const server = useServer();
  const client = useClient(() => adapter.open(server));

  it.each(byName(tried))("%s answers as its example says", async (_, { family, row }) => {
    const bitmaps = family === R ? client.r : client.r64, answered = new Set<string>();
    for (const [line, printed] of row.example) {
      const [command, ...words] = wordsOf(line);
      if (!command!.startsWith("R.")) {
        const reply = parsePrinted(printed);
        expect(await server.run(command!, ...words), line).toBe(typeof reply === "bigint" ? Number(reply) : reply);
        continue;
      }
      const { method, args } = methodCallOf(rowOf(command!), family, words);
      const answer = (bitmaps as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[method.name]!(...args);
      if (printed.startsWith("(error) ")) {
        const error = await answer.catch((reason: unknown) => reason);
        expect(error, line).toMatchObject({ message: printed.slice(8) });
        if (wrappers.includes(adapter)) expect(error, line).toBeInstanceOf(RoarError);
      } else expect(await answer, `${name}: ${line}`).toEqual(answerOf(method.answer, family, parsePrinted(printed)));
      answered.add(command!.slice(2));
    }
    expect(answered).toContain(row.name);
  });
});
