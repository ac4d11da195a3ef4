// The core, the code that holds bitmaps in a server, as it runs in JavaScript: the same WebAssembly that the module is compiled from, with
// the imports of wasm/imports.ts. It uses nothing that only Node.js or only browsers have; whoever uses it gets the two files core.wasm
// and imports.wasm to it.
//
//   const core = new Core(await compileCore(coreBytes, importBytes));
//   core.read(Format.BITS, value);              // the bitmap of a native bitmap is now in memory 0
//   core.cardinality();                         // 42n
//   blockBytes(core.used());                    // what a server would allocate for it (sizes.ts)
//
// A Core holds one bitmap at a time. Of one that is built in segments, to know what a server would allocate for a large bitmap, it keeps
// only the last segment. Calls are synchronous; one that needs more memory than WebAssembly has throws CoreError.

/** The payloads that a bitmap can be read from and written as; the numbers are those of assembly/format/index.ts. */
export const Format = { PORTABLE: 2, PORTABLE_WIDE: 3, BITS: 4, WIDE_PARTS: 6, ANY: 8, ANY_WIDE: 9 } as const;
export type Format = (typeof Format)[keyof typeof Format];

/** A payload that is no bitmap, or a bitmap that needs more memory than there is. */
export class CoreError extends Error {
  /** What is wrong with the payload: a number of assembly/env/fault.ts. */
  readonly fault: number | undefined;

  constructor(message: string, fault?: number) {
    super(message);
    this.fault = fault;
  }
}

export interface CoreModules {
  core: WebAssembly.Module;
  imports: WebAssembly.Module;
}

/** Compiles the two files of the core. */
export async function compileCore(core: BufferSource, imports: BufferSource): Promise<CoreModules> {
  const [first, second] = await Promise.all([WebAssembly.compile(core), WebAssembly.compile(imports)]);
  return { core: first, imports: second };
}

/** What a bitmap's containers take in the portable format, by their kinds there. */
export interface ContainerStatistics {
  kind: "array" | "bitset" | "run";
  containers: bigint;
  members: bigint;
  bytes: bigint;
}

/** The functions of assembly/index.ts that are used here. Numbers of 64 bits come back signed. */
interface CoreExports {
  deserialize(format: number, size: bigint, shift: number): number;
  serializedBytes(format: number): bigint;
  serialize(format: number): void;
  collect(count: number): void;
  pack(): void;
  changeValue(deed: number, id: bigint, value: bigint, rules: number): number;
  findNames(count: number, k0: bigint, k1: bigint): void;
  used(): number;
  cardinality(): bigint;
  isEmpty(): number;
  minimum(): bigint;
  maximum(): bigint;
  countRange(low: bigint, high: bigint): bigint;
  get(offset: bigint): number;
  membersFrom(from: bigint, limit: bigint): void;
  statistics(): void;
}

/** The functions of wasm/imports.ts. */
interface HostExports {
  host_clear(): void;
  host_enter(): void;
  host_hold(bytes: number): number;
  host_address(place: number): number;
  host_addOperand(place: number, bytes: number): void;
  host_setArguments(place: number, count: number): void;
  host_setOutput(place: number, bytes: number): void;
  host_setArena(bytes: number): void;
  host_setSegments(bytes: number): void;
  host_members(): number;
  host_membersAt(): number;
  host_isOutOfMemory(): number;
}

/** As many zero bytes make an arena an empty bitmap. */
const EMPTY_BYTES = 16;
/** What building needs beside the result, as in a server. */
const BUILDING = 96 * 1024;
/** Payloads of 64-bit bitmaps may be longer than memory; those here are not, so one window shows all. */
const WINDOW_SHIFT = 31;
/** What changeValue does with a value: Deed.SET of assembly/values/point.ts. */
const SET = 0;
/** Where the core packs a name, and puts its record: DESK_TEXT of assembly/names/dictionary.ts. */
const DESK_BYTES = 131_136, DESK_TEXT = 8;

/** An instance that has grown beyond this is given up: WebAssembly's memory cannot shrink. */
const KEPT_BYTES = 256 * 1024 * 1024;

const unsigned = (x: bigint): bigint => BigInt.asUintN(64, x);
const signed = (x: bigint): bigint => BigInt.asIntN(64, x);

/** The places of ids in ascending order. */
function orderOf(ids: BigUint64Array): Uint32Array {
  const places = Uint32Array.from(ids, (_, i) => i), isSafe = ids.every((id) => id <= Number.MAX_SAFE_INTEGER);
  const keys = isSafe ? Float64Array.from(ids, Number) : ids;
  return places.sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b));
}

export class Core {
  readonly #modules: CoreModules;
  #memory!: WebAssembly.Memory;
  #core!: CoreExports;
  #host!: HostExports;
  #sink: ((members: BigUint64Array) => void) | undefined;
  #segments: number[] = [];

  constructor(modules: CoreModules) {
    this.#modules = modules;
    this.#instantiate();
  }

  #instantiate(): void {
    const memory = new WebAssembly.Memory({ initial: 4 });
    const takeMembers = (at: number, count: number): void => this.#sink?.(new BigUint64Array(memory.buffer, at >>> 0, count).slice());
    const takeSegment = (bytes: number): void => { this.#segments.push(bytes >>> 0); };
    const host = new WebAssembly.Instance(this.#modules.imports, { env: { memory }, host: { takeMembers, takeSegment } }).exports;
    const imports: Record<string, Record<string, WebAssembly.ExportValue>> = { env: { memory } };
    for (const [name, value] of Object.entries(host)) {
      const [space, member] = name.split("_");
      if (space && member) (imports[space] ??= {})[member] = value;
    }
    this.#memory = memory;
    this.#host = host as unknown as HostExports;
    this.#core = new WebAssembly.Instance(this.#modules.core, imports).exports as unknown as CoreExports;
    this.#begin(EMPTY_BYTES, 0);
  }

  /** Makes memory 0 an empty bitmap with a block of that many bytes, and holds that many bytes more; returns their place. */
  #begin(arena: number, held: number): number {
    const { buffer } = this.#memory;
    if (buffer.byteLength > KEPT_BYTES && arena + held < KEPT_BYTES / 4) this.#instantiate();
    return this.#call(() => {
      this.#segments = [];
      this.#host.host_clear();
      this.#host.host_setArena(arena);
      this.#bytes(0, EMPTY_BYTES).fill(0);
      return this.#host.host_hold(held);
    });
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, at >>> 0, length);
  }

  /** A call of the core, or of the imports. */
  #call<T>(work: () => T): T {
    this.#host.host_enter();
    try {
      return work();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      const why = this.#host.host_isOutOfMemory() ? "not enough memory for this bitmap" : `internal error (${error.message})`;
      this.#instantiate();
      throw new CoreError(why);
    }
  }

  /** Makes memory 0 the bitmap of a payload. */
  read(format: Format, payload: Uint8Array, most = 0): void {
    const place = this.#begin(payload.length + BUILDING, payload.length);
    this.#host.host_setSegments(most);
    this.#bytes(this.#host.host_address(place), payload.length).set(payload);
    this.#host.host_addOperand(place, payload.length);
    const fault = this.#call(() => this.#core.deserialize(format, BigInt(payload.length), WINDOW_SHIFT));
    if (fault === 0) return;
    this.#begin(EMPTY_BYTES, 0);
    throw new CoreError("the payload is no roaring bitmap", fault);
  }

  /** Makes memory 0 the bitmap of these offsets, which it sorts; repetitions count once. */
  collect(offsets: Uint32Array | BigUint64Array, most = 0): void {
    if (offsets.length === 0) {
      this.#begin(EMPTY_BYTES, 0);
      return;
    }
    offsets.sort();
    const place = this.#begin(BUILDING, offsets.length * 8);
    const values = new BigUint64Array(this.#memory.buffer, this.#host.host_address(place) >>> 0, offsets.length);
    if (offsets instanceof BigUint64Array) {
      values.set(offsets);
    } else {
      const halves = new Uint32Array(values.buffer, values.byteOffset, offsets.length * 2);
      for (let i = 0; i < offsets.length; i++) {
        halves[2 * i] = offsets[i]!;
        halves[2 * i + 1] = 0;
      }
    }
    this.#host.host_setArguments(place, offsets.length);
    this.#host.host_setSegments(most);
    this.#call(() => this.#core.collect(offsets.length));
  }

  /** Makes memory 0 these integers for ids, as RI.SET of them in ascending order does. Of an id that comes twice, the last value stays. */
  collectValues(ids: BigUint64Array, values: BigInt64Array): void {
    const order = orderOf(ids);
    this.#begin(EMPTY_BYTES, 0);
    this.#call(() => {
      for (const i of order) this.#core.changeValue(SET, signed(ids[i]!), values[i]!, 0);
    });
  }

  /** Makes the bitmap operand 0, and memory 0 empty: a call then builds the bitmap anew. */
  #beginWithItself(): void {
    const bytes = this.#bytes(0, this.used()).slice(), place = this.#begin(bytes.length + BUILDING, bytes.length);
    this.#bytes(this.#host.host_address(place), bytes.length).set(bytes);
    this.#host.host_addOperand(place, bytes.length);
  }

  /** Converts each container to its smallest kind, as R.OPTIMIZE does; packs integers for ids, as RI.OPTIMIZE does. */
  pack(most = 0): void {
    this.#beginWithItself();
    this.#host.host_setSegments(most);
    this.#call(() => this.#core.pack());
  }

  /** Packs a name of 1 to 65,535 bytes as a dictionary does; returns the first bytes of its record. */
  recordOf(name: Uint8Array): Uint8Array {
    // An empty dictionary, in which the name is looked for, and whose first bytes get the name's id.
    const length = EMPTY_BYTES + name.length, place = this.#begin(DESK_BYTES, length);
    const held = this.#bytes(this.#host.host_address(place), length);
    held.fill(0, 0, EMPTY_BYTES);
    held.set(name, EMPTY_BYTES);
    this.#host.host_addOperand(place, EMPTY_BYTES);
    this.#host.host_addOperand(place + EMPTY_BYTES, name.length);
    this.#host.host_setArguments(place, 1);
    return this.#call(() => {
      this.#core.findNames(1, 0n, 0n);
      return this.#bytes(DESK_TEXT, 3).slice();
    });
  }

  /** The bitmap as a payload. */
  write(format: Format): Uint8Array {
    const length = Number(this.writtenBytes(format));
    return this.#call(() => {
      const place = this.#host.host_hold(length);
      this.#host.host_setOutput(place, length);
      this.#core.serialize(format);
      return this.#bytes(this.#host.host_address(place), length).slice();
    });
  }

  /** The bytes of such a payload. */
  writtenBytes(format: Format): bigint { return this.#call(() => this.#core.serializedBytes(format)); }

  /** The bytes of the arena that the bitmap needs. */
  used(): number { return this.#call(() => this.#core.used()) >>> 0; }

  /** The bytes of the arenas of all segments that read(), collect() or pack() has built, if it was given the most bytes of one. */
  get arenas(): number[] { return [...this.#segments, this.used()]; }

  /** Counts modulo 2^64: 0 if every 64-bit offset is a member. */
  cardinality(): bigint { return unsigned(this.#call(() => this.#core.cardinality())); }

  /** The least member; undefined if there are none. */
  minimum(): bigint | undefined {
    return this.#call(() => (this.#core.isEmpty() ? undefined : unsigned(this.#core.minimum())));
  }

  /** The greatest member. */
  maximum(): bigint | undefined {
    return this.#call(() => (this.#core.isEmpty() ? undefined : unsigned(this.#core.maximum())));
  }

  /** How many members are in [low, high]. */
  countRange(low: bigint, high: bigint): bigint {
    return low > high ? 0n : unsigned(this.#call(() => this.#core.countRange(signed(low), signed(high))));
  }

  has(offset: bigint): boolean { return this.#call(() => this.#core.get(signed(offset))) !== 0; }

  /** Hands all members from `from` on to `sink`, ascending, some thousands at a time. */
  members(sink: (members: BigUint64Array) => void, from = 0n, limit = 2n ** 64n - 1n): void {
    this.#sink = sink;
    try {
      this.#call(() => this.#core.membersFrom(signed(from), signed(limit)));
      const count = this.#host.host_members();
      if (count > 0) sink(this.#waiting(count));
    } finally {
      this.#sink = undefined;
    }
  }

  /** Members of the reply that nobody has taken yet. */
  #waiting(count: number): BigUint64Array {
    return new BigUint64Array(this.#memory.buffer, this.#host.host_membersAt() >>> 0, count).slice();
  }

  /** What the kinds of containers hold. */
  statistics(): ContainerStatistics[] {
    this.#call(() => this.#core.statistics());
    const numbers = this.#waiting(9);
    return (["array", "bitset", "run"] as const).map((kind, i) => {
      const [containers, members, bytes] = numbers.subarray(3 * i);
      return { kind, containers: containers!, members: members!, bytes: bytes! };
    });
  }
}
