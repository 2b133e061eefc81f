package redisson

import "strings"

// keys are the keys of one name and one attempt, in the form that Redisson uses.
type keys struct {
	name    string // the hash with the lock: the name after MapName
	channel string // the channel of unlock messages
	token   string // the counter of RFencedLock
	latch   string // the latch: the answer of an unlock; newAttempt adds the id of the attempt

	rwChannel string // the channel of unlock messages of RReadWriteLock
	readers   string // the start of the readers' keys
	reader    string // the start of this attempt's keys if it is a reader; newAttempt makes it
	queue     string // the queue of RFairLock
	queueEnds string // the times at which the waiters in this queue give up
}

func keysOf(name string) keys {
	return keys{
		name:    name,
		channel: prefixed("redisson_lock__channel", name),
		token:   prefixed("redisson_lock_token", name),
		latch:   prefixed("redisson_unlock_latch", name),

		rwChannel: prefixed("redisson_rwlock", name),
		readers:   braced(name),
		queue:     prefixed("redisson_lock_queue", name),
		queueEnds: prefixed("redisson_lock_timeout", name),
	}
}

// prefixed does the same as prefixName in RedissonObject.java. In a Redis Cluster, the text in braces decides which
// server has a key. The braces here put all keys of a name on one server. A name that contains a brace decides by
// itself.
func prefixed(prefix, name string) string { return prefix + ":" + braced(name) }

func braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}
