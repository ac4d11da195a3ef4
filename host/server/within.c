#include "server/within.h"

#include <string.h>

#include "core/values.h"
#include "server/args.h"
#include "server/prepare.h"

int parse_within(call *c, int least, int most, within *n) {
    const int argc = c->argc;
    int at = least;
    n->argc = argc;
    n->at = 0;
    n->ids = n->made = NULL;
    while (at < argc && !argument_is(c, at, "WITHIN")) at++;
    c->argc = at;
    if (at > most || (at < argc && at + 3 >= argc)) return reply_syntax_error(c);
    if (at == argc) return 1;
    c->argc = argc;
    n->at = at + 1;
    begin_query(c, &n->query);
    if (!parse_key_count(c, n->at + 1, "numkeys", &n->query.keys)) return 0;
    if (n->at + 2 + (int)n->query.keys != argc) return reply_syntax_error(c);
    c->argc = at;
    return 1;
}

/* Opens the keys of the expression, and sets *b to the last one. */
static int open_keys(call *c, within *n, const bitmap **b) {
    const family *own = c->family;
    int opened = 1;
    c->takes_integers = 1;
    for (int at = n->at + 2; opened && at < n->argc; at++) {
        c->family = &families[R]; /* unless the key has another one */
        opened = open_either(c, at, b);
        if (opened) operands_add(&n->query.operands, *b);
    }
    c->takes_integers = 0;
    c->family = own;
    return opened;
}

int open_within(call *c, within *n) {
    const bitmap *b;
    size_t length;
    if (n->at == 0) return 1;
    if (!parse_expression(c, n->at, &n->query) || !open_keys(c, n, &b)) return 0;
    query_add_tree(&n->query);
    const char *text = RedisModule_StringPtrLen(c->argv[n->at], &length);
    const int is_key = n->query.keys == 1 && length == 2 && memcmp(text, "#1", 2) == 0;
    if (b == NULL) b = bitmap_empty();
    if (is_key && !has_values(span_of(b))) n->ids = b;
    return 1;
}

int find_within(call *c, within *n) {
    result r;
    if (n->at == 0 || n->ids) return 1;
    if (!resolve_query(c, &n->query) || !succeeded(c, core_query(c->worker, &n->query, 0, 0, &r))) return 0;
    n->ids = n->made = r.b;
    return 1;
}

/* A call that is offloaded takes all arguments with it. */
int open_to_ask(call *c, int at, const bitmap **b, within *n) {
    const int cut = c->argc;
    limit_time(c);
    const int opened = open_read(c, at, b) && open_within(c, n);
    if (*b == NULL) *b = bitmap_empty();
    c->argc = n->argc;
    const int offloaded = opened && offloads_listing(c, 0);
    c->argc = cut;
    return opened && !offloaded && find_within(c, n);
}

void end_within(call *c, within *n) {
    c->argc = n->argc;
    if (n->at) operands_end(&n->query.operands);
    bitmap_free(n->made);
}
