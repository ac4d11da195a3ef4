/* load <module.so>: loads the module as a server does, with all its symbols, and runs its entry point, for which there is no API. */

#include <dlfcn.h>
#include <stdio.h>

static int no_function(const char *name, void *target) {
    (void)name, (void)target;
    return 1;
}

int main(int count, char **words) {
    void *module = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!module) return fprintf(stderr, "%s\n", count == 2 ? dlerror() : "load <module.so>"), 2;

    int (*on_load)(void *, void **, int) = (int (*)(void *, void **, int))dlsym(module, "RedisModule_OnLoad");
    void *context[] = {(void *)no_function};
    return on_load(context, NULL, 0) == 1 ? 0 : 1; /* REDISMODULE_ERR */
}
