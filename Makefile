# Builds and tests redis-roar. `make help` lists what is needed every day, `make help-all` also what tools/*.mk has.
#
#   assembly/*.ts --asc--> roaring.wasm --wasm2c--> roaring.c --specialise--> core-roaring.c --> core-<level>.o, one per CPU level
#   host/table/commands.ts --generate-commands--> commands.c, handlers.h, docs/commands.md       host/*/*.c --> *.o --> redis-roar.so
#   host/table/commands.ts --generate-client--> client/src/calls.ts                   client/src/*.ts --tsc--> client/dist

#: PORT=6379              run: the port of the server
#: ONLY=pattern           bench: run only the suites that match
#: PEER="name=/file.so"   bench: compare with other modules as well
#: EXAMPLES="likes tags"  examples: run only these; SCALE=0.01 on so much data, where 1 is the size of a large site
#: SITE_BASE=/path/       site: the path under which the site is served, by default /
#: FUZZ_SECONDS=600       fuzz: seconds for each of six targets
#: CC=gcc CFLAGS=-g3      the C compiler, and flags to add for all C code
#: ARCH=aarch64           build: compile for another processor, aarch64 or x86_64, to build/<ARCH>/redis-roar.so

# ARCH is the processor to compile for; CROSS is empty if that is the processor of this machine.
MACHINE := $(shell uname -m)
ARCH    := $(MACHINE)
CROSS   := $(filter-out $(MACHINE),$(ARCH))

# Debian's names for processors.
DEBIAN_x86_64  := amd64
DEBIAN_aarch64 := arm64

# Builds other than the default one also set these: the directory for intermediate files, what asc compiles, the resulting module.
O      := build$(CROSS:%=/%)
ENTRY  := assembly/index.ts
MODULE := $(O)/redis-roar.so

PORT         := 6379
FUZZ_SECONDS := 600
EXAMPLES     := $(patsubst examples/%/main.ts,%,$(wildcard examples/*/main.ts))

BIN := node_modules/.bin
TSX := $(BIN)/tsx

# All processors, unless make was told how many jobs to run at a time.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# What the tests need besides the module that they load.
TESTED := trap replay client cli

# ---------------------------------------------------------------------- C

# `true`: make discards the output of a shell that ends with status 127, as it does if the last of these is missing.
CC := $(notdir $(firstword $(shell for c in clang-19 clang gcc; do command -v $$c; done; true) cc))

# CC, made to compile for ARCH.
TARGET  := $(CROSS:%=%-linux-gnu)
COMPILE := $(if $(TARGET),$(if $(filter clang%,$(CC)),$(CC) --target=$(TARGET),$(TARGET)-$(CC)),$(CC))

# The core is compiled once for each CPU level. The module picks one of the builds when it is loaded.
LEVELS_x86_64  := v2 v3 v4
LEVELS_aarch64 := neon
LEVELS  := $(LEVELS_$(ARCH))
MARCH_v2   := -march=x86-64-v2
MARCH_v3   := -march=x86-64-v3
MARCH_v4   := -march=x86-64-v4 -mavx512vpopcntdq -mavx512bitalg -mavx512vbmi2
MARCH_neon := -march=armv8-a

# Choices by kind of container are compiled as branches, which a processor predicts one by one, and not as jump tables. Searches and
# merges in the core are written without branches; a pass of clang for x86-64 would put the branches back. The variables of generated C
# say little, and describing them to debuggers takes a quarter of the compiler's time: -g1 describes functions and lines.
CORE_CFLAGS := -g1 -fno-jump-tables $(if $(filter clang%-x86_64,$(CC)-$(ARCH)),-mllvm -x86-cmov-converter=false)
# Outline atomics need __getauxval, which not every C library for arm64 has. -ffile-prefix-map keeps the project's directory out of the
# module, so that it has the same bytes wherever it is built.
ARCH_CFLAGS_aarch64 := -mno-outline-atomics
HOST_CFLAGS := -std=gnu11 -O3 -g -fPIC -fvisibility=hidden -fno-plt $(ARCH_CFLAGS_$(ARCH)) \
	-ffile-prefix-map=$(CURDIR)=. \
	-Wall -Wextra -Wshadow -Werror -I$(O) -Ihost $(CFLAGS)

CHECK_MODULE := tools/check-module

# The rooms of host/, the lowest first; host/module.c is above all of them.
ROOMS := api core server threads commands
HOST_SOURCES := $(filter-out host/core/core.c,$(wildcard host/*.c $(ROOMS:%=host/%/*.c)))
HOST_OBJECTS := $(HOST_SOURCES:host/%.c=$(O)/%.o) $(O)/commands.o \
	$(if $(filter %/trap.ts,$(ENTRY)),$(O)/trial.o)
CORE_OBJECTS := $(LEVELS:%=$(O)/core/core-%.o)

# The core is built a second time for threads other than the main one: there, its functions pass its state on (host/core/wasm-rt.h).
THREADS_CORES := $(LEVELS:%=$(O)/core/threads-core-%.o)

# ---------------------------------------------------------------------- targets for users

.PHONY: help help-all build quiet-build client cli run test check format examples site demo bench fuzz asan clean setup module documents trap replay always
.DELETE_ON_ERROR:

# What is not needed every day.
MORE := tools/tests.mk tools/benchmarks.mk tools/release.mk

# Prints the targets and variables of a file.
LIST = sed -n 's/^\([a-z0-9-]*\): *.*\#\# \(.*\)/  make \1\t\2/p' $(1) | expand -t 24; sed -n 's/^\#: /    /p' $(1)

help:                ## Show what is needed every day
	@$(call LIST,Makefile)

help-all:            ## Show the other targets, too: long tests, more benchmarks, releases
	@$(foreach file,Makefile $(MORE),sed -n '1s/^\# /\n/p' $(file); $(call LIST,$(file));)

build: setup         ## Build the module, build/redis-roar.so; rebuilds only what has changed
	@$(MAKE) --no-print-directory $(JOBS) module documents

client: setup        ## Build the JavaScript client, client/dist
	@$(MAKE) --no-print-directory client/src/calls.ts
	$(BIN)/tsc -p client/tsconfig.json
	$(TSX) tools/pack.ts --types

cli: setup           ## Build the command-line tool, cli/dist
	@$(MAKE) --no-print-directory cli/dist/core/core.wasm cli/dist/core/imports.wasm cli/dist/core/faults.json
	$(BIN)/tsc -p cli/tsconfig.json
	@chmod +x cli/dist/main.js

run: build           ## Build the module and start redis-server with it
	@tools/run $(PORT)

test:                ## Build, then run all checks and tests; the last line counts them
	@tools/setup checks
	@$(MAKE) --no-print-directory $(JOBS) module docs/commands.md $(TESTED)
	@$(TSX) tools/test.ts

check:               ## Check types, style, layout, shell scripts, unused exports and links, without building
	@tools/setup checks
	@$(TSX) tools/check.ts

format:              ## Apply the formatters to TypeScript and C
	@tools/setup checks
	@$(TSX) tools/check.ts --format

# Prints one line instead of what the compilers print, which goes to a file. If the build fails, its end is shown.
quiet-build:
	@[ -z "$$(find assembly host Makefile -type f -newer $(MODULE) 2>&1 | head -n 1)" ] || \
		echo 'Building the module. The first time takes some minutes; $(O)/build.log has the details.'
	@mkdir -p $(O)
	@$(MAKE) --no-print-directory build > $(O)/build.log 2>&1 || { tail -n 40 $(O)/build.log; exit 1; }

examples: quiet-build ## Run the systems in examples/, and compare every answer with plain Sets or SQL
	@$(foreach name,$(EXAMPLES),$(TSX) examples/$(name)/main.ts &&) true

site: setup cli      ## Build the site from docs/ and examples/, build/site
	@[ -e site/node_modules/.package-lock.json ] || npm ci --prefix site --no-audit --no-fund
	@$(TSX) site/prepare.ts
	@cd site && node_modules/.bin/vitepress build .

demo: quiet-build    ## Load 200 real sets, combine them, and compare memory and time with native bitmaps
	@$(TSX) tools/demo.ts

bench: build         ## Compare the speed and memory of the commands with native bitmaps
	@$(TSX) bench/main.ts $(PEER:%=--peer %) $(if $(FULL),--full) $(DATA:%=--data %) $(if $(ONLY),--only '$(ONLY)') $(if $(CALLS),--calls '$(CALLS)') $(if $(CELLS),--cells '$(CELLS)') $(MEMBERS:%=--members %) $(CPU:%=--cpu %) $(OUT:%=--out %)

fuzz: setup          ## Fuzz the core with payloads, call sequences, expressions, damaged arenas, integers and names, on all processors
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory $(JOBS) $(FUZZ_TARGETS:%=build/fuzz/fuzz-%) O=build/fuzz CC=clang-19 \
		CFLAGS='-fsanitize=fuzzer-no-link,$(SANITIZERS) -fno-sanitize-coverage=trace-cmp'
	@tools/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

asan: setup          ## Run the integration tests on a module built with AddressSanitizer and UBSan
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory $(TESTED)
	@$(MAKE) --no-print-directory module O=build/asan ENTRY=assembly/trap.ts MODULE=build/asan/redis-roar-trap.so CC=clang-19 CHECK_MODULE=: \
		CFLAGS='-fsanitize=$(SANITIZERS) -shared-libasan'
	@tools/asan

clean:               ## Delete build/ and dist/
	rm -rf build dist client/dist cli/dist

setup:
	@tools/setup
	$(if $(CROSS),@tools/setup $(DEBIAN_$(CROSS)))

# ---------------------------------------------------------------------- how things are built

module: $(MODULE)
	@:

documents: docs/commands.md docs/integers.md docs/names.md client/src/calls.ts
	@:

# Its core has one more export, which accesses memory out of bounds.
trap:                ## Build build/redis-roar-trap.so, the module that tests of the sandbox load
	@$(MAKE) --no-print-directory module $(O)/trap/replay-sequence O=$(O)/trap ENTRY=assembly/trap.ts MODULE=$(O)/redis-roar-trap.so

# wasm2c declares functions without parameters as f(). The sanitizer for function types rejects calls of them through f(void).
SANITIZERS := address,undefined -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer

CORE_SOURCES := $(shell find assembly -name '*.ts' -not -path '*/__tests__/*')

GENERATED_HEADERS := $(O)/core.h $(O)/facts.h $(O)/shuffles.h
HOST_HEADERS := $(GENERATED_HEADERS) $(O)/family-rows.h $(O)/settings.h $(O)/texts.h $(O)/handlers.h

# This file changes when the compiler or its flags change. All objects depend on it.
$(O)/compiler: always
	@mkdir -p $(O)
	@echo '$(COMPILE) $(HOST_CFLAGS)' | cmp -s - $@ || echo '$(COMPILE) $(HOST_CFLAGS)' > $@

$(O)/roaring.wasm: $(ENTRY) $(CORE_SOURCES) asconfig.json tools/check-wasm.ts tools/wasm.ts package-lock.json
	@mkdir -p $(O)
	$(BIN)/asc $(ENTRY) --outFile $@ --textFile $(@:wasm=wat) $(ASC_FLAGS)
	$(TSX) tools/check-wasm.ts $@

# The core for JavaScript: with a memory that it shares with its imports.
cli/dist/core/core.wasm: $(ENTRY) $(CORE_SOURCES) asconfig.json package-lock.json
	@mkdir -p $(@D)
	$(BIN)/asc $(ENTRY) --outFile $@ --importMemory --shrinkLevel 1

cli/dist/core/imports.wasm: cli/wasm/imports.ts package-lock.json
	@mkdir -p $(@D)
	$(BIN)/asc $< --outFile $@ --config none --runtime stub --noAssert --importMemory --initialMemory 0 --memoryBase 0 \
		--optimizeLevel 3 --enable simd --disableWarning 112 --use abort=

cli/dist/core/faults.json: $(CORE_SOURCES) tools/generate-facts.ts
	@mkdir -p $(@D)
	$(TSX) tools/generate-facts.ts $@

$(O)/roaring.c: $(O)/roaring.wasm
	$(BIN)/wasm2c -n roaring $< -o $@

$(O)/core-roaring.c: $(O)/roaring.c tools/specialise.ts
	$(TSX) tools/specialise.ts $(O)/roaring.wasm $< $@

$(O)/core.h: $(O)/roaring.wasm tools/generate-core.ts
	$(TSX) tools/generate-core.ts $< $@

$(O)/facts.h: $(CORE_SOURCES) package.json tools/generate-facts.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-facts.ts $@

$(O)/shuffles.h: tools/generate-shuffles.ts
	$(TSX) $< $@

$(O)/settings.h: host/table/settings.ts tools/generate-settings.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-settings.ts $@

$(O)/family-rows.h: host/table/families.ts tools/generate-families.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-families.ts $@

$(O)/texts.h: host/table/texts.ts tools/generate-texts.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-texts.ts $@

COMMAND_TABLE := $(filter-out %/settings.ts %/texts.ts,$(wildcard host/table/*.ts))

$(O)/commands.c $(O)/handlers.h: $(COMMAND_TABLE) tools/generate-commands.ts tools/handlers.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-commands.ts $@

docs/commands.md docs/integers.md docs/names.md: $(COMMAND_TABLE) tools/generate-commands.ts tools/handlers.ts
	@mkdir -p docs
	$(TSX) tools/generate-commands.ts --docs $@

client/src/calls.ts: $(COMMAND_TABLE) tools/generate-client.ts
	$(TSX) tools/generate-client.ts client

$(CORE_OBJECTS): $(O)/core/core-%.o: host/core/core.c $(O)/core-roaring.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(HOST_CFLAGS) $(CORE_CFLAGS) $(MARCH_$*) -DLEVEL=$* -MMD -MP -c $< -o $@

$(O)/%.o: host/%.c $(HOST_HEADERS) $(O)/compiler Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(O)/trial.o: test/support/trial.c $(HOST_HEADERS) $(O)/compiler Makefile
	$(COMPILE) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(O)/commands.o: $(O)/commands.c $(HOST_HEADERS) $(O)/compiler Makefile
	$(COMPILE) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(THREADS_CORES): $(O)/core/threads-core-%.o: host/core/core.c $(O)/core-roaring.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(HOST_CFLAGS) $(CORE_CFLAGS) $(MARCH_$*) -DON_THREADS -DLEVEL=$* -MMD -MP -c $< -o $@

# The core first, which takes longest: so two processors are busy to the end.
$(MODULE): $(CORE_OBJECTS) $(THREADS_CORES) $(HOST_OBJECTS) tools/check-module
	$(if $(filter clang%,$(CC)),,@echo 'Notice: built with $(CC). With clang-19 the bitset kernels are up to three times faster.')
	$(COMPILE) -shared $(CFLAGS) -Wl,-z,defs -Wl,--build-id -o $@ $(HOST_OBJECTS) $(CORE_OBJECTS) $(THREADS_CORES) -lm -lpthread
	$(CHECK_MODULE) $@ $(GLIBC)

# Fuzz targets: fuzz-* with libFuzzer, replay-* without it, which run the inputs in test/corpus once.
FUZZ_TARGETS := payload sequence query damage values names
SANDBOX := bitfields bitmap building census change cpu names numbers operands packing querying reading row sandbox segments values worker workspace writing
FUZZED := fuzz/check.c fuzz/server.c fuzz/transitions.c $(SANDBOX:%=$(O)/core/%.o) $(CORE_OBJECTS) $(THREADS_CORES)

replay: $(FUZZ_TARGETS:%=$(O)/replay-%)
	@:

$(O)/replay-%: fuzz/%.c fuzz/replay.c $(FUZZED) $(wildcard fuzz/*.h)
	$(COMPILE) $(HOST_CFLAGS) $(filter-out %.h,$^) -lm -o $@

$(O)/fuzz-%: fuzz/%.c $(FUZZED) $(wildcard fuzz/*.h)
	$(COMPILE) $(HOST_CFLAGS) -fsanitize=fuzzer $(filter-out %.h,$^) -lm -o $@

include $(MORE)

-include $(patsubst %.o,%.d,$(HOST_OBJECTS) $(CORE_OBJECTS) $(THREADS_CORES))
