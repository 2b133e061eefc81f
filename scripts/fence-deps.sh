#!/bin/sh
# Installs the databases of verify/sql: PostgreSQL and MariaDB. Does nothing if both exist.
set -eu

need=""
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || need="$need postgresql"
[ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null || need="$need mariadb-server-core"
command -v cc >/dev/null || need="$need gcc libc6-dev" # for the SQLite driver
[ -n "$need" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "make fence-deps: please install:$need (this script knows apt only)" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	sudo="sudo"
	command -v sudo >/dev/null || { echo "make fence-deps: run as root, or install sudo, or install:$need" >&2; exit 1; }
fi
echo "make fence-deps: installing$need" >&2
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
$sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
# The tests start their own servers. A server that nobody requested must not keep running.
case "$need" in *postgresql*)
	if command -v systemctl >/dev/null; then
		$sudo systemctl disable --now postgresql >/dev/null 2>&1 || true
	fi
	;;
esac
