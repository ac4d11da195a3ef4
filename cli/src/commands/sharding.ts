// The options of load and unload for sharded bitmaps.

import { type Command, InvalidArgumentError, Option } from "commander";
import { type Core } from "../core/core.js";
import { wholeNumber } from "../options.js";
import { type ServerOptions, type Servers } from "../servers.js";
import { ShardedBitmap } from "../sharded.js";

export interface ShardFlags extends ServerOptions {
  shards?: number;
  shardWidth?: bigint;
  by: "range" | "hash";
}

/** The options of a bitmap that is spread over keys. */
export const sharding = (made: Command): Command => made
  .addOption(new Option("--shards <number>", "number of keys over which the bitmap is spread, <key>:{0}, <key>:{1} ...")
    .argParser(wholeNumber(1, 16_384)))
  .addOption(new Option("--shard-width <offsets>", "offsets of a shard; by default all offsets of the family divided by the number of shards").argParser((text) => {
    if (!/^\d{1,20}$/.test(text)) throw new InvalidArgumentError("must be a whole number.");
    return BigInt(text);
  }))
  .addOption(new Option("--by <how>", "how offsets are spread").choices(["range", "hash"]).default("range"));

export const isSharded = ({ shards, shardWidth, by }: ShardFlags): boolean => shards !== undefined || shardWidth !== undefined || by !== "range";

/** The sharded bitmap that the options name, if they do. */
export function shardedOf(servers: Servers, core: Core, key: string, wide: boolean, flags: ShardFlags): ShardedBitmap | undefined {
  if (!isSharded(flags)) return undefined;
  const { shards, shardWidth, by } = flags;
  return new ShardedBitmap(servers, core, key, wide, { by, shards, width: shardWidth });
}
