#!/bin/sh
# Checks .goreleaser.yaml, and builds a release of the present commit into dist, without publishing it: archives, deb,
# rpm, checksums, lists of parts. The container image needs a Docker daemon, and is left out without one.
# Then it looks at the results: the version, the manual pages, the files of the deb.
set -eu
cd "$(dirname "$0")/.."
# The newest version whose requirements the module proxy has; v2.16 and v2.17 require a module that it refuses, and v2.18 needs Go 1.27.
goreleaser="go run github.com/goreleaser/goreleaser/v2@v2.15.1"
$goreleaser check
skip=publish
if ! docker version >/dev/null 2>&1; then
	echo "SKIPPED: no container image, because there is no Docker daemon" >&2
	skip=$skip,docker
fi
$goreleaser release --snapshot --clean --skip="$skip"

fail() {
	echo "release-check: $*" >&2
	exit 1
}
deb=$(echo dist/holdfast_*_linux_amd64.deb)
rpm=$(echo dist/holdfast_*_linux_amd64.rpm)
[ -s "$deb" ] && [ -s "$rpm" ] || fail "the deb or the rpm is missing"
(cd dist && sha256sum --quiet -c SHA256SUMS) || fail "a checksum is wrong"
[ "$(ls dist/*.cdx.json | wc -l)" = 8 ] || fail "not every program has its list of parts"
for list in dist/*.cdx.json; do
	grep -q '"pkg:golang/github.com/redis/rueidis@' "$list" || fail "$list does not name rueidis"
done
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
dpkg-deb --extract "$deb" "$root"
for file in usr/bin/holdfast usr/share/man/man1/holdfast-run.1.gz usr/share/bash-completion/completions/holdfast \
	usr/lib/systemd/system/holdfast-cron.service etc/holdfast/environment etc/holdfast/jobs usr/share/doc/holdfast/licences.txt; do
	[ -s "$root/$file" ] || fail "$deb has no $file"
done
[ "$(stat -c %a "$root/etc/holdfast/environment")" = 600 ] || fail "others may read /etc/holdfast/environment"
if [ "$(uname -sm)" = "Linux x86_64" ]; then
	"$root/usr/bin/holdfast" --version | grep -E "^holdfast v[^ ]+ \(commit [0-9a-f]{12}, go" || fail "the version is $("$root/usr/bin/holdfast" --version)"
	"$root/usr/bin/holdfast" cron --check "$root/etc/holdfast/jobs" || fail "the example of jobs is wrong"
fi
for page in "$root"/usr/share/man/man1/*.1.gz; do
	if command -v man >/dev/null; then
		warns=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
		[ -z "$warns" ] || fail "$page: $warns"
	fi
done
echo "release-check: dist has"
ls -sh dist | grep -E '\.(deb|rpm|tar\.gz|zip|json)$|SUMS'
