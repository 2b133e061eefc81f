#!/bin/sh
# Installs the client libraries that the tests of interop run, into interop's own folders: a virtual environment of Python,
# node_modules, and the targets of Cargo and Maven. Does nothing where that is done since the last change of a list.
set -eu
cd "$(dirname "$0")/../verify/interop"

# stale FOLDER STAMP FILE… : whether a file of the folder is newer than the stamp
stale() {
	folder=$1 stamp=$1/$2
	shift 2
	[ -e "$stamp" ] || return 0
	for file; do [ "$folder/$file" -nt "$stamp" ] && return 0; done
	return 1
}

if stale python .venv/done requirements.txt; then
	python3 -m venv python/.venv
	python/.venv/bin/pip install -q --disable-pip-version-check -r python/requirements.txt
	touch python/.venv/done
fi
if stale node node_modules/done package.json; then
	npm --prefix node install --no-package-lock --no-audit --no-fund --silent
	touch node/node_modules/done
fi
if stale rust target/done Cargo.toml Cargo.lock src/main.rs; then
	cargo build -q --manifest-path rust/Cargo.toml
	touch rust/target/done
fi
if stale spring target/done pom.xml src/main/java/Peer.java; then
	mvn -q -B -Dstyle.color=never -f spring/pom.xml compile dependency:copy-dependencies -DoutputDirectory=target/lib
	touch spring/target/done
fi
