#!/bin/sh
# Makes the Go module in the present directory use this copy of the repository, for each module of Holdfast that programs
# import. Until there is a release, a program cannot get them in another way.
set -eu
copy=$(cd "$(dirname "$0")/.." && pwd)
for file in $(cd "$copy" && git ls-files go.mod '*/go.mod' ':!verify' ':!examples' ':!cmd'); do
	module=$(awk '$1 == "module" { print $2; exit }' "$copy/$file")
	folder=$copy/$(dirname "$file")
	go mod edit -replace="$module=${folder%/.}"
done
