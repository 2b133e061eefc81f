#!/bin/sh
# Runs the model checkers with $1 and prints how many states each visited. -models.full runs the main configurations and
# all broken variants, -models.large also the long ones.
set -eu
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
go test -count=1 -timeout 1h ./verify/models/... -models.table "$table" "$1" || status=$?
printf '| configuration | states | verdict | memory | time |\n|---|---|---|---|---|\n'
cat "$table"
exit $status
