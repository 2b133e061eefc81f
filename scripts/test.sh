#!/bin/sh
# A sample of every check, in two lines of work at once. $1 selects the mutants.
#
# The first line runs with the race detector and on real servers. Most of its tests wait, so the end-to-end tests run
# beside two other packages at a time, and several tests of each run at once. The second line only computes. It has no
# race detector: simulations under it are ten times slower, and its scheduler draws lots. The second line and all builds
# have a lower priority, so they use the time for which the first line waits, and hardly delay it.
set -eu
cd "$(dirname "$0")/.."
mutants=$1
low="nice -n 19"

check=./internal/check
# The tests of e2e that run in virtual time only compute, and so do one of chaos and the long ones of job. The first
# line skips them by name, so no other test may have such a name.
virtual=$(awk '/^func Test/ { name = $2; sub(/\(.*/, "", name) } /^}/ { name = "" } /synctest\.Test\(/ && name { print name }' $check/e2e/*_test.go | sort -u | tr '\n' '|')
virtual="${virtual}TestABadLeaseInALongHistoryIsFoundInItsWindow"
virtual="$virtual|TestEveryTickRunsOnce|TestNodesThatForgetRepeatNoTick|TestOnceLooksAtTheClockAfterItsWait|TestACallOfOnceKeepsTheOutcome"
if git grep -hoE "^func ($virtual)\(" -- '*_test.go' | sort | uniq -d | grep . >&2; then
	echo "make test: two packages have tests of these names" >&2
	exit 1
fi
for name in $(echo "$virtual" | tr '|' ' '); do
	git grep -q "^func $name(" -- '*_test.go' || { echo "make test: there is no $name" >&2; exit 1; }
done
virtual="^($virtual)\$"
computing='/internal/check/(sim|bids|models|models/.*|mutants|nodemodel|values)$'
worlds='^TestPromisesHoldInSimulatedWorlds$' # scripts/sim.sh runs it, on all processors
all=$(go list ./...)
long="./internal/command/cli $check/chaos $check/fleet"
# shellcheck disable=SC2086 # lists of packages
first="$long $(printf '%s\n' $all | grep -Ev "$computing|/internal/check/(e2e|chaos|fleet)\$|/internal/command/cli\$")"
second=$(printf '%s\n' "$all" | grep -E "$computing")

log=$(mktemp)
log2=$(mktemp)
trap 'rm -f "$log" "$log2"' EXIT
# shellcheck disable=SC2086
compute() {
	status=0
	$low go build -o /dev/null ./cmd/holdfast || status=1 # once: several tests of the first line build it
	$low go run $check/mutants -run "$mutants" || status=1
	$low go test -vet=off -short -timeout 30m -skip "$worlds" $second || status=1
	$low go test -vet=off -short -timeout 30m -run "$virtual" $check/e2e $check/chaos ./job || status=1
	$low scripts/sim.sh 60000 || status=1
	return $status
}
real() { go test -vet=off -short -race -timeout 30m -toolexec "$low" -skip "$virtual" "$@"; }
real -parallel 4 $check/e2e >"$log2" 2>&1 &
whole=$!
compute >"$log" 2>&1 &
computing=$!
trap 'kill $computing $whole 2>/dev/null; rm -f "$log" "$log2"; exit 130' INT TERM

failed=0
# shellcheck disable=SC2086
real -p 2 -parallel 4 $first || failed=1
wait $whole || failed=1
cat "$log2"
wait $computing || failed=1
cat "$log"
exit $failed
