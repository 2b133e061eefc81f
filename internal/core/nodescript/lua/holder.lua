-- holder: a part of load and store, in the place of @HOLDER@. It reads the value of the name's register. If the caller
-- does not hold the lock on this node, the script ends with one of these answers:
-- L: the caller does not hold the lock here | O time: the stamp is off the node's clock | N: the node does not vote
-- | C: the record or the value is corrupt
--
-- The stamp confirms the node's clock. A request that comes late has a stamp outside the window, and gets O. So a request
-- from before a loss of memory never runs after it.
--
-- `since` is the instant at which the node's memory began: see admit. It is part of a stored value. After a restart
-- with old data, it tells such a value from one that was written since.
local call, sub, evicted = redis.call, string.sub, nil
if call('GET', 'holdfast:node') ~= '@GUARD@' then return 'N' end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end -- a clock before 2001 or after 2286
local ahead = ARGV[3] - now
if ahead > @WINDOW@ or ahead < -@WINDOW@ then return 'O' .. now end

local record = call('GET', KEYS[1])
if not record then return 'L' end
if #record < 65 or #record > @LONGEST@ then return 'C' end
if sub(record, 66) ~= ARGV[1] or sub(record, 17, 32) ~= ARGV[2] or now >= sub(record, 33, 48) then return 'L' end

local old = call('GET', KEYS[2])
if not old then
  @EVICTED@
  if evicted then return 'N' end
elseif #old < 41 or #old > @MOSTVALUE@ then
  return 'C'
end
local since = redis.pcall('HMGET', 'holdfast:node:admission', 'since')[1]
if not since or #since ~= 16 then since = '9999999999999999' end -- unknown: the memory counts as new
