-- adopt: a part of admit, in the place of @ADOPT@, for a shard of a Redis Cluster. A slot that has come from another shard
-- has the guard of the server there. Its records are complete if that server has kept its memory until now, because the
-- slot has left it since. So the client asks that server, and this one admits the slot with its answer. A server that
-- was a replica of that one got the slot in another way: it may lack the last writes.
--
-- What this server itself may have forgotten since the slot came is another matter. It may have lost writes by a restart
-- or a promotion less than a quarantine ago, or only a part of the keys may have come. So for the time of a quarantine the
-- scripts grant no name without a record, and no name at all if this server cannot show that it is settled: it never was
-- a replica, and started without data or longer ago than that. See arrived.lua. Leases are renewed meanwhile. If the slot
-- came less than a quarantine ago to a server that was not settled, and moves on, it takes along what that one lost.
--
-- A server that was a replica is settled, too, if it has been the master for a quarantine. The admission of any other slot
-- shows it, if this incarnation wrote it long ago with the present replication id and count of bytes: see
-- docs/design/proofs.md.
--
-- The leases end by this server's clock from now on, so both clocks must agree. The differences of several moves add up.
-- This clock is ahead of the other one by `ahead` at most: time passes on the way, and the client knows only a part of it.
-- So clocks that seem too far apart may agree. The answer is then F again, with the sum of the differences at the moves
-- before, and the client asks for another proof. It stops when it knows that the clocks differ too much.
-- A quarantine goes on here for its rest. A sweep brings no proof: it only ends the guards of a server that is gone.
-- ARGV  5 '' if the client knows nothing: the answer is F, and names the other server; or
--         P, and its run id, replication id, evicted_keys, 1 if it was a replica itself (else 0), its time, the us that
--         have passed since then at least, the most for `ahead` this time, and the tags of some other slots of this
--         server; or
--         X: no master of the cluster is that server
-- Reads: admission, age, call, config, copies, drop, evicted, field, fmt, forsaken, guard, idle, kept, known, now,
--   promoted, r, ready, replid, run, spoilt, there, trust
-- Sets: copied, fed, from, known, voted
local from, voted, fed = r[1], r[3] == '0', field('total_net_repl_input_bytes') ~= '0'
-- repl-backlog-ttl clears the second replication id. A master that was a replica before its admission has read no more
-- bytes from a master since.
if known and r[5] ~= replid and fed and r[14] ~= copies[2] then copied = true end
if from and not known and not spoilt and r[2] == config and (there == config .. ' ' .. from or not voted
  or not there and idle and (call('GET', kept) == from or age >= @KEPTMS@ * 1000)) then
  if KEYS[1] and ARGV[5] == '' or not KEYS[1] and from ~= forsaken then return 'F' .. now .. from end
  local their, data, gone, copy, at, passed, most, others = string.match(ARGV[5], '^P(%S+) (%S+) (%d*) (%d) (%d+) (%d+) (%d+)(.*)$')
  local mine, ahead, before = field('master_replid2'), at and now - at - passed or 0, 0
  local lately = r[12] and now - r[12] < @NAMED@ + 2 * @WINDOW@ -- by the clock there
  if lately then before = tonumber(r[13] or '') or 0 end
  if their == from and (data == r[5] or copy == '0') and gone == r[6] and mine ~= data and mine ~= r[5]
    and before - ahead <= 2 * @WINDOW@ then
    if before + ahead > 2 * @WINDOW@ or ahead > most + 0 or passed + 0 > @WINDOW@ then
      return 'F' .. now .. from .. ' ' .. fmt('%.0f', before)
    end
    local settled = not fed and not promoted and (field('rdb_last_load_keys_loaded') == '0' and field('aof_enabled') == '0'
      or (tonumber(field('uptime_in_seconds')) or 0) * 1000000 > @NAMED@ + 1000000)
    for tag in string.gmatch(others, '%S+') do
      local o = redis.pcall('HMGET', 'holdfast:node{' .. tag .. '}:admission', 'run', 'replid', 'fed', 'since', 'came')
      local reigns = o[1] == run and o[2] == replid and o[3] == copies[2]
        and now - math.max(tonumber(o[4] or '') or now, tonumber(o[5] or '') or 0) > @NAMED@
      settled = settled or reigns
    end
    settled = settled and not (lately and r[15] ~= '1')
    local came = { 'came', now, 'apart', fmt('%.0f', before + math.abs(ahead)), 'settled', settled and '1' or '0' }
    if voted then
      local said = ready()
      call('HSET', admission, unpack(came)) -- another master that the client met here before does not matter
      return said
    end
    drop(guard, trust) -- first: see lost
    known, copied, r[5], r[6], r[12] = true, false, replid, evicted, now
    if r[3] ~= '@NEVER@' then r[3] = fmt('%016.0f', now + math.min(r[3] - at + @WINDOW@, @NAMED@)) end
    call('HSET', admission, 'run', run, 'replid', replid, 'evicted', evicted, 'until', r[3],
      'fed', copies[2], unpack(came))
  end
end
