#include "args.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* How much of a key's name goes into the log. */
#define LOGGED_NAME 128

/* --- Arguments ------------------------------------------------------------------------------------------------------ */

#define DIGITS(digit) (0x0101010101010101u * (digit))

/* The `count` (1 to 8) characters there, behind as many '0' as make them eight; the first is in the lowest byte. */
static uint64_t eight_digits(const char *text, size_t count) {
    uint64_t eight = 0;
    uint32_t four[2];
    if (count == 8) return memcpy(&eight, text, 8), eight;
    if (count >= 4) {
        memcpy(four, text, 4);                      /* the two may overlap */
        memcpy(four + 1, text + count - 4, 4);
        eight = (uint64_t)four[0] << (64 - 8 * count) | (uint64_t)four[1] << 32;
    } else {
        for (size_t i = 0; i < count; i++) eight |= (uint64_t)(unsigned char)text[i] << (64 - 8 * (count - i));
    }
    return eight | DIGITS('0') >> 8 * count;
}

/* Their value, of pairs, of fours, of all: each step adds what stands in neighbouring parts of the word. */
static uint64_t value_of(uint64_t eight) {
    eight -= DIGITS('0');
    eight = eight * 10 + (eight >> 8);
    return ((eight & 0x000000ff000000ff) * (100 + (1000000ull << 32)) + (eight >> 16 & 0x000000ff000000ff) * (1 + (10000ull << 32))) >> 32;
}

/* Not 0 if any of the eight characters is no digit. */
static uint64_t strangers(uint64_t eight) { return ((eight + DIGITS(0x7f - '9')) | (eight - DIGITS('0'))) & DIGITS(0x80); }

/* Nine digits and more. */
__attribute__((noinline)) static int parse_many_digits(const char *text, size_t length, uint64_t max, uint64_t *value) {
    if (length > 20) return 0;
    size_t first = (length - 1) % 8 + 1;
    uint64_t eight = eight_digits(text, first), sum = value_of(eight), strange = strangers(eight);
    for (const char *end = text + length; (text += first) < end; first = 8) {
        eight = eight_digits(text, 8);
        strange |= strangers(eight);
        if (__builtin_mul_overflow(sum, 100000000, &sum) || __builtin_add_overflow(sum, value_of(eight), &sum)) return 0;
    }
    if (strange || sum > max) return 0;
    *value = sum;
    return 1;
}

/* Decimal digits and nothing else, at most `max`. */
static int parse_digits(const char *text, size_t length, uint64_t max, uint64_t *value) {
    if (length > 8) return parse_many_digits(text, length, max, value);
    if (length == 0) return 0;
    uint64_t eight = eight_digits(text, length), sum = value_of(eight);
    if (strangers(eight) || sum > max) return 0;
    *value = sum;
    return 1;
}

int parse_number(const char *text, size_t length, uint64_t max, uint64_t *value) {
    if (length > 1 && *text == '0') return 0;
    return parse_digits(text, length, max, value);
}

/* In the lenient form there may be a plus sign and zeros in front. */
static int parse_unsigned(RedisModuleString *argument, uint64_t max, int lenient, uint64_t *value) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(argument, &length);
    if (!lenient) return parse_number(text, length, max, value);
    if (length > 0 && *text == '+') text++, length--;
    for (; length > 1 && *text == '0'; length--) text++;
    return parse_digits(text, length, max, value);
}

int parse_offset(call *c, int at, const char *name, uint64_t *offset) {
    if (parse_unsigned(c->argv[at], c->family->last, c->family->lenient, offset)) return 1;
    return reply_error(c, "ERR invalid %s: must be an unsigned %s bit integer", name, c->family->bits);
}

/* Ends are exclusive: the greatest is one more than the last offset, where there is such a number. */
static int parse_end(call *c, int at, uint64_t *end) {
    uint64_t most = c->family->last + (c->family->last < UINT64_MAX);
    if (parse_unsigned(c->argv[at], most, c->family->lenient, end)) return 1;
    return reply_error(c, "ERR invalid end: must be an unsigned %s bit integer", c->family->bits);
}

int parse_start_end(call *c, int at, uint64_t *start, uint64_t *end) {
    if (!parse_offset(c, at, "start", start) || !parse_end(c, at + 1, end)) return 0;
    if (*end >= *start) return 1;
    return reply_error(c, "ERR invalid end: must %s start", c->family->lenient ? ">=" : "be >=");   /* as the C module says it */
}

int parse_bit(call *c, int at, const char *name, uint32_t *bit) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    if (length != 1 || (*text != '0' && *text != '1')) return reply_error(c, "ERR invalid %s: must be either 0 or 1", name);
    *bit = (uint32_t)(*text - '0');
    return 1;
}

int parse_index(call *c, int at, int64_t *index) {
    long long value;
    if (RedisModule_StringToLongLong(c->argv[at], &value) != REDISMODULE_OK) {
        return reply_error(c, "ERR value is not an integer or out of range");
    }
    *index = value;
    return 1;
}

int parse_limit(call *c, int at, uint64_t *limit) {
    if (parse_unsigned(c->argv[at], UINT64_MAX, 0, limit)) return 1;
    return reply_error(c, "ERR value is not an integer or out of range");
}

int parse_unit(call *c, int at, uint32_t *in_bits) {
    *in_bits = (uint32_t)argument_is(c, at, "BIT");
    return *in_bits || argument_is(c, at, "BYTE") || reply_syntax_error(c);
}

/* Where a few values go, sparing the allocation: one command runs at a time. */
static uint64_t few[VALUES_ROOM(512)];

void free_values(uint64_t *values) {
    if (values != few) RedisModule_Free(values);
}

int parse_values(call *c, int at, const char *name, uint64_t **values, uint32_t *count) {
    *count = (uint32_t)(c->argc - at);
    size_t room = VALUES_ROOM((size_t)*count);
    *values = room <= sizeof few / sizeof *few ? few : RedisModule_Alloc(room * sizeof **values);
    for (uint32_t i = 0; i < *count; i++) {
        if (parse_offset(c, at + (int)i, name, *values + i)) continue;
        free_values(*values);
        return 0;
    }
    return 1;
}

int argument_is(call *c, int at, const char *word) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* --- Keys ----------------------------------------------------------------------------------------------------------- */

static int is_sound(call *c, const bitmap *b) {
    if (b == NULL || !(b->flags & BITMAP_DAMAGED)) return 1;
    return reply_error(c, "ERR Roaring: this bitmap is damaged since a write to it failed; all that can be done is to DEL it");
}

/* The family's bitmap in an open key; NULL when the key is missing or holds something else. */
static bitmap *bitmap_in(const call *c, RedisModuleKey *key) {
    return RedisModule_ModuleTypeGetType(key) == c->family->type ? RedisModule_ModuleTypeGetValue(key) : NULL;
}

static int is_right(call *c, RedisModuleKey *key, const bitmap *b) {
    if (b || RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY) return is_sound(c, b);
    return reply_error(c, REDISMODULE_ERRORMSG_WRONGTYPE);
}

int open_read(call *c, int at, const bitmap **b) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    if (key == NULL) return *b = NULL, 1;
    *b = bitmap_in(c, key);
    int right = is_right(c, key, *b);
    RedisModule_CloseKey(key);
    return right;
}

int open_existing(call *c, int at, const bitmap **b) {
    if (!open_read(c, at, b)) return 0;
    return *b != NULL || reply_error(c, ERRORMSG_NO_KEY);
}

int open_either(call *c, int at, const bitmap **b) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    for (family *f = families; f < families + FAMILIES; f++) {
        if (RedisModule_ModuleTypeGetType(key) == f->type) c->family = f;
    }
    RedisModule_CloseKey(key);
    return open_read(c, at, b);
}

static void open_slot(call *c, int at, slot *s) {
    s->name = c->argv[at];
    s->key = RedisModule_OpenKey(c->ctx, s->name, REDISMODULE_READ | REDISMODULE_WRITE);
    s->stored = s->value = bitmap_in(c, s->key);
}

int open_write(call *c, int at, slot *s) {
    open_slot(c, at, s);
    int right = is_right(c, s->key, s->stored);
    if (!right) abandon(s);
    return right;
}

int open_create(call *c, int at, uint32_t bytes, slot *s) {
    if (!open_write(c, at, s)) return 0;
    if (s->value == NULL) s->value = bitmap_create(bytes);
    if (s->value) return 1;
    abandon(s);
    return reply_failure(c, OUT_OF_MEMORY);
}

int open_overwrite(call *c, int at, slot *s) {
    open_slot(c, at, s);
    int sound = is_sound(c, s->stored);
    if (!sound) abandon(s);
    return sound;
}

void abandon(slot *s) { RedisModule_CloseKey(s->key); }

void tell(call *c, RedisModuleString *name, const char *event) {
    RedisModule_SignalModifiedKey(c->ctx, name);
    RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_STRING, event, name);
    RedisModule_ReplicateVerbatim(c->ctx);
}

int commit(call *c, slot *s, status done, int changed, const char *event) {
    int created = s->stored == NULL;

    if (created && done != OK) bitmap_free(s->value);
    else if (created) RedisModule_ModuleTypeSetValue(s->key, c->family->type, s->value);
    else if (s->value != s->stored) RedisModule_ModuleTypeReplaceValue(s->key, c->family->type, s->value, NULL);
    RedisModule_CloseKey(s->key);
    if (!succeeded(c, done)) return 0;
    if (created || changed) tell(c, s->name, event);
    return 1;
}

int commit_other(call *c, slot *s, bitmap *b, int changed, const char *event) {
    bitmap *old = s->stored;
    s->value = b;
    commit(c, s, OK, changed, event);
    bitmap_free(old);
    return 1;
}

void replace(call *c, slot *s, bitmap *b, const char *event) {
    if (s->stored) {
        RedisModule_ModuleTypeReplaceValue(s->key, c->family->type, b, NULL);
        RedisModule_SetExpire(s->key, REDISMODULE_NO_EXPIRE);
        bitmap_free(s->stored);
    } else {
        RedisModule_ModuleTypeSetValue(s->key, c->family->type, b);         /* drops what was there, and its TTL */
    }
    RedisModule_CloseKey(s->key);
    tell(c, s->name, event);
}

/* --- Replies -------------------------------------------------------------------------------------------------------- */

int reply_failure(call *c, status s) {
    size_t length = 0;
    if (s == OUT_OF_MEMORY) return reply_error(c, "OOM Roaring: not enough memory for the bitmap");
    const char *key = RedisModule_StringPtrLen(c->argv[c->row->first], &length);
    RedisModule_Log(c->ctx, REDISMODULE_LOGLEVEL_WARNING, "trap in %s, key '%.*s': %s", RedisModule_StringPtrLen(c->argv[0], NULL),
                    (int)(length < LOGGED_NAME ? length : LOGGED_NAME), key, sandbox_last_trap());
    return reply_error(c, "ERR Roaring: internal error (%s)", sandbox_last_trap());
}

int reply_error(call *c, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *end = text; *(end += strcspn(end, "\r\n")); *end = ' ') {}    /* an argument in it cannot end the reply */
    RedisModule_ReplyWithError(c->ctx, text);
    return 0;
}

int reply_syntax_error(call *c) { return reply_error(c, "ERR syntax error"); }

int reply_ok(call *c) { return RedisModule_ReplyWithSimpleString(c->ctx, "OK"); }

int reply_integer(call *c, uint64_t value) {
    char text[24];
    if (value <= INT64_MAX) return RedisModule_ReplyWithLongLong(c->ctx, (long long)value);
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return RedisModule_ReplyWithStringBuffer(c->ctx, text, (size_t)length);
}

const char *count_text(count members, char text[COUNT_TEXT]) {
    if (members == TWO_TO_64) return "18446744073709551616";
    char *at = text + COUNT_TEXT - 1;
    uint64_t rest = (uint64_t)members;
    *at = '\0';
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    return at;
}

int reply_count(call *c, count members) {
    char text[COUNT_TEXT];
    if (members <= UINT64_MAX) return reply_integer(c, (uint64_t)members);
    const char *digits = count_text(members, text);
    return RedisModule_ReplyWithStringBuffer(c->ctx, digits, strlen(digits));
}

int reply_cardinality(call *c, const bitmap *b) {
    count members = 0;
    if (b && !succeeded(c, core_cardinality(b, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}
