# Benchmarks of the client, of clusters and of kernels

#: CALLS=pattern          bench: in the suite "worst calls" only the commands that match
#: CELLS=pattern          bench: in the suite "density" only the rows that match
#: MEMBERS=100            bench: in the suites "growth" so many million members
#: CPU="v2 v3"            bench: compare the builds for these CPU levels as well
#: DATA=directory         bench: add more data sets, zip files like test/data/census1881.zip
#: FULL=1                 bench: include the sizes that take long
#: OUT=directory          bench: where the results go, by default build/bench
#: RECORD=1               examples: write figures and charts into examples/
#: ROUNDS=60              bench-client: turns of each way; ONLY='ioredis 6' runs only some libraries

.PHONY: bench-cluster bench-client bench-load bench-kernels

bench-cluster: build client ## Measure what sharding over 1, 2 and 3 nodes costs, against one key on one node
	@$(TSX) bench/cluster.ts

bench-client: build client ## Compare `setBit` calls a second of each JavaScript library alone and with the client
	@ROUNDS=$(ROUNDS) ONLY='$(ONLY)' $(TSX) bench/rates.ts

bench-load: build client ## Load 100 million ids into a sharded bitmap on three masters, killed in the middle and resumed
	@$(TSX) bench/loading.ts

bench-kernels: setup ## Compare the speed of the bitset kernels with plain C loops, on each CPU level
	@$(MAKE) --no-print-directory build/bench/kernels O=build/bench ENTRY=bench/kernels/kernels.ts
	build/bench/kernels

# The kernel benchmark: a core with only the kernels, plain loops to compare with, and an empty sandbox.
PLAIN_OBJECTS := $(LEVELS:%=$(O)/plain-%.o)

$(PLAIN_OBJECTS): $(O)/plain-%.o: bench/kernels/plain.c bench/kernels/plain.h $(O)/core.h $(O)/compiler Makefile
	$(COMPILE) $(HOST_CFLAGS) $(MARCH_$*) -DLEVEL=$* -c $< -o $@

$(O)/kernels: bench/kernels/bench.c bench/kernels/kernels.ts $(CORE_OBJECTS) $(PLAIN_OBJECTS)
	$(COMPILE) $(HOST_CFLAGS) $< $(CORE_OBJECTS) $(PLAIN_OBJECTS) -lm -o $@
