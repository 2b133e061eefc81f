-- arrived: a part of acquire, acquire-shared, acquireslot and load, in the place of @ARRIVED@, for a shard of a Redis
-- Cluster. It runs before a name is granted whose holder is not known here, and before a value is loaded. If the hash slot
-- came less than a quarantine ago, a lock of the name or its value may be missing: see adopt.lua. Then the script ends with
-- Q and the time that is left. After the slot came the clock may have gone back by 2 W: then more than a quarantine is left.
-- Reads: call, now, old
-- Sets: came, rest
local came = call('HMGET', 'holdfast:node:admission', 'came', 'settled')
if came[1] and (#came[1] ~= 16 or string.find(came[1], '%D')) then return 'N' end -- admit mends it
local rest = came[1] and came[1] + @NAMED@ - now or 0
if rest > 0 and rest <= @NAMED@ + 2 * @WINDOW@ and (not old or came[2] ~= '1') then
  return 'Q' .. string.format('%016.0f', rest)
end
