#!/bin/sh
# Looks at the archives, the checksums, the lists of parts and the cask that goreleaser wrote into dist.
set -eu
cd "$(dirname "$0")/../dist"
version=$(jq -er .version metadata.json)
commit=$(jq -er .commit metadata.json | cut -c 1-12)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "release-archives: $*" >&2
	exit 1
}
for os in linux darwin freebsd windows; do
	for arch in amd64 arm64; do
		here=$work/$os-$arch
		mkdir "$here"
		archive=holdfast_${version}_${os}_$arch
		program=$here/holdfast
		if [ $os = windows ]; then
			archive=$archive.zip program=$program.exe
			unzip -q "$archive" -d "$here"
		else
			archive=$archive.tar.gz
			tar -xzf "$archive" -C "$here"
		fi
		for file in LICENSE README.md CHANGELOG.md licences.txt man/holdfast-run.1.gz completion/holdfast.bash completion/_holdfast completion/holdfast.fish; do
			[ -s "$here/$file" ] || fail "$archive has no $file"
		done
		go version -m "$program" >"$work/parts"
		grep -q "GOOS=$os\$" "$work/parts" && grep -q "GOARCH=$arch\$" "$work/parts" || fail "$archive has a program for another system"
		grep -aq "v$version" "$program" || fail "$archive: the program does not know its version"
		list=holdfast_${version}_${os}_$arch.cdx.json
		jq -er '.components[].purl' "$list" >"$work/purls"
		# Each module of the program is in its list of parts.
		awk '$1 == "dep" {print "pkg:golang/" $2 "@"}' "$work/parts" | while read -r part; do
			grep -qiF "$part" "$work/purls" || fail "$list lacks $part"
		done
		grep -q " $archive\$" SHA256SUMS || fail "SHA256SUMS lacks $archive"
	done
done
for file in *.deb *.rpm *.cdx.json; do
	grep -q " $file\$" SHA256SUMS || fail "SHA256SUMS lacks $file"
done
sha256sum --quiet -c SHA256SUMS || fail "a checksum is wrong"

for arch in amd64 arm64; do
	case $arch in
	"$(dpkg --print-architecture)") said=$("$work/linux-$arch/holdfast" --version) ;;
	arm64) said=$(qemu-aarch64-static "$work/linux-arm64/holdfast" --version) ;;
	*) fail "this check runs on amd64" ;;
	esac
	echo "$said" | grep "^holdfast v$version (commit $commit, go" || fail "the program for linux/$arch says: $said"
done

# The packages of both processors have the program of the archive, and say for which processor it is.
for pair in amd64:x86_64 arm64:aarch64; do
	arch=${pair%:*}
	sum=$(sha256sum <"$work/linux-$arch/holdfast" | cut -d' ' -f1)
	package=holdfast_${version}_linux_$arch
	[ "$(dpkg-deb -f "$package.deb" Architecture Version | tr '\n' ' ')" = "Architecture: $arch Version: $version " ] || fail "$package.deb says: $(dpkg-deb -f "$package.deb")"
	[ "$(dpkg-deb --fsys-tarfile "$package.deb" | tar -xO ./usr/bin/holdfast | sha256sum | cut -d' ' -f1)" = "$sum" ] || fail "$package.deb has another program"
	[ "$(rpm -qp --qf '%{ARCH} %{VERSION}' "$package.rpm")" = "${pair#*:} $version" ] || fail "$package.rpm is for $(rpm -qp --qf '%{ARCH} %{VERSION}' "$package.rpm")"
	rpm -qp --qf '[%{FILENAMES} %{FILEDIGESTS}\n]' "$package.rpm" | grep -qx "/usr/bin/holdfast $sum" || fail "$package.rpm has another program"
done

cask=homebrew/Casks/holdfast.rb
ruby -c "$cask" >/dev/null || fail "$cask is not Ruby"
for os in darwin linux; do
	for arch in amd64 arm64; do
		sum=$(sed -n "s/ *holdfast_${version}_${os}_$arch.tar.gz\$//p" SHA256SUMS)
		grep -q "sha256 \"$sum\"" "$cask" || fail "$cask lacks the sum of $os $arch"
	done
done
grep -o '"\(man\|completion\)/[^"]*"' "$cask" | tr -d '"' | sort >"$work/named"
(cd "$work/darwin-arm64" && find man completion -type f | sort) >"$work/has"
diff "$work/named" "$work/has" || fail "$cask does not name the pages and completions of the archive"
