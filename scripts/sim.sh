#!/bin/sh
# Simulates $1 attempts in as many processes as there are processors, or the world of seed $2. A bubble of
# testing/synctest runs on one processor, so each process takes a part of the seeds.
set -eu
attempts=${1:-1000000} seed=${2:-} first=${3:-1}
# number fails unless its argument is a whole number above zero.
number() {
	case "$2" in
	*[!0-9]* | "" | 0 | 0* | ???????????????????*) echo "make sim: $1=$2: want a whole number from 1 on, of at most 18 digits" >&2; exit 2 ;;
	esac
}
number N "$attempts"
number FIRST "$first"
[ -z "$seed" ] || number SEED "$seed"
tests='^TestPromisesHoldInSimulatedWorlds$'
if [ -n "$seed" ]; then
	exec go test ./verify/sim -count=1 -v -run "$tests" -sim.seed "$seed"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
processes=$(getconf _NPROCESSORS_ONLN)
go test -c -o "$dir/sim" ./verify/sim
pids=
trap 'kill $pids 2>/dev/null; exit 130' INT TERM
i=0
while [ $i -lt "$processes" ]; do
	"$dir/sim" -test.v -test.timeout 24h -test.run "$tests" -sim.n $(((attempts + processes - 1) / processes)) \
		-sim.shard $i -sim.of "$processes" -sim.first "$first" -sim.tally "$dir/tally.$i" >"$dir/$i" & # progress messages go to stderr
	pids="$pids $!"
	i=$((i + 1))
done
failed=0
for pid in $pids; do
	wait "$pid" || failed=1
done
cat "$dir"/[0-9]*
if [ $failed = 0 ] && [ "$processes" -gt 1 ]; then
	"$dir/sim" -test.run '^TestTalliesAreSummed$' -sim.sum "$(echo "$dir"/tally.* | tr ' ' ',')" || failed=1
fi
exit $failed
