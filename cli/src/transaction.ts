// Temporary keys, and transactions.

import { randomBytes } from "node:crypto";
import { ErrorAnswer, Exit, Failure } from "./failure.js";
import { slotOf, tagOf } from "./names.js";
import { type Answer, type Connection, isRedirection, type Servers, type Word } from "./servers.js";

/** Where temporary keys are. An ACL user needs rights to ~redis-roar:* too. */
const TEMPORARY = "redis-roar:";
export const TEMPORARY_MS = 15 * 60_000;

/** Whether a key is one of those that this tool makes. */
export const isTemporary = (name: Buffer): boolean => name.subarray(0, TEMPORARY.length).toString("latin1") === TEMPORARY;

/** Names for the temporary keys of one run. */
export class Temporaries {
  readonly #servers: Servers;
  readonly #id = randomBytes(6).toString("hex");
  #count = 0;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** A new name in the slot of that key. */
  nameFor(name: Buffer): Buffer {
    return Buffer.from(`${TEMPORARY}${this.#servers.isCluster ? `{${tagOf(slotOf(name))}}:` : ""}${this.#id}:${this.#count++}`);
  }

  /** Finds out whether this user may write temporary keys, before any is needed. */
  async check(connection: Connection, command: string): Promise<void> {
    const answer = await connection.ask("UNLINK", this.nameFor(Buffer.alloc(0)));
    if (answer instanceof ErrorAnswer && answer.code === "NOPERM") throw new Failure(`${command} needs rights to keys ~${TEMPORARY}* and to UNLINK: ${answer.message}`, Exit.PERMISSION);
    if (answer instanceof ErrorAnswer && !isRedirection(answer)) throw answer;
  }
}

/**
 * Runs commands in a transaction, and returns their replies, in which errors are ErrorAnswers; undefined if a watched key has changed.
 * Throws if the transaction is refused: then nothing is done.
 */
export async function transact(connection: Connection, commands: Word[][]): Promise<Answer[] | undefined> {
  const sent = [connection.ask("MULTI"), ...commands.map((words) => connection.ask(...words)), connection.ask("EXEC")];
  const answers = await Promise.all(sent), result = answers.at(-1)!;
  const refused = answers.slice(0, -1).find((answer) => answer instanceof ErrorAnswer);
  if (refused) throw refused;
  if (result instanceof ErrorAnswer) throw new ErrorAnswer(result.message.replace(/^EXECABORT .* because of: /, ""));
  return result === null ? undefined : result as Answer[];
}

/** The same, but throws also if one of the commands fails; the others are done. */
export async function exec(connection: Connection, commands: Word[][]): Promise<Answer[] | undefined> {
  const answers = await transact(connection, commands), failed = answers?.find((answer) => answer instanceof ErrorAnswer);
  if (failed) throw failed;
  return answers;
}
