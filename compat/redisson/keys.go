package redisson

import "strings"

// keys are the keys of one name and one attempt, as Redisson makes them.
type keys struct {
	name    string // the hash; its name after MapName
	channel string // unlock messages
	token   string // the number of RFencedLock
	latch   string // the answer of an unlock request: without the id of the request
}

func keysOf(name string) keys {
	return keys{
		name:    name,
		channel: prefixed("redisson_lock__channel", name),
		token:   prefixed("redisson_lock_token", name),
		latch:   prefixed("redisson_unlock_latch", name),
	}
}

// prefixed is prefixName of RedissonObject.java. The braces put the keys into one slot of a Redis Cluster; a name with
// a brace has its own.
func prefixed(prefix, name string) string {
	if strings.Contains(name, "{") {
		return prefix + ":" + name
	}
	return prefix + ":{" + name + "}"
}
