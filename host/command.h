/* command.h -- a command: its row in the table that is generated from commands.ts, and one call of it. */
#ifndef ROAR_COMMAND_H
#define ROAR_COMMAND_H

#include "redismodule.h"
#include "types.h"

typedef struct call {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc;
    const family *family;
    const struct command *row;
} call;

/* Answers a call whose number of arguments fits: parse or reply, open or reply, change and tell, reply. Always returns
 * REDISMODULE_OK. What it calls for that, in args.h, keys.h and reply.h, returns 1, or 0 after it has replied with an
 * error: the handler then just leaves. 0 is REDISMODULE_OK too, so that a handler can return reply_error(...). */
typedef int handler(call *c);

typedef struct command {
    const char *name;                           /* without the family's prefix */
    handler *handler;
    RedisModuleCmdFunc entries[FAMILIES];       /* what the server calls: run_command for this row and the family */
    const char *flags;
    const char *categories;                     /* of ACL rules */
    int first, last, step;                      /* keys, for servers that know no key specs */
    const RedisModuleCommandInfo *info;
} command;

extern const command commands[];
extern const size_t command_count;

int run_command(const command *row, const family *f, RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

#endif
