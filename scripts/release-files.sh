#!/bin/sh
# Makes the files of packages that come from the program itself, in packaging/generated: manual pages, completion, and
# the licences of the modules in it. The same commit makes the same files. $1 is the version.
set -eu
cd "$(dirname "$0")/.."
to=packaging/generated
rm -rf $to
mkdir -p $to/man $to/completion
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
version=${1:?the version, such as v0.1.0}
go build -trimpath -ldflags "-X github.com/holdfast-go/holdfast/cmd/holdfast/internal/cli.releaseVersion=$version" -o "$bin/holdfast" ./cmd/holdfast
"$bin/holdfast" man $to/man
gzip -9n $to/man/*.1
"$bin/holdfast" completion bash >$to/completion/holdfast.bash
"$bin/holdfast" completion zsh >$to/completion/_holdfast
"$bin/holdfast" completion fish >$to/completion/holdfast.fish
go run ./verify/licences -texts >$to/licences.txt
