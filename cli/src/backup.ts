// A file of values as they were before they were converted: what DUMP says, for RESTORE. Behind the first line there is for each key
//
//   u32 bytes of the name   u64 bytes of the value   i64 expiry in ms, -1 for never   the name   the value
//
// in little-endian order. A record is on disk before its key is touched. A crash may cut the last one: its key then is as it was, and the
// next run removes what is there of it.

import { open, type FileHandle } from "node:fs/promises";
import { Exit, Failure } from "./failure.js";

const FIRST_LINE = Buffer.from("redis-roar backup 1\n");
const HEAD_BYTES = 20;

export interface BackupRecord {
  name: Buffer;
  expires: number;
  value: Buffer;
}

export class Backup {
  readonly #file: FileHandle;
  #end: number;
  /** Writes wait for each other, so that no record is inside of another one. */
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Opens the file for more records, behind those that are whole. */
  static async append(path: string): Promise<Backup> {
    const file = await open(path, "a+", 0o600).then(async (made) => {
      await made.close();
      return open(path, "r+");
    });
    const backup = new Backup(file, 0), { size } = await file.stat();
    const begin = await file.read(Buffer.alloc(FIRST_LINE.length), 0, FIRST_LINE.length, 0);
    // A crash, or a full disk, may have cut the first line.
    if (size < FIRST_LINE.length && FIRST_LINE.subarray(0, size).equals(begin.buffer.subarray(0, size))) {
      await backup.#write(FIRST_LINE);
      return backup;
    }
    backup.#end = FIRST_LINE.length;
    for await (const { name, value } of recordsOf(file, path)) backup.#end += HEAD_BYTES + name.length + value.length;
    await file.truncate(backup.#end);
    return backup;
  }

  /** The records are on disk when this is done. */
  add(...records: BackupRecord[]): Promise<void> {
    const bytes = Buffer.concat(records.flatMap(({ name, expires, value }) => {
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32LE(name.length, 0);
      head.writeBigUInt64LE(BigInt(value.length), 4);
      head.writeBigInt64LE(BigInt(expires), 12);
      return [head, name, value];
    }));
    const done = this.#last.then(() => this.#write(bytes));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Writes all bytes at the end, or none of them. One call to the system may write some. */
  async #write(bytes: Buffer): Promise<void> {
    try {
      for (let at = 0; at < bytes.length;) at += (await this.#file.write(bytes, at, bytes.length - at, this.#end + at)).bytesWritten;
      await this.#file.datasync();
    } catch (error) {
      await this.#file.truncate(this.#end).catch(() => {});
      throw error;
    }
    this.#end += bytes.length;
  }

  close(): Promise<void> { return this.#file.close(); }
}

async function* recordsOf(file: FileHandle, path: string): AsyncGenerator<BackupRecord> {
  let at = FIRST_LINE.length;
  const read = async (length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    at += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(FIRST_LINE.length), 0, FIRST_LINE.length, 0);
  if (!buffer.equals(FIRST_LINE)) throw new Failure(`${path} is not a backup of redis-roar`, Exit.USAGE);
  while (at + HEAD_BYTES <= size) {
    const head = await read(HEAD_BYTES), nameLength = head.readUInt32LE(0), length = Number(head.readBigUInt64LE(4));
    if (at + nameLength + length > size) return;
    yield { expires: Number(head.readBigInt64LE(12)), name: await read(nameLength), value: await read(length) };
  }
}

/** The records of a backup, the oldest first. */
export async function* readBackup(path: string): AsyncGenerator<BackupRecord> {
  const file = await open(path, "r");
  try {
    yield* recordsOf(file, path);
  } finally {
    await file.close();
  }
}
