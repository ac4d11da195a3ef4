/* serialized.h -- bitmaps as strings: how long these may be, and how they are sent to clients. */
#pragma once

#include "server/command.h"
#include "core/calls.h"

/* The bitmap's length in the format; an error if no string may be that long. */
int string_length(call *c, const bitmap *b, uint32_t format, uint64_t *length);
/* Whether there is memory for this many strings of that length. The server does not check before it creates
 * one, and ends its process if there is none. */
int has_room(call *c, size_t length, int strings);
/* Replies the bitmap in the format, if it is within the limits. */
int reply_serialized(call *c, const bitmap *b, uint32_t format);
