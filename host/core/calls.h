/* calls.h -- calls into the compiled core. */
#pragma once

#include "core/bitfields.h"
#include "core/building.h"
#include "core/querying.h"
#include "core/reading.h"
#include "core/sandbox.h"
#include "core/writing.h"
