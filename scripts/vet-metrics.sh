#!/bin/sh
# Vets and checks (staticcheck) the modules for metrics. Each is a module of its own, so ./... does not include it. Their
# tests need redis-server and prometheus: make metrics runs them. If Go is too old for a module, the script says so and
# does not fail.
set -eu
cd "$(dirname "$0")/.."
# The modules do not require staticcheck, so it is built outside of them, at the version of the Makefile.
version=$(sed -n 's/^STATICCHECK = //p' Makefile)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install "$version"
tool=$bin/staticcheck
cd metrics
for module in promholdfast otelholdfast check; do
	if ! said=$(go -C $module list -m 2>&1); then
		case $said in
		*"requires go >= "* | *"toolchain not available"* | *"download go1"*)
			echo "SKIPPED: metrics/$module is not vetted, because it needs Go $(sed -n 's/^go //p' $module/go.mod): $said" >&2
			continue
			;;
		esac
		echo "$said" >&2
		exit 1
	fi
	echo go -C metrics/$module vet ./...
	go -C $module vet ./...
	echo "$tool" metrics/$module
	(cd $module && "$tool" ./...)
done
