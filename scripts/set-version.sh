#!/bin/sh
# Writes the version $1, such as v0.1.0, into the go.mod of every module, and into go.work: the modules of a release require
# each other at its version. Prints the tags of the release. Between releases the version is v0.0.0, which no proxy has.
set -eu
cd "$(dirname "$0")/.."
version=${1:-}
case "$version" in
v[0-9]*.[0-9]*.[0-9]*) ;;
*) echo "set-version: \"$version\": want a version such as v0.1.0" >&2; exit 2 ;;
esac
module=$(sed -n 's/^module //p' go.mod)
dirs=$(go work edit -json | sed -n 's/.*"DiskPath": "\(.*\)".*/\1/p')
for dir in $dirs; do
	sed -i "s#^\(\(require \|\t\)$module[^ ]*\) v[^ ]*#\1 $version#" "$dir/go.mod"
	case $dir in
	./verify | ./examples) ;; # nobody imports them
	.) echo "$version" ;;
	*) echo "${dir#./}/$version" ;;
	esac
done
sed -i "s#^\(\t$module[^ ]*\) v[^ ]* =>#\1 $version =>#" go.work
