/* operands.h -- the list of bitmaps that one call into the core reads, such as the sources of BITOP.
 *
 * A handler owns its list: it calls operands_begin, operands_add for each bitmap, and operands_end whether
 * or not it succeeds. The bitmaps are not copied, and must neither change nor move before the call into the
 * core returns. */
#pragma once

#include "core/bitmap.h"
#include "core/core-link.h"
#include "api/redismodule.h"

/* A list of up to this many operands needs no allocation. */
#define OPERANDS_FEW 64

/* `list` may point into the struct itself, so a list of operands must not be copied. */
typedef struct operands {
    span *list;
    uint32_t count, room;
    bitmap **owned; /* made for this list, of which the last is NULL; NULL if there are none */
    span few[OPERANDS_FEW];
} operands;

/* Shows the first segment of a bitmap that has segments. */
static inline span span_of(const bitmap *b) {
    const root *r = root_of(b);
    const bitmap *shown = r ? r->of[0].b : b;
    return (span){.base = arena(shown), .size = arena_bytes(shown), .of = r};
}

static inline void operands_begin(operands *o) {
    o->list = o->few;
    o->count = 0;
    o->room = OPERANDS_FEW;
    o->owned = NULL;
}

/* Makes room in a list that is full. */
__attribute__((cold)) void operands_extend(operands *o);

/* Adds memory that need not be a bitmap, such as a payload. */
static inline void operands_add_span(operands *o, span memory) {
    if (__builtin_expect(o->count == o->room, 0)) operands_extend(o);
    o->list[o->count++] = memory;
}

/* NULL stands for an empty bitmap. */
static inline void operands_add(operands *o, const bitmap *b) {
    operands_add_span(o, span_of(b ? b : bitmap_empty()));
}

static inline void operands_end(operands *o) {
    if (o->list != o->few) RedisModule_Free(o->list);
    for (uint32_t i = 0; o->owned && o->owned[i]; i++) bitmap_free(o->owned[i]);
    RedisModule_Free(o->owned);
}
