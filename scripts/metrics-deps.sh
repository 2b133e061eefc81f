#!/bin/sh
# Installs Prometheus and its promtool for verify/metrics. Does nothing if both exist.
set -eu

need=""
{ command -v prometheus && command -v promtool; } >/dev/null || need="prometheus"
[ -n "$need" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "make metrics-deps: please install: $need (this script knows apt only)" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	sudo="sudo"
	command -v sudo >/dev/null || { echo "make metrics-deps: run as root, or install sudo, or install: $need" >&2; exit 1; }
fi
echo "make metrics-deps: installing $need" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
# The test starts its own Prometheus. A server that nobody requested must not keep running.
if command -v systemctl >/dev/null; then
	$sudo systemctl disable --now prometheus >/dev/null 2>&1 || true
fi
prometheus --version 2>&1 | head -1 >&2
