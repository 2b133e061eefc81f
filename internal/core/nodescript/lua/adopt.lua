-- adopt: a part of admit, in the place of @ADOPT@, for a shard of a Redis Cluster. A slot that has come from another shard
-- has the guard of the server there. Its records are complete if that server has kept its memory until now, because the
-- slot has left it since. So the client asks that server, and this one admits the slot with its answer. A server that
-- was a replica of that one got the slot in another way: it may lack the last writes.
--
-- The leases end by this server's clock from now on, so both clocks must agree. A quarantine goes on here for its rest.
-- ARGV  5 '' if the client knows nothing: the answer is F, and names the other server; or
--         P, and its run id, replication id, evicted_keys, 1 if it was a replica itself (else 0), its time; or
--         X: no master of the cluster is that server
-- Reads: admission, age, call, config, evicted, field, fmt, guard, idle, kept, known, now, r, ready, replid, run,
--   there, trust
-- Sets: copied, from, known, voted
local from, voted = r[1], r[3] == '0'
if from and not known and r[2] == config and (there == config .. ' ' .. from or not voted
  or not there and idle and (call('GET', kept) == from or age >= @KEPTMS@ * 1000)) then
  if ARGV[5] == '' then return 'F' .. now .. from end
  local their, data, gone, copy, at = string.match(ARGV[5], '^P(%S+) (%S+) (%d*) (%d) (%d+)$')
  local mine = field('master_replid2')
  if their == from and (data == r[5] or copy == '0') and gone == r[6] and mine ~= data and mine ~= r[5]
    and math.abs(now - at) <= 2 * @WINDOW@ then
    if voted then
      local said = ready()
      call('HSET', admission, 'came', now) -- another master that the client met here before does not matter
      return said
    end
    call('DEL', guard, trust) -- first: see lost
    known, copied, r[5], r[6], r[12] = true, false, replid, evicted, now
    if r[3] ~= '@NEVER@' then r[3] = fmt('%016.0f', now + math.min(r[3] - at + @WINDOW@, @NAMED@)) end
    call('HSET', admission, 'run', run, 'replid', replid, 'evicted', evicted, 'until', r[3],
      'came', now)
  end
end
