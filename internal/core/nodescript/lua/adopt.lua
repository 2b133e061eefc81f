-- adopt: a part of admit, in the place of @ADOPT@, for a shard of a Redis Cluster. A slot that has come from another shard
-- has the guard of the server there. Its records are complete if that server has kept its memory until now, because the
-- slot has left it since. So the client asks that server, and this one admits the slot with its answer. A server that
-- was a replica of that one got the slot in another way: it may lack the last writes.
--
-- The leases end by this server's clock from now on, so both clocks must agree.
-- ARGV  5 '' if the client knows nothing: the answer is F, and names the other server; or
--         P, and its run id, replication id, evicted_keys, 1 if it was a replica itself (else 0), its time; or
--         X: no master of the cluster is that server
-- Reads: age, call, config, field, idle, kept, known, now, r, ready, there
-- Sets: from
local from = r[1]
if from and not known and r[2] == config and r[3] == '0' and (there == config .. ' ' .. from
  or not there and idle and (call('GET', kept) == from or age >= @KEPTMS@ * 1000)) then
  if ARGV[5] == '' then return 'F' .. now .. from end
  local their, data, gone, copy, at = string.match(ARGV[5], '^P(%S+) (%S+) (%d*) (%d) (%d+)$')
  local mine = field('master_replid2')
  if their == from and (data == r[5] or copy == '0') and gone == r[6] and mine ~= data and mine ~= r[5]
    and math.abs(now - at) <= 2 * @WINDOW@ then
    return ready()
  end
end
