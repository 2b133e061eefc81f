-- arrived: a part of acquire, acquire-shared and acquireslot, in the place of @ARRIVED@, for a shard of a Redis Cluster. It
-- runs before a name is granted whose holder is not known here. If the hash slot came less than a quarantine ago, a lock
-- of the name may be missing: see adopt.lua. Then the script ends with Q and the time that is left. After the slot came
-- the clock may have gone back by 2 W: then more than a quarantine is left.
-- Reads: call, now, old
-- Sets: came, rest
local came = call('HMGET', 'holdfast:node:admission', 'came', 'settled')
local rest = came[1] and came[1] + @NAMED@ - now or 0
if rest > 0 and rest <= @NAMED@ + 2 * @WINDOW@ and (not old or came[2] ~= '1') then
  return 'Q' .. string.format('%016.0f', rest)
end
