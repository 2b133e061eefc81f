package redisson_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// The scripts of RedissonReadLock and RedissonWriteLock 4.7.0, letter for letter. Those of 3.52.0 are the same.
const (
	javaRead = "local mode = redis.call('hget', KEYS[1], 'mode'); " +
		"if (mode == false) then " +
		"redis.call('hset', KEYS[1], 'mode', 'read'); " +
		"redis.call('hset', KEYS[1], ARGV[2], 1); " +
		"redis.call('set', KEYS[2] .. ':1', 1); " +
		"redis.call('pexpire', KEYS[2] .. ':1', ARGV[1]); " +
		"redis.call('pexpire', KEYS[1], ARGV[1]); " +
		"return nil; " +
		"end; " +
		"if (mode == 'read') or (mode == 'write' and redis.call('hexists', KEYS[1], ARGV[3]) == 1) then " +
		"local ind = redis.call('hincrby', KEYS[1], ARGV[2], 1); " +
		"local key = KEYS[2] .. ':' .. ind;" +
		"redis.call('set', key, 1); " +
		"redis.call('pexpire', key, ARGV[1]); " +
		"local remainTime = redis.call('pttl', KEYS[1]); " +
		"redis.call('pexpire', KEYS[1], math.max(remainTime, ARGV[1])); " +
		"return nil; " +
		"end;" +
		"return redis.call('pttl', KEYS[1]);"
	javaReadUnlock = "local val = redis.call('get', KEYS[5]); " +
		"if val ~= false then " +
		"return tonumber(val);" +
		"end; " +
		"local mode = redis.call('hget', KEYS[1], 'mode'); " +
		"if (mode == false) then " +
		"redis.call(ARGV[3], KEYS[2], ARGV[1]); " +
		"redis.call('set', KEYS[5], 1, 'px', ARGV[4]); " +
		"return nil; " +
		"end; " +
		"local lockExists = redis.call('hexists', KEYS[1], ARGV[2]); " +
		"if (lockExists == 0) then " +
		"return nil;" +
		"end; " +
		"local counter = redis.call('hincrby', KEYS[1], ARGV[2], -1); " +
		"if (counter == 0) then " +
		"redis.call('hdel', KEYS[1], ARGV[2]); " +
		"end;" +
		"redis.call('del', KEYS[3] .. ':' .. (counter+1)); " +
		"if (redis.call('hlen', KEYS[1]) > 1) then " +
		"local maxRemainTime = -3; " +
		"local keys = redis.call('hkeys', KEYS[1]); " +
		"for n, key in ipairs(keys) do " +
		"counter = tonumber(redis.call('hget', KEYS[1], key)); " +
		"if type(counter) == 'number' then " +
		"for i=counter, 1, -1 do " +
		"local remainTime = redis.call('pttl', KEYS[4] .. ':' .. key .. ':rwlock_timeout:' .. i); " +
		"maxRemainTime = math.max(remainTime, maxRemainTime);" +
		"end; " +
		"end; " +
		"end; " +
		"if maxRemainTime > 0 then " +
		"redis.call('pexpire', KEYS[1], maxRemainTime); " +
		"redis.call('set', KEYS[5], 0, 'px', ARGV[4]); " +
		"return 0; " +
		"end;" +
		"if mode == 'write' then " +
		"redis.call('set', KEYS[5], 0, 'px', ARGV[4]); " +
		"return 0;" +
		"end; " +
		"end; " +
		"redis.call('del', KEYS[1]); " +
		"redis.call(ARGV[3], KEYS[2], ARGV[1]); " +
		"redis.call('set', KEYS[5], 1, 'px', ARGV[4]); " +
		"return 1; "
	javaReadForce = "if (redis.call('hget', KEYS[1], 'mode') == 'read') then " +
		"redis.call('del', KEYS[1]); " +
		"redis.call(ARGV[2], KEYS[2], ARGV[1]); " +
		"return 1; " +
		"end; " +
		"return 0; "
	javaWrite = "local mode = redis.call('hget', KEYS[1], 'mode'); " +
		"if (mode == false) then " +
		"redis.call('hset', KEYS[1], 'mode', 'write'); " +
		"redis.call('hset', KEYS[1], ARGV[2], 1); " +
		"redis.call('pexpire', KEYS[1], ARGV[1]); " +
		"return nil; " +
		"end; " +
		"if (mode == 'write') then " +
		"if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then " +
		"redis.call('hincrby', KEYS[1], ARGV[2], 1); " +
		"local currentExpire = redis.call('pttl', KEYS[1]); " +
		"redis.call('pexpire', KEYS[1], currentExpire + ARGV[1]); " +
		"return nil; " +
		"end; " +
		"end;" +
		"return redis.call('pttl', KEYS[1]);"
	javaWriteUnlock = "local val = redis.call('get', KEYS[3]); " +
		"if val ~= false then " +
		"return tonumber(val);" +
		"end; " +
		"local mode = redis.call('hget', KEYS[1], 'mode'); " +
		"if (mode == false) then " +
		"redis.call(ARGV[4], KEYS[2], ARGV[1]); " +
		"redis.call('set', KEYS[3], 1, 'px', ARGV[5]); " +
		"return nil; " +
		"end;" +
		"if (mode == 'write') then " +
		"local lockExists = redis.call('hexists', KEYS[1], ARGV[3]); " +
		"if (lockExists == 0) then " +
		"return nil;" +
		"else " +
		"local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); " +
		"if (counter > 0) then " +
		"redis.call('pexpire', KEYS[1], ARGV[2]); " +
		"redis.call('set', KEYS[3], 0, 'px', ARGV[5]); " +
		"return 0; " +
		"else " +
		"redis.call('hdel', KEYS[1], ARGV[3]); " +
		"if (redis.call('hlen', KEYS[1]) == 1) then " +
		"redis.call('del', KEYS[1]); " +
		"redis.call(ARGV[4], KEYS[2], ARGV[1]); " +
		"else " +
		"redis.call('hset', KEYS[1], 'mode', 'read'); " +
		"end; " +
		"redis.call('set', KEYS[3], 1, 'px', ARGV[5]); " +
		"return 1; " +
		"end; " +
		"end; " +
		"end; " +
		"return nil;"
	javaWriteForce = "if (redis.call('hget', KEYS[1], 'mode') == 'write') then " +
		"redis.call('del', KEYS[1]); " +
		"redis.call(ARGV[2], KEYS[2], ARGV[1]); " +
		"return 1; " +
		"end; " +
		"return 0; "
)

// javaRW does what a thread of Redisson does with an RReadWriteLock, by its scripts. The real one is in the module
// interop.
type javaRW struct {
	t      testing.TB
	server *redistest.Server
	name   string
	thread string
}

func (j javaRW) timeout() string { return "{" + j.name + "}:" + j.thread + ":rwlock_timeout" }

// read and write return the remaining time in ms, or nil if the thread has the lock now.
func (j javaRW) read(ttl time.Duration) any {
	j.t.Helper()
	return j.server.MustDo(j.t, "EVAL", javaRead, 2, j.name, j.timeout(), ttl.Milliseconds(), j.thread, j.thread+":write")
}

func (j javaRW) write(ttl time.Duration) any {
	j.t.Helper()
	return j.server.MustDo(j.t, "EVAL", javaWrite, 1, j.name, ttl.Milliseconds(), j.thread+":write")
}

// readUnlock and writeUnlock return nil if the thread does not have the lock.
func (j javaRW) readUnlock() any {
	j.t.Helper()
	defer j.server.MustDo(j.t, "DEL", "latch")
	return j.server.MustDo(j.t, "EVAL", javaReadUnlock, 5, j.name, "redisson_rwlock:{"+j.name+"}", j.timeout(), "{"+j.name+"}", "latch",
		0, j.thread, "PUBLISH", 19500)
}

func (j javaRW) writeUnlock() any {
	j.t.Helper()
	defer j.server.MustDo(j.t, "DEL", "latch")
	return j.server.MustDo(j.t, "EVAL", javaWriteUnlock, 3, j.name, "redisson_rwlock:{"+j.name+"}", "latch",
		1, 30000, j.thread+":write", "PUBLISH", 19500)
}

func (j javaRW) force(script string) any {
	j.t.Helper()
	return j.server.MustDo(j.t, "EVAL", script, 2, j.name, "redisson_rwlock:{"+j.name+"}", 0, "PUBLISH")
}
