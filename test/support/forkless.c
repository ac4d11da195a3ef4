/* forkless.so <module.so> [argument]... -- a module that loads another one as a server does that saves without
 * fork. While a thread of such a server saves a key, the main thread goes on, and opens that key for writing
 * for no module. No server for tests can do that yet. So this hands out functions of its own where the module
 * asks the server for those that differ, and has commands for the rest:
 *
 *   FORKLESS.OPTIONS     the options that the module has set
 *   FORKLESS.BEGIN key   begins to save the key on a thread, again and again; a missing key is only in use
 *   FORKLESS.END         ends all of this; for each key, in order, how often it was saved, how many of the
 *                        payloads were unlike the first, and the first
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define OK 0
#define ERROR 1
#define WRITE 2
#define OPTIONS_ALL 0x7f /* of Valkey 9.2 */
#define SAVERS_MOST 16

typedef struct ctx ctx;
typedef struct string string;
typedef struct key key;
typedef struct type type;
typedef int get_api(const char *name, void *target);
typedef int command(ctx *, string **, int);

#define API(X)                                                                           \
    X(key *, OpenKey, (ctx *, string *, int))                                            \
    X(void, CloseKey, (key *))                                                           \
    X(type *, ModuleTypeGetType, (key *))                                                \
    X(void *, ModuleTypeGetValue, (key *))                                               \
    X(string *, SaveDataTypeToString, (ctx *, void *, const type *))                     \
    X(const char *, StringPtrLen, (const string *, size_t *))                            \
    X(void, FreeString, (ctx *, string *))                                               \
    X(void, SetModuleOptions, (ctx *, int))                                              \
    X(int, CreateCommand, (ctx *, const char *, command *, const char *, int, int, int)) \
    X(int, ReplyWithLongLong, (ctx *, long long))                                        \
    X(int, ReplyWithArray, (ctx *, long))                                                \
    X(int, ReplyWithStringBuffer, (ctx *, const char *, size_t))                         \
    X(int, ReplyWithSimpleString, (ctx *, const char *))                                 \
    X(int, ReplyWithError, (ctx *, const char *))

#define DEFINE(result, name, parameters) static result(*name) parameters;
API(DEFINE)

typedef struct saver {
    char *name;
    size_t length;
    const type *of;
    void *value;
    pthread_t thread;
    atomic_int stop;
    string *first;
    long long saves, unlike;
} saver;

static get_api *server;
static saver savers[SAVERS_MOST];
static int saving;
static int options;

static void *save(void *argument) {
    saver *s = argument;
    do {
        size_t length, expected;
        string *payload = SaveDataTypeToString(NULL, s->value, s->of);
        s->saves++;
        if (s->first == NULL) {
            s->first = payload;
            continue;
        }
        const char *bytes = StringPtrLen(payload, &length), *first = StringPtrLen(s->first, &expected);
        s->unlike += length != expected || memcmp(bytes, first, length) != 0;
        FreeString(NULL, payload);
    } while (!atomic_load(&s->stop));
    return NULL;
}

static key *open_key(ctx *c, string *name, int mode) {
    size_t length;
    const char *text = StringPtrLen(name, &length);
    for (saver *s = savers; mode & WRITE && s < savers + saving; s++) {
        if (s->length == length && memcmp(s->name, text, length) == 0) return NULL;
    }
    return OpenKey(c, name, mode);
}

static void set_options(ctx *c, int wanted) {
    options = wanted;
    SetModuleOptions(c, wanted);
}

static int options_all(void) { return OPTIONS_ALL; }

static int get(const char *name, void *target) {
    void *ours = strcmp(name, "RedisModule_OpenKey") == 0              ? (void *)open_key
               : strcmp(name, "RedisModule_SetModuleOptions") == 0     ? (void *)set_options
               : strcmp(name, "ValkeyModule_GetModuleOptionsAll") == 0 ? (void *)options_all
                                                                       : NULL;
    if (ours == NULL) return server(name, target);
    *(void **)target = ours;
    return OK;
}

static int tell_options(ctx *c, string **words, int count) {
    (void)words, (void)count;
    return ReplyWithLongLong(c, options);
}

static int begin(ctx *c, string **words, int count) {
    if (count != 2 || saving == SAVERS_MOST) return ReplyWithError(c, "ERR FORKLESS.BEGIN key");
    saver *s = &savers[saving];
    const char *name = StringPtrLen(words[1], &s->length);
    *s = (saver){.name = malloc(s->length), .length = s->length};
    memcpy(s->name, name, s->length);
    key *k = OpenKey(c, words[1], 1);
    s->of = ModuleTypeGetType(k);
    s->value = s->of ? ModuleTypeGetValue(k) : NULL;
    CloseKey(k);
    if (s->value && pthread_create(&s->thread, NULL, save, s) != 0) return ReplyWithError(c, "ERR no thread");
    saving++;
    return ReplyWithSimpleString(c, "OK");
}

static int end(ctx *c, string **words, int count) {
    (void)words, (void)count;
    ReplyWithArray(c, saving);
    for (saver *s = savers; s < savers + saving; s++) {
        size_t length = 0;
        atomic_store(&s->stop, 1);
        if (s->value) pthread_join(s->thread, NULL);
        ReplyWithArray(c, 3);
        ReplyWithLongLong(c, s->saves);
        ReplyWithLongLong(c, s->unlike);
        const char *first = s->first ? StringPtrLen(s->first, &length) : "";
        ReplyWithStringBuffer(c, first, length);
        if (s->first) FreeString(NULL, s->first);
        free(s->name);
    }
    saving = 0;
    return OK;
}

int RedisModule_OnLoad(ctx *c, string **words, int count) {
    server = *(get_api **)c;
#define FETCH(result, name, parameters) \
    if (server("RedisModule_" #name, &name) != OK) return ERROR;
    API(FETCH)
    void *module = count > 0 ? dlopen(StringPtrLen(words[0], NULL), RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*on_load)(ctx *, string **, int) =
        module ? (int (*)(ctx *, string **, int))dlsym(module, "RedisModule_OnLoad") : NULL;
    if (on_load == NULL) return ERROR;
    *(get_api **)c = get;
    int loaded = on_load(c, words + 1, count - 1);
    *(get_api **)c = server;
    if (loaded != OK) return ERROR;
    return CreateCommand(c, "FORKLESS.OPTIONS", tell_options, "readonly", 0, 0, 0) != OK
        || CreateCommand(c, "FORKLESS.BEGIN", begin, "readonly", 1, 1, 1) != OK
        || CreateCommand(c, "FORKLESS.END", end, "readonly", 0, 0, 0) != OK;
}
