#!/bin/sh
# Vets and compiles bench, a module of its own, which ./... does not enter, and which uses internal/chaos; and runs those of its
# tests that are about what it demands and counts, which need no server. (The run that puts rivals under faults is make chaos-rivals.)
# A Go that is too old for it is told, and is no failure.
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
