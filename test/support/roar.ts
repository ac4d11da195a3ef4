// The commands of one family on a connection.

import { asReply, type Family, fromReply, type Member } from "./family.ts";
import { type Argument, bytesOf, type Command, type Connection, type Reply } from "./resp.ts";
import type { Server } from "./server.ts";

export class Roar {
  readonly family: Family;
  readonly #connection: () => Connection;

  constructor(family: Family, connection: () => Connection) {
    this.family = family;
    this.#connection = connection;
  }

  get connection(): Connection {
    return this.#connection();
  }

  name(command: string): string {
    return `${this.family.name}.${command}`;
  }

  /** Runs the family's command of that name: run("SETBIT", ...) sends R.SETBIT or R64.SETBIT. */
  run(command: string, ...args: Argument[]): Promise<Reply> {
    return this.connection.run(this.name(command), ...args);
  }

  refusal(command: string, ...args: Argument[]): Promise<string> {
    return this.connection.refusal(this.name(command), ...args);
  }

  /** Replaces the key by a bitmap with exactly these members, or by an empty bitmap. */
  async load(key: string, members: Iterable<Member>): Promise<void> {
    await this.connection.pipeline([["DEL", key], [this.name("SETBIT"), key, 0, 0], ...this.appends(key, members)]);
  }

  /** APPENDINTARRAY commands that together add the members. */
  appends(key: string, members: Iterable<Member>, atOnce = 10_000): Command[] {
    const all = [...members];
    const commands: Command[] = [];
    for (let i = 0; i < all.length; i += atOnce) {
      commands.push([this.name("APPENDINTARRAY"), key, ...all.slice(i, i + atOnce)]);
    }
    return commands;
  }

  async members(key: string): Promise<Member[]> {
    const members = (await this.run("GETINTARRAY", key)) as Reply[];
    return this.family.bits === 32 ? members as number[] : members.map(fromReply);
  }

  /** The reply of DUMP. Equal bitmaps may dump differently, but an unchanged one dumps the same. */
  async dump(key: string): Promise<Buffer | null> {
    const dump = await this.connection.run("DUMP", key);
    return dump === null ? null : bytesOf(dump);
  }
}

/** The family's commands on a server's RESP2 connection. */
export const roarOn = (server: Server, family: Family): Roar => new Roar(family, () => server.connection);

/** Members as replies. */
export const replies = (members: readonly Member[]): Reply[] => members.map(asReply);
