#!/bin/sh
# Rehearses a release of the last commit, with the changes in files that git knows, and publishes nothing. A clone gets
# a version and its tags. goreleaser, the go command, apt, rpm, systemd and podman then do what they will do with a real
# release, on this machine. The results are in dist. Everything must pass: nothing is left out.
set -eu
cd "$(dirname "$0")/.."
scripts/release-deps.sh
version=v0.99.0
fail() {
	echo "release-check: $*" >&2
	exit 1
}
began=$(date +%s)
step() {
	echo "== $* ($(($(date +%s) - began)) s)"
}
work=$(mktemp -d)
redis=""
trap '[ -z "$redis" ] || kill $redis; rm -rf "$work"' EXIT
export GIT_AUTHOR_NAME=release-check GIT_AUTHOR_EMAIL=release-check@example.com
export GIT_COMMITTER_NAME=release-check GIT_COMMITTER_EMAIL=release-check@example.com

# A server for the programs of this check. After ten seconds with a client its node votes.
port=$((20000 + $$ % 10000))
"${SERVER:-redis-server}" --port $port --bind 127.0.0.1 --save "" --dir "$work" >"$work/redis.log" &
redis=$!
nodes=redis://127.0.0.1:$port

step "a clone at $version, with its tags"
commit=$(git stash create)
git clone -q --shared --no-tags --no-checkout . "$work/clone"
git -C "$work/clone" checkout -q "${commit:-HEAD}"
(
	cd "$work/clone"
	scripts/set-version.sh $version >"$work/tags"
	! git grep -n "holdfast-go/holdfast.* v0\.0\.0" -- '*go.mod' go.work || fail "set-version.sh left these"
	git commit -qam "Version $version"
	while read -r tag; do git tag "$tag"; done <"$work/tags"
)
cat "$work/tags"

step "goreleaser: archives, deb, rpm, cask, checksums, lists of parts"
goreleaser=$PWD/scripts/goreleaser.sh
rm -rf dist
(
	cd "$work/clone"
	"$goreleaser" check
	GORELEASER_CURRENT_TAG=$version "$goreleaser" release --clean --skip=publish
)
mv "$work/clone/dist" dist
scripts/release-archives.sh
kill -0 $redis || fail "the server ended: $(cat "$work/redis.log")"
mkdir "$work/bin"
tar -xzf dist/holdfast_*_linux_"$(go env GOARCH)".tar.gz -C "$work/bin" holdfast
"$work/bin/holdfast" nodes trust --nodes "$nodes" --yes

step "the modules, by the go command"
scripts/release-modules.sh "$work/clone" "$work/tags" "$nodes"

step "container images, by podman"
scripts/release-images.sh | tee "$work/first"
scripts/release-images.sh >"$work/second"
diff "$work/first" "$work/second" || fail "a second build of the images differs"
scripts/release-run-images.sh "$nodes"

step "deb and rpm, in a Debian that boots"
scripts/release-packages.sh "$nodes"

step "passed; dist has"
ls -sh dist | grep -E '\.(deb|rpm|tar|tar\.gz|zip|json)$|SUMS'
