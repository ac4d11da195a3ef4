/* packing.h -- OPTIMIZE: a packed copy is made of parts, which may take long, and so may happen on a thread while others write to the
 * bitmap. Then each part takes the place of what it is a copy of, unless that has changed. */
#pragma once

#include "core/building.h"

typedef struct packing packing;

/* Packs b, which must stay as it is until the packing has been put in place. */
status packing_make(worker *w, const bitmap *b, packing **p);
/* Puts the parts in place in *b, the bitmap as it is now, and frees the packing. */
status packing_put(packing *p, bitmap **b);
void packing_free(packing *p);
