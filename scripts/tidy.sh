#!/bin/sh
# go mod tidy in every module. Their go.mod files have no replace, because go install refuses a module with one; go.work
# joins them. go mod tidy ignores go.work, so the modules of this repository are replaced while it runs.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
module=$(sed -n 's/^module //p' go.mod)
dirs=$(go work edit -json | sed -n 's/.*"DiskPath": "\(.*\)".*/\1/p')
export GOWORK=off
for dir in $dirs; do
	(
		cd "$dir"
		for other in $dirs; do
			path=$module${other#.}
			[ "$other" = . ] && path=$module
			go mod edit -replace="$path=$root/$other"
		done
		go mod tidy "$@"
		for other in $dirs; do
			path=$module${other#.}
			[ "$other" = . ] && path=$module
			go mod edit -dropreplace="$path"
			if grep -q "$path v0.0.0-00010101000000-000000000000" go.mod; then
				sed -i "s#$path v0.0.0-00010101000000-000000000000#$path v0.0.0#" go.mod
			fi
		done
	)
done
