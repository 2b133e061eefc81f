#!/bin/sh
# Builds the two container images of a release from the archives in dist, for amd64 and arm64, with podman, which needs
# no daemon. Writes each as an OCI archive into dist, and prints its size and digest: the same archives and the same
# packages of Debian (certificates, busybox) make the same images. With --push it also pushes them to a registry.
set -eu
cd "$(dirname "$0")/.."
suite=trixie
name=${IMAGE:-ghcr.io/holdfast-go/holdfast}
version=$(jq -er .version dist/metadata.json)
commit=$(jq -er .commit dist/metadata.json)
SOURCE_DATE_EPOCH=$(date -d "$(jq -er .date dist/metadata.json)" +%s)
export SOURCE_DATE_EPOCH
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
files=$(mktemp -d)
trap '$sudo rm -rf "$files"' EXIT
# A store of its own, which leaves nothing on the machine.
engine() {
	$sudo podman --storage-driver vfs --root "$files/store" --runroot "$files/run" "$@"
}

mkdir -p "$files/context/home"
for arch in amd64 arm64; do
	minimal=$files/context/$arch/minimal
	shell=$files/context/$arch/shell
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
for tool in $("$files/context/amd64/shell/bin/busybox" --list-full); do
	for arch in amd64 arm64; do
		[ "$tool" = bin/busybox ] || ln -s /bin/busybox "$files/context/$arch/shell/$tool"
	done
done

for variant in minimal shell; do
	suffix="" latest=latest
	[ $variant = minimal ] || suffix=-$variant latest=$variant
	list=$name:$version$suffix
	for arch in amd64 arm64; do
		engine build --quiet --platform linux/$arch --target $variant --timestamp "$SOURCE_DATE_EPOCH" -t "$list-$arch" \
			--label org.opencontainers.image.source=https://github.com/holdfast-go/holdfast \
			--label org.opencontainers.image.version="$version" --label org.opencontainers.image.revision="$commit" \
			--label org.opencontainers.image.licenses=Apache-2.0 -f packaging/Dockerfile "$files/context" >/dev/null
		archive=dist/holdfast_${version}_image${suffix}_$arch.tar
		rm -f "$archive"
		engine save --quiet --format oci-archive -o "$archive" "$list-$arch"
		echo "$archive $(stat -c %s "$archive") $(tar -xOf "$archive" index.json | jq -er '.manifests[0].digest')"
	done
	[ "${1:-}" = --push ] || continue
	engine manifest create "$list" "containers-storage:$list-amd64" "containers-storage:$list-arm64"
	engine manifest push --all "$list" "docker://$list"
	case $version in
	*-*) ;; # a release candidate
	*) engine manifest push --all "$list" "docker://$name:$latest" ;;
	esac
done
