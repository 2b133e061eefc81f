-- renew: writes a later time if the value is still the holder's. A renewal never makes the time shorter. A client that
-- loses the race for an ended lock has changed the winner's value by its GETSET. So the value of another client may be
-- accepted, if it is a time that has not passed. The holder then writes its own value again, or relies on that value if
-- it is later. The holder proposes the new value, so that it knows the value also if the answer is lost. If the clock
-- has moved, so that the proposal would end too early, the script writes another value. KEYS  1 NAME ARGV  1 race
-- (accept another client's value) or own  2 skew in ms  3 TTL in ms  4 unit  5 the new value
--       6 the holder's value  7… later values that the holder may have written
-- Returns  R value LF left: renewed; left is the time in ms until the value ends
--          L value: the value is another client's, or nothing
if call('TYPE', KEYS[1]).ok ~= 'string' then return 'L' end
local value = call('GETRANGE', KEYS[1], 0, 127)
local last = ARGV[6]
-- From skew before the end of the last value, another client may have the lock, and may have written an equal value.
local alive = ends(last) - tonumber(ARGV[2]) > now
if alive and ours(value, 7) then last = value end
if value ~= last and not (ARGV[1] == 'race' and alive and raced(value)) then return 'L' .. value end
local ttl = tonumber(ARGV[3])
local mine = ARGV[5]
if ends(mine) - now < ttl / 2 then mine = written(ttl, ARGV[4]) end
if ends(mine) < ends(last) then mine = last end
-- A request that was on its way for long may find the value of a later renewal, or of the next holder. Somebody relies
-- on that value, so the script does not replace it by an earlier one.
if ends(value) > ends(mine) then mine = value end
call('SET', KEYS[1], mine)
return 'R' .. mine .. string.format('\n%.0f', ends(mine) - now)
