#!/bin/sh
# Installs the programs that the tests run: redis-server (or the value of SERVER, such as valkey-server), and a C
# compiler for Go's race detector and the clock shim. Does nothing if both exist.
set -eu

server=${SERVER:-redis-server}
need=""
command -v "$server" >/dev/null || need="$need $server"
command -v cc >/dev/null || need="$need gcc libc6-dev"
[ -n "$need" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "make deps: please install:$need (this script knows apt only)" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	sudo="sudo"
	command -v sudo >/dev/null || { echo "make deps: run as root, or install sudo, or install:$need" >&2; exit 1; }
fi
echo "make deps: installing$need" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
$sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
# The tests start their own servers. A server that nobody requested must not keep running.
case "$need" in *"$server"*)
	if command -v systemctl >/dev/null; then
		$sudo systemctl disable --now "$server" >/dev/null 2>&1 || true
	fi ;;
esac
"$server" --version >&2
