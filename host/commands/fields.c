/* fields.c -- integers of any width at any offset, as in native BITFIELD. */
#include <string.h>

#include "server/args.h"
#include "server/keys.h"
#include "server/reply.h"

/* Up to this many subcommands need no allocation. */
#define FEW 16

static const char invalid_type[] =
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";

/* i1 .. i64, u1 .. u63 */
static int parse_type(call *c, int at, field *f) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    uint64_t width = 0;

    f->is_signed = *text == 'i';
    if (*text == 'i' || *text == 'u') parse_number(text + 1, length - 1, 63 + f->is_signed, &width);
    f->width = (uint32_t)width;
    return width > 0 || reply_error(c, "%s", invalid_type);
}

/* An offset, or # and a number of fields of this width. The field must not extend beyond the last offset. */
static int parse_place(call *c, int at, field *f) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    uint64_t unit = *text == '#' ? f->width : 1, most = (c->family->last - (f->width - 1)) / unit;

    if (parse_number(text + (*text == '#'), length - (*text == '#'), most, &f->offset)) {
        f->offset *= unit;
        return 1;
    }
    return reply_error(c, "ERR bit offset is not an integer or out of range");
}

static int parse_overflow(call *c, int at) {
    static const char *const names[] = {[WRAP] = "WRAP", [SAT] = "SAT", [FAIL] = "FAIL", NULL};
    return parse_word(c, at, names, "ERR Invalid OVERFLOW type specified");
}

/* Parses all subcommands from argv[2] on. */
static int parse_steps(call *c, field_step *steps, size_t *length, int *writes) {
    static const struct {
        const char *name;
        int arguments;
    } actions[] = {[FIELD_GET] = {"GET", 2}, [FIELD_SET] = {"SET", 3}, [FIELD_INCRBY] = {"INCRBY", 3}};
    int overflow = WRAP;

    for (int at = 2; at < c->argc;) {
        int rest = c->argc - at - 1;
        if (rest >= 1 && argument_is(c, at, "OVERFLOW")) {
            if ((overflow = parse_overflow(c, at + 1)) < 0) return 0;
            at += 2;
            continue;
        }
        field_step *s = &steps[(*length)++];
        *s = (field_step){.overflow = (enum overflow)overflow, .outcome.written = 1};
        s->action = FIELD_GET;
        while (s->action <= FIELD_INCRBY && !argument_is(c, at, actions[s->action].name)) s->action++;
        if (s->action > FIELD_INCRBY || rest < actions[s->action].arguments) return reply_syntax_error(c);
        if (!parse_type(c, at + 1, &s->at) || !parse_place(c, at + 2, &s->at)) return 0;
        if (s->action != FIELD_GET && !parse_index(c, at + 3, &s->value)) return 0;
        *writes += s->action != FIELD_GET;
        at += 1 + actions[s->action].arguments;
    }
    return 1;
}

static int reply_steps(call *c, const field_step *steps, size_t length) {
    RedisModule_ReplyWithArray(c->ctx, (long)length);
    for (size_t i = 0; i < length; i++) {
        if (steps[i].outcome.written) RedisModule_ReplyWithLongLong(c->ctx, steps[i].outcome.reply);
        else RedisModule_ReplyWithNull(c->ctx);
    }
    return REDISMODULE_OK;
}

static int read_fields(call *c, field_step *steps, size_t length) {
    const bitmap *b;

    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    for (size_t i = 0; b && i < length; i++) {
        if (!succeeded(c, core_get_field(c->worker, b, &steps[i].at, &steps[i].outcome.reply)))
            return REDISMODULE_OK;
    }
    return reply_steps(c, steps, length);
}

/* Runs steps, exactly one of which writes. */
static status write_one(worker *w, bitmap **b, field_step *steps, size_t length, uint32_t *changed) {
    status done = OK;
    for (field_step *s = steps; done == OK && s < steps + length; s++) {
        if (s->action == FIELD_GET) done = core_get_field(w, *b, &s->at, &s->outcome.reply);
        else done = core_write_field(w, b, s);
        *changed |= s->outcome.changed;
    }
    return done;
}

static int write_fields(call *c, field_step *steps, size_t length, int writes) {
    uint32_t changed = 0;
    open_key k;

    if (!open_create(c, 1, &k)) return REDISMODULE_OK;
    /* The plan of several writes tells whether they change a shared bitmap before they do. */
    status done = writes == 1 && !bitmap_is_shared(k.value)
                    ? write_one(c->worker, &k.value, steps, length, &changed)
                    : core_change_fields(c->worker, &k.value, steps, (uint32_t)length, &changed);
    if (!commit(c, &k, done, changed > 0, "setbit")) return REDISMODULE_OK;
    return reply_steps(c, steps, length);
}

/* Parses all arguments before it does anything. Creates the key only if there is a write. */
static int bitfield(call *c, int may_write) {
    field_step few[FEW];
    size_t length = 0, most = (size_t)c->argc / 3;          /* the shortest is GET type offset */
    int writes = 0;
    field_step *steps = most <= FEW ? few : try_alloc(most * sizeof *steps);

    if (steps == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (parse_steps(c, steps, &length, &writes)) {
        if (writes == 0) read_fields(c, steps, length);
        else if (may_write) write_fields(c, steps, length, writes);
        else reply_error(c, "ERR BITFIELD_RO only supports the GET subcommand");
    }
    if (steps != few) RedisModule_Free(steps);
    return REDISMODULE_OK;
}

/* BITFIELD key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] SET type offset value | INCRBY type offset
 * increment ...] */
int bitfield_command(call *c) { return bitfield(c, 1); }

/* BITFIELD_RO key [GET type offset ...] */
int bitfield_ro_command(call *c) { return bitfield(c, 0); }
