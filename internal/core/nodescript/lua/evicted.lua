-- evicted: a part of acquire, extend and release, in the place of @EVICTED@. It runs if a name has no record. There
-- are three possible reasons: the name was never locked, its lock ended long ago, or the server evicted the record.
--
-- Redis evicts first the keys that nobody reads, and every call reads the guard. So an eviction can remove the record
-- of an idle lock and leave the guard. Without this check, the node could then grant a lock that somebody holds. So a
-- name without a record is granted only if evicted_keys has the same value as in the last admission. Otherwise the
-- node stops voting until a client has it admitted again.
--
-- Redis evicts nothing while a script runs. So the calls in one script call check this only once.
-- Reads: call, evicted
-- Sets: evicted
if evicted == nil then
  local noted = redis.pcall('HMGET', 'holdfast:node:admission', 'evicted')
  if noted['err'] and not string.find(noted['err'], 'WRONGTYPE', 1, true) then
    call('HMGET', 'holdfast:node:admission', 'evicted') -- fails: the hash slot is being moved, and the admission has left
  end
  evicted = noted[1] ~= (string.match(call('INFO', 'stats'), '\nevicted_keys:(%d*)') or '')
  if evicted then call('DEL', 'holdfast:node') end
end
