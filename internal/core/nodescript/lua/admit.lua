-- admit: decides whether this incarnation of the node votes under this configuration. Clients send it as text.
--
-- Unless admit answers an error, the client then sends the scripts for the same incarnation and configuration over the
-- same connection. So they reach the incarnation that answered and no other. In another incarnation they would vote by
-- a guard that came back with the data. A script that is loaded although admit refused finds no guard. The client uses
-- no transaction, because a full memory refuses one. A node that keeps leases must be admitted in that state too.
--
-- A quarantine begins, ends or becomes shorter only by a request that carries the node's challenge. The node writes a
-- new challenge when it finds a loss of its memory. So the stamp of a request that carries it was drawn after the loss.
-- Without a challenge, a request from before the loss could come late, after the clock went back. It would begin the
-- quarantine too early.
--
-- ARGV  1 stamp - W  2 stamp + W; a majority of the nodes' clocks confirms the stamp
--       3 the challenge that the node answered; '' if none  4 a nonce
-- Returns R time | C time challenge(40): ask again with a new stamp | Q time left challenge(40) cause | O time
--       | M mark(40) configuration | U cause, and after a blank the value in INFO
--       | the error OTHERRUN run_id: the request is for another incarnation
-- A voucher names the mark or the challenge: see trust.lua. A cause is a code of cause.go.
local call, fmt = redis.call, string.format
local config, run, W = '@CONFIG@', '@RUN@', @WINDOW@
local guard, admission, trust = 'holdfast:node', 'holdfast:node:admission', 'holdfast:node:trust'
local kept = 'holdfast:node:kept'

local info = call('INFO')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local t = call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end

-- This is an error, because the client sends the scripts after any other answer. They are for an incarnation that has
-- ended.
if field('run_id') ~= run then return redis.error_reply('OTHERRUN ' .. field('run_id')) end
if field('role') ~= 'master' then return 'Urole ' .. field('role') end
if field('cluster_enabled') == '1' then return 'Ucluster' end
local policy = field('maxmemory_policy')
if field('maxmemory') ~= '0' and field('maxmemory') ~= '' and policy ~= 'noeviction' then
  return 'Upolicy ' .. policy -- it may delete locks
end
local there = call('GET', guard) -- also where the clock is wrong: see hello
if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end

local r = call('HMGET', admission, 'run', 'config', 'until', 'refreshed', 'replid', 'evicted', 'why', 'challenge', 'id')
local replid, evicted, challenge = field('master_replid'), field('evicted_keys'), r[8] or ''

-- fresh returns a new challenge. It does not use Redis's random numbers, which are the same in every script. INFO
-- counts commands, bytes and processor time. So two requests never get the same challenge, even if a repeated request
-- finds the same TIME.
local function fresh() return redis.sha1hex(info .. now .. ARGV[4]) end
-- id returns the id of the server. The server has it as long as it keeps its data: see peers.lua.
local function id(new) return r[9] or redis.sha1hex(new .. run) end
local function ready()
  call('DEL', trust) -- a voucher is for one quarantine; and see below: DEL comes first
  call('SET', kept, run, 'PX', @KEPTMS@)
  call('SET', guard, config .. ' ' .. run, 'PX', @GUARDMS@)
  challenge = there == config .. ' ' .. run and r[8] or fresh()
  -- With until = 0, a guard that is missing later was lost. Otherwise its absence is expected.
  call('HSET', admission, 'run', run, 'config', config, 'until', '0', 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', '', 'challenge', challenge, 'id', id(challenge))
  return 'R' .. now
end
local function asks() return 'C' .. now .. challenge end
-- lost notes a loss of memory. The node does not vote, and its quarantine begins only when a client asks again.
local function lost(why, vouched)
  call('DEL', guard, trust) -- first: a full memory refuses a script whose first write is not a DEL
  challenge = fresh()
  call('HSET', admission, 'run', run, 'config', config, 'until', '@NEVER@', 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', why, 'challenge', challenge, 'id', id(challenge), 'since', now)
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
-- A master also gets a new replication id when its first replica connects (redis-cli --rdb connects as one), and one
-- hour after the last replica has left. A second id shows that the server itself was a replica since then. Its data
-- came from another server.
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
