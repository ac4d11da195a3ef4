// How the tool ends. A message is one line.

export const Exit = {
  OK: 0,
  /** Some keys could not be handled; the others were. */
  SOME_FAILED: 1,
  USAGE: 2,
  /** No connection, or it broke. */
  CONNECTION: 3,
  /** The user may not do what is needed. */
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

/** An error reply of a server. */
export class ErrorAnswer extends Error {
  /** The first word: WRONGTYPE, NOPERM, MOVED ... */
  get code(): string { return this.message.split(" ", 1)[0] ?? ""; }
}

/** Whether the user lacks a right to a command, rather than to some keys. */
export const isForbiddenCommand = (error: unknown): boolean =>
  error instanceof ErrorAnswer && error.code === "NOPERM" && !/key/i.test(error.message.replace(/'[^']*'/g, ""));

const HOPELESS = new Set(["OOM", "READONLY", "MISCONF", "NOREPLICAS", "LOADING", "NOAUTH", "MASTERDOWN", "UNKILLABLE", "BUSY"]);
/** Whether there is no use in going on with other keys after this error reply. */
export const isHopeless = (error: ErrorAnswer): boolean => HOPELESS.has(error.code) || isForbiddenCommand(error);

/** One line that says what is wrong. */
export function lineOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return lineOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replace(/\s*\n\s*/g, " ").trim();
}

let stopping = false;
/** Ctrl-C and SIGTERM: what runs finishes the key that it is at. A second one ends at once. */
export const interruption = {
  get asked(): boolean { return stopping; },
  listen(): void {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(Exit.INTERRUPTED);
        stopping = true;
      });
    }
  },
};
