// Finds and repairs what a bitmap has missed, with a database as the truth.

import sqlite3, { type Database } from "@sqlite.org/sqlite-wasm";
import type { Connected } from "../support/example.ts";

/** Likes in a database in memory. */
export class Likes {
  readonly #db: Database;

  private constructor(db: Database) {
    this.#db = db;
    db.exec("CREATE TABLE likes (post INTEGER, user INTEGER, PRIMARY KEY (post, user)) WITHOUT ROWID");
  }

  static async open(): Promise<Likes> {
    const { oo1 } = await sqlite3();
    return new Likes(new oo1.DB());
  }

  insert(post: number, users: Iterable<bigint>): void {
    const insert = this.#db.prepare("INSERT INTO likes VALUES (?, ?)");
    this.#db.transaction(() => { for (const user of users) insert.bind([post, user]).stepReset(); });
    insert.finalize();
  }

  /** Who likes a post, in ascending order. */
  of(post: number): bigint[] {
    return this.#db.selectValues("SELECT user FROM likes WHERE post = ? ORDER BY user", [post]).map((user) => BigInt(user as number));
  }

  close(): void {
    this.#db.close();
  }
}

export interface Differences {
  missing: bigint[];
  extra: bigint[];
}

/**
 * Makes the bitmap of a post what the database says, and answers how they differed. A like that comes in after the comparison stays,
 * because only the differences are changed. One that comes in between reading `truth` and the comparison is taken for a stray one.
 */
export async function reconcile({ redis, r64 }: Connected, key: string, truth: readonly bigint[]): Promise<Differences> {
  const fromDatabase = `${key}:db`, missing = `${key}:missing`, extra = `${key}:extra`;
  await r64.setIntArray(fromDatabase, truth);
  await r64.diff(missing, fromDatabase, key);
  await r64.diff(extra, key, fromDatabase);
  const differences = { missing: await r64.getIntArray(missing), extra: await r64.getIntArray(extra) };
  await r64.queryStore(key, "(#1 | #2) - #3", [key, missing, extra]);
  await redis.unlink(fromDatabase, missing, extra);
  return differences;
}
