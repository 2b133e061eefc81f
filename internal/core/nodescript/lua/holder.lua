-- holder: a part of load and store, in the place of @HOLDER@. It reads the value of the name. Unless the caller holds
-- the lock on this node, the script ends with one of these answers:
-- L: the caller does not hold the lock here | O time: the stamp differs from the node's clock by more than W
-- | N: the node does not vote | C: the record or the value is corrupt
--
-- The stamp shows when the request was sent. A late request has a stamp outside the window, and gets O. So a request
-- from before a loss of memory never runs after that loss.
--
-- `since` is the instant at which the node's memory began: see admit.lua. Each stored value contains the `since` of
-- its time. So after a restart with old data, the node can distinguish an old value from a value that it stored after
-- the restart.
-- Sets: ahead, call, evicted, now, old, record, since, sub, t
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
-- If it is unknown, the memory counts as new.
if not since or #since ~= 16 or string.find(since, '%D') then since = '9999999999999999' end
