-- admit: may this incarnation of the node vote under this configuration?
-- Sent as text. The scripts made for the same incarnation and configuration follow its answer, over the same connection,
-- but for an error. So they reach the incarnation that answered, and no other: its scripts would vote by a guard that came
-- back with the data. A script loaded although admit refused meets no guard. No transaction, which a full memory would
-- refuse: a node that keeps leases must be admitted then, too.
-- A quarantine begins, ends and gets shorter only by a request that carries the node's challenge. The node writes a
-- new one when it finds that it lost its memory: whoever carries it drew the stamp after the loss. A request that was
-- drawn before and comes late, while the clock is back where it was then, would begin the quarantine too early.
-- ARGV  1 stamp - W  2 stamp + W, of a stamp that a majority of the nodes' clocks confirms
--       3 the challenge the node answered; '' if none  4 a nonce
-- Returns R time | C time challenge(40): ask again with a new stamp | Q time left challenge(40) cause | O time
--       | M mark(40) configuration | U cause, and behind a blank what INFO says | the error OTHERRUN run_id: it is for
--       another incarnation. The mark and the challenge are what a voucher names: see trust.lua. A cause is a code of cause.go.
local call, fmt = redis.call, string.format
local config, run, W = '@CONFIG@', '@RUN@', @WINDOW@
local guard, admission, trust = 'holdfast:node', 'holdfast:node:admission', 'holdfast:node:trust'
local kept = 'holdfast:node:kept'

local info = call('INFO')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local t = call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end

-- An error, or the scripts for an incarnation that has ended would follow.
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

-- Redis draws the same random numbers in every script. INFO counts commands, bytes and the time of the processor, so no
-- two requests get the same challenge, also where a repeated one meets the same TIME.
local function fresh() return redis.sha1hex(info .. now .. ARGV[4]) end
-- The server is known by this for as long as it keeps its data: see peers.lua.
local function id(new) return r[9] or redis.sha1hex(new .. run) end
local function ready()
  call('DEL', trust) -- a voucher is for one quarantine; and see below: DEL comes first
  call('SET', kept, run, 'PX', @KEPTMS@)
  call('SET', guard, config .. ' ' .. run, 'PX', @GUARDMS@)
  challenge = there == config .. ' ' .. run and r[8] or fresh()
  -- until = 0: a guard that is gone later was lost, not expected to be away.
  call('HSET', admission, 'run', run, 'config', config, 'until', '0', 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', '', 'challenge', challenge, 'id', id(challenge))
  return 'R' .. now
end
local function asks() return 'C' .. now .. challenge end
-- It does not vote, and has to be asked again before its quarantine begins.
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
-- A request of long ago, while the clock is back there, would set the guard's end back, and a later loss look like idling.
local function votes()
  if age < -2 * @WINDOW@ then return lost('clock-back') end
  return ready()
end
local idle = age >= @GUARDMS@ * 1000
local known = r[1] == run
-- A master gets a new replication id also when its first replica comes (a backup with
-- redis-cli --rdb is one) and an hour after the last has left. Only one that was itself a
-- replica since then has a second id: its data came from elsewhere.
local promoted = string.find(field('master_replid2'), '[^0]') ~= nil
local copied = r[5] ~= replid and promoted
if known and r[2] == config and not copied and r[6] == evicted and there == config .. ' ' .. run then
  return votes()
end
-- Also after a restart that kept its data: the longest lease it may have granted is the
-- other configuration's, not ours. And however long nobody used it: whoever looks at an idle
-- node with other settings must not shut those out whose node it is.
local voucher = call('GET', trust)
if r[2] and r[2] ~= config then
  @MARK@
  if voucher ~= mark .. ' ' .. config then return 'M' .. mark .. r[2] end
  return lost('configuration', true)
end
if not r[1] or not r[8] then return lost('new') end
if known and r[6] ~= evicted then return lost('evicted') end
if known and copied then return lost('copied') end
-- A restart that kept its data forgot nothing, if the operator says that every write was
-- on disk before it was answered. A promoted replica carries its master's id as its second.
local survived = known or @DURABLE@ and field('aof_enabled') == '1' and not promoted
if not survived then return lost('restarted') end
if r[3] == '0' then
  -- Without its guard it forgot locks by a leap of its clock, or booted with a wrong one. It may be
  -- away once it was due to expire: that this was no leap, which took locks granted just before, is
  -- told by a second key that outlives the guard until all those are over, and is gone before a
  -- record of one.
  -- Redis deletes what is over by chance, too, and may meet a record before the guard. A machine that booted
  -- hours ahead of its time, as it takes to lose a record, and is right now, has been up for less than -1 h
  -- for longer than a lease lasts.
  if not known and (tonumber(field('uptime_in_seconds')) or 0) < -3600 then
    return lost('boot-clock')
  end
  if there == config .. ' ' .. r[1] then return votes() end
  if idle and (call('GET', kept) == r[1] or age >= @KEPTMS@ * 1000) then return ready() end
  return lost('guard')
end
-- It does not vote. Also after a restart that lost nothing the rest of the quarantine counts.
local left, vouched = r[3] - now, voucher == challenge .. ' ' .. config
local begins = left > @QUARANTINE@ -- or it began, and the clock went back
if left > 0 and not begins and not (vouched and left > @TRUSTED@) then
  return 'Q' .. now .. fmt('%016.0f', left) .. challenge .. (r[7] or '')
end
if ARGV[3] ~= challenge then return asks() end
if left <= 0 then return ready() end
if vouched then return quarantine(@TRUSTED@, 'vouched') end
return quarantine(@QUARANTINE@, r[3] == '@NEVER@' and r[7] or 'clock-back')
