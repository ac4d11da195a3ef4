# redis-roar. `make help` says what there is.
#
#   assembly/*.ts --asc--> roaring.wasm --wasm2c--> roaring.c --specialise--> core-roaring.c --> core-<level>.o, one per CPU level
#   host/commands.ts --generate-commands--> commands.c, docs/commands.md       host/*.c --> *.o --> redis-roar.so
#
# Knobs: O (where intermediate files go), ENTRY (what asc compiles), MODULE (what comes out), CC, CFLAGS (added to all C), PORT,
# FUZZ_SECONDS (for each fuzz target), SEQUENCES (how many of each kind `make sequences` runs);
# for the benchmark PEER (name=/module.so ...), FULL=1 (the sizes that take long), DATA (a directory with more zip files like
# test/data/census1881.zip), ONLY (a pattern of suites), OUT (where results go).

O      := build
ENTRY  := assembly/index.ts
MODULE := build/redis-roar.so
PORT   := 6379
FUZZ_SECONDS := 600
SEQUENCES := 20

BIN := node_modules/.bin
TSX := $(BIN)/tsx

# ---------------------------------------------------------------------- C

CC := $(notdir $(firstword $(shell for c in clang-19 clang gcc; do command -v $$c; done) cc))
ARCH := $(shell uname -m)

# What each build of the core may use. The module picks one of them when it is loaded.
LEVELS_x86_64  := v2 v3 v4
LEVELS_aarch64 := neon
LEVELS  := $(LEVELS_$(ARCH))
MARCH_v2   := -march=x86-64-v2
MARCH_v3   := -march=x86-64-v3
MARCH_v4   := -march=x86-64-v4 -mavx512vpopcntdq -mavx512bitalg
MARCH_neon := -march=armv8-a

# Searches and merges in the core are written without branches, which this pass of the compiler would put back.
CORE_CFLAGS := $(if $(filter clang%-x86_64,$(CC)-$(ARCH)),-mllvm -x86-cmov-converter=false)
HOST_CFLAGS := -std=gnu11 -O3 -g -fPIC -fvisibility=hidden -fno-plt -Wall -Wextra -Werror -I$(O) -Ihost $(CFLAGS)

CHECK_MODULE := tools/check-module

HOST_OBJECTS := $(patsubst host/%.c,$(O)/%.o,$(filter-out host/core.c,$(wildcard host/*.c))) $(O)/commands.o
CORE_OBJECTS := $(LEVELS:%=$(O)/core-%.o)

# ---------------------------------------------------------------------- what to ask for

.PHONY: help build run test demo bench bench-kernels fuzz asan sequences soak clean setup module documents trap replay always
.DELETE_ON_ERROR:

help:                ## This text
	@sed -n 's/^\([a-z-]*\): *.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

build: setup         ## Build build/redis-roar.so: only what changed
	@$(MAKE) --no-print-directory module documents

run: build           ## Build, then start a server with the module on PORT (6379)
	@tools/run $(PORT)

test: build          ## Run all tests; the last line is the count
	@$(MAKE) --no-print-directory trap replay
	@$(TSX) tools/test.ts

demo: build          ## Load 200 real sets, combine them, and compare with native bitmaps
	@$(TSX) tools/demo.ts

bench: build         ## Compare with native bitmaps, and with other modules: PEER="name=/module.so ..."
	@$(TSX) bench/main.ts $(PEER:%=--peer %) $(if $(FULL),--full) $(DATA:%=--data %) $(if $(ONLY),--only '$(ONLY)') $(OUT:%=--out %)

bench-kernels: setup ## Time the bitset kernels against plain C, on each CPU level
	@$(MAKE) --no-print-directory build/bench/kernels O=build/bench ENTRY=bench/kernels/kernels.ts
	build/bench/kernels

fuzz: setup          ## Fuzz payloads and calls of the core, FUZZ_SECONDS (600) each
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory $(FUZZ_TARGETS:%=build/fuzz/fuzz-%) O=build/fuzz CC=clang-19 \
		CFLAGS='-fsanitize=fuzzer-no-link,$(SANITIZERS) -fno-sanitize-coverage=trace-cmp'
	@tools/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

asan: setup          ## Run the integration tests on a module built with AddressSanitizer and UBSan
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory module O=build/asan MODULE=build/asan/redis-roar.so CC=clang-19 CHECK_MODULE=: \
		CFLAGS='-fsanitize=$(SANITIZERS) -shared-libasan'
	@tools/asan

sequences: build     ## Compare 1,000,000 random commands and more with a model, on each CPU level; SEED=n repeats a run
	SEQUENCES=$(SEQUENCES) $(BIN)/vitest run test/model/sequences.test.ts

soak: fuzz asan sequences ## All three of these, and 100,000 writes through a chain of replicas
	STEPS=100000 $(BIN)/vitest run test/durability/replicas.test.ts

clean:               ## Remove all that was built
	rm -rf build

setup:
	@tools/setup

# ---------------------------------------------------------------------- how it is made

module: $(MODULE)
	@:

documents: docs/commands.md
	@:

# The same module with one function more, that reads outside its memory: for the tests.
trap:
	@$(MAKE) --no-print-directory module O=build/trap ENTRY=assembly/trap.ts MODULE=build/redis-roar-trap.so

# wasm2c writes functions without parameters as f(), which the sanitizer of function types does not take for f(void).
SANITIZERS := address,undefined -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer

CORE_SOURCES := $(shell find assembly -name '*.ts' -not -path '*/__tests__/*')

# Changes when the compiler or its options do, and everything compiled with it.
$(O)/compiler: always
	@mkdir -p $(O)
	@echo '$(CC) $(HOST_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(HOST_CFLAGS)' > $@

$(O)/roaring.wasm: $(ENTRY) $(CORE_SOURCES) asconfig.json tools/check-wasm.ts tools/wasm.ts package-lock.json
	@mkdir -p $(O)
	$(BIN)/asc $(ENTRY) --outFile $@ --textFile $(@:wasm=wat)
	$(TSX) tools/check-wasm.ts $@

$(O)/roaring.c: $(O)/roaring.wasm
	$(BIN)/wasm2c -n roaring $< -o $@

$(O)/core-roaring.c: $(O)/roaring.c tools/specialise.ts
	$(TSX) tools/specialise.ts $(O)/roaring.wasm $< $@

$(O)/core.h: $(O)/roaring.wasm assembly/env/fault.ts tools/generate-core.ts
	$(TSX) tools/generate-core.ts $< assembly/env/fault.ts $@

$(O)/commands.c: host/commands.ts tools/generate-commands.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-commands.ts $@

docs/commands.md: host/commands.ts tools/generate-commands.ts
	@mkdir -p docs
	$(TSX) tools/generate-commands.ts --docs $@

$(CORE_OBJECTS): $(O)/core-%.o: host/core.c $(O)/core-roaring.c $(O)/core.h $(O)/compiler Makefile
	$(CC) $(HOST_CFLAGS) $(CORE_CFLAGS) $(MARCH_$*) -DLEVEL=$* -MMD -MP -c $< -o $@

$(O)/%.o: host/%.c $(O)/core.h $(O)/compiler Makefile
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(O)/commands.o: $(O)/commands.c $(O)/core.h $(O)/compiler Makefile
	$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(MODULE): $(HOST_OBJECTS) $(CORE_OBJECTS) tools/check-module
	$(if $(filter clang%,$(CC)),,@echo 'Notice: built with $(CC); clang-19 makes the bitset kernels up to three times faster')
	$(CC) -shared $(CFLAGS) -Wl,-z,defs -Wl,--build-id -o $@ $(HOST_OBJECTS) $(CORE_OBJECTS) -lm
	$(CHECK_MODULE) $@

# The benchmark of kernels: their own core, a plain loop to compare with, and a sandbox that does nothing.
PLAIN_OBJECTS := $(LEVELS:%=$(O)/plain-%.o)

$(PLAIN_OBJECTS): $(O)/plain-%.o: bench/kernels/plain.c bench/kernels/plain.h $(O)/core.h $(O)/compiler Makefile
	$(CC) $(HOST_CFLAGS) $(MARCH_$*) -DLEVEL=$* -c $< -o $@

$(O)/kernels: bench/kernels/bench.c bench/kernels/kernels.ts $(CORE_OBJECTS) $(PLAIN_OBJECTS)
	$(CC) $(HOST_CFLAGS) $< $(CORE_OBJECTS) $(PLAIN_OBJECTS) -lm -o $@

# Fuzz targets, with libFuzzer, and without it to run the inputs of test/corpus again.
FUZZ_TARGETS := payload sequence
FUZZED := fuzz/server.c $(O)/sandbox.o $(CORE_OBJECTS)

replay: $(FUZZ_TARGETS:%=$(O)/replay-%)
	@:

$(O)/replay-%: fuzz/%.c fuzz/replay.c $(FUZZED) fuzz/fuzz.h
	$(CC) $(HOST_CFLAGS) $(filter-out %.h,$^) -lm -o $@

$(O)/fuzz-%: fuzz/%.c $(FUZZED) fuzz/fuzz.h
	$(CC) $(HOST_CFLAGS) -fsanitize=fuzzer $(filter-out %.h,$^) -lm -o $@

-include $(wildcard $(O)/*.d)
