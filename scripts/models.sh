#!/bin/sh
# Runs the model checkers with $1 (-models.full: the main configurations and all broken
# variants, -models.large: the long ones too) and prints what each visited.
set -eu
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
go test -count=1 -timeout 1h ./internal/models/... -models.table "$table" "$1" || status=$?
printf '| configuration | states | verdict | memory | time |\n|---|---|---|---|---|\n'
cat "$table"
exit $status
