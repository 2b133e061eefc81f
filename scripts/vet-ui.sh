#!/bin/sh
# Vets internal/check/browser and checks it with staticcheck. It is a module of its own, so ./... does not include it.
# (make ui-check runs its tests.)
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^STATICCHECK = //p' Makefile)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install "$version"
cd internal/check/browser
echo go -C internal/check/browser vet ./...
go vet ./...
"$bin/staticcheck" ./...
