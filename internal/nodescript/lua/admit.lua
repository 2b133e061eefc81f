-- admit: may this incarnation of the node vote under this configuration?
-- Sent as text, in one transaction with the SCRIPT LOAD of the scripts made for the same
-- incarnation and configuration. A script loaded although admit refused meets no guard.
-- ARGV  1 stamp - W  2 stamp + W, of a stamp that a majority of the nodes' clocks confirms
-- Returns R time | Q time left why | O time | M configuration | I run_id | U why
local call, fmt = redis.call, string.format
local config, run, W = '@CONFIG@', '@RUN@', @WINDOW@
local guard, admission, trust = 'holdfast:node', 'holdfast:node:admission', 'holdfast:node:trust'
local kept = 'holdfast:node:kept'

local info = call('INFO')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local t = call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end

if field('run_id') ~= run then return 'I' .. field('run_id') end
if field('role') ~= 'master' then return 'Uit is a ' .. field('role') .. '; a node must be a master' end
if field('cluster_enabled') == '1' then return 'Uit runs in Redis Cluster mode; a node must be a server of its own' end
local policy = field('maxmemory_policy')
if field('maxmemory') ~= '0' and field('maxmemory') ~= '' and policy ~= 'noeviction' then
  return 'Umaxmemory-policy is ' .. policy .. ', which may delete locks; set it to noeviction'
end
local there = call('GET', guard) -- also where the clock is wrong: see hello
if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end

local r = call('HMGET', admission, 'run', 'config', 'until', 'refreshed', 'replid', 'evicted', 'why')
local replid, evicted = field('master_replid'), field('evicted_keys')

local function ready()
  call('DEL', trust) -- a voucher is for one quarantine; and see below: DEL comes first
  call('SET', kept, run, 'PX', @KEPTMS@)
  call('SET', guard, config .. ' ' .. run, 'PX', @GUARDMS@)
  -- until = 0: a guard that is gone later was lost, not expected to be away.
  call('HSET', admission, 'run', run, 'config', config, 'until', '0', 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', '')
  return 'R' .. now
end
local function quarantine(us, why)
  call('DEL', guard) -- first: a full memory refuses a script whose first write is not a DEL
  call('HSET', admission, 'run', run, 'config', config, 'until', fmt('%016.0f', now + us), 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', why)
  return 'Q' .. now .. fmt('%016.0f', us) .. why
end

local age = r[4] and now - r[4] or 0 -- since the last refresh
local idle = age >= @GUARDMS@ * 1000
local known = r[1] == run
-- A master gets a new replication id also when its first replica comes (a backup with
-- redis-cli --rdb is one) and an hour after the last has left. Only one that was itself a
-- replica since then has a second id: its data came from elsewhere.
local promoted = string.find(field('master_replid2'), '[^0]') ~= nil
local copied = r[5] ~= replid and promoted
if known and r[2] == config and not copied and r[6] == evicted and there == config .. ' ' .. run then
  return ready()
end
-- Also after a restart that kept its data: the longest lease it may have granted is the
-- other configuration's, not ours. A voucher that names no configuration does not change
-- one: a client with a wrong one must not use it up.
local changed = r[2] and r[2] ~= config
local voucher = call('GET', trust)
if changed and not idle and voucher ~= run .. ' ' .. config then return 'M' .. r[2] end
if voucher == run or voucher == run .. ' ' .. config then
  call('DEL', trust)
  return quarantine(@TRUSTED@, 'an operator vouched for it')
end
if changed then return quarantine(@QUARANTINE@, 'its configuration changed') end
if not r[1] then return quarantine(@QUARANTINE@, 'its memory is new') end
if known and r[6] ~= evicted then return quarantine(@QUARANTINE@, 'it evicted keys') end
if known and copied then return quarantine(@QUARANTINE@, 'its data came from another server') end
-- A restart that kept its data forgot nothing, if the operator says that every write was
-- on disk before it was answered. A promoted replica carries its master's id as its second.
local survived = known or @DURABLE@ and field('aof_enabled') == '1' and not promoted
if not survived then return quarantine(@QUARANTINE@, 'it restarted') end
if r[3] == '0' then
  -- Without its guard it forgot locks by a leap of its clock, or booted with a wrong one. It may be
  -- away once it was due to expire: that this was no leap, which took locks granted just before, is
  -- told by a second key that outlives the guard until all those are over, and is gone before a
  -- record of one.
  -- Redis deletes what is over by chance, too, and may meet a record before the guard. A machine that booted
  -- hours ahead of its time, as it takes to lose a record, and is right now, has been up for less than -1 h
  -- for longer than a lease lasts.
  if not known and (tonumber(field('uptime_in_seconds')) or 0) < -3600 then
    return quarantine(@QUARANTINE@, 'it booted with a wrong clock')
  end
  if there == config .. ' ' .. r[1] then return ready() end
  if idle and (call('GET', kept) == r[1] or age >= @KEPTMS@ * 1000) then return ready() end
  return quarantine(@QUARANTINE@, 'its guard vanished')
end
if now >= r[3] then return ready() end
if r[3] - now > @QUARANTINE@ then return quarantine(@QUARANTINE@, known and 'its clock went back' or 'it restarted') end
if not known then return quarantine(r[3] - now, r[7] or '') end
return 'Q' .. now .. fmt('%016.0f', r[3] - now) .. (r[7] or '')
