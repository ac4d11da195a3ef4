#include "server/args.h"

#include <string.h>
#include <strings.h>

#include "server/reply.h"

#define DIGITS(digit) (0x0101010101010101u * (digit))

/* The `count` (1 to 8) characters at `text`, padded with leading '0' to eight; the first character is in the
 * lowest byte. */
static uint64_t eight_digits(const char *text, size_t count) {
    uint64_t eight = 0;
    uint32_t four[2];
    if (count == 8) {
        memcpy(&eight, text, 8);
        return eight;
    }
    if (count >= 4) {
        memcpy(four, text, 4);                      /* the two may overlap */
        memcpy(four + 1, text + count - 4, 4);
        eight = (uint64_t)four[0] << (64 - 8 * count) | (uint64_t)four[1] << 32;
    } else {
        for (size_t i = 0; i < count; i++) {
            eight |= (uint64_t)(unsigned char)text[i] << (64 - 8 * (count - i));
        }
    }
    return eight | DIGITS('0') >> 8 * count;
}

/* The value of eight digits. Each step combines neighboring parts of the word: digits to pairs, pairs to
 * fours, fours to all. */
static uint64_t value_of(uint64_t eight) {
    eight -= DIGITS('0');
    eight = eight * 10 + (eight >> 8);
    uint64_t pairs_0_2 = eight & 0x000000ff000000ff;
    uint64_t pairs_1_3 = eight >> 16 & 0x000000ff000000ff;
    return (pairs_0_2 * (100 + (1000000ull << 32)) + pairs_1_3 * (1 + (10000ull << 32))) >> 32;
}

/* Nonzero if any of the eight characters is not a digit. */
static uint64_t non_digits(uint64_t eight) {
    return ((eight + DIGITS(0x7f - '9')) | (eight - DIGITS('0'))) & DIGITS(0x80);
}

/* For nine digits and more. */
__attribute__((noinline)) static int parse_many_digits(const char *text, size_t length, uint64_t max,
                                                       uint64_t *value) {
    if (length > 20) return 0;
    size_t first = (length - 1) % 8 + 1;
    uint64_t eight = eight_digits(text, first), sum = value_of(eight), strange = non_digits(eight);
    for (const char *end = text + length; (text += first) < end; first = 8) {
        eight = eight_digits(text, 8);
        strange |= non_digits(eight);
        if (__builtin_mul_overflow(sum, 100000000, &sum)) return 0;
        if (__builtin_add_overflow(sum, value_of(eight), &sum)) return 0;
    }
    if (strange || sum > max) return 0;
    *value = sum;
    return 1;
}

int parse_number(const char *text, size_t length, uint64_t max, uint64_t *value) {
    if (length > 1 && *text == '0') return 0;
    if (length > 8) return parse_many_digits(text, length, max, value);
    if (length == 0) return 0;
    uint64_t eight = eight_digits(text, length), sum = value_of(eight);
    if (non_digits(eight) || sum > max) return 0;
    *value = sum;
    return 1;
}

/* Skips what only lenient families accept: a plus sign and leading zeros. */
static const char *number_text(RedisModuleString *argument, int lenient, size_t *length) {
    const char *text = RedisModule_StringPtrLen(argument, length);
    if (lenient && *length > 0 && *text == '+') {
        text++;
        --*length;
    }
    for (; lenient && *length > 1 && *text == '0'; --*length) text++;
    return text;
}

static int parse_unsigned(RedisModuleString *argument, uint64_t max, int lenient, uint64_t *value) {
    size_t length;
    const char *text = number_text(argument, lenient, &length);
    return parse_number(text, length, max, value);
}

int parse_offset(call *c, int at, const char *name, uint64_t *offset) {
    if (parse_unsigned(c->argv[at], c->family->last, c->family->lenient, offset)) return 1;
    return reply_error(c, "ERR invalid %s: must be an unsigned %s bit integer", name, c->family->bits);
}

int parse_last(call *c, int at, uint64_t *last) {
    if (parse_unsigned(c->argv[at], c->family->last, c->family->lenient, last)) return 1;
    return reply_error(c, "ERR invalid last: must be an unsigned %s bit integer (NOT takes one source)",
                       c->family->bits);
}

/* Whether the text would be a number if there were no largest one. */
static int is_number(const char *text, size_t length) {
    return length > 0 && *text != '0' && strspn(text, "0123456789") == length;
}

/* Ends are exclusive, so the largest is one more than the last offset. Only the error for a number that is
 * too large says so: the other one is the C module's. */
static int parse_end(call *c, int at, cardinality *end) {
    const cardinality most = (cardinality)c->family->last + 1;
    uint64_t offset;
    char digits[COUNT_TEXT];
    size_t length;

    const char *text = number_text(c->argv[at], c->family->lenient, &length);
    const char *largest = count_text(most, digits);
    *end = most;
    if (length == strlen(largest) && memcmp(text, largest, length) == 0) return 1;
    if (!parse_number(text, length, c->family->last, &offset)) {
        return reply_error(c, "ERR invalid end: must be an unsigned %s bit integer%s%s", c->family->bits,
                           is_number(text, length) ? ", or " : "", is_number(text, length) ? largest : "");
    }
    *end = offset;
    return 1;
}

int parse_start_end(call *c, int at, uint64_t *start, cardinality *end) {
    if (!parse_offset(c, at, "start", start) || !parse_end(c, at + 1, end)) return 0;
    if (*end >= *start) return 1;
    const char *relation = c->family->lenient ? ">=" : "be >=";     /* the wording of the C module */
    return reply_error(c, "ERR invalid end: must %s start", relation);
}

int parse_bit(call *c, int at, const char *name, uint32_t *bit) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    if (length != 1 || (*text != '0' && *text != '1')) {
        return reply_error(c, "ERR invalid %s: must be either 0 or 1", name);
    }
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

int parse_rank(call *c, int at, uint64_t *rank, int *from_end) {
    long long value = 0;

    *from_end = RedisModule_StringToLongLong(c->argv[at], &value) == REDISMODULE_OK && value < 0;
    *rank = 0 - (uint64_t)value;
    return *from_end || parse_limit(c, at, rank);
}

int parse_word(call *c, int at, const char *const words[], const char *error) {
    for (int i = 0; words[i]; i++) {
        if (argument_is(c, at, words[i])) return i;
    }
    reply_error(c, "%s", error);
    return -1;
}

int parse_page(call *c, int at, int words, page *p) {
    int has_from = 0, has_limit = 0;

    *p = (page){0, UINT64_MAX, 0};
    for (; at < c->argc; at++) {
        if (words & PAGE_REV && !p->down && argument_is(c, at, "REV")) p->down = 1;
        else if (words & PAGE_FROM && !has_from && at + 1 < c->argc && argument_is(c, at, "FROM")) {
            has_from = 1;
            if (!parse_offset(c, ++at, "offset", &p->from)) return 0;
        } else if (!has_limit && at + 1 < c->argc && argument_is(c, at, "LIMIT")) {
            has_limit = 1;
            if (!parse_limit(c, ++at, &p->limit)) return 0;
        } else return reply_syntax_error(c);
    }
    if (p->down && !has_from) p->from = c->family->last;
    return 1;
}

/* The default COUNT. */
#define SCAN_COUNT 10

int parse_scan(call *c, uint64_t *cursor, uint64_t *count) {
    *count = SCAN_COUNT;
    if (!parse_offset(c, 2, "cursor", cursor)) return 0;
    if (c->argc > 3 && (c->argc != 5 || !argument_is(c, 3, "COUNT"))) return reply_syntax_error(c);
    return (c->argc == 3 || parse_limit(c, 4, count)) && (*count > 0 || reply_syntax_error(c));
}

int parse_unit(call *c, int at, enum unit *unit) {
    *unit = argument_is(c, at, "BIT") ? BIT : BYTE;
    return *unit == BIT || argument_is(c, at, "BYTE") || reply_syntax_error(c);
}

void free_values(const call *c, uint64_t *values) {
    if (values != c->worker->few) RedisModule_Free(values);
}

int parse_values(call *c, int at, const char *name, uint64_t **values, uint32_t *count) {
    *count = (uint32_t)(c->argc - at);
    size_t room = VALUES_ROOM((size_t)*count);
    const int are_few = room <= sizeof c->worker->few / sizeof *c->worker->few;
    *values = are_few ? c->worker->few : try_alloc(room * sizeof **values);
    if (*values == NULL) return reply_failure(c, OUT_OF_MEMORY);
    for (uint32_t i = 0; i < *count; i++) {
        if (parse_offset(c, at + (int)i, name, *values + i)) continue;
        free_values(c, *values);
        return 0;
    }
    return 1;
}

int argument_is(call *c, int at, const char *word) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}
