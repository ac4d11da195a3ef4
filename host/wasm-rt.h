/* wasm-rt.h -- what the C that wasm2c generates needs, and no more.
 *
 * wasm2c leaves its runtime to the embedder. Ours has one memory per translation unit, checked explicitly on every access:
 * no guard pages, no signal handlers, no segment registers, no tables, no threads. tools/specialise.ts has already
 * removed instances, tables, data segments and the memory parameter; memory_base and memory_size take their place.
 *
 * Only core.c includes this, right before the generated code. */
#ifndef ROAR_WASM_RT_H
#define ROAR_WASM_RT_H

#include "core-link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the core's memory is little endian, and so are the machines it is built for"
#endif

/* Vectors: wasm's SIMD128 in terms of the level's own instructions. */
#include <simde/wasm/simd128.h>
typedef simde_v128_t v128;

/* The names that generated code has for its types. */
typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* Memory 0 of the call that is running. The size is 64 bits wide so that a check is one addition and one comparison;
 * neither variable's address is ever taken, so no store through a pointer can change them. */
static u8 *memory_base;
static u64 memory_size;

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define WABT_BIG_ENDIAN 0
#define WASM_RT_USE_SEGUE 0
#define WASM_RT_SANITY_CHECKS 0
#define WASM_RT_MEMCHECK_GUARD_PAGES 0

/* The stack. A function that does not recurse needs a fixed amount of it, so nothing is counted there; tools/specialise.ts
 * gives those that do a prologue that counts. They follow the levels of a directory, of which there are a handful: the
 * limit is far beyond what a sound bitmap needs, and 64 frames are a few KiB. A trap leaves the count as it is; every call
 * from the host begins at 0. */
#define WASM_RT_STACK_DEPTH_COUNT 0
#define MAX_RECURSION 64
static u32 recursion;
#define FUNC_RECURSIVE_PROLOGUE \
    if (UNLIKELY(++recursion > MAX_RECURSION)) sandbox_trap(TRAP_RECURSION)
#define FUNC_RECURSIVE_EPILOGUE --recursion

#define wasm_rt_memcpy(to, from, bytes) memcpy(to, from, bytes)

/* Traps, by wasm2c's names for them. */
#define wasm_rt_trap(code) sandbox_trap(code)
#define WASM_RT_TRAP_OOB TRAP_MEMORY
#define WASM_RT_TRAP_UNREACHABLE TRAP_UNREACHABLE
#define WASM_RT_TRAP_DIV_BY_ZERO TRAP_ARITHMETIC
#define WASM_RT_TRAP_INT_OVERFLOW TRAP_ARITHMETIC
#define WASM_RT_TRAP_INVALID_CONVERSION TRAP_ARITHMETIC

#endif
