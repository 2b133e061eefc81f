-- quarantine: a part of admit, in the place of @VERDICT@. It decides what the node may have forgotten, and how long the
-- node then does not vote. The functions and variables that it uses are those of admit.
-- lost notes a loss of memory. The node does not vote, and its quarantine begins only when a client asks again.
local function lost(why, vouched)
  call('DEL', guard, trust) -- first: a full memory refuses a script whose first write is not a DEL
  challenge = fresh()
  call('HSET', admission, 'run', run, 'config', config, 'until', '@NEVER@', 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', why, 'challenge', challenge, 'id', id(challenge))
  if vouched then call('SET', trust, challenge .. ' ' .. config, 'PX', @VOUCHERMS@) end
  return asks()
end
local function quarantine(us, why)
  call('DEL', guard, trust)
  call('HSET', admission, 'until', fmt('%016.0f', now + us), 'why', why)
  return 'Q' .. now .. fmt('%016.0f', us) .. challenge .. why
end

local age = r[4] and now - r[4] or 0 -- since the last refresh
-- votes admits the node again. A request that comes very late, after the clock went back, must not set the guard's end
-- back. A later loss would look like idle time.
local function votes()
  if age < -2 * @WINDOW@ then return lost('clock-back') end
  return ready()
end
local idle = age >= @GUARDMS@ * 1000
local known = r[1] == run
-- The replication id also changes without a copy of data: when the first replica of a master connects (redis-cli --rdb
-- connects as one), and one hour after its last replica has left. Both clear the second id. So if there is a second id,
-- this server was itself a replica after that, and its data came from another server.
local promoted = string.find(field('master_replid2'), '[^0]') ~= nil
local copied = r[5] ~= replid and promoted
if known and r[2] == config and not copied and r[6] == evicted and there == config .. ' ' .. run then
  return votes()
end
-- This check also applies after a restart that kept the data: the longest lease that the node granted follows the other
-- configuration. It applies however long the node was idle. A client that looks at an idle node with other settings
-- must not shut out the clients to which the node belongs.
local voucher = call('GET', trust)
if r[2] and r[2] ~= config then
  @MARK@
  if voucher ~= mark .. ' ' .. config then return 'M' .. mark .. r[2] end
  return lost('configuration', true)
end
if not r[1] or not r[8] then return lost('new') end
if known and r[6] ~= evicted then return lost('evicted') end
if known and copied then return lost('copied') end
-- After a restart with its data the node forgot nothing, if the operator declares that every write was on disk before
-- its answer. A promoted replica has the id of its master as its second id.
local survived = known or @DURABLE@ and field('aof_enabled') == '1' and not promoted
if not survived then return lost('restarted') end
if r[3] == '0' then
  -- The guard is missing: a leap of the clock deleted it together with locks, or the server booted with a wrong clock.
  -- An idle guard may also have expired. The key `kept` tells these cases apart: it outlives the guard until all locks
  -- granted under it are over. It expires before the record of any such lock. So while `kept` exists, no leap took a
  -- lock that was granted just before.
  --
  -- Redis also deletes expired keys at random, and may delete a record before the guard. A record is lost only if the
  -- machine booted hours ahead of its time. If the clock is right now, the uptime is below -1 h for longer than a lease
  -- lasts.
  if not known and (tonumber(field('uptime_in_seconds')) or 0) < -3600 then
    return lost('boot-clock')
  end
  if there == config .. ' ' .. r[1] then return votes() end
  if idle and (call('GET', kept) == r[1] or age >= @KEPTMS@ * 1000) then return ready() end
  return lost('guard')
end
-- From here on the node does not vote. After a restart that lost nothing, the rest of the quarantine still counts.
local left, vouched = r[3] - now, voucher == challenge .. ' ' .. config
local begins = left > @QUARANTINE@ -- or it has begun, and the clock went back
if left > 0 and not begins and not (vouched and left > @TRUSTED@) then
  return 'Q' .. now .. fmt('%016.0f', left) .. challenge .. (r[7] or '')
end
if ARGV[3] ~= challenge then return asks() end
if left <= 0 then return ready() end
if vouched then return quarantine(@TRUSTED@, 'vouched') end
return quarantine(@QUARANTINE@, r[3] == '@NEVER@' and r[7] or 'clock-back')
