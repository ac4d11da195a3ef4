#include "core/numbers.h"

#include <string.h>

void take_numbers(void *context, const uint64_t *more, size_t count) {
    numbers *n = context;
    if (n->count + count > n->room && !n->failed) {
        const size_t room = (n->count + count) * 2;
        uint64_t *list = try_realloc(n->list, n->count * sizeof *list, room * sizeof *list);
        n->failed = list == NULL;
        if (n->failed) return;
        n->list = list;
        n->room = room;
    }
    if (n->failed) return;
    memcpy(n->list + n->count, more, count * sizeof *more);
    n->count += count;
}
