// How a unit test divides its only linear memory. The module under test and the world module share this
// memory. The world module implements the core's imports; JavaScript cannot, because a function with a v128
// parameter or result cannot be called from it.
//
//   0            memory 0 of the core: the arena, at address 0 as in production
//   OPERANDS     the bytes of the operands, one after the other
//   MEMBERS      a u64 for each member handed to reply.member
//   OUTPUT       the bytes handed to output.*
//   ARGUMENTS    a u64 for each value of argument.value
//   TABLE        u32 base and u32 size of each operand
//   LANES        working space: lanes of vectors before and after, and bitsets
//   MEMORY_BASE  AssemblyScript's own data ("memoryBase" in the asconfigs)

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
