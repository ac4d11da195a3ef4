#include "server/families.h"

#include "facts.h"

family families[FAMILIES] = {
    [R] = {.prefix = "R.",
           .type_name = "reroaring",
           .label = "bitmap",
           .bits = "32",
           .last = UINT32_MAX,
           .format = NATIVE,
           .exported = PORTABLE,
           .imported = ANY,
           .import = "R.IMPORT"},
    [R64] = {.prefix = "R64.",
             .type_name = "roaring64",
             .label = "bitmap64",
             .bits = "64",
             .last = UINT64_MAX,
             .format = WIDE,
             .exported = PORTABLE_WIDE,
             .imported = ANY_WIDE,
             .import = "R64.IMPORT",
             .lenient = 1},
};

void count_values(const family *of, uint64_t keys, uint64_t bytes) {
    family *f = &families[of - families];
    atomic_fetch_add_explicit(&f->keys, keys, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->bytes, bytes, memory_order_relaxed);
}
