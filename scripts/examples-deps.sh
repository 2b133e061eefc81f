#!/bin/sh
# Installs sqlite3, which the example of a migration uses, if it is missing.
set -eu
command -v sqlite3 >/dev/null && exit 0
if ! command -v apt-get >/dev/null; then
	echo "make examples: please install sqlite3 (this script knows apt only)" >&2
	exit 1
fi
sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends sqlite3 >/dev/null
