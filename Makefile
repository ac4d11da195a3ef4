# Builds and tests redis-roar. `make help` lists targets and variables.
#
#   assembly/*.ts --asc--> roaring.wasm --wasm2c--> roaring.c --specialise--> core-roaring.c --> core-<level>.o, one per CPU level
#   host/table/commands.ts --generate-commands--> commands.c, docs/commands.md       host/*/*.c --> *.o --> redis-roar.so
#   host/table/commands.ts --generate-client--> client/src/calls.ts                   client/src/*.ts --tsc--> client/dist

#: PORT=6379              run: the port of the server
#: ONLY=pattern           bench: run only the suites that match
#: CALLS=pattern          bench: in the suite "worst calls" only the commands that match
#: PEER="name=/file.so"   bench: compare with other modules as well
#: FULL=1                 bench: include the sizes that take long
#: DATA=directory         bench: add more data sets, zip files like test/data/census1881.zip
#: OUT=directory          bench: where the results go, by default build/bench
#: MACHINES=trixie        test-fresh: only these of bookworm, trixie and trixie-user
#: EXAMPLES="likes tags"  examples: run only these
#: SITE_BASE=/path/      site: the path under which the site is served, by default /
#: SCALE=0.01             examples: the size of the data; 1 is the size of a large site
#: RECORD=1               examples: write figures and charts into examples/
#: FUZZ_SECONDS=600       fuzz: seconds for each target
#: SEQUENCES=20           sequences: runs of each kind
#: EXPRESSIONS=1000000    sequences: expressions
#: COMPARISONS=50000      sequences: replies of FACET and CROSSCARD, for each family
#: OPERATIONS=200         soak-client: operations for each client library and way of sharding
#: ROUNDS=60              bench-client: turns of each way
#: SEEDS=20               seeds: how many
#: SECONDS=600            shrinking: seconds for each family and CPU level, and for the core alone; linearity: for each family; ways: seconds of the search
#: SEED=n                 sequences, shrinking: repeat the run that printed this seed; seeds: the first one; examples: the seed of the data, by default 1
#: ARCH=aarch64           build: compile for another processor, aarch64 or x86_64; the module is then build/<ARCH>/redis-roar.so
#: SUITES="native ..."    test-arm64, coverage: run only these test files

#: LANGUAGES="go ruby"    test-clients: run only these of python, php, ruby, go, c, perl and lua
#: SERVERS="valkey-9"     test-servers, soak-cli: run only on these servers
#: KEYS=200000 KILLS=20   soak-cli: keys on each server, and how often convert and join are killed
#: IDS=10000000           soak-cli: ids to load; PARTS="join load" runs only these of advise, convert, join and load
#: SHORT=1                test-servers: run only the test files that depend most on the server
#: REGISTRY=ghcr.io/x/y   images: where to push the images
#: EVIDENCE="fuzz ci/*"   evidence: only these targets, or jobs of .github/workflows; tools/evidence.ts names them
#: BEFORE=v1.0.0          test-upgrade: the older commit, by default the newest release, or the commit before this one
#: CC=gcc CFLAGS=-g3      the C compiler, and flags to add for all C code

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
SEQUENCES    := 20
SEEDS        := 20
EXPRESSIONS  := 1000000
COMPARISONS  := 50000
SECONDS      := 600
EXAMPLES     := $(patsubst examples/%/main.ts,%,$(wildcard examples/*/main.ts))

BIN := node_modules/.bin
TSX := $(BIN)/tsx

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
# merges in the core are written without branches; a pass of clang for x86-64 would put the branches back.
CORE_CFLAGS := -fno-jump-tables $(if $(filter clang%-x86_64,$(CC)-$(ARCH)),-mllvm -x86-cmov-converter=false)
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

.PHONY: help build client run test test-arm64 test-clients test-servers test-upgrade test-fresh check format demo bench bench-cluster
.PHONY: bench-kernels bench-client bench-load cli fuzz asan tsan linearity sequences shrinking soak
.PHONY: soak-cli soak-client seeds ways coverage examples release deb test-release evidence images site test-site clean
.PHONY: setup tag release-modules module documents trap replay always
.DELETE_ON_ERROR:

help:                ## Show this text
	@echo 'Targets:'
	@sed -n 's/^\([a-z0-9-]*\): *.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
	@echo 'Variables, as in make run PORT=7000:'
	@sed -n 's/^#: /  /p' Makefile

build: setup         ## Build the module, build/redis-roar.so; rebuilds only what has changed
	@$(MAKE) --no-print-directory module documents

client: setup        ## Build the JavaScript client, client/dist
	$(BIN)/tsc -p client/tsconfig.json
	$(TSX) tools/pack.ts --types

cli: setup           ## Build the command-line tool, cli/dist
	@$(MAKE) --no-print-directory cli/dist/core/core.wasm cli/dist/core/imports.wasm
	$(BIN)/tsc -p cli/tsconfig.json
	@chmod +x cli/dist/main.js

run: build           ## Build the module and start redis-server with it
	@tools/run $(PORT)

test:                ## Build, then run all checks and tests; the last line counts them
	@tools/setup checks
	@$(MAKE) --no-print-directory -j2 build
	@$(MAKE) --no-print-directory -j2 $(TESTED)
	@$(TSX) tools/test.ts

test-arm64:          ## Build for arm64 and run the tests that compare the core with a model, under an emulator
	@tools/setup arm64-tests
	@$(MAKE) --no-print-directory build trap replay ARCH=aarch64
	@tools/test-arm64 $(SUITES)

test-clients: build  ## Run programs in Python, PHP, Ruby, Go, C, Perl and Lua against a server and a cluster
	@tools/setup clients
	@$(TSX) tools/test-clients.ts $(LANGUAGES)

test-servers: build  ## Fetch Redis and Valkey servers of several versions, and run the integration tests on each
	@$(MAKE) --no-print-directory trap client cli
	@$(TSX) tools/test-servers.ts $(if $(SHORT),--short) $(SERVERS)

test-upgrade: build  ## Build an older module, BEFORE, and test upgrades from it and back: files, and replicas under writes
	@tools/build-before $(BEFORE)
	ROAR_CPU=best ROAR_BEFORE=$(CURDIR)/build/before/redis-roar.so $(BIN)/vitest run test/durability/upgrade.test.ts

test-fresh:          ## Run what README shows, and `make test`, on fresh Debian 12 and 13 in chroots, as root and as a user; root only
	@tools/setup fresh
	@tools/fresh $(MACHINES)

check:               ## Check types, style, layout, shell scripts, unused exports and links, without building
	@tools/setup checks
	@$(TSX) tools/check.ts

format:              ## Apply the formatters to TypeScript and C
	@tools/setup checks
	@$(TSX) tools/check.ts --format

examples: build      ## Run the systems in examples/, and compare every answer with plain Sets or SQL
	@$(foreach name,$(EXAMPLES),$(TSX) examples/$(name)/main.ts &&) true

site: setup cli      ## Build the site from docs/ and examples/, build/site. SITE_BASE=/path/ is where it will be served
	@[ -e site/node_modules/.package-lock.json ] || npm ci --prefix site --no-audit --no-fund
	@$(TSX) site/prepare.ts
	@cd site && node_modules/.bin/vitepress build .

test-site: site      ## Open the site in Debian's chromium, follow links, search, and use the calculator
	@tools/setup browser
	@$(TSX) site/test.ts

demo: build          ## Load 200 real sets, combine them, and compare memory and time with native bitmaps
	@$(TSX) tools/demo.ts

bench: build         ## Compare the speed and memory of the commands with native bitmaps
	@$(TSX) bench/main.ts $(PEER:%=--peer %) $(if $(FULL),--full) $(DATA:%=--data %) $(if $(ONLY),--only '$(ONLY)') $(if $(CALLS),--calls '$(CALLS)') $(OUT:%=--out %)

bench-cluster: build client ## Measure what sharding over 1, 2 and 3 nodes costs, against one key on one node
	@$(TSX) bench/cluster.ts

bench-client: build client ## Compare `setBit` calls a second of each JavaScript library alone and with the client, ROUNDS turns; ONLY='ioredis 6' some libraries
	@ROUNDS=$(ROUNDS) ONLY='$(ONLY)' $(TSX) bench/rates.ts

bench-load: build client ## Load a file of 100 million ids into a sharded bitmap on three masters, killed in the middle and resumed
	@$(TSX) bench/loading.ts

bench-kernels: setup ## Compare the speed of the bitset kernels with plain C loops, on each CPU level
	@$(MAKE) --no-print-directory build/bench/kernels O=build/bench ENTRY=bench/kernels/kernels.ts
	build/bench/kernels

fuzz: setup          ## Fuzz the core with payloads, call sequences, expressions and damaged arenas, FUZZ_SECONDS each, on all processors
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory $(FUZZ_TARGETS:%=build/fuzz/fuzz-%) O=build/fuzz CC=clang-19 \
		CFLAGS='-fsanitize=fuzzer-no-link,$(SANITIZERS) -fno-sanitize-coverage=trace-cmp'
	@tools/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

asan: setup          ## Run the integration tests on a module built with AddressSanitizer and UBSan
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory $(TESTED)
	@$(MAKE) --no-print-directory module O=build/asan ENTRY=assembly/trap.ts MODULE=build/asan/redis-roar-trap.so CC=clang-19 CHECK_MODULE=: \
		CFLAGS='-fsanitize=$(SANITIZERS) -shared-libasan'
	@tools/asan

tsan: setup          ## Run the tests of threads on a module built with ThreadSanitizer
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory module O=build/tsan ENTRY=assembly/trap.ts MODULE=build/tsan/redis-roar-trap.so CC=clang-19 CHECK_MODULE=: \
		CFLAGS='-fsanitize=thread -shared-libsan'
	@SECONDS=60 tools/tsan

linearity: build     ## Ask questions on threads while everything else happens to their keys, SECONDS for each family
	SECONDS=$(SECONDS) $(BIN)/vitest run test/safety/linearity.test.ts

sequences: build     ## Compare more than 1,000,000 random commands, 1,000,000 expressions and 100,000 facets and tables with a model, on each CPU level
	SEQUENCES=$(SEQUENCES) EXPRESSIONS=$(EXPRESSIONS) COMPARISONS=$(COMPARISONS) \
		$(BIN)/vitest run test/model/sequences.test.ts test/model/expressions.test.ts test/model/many.test.ts

shrinking: build     ## Fill bitmaps, empty them and compare with a model, for SECONDS each in the core alone and in servers on each CPU level
	@$(MAKE) --no-print-directory trap replay
	build/replay-sequence -random $(SECONDS) $(or $(SEED),$(shell date +%s)) build/last-sequence
	SECONDS=$(SECONDS) $(BIN)/vitest run test/durability/shrinking.test.ts

soak: fuzz asan sequences shrinking ## Run fuzz, asan, sequences, shrinking, all unit tests as in the real build, and 100,000 writes through replicas
	npm run -s test:unit:production
	STEPS=100000 $(BIN)/vitest run test/durability/replicas.test.ts

soak-cli: build cli  ## Run the command-line tool on 200,000 keys of each server: advise beside MEMORY USAGE, convert and join killed 20 times, load killed and resumed
	@$(TSX) tools/soak-cli.ts $(SERVERS)

soak-client: build client ## Compare random operations on sharded bitmaps with a model, OPERATIONS of each kind, while slots move, replicas take over and masters are killed
	OPERATIONS=$(OPERATIONS) $(BIN)/vitest run test/client/changing.test.ts

seeds: build         ## Repeat the tests that draw their input at random, with SEEDS seeds
	@$(MAKE) --no-print-directory $(TESTED)
	tools/seeds $(SEEDS) $(SEED)

ways: setup          ## Look for new ways that writes can take, SECONDS long, and keep inputs that take them in test/corpus/ways
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory trap CC=clang-19
	@$(MAKE) --no-print-directory $(O)/trap/search-ways O=$(O)/trap ENTRY=assembly/trap.ts CC=clang-19
	@tools/ways $(SECONDS)

coverage: setup      ## Run the integration tests and the fuzz corpus, and say which branches of the core they do not take
	@tools/setup coverage
	@$(MAKE) --no-print-directory client cli
	@$(MAKE) --no-print-directory module replay O=build/coverage ENTRY=assembly/trap.ts CC=clang-19 CHECK_MODULE=: \
		ASC_FLAGS='--optimizeLevel 1 --sourceMap --debug' CFLAGS='-O1 $(COVERAGE)'
	@tools/coverage $(SUITES)

release: release-modules client cli ## Write archives for both processors, the packages of the client and of the command-line tool, and lists of components, to dist/; the same bytes each time. TAG=v1.0.0 checks the version
	$(foreach arch,$(RELEASED),tools/package tar $(arch) build/release/$(arch)/redis-roar.so dist &&) true
	$(TSX) tools/pack.ts client dist
	$(TSX) tools/pack.ts cli dist
	$(TSX) tools/sbom.ts dist
	@cd dist && sha256sum redis-roar* > SHA256SUMS

test-release: release deb ## Build the release again in another directory, compare, and try it on Debian 11, 12 and 13 in chroots; root only
	@tools/setup fresh
	@tools/build-again dist
	@tools/try-release dist

evidence: setup      ## Run what shows that the module can be trusted, EVIDENCE or all targets, and record it in docs/evidence.md
	@$(TSX) tools/evidence.ts $(EVIDENCE)

deb: release-modules ## Write Debian packages for both processors to dist/
	$(foreach arch,$(RELEASED),tools/package deb $(arch) build/release/$(arch)/redis-roar.so dist &&) true
	@cd dist && sha256sum redis-roar* > SHA256SUMS

images:              ## Build the Docker images on Redis and Valkey, and try each. With REGISTRY and TAG=v1.0.0, push them
	@tools/images $(if $(REGISTRY),$(REGISTRY) $(TAG:v%=%))

clean:               ## Delete build/ and dist/
	rm -rf build dist client/dist cli/dist

setup:
	@tools/setup
	$(if $(CROSS),@tools/setup $(DEBIAN_$(CROSS)))

# ---------------------------------------------------------------------- how things are built

module: $(MODULE)
	@:

documents: docs/commands.md client/src/calls.ts
	@:

# Its core has one more export, which accesses memory out of bounds.
trap:                ## Build build/redis-roar-trap.so, the module that tests of the sandbox load
	@$(MAKE) --no-print-directory module $(O)/trap/replay-sequence O=$(O)/trap ENTRY=assembly/trap.ts MODULE=$(O)/redis-roar-trap.so

# What is released does not depend on this machine's compiler and C library, and works with old ones.
RELEASED     := x86_64 aarch64
OLDEST_GLIBC := 2.17

release-modules: tag $(RELEASED:%=release-%)

tag:
	$(if $(TAG),@grep -q '"version": "$(TAG:v%=%)"' package.json || { echo 'package.json has another version than $(TAG)'; exit 1; })
	$(if $(TAG),@grep -q '"author": ".* <.*@.*>"' package.json || { echo 'package.json needs an author with an e-mail address: the packages name a maintainer'; exit 1; })

$(RELEASED:%=release-%): release-%: tag
	@$(MAKE) --no-print-directory setup module ARCH=$* O=build/release/$* CC=clang-19 CFLAGS= GLIBC=$(OLDEST_GLIBC)

# wasm2c declares functions without parameters as f(). The sanitizer for function types rejects calls of them through f(void).
SANITIZERS := address,undefined -fno-sanitize=function -fno-sanitize-recover=all -fno-omit-frame-pointer

# Counters are in a file that the process maps, so that it has them even if the process is killed.
COVERAGE := -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation -mllvm -system-headers-coverage

CORE_SOURCES := $(shell find assembly -name '*.ts' -not -path '*/__tests__/*')

GENERATED_HEADERS := $(O)/core.h $(O)/facts.h

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

$(O)/roaring.c: $(O)/roaring.wasm
	$(BIN)/wasm2c -n roaring $< -o $@

$(O)/core-roaring.c: $(O)/roaring.c tools/specialise.ts
	$(TSX) tools/specialise.ts $(O)/roaring.wasm $< $@

$(O)/core.h: $(O)/roaring.wasm tools/generate-core.ts
	$(TSX) tools/generate-core.ts $< $@

$(O)/facts.h: $(CORE_SOURCES) package.json tools/generate-facts.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-facts.ts $@

COMMAND_TABLE := $(wildcard host/table/*.ts)

$(O)/commands.c: $(COMMAND_TABLE) tools/generate-commands.ts
	@mkdir -p $(O)
	$(TSX) tools/generate-commands.ts $@

docs/commands.md: $(COMMAND_TABLE) tools/generate-commands.ts
	@mkdir -p docs
	$(TSX) tools/generate-commands.ts --docs $@

client/src/calls.ts: $(COMMAND_TABLE) tools/generate-client.ts
	$(TSX) tools/generate-client.ts client

$(CORE_OBJECTS): $(O)/core/core-%.o: host/core/core.c $(O)/core-roaring.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(HOST_CFLAGS) $(CORE_CFLAGS) $(MARCH_$*) -DLEVEL=$* -MMD -MP -c $< -o $@

$(O)/%.o: host/%.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(O)/trial.o: test/support/trial.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	$(COMPILE) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(O)/commands.o: $(O)/commands.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	$(COMPILE) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(THREADS_CORES): $(O)/core/threads-core-%.o: host/core/core.c $(O)/core-roaring.c $(GENERATED_HEADERS) $(O)/compiler Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(HOST_CFLAGS) $(CORE_CFLAGS) $(MARCH_$*) -DON_THREADS -DLEVEL=$* -MMD -MP -c $< -o $@

$(MODULE): $(HOST_OBJECTS) $(CORE_OBJECTS) $(THREADS_CORES) tools/check-module
	$(if $(filter clang%,$(CC)),,@echo 'Notice: built with $(CC). With clang-19 the bitset kernels are up to three times faster.')
	$(COMPILE) -shared $(CFLAGS) -Wl,-z,defs -Wl,--build-id -o $@ $(HOST_OBJECTS) $(CORE_OBJECTS) $(THREADS_CORES) -lm -lpthread
	$(CHECK_MODULE) $@ $(GLIBC)

# The kernel benchmark: a core with only the kernels, plain loops to compare with, and an empty sandbox.
PLAIN_OBJECTS := $(LEVELS:%=$(O)/plain-%.o)

$(PLAIN_OBJECTS): $(O)/plain-%.o: bench/kernels/plain.c bench/kernels/plain.h $(O)/core.h $(O)/compiler Makefile
	$(COMPILE) $(HOST_CFLAGS) $(MARCH_$*) -DLEVEL=$* -c $< -o $@

$(O)/kernels: bench/kernels/bench.c bench/kernels/kernels.ts $(CORE_OBJECTS) $(PLAIN_OBJECTS)
	$(COMPILE) $(HOST_CFLAGS) $< $(CORE_OBJECTS) $(PLAIN_OBJECTS) -lm -o $@

# Fuzz targets: fuzz-* with libFuzzer, replay-* without it, which run the inputs in test/corpus once.
FUZZ_TARGETS := payload sequence query damage
SANDBOX := worker sandbox census operands reading building writing bitmap workspace cpu
FUZZED := fuzz/check.c fuzz/server.c fuzz/ways.c $(SANDBOX:%=$(O)/core/%.o) $(CORE_OBJECTS) $(THREADS_CORES)

replay: $(FUZZ_TARGETS:%=$(O)/replay-%)
	@:

$(O)/replay-%: fuzz/%.c fuzz/replay.c $(FUZZED) $(wildcard fuzz/*.h)
	$(COMPILE) $(HOST_CFLAGS) $(filter-out %.h,$^) -lm -o $@

# libFuzzer that sees nothing but the counters of fuzz/ways.c, and so keeps an input only if it takes a new way.
$(O)/search-ways: fuzz/sequence.c $(FUZZED) $(wildcard fuzz/*.h)
	$(COMPILE) $(HOST_CFLAGS) -fsanitize=fuzzer -fno-sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp,indirect-calls \
		$(filter-out %.h,$^) -lm -o $@

$(O)/fuzz-%: fuzz/%.c $(FUZZED) $(wildcard fuzz/*.h)
	$(COMPILE) $(HOST_CFLAGS) -fsanitize=fuzzer $(filter-out %.h,$^) -lm -o $@

-include $(patsubst %.o,%.d,$(HOST_OBJECTS) $(CORE_OBJECTS) $(THREADS_CORES))
