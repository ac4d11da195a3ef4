// Keys that are moving from native bitmaps or sets to roaring bitmaps, or back: each has the one type or the other, and may change it at
// any time. A command is sent for one type, and if the key has the other one, for that. A command that replies WRONGTYPE has changed
// nothing, so each change is made once.

import type { Bitmaps } from "./bitmaps.js";
import { type Call, listed } from "./call.js";
import { command } from "./command.js";
import { InvalidArgumentError, WrongTypeError } from "./errors.js";
import { type Count, type Family, integer, type Member, type Offset, R } from "./family.js";
import { TransactionError } from "./multi.js";
import { LocalBitmap } from "./portable.js";
import type { RoarClient } from "./roar.js";
import type { Key, List } from "./types.js";

/** What keys are moved from. */
export type Former = "native" | "set";

export interface MigratingOptions<M extends Member> {
  /** What the keys are, or were: native bitmaps or sets of integers. */
  readonly from: Former;
  /** `R`, the default, or `R64`. Native bitmaps are moved to `R`. */
  readonly family?: Family<M> | undefined;
  /**
   * What a write makes of a missing key: `former`, the default, until all programs read both types, then `roaring`. The type that is more
   * frequent at the moment is also the one that is tried first.
   */
  readonly creates?: "former" | "roaring" | undefined;
}

/** How often a key may change its type while one call is sent. */
const ATTEMPTS = 8;

const isWrongType = (error: unknown): boolean => error instanceof WrongTypeError
  || (error instanceof TransactionError && error.results.every((result) => result.status === "rejected" && result.reason instanceof WrongTypeError));

/** A native bitmap's members. */
function membersOf(bytes: Uint8Array): number[] {
  const members: number[] = [];
  for (const [at, byte] of bytes.entries()) for (let bit = 0; bit < 8; bit++) if (byte & (0x80 >> bit)) members.push(at * 8 + bit);
  return members;
}

/** The bytes of a reply: `command` decodes strings as text. */
const asBytes = (call: Call<unknown>): Call<Uint8Array | null> => ({ ...call, decode: (reply) => reply as Buffer | null });

/**
 * Bitmaps that are being converted, as programs use them meanwhile. When all keys are converted and all programs have been deployed with
 * `creates: "roaring"`, use `r` or `r64` instead.
 */
export class MigratingBitmaps<M extends Member = number> {
  readonly #client: RoarClient;
  readonly #family: Family<M>;
  readonly #from: Former;
  readonly #roaringFirst: boolean;

  /**
   * @param client what an adapter's `roar` returns
   * @throws InvalidArgumentError
   * @remarks Nothing is sent. See docs/migration.md.
   */
  constructor(client: RoarClient, { from, family = R as unknown as Family<M>, creates = "former" }: MigratingOptions<M>) {
    if (from !== "native" && from !== "set") throw new InvalidArgumentError(`invalid from: ${String(from)} is neither native nor set`);
    if (creates !== "former" && creates !== "roaring") throw new InvalidArgumentError(`invalid creates: ${String(creates)} is neither former nor roaring`);
    if (from === "native" && family.name !== "R") throw new InvalidArgumentError("invalid family: native bitmaps are moved to R");
    this.#client = client;
    this.#family = family;
    this.#from = from;
    this.#roaringFirst = creates === "roaring";
  }

  /**
   * Whether an offset is a member.
   *
   * @throws WrongTypeError if the key has a third type, InvalidArgumentError
   * @remarks One command, or two if the key has the type that is tried second. The same holds for all methods.
   */
  async has(key: Key, offset: Offset<M>): Promise<boolean> {
    const [word] = this.#words([offset]), former = command<number>(this.#from === "native" ? "GETBIT" : "SISMEMBER", [key, word!], { readonly: true });
    return Number(await this.#either(() => this.#bitmaps.getBit(key, offset), () => this.#send(former))) === 1;
  }

  /**
   * Adds members.
   *
   * @returns How many are new.
   * @throws WrongTypeError if the key has a third type, InvalidArgumentError, OutOfMemoryError
   */
  add(key: Key, offsets: List<Offset<M>>): Promise<Count<M>> {
    return this.#change(key, [...listed("offsets", offsets)], true);
  }

  /**
   * Removes members.
   *
   * @returns How many were members.
   * @throws WrongTypeError if the key has a third type, InvalidArgumentError
   */
  remove(key: Key, offsets: List<Offset<M>>): Promise<Count<M>> {
    return this.#change(key, [...listed("offsets", offsets)], false);
  }

  /** The number of members. */
  async count(key: Key): Promise<Count<M>> {
    const former = command<number>(this.#from === "native" ? "BITCOUNT" : "SCARD", [key], { readonly: true });
    return this.#either(() => this.#bitmaps.bitCount(key), async () => this.#counted(await this.#send(former)));
  }

  /**
   * All members, in this process.
   *
   * @remarks The whole value is sent.
   */
  read(key: Key): Promise<LocalBitmap<M>> {
    return this.#either(async () => LocalBitmap.read(this.#family, await this.#bitmaps.export(key)), async () => {
      if (this.#from === "native") {
        const bytes = await this.#send(asBytes(command("GET", [key], { readonly: true })));
        return LocalBitmap.of(R, membersOf(bytes ?? new Uint8Array())) as unknown as LocalBitmap<M>;
      }
      const members = await this.#send(command<string[]>("SMEMBERS", [key], { readonly: true }));
      return LocalBitmap.of(this.#family, members.map((member) => this.#family.member(BigInt(member)) as unknown as Offset<M>));
    });
  }

  /**
   * How many members the intersection (`AND`), the union (`OR`), the symmetric difference (`XOR`) or the first without the others (`DIFF`)
   * has. If the keys have several types at the moment, or are in several slots, they are read and combined in this process.
   */
  async countOf(operation: "AND" | "OR" | "XOR" | "DIFF", keys: List<Key>): Promise<Count<M>> {
    const list = [...listed("keys", keys)];
    try {
      return await this.#bitmaps.bitOpCard(operation, list);
    } catch (error) {
      if (!isWrongType(error) && !(error instanceof Error && /CROSSSLOT|same slot/i.test(error.message))) throw error;
    }
    const bitmaps = await Promise.all(list.map((key) => this.read(key)));
    const combine = { AND: "and", OR: "or", XOR: "xor", DIFF: "andNot" } as const;
    return this.#counted(bitmaps.reduce((all, one) => all[combine[operation]](one)).size);
  }

  get #bitmaps(): Bitmaps<M> {
    return (this.#family.name === "R" ? this.#client.r : this.#client.r64) as unknown as Bitmaps<M>;
  }

  /** Offsets as they are members of sets: digits without zeros before them. */
  #words(offsets: readonly Offset<M>[]): string[] {
    return offsets.map((offset) => String(integer("offset", offset, 0n, this.#family.last)));
  }

  #counted(count: number | bigint): Count<M> {
    return this.#family.member(BigInt(count));
  }

  async #send<T>(call: Call<T>): Promise<T> {
    const [answer] = await this.#client.pipeline([call]);
    if (answer.status === "rejected") throw answer.reason;
    return answer.value;
  }

  /** A change for the type that the key has: all of it, or nothing. */
  async #change(key: Key, offsets: readonly Offset<M>[], adds: boolean): Promise<Count<M>> {
    const words = this.#words(offsets);
    if (words.length === 0) return this.#counted(0);
    const roaring = async (): Promise<Count<M>> =>
      (adds ? this.#bitmaps.setBits(key, offsets) : await this.#bitmaps.clearBitsCount(key, offsets) ?? this.#counted(0));
    return this.#either(roaring, async () => {
      if (this.#from === "set") return this.#counted(await this.#send(command<number>(adds ? "SADD" : "SREM", [key, ...words], { repeatable: true })));
      const transaction = this.#client.multi();
      for (const word of words) transaction.call("SETBIT", key, word, adds ? 1 : 0);
      const before = await transaction.exec() as readonly unknown[];
      return this.#counted(before.filter((bit) => Number(bit) === (adds ? 0 : 1)).length);
    });
  }

  /** What a key answers as the one type or the other, whichever it has. */
  async #either<T>(roaring: () => Promise<T>, former: () => Promise<T>): Promise<T> {
    const ways = this.#roaringFirst ? [roaring, former] : [former, roaring];
    for (let attempt = 1; ; attempt++) {
      try {
        return await ways[(attempt - 1) % 2]!();
      } catch (error) {
        if (!isWrongType(error) || attempt === ATTEMPTS) throw error instanceof TransactionError ? error.cause : error;
      }
    }
  }
}
