#!/bin/sh
# Runs the quick tests on each server that scripts/servers.sh fetched, without the race detector: the drivers, the
# scripts, the scripts beside their model, whole clients, the locks of other libraries, and the command. Prints one line
# for each server. Fails if one fails. ONLY=regexp selects servers. The logs are in .verify/servers, which git ignores.
set -eu
cd "$(dirname "$0")/.."
servers=$(scripts/servers.sh "${ONLY:-.}")
unset ONLY
[ -n "$servers" ] || { echo "make servers: no server has such a name" >&2; exit 1; }
export GOFLAGS="${GOFLAGS:-} -trimpath"
logs=.verify/servers
mkdir -p "$logs"
# The longest are first.
packages="./cmd/holdfast/internal/cli ./verify/e2e ./internal/nodemodel ./internal/redistest ./internal/core/nodescript ./node/...
	./cmd/holdfast/internal/doctor ./verify/embedded ./compat/..."
# A server may lack TLS. Then the tests of these names do not run on it, and its line says so.
tls=$(git grep -lF 'TLS()' -- '*_test.go' | xargs awk '/^func /{ name = $2 } /[^A-Za-z]TLS\(\)/ { sub(/\(.*/, "", name); print name }' | sort -u | paste -sd '|')
failed=0
while read -r name program; do
	without="" skip='^$'
	if "$program" --port 0 --tls-port 1 --tls-cert-file none 2>&1 </dev/null | grep -q 'Failed finding TLS support'; then
		without=", without TLS" skip="^($tls)\$"
	fi
	began=$(date +%s) result=passed
	# shellcheck disable=SC2086 # a list of packages
	SERVER=$program nice -n 5 go test -vet=off -ldflags=-s -count=1 -short -p 3 -parallel 4 -timeout 30m -skip "$skip" $packages \
		>"$logs/$name.log" 2>&1 </dev/null || result=FAILED failed=1
	version=$("$program" --version | sed 's/^\([A-Za-z]*\) server v=\([^ ]*\).*/\1 \2/')
	echo "$name: $version $result$without, $(($(date +%s) - began)) s"
	[ "$result" = passed ] || grep -E '^ *--- FAIL|^FAIL|panic:' "$logs/$name.log" || true
done <<END
$servers
END
exit $failed
