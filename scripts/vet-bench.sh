#!/bin/sh
# Vets and compiles bench, tests and all: a module of its own, which ./... does not enter, and which uses internal/chaos.
# A Go that is too old for it is told, and is no failure.
set -eu
cd "$(dirname "$0")/../bench"
if ! said=$(go list -m 2>&1); then
	case $said in
	*"requires go >= "* | *"toolchain not available"* | *"download go1"*)
		echo "SKIPPED: bench is neither vetted nor compiled, because it needs Go $(sed -n 's/^go //p' go.mod): $said" >&2
		exit 0
		;;
	esac
	echo "$said" >&2
	exit 1
fi
echo go -C bench vet ./...
go vet ./...
go build -o /dev/null ./...
