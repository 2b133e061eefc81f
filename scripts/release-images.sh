#!/bin/sh
# Builds the two container images of a release from the archives in dist, for amd64 and arm64, with podman, which needs
# no daemon: dist/holdfast_VERSION_image.tar and dist/holdfast_VERSION_image-shell.tar (OCI). The certificates and
# busybox are those of Debian. The same archives and the same Debian packages make the same images.
# With --push it also pushes them to ghcr.io.
set -eu
cd "$(dirname "$0")/.."
suite=trixie
name=ghcr.io/holdfast-go/holdfast
version=$(jq -er .version dist/metadata.json)
commit=$(jq -er .commit dist/metadata.json)
SOURCE_DATE_EPOCH=$(date -d "$(jq -er .date dist/metadata.json)" +%s)
export SOURCE_DATE_EPOCH
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

mkdir "$files/home"
for arch in amd64 arm64; do
	minimal=$files/$arch/minimal
	shell=$files/$arch/shell
	debian=$files/debian-$arch
	mkdir -p "$minimal/usr/bin" "$minimal/etc/ssl/certs" "$minimal/usr/share/doc/holdfast" "$shell/usr/share/doc" "$debian"
	mkdir -m 1777 "$minimal/tmp"
	tar -xzf "dist/holdfast_${version}_linux_$arch.tar.gz" -C "$minimal/usr/share/doc/holdfast" holdfast LICENSE licences.txt
	mv "$minimal/usr/share/doc/holdfast/holdfast" "$minimal/usr/bin/holdfast"
	# The variant extract runs no program of the packages. So it works for another processor, too.
	$sudo mmdebstrap --quiet --variant=extract --architectures=$arch --include=busybox-static,ca-certificates $suite - |
		tar -x -C "$debian" --exclude='./dev/*'
	cat "$debian"/usr/share/ca-certificates/mozilla/*.crt >"$minimal/etc/ssl/certs/ca-certificates.crt"
	printf 'root:x:0:0:root:/:/bin/sh\nholdfast:x:65532:65532:Jobs of Holdfast:/var/lib/holdfast:/bin/sh\n' >"$minimal/etc/passwd"
	printf 'root:x:0:\nholdfast:x:65532:\n' >"$minimal/etc/group"
	cp -rL "$debian/usr/share/doc/busybox-static" "$shell/usr/share/doc/"
	mkdir -p "$shell/bin" "$shell/sbin" "$shell/usr/bin" "$shell/usr/sbin"
	cp "$debian/usr/bin/busybox" "$shell/bin/busybox"
done
# The same release of busybox has the same tools for every processor.
for tool in $("$files/amd64/shell/bin/busybox" --list-full); do
	for arch in amd64 arm64; do
		[ "$tool" = bin/busybox ] || ln -s /bin/busybox "$files/$arch/shell/$tool"
	done
done

for variant in minimal shell; do
	suffix=""
	latest=latest
	[ $variant = minimal ] || suffix=-$variant latest=$variant
	list=$name:$version$suffix
	podman manifest rm "$list" >/dev/null 2>&1 || true # of an earlier run
	podman build --quiet --no-cache --platform linux/amd64,linux/arm64 --target $variant --manifest "$list" \
		--timestamp "$SOURCE_DATE_EPOCH" -f packaging/Dockerfile \
		--label org.opencontainers.image.source=https://github.com/holdfast-go/holdfast \
		--label org.opencontainers.image.version="$version" --label org.opencontainers.image.revision="$commit" \
		--label org.opencontainers.image.licenses=Apache-2.0 "$files" >/dev/null
	archive=dist/holdfast_${version}_image$suffix.tar
	rm -f "$archive"
	podman manifest push --quiet --all "$list" "oci-archive:$archive" >/dev/null
	if [ "${1:-}" = --push ]; then
		podman manifest push --all "$list" "docker://$list"
		case $version in
		*-*) ;; # a release candidate
		*) podman manifest push --all "$list" "docker://$name:$latest" ;;
		esac
	fi
done
ls -sh dist/*_image*.tar
