/* exchange.c -- conversion from and to portable streams, native bitmaps, and strings of '0' and
 * '1'. */
#include "handlers.h"
#include "server/args.h"
#include "server/prepare.h"
#include "server/listing.h"
#include "server/serialized.h"

/* Longer strings have the encoding raw on every server. */
#define ENCODED_MAX 1024

/* The longest string that StringTruncate makes. */
#define TRUNCATE_MAX (512 * 1024 * 1024)

/* Reads bytes that a client sent. Errors call them `name`. */
static int deserialize(call *c, const encoded *p, const char *name, result *r) {
    const char *fault;

    if (!succeeded(c, core_deserialize(c->worker, p, r, &fault))) return 0;
    return fault == NULL || reply_error(c, "ERR invalid %s: %s", name, fault);
}

/* SETBITARRAY key string -- stores a bitmap of the offsets of each '1' in the string. */
int setbitarray_command(call *c) {
    encoded p = {.format = CHARACTERS};
    result r;

    p.bytes = RedisModule_StringPtrLen(c->argv[2], &p.length);
    return deserialize(c, &p, "bit array", &r) && store(c, 1, BITMAP, r.b) ? reply_ok(c) : REDISMODULE_OK;
}

/* GETBITARRAY key -- a '0' or '1' for each offset up to the largest member. */
int getbitarray_command(call *c, const bitmap *b) { return reply_serialized(c, b, CHARACTERS); }

/* EXPORT key -- the bitmap in the portable Roaring format. */
int export_command(call *c, const bitmap *b) { return reply_serialized(c, b, c->family->exported); }

/* Stores the union of the key and `imported`, and replies its cardinality. Stores imported->b itself, or
 * frees it. */
static int add_members(call *c, open_key *k, const result *imported) {
    cardinalities members = {.after = imported->members};
    status done = OK;

    if (k->stored) {
        done = core_merge(c->worker, &k->value, imported->b, &members);
        bitmap_free(imported->b);
    } else {
        k->value = imported->b;
    }
    if (!commit(c, k, done, members.before != members.after, "setbit")) return REDISMODULE_OK;
    return reply_count(c, members.after);
}

/* add_members() for the key at `at`. */
static int merge_into(call *c, int at, const result *imported) {
    open_key k;

    if (open_write(c, at, &k)) return add_members(c, &k, imported);
    bitmap_free(imported->b);
    return REDISMODULE_OK;
}

/* IMPORT key payload [REPLACE] -- adds the members of a portable stream, or replaces all members by them;
 * replies the new cardinality. */
int import_command(call *c) {
    encoded p = {.format = c->family->imported};
    result imported;

    if (c->argc > 4 || (c->argc > 3 && !argument_is(c, 3, "REPLACE"))) return reply_syntax_error(c);
    p.bytes = RedisModule_StringPtrLen(c->argv[2], &p.length);
    if (!deserialize(c, &p, "roaring payload", &imported)) return REDISMODULE_OK;
    if (c->argc > 3) return store_and_count(c, 1, BITMAP, imported);
    return merge_into(c, 1, &imported);
}

/* Whether no bit that is set would become an offset above the family's last. Cuts off the bytes behind
 * that. */
static int bits_fit(call *c, encoded *bits) {
    const cardinality most = (cardinality)c->family->last - bits->first + 1;
    size_t at = (size_t)(most >> 3);

    if ((cardinality)bits->length * 8 <= most) return 1;
    int beyond = (uint8_t)bits->bytes[at] & (bits->format == BITS ? 0xff >> (most & 7) : 0xff << (most & 7));
    while (!beyond && ++at < bits->length) beyond = bits->bytes[at];
    if (beyond) {
        return reply_error(c, "ERR Roaring: a bit of the string would become an offset above the last");
    }
    bits->length = (size_t)((most + 7) >> 3);
    return 1;
}

/* Converts the native bitmap in the key at `at`; a missing key counts as an empty one. StringDMA copies nothing, but it would convert a string with the encoding int or embstr to
 * raw permanently. So GET reads short strings, unless the server has renamed it. */
static int read_native(call *c, int at, encoded p, result *r) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    RedisModuleCallReply *copy = NULL;
    int right = 1;

    p.bytes = "";
    p.length = 0;

    if (RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_STRING
        && RedisModule_ValueLength(key) <= ENCODED_MAX) {
        copy = RedisModule_Call(c->ctx, "GET", "s", c->argv[at]);
    }
    if (copy && RedisModule_CallReplyType(copy) == REDISMODULE_REPLY_STRING) {
        p.bytes = RedisModule_CallReplyStringPtr(copy, &p.length);
    } else if (key) {
        p.bytes = RedisModule_StringDMA(key, &p.length, REDISMODULE_READ);
    }
    if (p.bytes == NULL) right = reply_error(c, REDISMODULE_ERRORMSG_WRONGTYPE);
    right = right && bits_fit(c, &p) && deserialize(c, &p, "bitmap", r);
    if (copy) RedisModule_FreeCallReply(copy);
    RedisModule_CloseKey(key);
    return right;
}

/* FROMBITMAP key stringkey [OFFSET n] [MERGE] [LSB] -- stores the members of a native bitmap, replacing any
 * value, and replies how many there are. Bit i becomes member n + i. With MERGE, adds the members to the key.
 * With LSB, the first bit of a byte is its lowest. The two keys may be the same. */
int frombitmap_command(call *c, uint64_t first, int merges, int lowest_first) {
    const encoded bits = {.format = lowest_first ? LOW_BITS : BITS, .first = first};
    result r;

    if (!read_native(c, 2, bits, &r)) return REDISMODULE_OK;
    return merges ? merge_into(c, 1, &r) : store_and_count(c, 1, ANY_TYPE, r);
}

/* Sets the key to a string of ours, which the server may copy. */
static int set_string(call *c, RedisModuleKey *key, const bitmap *b, uint32_t format, size_t length) {
    if (!has_room(c, length, 2)) return 0;
    RedisModuleString *string = RedisModule_CreateString(c->ctx, NULL, length);
    char *bytes = (char *)RedisModule_StringPtrLen(string, NULL);
    int written = succeeded(c, core_serialize_to(c->worker, b, format, bytes, length));
    if (written) RedisModule_StringSet(key, string);
    RedisModule_FreeString(c->ctx, string);
    return written;
}

/* Sets the key to a string that the core fills in place, so that there is never a second copy of it. This
 * deletes the old value before the core writes, so b is validated first: then the value can be lost only by a
 * bug in the core. */
static int fill_string(call *c, RedisModuleKey *key, const bitmap *b, uint32_t format, size_t length) {
    const char *fault;
    size_t room;
    bitmap *taken = NULL; /* b, if it is the old value */

    if (!has_room(c, length, 1)) return 0;
    if (RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY) {
        if (!succeeded(c, core_validate(c->worker, b, &fault))) return 0;
        if (fault) return reply_error(c, "ERR Roaring: internal error (%s)", fault);
        if (RedisModule_ModuleTypeGetType(key) == c->family->type
            && RedisModule_ModuleTypeGetValue(key) == b) {
            bitmap *placeholder = bitmap_create(0);
            if (placeholder == NULL) return reply_failure(c, OUT_OF_MEMORY);
            RedisModule_ModuleTypeReplaceValue(key, c->family->type, placeholder, (void **)&taken);
            count_values(c->family, 0, bitmap_bytes(placeholder) - bitmap_bytes(b));
        }
        RedisModule_DeleteKey(key);
    }
    /* Cannot fail: the key is open for writing and missing, and the length is in bounds. */
    RedisModule_StringTruncate(key, length);
    char *bytes = RedisModule_StringDMA(key, &room, REDISMODULE_WRITE);
    int written = succeeded(c, core_serialize_to(c->worker, b, format, bytes, length));
    if (!written) RedisModule_DeleteKey(key);
    bitmap_free(taken);
    return written;
}

/* TOBITMAP stringkey key [LSB] -- stores a native bitmap of the members, replacing any value, and replies its
 * length in bytes. With LSB, the first bit of a byte is its lowest. */
int tobitmap_command(call *c) {
    const uint32_t format = c->argc > 3 ? LOW_BITS : BITS;
    const bitmap *b;
    uint64_t length;

    if (c->argc > 4 || (c->argc > 3 && !argument_is(c, 3, "LSB"))) return reply_syntax_error(c);
    if (!open_existing(c, 2, &b) || !string_length(c, b, format, &length)) return REDISMODULE_OK;
    RedisModuleKey *key = open_writable(c, 1);
    if (key == NULL) return REDISMODULE_OK;
    int written =
        (length > 0 && length <= TRUNCATE_MAX ? fill_string : set_string)(c, key, b, format, length);
    RedisModule_CloseKey(key);
    if (!written) return REDISMODULE_OK;
    announce(c, c->argv[1], "set");
    return reply_integer(c, length);
}
