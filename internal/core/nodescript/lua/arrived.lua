-- arrived: a part of acquire and acquire-shared and acquireslot, in the place of @ARRIVED@, for a shard of a Redis Cluster. It
-- runs before a name is granted whose holder is not known here. If the hash slot came less than a quarantine ago, a lock
-- of the name may be missing: see adopt.lua. Then the script ends with Q and the time that is left.
-- Reads: now, old
-- Sets: came
local came = redis.pcall('HMGET', 'holdfast:node:admission', 'came', 'settled')
if came[1] and (not old or came[2] ~= '1') then
  local rest = came[1] + @NAMED@ - now
  if rest > 0 and rest <= @NAMED@ then return 'Q' .. string.format('%016.0f', rest) end
end
