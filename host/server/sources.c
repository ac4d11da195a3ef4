#include "server/sources.h"

#include "server/reply.h"

int open_operands(call *c, int at, int end, operands *o) {
    const bitmap *b;

    for (; at < end; at++) {
        if (!open_read(c, at, &b)) return 0;
        operands_add(o, b);
    }
    return 1;
}

int open_existing(call *c, int at, const bitmap **b) {
    if (!open_read(c, at, b)) return 0;
    return *b != NULL || reply_error(c, ERRORMSG_NO_KEY);
}
