/* args.h -- parses arguments, or replies with an error. `at` is a position in argv; errors call the argument
 * `name`. */
#pragma once

#include "server/command.h"
#include "facts.h"
#include "core/building.h"
#include "core/calls.h"

int parse_offset(call *c, int at, const char *name, uint64_t *offset);
/* The argument `last` of NOT. Its error says that NOT takes one source, because a client that passes several
 * ends up here. */
int parse_last(call *c, int at, uint64_t *last);
/* Parses any text: digits only, without leading zeros, up to `max`. If the text is not such a number,
 * returns 0 without a reply. */
int parse_number(const char *text, size_t length, uint64_t max, uint64_t *value);
/* Two arguments from `at` on: a range that includes *start and excludes *end, which may be one more than the
 * last offset. */
int parse_start_end(call *c, int at, uint64_t *start, cardinality *end);
int parse_bit(call *c, int at, const char *name, uint32_t *bit);
/* A signed integer as native commands accept it. */
int parse_index(call *c, int at, int64_t *index);
/* A maximum number of results. */
int parse_limit(call *c, int at, uint64_t *limit);
/* A rank; negative ranks count from the end, and -1 is the last. */
int parse_rank(call *c, int at, uint64_t *rank, int *from_end);
/* The index of the argument among the words, case-insensitively. The list ends with NULL. Replies the error and
 * returns -1 if it is none of them. */
int parse_word(call *c, int at, const char *const words[], const char *error);
/* Options of a list of members, each at most once and in any order, from `at` to the end: LIMIT n, and of the
 * `words`, REV and FROM offset. Without FROM, the page begins with the first offset, or the last one. */
enum { PAGE_REV = 1, PAGE_FROM = 2 };
int parse_page(call *c, int at, int words, page *p);
/* The cursor of SCAN at 2, and an optional COUNT. */
int parse_scan(call *c, uint64_t *cursor, uint64_t *count);
/* BYTE or BIT, case-insensitive. */
int parse_unit(call *c, int at, enum unit *unit);
/* All arguments from `at` on. The caller must free_values(c, *values). */
int parse_values(call *c, int at, const char *name, uint64_t **values, uint32_t *count);
void free_values(const call *c, uint64_t *values);
/* Whether the argument equals the word, case-insensitively. */
int argument_is(call *c, int at, const char *word);
