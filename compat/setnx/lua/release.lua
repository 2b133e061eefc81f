-- release: deletes the key if the value is still the holder's. It accepts the value of a client that lost the race, as renew
-- does: a value that no client holds would block the name until its time has passed.
-- KEYS  1 NAME
-- ARGV  1 the holder's value  2 race (accept another client's value) or no
-- Returns  R: released | L value: the value is another client's, or nothing
if call('TYPE', KEYS[1]).ok ~= 'string' then return 'L' end
local value = call('GETRANGE', KEYS[1], 0, 127)
if value ~= ARGV[1] and not (ARGV[2] == 'race' and ends(value) and ends(value) > now) then return 'L' .. value end
call('DEL', KEYS[1])
return 'R'
