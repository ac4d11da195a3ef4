/* serialized.h -- strings made of bitmaps: how long they may be, and replies of them. */
#ifndef ROAR_SERIALIZED_H
#define ROAR_SERIALIZED_H

#include "command.h"
#include "sandbox.h"

/* The bitmap's length in the format; an error if a string cannot be as long. */
int string_length(call *c, const bitmap *b, uint32_t format, uint64_t *length);
/* Whether there is memory for so many strings of that length. The server does not check before it creates
 * one, and ends its process if there is none. */
int has_room(call *c, size_t length, int strings);
/* Replies the bitmap in the format, if it is within the limits. */
int reply_serialized(call *c, const bitmap *b, uint32_t format);

#endif
