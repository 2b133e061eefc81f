#!/bin/sh
# Uses the modules of a release as their users will, from the tags $2 (a file) of the repository $1, with the nodes $3.
# git serves the repository in place of GitHub, so the go command reads the tags as it will read them there.
set -eu
cd "$(dirname "$0")/.."
repository=$(cd "$1" && pwd)
tags=$(cat "$2")
nodes=$3
module=$(sed -n 's/^module //p' go.mod)
version=$(echo "$tags" | head -n 1)
readme=$(pwd)/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "release-modules: $*" >&2
	exit 1
}
cat >"$work/gitconfig" <<END
[url "file://$repository"]
	insteadOf = https://$module
[safe]
	directory = *
END
# All other modules come from the cache of this machine, or as usual.
GOPROXY="file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)"
export GOPROXY GIT_CONFIG_GLOBAL="$work/gitconfig" GOPRIVATE="${module%/*}" GOMODCACHE="$work/modules" GOBIN="$work/bin"
export GOFLAGS="-modcacherw -trimpath" GOWORK=off
cd "$work"

go install "$module/cmd/holdfast@$version"
said=$(bin/holdfast --version)
case $said in
"holdfast $version "*) echo "go install $module/cmd/holdfast@$version: $said" ;;
*) fail "go install made: $said" ;;
esac
[ "$(bin/holdfast run --nodes "$nodes" release-check -- echo mine)" = mine ] || fail "the installed command got no lock"

# The program of the README, with the nodes of this check. It prints its token.
mkdir program
cd program
awk '/^```go/ {inside = 1; next} /^```/ {if (inside) exit} inside' "$readme" |
	sed "s#rueidisnode.Open(.*)#rueidisnode.Open(\"$nodes\")#" >main.go
go mod init example.com/report 2>/dev/null
go mod tidy 2>/dev/null
grep -q "$module $version\$" go.mod || fail "go mod tidy did not find $version: $(cat go.mod)"
said=$(go run . 2>&1)
echo "$said" | grep -Eq '[1-9][0-9]{9,}$' || fail "the program of the README says: $said"
echo "the program of the README, after go mod tidy: $said"

# Every module of the release, in one program: all packages compile, and no go.mod has a replace or an old version.
all=""
for tag in $tags; do
	path=$module/${tag%"$version"}
	all="$all ${path%/}@$version"
done
# shellcheck disable=SC2086 # a list of modules
go get $all 2>"$work/said" || fail "go get$all: $(cat "$work/said")"
go build "$module/..." || fail "not all packages compile"
count=$(go list -m all | grep -c "^$module")
[ "$count" = "$(echo "$tags" | wc -l)" ] || fail "the program has $count modules of Holdfast: $(go list -m all | grep "^$module")"
if go list -m -f '{{.Path}} {{.Version}} {{.Replace}}' all | grep "^$module" | grep -v " $version <nil>\$"; then
	fail "these modules have another version, or a replace"
fi
echo "$count modules at $version compile in a program that requires them"
