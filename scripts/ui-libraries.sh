#!/bin/sh
# Fetches the libraries of the page of holdfast ui by npm, in fixed versions, and copies them without source maps. Then
# go test ./cmd/holdfast/internal/ui names the checksums that have changed.
set -eu
cd "$(dirname "$0")/../cmd/holdfast/internal/ui/page/lib"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --silent preact@11.2.0 htm@3.1.1
sed '/^\/\/# sourceMappingURL=/d' "$dir/node_modules/preact/dist/preact.mjs" >preact.js
cp "$dir/node_modules/htm/dist/htm.module.js" htm.js
cp "$dir/node_modules/preact/LICENSE" LICENSE.preact
cp "$dir/node_modules/htm/LICENSE" LICENSE.htm
