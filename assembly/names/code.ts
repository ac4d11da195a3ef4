// Records: names as a dictionary keeps them. A record is a byte that says its form, and what the form needs:
//
//   00          nothing: a name that was deleted
//   01 .. 7f    a name of 1 to 127 bytes, as it is
//   80 .. 9f    2 to 64 hexadecimal digits with letters a to f, or without letters: 1 to 32 bytes
//   a0 .. bf    the same with letters A to F
//   c0 .. c7    a decimal number of two digits or more, without zeros before it: 1 to 8 bytes, little endian
//   c8, c9      a UUID with letters a to f, or without letters; with letters A to F: 16 bytes
//   ca .. fc    a short name in five or six bits a character (text.ts)
//   fd          a deleted name whose record took 258 bytes or more: u16 bytes - 258, and these bytes
//   fe          a deleted name whose record took 2 to 257 bytes: u8 bytes - 2, and these bytes
//   ff          a name of 128 bytes or more: u16 length, and the name
//
// Each name has one record: of the forms that suit it, decimal comes first, then UUID, hexadecimal and short
// names. So equal names are equal records, which is all that is compared and hashed.

/** The first bytes of records, for a form with several the least. */
export abstract class Code {
  @inline static readonly DEAD: u32 = 0;
  @inline static readonly LOWER: u32 = 0x80;
  @inline static readonly UPPER: u32 = 0xa0;
  @inline static readonly DECIMAL: u32 = 0xc0;
  @inline static readonly UUID: u32 = 0xc8;
  @inline static readonly FIVE: u32 = 0xca;
  @inline static readonly SIX: u32 = 0xda;
  @inline static readonly MIXED: u32 = 0xeb;
  @inline static readonly WIDE_HOLE: u32 = 0xfd;
  @inline static readonly HOLE: u32 = 0xfe;
  @inline static readonly LONG: u32 = 0xff;
}
