-- quit: removes an owner from the queue. It does not change the lock: the owner has the lock from other nodes.
-- It needs no guard and no window, as release does not: it changes only the owner's own place.
-- KEYS  1 record
-- ARGV  1 owner
-- Returns D
redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])
return 'D'
