/* sharing.c -- a long count that several threads share. The thread that runs the call cuts the keys into more
 * parts than there are threads. Each thread takes one part after the other, and adds its counts to the sums.
 * So it does not matter if parts take different times, or if a thread joins late. */
#include "threads/sharing.h"

#include <string.h>

#include "core/building.h"
#include "threads/costs.h"
#include "threads/pool.h"
#include "core/sandbox.h"
#include "core/workspace.h"

#define PARTS_MOST 32
#define PARTS_PER_THREAD 4

/* Each part opens all bitmaps anew, which takes about as long as reading this many bytes of each. */
#define OPENING_BYTES 1024

typedef struct sharing {
    shared shared;
    limits limits;
    counting count;
    uint64_t cuts[PARTS_MOST];
    _Atomic uint64_t *sums;
    _Atomic int any;
    _Atomic int failed; /* a status: why the first thread failed */
    const char *_Atomic trap;
    _Atomic uint64_t helped; /* microseconds */
} sharing;

/* How many parts are worthwhile. */
static uint32_t parts_for(const worker *w, const counting *c) {
    uint32_t idle = idle_threads();
    uint64_t bytes = 0, least = w->from_bytes / PARTS_PER_THREAD + (uint64_t)c->bitmaps * OPENING_BYTES;

    if (idle == 0) return 1;
    for (const span *b = c->operands->list, *end = b + c->bitmaps; b < end; b++)
        bytes += b->of ? b->of->bytes : b->size;
    uint32_t parts = (idle + 1) * PARTS_PER_THREAD;
    if (parts > PARTS_MOST) parts = PARTS_MOST;
    return bytes / least < parts ? (uint32_t)(bytes / least) : parts;
}

static key_range keys_of(const sharing *s, uint32_t part) {
    key_range keys = ALL_KEYS;
    if (part > 0) keys.first = s->cuts[part - 1];
    if (part + 1 < s->shared.parts) keys.last = s->cuts[part] - 1;
    return keys;
}

static void add(sharing *s, const uint64_t *numbers) {
    for (uint32_t i = 0; i < s->count.numbers; i++) {
        if (numbers[i] == 0) continue;
        s->sums[i] += numbers[i];
        s->any = 1;
    }
    if (s->count.most && s->sums[0] >= s->count.most) stop_sharing(&s->shared);
}

/* Ends the count, also in the other threads. */
static void fail(worker *w, sharing *s, status why) {
    int none = OK;
    stop_sharing(&s->shared);
    if (!atomic_compare_exchange_strong(&s->failed, &none, (int)why)) return;
    s->trap = sandbox_last_trap(w);
    *s->limits.cancelled = 1;
}

static void count_parts(worker *w, sharing *s) {
    uint32_t part;
    counting own = s->count;
    uint64_t *numbers = try_alloc(own.numbers * sizeof *numbers);
    status done = numbers ? OK : OUT_OF_MEMORY;

    while (done == OK && take_part(&s->shared, &part)) {
        done = count_within(w, &own, keys_of(s, part), numbers);
        if (done == OK) add(s, numbers);
    }
    if (done != OK) fail(w, s, done);
    RedisModule_Free(numbers);
}

static void help(shared *parts, worker *w) {
    sharing *s = (sharing *)parts;
    const uint64_t started = now();
    sandbox_borrow_limits(w, &s->limits);
    count_parts(w, s);
    sandbox_return_limits(w);
    workspace_drop(w);
    s->helped += now() - started;
}

status count_in_parts(worker *w, counting *c, uint64_t *numbers) {
    uint32_t cuts = 0, parts = parts_for(w, c);
    sharing s = {.shared.help = help, .count = *c, .sums = (_Atomic uint64_t *)numbers};

    status done = parts > 1 ? c->cut(w, c, parts, s.cuts, &cuts) : OK;
    if (done != OK) return done;
    if (cuts == 0) return count_within(w, c, ALL_KEYS, numbers);
    memset(numbers, 0, c->numbers * sizeof *numbers);
    s.shared.parts = cuts + 1;
    sandbox_lend_limits(w, &s.limits);
    begin_sharing(&s.shared);
    count_parts(w, &s);
    end_sharing(&s.shared);
    c->any = s.any;
    w->helped += s.helped;
    if (s.failed == TRAPPED) w->last_trap = s.trap;
    return (status)s.failed;
}
