// The two families of commands, for 32-bit and 64-bit bitmaps, and the commands of integers for ids. What distinguishes them in C
// is generated from here (tools/generate-families.ts).

interface Family {
  /** Its constant in C, and the prefix of its commands without the dot. */
  id: string;
  /** In RDB files: nine characters. */
  typeName: string;
  /** In the replies of STAT. */
  label: string;
  /** The width of an offset. */
  bits: 32 | 64;
  /** The core's formats: of payloads in RDB files, of the replies of EXPORT, and of the payloads of IMPORT and of a rewritten AOF. */
  format: string;
  exported: string;
  imported: string;
  /** Integers may begin with a plus sign or zeros. */
  lenient: boolean;
}

export const families: Family[] = [
  { id: "R", typeName: "reroaring", label: "bitmap", bits: 32, format: "NATIVE", exported: "PORTABLE", imported: "ANY", lenient: false },
  { id: "R64", typeName: "roaring64", label: "bitmap64", bits: 64, format: "WIDE", exported: "PORTABLE_WIDE", imported: "ANY_WIDE", lenient: true },
];

/** Integers for ids. No command exports or imports their payloads. */
export const ofIntegers: Family = {
  id: "RI", typeName: "roar-ints", label: "integers", bits: 64, format: "INTEGERS", exported: "INTEGERS", imported: "INTEGERS", lenient: true,
};
