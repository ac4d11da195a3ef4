// Errors as classes. Errors other than replies, such as a lost connection, stay as the client library made them.

/** Details of a failed command. */
interface Context {
  /** The command's name, such as `R.SETBIT`. */
  command?: string | undefined;
  /** The error of the client library, or why a signal was aborted. */
  cause?: unknown;
}

/** An error reply of the server, or an argument or a reply that the client refuses. The base of all other classes. */
export class RoarError extends Error {
  /** The name of the command, such as `R.SETBIT`; undefined if the error is not about one command. */
  readonly command: string | undefined;

  constructor(message: string, { command, cause }: Context = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.command = command;
  }

  // Each class has its name as a literal, because minifiers change the names of classes.
  override get name(): string {
    return "RoarError";
  }
}

/** The key holds a value of another type, or a bitmap of the other family. */
export class WrongTypeError extends RoarError {
  override get name(): string {
    return "WrongTypeError";
  }
}

/** An argument is out of its range or has the wrong type. The client refuses most such arguments before anything is sent. */
export class InvalidArgumentError extends RoarError {
  override get name(): string {
    return "InvalidArgumentError";
  }
}

/** The server has no memory for the write. The bitmap is as it was. */
export class OutOfMemoryError extends RoarError {
  override get name(): string {
    return "OutOfMemoryError";
  }
}

/** The payload for `import` is not a bitmap in the portable Roaring format of the family. The bitmap is as it was. */
export class InvalidPayloadError extends RoarError {
  override get name(): string {
    return "InvalidPayloadError";
  }
}

/** The client library has lost digits of an integer, or decoded bytes as text. The command itself has succeeded. */
export class InexactReplyError extends RoarError {
  override get name(): string {
    return "InexactReplyError";
  }
}

/** The signal of a call was aborted. */
export class AbortError extends RoarError {
  /** Whether the call was given to the client library. If so, the server may execute it, or have executed it. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean, context: Context = {}) {
    super(message, context);
    this.sent = sent;
  }

  override get name(): string {
    return "AbortError";
  }
}

/** A call took longer than its `timeout`. The server may execute it, or have executed it. */
export class TimeoutError extends AbortError {
  override get name(): string {
    return "TimeoutError";
  }
}

const CLASSES: readonly [RegExp, new (message: string, context: Context) => RoarError][] = [
  [/^WRONGTYPE /, WrongTypeError],
  [/^OOM /, OutOfMemoryError],
  [/^ERR invalid roaring payload/, InvalidPayloadError],
  [/^ERR invalid \w+: must|out of range|range too large/, InvalidArgumentError],
];

/**
 * How error replies begin: with a code, or as some of this module's do. Classes of client libraries do not tell replies from other errors:
 * each has its own, and minifiers rename them.
 */
const REPLY = /^(?:[A-Z][A-Z\d]+ |Roaring: )/;

/**
 * The error that a method throws for an error of the client library: for an error reply an instance of {@link RoarError}, else the same
 * error. O(1).
 */
export function errorOf(error: unknown, command: string): unknown {
  if (error instanceof RoarError) {
    if (error.command === undefined) Object.assign(error, { command });
    return error;
  }
  if (!(error instanceof Error) || !REPLY.test(error.message)) return error;
  const [, Class] = CLASSES.find(([pattern]) => pattern.test(error.message)) ?? [undefined, RoarError];
  return new Class(error.message, { command, cause: error });
}
