#include "operands.h"

#include <string.h>

#include "redismodule.h"

/* Doubles the room of a list that is full. */
__attribute__((noinline)) static void extend(operands *o) {
    size_t bytes = o->room * sizeof *o->list;
    span *longer = RedisModule_Alloc(2 * bytes);
    memcpy(longer, o->list, bytes);
    operands_end(o);
    o->list = longer;
    o->room *= 2;
}

void operands_add_span(operands *o, span memory) {
    if (o->count == o->room) extend(o);
    o->list[o->count++] = memory;
}

void operands_add(operands *o, const bitmap *b) { operands_add_span(o, span_of(b ? b : bitmap_empty)); }

void operands_end(operands *o) {
    if (o->list != o->few) RedisModule_Free(o->list);
}
