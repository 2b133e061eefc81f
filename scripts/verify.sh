#!/bin/sh
# Runs every long check, one after the other, prints one table, and writes docs/results/checks.md if none is left. A check that passed on this commit does not run
# again, so an interrupted run continues where it stopped. FRESH=1 forgets earlier passes; ONLY=regexp runs some checks.
# The logs are in .verify/COMMIT, which git ignores.
set -eu
cd "$(dirname "$0")/.."
commit=$(git rev-parse --short HEAD)
if [ -n "$(git status --porcelain)" ]; then
	commit=$commit-changed-$(git diff HEAD | cksum | cut -d' ' -f1)
fi
dir=.verify/$commit
[ -z "${FRESH:-}" ] || rm -rf "$dir"
mkdir -p "$dir"
only=${ONLY:-.}
unset ONLY # make mutants also reads it

checks="lint tests examples demo picture servers fence-test metrics ui-check adapters fleet failover interop sim values models mutants sim-mutants chaos chaos-readers chaos-rivals cluster scale minority fuzz bench release-check"

# command prints the command of a check.
command_of() {
	case $1 in
	tests) echo "go test -count=1 -race -timeout 60m -p 1 \$(go list -m -f '{{.Dir}}/...')" ;;
	sim) echo "make -s sim N=1000000" ;;
	bench) echo "make -s bench BENCH=-quick" ;;
	values) echo "go test -count=1 -v -timeout 3h ./verify/values -values.n 1000000" ;;
	*) echo "make -s $1" ;;
	esac
}

failed=0
for check in $checks; do
	echo "$check" | grep -Eq -- "$only" || continue
	[ ! -e "$dir/$check.passed" ] || continue
	run=$(command_of "$check")
	echo "== $check: $run" >&2
	began=$(date +%s)
	status=0
	sh -c "$run" >"$dir/$check.log" 2>&1 || status=$?
	took=$(($(date +%s) - began))
	if [ "$status" = 0 ]; then
		echo "$took" >"$dir/$check.passed"
	else
		echo "$took" >"$dir/$check.failed"
		failed=1
		echo "== $check failed after ${took}s; the end of $dir/$check.log:" >&2
		tail -n 20 "$dir/$check.log" >&2
	fi
	[ ! -e "$dir/$check.passed" ] || rm -f "$dir/$check.failed"
done

{
	printf '| check | result on %s | seconds | command |\n|---|---|---|---|\n' "$commit"
	for check in $checks; do
		for result in passed failed; do
			[ -e "$dir/$check.$result" ] || continue
			printf '| %s | %s | %s | `%s` |\n' "$check" "$result" "$(cat "$dir/$check.$result")" "$(command_of "$check")"
		done
		[ -e "$dir/$check.passed" ] || [ -e "$dir/$check.failed" ] || printf '| %s | not run | | `%s` |\n' "$check" "$(command_of "$check")"
	done
} >"$dir/table.md"
printf '\n'
cat "$dir/table.md"
if ! grep -q '| not run |' "$dir/table.md"; then
	{
		printf '# The last run of make verify\n\nmake verify writes this page when it has run every check.\n\n'
		cat "$dir/table.md"
	} >docs/results/checks.md
fi
exit $failed
