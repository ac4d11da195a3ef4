#include "core/operands.h"

#include <string.h>

void operands_extend(operands *o) {
    size_t bytes = o->room * sizeof *o->list;
    span *longer = RedisModule_Alloc(2 * bytes);
    memcpy(longer, o->list, bytes);
    if (o->list != o->few) RedisModule_Free(o->list);
    o->list = longer;
    o->room *= 2;
}
