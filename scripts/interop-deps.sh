#!/bin/sh
# Installs the programs that the tests of interop run: a JDK (17 or later), Maven, Node.js (18 or later), Python 3, Ruby and
# Cargo.
# Does nothing if all exist. scripts/interop-clients.sh installs the libraries.
set -eu

need=""
command -v ruby >/dev/null || need="$need ruby"
command -v javac >/dev/null || need="$need default-jdk-headless"
command -v mvn >/dev/null || need="$need maven"
command -v npm >/dev/null || need="$need nodejs npm"
python3 -c 'import venv, ensurepip' 2>/dev/null || need="$need python3-venv"
command -v cargo >/dev/null || need="$need cargo"
[ -n "$need" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "make interop-deps: please install:$need (this script knows apt only)" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	sudo="sudo"
	command -v sudo >/dev/null || { echo "make interop-deps: run as root, or install sudo, or install:$need" >&2; exit 1; }
fi
echo "make interop-deps: installing$need" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
$sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
