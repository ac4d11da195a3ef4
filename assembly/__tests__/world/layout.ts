// The one linear memory of a unit test, cut in parts. The module under test and the world module share it: the world module plays
// the operands, and JavaScript could not, for it cannot supply a function with a v128 in its type.
//
//   0            memory 0 of the core: the arena, as in production from address 0 on
//   OPERANDS     the bytes of the operands, one after the other
//   MEMBERS      u64 a member handed to reply.member
//   OUTPUT       what was handed to output.*
//   ARGUMENTS    u64 a value for argument.value
//   TABLE        u32 base, u32 size for each operand
//   LANES        the lanes of vector.compact, as they come and as they go
//   MEMORY_BASE  what AssemblyScript itself puts in memory ("memoryBase" in the asconfigs)

// @ts-ignore: decorator
@inline const MIB: usize = 1 << 20;
// @ts-ignore: decorator
@inline export const ARENA_BYTES: usize = 64 * MIB;
// @ts-ignore: decorator
@inline export const OPERANDS: usize = ARENA_BYTES;
// @ts-ignore: decorator
@inline export const OPERANDS_BYTES: usize = 64 * MIB;
// @ts-ignore: decorator
@inline export const MEMBERS: usize = OPERANDS + OPERANDS_BYTES;
// @ts-ignore: decorator
@inline export const MEMBERS_BYTES: usize = 32 * MIB;
// @ts-ignore: decorator
@inline export const OUTPUT: usize = MEMBERS + MEMBERS_BYTES;
// @ts-ignore: decorator
@inline export const OUTPUT_BYTES: usize = 32 * MIB;
// @ts-ignore: decorator
@inline export const ARGUMENTS: usize = OUTPUT + OUTPUT_BYTES;
// @ts-ignore: decorator
@inline export const ARGUMENTS_BYTES: usize = 14 * MIB;
// @ts-ignore: decorator
@inline export const TABLE: usize = ARGUMENTS + ARGUMENTS_BYTES;
// @ts-ignore: decorator
@inline export const TABLE_BYTES: usize = MIB;
// @ts-ignore: decorator
@inline export const LANES: usize = TABLE + TABLE_BYTES;
// @ts-ignore: decorator
@inline export const LANES_BYTES: usize = 16;
// @ts-ignore: decorator
@inline export const MEMORY_BASE: usize = LANES + MIB;
