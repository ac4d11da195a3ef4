#include "core/change.h"

#include "core/census.h"

status make_changeable(bitmap **b) {
    return !bitmap_is_shared(*b) || bitmap_separate(b) ? OK : OUT_OF_MEMORY;
}

status rewritten_or_marked(worker *w, status s, bitmap **b) {
    w->current.cut_to = 0;
    if (s == OK) s = tighten(w, b) == TRAPPED ? TRAPPED : OK;
    if (s == TRAPPED && !is_damaged(*b)) {
        mark_damaged(*b);
        count_damaged();
    }
    return s;
}

status undone(worker *w, status s, bitmap **b) {
    return wrote(w, s == OK ? OK : TRAPPED, b) == OK ? OUT_OF_MEMORY : TRAPPED;
}

frame setting(worker *w, bitmap *b, uint64_t *offsets, uint64_t count) {
    frame f = writing(w, b);
    f.arguments = offsets;
    f.argument_count = (uint32_t)count;
    return f;
}
