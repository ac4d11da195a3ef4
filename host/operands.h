/* operands.h -- the list of bitmaps that one call into the core reads, such as the sources of BITOP.
 *
 * A handler owns its list: it calls operands_begin, operands_add for each bitmap, and operands_end whether
 * or not it succeeds. The bitmaps are not copied, and must neither change nor move before the call into the
 * core returns. */
#ifndef ROAR_OPERANDS_H
#define ROAR_OPERANDS_H

#include "bitmap.h"
#include "core-link.h"

/* A list of up to this many operands needs no allocation. */
#define OPERANDS_FEW 64

/* `list` may point into the struct itself, so a list of operands must not be copied. */
typedef struct operands {
    span *list;
    uint32_t count, room;
    span few[OPERANDS_FEW];
} operands;

static inline span span_of(const bitmap *b) { return (span){arena(b), arena_bytes(b)}; }

static inline void operands_begin(operands *o) {
    o->list = o->few;
    o->count = 0;
    o->room = OPERANDS_FEW;
}

/* NULL stands for an empty bitmap. */
void operands_add(operands *o, const bitmap *b);
/* Adds memory that is no bitmap, such as a payload. */
void operands_add_span(operands *o, span memory);
void operands_end(operands *o);

#endif
