#!/bin/sh
# A sample of every check, in two lines of work at once. $1 selects the mutants.
#
# The first line runs on real servers. Most of its tests wait, so it has three groups at once: the end-to-end tests, the
# tests that start processes of the command or of themselves, and all others. Several tests of each group run at once.
# The tests with processes have no race detector: it costs 0.2 s of processor for each process that starts. The second
# line only computes, without the race detector: simulations under it are ten times slower, and its scheduler draws
# lots. The second line and all builds have a lower priority, so they use the time for which the first line waits, and
# hardly delay it. The priority is not the lowest: beside another busy program, the builds would take hours.
set -eu
cd "$(dirname "$0")/.."
mutants=$1
low="nice -n 5"
# The compiler and the linker collect garbage less often: they need a tenth less processor time, and more memory. A test
# program has no symbol table, which only debuggers read, so linking is faster.
tools="$low env GOGC=400"
quick="-vet=off -short -timeout 30m -ldflags=-s"
# Programs do not contain the path of this directory, so the builds of another clone can be used again.
export GOFLAGS="${GOFLAGS:-} -trimpath"

check=./verify
# These tests of other packages only compute: one of chaos, the long ones of job, and the embedded node beside a server.
# One of fanout often crashes the race detector. The first line skips them by name, so no other test may have such a
# name.
long="TestABadLeaseInALongHistoryIsFoundInItsWindow"
long="$long|TestKilledRunners|TestEveryTickRunsOnce|TestNodesThatForgetRepeatNoTick|TestOnceLooksAtTheClockAfterItsWait|TestACallOfOnceKeepsTheOutcome"
long="$long|TestDirectCallsToANodeThatHangsAreLimited|TestALeapDayRunsOnce|TestNoScheduleEverStops|TestATickWhoseProcessDiesBeforeItIsTakenRuns|TestAnHourOfAFleetIsInItsBook"
long="$long|TestADeadProcessIsAlertedOnce|TestAJobThatNeverRanRunsWhenItIsAskedFor|TestAMissedTickIsAlertedAMinuteLater"
long="$long|TestARetiredJobThatAProcessHasComesBack|TestACrashHasATimeAndAReason|TestACrashOfAManualRunIsFoundSoon"
long="$long|TestScriptsRunAsOnRedis|TestQueueRunsAsOnRedis|TestReadersRunAsOnRedis|TestNoRecordAnswersForAnotherName"
if git grep -hoE "^func ($long)\(" -- '*_test.go' | sort | uniq -d | grep . >&2; then
	echo "make test: two packages have tests of these names" >&2
	exit 1
fi
for name in $(echo "$long" | tr '|' ' '); do
	git grep -q "^func $name(" -- '*_test.go' || { echo "make test: there is no $name" >&2; exit 1; }
done
long="^($long)\$"
# A third of the end-to-end tests, the tests of doctor, the scripts of the command and the locks that chaos must find unsafe
# run. The commit chooses them, so two runs of a commit are the same, and the next commit has others. What the working
# tree or the last commit changed always runs. WHOLE=1 leaves nothing out, and make verify runs all.
# A name that two packages have is skipped in both, so such tests always run.
commit=$(git rev-parse HEAD)
twice=$(git grep -hoE '^func Test[A-Za-z0-9_]+' -- '*_test.go' | sort | uniq -d | sed 's/func //' | tr '\n' ' ')
left=$({
	git grep -oE '^func Test[A-Za-z0-9_]+' -- 'verify/e2e/*_test.go' 'cmd/holdfast/internal/doctor/*_test.go' | sed 's/:func / /'
	for file in cmd/holdfast/internal/cli/testdata/script/*.txtar; do echo "$file TestScripts/$(basename "$file" .txtar)"; done
	for lock in one_server_without_persistence tokens_backwards no_quarantine; do echo "- TestAnUnsafeLockIsFoundOut/$lock"; done
} | awk -v commit="$commit" -v changed=" $({ git diff --name-only HEAD && git diff --name-only HEAD~1; } 2>/dev/null | tr '\n' ' ')" -v twice=" $twice" -v whole="${WHOLE:-}" '
	BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
	whole == "" && !index(changed, " " $1 " ") && !index(twice, " " $2 " ") {
		text = $2 commit; sum = 7
		for (i = 1; i <= length(text); i++) sum = (sum * 31 + code[substr(text, i, 1)]) % 65521
		if (int(sum / 16) % 3) { gsub("/", "$/^", $2); print "^" $2 "$" }
	}' | paste -sd '|')
if [ -z "$left" ]; then left='^$'; else echo "make test: commit $commit chooses a third of some tests; WHOLE=1 runs all"; fi
# These files of e2e run with the race detector: in their tests goroutines of one program share a client, a lease, a
# handle, an election or an observer. The others are about servers, or have so many messages that the detector makes
# them late.
raced="close do election election_observers finishedwaits handlekept handlettl leak lease list logger lonecaller loss mutex nested observer register renewal shared shared_join status unlock wakeup"
clusters="clusterrights clusteradmin rediscluster_adopt rediscluster_failover rediscluster_unadmitted rediscluster_lately rediscluster_open"
# shellcheck disable=SC2046 # a list of files
raced=$(cd $check/e2e && sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' $(printf '%s_test.go ' $raced) | paste -sd '|')
# The tests in these files wait for failovers and quarantines of a Redis Cluster, each with servers of its own. make cluster
# and make verify run them, and the mutants run many.
# shellcheck disable=SC2046 # a list of files
slow=$(cd $check/e2e && sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' $(printf '%s_test.go ' $clusters) | paste -sd '|')
computes='/(verify/(sim|bids|models|models/.*|values|virtual)|internal/nodemodel)$'
worlds='^TestPromisesHoldInSimulatedWorlds$' # scripts/sim.sh runs it, on all processors
# What needs other programs, or compares with rivals, has a target of its own. The other packages of all modules run.
elsewhere='/verify/(adapters|bench|docs|examples|incident|interop|locks|metrics|mutants|scripts|sql)$|/metrics/(prom|otel)holdfast$|/internal/browser$'
hour='^TestAnHourOfCronIsInItsBook$' # make fleet runs it: it needs Prometheus
# shellcheck disable=SC2046 # a list of patterns
all=$(go list $(go list -m -f '{{.Dir}}/...') | grep -Ev "$elsewhere")
starts='/cmd/holdfast/internal/(cli|demo|childprocess)$|/verify/(chaos|cluster|fleet|fencing)$'
processes="./cmd/holdfast/internal/cli $(printf '%s\n' "$all" | grep -E "$starts" | grep -v '/cli$')" # the longest first
others=$(printf '%s\n' "$all" | grep -Ev "$computes|$starts|/verify/e2e\$")
second=$(printf '%s\n' "$all" | grep -E "$computes")

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# shellcheck disable=SC2086
compute() {
	status=0
	$low go build -toolexec "$tools" -o /dev/null ./cmd/holdfast || status=1 # once: several tests of the first line build it
	$low go run $check/mutants -run "$mutants" || status=1
	$low go test $quick -toolexec "$tools" -skip "$worlds" $second || status=1
	$low go test $quick -toolexec "$tools" -run "$long" $check/chaos ./job $check/embedded ./internal/core/fanout || status=1
	$low go test $quick -toolexec "$tools" -skip '^TestRivalsUnderFaults$' $check/bench || status=1
	# These tests read files of other modules. Go's cache does not notice a change of such a file.
	$low go test $quick -toolexec "$tools" -count=1 $check/docs $check/locks $check/mutants $check/scripts || status=1
	$low go test $quick -toolexec "$tools" -count=1 -run '^(TestTheDashboard|TestTheRules)' ./metrics/promholdfast ./cmd/holdfast/internal/exporter $check/metrics || status=1
	$low scripts/sim.sh 25000 || status=1
	return $status
}
# shellcheck disable=SC2086
once() { go test $quick -toolexec "$tools" -skip "$long|$left" "$@"; }
# On a busy machine the race detector sometimes stops with an error of its own, which says nothing about the tests. (A
# SIGSEGV of Go code is a panic and looks otherwise, and Holdfast has no C code.) If each failed package has this error
# and no failed test, the packages run again. Those that passed are in Go's cache.
real() {
	log=$(mktemp "$logs/XXXXXX")
	{ once "$@" 2>&1 && ended=0 || ended=1; echo $ended >"$log.ended"; } | tee "$log"
	read -r ended <"$log.ended"
	[ "$ended" = 0 ] && return
	awk '/^(ThreadSanitizer: CHECK failed|SIGSEGV: segmentation violation)/ { itself = 1 } /^ *--- FAIL/ { failed = 1 }
		/^FAIL[[:space:]]/ { if (itself && !failed) n++; else bad = 1 }
		/^(FAIL|ok)[[:space:]]/ { itself = failed = 0 } END { exit bad || !n }' "$log" || return 1
	echo "make test: only the race detector failed, with an error of its own; the tests run again"
	once "$@"
}
compute >"$logs/computing" 2>&1 &
computing=$!
whole() {
	status=0
	real -race -parallel 4 -run "^($raced)\$" $check/e2e || status=1
	real -parallel 4 -skip "^($raced|$slow)\$|$left" $check/e2e || status=1
	return $status
}
whole >"$logs/e2e" 2>&1 &
whole=$!
# shellcheck disable=SC2086
real -p 2 -parallel 3 -skip "$long|$left|$hour" $processes >"$logs/processes" 2>&1 &
starting=$!
trap 'kill $computing $whole $starting 2>/dev/null; rm -rf "$logs"; exit 130' INT TERM

failed=0
# shellcheck disable=SC2086
real -race -p 2 -parallel 2 $others || failed=1
wait $starting || failed=1
cat "$logs/processes"
wait $whole || failed=1
cat "$logs/e2e"
wait $computing || failed=1
cat "$logs/computing"
exit $failed
