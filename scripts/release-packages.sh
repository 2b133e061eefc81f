#!/bin/sh
# Installs the deb and the rpm in dist as their users will, with the nodes $1: in a new Debian whose systemd runs in a
# container (systemd-nspawn), and in one without systemd. scripts/release-in-debian.sh is what happens inside.
set -eu
cd "$(dirname "$0")/.."
nodes=$1
version=$(jq -er .version dist/metadata.json)
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
work=$(mktemp -d)
trap '$sudo rm -rf "$work"' EXIT
fail() {
	echo "release-packages: $*" >&2
	exit 1
}
mkdir "$work/without" "$work/debian"
# Debian 12: its systemd also starts on machines with the first version of cgroups.
$sudo mmdebstrap --quiet --variant=minbase bookworm - | $sudo tar -x -C "$work/without"
$sudo cp "dist/holdfast_${version}_linux_amd64.deb" "$work/without/holdfast.deb"
$sudo chroot "$work/without" apt-get install -y -qq --no-install-recommends ./holdfast.deb >"$work/out" 2>&1 || fail "no installation without systemd: $(cat "$work/out")"
[ "$($sudo chroot "$work/without" getent passwd holdfast | cut -d: -f6,7)" = "/var/lib/holdfast:/usr/sbin/nologin" ] || fail "without systemd there is no user"
$sudo chroot "$work/without" dpkg --purge holdfast >"$work/out" 2>&1 || fail "no purge without systemd: $(cat "$work/out")"
echo "without systemd: installed, the user made, purged"

$sudo mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,man-db,bash-completion,rpm bookworm - | $sudo tar -x -C "$work/debian"
$sudo mkdir "$work/debian/check"
$sudo cp "dist/holdfast_${version}_linux_amd64.deb" "dist/holdfast_${version}_linux_amd64.rpm" scripts/release-in-debian.sh "$work/debian/check/"
$sudo tee "$work/debian/etc/systemd/system/check.service" >/dev/null <<END
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
Environment=HOME=/root
ExecStart=/check/release-in-debian.sh $nodes
StandardOutput=file:/check/out
StandardError=file:/check/out
TimeoutStartSec=3min
END
$sudo mkdir -p "$work/debian/etc/systemd/system/multi-user.target.wants"
$sudo ln -s ../check.service "$work/debian/etc/systemd/system/multi-user.target.wants/"
flags=""
[ -d /run/systemd/system ] || flags="--register=no --keep-unit" # no systemd that could register the container
status=0
# shellcheck disable=SC2086 # a list of flags
$sudo systemd-nspawn --quiet -D "$work/debian" $flags --boot </dev/null >"$work/boot" 2>&1 || status=$?
$sudo cat "$work/debian/check/out" || cat "$work/boot"
[ $status = 0 ] || fail "the check inside ended with $status"
$sudo grep -qx "all passed" "$work/debian/check/out" || fail "the check inside did not reach its end"
