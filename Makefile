# The two main targets are `make demo` (no server needed) and `make test` (installs the programs that it needs).
.PHONY: help demo test verify lint deps build bin sim sim-mutants models mutants chaos chaos-readers chaos-rivals minority scale fuzz bench fence-deps fence-test metrics metrics-deps adapters fleet failover interop interop-deps ui-check ui-deps release-check examples

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
FUZZTIME ?= 30s
N ?= 1000000
FIRST ?= 1
T ?= 10m
EVERY ?= 5s
SERVER ?= redis-server
export ONLY SERVER FRESH
# These are a few of the mutants: of a node's scripts, of the votes, of the renewal and of the waiting. Their checks do not
# depend on the load of the machine, and their packages are built quickly.
SAMPLE = ^(a reader.s release leaves no tombstone|grants of different stamps counted together|a renewal counts after the old deadline|what is handed over between two bids is never answered)$$

# These are the modules beside that of the root, each with requirements of its own.
MODULES = bench fence/sqltest adapters/gocron adapters/robfigcron adapters/check metrics/promholdfast metrics/otelholdfast metrics/check interop internal/check/browser examples/check

help:            ## this list
	@sed -n 's/^\([a-z -]*\):.*##/\1\t/p' Makefile | column -t -s "$$(printf '\t')"

demo: bin        ## five nodes, eight workers, faults: shows that the lock holds (no server needed)
	@bin/holdfast demo

bin build:       ## bin/holdfast
	@go build -o bin/holdfast ./cmd/holdfast

test: deps       ## a sample of every check on real redis-server processes (or SERVER=valkey-server), with the race detector: 8 minutes
	@scripts/test.sh '$(SAMPLE)'

verify: deps     ## every check in full, one after the other, with one table; continues an interrupted run (4 hours; ONLY=regexp, FRESH=1)
	@scripts/verify.sh

lint:            ## formatting, vet, staticcheck, licences, known vulnerabilities; the same and quick tests in the other modules
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	go test -run ^TestProgramsInDocumentsCompile$$ . # vets them
	go test -cover ./internal/core/bid | grep -F 'coverage: 100.0%' # each statement of the state machine has a test
	@scripts/vet.sh $(MODULES)
	go run ./internal/check/licences
	@scripts/vulncheck.sh

examples: deps   ## the examples that are files and scripts: parses the YAML, and runs the commands in it (20 seconds)
	@scripts/examples-deps.sh
	cd examples/check && go test -count=1 -v ./...

release-check:   ## checks .goreleaser.yaml and builds a release into dist, without publishing it (10 minutes the first time; Go 1.26)
	@scripts/release-check.sh

deps:            ## installs redis-server and a C compiler (for -race) by apt if they are missing
	@scripts/deps.sh

sim:             ## N=1000000 attempts in simulated worlds full of faults; FIRST=1: the first seed; SEED=…: repeats one world
	@scripts/sim.sh "$(N)" "$(SEED)" "$(FIRST)"

models:          ## four model checkers: every state of small configurations, and a broken promise for each rule left out (five minutes)
	@scripts/models.sh -models.large

chaos: deps      ## real faults for T (10m), one EVERY 5s, and outside of the assumptions for T/4: no two clients may rely on one lock
	go test -count=1 -v -timeout 0 -run TestChaos ./internal/check/chaos -chaos.for "$(T)" -chaos.every "$(EVERY)"

chaos-readers: deps ## 8 processes that only read and 4 that only write: kills of readers for T (10m), then every fault for T/2; waits, and when dead readers are freed
	go test -count=1 -v -timeout 0 -run TestReadersUnderFaults ./internal/check/chaos -chaos.for "$(T)" -chaos.every "$(EVERY)" -chaos.onlyread 8 -chaos.onlywrite 4

chaos-rivals: deps ## six locks under the same faults, T (10m) each, one EVERY 5s, one per CPU at once: counts overlaps by kind
	cd bench && go test -count=1 -v -timeout 0 -run TestRivalsUnderFaults -chaos.for "$(T)" -chaos.every "$(EVERY)"

mutants: deps    ## weakens the lock one line at a time; a named test must notice each (10 to 50 minutes; ONLY=regexp for some)
	@go run ./internal/check/mutants -run "$$ONLY"

sim-mutants: N = 400000
sim-mutants:     ## weakens the lock; the simulation must find each weakening within N=400000 attempts from seed FIRST=1 on (10 minutes)
	@go run ./internal/check/mutants -run "$$ONLY" -sim -n "$(N)" -first "$(FIRST)"

minority: deps   ## measures the cost of one sick node of five; requires at most 1.5 ×
	go test -count=1 -v -run TestASickMinorityDelaysNobody ./internal/check/e2e -holdfast.timed

scale: deps      ## 50,000 leases for five TTLs, 10,000 waiters, 200,000 hand-offs with faults, 1,000 leaders killed or resigned, a list of 100,000 names, 1,000 locks taken away (25 minutes)
	go test -count=1 -v -timeout 1h -run 'TestOneClientHoldsManyLeases|TestManyWaiters|TestNobodySleeps|TestRandomSets|TestLeadersAre|TestAListIsComplete|TestAListHardlyDelays|TestAnOperatorTakesLocks' ./internal/check/e2e -holdfast.elections 1000 -holdfast.leases 50000 -holdfast.leasettl 10s -holdfast.leasettls 5 -holdfast.names 10000 -holdfast.handoffs 200000 -holdfast.sets 10000 -holdfast.listed 100000 -holdfast.unlocks 1000 -holdfast.timed

fuzz: deps       ## every fuzz target for FUZZTIME (30s)
	@scripts/fuzz.sh $(FUZZTIME)

fence-deps:      ## installs PostgreSQL and MariaDB by apt if they are missing
	@scripts/fence-deps.sh

metrics-deps:    ## installs Prometheus by apt if it is missing
	@scripts/metrics-deps.sh

metrics: deps metrics-deps ## metrics and traces on real redis-servers; dashboard and alert rules with a real Prometheus (2 minutes)
	cd metrics/promholdfast && go test -race -count=1 ./...
	cd metrics/otelholdfast && go test -race -count=1 ./...
	cd metrics/check && go test -count=1 -v ./...

adapters: deps   ## adapters for gocron and robfig/cron: three processes with clocks 200 ms apart, 1,000 ticks for each (5 minutes)
	cd adapters/check && go test -count=1 -v -timeout 30m ./...

fleet: deps      ## jobs: 20 processes with clocks 30 s off, kills and empty restarts, holdfast cron on 3 machines, gocron beside them (20 minutes)
	go test -count=1 -v -timeout 1h ./internal/check/fleet -fleet.ticks 300 -fleet.for 5m -fleet.cron 10m
	cd adapters/check && go test -count=1 -v -timeout 1h -run TestAFleetWhoseClocksAreOff . -fleet.ticks 300

failover: deps   ## 100 promotions by real Sentinels under load, with a table, and 20 former masters that are named again (15 minutes)
	go test -count=1 -v -timeout 1h -parallel 4 ./internal/check/failover -failover.n 25 -failover.sets 4 -failover.again 5

interop-deps: deps ## installs a JDK, Maven, Node.js, Python and Cargo by apt if they are missing, and the libraries into interop
	@scripts/interop-deps.sh
	@scripts/interop-clients.sh

interop: interop-deps ## real processes of nine libraries beside Holdfast: exclusion, 20,000 hand-offs with Redisson, crowds with kills, promises that shared locks of others break (30 minutes)
	cd interop && go test -count=1 -v -timeout 60m ./...

fence-test: fence-deps ## package fence on real PostgreSQL, MariaDB and SQLite, with 1,000 paused holders on each (2 minutes)
	cd fence/sqltest && go test -count=1 -v -timeout 30m ./...

ui-deps:         ## installs Chromium, a font and npm by apt if they are missing, and axe-core by npm
	@scripts/ui-deps.sh

ui-check: ui-deps ## the page of holdfast ui in Chromium: keys, names with markup, 1,000 names, axe-core, screenshots (2 minutes)
	cd internal/check/browser && go test -count=1 -v -timeout 20m ./...

bench: deps      ## compares with other locks, and measures hand-offs and waiting (about 20 minutes): bench/results; BENCH=-quick for 5
	cd bench && go run . all $(BENCH)
