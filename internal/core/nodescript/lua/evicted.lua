-- evicted: a part of acquire, extend and release, in the place of @EVICTED@. It runs where a name has no record. Either
-- the name was never locked, or its lock ended long ago, or the server was set to evict keys and evicted the record.
--
-- Redis first evicts keys that nobody reads, and every call reads the guard. So an eviction can remove the record of an
-- idle lock and leave the guard. Therefore a name without a record is locked only if evicted_keys still has the value
-- that admit found. Otherwise the node stops voting until it is admitted again.
--
-- No eviction happens while a script runs. So calls that travel together check this once.
if evicted == nil then
  evicted = redis.pcall('HMGET', 'holdfast:node:admission', 'evicted')[1] ~= (string.match(call('INFO', 'stats'), '\nevicted_keys:(%d*)') or '')
  if evicted then call('DEL', 'holdfast:node') end
end
