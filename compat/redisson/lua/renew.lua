-- renew: extends the lock of a field, and never shortens it. It also writes the reentrant count. If a request was lost
-- and the count is wrong, the next request makes it right.
-- KEYS  1 NAME
-- ARGV  1 field  2 TTL in ms  3 count
-- Returns  R: renewed | L: the field does not have the lock
local call = redis.call
if call('TYPE', KEYS[1]).ok ~= 'hash' or call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'L' end
if call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
if call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then call('PEXPIRE', KEYS[1], ARGV[2]) end
return 'R'
