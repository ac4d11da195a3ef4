#include "core/names.h"

#include <string.h>

#include "core/census.h"
#include "core/change.h"
#include "core/row.h"

static uint64_t key[2];

void names_seed(const uint64_t seed[2]) { memcpy(key, seed, sizeof key); }

/* Where the core packs and unpacks names. */
static uint8_t desk[DESK_BYTES];
static const span on_desk = {.base = desk, .size = sizeof desk};

#define ID_OF(found) ((uint32_t)(found))
#define HASH_OF(found) ((uint32_t)((found) >> 32))

/* Work with the desk as memory 0. */
#define AT_DESK(w, shown, count, work)                                            \
    ({                                                                            \
        frame f = {.memory = on_desk, .operands = shown, .operand_count = count}; \
        (w)->current.growable = NULL;                                             \
        IN_CORE(w, &f, work);                                                     \
    })

/* Work that changes *b, and reads an operand. */
#define CHANGING_NAMES(w, b, shown, work)         \
    ({                                            \
        frame f = begin_changing(w, *(b));        \
        f.operands = shown;                       \
        f.operand_count = 1;                      \
        end_changing(w, IN_CORE(w, &f, work), b); \
    })

/* --- Reading --- */

static status find(worker *w, const bitmap *b, span name, uint64_t *found) {
    const span operands[] = {span_of(b), name};
    return AT_DESK(w, operands, 2, *found = w->core.findName(w, key[0], key[1]));
}

status names_find(worker *w, const bitmap *b, naming *n) {
    status s = OK;
    for (uint32_t i = 0; s == OK && i < n->names.count; i++) s = find(w, b, n->names.list[i], &n->ids[i]);
    return s;
}

status names_next(worker *w, const bitmap *b, uint64_t *id, uint64_t last, span *name) {
    const span dictionary = span_of(b);
    status s = AT_DESK(w, &dictionary, 1, *id = w->core.nameFrom(w, *id, last));
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
    return CHANGING_NAMES(w, b, &on_desk, w->core.takeBackNames(w, next, key[0], key[1]));
}

/* Adds the name on the desk. */
static status add(worker *w, bitmap **b, uint64_t *found) {
    return CHANGING_NAMES(w, b, &on_desk, *found = w->core.addName(w, HASH_OF(*found), key[0], key[1]));
}

status names_add(worker *w, bitmap **b, naming *n) {
    uint64_t next = 0, *id = n->ids;
    status s = next_id(w, *b, &next);
    for (span *name = n->names.list; s == OK && name < n->names.list + n->names.count; name++, id++) {
        s = find(w, *b, *name, id);
        if (s != OK || ID_OF(*id) != NO_ID) continue;
        if (n->changed++ == 0) s = make_changeable(b);
        if (s == OK) s = add(w, b, id);
        if (s == OK && *id == NO_ID) break;
    }
    const int full = s == OK && id < n->ids + n->names.count;
    if (!full && (s != OUT_OF_MEMORY || n->changed == 0)) return s;
    n->changed = 0;
    if (full) n->ids[0] = NO_ID;
    return take_back(w, b, next) == OK ? s : TRAPPED;
}

/* Makes the segments own that removing a name changes. */
static int own_segments(bitmap *b, uint64_t found) {
    root *r = root_of(b);
    return r == NULL
        || (root_own(r, root_seek(r, ID_OF(found))) && root_own(r, root_seek(r, TABLES + HASH_OF(found))));
}

static status remove_one(worker *w, bitmap **b, uint64_t found, uint32_t *removed) {
    return CHANGING_NAMES(w, b, &on_desk, *removed += w->core.removeName(w, HASH_OF(found), ID_OF(found)));
}

/* Lack of memory leaves a table as large as it is. */
static status trim(worker *w, bitmap **b, uint64_t found) {
    status s = CHANGING_NAMES(w, b, &on_desk, w->core.trimTable(w, HASH_OF(found)));
    return s == OUT_OF_MEMORY ? OK : s;
}

/* Only what comes before the first removal may need memory. */
status names_remove(worker *w, bitmap **b, naming *n) {
    uint32_t count = 0;
    status s = names_find(w, *b, n);
    for (uint32_t i = 0; s == OK && i < n->names.count; i++) {
        if (ID_OF(n->ids[i]) != NO_ID) n->ids[count++] = n->ids[i];
    }
    if (s == OK && count) s = make_changeable(b);
    for (uint32_t i = 0; s == OK && i < count; i++) s = own_segments(*b, n->ids[i]) ? OK : OUT_OF_MEMORY;
    for (uint32_t i = 0; s == OK && i < count; i++) s = remove_one(w, b, n->ids[i], &n->changed);
    for (uint32_t i = 0; s == OK && i < count; i++) s = trim(w, b, n->ids[i]);
    return s;
}

/* --- Payloads --- */

static status chunk_bytes(worker *w, const bitmap *b, uint32_t i, uint64_t *bytes) {
    return READING(w, b, *bytes = w->core.namesBytes(w, i));
}

status names_chunk(worker *w, const bitmap *b, uint32_t i, char **payload, size_t *length) {
    const root *r = root_of(b);
    frame f = reading(w, b);
    *payload = NULL;
    status s = i < (r ? r->count : 1) ? chunk_bytes(w, b, i, &f.output_size) : OK;
    if (s != OK || f.output_size == 0) return s;
    *payload = try_alloc(f.output_size);
    if (*payload == NULL) return OUT_OF_MEMORY;
    f.output = (uint8_t *)*payload;
    *length = f.output_size;
    s = IN_CORE(w, &f, w->core.writeNames(w, i));
    if (s != OK) RedisModule_Free(*payload);
    return s;
}

static status check(worker *w, const span *chunk, uint32_t *fault) {
    return AT_DESK(w, chunk, 1, *fault = w->core.checkNames(w));
}

static status read_chunk(worker *w, bitmap **b, const span *chunk, uint32_t *fault) {
    return CHANGING_NAMES(w, b, chunk, *fault = w->core.readNames(w, key[0], key[1]));
}

status names_load(worker *w, bitmap **b, const char *payload, size_t length, const char **fault) {
    const span chunk = {.base = (uint8_t *)payload,
                        .size = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX};
    uint32_t number = FAULT_NONE;
    uint64_t next = 0;
    status s = check(w, &chunk, &number), undone;
    if (s == OK) s = next_id(w, *b, &next);
    if (s == OK) s = make_changeable(b);
    if (s == OK && number == FAULT_NONE) {
        s = read_chunk(w, b, &chunk, &number);
        undone = s == OUT_OF_MEMORY || (s == OK && number) ? take_back(w, b, next) : OK;
        if (undone != OK) return TRAPPED;
    }
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    if (*fault) count_refused();
    return s;
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
