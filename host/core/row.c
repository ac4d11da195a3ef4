#include "core/row.h"

#include "core/census.h"
#include "core/guard.h"
#include "core/sandbox.h"

static span beside; /* memory 0 while no segment is */

static void set_whole(worker *w, bitmap *b) {
    w->current.row = root_of(b);
    w->current.alone = b;
}

static bitmap *whole(worker *w) { return w->current.row ? root_bitmap(w->current.row) : w->current.alone; }

frame begin_changing(worker *w, bitmap *b, span memory, operands *o) {
    set_whole(w, b);
    w->current.changes = 1;
    w->current.growable = w->current.old = NULL;
    beside = memory;
    o->list[0] = span_of(b);
    return (frame){.memory = memory, .operands = o->list, .operand_count = o->count};
}

status end_changing(worker *w, status s, bitmap **b) {
    *b = whole(w);
    bitmap_free(w->current.old);
    w->current.row = NULL;
    w->current.changes = 0;
    if (s != TRAPPED) return s;
    mark_damaged(*b);
    count_damaged();
    return s;
}

/* The segment or arena that is memory 0; traps if there is none. */
static bitmap *shown(worker *w) {
    if (!w->current.changes || w->current.growable == NULL) sandbox_trap(w, TRAP_OPERAND);
    return w->current.growable;
}

static span show(worker *w) {
    span s = span_of(w->current.growable);
    s.at = w->current.row_at;
    s.of = w->current.row;
    return s;
}

/* Others may share what is changed, or the segment. */
span row_change(worker *w, uint64_t key) {
    bitmap *b = whole(w);
    if (!w->current.changes) sandbox_trap(w, TRAP_OPERAND);
    if (bitmap_is_shared(b)) {
        if (!bitmap_separate(&b)) sandbox_leave(w, OUT_OF_MEMORY);
        set_whole(w, b);
    }
    root *r = w->current.row;
    w->current.row_at = r ? root_seek(r, key) : 0;
    if (r && !root_own(r, w->current.row_at)) sandbox_leave(w, OUT_OF_MEMORY);
    w->current.growable = r ? r->of[w->current.row_at].b : b;
    return show(w);
}

span row_leave(worker *w) {
    if (!w->current.changes) sandbox_trap(w, TRAP_OPERAND);
    w->current.growable = NULL;
    return beside;
}

/* Makes room for another segment. */
static int make_room(worker *w) {
    if (w->current.row) return root_extend(&w->current.row, 1);
    root *r = root_make(4);
    if (r == NULL) return 0;
    w->current.row = r;
    return root_add(&w->current.row, (segment){0, 0, w->current.alone, 0});
}

/* A new arena, or NULL for 0 bytes. Sets *failed if out of memory. */
static bitmap *new_arena(uint32_t bytes, int *failed) {
    bitmap *b = bytes && bytes <= arena_limit() ? bitmap_create(bytes) : NULL;
    *failed |= bytes && b == NULL;
    return b;
}

span row_renew(worker *w, uint32_t bytes, uint64_t key, uint32_t more) {
    int failed = 0;
    shown(w);
    if (bytes && w->current.row == NULL) sandbox_trap(w, TRAP_OPERAND);
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
    if (behind) root_insert(w->current.row, w->current.row_at + 1, (segment){key, 0, behind, 0});
    return show(w);
}

span row_operand(worker *w) { return span_of(whole(w)); }
span row_old(worker *w) { return span_of(w->current.old); }

span row_remove(worker *w) {
    shown(w);
    if (w->current.row == NULL || w->current.row->count < 2) sandbox_trap(w, TRAP_OPERAND);
    root_replace(&w->current.row, w->current.row_at, w->current.row_at + 1, NULL, 0);
    return row_leave(w);
}

void row_note(worker *w, uint64_t members) {
    shown(w);
    if (w->current.row == NULL) return;
    segment *noted = &w->current.row->of[w->current.row_at];
    noted->members = members;
    noted->bytes = arena_bytes(noted->b);
}

span row_cut(worker *w, uint32_t bytes) {
    bitmap *b = shown(w);
    const uint64_t held = bitmap_bytes(b);
    if (bytes > arena_bytes(b)) sandbox_trap(w, TRAP_GROWTH);
    keep_growable(w, bitmap_shrink(b, bytes), held);
    return show(w);
}
