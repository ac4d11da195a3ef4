#include "keys.h"

#include "reply.h"

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
