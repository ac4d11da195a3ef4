/* redismodule.h -- the part of the Redis module API that this module uses.
 *
 * The server provides API functions by name, through a getter at the start of every context. REDIS_API below
 * lists each function once, and says whether the module needs it. The oldest supported server is 6.2; later
 * functions are NULL there. redismodule.c defines the pointers and sets them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define REDISMODULE_OK 0
#define REDISMODULE_ERR 1
#define REDISMODULE_APIVER_1 1

#define REDISMODULE_READ (1 << 0)
#define REDISMODULE_WRITE (1 << 1)

#define REDISMODULE_KEYTYPE_EMPTY 0
#define REDISMODULE_KEYTYPE_STRING 1
#define REDISMODULE_REPLY_STRING 0

#define REDISMODULE_CTX_FLAGS_LUA (1 << 0)
#define REDISMODULE_CTX_FLAGS_MULTI (1 << 1)
#define REDISMODULE_CTX_FLAGS_CLUSTER (1 << 5)
#define REDISMODULE_CTX_FLAGS_OOM (1 << 10)
#define REDISMODULE_CTX_FLAGS_REPLICATED (1 << 12)
#define REDISMODULE_CTX_FLAGS_LOADING (1 << 13)
#define REDISMODULE_CTX_FLAGS_DENY_BLOCKING (1 << 21)
#define REDISMODULE_CTX_FLAGS_RESP3 (1 << 22)

#define REDISMODULE_CLIENTINFO_FLAG_TRACKING (1 << 3)

#define REDISMODULE_POSTPONED_LEN (-1)
#define REDISMODULE_NO_EXPIRE (-1)

#define REDISMODULE_OPTIONS_HANDLE_IO_ERRORS (1 << 0)
#define REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED (1 << 1)
#define REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD (1 << 2)       /* 7.0; older servers ignore the bit */

/* Valkey's, since 9.0 and 9.2. Redis does not use these bits so far, but may use them for something else. */
#define VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION (1 << 5)
#define VALKEYMODULE_OPTIONS_HANDLE_FORKLESS (1 << 6)

#define REDISMODULE_NOTIFY_GENERIC (1 << 2)
#define REDISMODULE_NOTIFY_STRING (1 << 3)

#define REDISMODULE_LOGLEVEL_NOTICE "notice"
#define REDISMODULE_LOGLEVEL_WARNING "warning"

#define REDISMODULE_ERRORMSG_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleCallReply RedisModuleCallReply;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleBlockedClient RedisModuleBlockedClient;

/* The caller sets the version, which says which fields the server may fill in. */
typedef struct RedisModuleClientInfo {
    uint64_t version, flags, id;
    char address[46];
    uint16_t port, database;
} RedisModuleClientInfo;

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void (*RedisModuleInfoFunc)(RedisModuleInfoCtx *ctx, int for_crash_report);
typedef void (*RedisModuleDisconnectFunc)(RedisModuleCtx *ctx, RedisModuleBlockedClient *client);

/* The callbacks of a data type. Version 3 is that of 6.2, and has all that this module needs. */
#define REDISMODULE_TYPE_METHOD_VERSION 3
typedef struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *rdb, int encver);
    void (*rdb_save)(RedisModuleIO *rdb, void *value);
    void (*aof_rewrite)(RedisModuleIO *aof, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *rdb, int encver, int when);
    void (*aux_save)(RedisModuleIO *rdb, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
} RedisModuleTypeMethods;

/* --- Command metadata for COMMAND DOCS, COMMAND GETKEYS and ACL rules, since 7.0 ----------------------- */

typedef enum {
    REDISMODULE_ARG_TYPE_STRING,
    REDISMODULE_ARG_TYPE_INTEGER,
    REDISMODULE_ARG_TYPE_DOUBLE,
    REDISMODULE_ARG_TYPE_KEY,
    REDISMODULE_ARG_TYPE_PATTERN,
    REDISMODULE_ARG_TYPE_UNIX_TIME,
    REDISMODULE_ARG_TYPE_PURE_TOKEN,
    REDISMODULE_ARG_TYPE_ONEOF,
    REDISMODULE_ARG_TYPE_BLOCK
} RedisModuleCommandArgType;

#define REDISMODULE_CMD_ARG_OPTIONAL (1 << 0)
#define REDISMODULE_CMD_ARG_MULTIPLE (1 << 1)

typedef struct RedisModuleCommandArg {
    const char *name;
    RedisModuleCommandArgType type;
    int key_spec_index;
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
} RedisModuleCommandArg;

typedef struct {
    const char *since, *changes;
} RedisModuleCommandHistoryEntry;

#define REDISMODULE_CMD_KEY_RO (1ULL << 0)
#define REDISMODULE_CMD_KEY_RW (1ULL << 1)
#define REDISMODULE_CMD_KEY_OW (1ULL << 2)
#define REDISMODULE_CMD_KEY_ACCESS (1ULL << 4)
#define REDISMODULE_CMD_KEY_UPDATE (1ULL << 5)
#define REDISMODULE_CMD_KEY_INSERT (1ULL << 6)
#define REDISMODULE_CMD_KEY_INCOMPLETE (1ULL << 9) /* the server then asks the module for the keys */
#define REDISMODULE_CMD_KEY_VARIABLE_FLAGS (1ULL << 10)

typedef enum {
    REDISMODULE_KSPEC_BS_INVALID,
    REDISMODULE_KSPEC_BS_UNKNOWN,
    REDISMODULE_KSPEC_BS_INDEX,
    REDISMODULE_KSPEC_BS_KEYWORD
} RedisModuleKeySpecBeginSearchType;

typedef enum {
    REDISMODULE_KSPEC_FK_OMITTED,
    REDISMODULE_KSPEC_FK_UNKNOWN,
    REDISMODULE_KSPEC_FK_RANGE,
    REDISMODULE_KSPEC_FK_KEYNUM
} RedisModuleKeySpecFindKeysType;

typedef struct {
    const char *notes;
    uint64_t flags;
    RedisModuleKeySpecBeginSearchType begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    RedisModuleKeySpecFindKeysType find_keys_type;
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

/* The server steps through our arrays by these sizes, not by those of its own structs. */
typedef struct {
    int version;
    size_t sizeof_historyentry, sizeof_keyspec, sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct {
    const RedisModuleCommandInfoVersion *version;
    const char *summary, *complexity, *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

/* --- Configuration parameters, since 7.0 --------------------------------------------------------------- */

#define REDISMODULE_CONFIG_DEFAULT 0
#define REDISMODULE_CONFIG_IMMUTABLE (1 << 0)
#define REDISMODULE_CONFIG_MEMORY (1 << 7)

typedef long long (*RedisModuleConfigGetNumericFunc)(const char *name, void *data);
typedef int (*RedisModuleConfigSetNumericFunc)(const char *name, long long value, void *data,
                                               RedisModuleString **error);
typedef int (*RedisModuleConfigGetBoolFunc)(const char *name, void *data);
typedef int (*RedisModuleConfigSetBoolFunc)(const char *name, int value, void *data,
                                            RedisModuleString **error);
typedef int (*RedisModuleConfigApplyFunc)(RedisModuleCtx *ctx, void *data, RedisModuleString **error);

/* --- The functions: result, name, parameters. NEED: required to load. WANT: may be NULL ---------------- */

/* clang-format off */
#define REDIS_API(NEED, WANT)                                                                               \
    NEED(void *, Alloc, (size_t bytes))                                                                     \
    NEED(void *, Realloc, (void *block, size_t bytes))                                                      \
    NEED(void, Free, (void *block))                                                                         \
    NEED(size_t, MallocSize, (void *block))                                                                 \
    WANT(void *, TryAlloc, (size_t bytes))  /* 7.0 */                                                       \
    WANT(void *, TryRealloc, (void *block, size_t bytes))  /* 7.4 */                                        \
    WANT(size_t, MallocUsableSize, (void *block))  /* 7.0 */                                                \
    NEED(void, GetRandomBytes, (unsigned char *bytes, size_t count))                                        \
    NEED(void, SetModuleAttribs, (RedisModuleCtx *ctx, const char *name, int version, int api))             \
    WANT(int, IsModuleNameBusy, (const char *name))                                                         \
    NEED(void, SetModuleOptions, (RedisModuleCtx *ctx, int options))                                        \
    NEED(int, CreateCommand, (RedisModuleCtx *ctx, const char *name, RedisModuleCmdFunc function,           \
                              const char *flags, int first, int last, int step))                            \
    WANT(RedisModuleCommand *, GetCommand, (RedisModuleCtx *ctx, const char *name))  /* 7.0 */              \
    WANT(int, SetCommandInfo, (RedisModuleCommand *command,                                                 \
                               const RedisModuleCommandInfo *info))  /* 7.0 */                              \
    WANT(int, SetCommandACLCategories, (RedisModuleCommand *command, const char *categories))  /* 7.2 */    \
    WANT(int, AddACLCategory, (RedisModuleCtx *ctx, const char *name))  /* 7.4 */                           \
    NEED(int, IsKeysPositionRequest, (RedisModuleCtx *ctx))                                                 \
    NEED(void, KeyAtPos, (RedisModuleCtx *ctx, int at))                                                     \
    WANT(void, KeyAtPosWithFlags, (RedisModuleCtx *ctx, int at, int flags))  /* 7.0 */                      \
    WANT(int, RegisterNumericConfig, (RedisModuleCtx *ctx, const char *name, long long standard,            \
                                      unsigned int flags, long long least, long long most,                  \
                                      RedisModuleConfigGetNumericFunc get,                                  \
                                      RedisModuleConfigSetNumericFunc set,                                  \
                                      RedisModuleConfigApplyFunc apply, void *data))  /* 7.0 */             \
    WANT(int, RegisterBoolConfig, (RedisModuleCtx *ctx, const char *name, int standard,                     \
                                   unsigned int flags, RedisModuleConfigGetBoolFunc get,                    \
                                   RedisModuleConfigSetBoolFunc set, RedisModuleConfigApplyFunc apply,      \
                                   void *data))  /* 7.0 */                                                  \
    WANT(int, RegisterEnumConfig, (RedisModuleCtx *ctx, const char *name, int standard,                     \
                                   unsigned int flags, const char **names, const int *values, int count,    \
                                   RedisModuleConfigGetBoolFunc get, RedisModuleConfigSetBoolFunc set,      \
                                   RedisModuleConfigApplyFunc apply, void *data))  /* 7.0 */                \
    WANT(int, LoadConfigs, (RedisModuleCtx *ctx))  /* 7.0 */                                                \
    NEED(RedisModuleType *, CreateDataType, (RedisModuleCtx *ctx, const char *name, int encver,             \
                                             RedisModuleTypeMethods *methods))                              \
    NEED(RedisModuleKey *, OpenKey, (RedisModuleCtx *ctx, RedisModuleString *name, int mode))               \
    NEED(void, CloseKey, (RedisModuleKey *key))                                                             \
    NEED(int, KeyType, (RedisModuleKey *key))                                                               \
    NEED(size_t, ValueLength, (RedisModuleKey *key))                                                        \
    NEED(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *key))                                       \
    NEED(void *, ModuleTypeGetValue, (RedisModuleKey *key))                                                 \
    NEED(int, ModuleTypeSetValue, (RedisModuleKey *key, RedisModuleType *type, void *value))                \
    NEED(int, ModuleTypeReplaceValue, (RedisModuleKey *key, RedisModuleType *type, void *value,             \
                                       void **old))                                                         \
    NEED(int, SetExpire, (RedisModuleKey *key, long long milliseconds))                                     \
    NEED(char *, StringDMA, (RedisModuleKey *key, size_t *length, int mode))                                \
    NEED(int, StringSet, (RedisModuleKey *key, RedisModuleString *string))                                  \
    NEED(int, StringTruncate, (RedisModuleKey *key, size_t length))                                         \
    NEED(int, DeleteKey, (RedisModuleKey *key))                                                             \
    NEED(int, GetContextFlags, (RedisModuleCtx *ctx))                                                       \
    NEED(int, SignalModifiedKey, (RedisModuleCtx *ctx, RedisModuleString *name))                            \
    NEED(int, NotifyKeyspaceEvent, (RedisModuleCtx *ctx, int type, const char *event,                       \
                                    RedisModuleString *key))                                                \
    NEED(int, Replicate, (RedisModuleCtx *ctx, const char *command, const char *format, ...))               \
    NEED(int, ReplicateVerbatim, (RedisModuleCtx *ctx))                                                     \
    NEED(const char *, StringPtrLen, (const RedisModuleString *string, size_t *length))                     \
    NEED(int, StringToLongLong, (const RedisModuleString *string, long long *value))                        \
    NEED(RedisModuleString *, CreateString, (RedisModuleCtx *ctx, const char *bytes, size_t length))        \
    NEED(RedisModuleString *, CreateStringFromLongLong, (RedisModuleCtx *ctx, long long number))            \
    NEED(void, FreeString, (RedisModuleCtx *ctx, RedisModuleString *string))                                \
    NEED(RedisModuleCallReply *, Call, (RedisModuleCtx *ctx, const char *command, const char *format,       \
                                        ...))                                                               \
    NEED(int, CallReplyType, (RedisModuleCallReply *reply))                                                 \
    NEED(RedisModuleCallReply *, CallReplyArrayElement, (RedisModuleCallReply *reply, size_t index))        \
    NEED(const char *, CallReplyStringPtr, (RedisModuleCallReply *reply, size_t *length))                   \
    NEED(void, FreeCallReply, (RedisModuleCallReply *reply))                                                \
    NEED(int, WrongArity, (RedisModuleCtx *ctx))                                                            \
    NEED(int, ReplyWithError, (RedisModuleCtx *ctx, const char *text))                                      \
    NEED(int, ReplyWithSimpleString, (RedisModuleCtx *ctx, const char *text))                               \
    NEED(int, ReplyWithLongLong, (RedisModuleCtx *ctx, long long value))                                    \
    NEED(int, ReplyWithStringBuffer, (RedisModuleCtx *ctx, const char *bytes, size_t length))               \
    NEED(int, ReplyWithVerbatimString, (RedisModuleCtx *ctx, const char *bytes, size_t length))             \
    WANT(int, ReplyWithMap, (RedisModuleCtx *ctx, long pairs))  /* 7.0 */                                    \
    NEED(int, ReplyWithNull, (RedisModuleCtx *ctx))                                                         \
    NEED(int, ReplyWithArray, (RedisModuleCtx *ctx, long length))                                           \
    NEED(void, ReplySetArrayLength, (RedisModuleCtx *ctx, long length))                                     \
    NEED(char *, LoadStringBuffer, (RedisModuleIO *io, size_t *length))                                     \
    NEED(void, SaveStringBuffer, (RedisModuleIO *io, const char *bytes, size_t length))                     \
    NEED(const RedisModuleString *, GetKeyNameFromIO, (RedisModuleIO *io))                                  \
    NEED(void, EmitAOF, (RedisModuleIO *io, const char *command, const char *format, ...))                  \
    NEED(void, DigestAddStringBuffer, (RedisModuleDigest *digest, const char *bytes, size_t length))        \
    NEED(void, DigestEndSequence, (RedisModuleDigest *digest))                                              \
    NEED(int, RegisterInfoFunc, (RedisModuleCtx *ctx, RedisModuleInfoFunc function))                        \
    NEED(int, InfoAddSection, (RedisModuleInfoCtx *ctx, const char *name))                                  \
    NEED(int, InfoAddFieldCString, (RedisModuleInfoCtx *ctx, const char *field, const char *value))         \
    NEED(int, InfoAddFieldULongLong, (RedisModuleInfoCtx *ctx, const char *field,                           \
                                      unsigned long long value))                                            \
    NEED(void *, DefragAlloc, (RedisModuleDefragCtx *ctx, void *block))                                     \
    WANT(RedisModuleString *, HoldString, (RedisModuleCtx *ctx, RedisModuleString *string))                 \
    WANT(RedisModuleBlockedClient *, BlockClient, (RedisModuleCtx *ctx, RedisModuleCmdFunc reply,           \
                                                   RedisModuleCmdFunc timed_out,                            \
                                                   void (*release)(RedisModuleCtx *ctx, void *data),        \
                                                   long long milliseconds))                                 \
    WANT(void *, GetBlockedClientPrivateData, (RedisModuleCtx *ctx))                                        \
    WANT(uint64_t, GetClientId, (RedisModuleCtx *ctx))                                                      \
    WANT(int, GetClientInfoById, (RedisModuleClientInfo *info, uint64_t id))                                \
    WANT(int, AvoidReplicaTraffic, (void))                                                                  \
    WANT(uint64_t, CreateTimer, (RedisModuleCtx *ctx, long long milliseconds,                               \
                                 void (*call)(RedisModuleCtx *ctx, void *data), void *data))                \
    WANT(int, UnblockClient, (RedisModuleBlockedClient *client, void *data))                                \
    WANT(void, SetDisconnectCallback, (RedisModuleBlockedClient *client,                                    \
                                       RedisModuleDisconnectFunc disconnected))                             \
    WANT(int, BlockedClientMeasureTimeStart, (RedisModuleBlockedClient *client))                            \
    WANT(int, BlockedClientMeasureTimeEnd, (RedisModuleBlockedClient *client))                              \
    WANT(RedisModuleCtx *, GetThreadSafeContext, (RedisModuleBlockedClient *client))                        \
    WANT(void, FreeThreadSafeContext, (RedisModuleCtx *ctx))                                                \
    WANT(void, ThreadSafeContextLock, (RedisModuleCtx *ctx))                                                \
    WANT(void, ThreadSafeContextUnlock, (RedisModuleCtx *ctx))                                              \
    NEED(void, Log, (RedisModuleCtx *ctx, const char *level, const char *format, ...))                      \
    NEED(void, LogIOError, (RedisModuleIO *io, const char *level, const char *format, ...))
/* clang-format on */

#define DECLARE(result, name, parameters) extern result(*RedisModule_##name) parameters;
REDIS_API(DECLARE, DECLARE)
#undef DECLARE

typedef int get_api(const char *name, void *pointer);
/* The function that returns the server's functions by their names. */
get_api *api_getter(RedisModuleCtx *ctx);
/* Sets the pointers above. Returns the name of a required function that the server lacks, else NULL. */
const char *fetch_api(RedisModuleCtx *ctx);
