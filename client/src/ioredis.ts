// The adapter for ioredis, versions 5 and 6.

import { type IoredisClient, transportOn } from "./ioredis-transport.js";
import { type RoarClient, roarOn } from "./roar.js";

export type { IoredisClient } from "./ioredis-transport.js";

/** A node's connection, as ioredis duplicates it to ask for the slots. */
interface Connection {
  duplicate(options: object): unknown;
}

/** What is used of a cluster client, beyond its public interface. */
interface Internals {
  getInfoFromNode?(connection: Connection | undefined, callback: (error?: Error) => void): void;
  refreshSlotsCache?(): void;
  readonly slots?: readonly unknown[];
}

const repaired = new WeakSet<object>();

/**
 * With `stringNumbers`, ioredis gets the bounds of CLUSTER SLOTS as text and compares them as text. "5461" is then greater than "10922",
 * and nobody seems to have the slots between them. Here the connection that asks for the slots, and only that one, gets numbers.
 */
function repairSlots(cluster: Internals): void {
  const ask = cluster.getInfoFromNode;
  if (ask === undefined || repaired.has(cluster)) return;
  repaired.add(cluster);
  cluster.getInfoFromNode = (connection, callback) => ask.call(cluster, connection && {
    duplicate: (options: object) => connection.duplicate({ ...options, stringNumbers: false }),
  }, callback);
  if (cluster.slots && cluster.slots.length > 0) cluster.refreshSlotsCache?.(); // it may have read them as text before
}

/**
 * The commands of the module on a client or a cluster client of ioredis.
 *
 * @param client a `Redis`, or a `Cluster`, which you close. For `R64.` members above 2^53, and fields of such values, it needs the option
 * `stringNumbers: true` (of a cluster: `redisOptions: { stringNumbers: true }`); without it, such answers are `InexactReplyError`.
 * @remarks Nothing is sent. `keyPrefix`, `enableAutoPipelining` and `scaleReads` are honored.
 */
export function roar(client: IoredisClient): RoarClient {
  if (client.isCluster) repairSlots(client as Internals);
  return roarOn(transportOn(() => client, client.options.keyPrefix));
}
