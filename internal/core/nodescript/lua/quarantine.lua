-- quarantine: a part of admit, in the place of @VERDICT@. It decides whether the node may have forgotten locks, and
-- for how long it then does not vote. It uses functions and variables of admit. The function lost notes a loss of
-- memory. From then on the node does not vote. The quarantine begins only when a client asks again and quotes the new
-- challenge.
-- Reads: admission, asks, call, challenge, config, copies, drop, epoch, evicted, field, fmt, forsaken, fresh, guard,
--   id, kept, mark, noted, now, r, ready, replid, run, spoilt, there, trust, unusednow
-- Sets: age, begins, challenge, copied, full, idle, known, left, lost, met, promoted, quarantine, renamed, rest, says,
--   survived, unused, unusednow, votes, vouched, voucher
local function lost(why, vouched)
  drop(guard, trust) -- first: a full memory refuses a script whose first write is not a DEL
  challenge = fresh()
  call('HSET', admission, 'run', run, 'config', config, 'until', '@NEVER@', 'refreshed', now,
    'replid', replid, 'evicted', evicted, 'why', why, 'challenge', challenge, 'id', id(challenge), 'since', now,
    'epoch', epoch ~= '' and epoch or noted, unpack(copies))
  if vouched then call('SET', trust, challenge .. ' ' .. config, 'PX', @VOUCHERMS@) end
  return asks()
end

-- unused reports whether the server has granted nothing since its start, and has been running for longer than a
-- quarantine by its clock. Then it has no lock to forget. Each grant is an EVALSHA, which the server counts. It must
-- have counted the EVAL of this client's hello: otherwise it hides its counts. RESETSTAT deletes counts, and leaves its
-- own. CONFIG SET may have given the server the port of another one. FLUSHALL may have deleted locks of other libraries. A replica gets grants without EVALSHA. If Sentinel
-- names the server, another master may have granted locks meanwhile. The uptime has whole seconds, one too many at times.
local function unused()
  local up = tonumber(field('uptime_in_seconds')) or 0
  if epoch .. noted ~= '' or ARGV[8] and ARGV[8] ~= '' or (up - 1) * 1000000 < @QUARANTINE@ then return false end
  if string.find(field('master_replid2'), '[^0]') or field('total_net_repl_input_bytes') ~= '0' then return false end
  local counts = redis.pcall('INFO', 'commandstats')
  local function counted(command) return string.find(counts, '\ncmdstat_' .. command .. ':', 1, true) end
  return type(counts) == 'string' and counted('eval')
    and not (counted('evalsha') or counted('config|resetstat') or counted('config|set'))
    and not (counted('flushall') or counted('flushdb') or counted('swapdb'))
end
-- says returns the cause of a quarantine for an answer. A server becomes unused while time passes.
local function says(why)
  local now = why == 'new' and 'unused' or why == 'restarted' and 'idle'
  if now and unusednow == nil then unusednow = unused() end
  return now and unusednow and now or why or ''
end
local function quarantine(us, why)
  drop(guard, trust)
  call('HSET', admission, 'until', fmt('%016.0f', now + us), 'why', why)
  return 'Q' .. now .. fmt('%016.0f', us) .. challenge .. says(why)
end

local age = r[4] and now - r[4] or 0 -- the time since the last refresh, us
-- votes admits the node again. The expiry of the guard counts from the present clock. If the clock went back and is
-- later set right, the guard is gone too early. That looks as if no client had worked for an hour. So a clock that went
-- back by more than 2 W since the last refresh is a loss of memory.
local function votes()
  if age < -2 * @WINDOW@ then return lost('clock-back') end
  return ready()
end
local idle = age >= @GUARDMS@ * 1000
local known = r[1] == run
-- The replication id can change although no data was copied: when the first replica connects to a master, and one hour
-- after its last replica has left. (redis-cli --rdb also connects as a replica.) Both events clear the second
-- replication id. So if there is a second id, this server was a replica itself after the last such event, and its data
-- came from another server.
local promoted = string.find(field('master_replid2'), '[^0]') ~= nil
local copied = r[5] ~= replid and promoted
@ADOPT@
-- Another server may have been the master for a time, and may have granted locks of which this one knows nothing. Two
-- things tell that: Sentinel names this server under another epoch than the node has noted; or the client met another
-- master after the memory of this one began. (The other one is this server itself if it has restarted since.)
local renamed = epoch ~= '' and epoch ~= noted
local met = tonumber(ARGV[8] or '')
local left = renamed or met and ARGV[9] ~= r[1] and now - met > math.max(tonumber(r[11] or '') or 0, tonumber(r[12] or '') or 0)
if known and not spoilt and r[2] == config and not copied and not left and r[6] == evicted and there == config .. ' ' .. run then
  return votes()
end
-- The node has another configuration than the client. It refuses the client even after a restart that kept the data,
-- because leases under the other configuration may still be valid. It also refuses the client after a long time without
-- use. Otherwise a client with wrong settings could take over an idle node with a single look, and shut out the right
-- clients.
local voucher = @SHARDED@ and (forsaken or '') .. ' ' .. config or not @SHARDED@ and call('GET', trust)
if r[2] and r[2] ~= config then
  @MARK@
  if voucher ~= mark .. ' ' .. config then return 'M' .. mark .. r[2] end
  return lost('configuration', not @SHARDED@)
end
if not r[1] or not r[8] then return lost('new') end
if spoilt then
  if @SHARDED@ then call('HDEL', admission, 'came', 'apart', 'settled') end
  return lost('guard')
end
-- The client, or its Sentinels, have not heard of a later failover. Such a client changes nothing. But Sentinels that
-- lost their state count from 0 again.
if renamed and epoch < noted and ARGV[7] ~= 'F' then return 'Uepoch ' .. epoch .. ' ' .. noted end
if known and r[6] ~= evicted then return lost('evicted') end
if known and copied then return lost('copied') end
-- If the operator declares that nodes are durable, every write is on disk before its answer. Then the node forgot
-- nothing in a restart that kept its data. The exception is a promoted replica, which may lack writes of its old
-- master. Its second replication id is the replication id of that master.
local survived = known or @DURABLE@ and field('aof_enabled') == '1' and not promoted
-- A master that had replicas and restarted also has a second replication id. But only a server that was a replica since
-- its start has read bytes from a master.
if not survived then
  if promoted and (tonumber(field('total_net_repl_input_bytes')) or 0) > 0 then return lost('promoted') end
  return lost('restarted')
end
if left then return lost('named') end
if r[3] == '0' then
  -- The node voted when a client last asked it for admission. If its guard is missing now, there are three possible
  -- reasons. A leap of the clock deleted the guard, and perhaps locks. Or the server booted with a wrong clock. Or
  -- nobody used the node, and the guard expired. If the key `kept` still exists, the guard has only expired. A leap of
  -- the clock that deletes the record of a lock also deletes `kept`, because `kept` expires before the record of any
  -- lock that was granted under the guard. If nobody used the node for so long that `kept` has expired, too, all these
  -- locks have ended.
  --
  -- Redis also deletes expired keys at random times, so it may delete a record before the guard. In a restart this
  -- loses a lock only if the machine booted with a clock that was hours ahead. When that clock is set right, the
  -- uptime of the server is below -1 h for longer than a lease lasts.
  if not known and (tonumber(field('uptime_in_seconds')) or 0) < -3600 then
    return lost('boot-clock')
  end
  if there == config .. ' ' .. r[1] then return votes() end
  if idle and (call('GET', kept) == r[1] or age >= @KEPTMS@ * 1000) then return ready() end
  return lost('guard')
end
-- The node does not vote yet. If a restart has lost nothing, a quarantine from before the restart continues.
local rest, vouched = r[3] - now, voucher == challenge .. ' ' .. config
local full = noted ~= '' and @NAMED@ or @QUARANTINE@
local begins = rest > full -- the quarantine has not begun, or the clock went back since
-- Every node of the client's list was unused at one instant, and this one wrote its challenge before. So no lock was
-- alive then, and this node has forgotten nothing since.
if ARGV[5] == 'U' and ARGV[3] == challenge and says(r[7]) ~= (r[7] or '') then return ready() end
if rest > 0 and not begins and not (vouched and rest > @TRUSTED@) then
  return 'Q' .. now .. fmt('%016.0f', rest) .. challenge .. says(r[7])
end
if ARGV[3] ~= challenge then return asks() end
if rest <= 0 then return ready() end
if vouched then return quarantine(@TRUSTED@, 'vouched') end
return quarantine(full, r[3] == '@NEVER@' and r[7] or 'clock-back')
