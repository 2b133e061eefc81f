#!/bin/sh
# Vets, checks (staticcheck) and tests the adapters for schedulers. Each is a module of its own, so ./... does not include it. Their tests here
# need no server. adapters/check is only vetted (make adapters runs its tests). If Go is too old for a module, the script
# says so and does not fail.
set -eu
cd "$(dirname "$0")/.."
# The modules of the adapters do not require staticcheck, so it is built outside of them, at the version of the Makefile.
version=$(sed -n 's/^STATICCHECK = //p' Makefile)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install "$version"
tool=$bin/staticcheck
cd adapters
for module in gocron robfigcron check; do
	if ! said=$(go -C $module list -m 2>&1); then
		case $said in
		*"requires go >= "* | *"toolchain not available"* | *"download go1"*)
			echo "SKIPPED: adapters/$module is neither vetted nor tested, because it needs Go $(sed -n 's/^go //p' $module/go.mod): $said" >&2
			continue
			;;
		esac
		echo "$said" >&2
		exit 1
	fi
	echo go -C adapters/$module vet ./...
	go -C $module vet ./...
	echo "$tool" adapters/$module
	(cd $module && "$tool" ./...)
	[ $module = check ] || go -C $module test ./...
done
