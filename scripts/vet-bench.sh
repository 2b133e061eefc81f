#!/bin/sh
# Vets and compiles bench. It is a module of its own, so ./... does not include it, and it uses internal/check/chaos. Also
# runs the tests of its demands and counts, which need no server. (make chaos-rivals runs rivals under faults.) If Go is
# too old for bench, the script says so and does not fail.
set -eu
cd "$(dirname "$0")/../bench"
if ! said=$(go list -m 2>&1); then
	case $said in
	*"requires go >= "* | *"toolchain not available"* | *"download go1"*)
		echo "SKIPPED: bench is neither vetted nor tested, because it needs Go $(sed -n 's/^go //p' go.mod): $said" >&2
		exit 0
		;;
	esac
	echo "$said" >&2
	exit 1
fi
echo go -C bench vet ./...
go vet ./...
go build -o /dev/null ./...
echo go -C bench test ./...
go test -skip '^TestRivalsUnderFaults$' ./...
