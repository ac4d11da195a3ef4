// Likes in a database: SQLite, in memory.

import sqlite3, { type Database } from "@sqlite.org/sqlite-wasm";
import type { Store } from "./service.ts";

export class LikesTable implements Store {
  readonly #db: Database;

  private constructor(db: Database) {
    this.#db = db;
    db.exec("CREATE TABLE likes (post INTEGER, user INTEGER, PRIMARY KEY (post, user)) WITHOUT ROWID");
  }

  static async open(): Promise<LikesTable> {
    const { oo1 } = await sqlite3();
    return new LikesTable(new oo1.DB());
  }

  apply(post: number, added: readonly bigint[], removed: readonly bigint[]): void {
    const insert = this.#db.prepare("INSERT OR IGNORE INTO likes VALUES (?, ?)"), remove = this.#db.prepare("DELETE FROM likes WHERE post = ? AND user = ?");
    this.#db.transaction(() => {
      for (const user of added) insert.bind([post, user]).stepReset();
      for (const user of removed) remove.bind([post, user]).stepReset();
    });
    insert.finalize();
    remove.finalize();
  }

  /** Who likes a post, in ascending order. */
  of(post: number): bigint[] {
    return this.#db.selectValues("SELECT user FROM likes WHERE post = ? ORDER BY user", [post]).map((user) => BigInt(user as number));
  }

  close(): void {
    this.#db.close();
  }
}
