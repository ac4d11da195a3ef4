/* calls.h -- calls into the compiled core. */
#pragma once

#include "core/building.h"
#include "core/reading.h"
#include "core/sandbox.h"
#include "core/writing.h"
