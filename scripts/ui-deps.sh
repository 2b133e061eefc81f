#!/bin/sh
# Installs the programs of make ui-check: Chromium, a font, npm, and axe-core, which checks the page for people who use a
# screen reader or a keyboard. Does nothing if all exist.
set -eu
cd "$(dirname "$0")/.."

need=""
command -v chromium >/dev/null || need="$need chromium fonts-dejavu-core"
command -v npm >/dev/null || need="$need npm"
if [ -n "$need" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "make ui-deps: please install:$need (this script knows apt only)" >&2
		exit 1
	fi
	sudo=""
	if [ "$(id -u)" != 0 ]; then
		sudo="sudo"
		command -v sudo >/dev/null || { echo "make ui-deps: run as root, or install sudo, or install:$need" >&2; exit 1; }
	fi
	echo "make ui-deps: installing$need" >&2
	export DEBIAN_FRONTEND=noninteractive
	$sudo apt-get update -qq
	# shellcheck disable=SC2086 # a list of packages
	$sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
fi
cd cmd/holdfast/internal/browser
[ -f node_modules/axe-core/axe.min.js ] || npm ci --ignore-scripts --no-audit --no-fund --silent
