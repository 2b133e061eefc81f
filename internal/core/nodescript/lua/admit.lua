-- admit: decides whether this incarnation of the node votes under this configuration. Clients send its whole text
-- (EVAL), because admit is not among the loaded scripts.
--
-- If admit returns no error, the client then loads the scripts for the same incarnation and configuration, over the
-- same connection. So only the incarnation that answered gets them. Another incarnation must not get them: a restart
-- may bring back an old guard, and scripts that find this guard would vote. The client also loads them after a
-- refusal. This does no harm, because the scripts then find no guard. The client does not use a transaction, because a
-- server with full memory refuses transactions. Such a server must still be admitted, because it may keep leases.
--
-- Only a request that quotes the node's challenge begins, ends or shortens a quarantine. The node writes a new
-- challenge when it finds a loss of its memory. So the stamp of a request with this challenge was drawn after the
-- loss. Without challenges, a request from before the loss could arrive late. If the node's clock has also gone back
-- to the time of the stamp, the node would accept the request, and would begin the quarantine too early.
--
-- ARGV  1 stamp - W  2 stamp + W; a majority of the nodes' clocks confirms the stamp
--       3 the last challenge that the client got from the node; '' if none  4 a nonce
--       5 'U' if the client has found that every node of its list is unused: see quarantine.lua; else ''
--       6 the epoch of the failover under which Sentinel names this server, sixteen digits; '' or absent if unknown
--       7 'F' if a majority of the Sentinels has named it under this epoch for some time
--       8 how long ago the client met another master behind this address, us; '' or absent if it met none
--       9 the run id of that master
-- Returns R time: the node votes | C time challenge(40): ask again with a new stamp
-- Returns R time: the node votes; after the time follows the error OOM if the memory is full: the node then renews and
--         releases leases, and grants none
--       | C time challenge(40): ask again with a new stamp
--       | Q time left challenge(40) cause: the node is in quarantine for left
--       | O time: the stamp is off the node's clock
--       | M mark(40) configuration: the node has this other configuration
--       | F time run_id: see shard.lua
--       | U cause, and after a blank the value in INFO: the server cannot be a node
--       | the error OTHERRUN run_id: the request is for another incarnation
-- A voucher names the mark or the challenge: see trust.lua. A cause is a code of cause.go.
local call, fmt = redis.call, string.format
local config, run, W = '@CONFIG@', '@RUN@', @WINDOW@

-- A sweep asks about hundreds of slots in one call, so field, fresh and unused find each of their results only once.
local info, fields, made = call('INFO'), {}, nil
local function field(name)
  if not fields[name] then fields[name] = string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
  return fields[name]
end
local t = call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end

-- The server has restarted, and the client prepared its scripts for the incarnation that has ended. The answer must be
-- an error, because the client would send those scripts after any other answer.
if field('run_id') ~= run then return redis.error_reply('OTHERRUN ' .. field('run_id')) end
if field('role') ~= 'master' then return 'Urole ' .. field('role') end
if field('cluster_enabled') == '@NOTMODE@' then return 'Ucluster' end
local policy = field('maxmemory_policy')
if field('maxmemory') ~= '0' and field('maxmemory') ~= '' and policy ~= 'noeviction' then
  return 'Upolicy ' .. policy -- Redis may evict records of locks
end

-- admit gives the verdict about the records that the guard protects. For a shard of a Redis Cluster these are the
-- records of one hash slot: see shard.lua.
local forsaken -- see shard.lua
local copies = { @FED@ } -- a field of the admission of a shard: the bytes that the server has read from a master
local unusednow -- see quarantine.lua
local function admit(guard)
  local admission, trust, kept = guard .. ':admission', guard .. ':trust', guard .. ':kept'
  local there = call('GET', guard) -- read even if the clock is wrong: see hello
  if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end

  local r = call('HMGET', admission, 'run', 'config', 'until', 'refreshed', 'replid', 'evicted', 'why', 'challenge', 'id',
    'epoch', 'since', 'came', 'apart', 'fed', 'settled')
  -- These fields are numbers. If one is not, somebody else has written to the admission, and it proves nothing any more.
  local spoilt = r[12] and #r[12] ~= 16
  for _, i in ipairs({ 3, 4, 10, 11, 12, 13 }) do
    local digits = i == 10 and '^%d*$' or '^%d+$'
    if r[i] and (#r[i] > 16 or not string.find(r[i], digits)) then r[i], spoilt = false, true end
  end
  local replid, evicted, challenge = field('master_replid'), field('evicted_keys'), r[8] or ''
  local epoch, noted = ARGV[6] or '', r[10] or ''

  -- fresh returns a new challenge. It does not use Redis's random numbers, because they are the same in every run of a
  -- script. info contains counts of commands, bytes and processor time. So two requests never get the same challenge,
  -- even if a request is repeated at the same TIME.
  local function fresh()
    made = made or redis.sha1hex(info .. now .. ARGV[4])
    return made
  end
  -- id returns the id of the server. A server keeps its id for as long as it keeps its data: see peers.lua.
  local function id(new) return r[9] or redis.sha1hex(new .. run) end
  -- drop deletes keys before other writes, because a server with full memory refuses a script whose first write is a SET
  -- or a HSET. A hash slot that is being moved refuses each key that it does not have. So a shard writes to keys that it
  -- has. It has no vouchers.
  local function drop(key, other)
    if not @SHARDED@ then return call('DEL', key, other or key) end
    if key == guard and there then return call('DEL', guard) end
    call('HDEL', admission, '-')
  end
  local function ready()
    -- A server with full memory refuses this write, as it refuses a grant. After the DEL it permits the others. A hash slot
    -- that is being moved may not have the key kept: then the slot votes without it.
    local first = redis.pcall('SET', kept, run, 'PX', @KEPTMS@)
    drop(trust) -- a voucher is for one quarantine
    if first['err'] then redis.pcall('SET', kept, run, 'PX', @KEPTMS@) end
    call('SET', guard, config .. ' ' .. run, 'PX', @GUARDMS@)
    challenge = there == config .. ' ' .. run and r[8] or fresh()
    -- until is 0 while the node votes. A guard that is missing then was lost. While until has another value, the node
    -- has no guard.
    call('HSET', admission, 'run', run, 'config', config, 'until', '0', 'refreshed', now,
      'replid', replid, 'evicted', evicted, 'why', '', 'challenge', challenge, 'id', id(challenge), unpack(copies))
    return 'R' .. now .. (first['err'] and string.match(first['err'], '^OOM.*') or '')
  end
  local function asks() return 'C' .. now .. challenge end
@VERDICT@
end
@SHARD@
