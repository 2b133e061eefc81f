-- quit: removes an owner from the queue. It does not change the lock. A client that got the lock from other nodes
-- sends quit to a node that did not grant. Like release, it needs no guard and no window, because it changes only the
-- place of this owner.
-- KEYS  1 record
-- ARGV  1 owner
-- Returns D: done
redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])
return 'D'
