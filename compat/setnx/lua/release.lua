-- release: deletes the key if the value is still the holder's. A client that lost the race for the lock has overwritten
-- the holder's value: see renew.lua. Nobody holds the lock with that value, and the value would block the name until
-- its time has passed. So release deletes such a value, too. From skew before the end of the holder's own time, another
-- client may have the lock, and may have written an equal value. So from then on the script deletes the holder's value
-- only after the time in that value has passed.
-- KEYS  1 NAME
-- ARGV  1 race (accept another client's value), own, or ended (delete no value before its time)
--       2 skew in ms  3 the holder's value  4… later values that the holder may have written
-- Returns  R: released | L value: the value is another client's, or nothing
--          H left LF value: the value is the holder's, and must stay for left ms
if call('TYPE', KEYS[1]).ok ~= 'string' then return 'L' end
local value = call('GETRANGE', KEYS[1], 0, 127)
local skew = tonumber(ARGV[2])
local alive = ends(ARGV[3]) - skew > now
if not ours(value, 3) and not (ARGV[1] == 'race' and alive and raced(value)) then return 'L' .. value end
local left = ends(value) + skew - now
if (ARGV[1] == 'ended' or not alive) and left > 0 then return string.format('H%.0f\n', left) .. value end
call('DEL', KEYS[1])
return 'R'
