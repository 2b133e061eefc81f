#!/bin/sh
# Vets and checks (staticcheck) modules: scripts/vet.sh MODULE... Each is a module of its own, so ./... in the root does
# not include it. Also runs the tests that need no server. Other targets of make run the rest. If Go is too old for a
# module, the script says so and does not fail.
set -eu
cd "$(dirname "$0")/.."
# The modules do not require staticcheck, so it is built outside of them, at the version of the Makefile.
version=$(sed -n 's/^STATICCHECK = //p' Makefile)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install "$version"
for module; do
	if ! said=$(go -C "$module" list -m 2>&1); then
		case $said in
		*"requires go >= "* | *"toolchain not available"* | *"download go1"*)
			echo "SKIPPED: $module is neither vetted nor tested, because it needs Go $(sed -n 's/^go //p' "$module/go.mod"): $said" >&2
			continue
			;;
		esac
		echo "$said" >&2
		exit 1
	fi
	echo "go -C $module vet ./... and staticcheck"
	go -C "$module" vet ./...
	(cd "$module" && "$bin/staticcheck" ./...)
	case $module in
	bench)
		go -C bench build -o /dev/null ./...
		go -C bench test -skip '^TestRivalsUnderFaults$' ./...
		;;
	adapters/gocron | adapters/robfigcron)
		go -C "$module" test ./...
		;;
	esac
done
