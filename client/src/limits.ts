// How long a call may take: signals and timeouts.

import { AbortError, InvalidArgumentError, TimeoutError } from "./errors.js";
import { described } from "./family.js";

/** The part of AbortSignal that is used. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** How long calls may take. */
export interface CallOptions {
  /**
   * Ends calls: of an AbortController, or of `AbortSignal.timeout(ms)`. A call whose signal is aborted is not sent. One that has been sent
   * is given up, and the server may execute it all the same.
   */
  readonly signal?: Signal | undefined;
  /** Milliseconds that a command, or commands that are sent together, may take. */
  readonly timeout?: number | undefined;
}

const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** The options, or undefined if there are none. Throws {@link InvalidArgumentError} for invalid ones. */
export function checkedOptions(options: CallOptions): CallOptions | undefined {
  const { signal, timeout } = options;
  if (signal && typeof signal.addEventListener !== "function") throw new InvalidArgumentError(`invalid signal: ${described(signal)} is not an AbortSignal`);
  if (timeout !== undefined && !(Number.isInteger(timeout) && timeout > 0 && timeout <= LONGEST_TIMEOUT)) {
    throw new InvalidArgumentError(`invalid timeout: ${described(timeout)} is not from 1 to ${LONGEST_TIMEOUT} milliseconds`);
  }
  return signal || timeout !== undefined ? options : undefined;
}

/** Throws {@link AbortError} if the signal is aborted. */
function throwIfAborted(signal: Signal | undefined, command?: string): void {
  if (signal?.aborted) throw new AbortError("aborted before it was sent", false, { command, cause: signal.reason });
}

/** Starts a call, and returns its result. Rejects when the signal is aborted or the time is up; then `given` is aborted, too. */
export async function within<T>(
  { signal, timeout }: CallOptions, command: string, start: (given: Signal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal, command);
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined, aborted: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = (error: AbortError): void => {
      reject(error);
      controller.abort(error);
    };
    aborted = () => end(new AbortError("aborted after it was sent", true, { command, cause: signal!.reason }));
    signal?.addEventListener("abort", aborted);
    if (timeout !== undefined) timer = setTimeout(() => end(new TimeoutError(`no answer within ${timeout} ms`, true, { command })), timeout);
  });
  try {
    return await Promise.race([start(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted!);
  }
}
