// inspect: what a bitmap is made of, and where its members lie.

import { type Core, Format } from "./core/core.js";
import { blockBytes, keyBytes, keyLayout } from "./core/sizes.js";
import { Exit, Failure } from "./failure.js";
import { shown } from "./names.js";
import { countParts, familyOf, type RoaringFamily, type Summary, summaryOf } from "./roaring.js";
import { readSet, readString } from "./reading.js";
import { type Connection, type Node, quantumOf } from "./servers.js";
import { isConvertible, verdictOnString } from "./verdict.js";

export interface Inspection {
  key: string;
  /** R, R64, "native bitmap" or "set of integers". */
  holds: string;
  cardinality: bigint;
  minimum: bigint | null;
  maximum: bigint | null;
  /** MEMORY USAGE; and what it would be as a roaring bitmap that is built anew, null for a bitmap that is too large to be copied. */
  bytesNow: number;
  bytesRoaring: number | null;
  /** For a large bitmap of R64, at least so many. */
  bytesExported: bigint;
  containers: { kind: string; containers: bigint; members: bigint; bytes: bigint }[];
  /** Where members lie: equal parts of [from, to], with the members in each. */
  from: bigint;
  to: bigint;
  parts: { from: bigint; to: bigint; members: bigint }[];
}

const goneFailure = (name: Buffer): Failure => new Failure(`${shown(name)}: the key disappeared while it was read`);

/** The type of a key, which must exist. */
export async function typeOf(connection: Connection, name: Buffer): Promise<string> {
  const type = String(await connection.run("TYPE", name));
  if (type === "none") throw new Failure(`${shown(name)}: there is no such key`, Exit.SOME_FAILED);
  return type;
}

/** Makes the core hold a key's value: a roaring bitmap, a native one, or a set of integers. */
export async function readKey(core: Core, { connection }: Node, name: Buffer): Promise<string> {
  const type = await typeOf(connection, name), family = familyOf(type), gone = goneFailure(name);
  if (family) {
    const payload = await connection.run(`${family}.EXPORT`, name);
    if (!Buffer.isBuffer(payload)) throw gone;
    core.read(family === "R64" ? Format.PORTABLE_WIDE : Format.PORTABLE, payload);
    return family;
  }
  if (type === "string") {
    const value = await readString(connection, name, Number(await connection.run("STRLEN", name))) ?? Buffer.alloc(0), verdict = verdictOnString(value);
    if (!isConvertible(verdict)) throw new Failure(`${shown(name)}: this string is not a bitmap: ${verdict}`);
    core.read(Format.BITS, value);
    return "native bitmap";
  }
  if (type !== "set") throw new Failure(`${shown(name)}: of type ${type}, not a bitmap`);
  const members = await readSet(connection, name);
  if (!members) throw gone;
  if (members.refused !== undefined) throw new Failure(`${shown(name)}: the set has a member that is not an offset: ${JSON.stringify(members.refused)}`);
  core.collect(members.offsets);
  return "set of integers";
}

/** So many parts, or as many as there are offsets. */
function partsOf(from: bigint, to: bigint, count: number): { from: bigint; to: bigint }[] {
  const span = to - from + 1n, parts = span < BigInt(count) ? Number(span) : count;
  const begin = (i: number): bigint => from + span * BigInt(i) / BigInt(parts);
  return Array.from({ length: parts }, (_, i) => ({ from: begin(i), to: begin(i + 1) - 1n }));
}

export interface Range {
  from?: bigint;
  to?: bigint;
}

/** A bitmap with more containers or bytes is not copied, but asked for what is shown. */
const MOST_CONTAINERS = 50_000n, MOST_BYTES = 16_000_000n;

function isLarge({ containers, bytesExported }: Summary): boolean {
  return bytesExported > MOST_BYTES || containers.reduce((sum, of) => sum + of.containers, 0n) > MOST_CONTAINERS;
}

/** The range that is shown. */
function shownRange(range: Range, minimum: bigint | undefined, maximum: bigint | undefined): { from: bigint; to: bigint } {
  const from = range.from ?? minimum ?? 0n, to = range.to ?? maximum ?? 0n;
  if (from > to) throw new Failure(`--from ${from} is greater than --to ${to}`, Exit.USAGE);
  return { from, to };
}

const usageOf = async ({ connection }: Node, name: Buffer): Promise<number> =>
  Number(await connection.run("MEMORY", "USAGE", name, "SAMPLES", 1000) ?? 0);

async function inspectLarge(
  node: Node, name: Buffer, { family, ...summary }: Summary & { family: RoaringFamily }, range: Range, count: number,
): Promise<Inspection> {
  const { cardinality, minimum, maximum, containers, bytesExported } = summary;
  const { from, to } = shownRange(range, minimum, maximum), parts = partsOf(from, to, count);
  const [bytesNow, members] = await Promise.all([usageOf(node, name), countParts(node.connection, family, name, parts)]);
  return {
    key: shown(name), holds: family, cardinality, minimum, maximum, bytesNow, bytesRoaring: null, bytesExported, containers, from, to,
    parts: parts.map((part, i) => ({ ...part, members: members[i]! })),
  };
}

export async function inspect(core: Core, node: Node, name: Buffer, range: Range, count: number): Promise<Inspection> {
  const family = familyOf(await typeOf(node.connection, name)), summary = family && await summaryOf(node.connection, family, name);
  if (family && !summary) throw goneFailure(name);
  if (summary && isLarge(summary)) return inspectLarge(node, name, { family, ...summary }, range, count);
  const holds = await readKey(core, node, name), minimum = core.minimum(), maximum = core.maximum();
  const { from, to } = shownRange(range, minimum, maximum);
  const [bytesNow, time, quantum] = await Promise.all([usageOf(node, name), node.connection.run("PTTL", name), quantumOf(node)]);
  return {
    key: shown(name), holds, cardinality: core.cardinality(), minimum: minimum ?? null, maximum: maximum ?? null, bytesNow,
    bytesRoaring: blockBytes(core.used()) + keyBytes(keyLayout(node.version), quantum, name.length, Number(time) >= 0),
    bytesExported: core.writtenBytes(holds === "R64" || (maximum ?? 0n) > 0xffff_ffffn ? Format.PORTABLE_WIDE : Format.PORTABLE),
    containers: core.statistics(), from, to,
    parts: partsOf(from, to, count).map((part) => ({ ...part, members: core.countRange(part.from, part.to) })),
  };
}

/** The share of the offsets of a part that are members. */
const density = ({ from, to, members }: Inspection["parts"][number]): number => Number(members) / Number(to - from + 1n);

const SHADES = [" ", "·", "░", "▒", "▓", "█"];

/** The lightest shade is at most this share of the darkest, so that parts of nearly the same density look alike. */
const LIGHTEST = 1 / 32;

/**
 * A shade for each part, the more members the darker: a dot is at least one member, a full block the most of all parts. Between them shades
 * follow the logarithm, since densities differ by powers of ten.
 */
export function pictureOf({ parts }: Inspection, width: number): string[] {
  const densities = parts.map(density), greatest = Math.max(...densities);
  const least = Math.min(greatest * LIGHTEST, ...densities.filter((share) => share > 0));
  const shade = (part: Inspection["parts"][number]): string => {
    if (part.members === 0n) return SHADES[0]!;
    const share = Math.log(density(part) / least) / Math.log(greatest / least);
    return SHADES[1 + Math.round(share * (SHADES.length - 2))]!;
  };
  const lines: string[] = [], labels = parts.filter((_, i) => i % width === 0).map(({ from }) => String(from));
  const indent = Math.max(0, ...labels.map(({ length }) => length));
  for (let i = 0; i < parts.length; i += width) lines.push(`${labels[i / width]!.padStart(indent)} |${parts.slice(i, i + width).map(shade).join("")}|`);
  return lines;
}

/** The same as a chart: members of each part, by height. */
export function svgOf({ parts, key, cardinality }: Inspection): string {
  const WIDTH = 1000, HEIGHT = 220, LEFT = 10, BASE = HEIGHT - 30;
  const greatest = Math.max(1e-300, ...parts.map(density)), step = (WIDTH - 2 * LEFT) / parts.length;
  const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const bars = parts.map((part, i) => {
    if (part.members === 0n) return "";
    const height = Math.max(1, density(part) / greatest * (BASE - 30));
    return `<rect x="${(LEFT + i * step).toFixed(2)}" y="${(BASE - height).toFixed(2)}" width="${Math.max(0.5, step - 0.2).toFixed(2)}" height="${height.toFixed(2)}"><title>${part.from} to ${part.to}: ${part.members} members</title></rect>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="20">${escaped(key)}: ${cardinality} members; the highest bar is ${(greatest * 100).toPrecision(3)} % full</text>
<g fill="#1f77b4">${bars.join("")}</g>
<path d="M${LEFT} ${BASE}H${WIDTH - LEFT}" stroke="#333"/>
<text x="${LEFT}" y="${HEIGHT - 10}">${parts[0]?.from ?? ""}</text><text x="${WIDTH - LEFT}" y="${HEIGHT - 10}" text-anchor="end">${parts.at(-1)?.to ?? ""}</text>
</svg>
`;
}
