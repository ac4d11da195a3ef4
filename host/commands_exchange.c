/* commands_exchange.c -- conversion from and to portable streams, native bitmaps, and strings of '0' and
 * '1'. */
#include "args.h"
#include "keys.h"
#include "listing.h"
#include "serialized.h"

/* Longer strings have the encoding raw on every server. */
#define ENCODED_MAX 1024

/* StringTruncate makes no longer strings. */
#define TRUNCATE_MAX (512 * 1024 * 1024)

/* Bytes that a client sent. Errors call them `name`. */
typedef struct payload {
    uint32_t format;
    const char *name, *bytes;
    size_t length;
} payload;

static int deserialize(call *c, const payload *p, result *r) {
    const char *fault;

    if (!succeeded(c, core_deserialize(p->format, p->bytes, p->length, r, &fault))) return 0;
    return fault == NULL || reply_error(c, "ERR invalid %s: %s", p->name, fault);
}

/* SETBITARRAY key string -- stores a bitmap of the offsets of each '1' in the string. */
int setbitarray_command(call *c) {
    payload p = {.format = CHARACTERS, .name = "bit array"};
    result r;

    p.bytes = RedisModule_StringPtrLen(c->argv[2], &p.length);
    return deserialize(c, &p, &r) && store(c, 1, BITMAP, r.b) ? reply_ok(c) : REDISMODULE_OK;
}

/* GETBITARRAY key -- a '0' or '1' for each offset up to the largest member. */
int getbitarray_command(call *c) {
    const bitmap *b;

    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b == NULL) return RedisModule_ReplyWithSimpleString(c->ctx, "");
    return reply_serialized(c, b, CHARACTERS);
}

/* EXPORT key -- the bitmap in the portable Roaring format. */
int export_command(call *c) {
    const bitmap *b;

    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b == NULL) return RedisModule_ReplyWithNull(c->ctx);
    return reply_serialized(c, b, c->family->exported);
}

/* Stores the union of the key and `imported`, and replies its cardinality. Stores imported->b itself, or
 * frees it. */
static int add_members(call *c, open_key *k, const result *imported) {
    counts members = {.after = imported->members};
    status done = OK;

    if (k->stored) {
        done = core_merge(&k->value, imported->b, &members);
        bitmap_free(imported->b);
    } else {
        k->value = imported->b;
    }
    if (!commit(c, k, done, members.before != members.after, "setbit")) return REDISMODULE_OK;
    return reply_count(c, members.after);
}

/* IMPORT key payload [REPLACE] -- adds the members of a portable stream, or replaces all members by them;
 * replies the new cardinality. */
int import_command(call *c) {
    payload p = {.format = c->family->imported, .name = "roaring payload"};
    result imported;
    open_key k;

    if (c->argc > 4 || (c->argc > 3 && !argument_is(c, 3, "REPLACE"))) return reply_syntax_error(c);
    p.bytes = RedisModule_StringPtrLen(c->argv[2], &p.length);
    if (!deserialize(c, &p, &imported)) return REDISMODULE_OK;
    if (c->argc > 3) return store_and_count(c, 1, BITMAP, imported);
    if (open_write(c, 1, &k)) return add_members(c, &k, &imported);
    bitmap_free(imported.b);
    return REDISMODULE_OK;
}

/* Converts the native bitmap in the key at `at`; a missing key counts as an empty one. StringDMA copies
 * nothing, but it would convert a string with the encoding int or embstr to raw for good. So GET reads short
 * strings, unless the server has renamed it. */
static int read_native(call *c, int at, result *r) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    RedisModuleCallReply *copy = NULL;
    payload p = {.format = BITS, .name = "bitmap", .bytes = ""};
    int right = 1;

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
    else if (p.length && p.length - 1 > c->family->last >> 3)
        right = reply_error(c, "ERR Roaring: the string is longer than the last offset allows");
    right = right && deserialize(c, &p, r);
    if (copy) RedisModule_FreeCallReply(copy);
    RedisModule_CloseKey(key);
    return right;
}

/* FROMBITMAP key stringkey -- stores the members of a native bitmap over any value, and replies how many
 * they are. The two keys may be the same. */
int frombitmap_command(call *c) {
    result r;

    return read_native(c, 2, &r) ? store_and_count(c, 1, ANY_TYPE, r) : REDISMODULE_OK;
}

/* Sets the key to a string of ours, which the server may copy. */
static int set_string(call *c, RedisModuleKey *key, const bitmap *b, size_t length) {
    if (!has_room(c, length, 2)) return 0;
    RedisModuleString *string = RedisModule_CreateString(c->ctx, NULL, length);
    char *bytes = (char *)RedisModule_StringPtrLen(string, NULL);
    int written = succeeded(c, core_serialize_to(b, BITS, bytes, length));
    if (written) RedisModule_StringSet(key, string);
    RedisModule_FreeString(c->ctx, string);
    return written;
}

/* Sets the key to a string that the core fills in place, so that there is never a second copy of it. This
 * deletes the old value before the core writes, so b is validated first: then only a bug in the core could
 * still lose the value. */
static int fill_string(call *c, RedisModuleKey *key, const bitmap *b, size_t length) {
    const char *fault;
    size_t room;
    bitmap *taken = NULL;                       /* b, where it is the old value itself */

    if (!has_room(c, length, 1)) return 0;
    if (RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY) {
        if (!succeeded(c, core_validate(b, &fault))) return 0;
        if (fault) return reply_error(c, "ERR Roaring: internal error (%s)", fault);
        if (RedisModule_ModuleTypeGetType(key) == c->family->type
            && RedisModule_ModuleTypeGetValue(key) == b) {
            bitmap *placeholder = bitmap_create(0);
            if (placeholder == NULL) return reply_failure(c, OUT_OF_MEMORY);
            RedisModule_ModuleTypeReplaceValue(key, c->family->type, placeholder, (void **)&taken);
        }
        RedisModule_DeleteKey(key);
    }
    /* Cannot fail: the key is open for writing and missing, and the length is in bounds. */
    RedisModule_StringTruncate(key, length);
    char *bytes = RedisModule_StringDMA(key, &room, REDISMODULE_WRITE);
    int written = succeeded(c, core_serialize_to(b, BITS, bytes, length));
    if (!written) RedisModule_DeleteKey(key);
    bitmap_free(taken);
    return written;
}

/* TOBITMAP stringkey key -- stores a native bitmap of the members over any value, and replies its length in
 * bytes. */
int tobitmap_command(call *c) {
    const bitmap *b;
    uint64_t length;

    if (!open_existing(c, 2, &b) || !string_length(c, b, BITS, &length)) return REDISMODULE_OK;
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    int written = (length > 0 && length <= TRUNCATE_MAX ? fill_string : set_string)(c, key, b, length);
    RedisModule_CloseKey(key);
    if (!written) return REDISMODULE_OK;
    announce(c, c->argv[1], "set");
    return reply_integer(c, length);
}
