#!/bin/sh
# Runs staticcheck, at the version $1, in every module of go.work. No module requires it, so it is built outside of them.
set -eu
cd "$(dirname "$0")/.."
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install "$1"
echo "staticcheck of all modules"
# shellcheck disable=SC2046 # a list of patterns
"$bin/staticcheck" $(go list -m -f '{{.Dir}}/...')
