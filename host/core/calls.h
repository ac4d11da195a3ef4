/* calls.h -- calls into the compiled core. */
#ifndef ROAR_CALLS_H
#define ROAR_CALLS_H

#include "core/building.h"
#include "core/reading.h"
#include "core/sandbox.h"
#include "core/writing.h"

#endif
