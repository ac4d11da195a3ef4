// Errors as classes. Errors that are no replies of the server, such as a lost connection, stay as the client library made them.

/** What is known about a failed command. */
interface Context {
  /** The command's name, such as `R.SETBIT`. */
  command?: string;
  /** The error of the client library. */
  cause?: unknown;
}

/** An error reply of the server, or an argument or a reply that the client refuses. The base of all other classes. */
export class RoarError extends Error {
  /** The name of the command, such as `R.SETBIT`; undefined if the call was refused before there was a command. */
  readonly command: string | undefined;

  constructor(message: string, { command, cause }: Context = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.command = command;
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** The key holds a value of another type, or a bitmap of the other family. */
export class WrongType extends RoarError {}

/** An argument is out of its range. The client refuses most such arguments before anything is sent. */
export class OutOfRange extends RoarError {}

/** The server has no memory for the write. The bitmap is as it was. */
export class Oom extends RoarError {}

/** The bytes for `import` are no bitmap in the portable Roaring format of the family. The bitmap is as it was. */
export class BadPayload extends RoarError {}

/** The client library has lost digits of an integer, or decoded bytes as text. The command itself has succeeded. */
export class Inexact extends RoarError {}

const CLASSES: readonly [RegExp, new (message: string, context: Context) => RoarError][] = [
  [/^WRONGTYPE /, WrongType],
  [/^OOM /, Oom],
  [/^ERR invalid roaring payload/, BadPayload],
  [/^ERR invalid \w+: must|out of range|range too large/, OutOfRange],
];

/** What client libraries call the class of error replies, or its base: node-redis, and ioredis with redis-modules-sdk. */
const REPLY_CLASSES = new Set(["ErrorReply", "ReplyError"]);

/** Whether a client library's error is an error reply of the server. */
function isReply(error: unknown): error is Error {
  for (let one: unknown = error; one instanceof Error; one = Object.getPrototypeOf(one)) {
    if (REPLY_CLASSES.has(one.constructor.name) || REPLY_CLASSES.has(one.name)) return true;
  }
  return false;
}

/**
 * The error that a method throws for an error of the client library: for an error reply an instance of {@link RoarError}, else the same
 * error. O(1).
 */
export function errorOf(error: unknown, command: string): unknown {
  if (error instanceof RoarError || !isReply(error)) return error;
  const [, Class] = CLASSES.find(([pattern]) => pattern.test(error.message)) ?? [undefined, RoarError];
  return new Class(error.message, { command, cause: error });
}
