#include "core/cpu.h"

#include <stddef.h>
#include <strings.h>

#if defined(__x86_64__)
/* Builds for development may lack levels. */
#pragma weak core_v2
#pragma weak core_v3
#pragma weak core_v4
#pragma weak threads_core_v2
#pragma weak threads_core_v3
#pragma weak threads_core_v4

static int has_v2(void) { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }
static int has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")
        && __builtin_cpu_supports("bmi2");
}
static int has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq")
        && __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vbmi2");
}
#elif defined(__aarch64__)
static int always(void) { return 1; }
#endif

const struct core *choose_core(const char *wanted, int on_threads) {
    static const struct {
        const struct core *cores[2];
        int (*supported)(void);
    } levels[] = {
#if defined(__x86_64__)
        {{&core_v4, &threads_core_v4}, has_v4},
        {{&core_v3, &threads_core_v3}, has_v3},
        {{&core_v2, &threads_core_v2}, has_v2},
#elif defined(__aarch64__)
        {{&core_neon, &threads_core_neon}, always},
#endif
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (levels[i].cores[0] == NULL) continue;
        if (wanted && strcasecmp(wanted, levels[i].cores[0]->level) != 0) continue;
        /* Checks the CPU, and that the system saves its registers. */
        if (!levels[i].supported()) continue;
        return levels[i].cores[on_threads];
    }
    return NULL;
}
