#!/bin/sh
# Deploys, unless a later deployment has begun. The token of the lock grows from run to run. A deployment whose runner
# was cut off has a lower one, and stops before it changes anything.
set -eu
state=${STATE:?the directory with the state of the environment}
last=$(cat "$state/fence" 2>/dev/null || echo 0)
if [ "$last" -gt "$HOLDFAST_FENCE" ]; then
	echo "a later deployment has begun (token $last, this one has $HOLDFAST_FENCE)" >&2
	exit 1
fi
echo "$HOLDFAST_FENCE" >"$state/fence"
echo "begin ${VERSION:-unknown}" >>"$state/log"
# … your steps …
echo "${VERSION:-unknown}" >"$state/version"
echo "end ${VERSION:-unknown}" >>"$state/log"
