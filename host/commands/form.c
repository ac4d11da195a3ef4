/* form.c -- commands that show or change a bitmap's containers rather than its members. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/values.h"
#include "server/args.h"
#include "server/keys.h"
#include "server/prepare.h"
#include "server/reply.h"
#include "texts.h"

/* Packing a byte takes up to so many times as long as reading one. */
#define PACKING 16

/* OPTIMIZE key [MEM] -- converts each container of this node's copy to its smallest form. The members stay
 * the same, so the change is not announced. Memory is freed with or without MEM. Any other word is accepted,
 * as in the C module, whose AOF files may hold one. */
int optimize_command(call *c) {
    const bitmap *b;
    packing *p;

    if (c->argc > 3) return RedisModule_WrongArity(c->ctx);
    if (!open_existing(c, 1, &b)) return REDISMODULE_OK;
    if (root_of(b) && offloads(c, PACKING * bitmap_bytes(b))) return REDISMODULE_OK;
    return succeeded(c, packing_make(c->worker, b, &p)) ? put_packed(c, p) : REDISMODULE_OK;
}

/* Copies the form, replacing each %s by the next word; returns the length. */
static size_t fill_in(const char *form, const char *const *words, char *text) {
    char *at = text;
    for (const char *gap; (gap = strchr(form, '%')) != NULL; form = gap + 2) {
        size_t before = (size_t)(gap - form), length = strlen(*words);
        memcpy(at, form, before);
        memcpy(at + before, *words++, length);
        at += before + length;
    }
    size_t rest = strlen(form);
    memcpy(at, form, rest);
    return (size_t)(at - text) + rest;
}

/* Replies the form for JSON, if the call asks for it, or the other one. */
static int reply_form(call *c, const char *json, const char *plain, const char *const *words) {
    char text[1024];
    const size_t length = fill_in(c->argc > 2 && argument_is(c, 2, "JSON") ? json : plain, words, text);
    return RedisModule_ReplyWithVerbatimString(c->ctx, text, length);
}

/* STAT key [JSON] -- statistics on the bitmap's containers, as text or JSON. For keys of either family. */
int stat_command(call *c) {
    enum { CARDINALITY, CONTAINERS, MAX, MIN, OF_KINDS, NUMBERS = OF_KINDS + 3 * CONTAINER_KINDS };
    cardinality number[NUMBERS] = {0};
    char digits[NUMBERS][COUNT_TEXT];
    const char *words[1 + NUMBERS];
    statistics of[CONTAINER_KINDS];
    uint64_t least, greatest = 0;
    uint32_t any;
    const bitmap *b;

    if (c->argc > 3) return RedisModule_WrongArity(c->ctx);
    if (!open_either(c, 1, &b)) return REDISMODULE_OK;
    if (b == NULL) return RedisModule_ReplyWithNull(c->ctx);
    if (offloads(c, bitmap_bytes(b))) return REDISMODULE_OK;
    least = c->family->last;                    /* for an empty bitmap */
    if (!succeeded(c, core_statistics(c->worker, b, of))) return REDISMODULE_OK;
    if (!succeeded(c, core_minimum(c->worker, b, &any, &least))) return REDISMODULE_OK;
    if (!succeeded(c, core_maximum(c->worker, b, &any, &greatest))) return REDISMODULE_OK;
    for (int i = 0; i < CONTAINER_KINDS; i++) {
        cardinality *of_kind = number + OF_KINDS + 3 * i;
        of_kind[0] = of[i].containers;
        /* The core counts modulo 2^64. */
        of_kind[1] = of[i].containers && !of[i].members ? TWO_TO_64 : of[i].members;
        of_kind[2] = of[i].bytes;
        number[CONTAINERS] += of_kind[0];
        number[CARDINALITY] += of_kind[1];
    }
    number[MAX] = greatest;
    number[MIN] = least;
    words[0] = c->family->label;
    for (int i = 0; i < NUMBERS; i++) words[1 + i] = count_text(number[i], digits[i]);
    return reply_form(c, STAT_JSON, STAT_TEXT, words);
}

/* RI.STAT key [JSON] -- statistics on a key of integers: the core replies numbers of ids and extremes, and then leaves, ids and
 * bytes of both kinds. */
int ri_stat_command(call *c) {
    enum { CARDINALITY, LEAST_ID, GREATEST_ID, LEAST, GREATEST, NUMBERS = 11 };
    char digits[NUMBERS][COUNT_TEXT];
    const char *words[1 + NUMBERS];
    numbers found = {0};
    uint64_t length;
    const bitmap *b;

    if (c->argc > 3) return RedisModule_WrongArity(c->ctx);
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b == NULL) return RedisModule_ReplyWithNull(c->ctx);
    if (offloads(c, bitmap_bytes(b))) return REDISMODULE_OK;
    if (succeeded(c, core_ask(c->worker, &(asked){.what = ASK_FORM}, b, NULL, &found, &length))) {
        words[0] = c->family->label;
        for (int i = 0; i < NUMBERS; i++) {
            words[1 + i] = count_text(found.list[i], digits[i]);
            if (i == LEAST || i == GREATEST)
                snprintf(digits[i], sizeof digits[i], "%" PRId64, (int64_t)found.list[i]),
                    words[1 + i] = digits[i];
        }
        reply_form(c, RI_STAT_JSON, RI_STAT_TEXT, words);
    }
    RedisModule_Free(found.list);
    return REDISMODULE_OK;
}
