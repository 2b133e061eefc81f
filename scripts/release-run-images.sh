#!/bin/sh
# Runs the two images in dist as containers, with the nodes $1. podman needs no daemon. The programs for arm64 run by
# qemu.
set -eu
cd "$(dirname "$0")/.."
nodes=$1
version=$(jq -er .version dist/metadata.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "release-run-images: $*" >&2
	exit 1
}
# podman would raise these limits, and a machine may forbid that.
run() {
	podman --runtime "$(command -v runc)" run --rm --network host --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"
}
for variant in image image-shell; do
	archive=dist/holdfast_${version}_$variant.tar
	for arch in arm64 amd64; do # the last one runs below
		image=$(podman pull --quiet --arch $arch "oci-archive:$archive")
		[ "$(podman image inspect -f '{{.Architecture}} {{.Config.User}}' "$image")" = "$arch 65532:65532" ] ||
			fail "$archive: $(podman image inspect -f '{{.Architecture}} {{.Config.User}}' "$image")"
		root=$(podman image mount "$image")
		found=$(openssl storeutl -noout -certs "$root/etc/ssl/certs/ca-certificates.crt" | sed -n 's/^Total found: //p')
		[ "${found:-0}" -ge 100 ] || fail "$archive $arch has ${found:-no} CA certificates"
		[ "$(stat -c %a "$root/tmp") $(stat -c %u "$root/var/lib/holdfast")" = "1777 65532" ] || fail "$archive $arch: /tmp or the home has wrong rights"
		[ -z "$(find "$root" -perm /6000)" ] || fail "$archive $arch has programs with the rights of another user"
		if [ $arch = arm64 ]; then
			said=$(qemu-aarch64-static "$root/usr/bin/holdfast" --version)
			[ $variant = image ] || [ "$(qemu-aarch64-static "$root/bin/busybox" sh -c 'echo $((6 * 7))')" = 42 ] || fail "$archive: no shell for arm64"
		else
			said=$(run "$image" --version)
		fi
		echo "$said" | grep -q "^holdfast v$version (commit [0-9a-f]\{12\}, go.*linux/$arch" || fail "$archive $arch says: $said"
		echo "$variant $arch: $found certificates, $(podman image inspect -f '{{.Size}}' "$image") bytes, $said"
		podman image unmount "$image" >/dev/null
	done
	# The lock works as the user of the image. A command needs the variant shell.
	status=0
	said=$(run "$image" run --nodes "$nodes" release-image -- sh -c 'echo "uid=$(id -u) pid1=$(cat /proc/1/comm)"' 2>&1) || status=$?
	case $variant-$status-$said in
	"image-127-"* | "image-shell-0-uid=65532 pid1=holdfast") ;;
	*) fail "$variant: holdfast run ends with $status: $said" ;;
	esac
done

# Jobs of holdfast cron in the variant shell. Orphans must not stay as zombies: holdfast is the init of the container.
echo "every 1s release-image-job sh -c '(sleep 0.1 &); echo tick by \$(id -u) in \$PWD, \$(grep -l \"^State:.Z\" /proc/[0-9]*/status 2>/dev/null | wc -l) zombies; date >>\$HOME/ran'" >"$work/jobs"
chmod 644 "$work/jobs"
chmod 755 "$work"
run --name "holdfast-release-$$" -e HOLDFAST_NODES="$nodes" -v "$work/jobs:/etc/holdfast/jobs:ro" "$image" >"$work/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ "$(grep -c 'tick by 65532 in /var/lib/holdfast, 0 zombies' "$work/out")" -lt 4 ] || break
	sleep 0.2
done
podman stop --time 15 "holdfast-release-$$" >/dev/null
status=0
wait $pid || status=$?
cat "$work/out"
[ "$(grep -c 'tick by 65532 in /var/lib/holdfast, 0 zombies' "$work/out")" -ge 4 ] || fail "holdfast cron did not run its job"
[ $status = 0 ] || fail "holdfast cron ended with $status"
