-- release: frees the lock of a field, whatever its reentrant count is, and wakes the waiters. It removes nothing that
-- another field has.
-- KEYS  1 NAME  2 the latch of this attempt
-- ARGV  1 field  2 PUBLISH or SPUBLISH  3 channel  4 the time in ms for which the latch stays, 0 for no latch
-- Returns  R: released | L: the field did not have the lock
local call = redis.call
if ARGV[4] ~= '0' then call('SET', KEYS[2], '1', 'PX', ARGV[4]) end
if call('TYPE', KEYS[1]).ok ~= 'hash' or call('HDEL', KEYS[1], ARGV[1]) == 0 then return 'L' end
call(ARGV[2], ARGV[3], '0')
return 'R'
