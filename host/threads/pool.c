#include "threads/pool.h"

#include <pthread.h>
#include <signal.h>

#include "server/config.h"
#include "api/redismodule.h"

#define WAITING_MOST 1024

/* The core needs a fixed amount of stack, including some levels of recursion. Some C libraries provide
 * less. */
#define STACK_BYTES (8u << 20)

/* Versions of these functions that all glibcs have. glibc 2.34 moved the functions and gave them a new
 * version, which older ones lack. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZES_THREADS /* which replaces the newest versions */
#endif
#endif
#if defined(__GLIBC__) && !defined(SANITIZES_THREADS)
#if defined(__x86_64__)
#define OLD_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLD_VERSION "GLIBC_2.17"
#endif
__asm__(".symver pthread_create,pthread_create@" OLD_VERSION);
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@" OLD_VERSION);
__asm__(".symver pthread_sigmask,pthread_sigmask@" OLD_VERSION);
#endif

/* --- Threads and their queue --------------------------------------------------------------------------- */

/* All but the atomic fields are used with the lock. INFO, which a crashed process writes, too, takes none. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for threads without work */
    pthread_cond_t ended; /* for threads that share their work */
    job *first, *last;
    shared *shared; /* work with parts left */
    uint32_t threads, most; /* how many there are; how many may run at once */
    enum held held;
    _Atomic uint32_t running, waiting;
    _Atomic uint32_t helping, helped; /* threads that help now; jobs that some helped with */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .ended = PTHREAD_COND_INITIALIZER};

static int may_begin(void) { return pool.held != HOLD_JOBS && pool.running + pool.helping < pool.most; }

static job *take_job(void) {
    job *j = pool.first;
    pool.first = j->next;
    pool.waiting--;
    pool.running++;
    return j;
}

void job_is_done(void) { pool.running--; }

/* --- Parts of a job ------------------------------------------------------------------------------- */

uint32_t idle_threads(void) {
    pthread_mutex_lock(&pool.lock);
    uint32_t busy = pool.running + pool.helping + pool.waiting;
    uint32_t idle = busy < pool.most ? pool.most - busy : 0;
    pthread_mutex_unlock(&pool.lock);
    return idle;
}

/* Called with the lock, like all functions whose names end with _locked. */
static void unlist_locked(const shared *s) {
    for (shared **at = &pool.shared; *at; at = &(*at)->next) {
        if (*at != s) continue;
        *at = s->next;
        return;
    }
}

void begin_sharing(shared *s) {
    pthread_mutex_lock(&pool.lock);
    s->next = pool.shared;
    pool.shared = s;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

int take_part(shared *s, uint32_t *part) {
    pthread_mutex_lock(&pool.lock);
    while (pool.held == HOLD_PARTS) pthread_cond_wait(&pool.ended, &pool.lock);
    int any = s->taken < s->parts;
    if (any) *part = s->taken++;
    if (s->taken == s->parts) unlist_locked(s);
    pthread_mutex_unlock(&pool.lock);
    return any;
}

void stop_sharing(shared *s) {
    pthread_mutex_lock(&pool.lock);
    s->taken = s->parts;
    unlist_locked(s);
    pthread_mutex_unlock(&pool.lock);
}

void end_sharing(shared *s) {
    pthread_mutex_lock(&pool.lock);
    while (s->helpers) pthread_cond_wait(&pool.ended, &pool.lock);
    pool.helped += (uint32_t)s->helped;
    pthread_mutex_unlock(&pool.lock);
}

static void help_locked(worker *w) {
    shared *s = pool.shared;
    s->helped = 1;
    s->helpers++;
    pool.helping++;
    pthread_mutex_unlock(&pool.lock);
    s->help(s, w);
    pthread_mutex_lock(&pool.lock);
    pool.helping--;
    if (--s->helpers == 0) pthread_cond_broadcast(&pool.ended);
}

/* --- Threads ------------------------------------------------------------------------------------------- */

static void run_locked(worker *w) {
    job *j = take_job();
    pthread_mutex_unlock(&pool.lock);
    j->run(j, w);
    pthread_mutex_lock(&pool.lock);
}

static void *work(void *unused) {
    (void)unused;
    use_all_processors();
    worker *w = RedisModule_Alloc(sizeof *w); /* may not fail: calls wait for this thread */
    worker_begin(w, wanted_level());
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        if (may_begin() && pool.first) run_locked(w);
        else if (may_begin() && pool.shared) help_locked(w);
        else {
            pthread_cond_wait(&pool.changed, &pool.lock);
            continue;
        }
        if (pool.first || pool.shared) pthread_cond_signal(&pool.changed);
    }
    return NULL;
}

/* Signals that are sent to the process are left to the server's threads. */
static int start_thread(void) {
    static const int handled[] = {SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGUSR1};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    pthread_t thread;

    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) sigaddset(&blocked, handled[i]);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int failed = pthread_create(&thread, &attributes, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

int has_threads(uint32_t most) {
    pthread_mutex_lock(&pool.lock);
    pool.most = most;
    while (pool.threads < pool.most && start_thread()) pool.threads++;
    int any = pool.threads > 0;
    pthread_mutex_unlock(&pool.lock);
    return any;
}

void enqueue(job *j) {
    j->next = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.first) pool.last->next = j;
    else pool.first = j;
    pool.last = j;
    pool.waiting++;
    pthread_cond_signal(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

void pool_hold(enum held held) {
    pthread_mutex_lock(&pool.lock);
    pool.held = held;
    pthread_cond_broadcast(&pool.changed);
    pthread_cond_broadcast(&pool.ended);
    pthread_mutex_unlock(&pool.lock);
}

int is_queue_full(void) { return pool.waiting >= WAITING_MOST; }

pool_report report_pool(void) {
    return (pool_report){
        .running = pool.running, .waiting = pool.waiting, .helping = pool.helping, .shared = pool.helped};
}
