#!/bin/sh
# Runs every fuzz target of all modules, or of the packages $2 ..., for $1 each. Prints how many new inputs each has run.
# A target without new inputs was not fuzzed: that is a failure, as a finding is. A target runs its known inputs first.
# In a short time it runs nothing else, and go test still prints PASS.
set -eu
time=${1:-30s}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2046 # a list of patterns
[ $# -gt 0 ] || set -- $(go list -m -f '{{.Dir}}/...')
refuse() {
	echo "make fuzz: FUZZTIME=$time: want a length of time above 0, such as 30s or 5m" >&2
	exit 2
}
case "$time" in
-*) refuse ;;
*[1-9]*[smhx]) ;;
*) refuse ;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
targets=0 idle=
packages=$(go list "$@")
for package in $packages; do
	list=$(go test -list '^Fuzz' "$package")
	for target in $(echo "$list" | grep '^Fuzz' || true); do
		echo "== $package $target"
		{ go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" 2>&1 && touch "$dir/$target"; } | tee "$dir/said"
		[ -e "$dir/$target" ] || exit 1
		rm "$dir/$target"
		# The final count includes the known inputs: "execs: 5789", "coverage: 246/246 completed, now fuzzing".
		known=$(sed -n 's|.*: \([0-9]*\)/[0-9]* completed, now fuzzing.*|\1|p' "$dir/said" | tail -n 1)
		execs=$(sed -n 's/.*execs: \([0-9]*\) .*/\1/p' "$dir/said" | tail -n 1)
		new=$((${execs:-0} - ${known:-0}))
		if [ -z "$known" ] || [ "$new" -le 0 ]; then
			new=0 idle="$idle $target"
		fi
		echo "== $target: $new new inputs in $time"
		targets=$((targets + 1))
	done
done
if [ "$targets" -eq 0 ]; then
	echo "make fuzz: no fuzz targets in $*" >&2
	exit 1
fi
if [ -n "$idle" ]; then
	echo "make fuzz: not fuzzed, no new input in $time:$idle; give a longer FUZZTIME" >&2
	exit 1
fi
