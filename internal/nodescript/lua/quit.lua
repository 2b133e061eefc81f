-- quit: leave the queue, without a word on the lock: the owner got it elsewhere.
-- Passes every door, as release does: it only ever touches the owner's own place.
-- KEYS  1 record
-- ARGV  1 owner
-- Returns D
redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])
return 'D'
