#include "core/workspace.h"

#include <string.h>

/* Choices of the host. Copying a result of more than COPIED_MAX bytes out of the kept block would cost more than
 * giving the block away. ROOM is enough for a segment and for what building takes besides; pages that are not needed
 * are never touched. KEPT_MAX is enough for a sum of weights, whose tally takes 256 KiB. */
#define COPIED_MAX (128 * 1024)
#define KEPT_MAX (640 * 1024)
#define ROOM (384 * 1024)

bitmap *workspace_take(worker *w) {
    bitmap *b = w->kept ? w->kept : bitmap_create(ROOM);
    w->kept = NULL;
    if (b) bitmap_reset(b);
    return b;
}

bitmap *workspace_next(uint64_t held) {
    return held < ARENA_MOST - ROOM ? bitmap_create(ROOM + (uint32_t)held) : NULL;
}

static void drop_closed(worker *w) {
    if (w->closed) bitmap_free(root_bitmap(w->closed));
    w->closed = NULL;
}

void workspace_put_back(worker *w, bitmap *b) {
    drop_closed(w);
    if (w->kept || arena_bytes(b) > KEPT_MAX) bitmap_free(b);
    else w->kept = b;
}

/* The last segment, or the only one. */
static bitmap *last_of(worker *w, bitmap *b, uint32_t used) {
    if (used > COPIED_MAX) return bitmap_shrink(b, used);
    bitmap *result = bitmap_create(used);
    if (result) memcpy(arena(result), arena(b), used);
    if (w->kept || arena_bytes(b) > KEPT_MAX) bitmap_free(b);
    else w->kept = b;
    return result;
}

bitmap *workspace_result(worker *w, bitmap *b) {
    bitmap *last = last_of(w, b, w->current.used);
    if (w->closed == NULL) return last;
    const uint64_t members = w->current.members;
    const int added =
        last && (members == 0 || root_add(&w->closed, (segment){w->current.first, members, last, 0}));
    if (!added || members == 0) bitmap_free(last);
    bitmap *result = added ? root_simplified(w->closed) : NULL;
    if (added) w->closed = NULL;
    else drop_closed(w);
    return result;
}

void workspace_drop(worker *w) {
    bitmap_free(w->kept);
    w->kept = NULL;
}

uint64_t workspace_bytes(const worker *w) { return w->kept ? bitmap_bytes(w->kept) : 0; }
