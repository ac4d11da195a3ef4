# Long tests, on other servers and systems, and with other tools

#: BEFORE=v1.0.0          test-upgrade: the older commit, by default the newest release, or the commit before this one
#: COMPARISONS=50000      sequences: replies of FACET and CROSSCARD, of lists, and of RANDPOP and others, for each family
#: EXPRESSIONS=1000000    sequences: expressions
#: IDS=10000000           soak-cli: ids to load; PARTS="join load" runs only these of advise, convert, join and load
#: KEYS=200000 KILLS=20   soak-cli: keys on each server, and how often convert and join are killed
#: LANGUAGES="go ruby"    test-clients: run only these of python, php, ruby, go, c, perl and lua
#: MACHINES=trixie        test-fresh: only these of bookworm, trixie and trixie-user
#: OPERATIONS=200         soak-client: operations for each client library and way of sharding
#: SECONDS=600            linearity, shrinking: for each family and CPU level; transitions: of the search
#: SEED=n                 sequences, shrinking: repeat the run that printed this seed; seeds: the first one
#: SEEDS=20               seeds: how many
#: SEQUENCES=20           sequences: runs of each kind
#: SERVERS="valkey-9"     test-servers, soak-cli: run only on these servers
#: SHORT=1                test-servers: run only the test files that depend most on the server
#: SUITES="native ..."    test-arm64, coverage: run only these test files

.PHONY: test-arm64 test-clients test-servers test-upgrade test-fresh test-site tsan linearity sequences shrinking soak soak-cli soak-client seeds
.PHONY: transitions coverage

SEQUENCES    := 20
SEEDS        := 20
EXPRESSIONS  := 1000000
COMPARISONS  := 50000
SECONDS      := 600

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

test-upgrade: build  ## Build an older module, BEFORE, and test upgrades from it and back, under writes
	@tools/build-before $(BEFORE)
	ROAR_CPU=best ROAR_BEFORE=$(CURDIR)/build/before/redis-roar.so $(BIN)/vitest run test/durability/upgrade.test.ts

test-fresh:          ## Run what README shows, and `make test`, on fresh Debian 12 and 13; root only
	@tools/setup fresh
	@tools/fresh $(MACHINES)

test-site: site      ## Open the site in Debian's chromium, follow links, search, and use the calculator
	@tools/setup browser
	@$(TSX) site/test.ts

tsan: setup          ## Run the tests of threads on a module built with ThreadSanitizer
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory module O=build/tsan ENTRY=assembly/trap.ts MODULE=build/tsan/redis-roar-trap.so CC=clang-19 CHECK_MODULE=: \
		CFLAGS='-fsanitize=thread -shared-libsan'
	@SECONDS=60 tools/tsan

linearity: build     ## Run queries on threads while everything else happens to their keys
	SECONDS=$(SECONDS) $(BIN)/vitest run test/safety/linearity.test.ts

sequences: build     ## Compare millions of random commands, expressions, facets and lists with a model, on each CPU level
	SEQUENCES=$(SEQUENCES) EXPRESSIONS=$(EXPRESSIONS) COMPARISONS=$(COMPARISONS) \
		$(BIN)/vitest run test/model/sequences.test.ts test/model/expressions.test.ts test/model/many.test.ts \
		test/model/lists.test.ts test/model/parts.test.ts

shrinking: build     ## Fill bitmaps, empty them and compare with a model, in the core alone and in servers
	@$(MAKE) --no-print-directory trap replay
	build/replay-sequence -random $(SECONDS) $(or $(SEED),$(shell date +%s)) build/last-sequence
	SECONDS=$(SECONDS) $(BIN)/vitest run test/durability/shrinking.test.ts

soak: fuzz asan sequences shrinking ## Run fuzz, asan, sequences, shrinking, optimized unit tests, and 100,000 writes through replicas
	npm run -s test:unit:production
	STEPS=100000 $(BIN)/vitest run test/durability/replicas.test.ts

soak-cli: build cli  ## Run the command-line tool on many keys of each server, killed and resumed
	@$(TSX) tools/soak-cli.ts $(SERVERS)

soak-client: build client ## Compare sharded bitmaps with a model while slots move, replicas take over and masters are killed
	OPERATIONS=$(OPERATIONS) $(BIN)/vitest run test/client/changing.test.ts

seeds: build         ## Repeat the tests that draw their input at random, with SEEDS seeds
	@$(MAKE) --no-print-directory $(TESTED)
	tools/seeds $(SEEDS) $(SEED)

transitions: setup   ## Look for new transitions between forms that writes take, and keep inputs in test/corpus
	@tools/setup sanitizers
	@$(MAKE) --no-print-directory trap CC=clang-19
	@$(MAKE) --no-print-directory $(O)/trap/search-transitions O=$(O)/trap ENTRY=assembly/trap.ts CC=clang-19
	@tools/transitions $(SECONDS)

coverage: setup      ## Run the integration tests and the corpus, and say which branches of the core they do not take
	@tools/setup coverage
	@$(MAKE) --no-print-directory client cli
	@$(MAKE) --no-print-directory module replay O=build/coverage ENTRY=assembly/trap.ts CC=clang-19 CHECK_MODULE=: \
		ASC_FLAGS='--optimizeLevel 1 --sourceMap --debug' CFLAGS='-O1 $(COVERAGE)'
	@tools/coverage $(SUITES)

# Counters are in a file that the process maps, so that it has them even if the process is killed.
COVERAGE := -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation -mllvm -system-headers-coverage

# libFuzzer that sees nothing but the counters of fuzz/transitions.c, and so keeps an input only if it takes a new transition.
$(O)/search-transitions: fuzz/sequence.c $(FUZZED) $(wildcard fuzz/*.h)
	$(COMPILE) $(HOST_CFLAGS) -fsanitize=fuzzer -fno-sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp,indirect-calls \
		$(filter-out %.h,$^) -lm -o $@
