#include "threads/costs.h"

#include <time.h>

#include "core/bitmap.h"

/* A call that reads a lot stays on the main thread for this long, in microseconds. Most calls over large
 * bitmaps finish in time. Offloading may double that time: it wakes a thread, on another processor whose
 * caches are cold. */
#define BRIEF 1500

/* Each argument adds a microsecond, which offloading takes for a key: to retain it, copy a small bitmap, and
 * read it again. Most calls over thousands of small bitmaps finish in time. */
#define BRIEF_PER_ARGUMENT 1

/* Buckets of the hash of a kind, and the most bytes of the first argument that it covers. */
#define KINDS 1024
#define KIND_BYTES 64

uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Microseconds that threads have saved the main thread, less those that it spent on copying blocks that they
 * had retained. If all sources are written all the time, the copies take longer than the queries would. While
 * the account is below 0, queries get more time on the main thread. At most SAVED_MOST is kept, so old
 * savings do not count. */
#define SAVED_MOST 100000
static int64_t saved = SAVED_MOST;

/* The most time that a query gets in addition. */
#define REPAID_MOST 20000

void account(int64_t microseconds) {
    saved += microseconds;
    if (saved > SAVED_MOST) saved = SAVED_MOST;
}

void account_for_copies(void) {
    static uint64_t counted;
    const uint64_t microseconds = bitmap_copying().microseconds;
    account((int64_t)(counted - microseconds));
    counted = microseconds;
}

int is_overdrawn(void) { return saved < 0; }

/* How many more calls of a kind are to be offloaded at once. Programs repeat calls, and if one is offloaded
 * late, the work of the main thread on it is lost. After AT_ONCE calls, the main thread tries again: a call
 * that it would finish in time may well take longer on a thread. */
static uint8_t at_once[KINDS];
#define AT_ONCE 16

static uint64_t repaid_time(void) {
    if (saved >= 0) return 0;
    return -saved < REPAID_MOST ? (uint64_t)-saved : REPAID_MOST;
}

/* Calls of a kind are likely to take equally long. They have the same command, number of arguments and first
 * argument (an operation, an expression, or a key), and about as many bytes to read. */
uint32_t kind_of(const call *c, uint64_t bytes) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[1], &length);
    uint64_t hash = (uint64_t)(uintptr_t)c->row << 32 | (uint64_t)c->argc << 6;
    for (; bytes; bytes >>= 1) hash++;
    if (length > KIND_BYTES) length = KIND_BYTES;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3; /* FNV-1a */
    return (uint32_t)(hash ^ hash >> 32) % KINDS;
}

static uint64_t unpaid_time(int arguments) { return BRIEF + (uint64_t)arguments * BRIEF_PER_ARGUMENT; }

uint64_t brief_time(int arguments) { return unpaid_time(arguments) + repaid_time(); }

int is_long(uint32_t kind) { return at_once[kind] > 0; }
void note_offloaded(uint32_t kind) { at_once[kind]--; }
void learn_long(uint32_t kind) { at_once[kind] = AT_ONCE; }

/* A call takes up to twice as long on a thread as on the main thread. */
void learn_time(uint32_t kind, int arguments, uint64_t microseconds) {
    const uint64_t brief = unpaid_time(arguments);
    if (microseconds <= brief) at_once[kind] = 0;
    else if (microseconds > 2 * brief) at_once[kind] = AT_ONCE;
}
