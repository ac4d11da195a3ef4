import { expect } from "vitest";
import type { Random } from "./random.ts";
import type { Argument, Reply } from "./resp.ts";
import type { Server } from "./server.ts";

/** A random sequence of commands, whose replies are compared with those of a model. `Shape` is what it draws from. */
export abstract class Sequence<Shape> {
  comparisons = 0;

  readonly server: Server;
  readonly random: Random;
  readonly shape: Shape;

  constructor(server: Server, random: Random, shape: Shape) {
    this.server = server;
    this.random = random;
    this.shape = shape;
  }

  run(...command: Argument[]): Promise<Reply> {
    return this.server.run(...(command as [string, ...Argument[]]));
  }

  same(actual: unknown, expected: unknown, what: string): void {
    this.comparisons++;
    expect(actual, what).toEqual(expected);
  }
}
