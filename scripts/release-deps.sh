#!/bin/sh
# Installs the programs of a release and of its check by apt, if they are missing: podman (images), mmdebstrap and
# systemd-nspawn (a Debian of their own), qemu (arm64 programs), rpm, jq, unzip, openssl and ruby (reads the cask).
set -eu
cd "$(dirname "$0")/.."
scripts/deps.sh

need=""
for pair in podman:podman runc:runc jq:jq mmdebstrap:mmdebstrap systemd-nspawn:systemd-container rpm:rpm ruby:ruby unzip:unzip \
	qemu-aarch64-static:qemu-user-static openssl:openssl; do
	command -v "${pair%%:*}" >/dev/null || need="$need ${pair#*:}"
done
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || need="$need debian-archive-keyring"
[ -n "$need" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "make release-check: please install:$need (this script knows apt only)" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	sudo="sudo"
	command -v sudo >/dev/null || { echo "make release-check: run as root, or install sudo, or install:$need" >&2; exit 1; }
fi
echo "make release-check: installing$need" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
$sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
