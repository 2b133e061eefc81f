-- renew: writes a later time if the value is still the holder's. A renewal never makes the time shorter.
-- A client that loses the race for an ended lock has changed the winner's value by its GETSET. So the value of another
-- client may be accepted, if it is a time that has not passed. The holder then writes its own value again.
-- KEYS  1 NAME
-- ARGV  1 the holder's value  2 TTL in ms  3 unit  4 race (accept another client's value) or no
-- Returns  R value: renewed | L value: the value is another client's, or nothing
if call('TYPE', KEYS[1]).ok ~= 'string' then return 'L' end
local value = call('GETRANGE', KEYS[1], 0, 127)
if value ~= ARGV[1] and not (ARGV[4] == 'race' and ends(value) and ends(value) > now) then return 'L' .. value end
local mine = written(tonumber(ARGV[2]), ARGV[3])
if ends(mine) < ends(ARGV[1]) then mine = ARGV[1] end
call('SET', KEYS[1], mine)
return 'R' .. mine
