-- quit: leave the queue, without a word on the lock: the owner got it elsewhere.
-- KEYS  1 record
-- ARGV  1 owner
-- Returns D | N
if redis.call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])
return 'D'
