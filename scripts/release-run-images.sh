#!/bin/sh
# Runs the two images in dist as containers, with the nodes $1. podman needs no daemon. The programs for arm64 run by
# qemu.
set -eu
cd "$(dirname "$0")/.."
nodes=$1
version=$(jq -er .version dist/metadata.json)
work=$(mktemp -d)
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
trap '$sudo rm -rf "$work"' EXIT
fail() {
	echo "release-run-images: $*" >&2
	exit 1
}
engine() {
	$sudo podman --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"
}
# podman would raise these limits, and a machine may forbid that.
run() {
	engine --runtime "$(command -v runc)" run --rm --network host --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 "$@"
}
for variant in image image-shell; do
	for arch in arm64 amd64; do # the last one runs below
		archive=dist/holdfast_${version}_${variant}_$arch.tar
		image=$(engine load --quiet -i "$archive" | sed 's/^Loaded image: //')
		[ "$(engine image inspect -f '{{.Architecture}} {{.Config.User}}' "$image")" = "$arch 65532:65532" ] ||
			fail "$archive: $(engine image inspect -f '{{.Architecture}} {{.Config.User}}' "$image")"
		root=$(engine image mount "$image")
		found=$($sudo openssl storeutl -noout -certs "$root/etc/ssl/certs/ca-certificates.crt" | sed -n 's/^Total found: //p')
		[ "${found:-0}" -ge 100 ] || fail "$archive has ${found:-no} CA certificates"
		[ "$($sudo stat -c %a "$root/tmp") $($sudo stat -c %u "$root/var/lib/holdfast")" = "1777 65532" ] || fail "$archive: /tmp or the home has wrong rights"
		[ -z "$($sudo find "$root" -perm /6000)" ] || fail "$archive has programs with the rights of another user"
		if [ $arch = arm64 ]; then
			said=$($sudo qemu-aarch64-static "$root/usr/bin/holdfast" --version)
			[ $variant = image ] || [ "$($sudo qemu-aarch64-static "$root/bin/busybox" sh -c 'echo $((6 * 7))')" = 42 ] || fail "$archive: no shell for arm64"
		else
			said=$(run "$image" --version)
		fi
		echo "$said" | grep -q "^holdfast v$version (commit [0-9a-f]\{12\}, go" || fail "$archive says: $said"
		echo "$variant $arch: $found certificates, $(engine image inspect -f '{{.Size}}' "$image") bytes, $said"
		engine image unmount "$image" >/dev/null
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
engine stop --time 15 "holdfast-release-$$" >/dev/null
status=0
wait $pid || status=$?
cat "$work/out"
[ "$(grep -c 'tick by 65532 in /var/lib/holdfast, 0 zombies' "$work/out")" -ge 4 ] || fail "holdfast cron did not run its job"
[ $status = 0 ] || fail "holdfast cron ended with $status"
