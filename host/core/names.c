#include "core/names.h"

#include <string.h>

#include "core/census.h"
#include "core/change.h"
#include "core/guard.h"
#include "core/row.h"

static uint64_t key[2];

void names_seed(const uint64_t seed[2]) { memcpy(key, seed, sizeof key); }

/* Where the core packs and unpacks names. */
static uint8_t desk[DESK_BYTES];
static const span on_desk = {.base = desk, .size = sizeof desk};

#define ID_OF(found) ((uint32_t)(found))
#define HASH_OF(found) ((uint32_t)((found) >> 32))

static frame at_desk(worker *w, const span *operands, uint32_t count) {
    w->current.growable = NULL;
    return (frame){.memory = on_desk, .operands = operands, .operand_count = count};
}

/* --- Finding --- */

/* Sets *found to the id of a name and its hash. */
static status find(worker *w, const bitmap *b, span name, uint64_t *found) {
    const span operands[] = {span_of(b), name};
    frame f = at_desk(w, operands, 2);
    return IN_CORE(w, &f, *found = w->core.findName(w, key[0], key[1]));
}

static status find_all(worker *w, const bitmap *b, const operands *names, uint64_t *found) {
    status s = OK;
    for (uint32_t i = 0; s == OK && i < names->count; i++) s = find(w, b, names->list[i], &found[i]);
    return s;
}

status names_find(worker *w, const bitmap *b, const operands *names, uint64_t *ids) {
    status s = find_all(w, b, names, ids);
    for (uint32_t i = 0; s == OK && i < names->count; i++) ids[i] = ID_OF(ids[i]);
    return s;
}

status names_next(worker *w, const bitmap *b, uint64_t *id, uint64_t last, span *name) {
    const span dictionary = span_of(b);
    frame f = at_desk(w, &dictionary, 1);
    status s = IN_CORE(w, &f, *id = w->core.nameFrom(w, *id, last));
    *name = (span){.base = desk + DESK_TEXT, .size = *(uint32_t *)(void *)desk};
    return s;
}

status names_count(worker *w, const bitmap *b, uint64_t *names) {
    return READING(w, b, *names = w->core.countNames(w));
}

static status next_id(worker *w, const bitmap *b, uint64_t *next) {
    return READING(w, b, *next = w->core.nextId(w));
}

/* --- Changing --- */

static status take_back(worker *w, bitmap **b, uint64_t next) {
    frame f = begin_changing(w, *b);
    return end_changing(w, IN_CORE(w, &f, w->core.takeBackNames(w, next, key[0], key[1])), b);
}

/* Adds the name on the desk; *id is NO_ID if there are no ids left. */
static status add(worker *w, bitmap **b, uint32_t hash, uint64_t *id) {
    frame f = begin_changing(w, *b);
    f.operands = &on_desk;
    f.operand_count = 1;
    return end_changing(w, IN_CORE(w, &f, *id = w->core.addName(w, hash, key[0], key[1])), b);
}

/* Adds a name that is not there. */
static status add_next(worker *w, bitmap **b, uint64_t *found, uint32_t *added) {
    status s = *added == 0 ? make_changeable(b) : OK;
    if (s == OK) s = add(w, b, HASH_OF(*found), found);
    if (s == OK) ++*added;
    return s;
}

status names_add(worker *w, bitmap **b, const operands *names, uint64_t *ids, uint32_t *added) {
    uint64_t next = 0;
    status s = next_id(w, *b, &next);
    *added = 0;
    for (uint32_t i = 0; s == OK && i < names->count; i++) {
        s = find(w, *b, names->list[i], &ids[i]);
        if (s == OK && ID_OF(ids[i]) == NO_ID) s = add_next(w, b, &ids[i], added);
        ids[i] = ID_OF(ids[i]);
        if (s != OK || ids[i] != NO_ID) continue;
        *added = UINT32_MAX;
        return take_back(w, b, next);
    }
    if (s != OUT_OF_MEMORY || *added == 0) return s;
    return take_back(w, b, next) == OK ? s : TRAPPED;
}

/* Makes the segments own that removing a name changes. */
static int own_segments(bitmap *b, uint64_t found) {
    root *r = root_of(b);
    return r == NULL || (root_own(r, root_seek(r, ID_OF(found))) && root_own(r, root_seek(r, TABLES + HASH_OF(found))));
}

static status remove_one(worker *w, bitmap **b, uint64_t found, uint32_t *removed) {
    frame f = begin_changing(w, *b);
    return end_changing(w, IN_CORE(w, &f, *removed += w->core.removeName(w, HASH_OF(found), ID_OF(found))), b);
}

/* Lack of memory leaves a table as large as it is. */
static status trim(worker *w, bitmap **b, uint64_t found) {
    frame f = begin_changing(w, *b);
    status s = end_changing(w, IN_CORE(w, &f, w->core.trimTable(w, HASH_OF(found))), b);
    return s == OUT_OF_MEMORY ? OK : s;
}

/* Only what comes before the first removal may need memory. */
status names_remove(worker *w, bitmap **b, const operands *names, uint64_t *ids, uint32_t *removed) {
    uint32_t count = 0;
    status s = find_all(w, *b, names, ids);
    *removed = 0;
    for (uint32_t i = 0; s == OK && i < names->count; i++) {
        if (ID_OF(ids[i]) != NO_ID) ids[count++] = ids[i];
    }
    if (s == OK && count) s = make_changeable(b);
    for (uint32_t i = 0; s == OK && i < count; i++) s = own_segments(*b, ids[i]) ? OK : OUT_OF_MEMORY;
    for (uint32_t i = 0; s == OK && i < count; i++) s = remove_one(w, b, ids[i], removed);
    for (uint32_t i = 0; s == OK && i < count; i++) s = trim(w, b, ids[i]);
    return s;
}

/* --- Payloads --- */

static status chunk_bytes(worker *w, const bitmap *b, uint32_t i, uint64_t *bytes) {
    return READING(w, b, *bytes = w->core.namesBytes(w, i));
}

status names_chunk(worker *w, const bitmap *b, uint32_t i, char **payload, size_t *length) {
    uint64_t bytes = 0;
    const root *r = root_of(b);
    *payload = NULL;
    status s = i < (r ? r->count : 1) ? chunk_bytes(w, b, i, &bytes) : OK;
    if (s != OK || bytes == 0) return s;
    *payload = try_alloc(bytes);
    if (*payload == NULL) return OUT_OF_MEMORY;
    *length = bytes;
    frame f = reading(w, b);
    f.output = (uint8_t *)*payload;
    f.output_size = bytes;
    s = IN_CORE(w, &f, w->core.writeNames(w, i));
    if (s != OK) RedisModule_Free(*payload);
    return s;
}

static status check(worker *w, const span *chunk, uint32_t *fault) {
    frame f = at_desk(w, chunk, 1);
    return IN_CORE(w, &f, *fault = w->core.checkNames(w));
}

static status read_chunk(worker *w, bitmap **b, const span *chunk, uint32_t *fault) {
    frame f = begin_changing(w, *b);
    f.operands = chunk;
    f.operand_count = 1;
    return end_changing(w, IN_CORE(w, &f, *fault = w->core.readNames(w, key[0], key[1])), b);
}

status names_load(worker *w, bitmap **b, const char *payload, size_t length, const char **fault) {
    const span chunk = {.base = (uint8_t *)payload, .size = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX};
    uint32_t number = FAULT_NONE;
    uint64_t next = 0;
    *fault = NULL;
    status s = check(w, &chunk, &number);
    if (s == OK && number == FAULT_NONE) s = next_id(w, *b, &next);
    if (s == OK && number == FAULT_NONE) s = make_changeable(b);
    if (s == OK && number == FAULT_NONE) {
        s = read_chunk(w, b, &chunk, &number);
        if ((s == OK ? number != FAULT_NONE : s == OUT_OF_MEMORY) && take_back(w, b, next) != OK) return TRAPPED;
    }
    if (s != OK || number == FAULT_NONE) return s;
    *fault = fault_text(number);
    count_refused();
    return OK;
}

static status validate(worker *w, const bitmap *b, uint32_t *number) {
    return READING(w, b, *number = w->core.validateNames(w, key[0], key[1]));
}

status names_validate(worker *w, const bitmap *b, const char **fault) {
    uint32_t number = FAULT_NONE;
    status s = validate(w, b, &number);
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    return s;
}
