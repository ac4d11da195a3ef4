/* args.h -- arguments: parse or reply with an error. `at` is a position in argv, `name` what the error calls it. */
#ifndef ROAR_ARGS_H
#define ROAR_ARGS_H

#include "command.h"
#include "facts.h"

int parse_offset(call *c, int at, const char *name, uint64_t *offset);
/* The same for text of any origin, digits only, up to `max`; 0 without a reply when it is none. */
int parse_number(const char *text, size_t length, uint64_t max, uint64_t *value);
/* Two arguments from `at` on: the range from *start to before *end. */
int parse_start_end(call *c, int at, uint64_t *start, uint64_t *end);
int parse_bit(call *c, int at, const char *name, uint32_t *bit);
/* A signed integer as native commands take it. */
int parse_index(call *c, int at, int64_t *index);
/* How many, at most. */
int parse_limit(call *c, int at, uint64_t *limit);
/* BYTE or BIT, in any case. */
int parse_unit(call *c, int at, enum unit *unit);
/* All from `at` on, until free_values. */
int parse_values(call *c, int at, const char *name, uint64_t **values, uint32_t *count);
void free_values(uint64_t *values);
/* Whether the argument is the word, in any case. */
int argument_is(call *c, int at, const char *word);

#endif
