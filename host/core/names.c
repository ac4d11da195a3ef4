#include "core/names.h"

#include <string.h>

#include "core/census.h"
#include "core/guard.h"
#include "core/row.h"

static uint64_t key[2];

void names_seed(const uint64_t seed[2]) { memcpy(key, seed, sizeof key); }

/* Where the core packs and unpacks names. */
static span desk_of(worker *w) { return (span){.base = w->desk, .size = sizeof w->desk}; }

static frame at_desk(worker *w, const span *shown, uint32_t count) {
    w->current.growable = NULL;
    return (frame){.memory = desk_of(w), .operands = shown, .operand_count = count};
}

/* --- Reading --- */

status names_find(worker *w, const bitmap *b, naming *n) {
    n->names.list[0] = span_of(b);
    frame f = at_desk(w, n->names.list, n->names.count);
    f.arguments = n->ids;
    f.argument_count = f.operand_count - 1;
    return IN_CORE(w, &f, w->core.findNames(w, f.argument_count, key[0], key[1]));
}

status names_next(worker *w, const bitmap *b, uint64_t *id, span *name) {
    const span dictionary = span_of(b);
    frame f = at_desk(w, &dictionary, 1);
    *name = (span){.base = w->desk + DESK_TEXT};
    return IN_CORE(w, &f, *id = w->core.nameFrom(w, *id); memcpy(&name->size, w->desk, sizeof name->size));
}

/* The core writes so many of the names that ids have to the desk, each behind its length. */
static status write_names(worker *w, const span *dictionary, uint64_t *ids, uint32_t count,
                          uint32_t *written) {
    frame f = at_desk(w, dictionary, 1);
    f.arguments = ids;
    f.argument_count = count;
    return IN_CORE(w, &f, *written = w->core.listNames(w, count));
}

status names_of(worker *w, const bitmap *b, uint64_t *ids, uint32_t count, name_sink *sink, void *context) {
    const span dictionary = span_of(b);
    uint32_t written;
    for (uint32_t i = 0; i < count;) {
        const uint32_t most = count - i < NAMES_BATCH ? count - i : NAMES_BATCH;
        const status s = write_names(w, &dictionary, ids + i, most, &written);
        if (s != OK) return s;
        span name = {.base = w->desk};
        for (const uint32_t end = i + written; i < end; i++) {
            memcpy(&name.size, name.base, sizeof name.size);
            name.base += sizeof name.size;
            if (!sink(context, ids[i], name)) return OK;
            name.base += name.size;
        }
    }
    return OK;
}

status names_count(worker *w, const bitmap *b, uint64_t *names) {
    return READING(w, b, *names = w->core.countNames(w));
}

/* --- Changing --- */

/* Calls an export that changes *b, with the operands behind the first. */
static status change(worker *w, bitmap **b, operands *o, naming *n,
                     uint32_t (*call)(worker *, uint32_t, uint64_t, uint64_t), uint32_t *result) {
    frame f = begin_changing(w, *b, desk_of(w), o);
    f.arguments = n ? n->ids : NULL;
    f.argument_count = n ? f.operand_count - 1 : 0;
    return end_changing(w, IN_CORE(w, &f, *result = call(w, f.operand_count - 1, key[0], key[1])), b);
}

/* Takes back all ids from `next` on. Takes no memory. */
static status take_back(worker *w, bitmap **b, operands *o, uint64_t next) {
    frame f = begin_changing(w, *b, desk_of(w), o);
    return end_changing(w, IN_CORE(w, &f, w->core.takeBackNames(w, next, key[0], key[1])), b);
}

/* Ends additions, which are taken back if they were not all made. */
static status end_adding(worker *w, bitmap **b, operands *o, status s, int all) {
    if ((s == OK && all) || s == TRAPPED || w->core.collected(w) == 0) return s;
    return take_back(w, b, o, w->members[0]) == OK ? s : TRAPPED;
}

status names_add(worker *w, bitmap **b, naming *n) {
    operands_add_span(&n->names, desk_of(w));
    status s = change(w, b, &n->names, n, w->core.addNames, &n->changed);
    n->next = w->core.collected(w) ? w->members[0] : NO_ID;
    return end_adding(w, b, &n->names, s, n->changed != NO_ID);
}

status names_take_back(worker *w, bitmap **b, naming *n) {
    return n->changed ? take_back(w, b, &n->names, n->next) : OK;
}

/* If all have been removed, lack of memory only leaves a table larger than it need be. */
status names_remove(worker *w, bitmap **b, naming *n) {
    uint32_t removed;
    status s = change(w, b, &n->names, n, w->core.removeNames, &removed);
    const int done = s != TRAPPED && w->core.collected(w);
    if (done) n->changed = (uint32_t)w->members[0];
    return done ? OK : s;
}

/* --- Payloads --- */

static status write_chunk(worker *w, const frame *f, uint32_t i) {
    return IN_CORE(w, f, w->core.writeNames(w, i));
}

status names_chunk(worker *w, const bitmap *b, uint32_t i, char **payload, size_t *length) {
    volatile uint64_t bytes = 0;
    status s = root_of(b) == NULL && i > 0 ? OK : READING(w, b, bytes = w->core.namesBytes(w, i));
    frame f = reading(w, b);
    *length = f.output_size = bytes;
    *payload = s == OK && bytes ? try_alloc(bytes) : NULL;
    if (s != OK || bytes == 0) return s;
    if (*payload == NULL) return OUT_OF_MEMORY;
    f.output = (uint8_t *)*payload;
    s = write_chunk(w, &f, i);
    if (s != OK) RedisModule_Free(*payload);
    return s;
}

status names_load(worker *w, bitmap **b, const char *payload, size_t length, const char **fault) {
    uint32_t number = FAULT_NONE;
    operands o;
    operands_begin(&o);
    operands_add_span(&o, (span){0});
    operands_add_span(
        &o, (span){.base = (uint8_t *)payload, .size = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX});
    status s = change(w, b, &o, NULL, w->core.readNames, &number);
    s = end_adding(w, b, &o, s, number == FAULT_NONE);
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    if (*fault) count_refused();
    return s;
}

status names_validate(worker *w, const bitmap *b, const char **fault) {
    volatile uint32_t number = FAULT_NONE;
    status s = READING(w, b, number = w->core.validateNames(w, key[0], key[1]));
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    return s;
}
