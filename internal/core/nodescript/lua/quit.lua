-- quit: takes an owner out of the queue. It does not change the lock. A client sends quit to a node that did not grant,
-- when the owner has the lock from other nodes. Like release, it needs no guard and no window, because it changes only
-- the owner's own place.
-- KEYS  1 record
-- ARGV  1 owner
-- Returns D: done
redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])
return 'D'
