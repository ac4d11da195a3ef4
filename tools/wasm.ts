// Reads the outline of a WebAssembly binary: everything but the code and the contents of data segments.
//
//   magic version { section id u8, bytes LEB128, payload }*
//
// It understands only what asc emits for this project. Anything else is an error, so that a change of the compiler's output fails
// the build.

export interface Signature {
  params: string[];
  results: string[];
}

interface Import {
  module: string;
  name: string;
  kind: string;
}

interface Export {
  name: string;
  kind: string;
  index: number;
}

interface Memory {
  min: number;
  max: number | undefined;
  shared: boolean;
}

export interface Outline {
  imports: Import[];
  exports: Export[];
  memories: Memory[];
  /** The signature of each function, by function index: imported functions come first. */
  functions: Signature[];
  importedFunctions: number;
  globals: { mutable: boolean }[];
  tables: number;
  elementSegments: number;
  dataSegments: number;
  start: boolean;
}

const KINDS = ["function", "table", "memory", "global", "tag"];
const TYPES: Record<number, string> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128" };

class Reader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error("wasm: unexpected end of file");
    return value;
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  number(): number {
    let value = 0, scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  take(count: number): Uint8Array {
    const part = this.bytes.subarray(this.at, this.at + count);
    if (part.length !== count) throw new Error("wasm: unexpected end of file");
    this.at += count;
    return part;
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.number()));
  }

  type(): string {
    const code = this.byte(), name = TYPES[code];
    if (!name) throw new Error(`wasm: unknown value type 0x${code.toString(16)}`);
    return name;
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: this.number() }, item);
  }

  /** Limits of a memory or table: flags, min, and max if bit 0 of the flags is set; bit 1 means shared. */
  limits(): Memory {
    const flags = this.byte(), min = this.number();
    return { min, max: flags & 1 ? this.number() : undefined, shared: (flags & 2) !== 0 };
  }
}

export function outline(bytes: Uint8Array): Outline {
  const file = new Reader(bytes);
  if (Buffer.from(file.take(8)).toString("latin1") !== "\0asm\x01\0\0\0") throw new Error("wasm: not a module of version 1");

  const types: Signature[] = [];
  const seen: Outline = {
    imports: [], exports: [], memories: [], functions: [], importedFunctions: 0,
    globals: [], tables: 0, elementSegments: 0, dataSegments: 0, start: false,
  };
  const signature = (index: number): Signature => {
    const type = types[index];
    if (!type) throw new Error("wasm: no such type");
    return type;
  };

  while (!file.done) {
    const id = file.byte(), section = new Reader(file.take(file.number()));
    switch (id) {
      case 1:                                     // types
        section.list(() => {
          if (section.byte() !== 0x60) throw new Error("wasm: not a function type");
          types.push({ params: section.list(() => section.type()), results: section.list(() => section.type()) });
        });
        break;
      case 2:                                     // imports
        section.list(() => {
          const module = section.text(), name = section.text(), kind = KINDS[section.byte()] ?? "unknown";
          if (kind !== "function") throw new Error(`wasm: import ${module}.${name} is a ${kind}, not a function`);
          seen.functions.push(signature(section.number()));
          seen.imports.push({ module, name, kind });
        });
        seen.importedFunctions = seen.imports.length;
        break;
      case 3: section.list(() => seen.functions.push(signature(section.number()))); break;
      case 4: seen.tables = section.number(); break;
      case 5: section.list(() => seen.memories.push(section.limits())); break;
      case 6:                                     // globals: type, mutability, then an initialiser that ends in 0x0b
        section.list(() => {
          section.type();
          seen.globals.push({ mutable: section.byte() === 1 });
          const opcode = section.byte();
          if (opcode !== 0x41 && opcode !== 0x42) throw new Error("wasm: a global that is not an integer constant");
          while (section.byte() >= 0x80);
          if (section.byte() !== 0x0b) throw new Error("wasm: a global that is not an integer constant");
        });
        break;
      case 7:
        section.list(() => seen.exports.push({ name: section.text(), kind: KINDS[section.byte()] ?? "unknown", index: section.number() }));
        break;
      case 8: seen.start = true; break;
      case 9: seen.elementSegments = section.number(); break;
      case 11: seen.dataSegments = section.number(); break;
      case 0: case 10: case 12: break;            // custom, code, data count
      default: throw new Error(`wasm: unknown section ${id}`);
    }
  }
  return seen;
}
