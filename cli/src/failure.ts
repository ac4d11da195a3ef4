// How the tool ends. A message is one line.

import { setTimeout as sleep } from "node:timers/promises";

export const Exit = {
  OK: 0,
  /** Some keys could not be handled; all others were. */
  SOME_FAILED: 1,
  USAGE: 2,
  /** No connection, or it broke. */
  CONNECTION: 3,
  /** The user lacks a right. */
  PERMISSION: 4,
  INTERRUPTED: 130,
} as const;
export type Exit = (typeof Exit)[keyof typeof Exit];

/** Ends the tool with a message for its user. */
export class Failure extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = Exit.SOME_FAILED) {
    super(message);
    this.exit = exit;
  }
}

/** The error for a command in a script that the user may not run. Before 7.2 it does not name the command. */
const DENIED_IN_SCRIPT = /^ERR (ACL failure in script|The user executing the script can't run)/;

/** An error reply of a server. */
export class ErrorAnswer extends Error {
  /** The first word: WRONGTYPE, NOPERM, MOVED ... */
  get code(): string { return DENIED_IN_SCRIPT.test(this.message) ? "NOPERM" : this.message.split(" ", 1)[0] ?? ""; }
}

/** Error replies to a user who lacks a right. */
const DENIED = /^(NOPERM|NOAUTH|WRONGPASS)$/;

/** Whether the user lacks a right to a command, rather than to some keys. */
export const isForbiddenCommand = (error: unknown): boolean =>
  error instanceof ErrorAnswer && error.code === "NOPERM" && !/key/i.test(error.message.replace(/'[^']*'/g, ""));

const HOPELESS = new Set(["OOM", "READONLY", "MISCONF", "NOREPLICAS", "LOADING", "NOAUTH", "MASTERDOWN", "UNKILLABLE", "BUSY"]);
/** Whether other keys would get this error reply, too. */
export const isHopeless = (error: ErrorAnswer): boolean => HOPELESS.has(error.code) || isForbiddenCommand(error);

/** The exit code after an error; `other` for an unknown error. */
export function exitOf(error: unknown, other: Exit = Exit.SOME_FAILED): Exit {
  if (error instanceof Failure) return error.exit;
  return error instanceof ErrorAnswer && DENIED.test(error.code) ? Exit.PERMISSION : other;
}

/** The failure of a run that an error reply ended at a key. */
export function failureAt(key: string, error: ErrorAnswer): Failure {
  const hint = DENIED_IN_SCRIPT.test(error.message) ? " The section Rights of docs/cli.md lists what scripts call." : "";
  return new Failure(`${key}: ${error.message}${hint}`, exitOf(error));
}

/** The error as one line. Callers name the server, so this omits the address of a failed connection. */
export function lineOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return lineOf(error.errors[0]);
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code && (syscall === "connect" || syscall === "getaddrinfo")) return `${syscall} ${code}`;
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replace(/\s*\n\s*/g, " ").trim();
}

/** After a signal, current work has GRACE_MS to finish. Then connections are closed, and LAST_MS later the process exits in any case. */
const GRACE_MS = 3000, LAST_MS = 1000;

const stopping = new AbortController(), { signal: stopped } = stopping;
/** Ctrl-C and SIGTERM: a command finishes its current keys. A second signal ends the process at once. */
export const interruption = {
  get asked(): boolean { return stopped.aborted; },
  /** Aborted by the signal. */
  signal: stopped,
  /** Waits, unless the run is interrupted. */
  pause: (ms: number): Promise<unknown> => sleep(ms, undefined, { signal: stopped }).catch(() => {}),
  /** `cut` closes the connections whose calls may never end. */
  listen(cut: () => void): void {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (stopped.aborted) process.exit(Exit.INTERRUPTED);
        stopping.abort();
        setTimeout(cut, GRACE_MS).unref();
        setTimeout(() => {
          if (process.exitCode === undefined) console.error("redis-roar: interrupted");
          process.exit(process.exitCode ?? Exit.INTERRUPTED);
        }, GRACE_MS + LAST_MS).unref();
      });
    }
  },
};
