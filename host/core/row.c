#include "core/row.h"

#include "core/census.h"
#include "core/guard.h"
#include "core/sandbox.h"

/* Segments for which a dictionary that was one arena has room. */
#define FIRST_ROOM 4

frame begin_changing(worker *w, bitmap *b) {
    root *r = root_of(b);
    w->current.growable = r ? NULL : b;
    w->current.row = r;
    w->current.changes = 1;
    w->current.old = NULL;
    return (frame){.memory = r ? (span){.of = r} : span_of(b)};
}

status end_changing(worker *w, status s, bitmap **b) {
    *b = w->current.row ? root_bitmap(w->current.row) : w->current.growable;
    bitmap_free(w->current.old);
    w->current.row = NULL;
    w->current.old = NULL;
    w->current.changes = 0;
    if (s != TRAPPED) return s;
    mark_damaged(*b);
    count_damaged();
    return s;
}

/* The segment that is memory 0. Traps if there is none. */
static segment *shown(worker *w) {
    root *r = w->current.row;
    if (!w->current.changes || r == NULL || w->current.growable == NULL) sandbox_trap(w, TRAP_OPERAND);
    return &r->of[w->current.row_at];
}

static span show(worker *w) {
    return (span){.base = arena(w->current.growable),
                  .size = arena_bytes(w->current.growable),
                  .at = w->current.row_at,
                  .of = w->current.row};
}

span row_change(worker *w, uint64_t key) {
    root *r = w->current.row;
    if (r == NULL) sandbox_trap(w, TRAP_OPERAND);
    const uint32_t i = root_seek(r, key);
    if (!root_own(r, i)) sandbox_leave(w, OUT_OF_MEMORY);
    w->current.row_at = i;
    w->current.growable = r->of[i].b;
    return show(w);
}

/* Makes room for another segment. */
static int make_room(worker *w) {
    if (w->current.row) return root_extend(&w->current.row, 1);
    root *r = root_make(FIRST_ROOM);
    if (r == NULL) return 0;
    w->current.row = r;
    w->current.row_at = 0;
    return root_add(&w->current.row, (segment){0, 0, w->current.growable});
}

/* A new arena, or NULL for 0 bytes. Sets *failed if out of memory. */
static bitmap *new_arena(uint32_t bytes, int *failed) {
    bitmap *b = bytes && bytes <= arena_limit() ? bitmap_create(bytes) : NULL;
    *failed |= bytes && b == NULL;
    return b;
}

span row_renew(worker *w, uint32_t bytes, uint64_t key, uint32_t more) {
    int failed = 0;
    if (!w->current.changes || w->current.growable == NULL || (bytes && w->current.row == NULL))
        sandbox_trap(w, TRAP_OPERAND);
    bitmap *instead = new_arena(bytes, &failed), *behind = new_arena(more, &failed);
    if (failed || (behind && !make_room(w))) {
        bitmap_free(instead);
        bitmap_free(behind);
        sandbox_leave(w, OUT_OF_MEMORY);
    }
    if (instead) {
        bitmap_free(w->current.old);
        w->current.old = root_exchange(w->current.row, w->current.row_at, instead);
        w->current.growable = instead;
    }
    if (behind) root_insert(w->current.row, w->current.row_at + 1, (segment){key, 0, behind});
    return show(w);
}

span row_old(worker *w) { return span_of(w->current.old ? w->current.old : bitmap_empty()); }

span row_remove(worker *w) {
    shown(w);
    if (w->current.row->count < 2) sandbox_trap(w, TRAP_OPERAND);
    root_replace(&w->current.row, w->current.row_at, w->current.row_at + 1, NULL, 0);
    w->current.growable = NULL;
    return (span){.of = w->current.row};
}

void row_note(worker *w, uint64_t members) { shown(w)->members = members; }

span row_cut(worker *w, uint32_t bytes) {
    bitmap *b = w->current.growable;
    if (!w->current.changes || b == NULL || bytes > arena_bytes(b)) sandbox_trap(w, TRAP_GROWTH);
    keep_growable(w, bitmap_shrink(b, bytes), bitmap_bytes(b));
    return show(w);
}
