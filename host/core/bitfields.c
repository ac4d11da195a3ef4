/* bitfields.c -- writes to fields of bits. */
#include <string.h>

#include "core/bitfields.h"
#include "core/change.h"
#include "core/segments.h"
#include "api/redismodule.h"

/* Collects the old and the new value. */
static uint32_t write_field(worker *w, const field *at, const field_step *step) {
    uint32_t (*write)(worker *, uint64_t, uint32_t, uint32_t, uint64_t, uint32_t) =
        step->action == FIELD_SET ? w->core.setField : w->core.addToField;
    return write(w, at->offset, at->width, at->is_signed, (uint64_t)step->value, step->overflow);
}

status core_write_field(worker *w, bitmap **b, field_step *step) {
    const field *at = &step->at;
    outcome *o = &step->outcome;
    if (root_of(*b)) return core_change_fields(w, b, step, 1, &o->changed);
    status s = make_changeable(b);
    if (s != OK) return s;
    frame f = writing(w, *b);
    s = CHANGING_IN(w, &f, o->written = write_field(w, at, step));
    o->old = (int64_t)w->members[0];
    o->reply = (int64_t)w->members[step->action == FIELD_INCRBY];
    o->changed = w->members[0] != w->members[1];
    s = wrote(w, s, b);
    if (s != OUT_OF_MEMORY) return s;
    f = writing(w, *b);
    return undone(w, CHANGING_IN(w, &f, w->core.takeBackField(w, at->offset, at->width, (uint64_t)o->old)),
                  b);
}

/* --- Several fields: the core plans all writes without changing anything, and then makes them --- */

/* A step and a slot of the core's plan take this many values each. More steps than STEPS_MAX would take
 * gigabytes. */
#define PLAN_VALUES 3
#define STEPS_MAX (1u << 26)
/* A plan of up to this many values needs no allocation. */
#define FEW_VALUES 128

/* The steps, and behind them a hash table of 1 << slot_bits slots. */
typedef struct plan {
    uint64_t *values;
    uint32_t steps, slot_bits;
} plan;

/* A multiplier for the plan's hash that no client can know. */
static uint64_t secret(void) {
    static uint64_t odd;
    if (odd == 0) RedisModule_GetRandomBytes((unsigned char *)&odd, sizeof odd);
    return odd |= 1;
}

static void lay_steps(const plan *p, const field_step *steps) {
    uint64_t *value = p->values;
    for (const field_step *s = steps; s < steps + p->steps; s++, value += PLAN_VALUES) {
        value[0] = s->action | (uint32_t)s->overflow << 2 | s->at.is_signed << 4 | s->at.width << 5;
        value[1] = s->at.offset;
        value[2] = (uint64_t)s->value;
    }
}

static void take_outcomes(const plan *p, field_step *steps) {
    const uint64_t *value = p->values;
    for (field_step *s = steps; s < steps + p->steps; s++, value += PLAN_VALUES) {
        s->outcome.written = (uint32_t)value[0];
        s->outcome.reply = (int64_t)value[2];
    }
}

/* Words that a plan changes: values of its slots. */
typedef struct words {
    uint64_t *values;
    uint32_t count;
} words;

static status change_words(worker *w, bitmap **b, void *how) {
    const words *l = how;
    const uint32_t to = l->count * PLAN_VALUES;
    frame f = setting(w, *b, l->values, to);
    status s = wrote(w, CHANGING_IN(w, &f, w->core.changeWords(w, 0, to)), b);
    if (s != OUT_OF_MEMORY) return s;
    f = setting(w, *b, l->values, to);
    return undone(w, CHANGING_IN(w, &f, w->core.takeBackWords(w, 0, to)), b);
}

static status take_back_words(worker *w, bitmap **b, void *how) {
    const words *l = how;
    const uint32_t to = l->count * PLAN_VALUES;
    frame f = setting(w, *b, l->values, to);
    return wrote(w, CHANGING_IN(w, &f, w->core.takeBackWords(w, 0, to)), b);
}

/* A word is in one segment. */
static status in_segment_of_word(worker *w, bitmap **b, words *word, segment_change *make) {
    const root *r = root_of(*b);
    return r ? in_segment(w, b, root_seek(r, (word->values[0] - 1) << 6), make, word) : make(w, b, word);
}

/* Changes the `changed` words that the plan lists behind the steps. */
static status change_all_words(worker *w, bitmap **b, const plan *p, uint32_t changed) {
    words all = {p->values + p->steps * PLAN_VALUES, changed}, word = {all.values, 1};
    status s = OK;
    if (root_of(*b) == NULL) return change_words(w, b, &all);
    for (; s == OK && word.values < all.values + changed * PLAN_VALUES; word.values += PLAN_VALUES) {
        s = in_segment_of_word(w, b, &word, change_words);
    }
    if (s != OUT_OF_MEMORY) return s;
    for (word.values -= PLAN_VALUES; word.values > all.values;) {
        word.values -= PLAN_VALUES;
        if (in_segment_of_word(w, b, &word, take_back_words) == TRAPPED) return TRAPPED;
    }
    return s;
}

static status change_planned(worker *w, bitmap **b, const plan *p, field_step *steps, uint32_t *changed) {
    lay_steps(p, steps);
    frame f = setting(w, *b, p->values, p->steps * PLAN_VALUES + (PLAN_VALUES << p->slot_bits));
    w->current.growable = NULL;
    status s = IN_CORE(w, &f, *changed = w->core.planFields(w, p->steps, p->slot_bits, secret()));
    if (s != OK) return s;
    take_outcomes(p, steps);
    if (*changed) s = make_changeable(b);
    return *changed && s == OK ? change_all_words(w, b, p, *changed) : s;
}

status core_change_fields(worker *w, bitmap **b, field_step *steps, uint32_t count, uint32_t *changed) {
    uint64_t few[FEW_VALUES];
    plan p = {.steps = count, .slot_bits = 3};
    if (count > STEPS_MAX) return OUT_OF_MEMORY;
    /* A step touches two words at most, and a third of the slots stay free. */
    while (1u << p.slot_bits < count * 3) p.slot_bits++;
    size_t length = ((size_t)count + ((size_t)1 << p.slot_bits)) * PLAN_VALUES;
    p.values = length <= FEW_VALUES ? few : try_alloc(length * sizeof *p.values);
    if (p.values == NULL) return OUT_OF_MEMORY;
    memset(p.values, 0, length * sizeof *p.values);
    *changed = 0;
    status s = change_planned(w, b, &p, steps, changed);
    if (p.values != few) RedisModule_Free(p.values);
    return s;
}
