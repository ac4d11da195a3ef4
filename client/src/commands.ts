// The commands of a family as methods: those of `Calls`, `IntegerCalls` and `NameCalls`, with promises for answers.

import type { Call } from "./call.js";
import { type Calls, type MethodName, readOnly } from "./calls.js";
import type { Member, Name } from "./family.js";
import { type IntegerCalls, type IntegerMethodName, integersReadOnly } from "./integer-calls.js";
import { type NameCalls, type NameMethodName, namesReadOnly } from "./name-calls.js";

/** The type of a method here: it sends the call and returns the decoded reply. */
type Sent<F> = F extends (...args: infer A) => Call<infer T> ? (...args: A) => Promise<T> : never;

/** A mapped type over keys of `Calls` itself, because editors then show the documentation of its methods. */
type Methods<M extends Member> = { [N in keyof Pick<Calls<M>, MethodName>]: Sent<Calls<M>[N]> };

/** The methods, which are added to the prototype below. */
export interface Commands<M extends Member> extends Methods<M> {}

/** The commands of a family as methods. */
export abstract class Commands<M extends Member> {
  /** The same commands as values, for pipelines. */
  abstract readonly calls: Calls<M>;

  /** Sends a call. */
  protected abstract run<T>(call: Call<T>): Promise<T>;
}

/** The methods of integers. */
type IntegerMethods<M extends Member> = { [N in keyof Pick<IntegerCalls<M>, IntegerMethodName>]: Sent<IntegerCalls<M>[N]> };

/** The methods of integers, which are added to the prototype below. */
export interface IntegerCommands<M extends Member> extends IntegerMethods<M> {}

/** The commands of integers for ids as methods. */
export abstract class IntegerCommands<M extends Member> {
  /** The same commands as values, for pipelines. */
  abstract readonly calls: IntegerCalls<M>;

  /** Sends a call. */
  protected abstract run<T>(call: Call<T>): Promise<T>;
}

/** The methods of names. */
type NameMethods<N extends Name> = { [K in keyof Pick<NameCalls<N>, NameMethodName>]: Sent<NameCalls<N>[K]> };

/** The methods of names, which are added to the prototype below. */
export interface NameCommands<N extends Name> extends NameMethods<N> {}

/** The commands of names for ids as methods. */
export abstract class NameCommands<N extends Name> {
  /** The same commands as values, for pipelines. */
  abstract readonly calls: NameCalls<N>;

  /** Sends a call. */
  protected abstract run<T>(call: Call<T>): Promise<T>;
}

/** What the methods use of the object that they belong to. */
interface Sender {
  readonly calls: Readonly<Record<string, (...args: unknown[]) => Call<unknown>>>;
  run<T>(call: Call<T>): Promise<T>;
}

function addMethods(prototype: object, names: readonly string[]): void {
  for (const name of names) {
    // An error while the call is made rejects the promise, too.
    const value = function (this: Sender, ...args: unknown[]): Promise<unknown> {
      let call: Call<unknown>;
      try {
        call = this.calls[name]!(...args);
      } catch (error) {
        return Promise.reject(error);
      }
      return this.run(call);
    };
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  }
}

addMethods(Commands.prototype, Object.keys(readOnly));
addMethods(IntegerCommands.prototype, Object.keys(integersReadOnly));
addMethods(NameCommands.prototype, Object.keys(namesReadOnly));
