#!/usr/bin/env bash
# The lock by SETNX and GETSET, as Redis's documents of SETNX describe it, in bash with one redis-cli. It shares nothing
# with the Go package. It increments a counter under the lock until the counter has the target.
# Arguments: port key counter target me timeout(s) die: the number of its increment at which it kills itself under the
# lock, 0 for never
set -u
port=$1 key=$2 counter=$3 target=$4 me=$5 timeout=$6 die=$7

coproc CLI { exec redis-cli -p "$port"; }
redis() { # one command; the reply is one line in $reply, empty for nil
	printf '%s\n' "$*" >&"${CLI[1]}"
	IFS= read -r reply <&"${CLI[0]}" || exit 1
}
exec {never}<> <(:)
pause() { read -r -t "0.0$1" -u "$never" _; } # hundredths of a second, without a process

lock() {
	while :; do
		mine=$((EPOCHSECONDS + timeout + 1))
		redis SETNX "$key" "$mine"
		[ "$reply" = 1 ] && return
		redis GET "$key"
		if [ -n "$reply" ] && [ "$reply" -lt "$EPOCHSECONDS" ]; then
			mine=$((EPOCHSECONDS + timeout + 1))
			redis GETSET "$key" "$mine"
			# No value: the holder released it between the two commands.
			if [ -z "$reply" ] || [ "$reply" -lt "$EPOCHSECONDS" ]; then return; fi
		fi
		pause $((RANDOM % 4 + 1))
	done
}
unlock() { [ "$EPOCHSECONDS" -lt "$mine" ] && redis DEL "$key"; }

add="redis.call('set',KEYS[1],ARGV[1]) redis.call('rpush',KEYS[2],ARGV[1]..' '..ARGV[2]) return 1"
done=0
while :; do
	lock
	redis GET "$counter"
	now=${reply:-0}
	if [ "$now" -ge "$target" ]; then
		unlock
		exit 0
	fi
	redis EVAL "\"$add\"" 2 "$counter" "$counter:log" "$((now + 1))" "$me"
	done=$((done + 1))
	[ "$done" = "$die" ] && kill -9 $$
	unlock
	pause "0$((RANDOM % 9 + 1))" # otherwise the poller that released polls first, too
done
