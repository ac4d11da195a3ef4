/* command.h -- a command: its row in the table generated from table/commands.ts, and one call of it. */
#pragma once

#include "api/redismodule.h"
#include "server/families.h"
#include "core/worker.h"

typedef struct call {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc;
    const family *family;
    const struct command *row;
    worker *worker;                 /* that it runs on */
    const struct environment *env;  /* what differs between the main thread and others */
    struct snapshot *snapshot;      /* what a call that may be offloaded has opened; NULL for others */
    int takes_integers;             /* open_read and open_either also open keys of integers */
    status ended;                   /* NOT_BRIEF: it has not been replied to, and is to be offloaded */
} call;

/* Handles a call whose arity has been checked: parses arguments, opens keys, does the work, replies. Always
 * returns REDISMODULE_OK. The functions for this in args.h, keys.h and reply.h return 1, or 0 after they
 * have replied with an error; the handler then returns at once. REDISMODULE_OK is 0, too, so a handler can
 * `return reply_error(...)`. */
typedef int handler(call *c);

typedef struct command {
    const char *name;                           /* without the family's prefix */
    handler *handler;
    RedisModuleCmdFunc entries[TYPES]; /* for the server: run_command for this row and family, or NULL */
    const char *flags;
    const char *categories; /* for ACL rules */
    int first, last, step; /* keys, for servers without key specs */
    int may_offload; /* a long call may go to a thread */
    handler *keys; /* reports the keys of a call, for which the server asks the module; or NULL */
    const RedisModuleCommandInfo *info;
} command;
