/* What docs/clients.md says about C, run by `make test-clients`: hiredis, which knows no clusters, and CRoaring. */

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <roaring/roaring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *what, int holds) { printf(holds ? "ok %s\n" : "failed %s\n", what); }

/* docs: members */
/* Converts an item of a reply: an integer, or a string from 2^63 up. */
static uint64_t member(const redisReply *item) {
    return item->type == REDIS_REPLY_INTEGER ? (uint64_t)item->integer : strtoull(item->str, NULL, 10);
}
/* docs: end */

/* docs: portable */
/* Calls `visit` for each member in an EXPORT payload of R64.* commands: how many upper halves there are, and for each the half and a
 * 32-bit bitmap. Returns the number of members, or -1 if the payload is invalid. Numbers are little-endian, as those of this machine. */
static int64_t members64(const char *payload, size_t length, bool (*visit)(uint64_t member, void *closure),
                         void *closure) {
    const char *end = payload + length;
    uint64_t count, total = 0;
    uint32_t high;

    if (length < sizeof count) return -1;
    memcpy(&count, payload, sizeof count);
    for (payload += sizeof count; count > 0; count--) {
        if ((size_t)(end - payload) < sizeof high) return -1;
        memcpy(&high, payload, sizeof high);
        payload += sizeof high;
        roaring_bitmap_t *low = roaring_bitmap_portable_deserialize_safe(payload, (size_t)(end - payload));
        if (!low) return -1;
        roaring_iterate64(low, visit, (uint64_t)high << 32, closure);
        total += roaring_bitmap_get_cardinality(low);
        payload += roaring_bitmap_portable_deserialize_size(payload, (size_t)(end - payload));
        roaring_bitmap_free(low);
    }
    return (int64_t)total;
}
/* docs: end */

static const uint64_t likes[] = {7, (1ull << 53) + 1, (1ull << 63) - 1, 1ull << 63, UINT64_MAX};
enum { LIKES = sizeof likes / sizeof *likes };

static bool is_next(uint64_t value, void *closure) { return value == likes[(*(size_t *)closure)++]; }

int main(void) {
    int port = atoi(getenv("ROAR_PORT"));

    /* docs: example */
    redisContext *r = redisConnect("127.0.0.1", port);
    if (!r || r->err) return 1;
    freeReplyObject(redisCommand(r, "R.SETBITS %s %d %d", "tag:chess", 7, 9));
    freeReplyObject(redisCommand(r, "R.SETBITS %s %d %d", "tag:go", 8, 9));
    redisReply *both = redisCommand(r, "R.QUERY %s %d %s %s MEMBERS", "#1 & #2", 2, "tag:chess", "tag:go");

    for (size_t i = 0; i < LIKES; i++)
        freeReplyObject(redisCommand(r, "R64.SETBIT likes %llu 1", (unsigned long long)likes[i]));
    redisReply *items = redisCommand(r, "R64.GETINTARRAY likes"); /* member() converts each */
    redisReply *payload = redisCommand(r, "R64.EXPORT likes"); /* bytes: payload->str, payload->len */
    freeReplyObject(redisCommand(r, "R64.IMPORT copy %b", payload->str, (size_t)payload->len));
    /* docs: end */

    check("question", both->elements == 1 && both->element[0]->integer == 9);
    int exact = items->elements == LIKES;
    for (size_t i = 0; i < LIKES && exact; i++) exact = member(items->element[i]) == likes[i];
    check("exact members", exact);

    redisReply *least = redisCommand(r, "R64.MIN none"), *first = redisCommand(r, "R64.SELECT none 0"),
               *list = redisCommand(r, "R64.GETINTARRAY none");
    check("no result", least->integer == -1 && first->type == REDIS_REPLY_NIL
                           && list->type == REDIS_REPLY_ARRAY && list->elements == 0);

    redisReply *refusal = redisCommand(r, "R.SETBIT tag:chess 4294967296 1");
    check("bad argument",
          refusal->type == REDIS_REPLY_ERROR && strncmp(refusal->str, "ERR invalid offset", 18) == 0);
    freeReplyObject(redisCommand(r, "SET text x"));
    redisReply *wrong = redisCommand(r, "R.GETBIT text 1");
    check("wrong type", wrong->type == REDIS_REPLY_ERROR && strncmp(wrong->str, "WRONGTYPE", 9) == 0);

    size_t seen = 0;
    check("export", members64(payload->str, (size_t)payload->len, is_next, &seen) == LIKES && seen == LIKES);
    check("cut payload", members64(payload->str, (size_t)payload->len - 1, is_next, &(size_t){0}) == -1);
    redisReply *copies = redisCommand(r, "R64.BITCOUNT copy"),
               *common = redisCommand(r, "R64.BITOPCARD AND copy likes");
    check("import", copies->integer == LIKES && common->integer == LIKES);

    /* What the library writes is imported: all kinds of containers. */
    roaring_bitmap_t *bitmap = roaring_bitmap_from_range(100, 200000, 1);
    for (uint32_t i = 0; i < 10000; i++) roaring_bitmap_add(bitmap, (1u << 20) + 3 * i);
    roaring_bitmap_add(bitmap, 1u << 30);
    roaring_bitmap_add(bitmap, UINT32_MAX);
    roaring_bitmap_run_optimize(bitmap);
    size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);
    char *written = malloc(size);
    roaring_bitmap_portable_serialize(bitmap, written);
    redisReply *made = redisCommand(r, "R.IMPORT made %b", written, size),
               *back = redisCommand(r, "R.EXPORT made");
    check("roaring: import", made->type == REDIS_REPLY_INTEGER
                                 && (uint64_t)made->integer == roaring_bitmap_get_cardinality(bitmap));
    roaring_bitmap_t *again = roaring_bitmap_portable_deserialize_safe(back->str, (size_t)back->len);
    check("roaring: export", again && roaring_bitmap_equals(again, bitmap));
    return 0;
}
