-- evicted: a part of acquire, extend and release, in the place of @EVICTED@, where a name has no record: it was never
-- locked, its lock has long been over, or the server was made to evict keys and took this one. Of an idle lock it
-- takes the record and leaves the guard, which every call reads. So what has no record is not locked before
-- evicted_keys was found as admit left it; if it was not, this node votes no more until it is admitted anew.
-- Nothing is evicted while a script runs: calls that travel together ask once.
if evicted == nil then
  evicted = redis.pcall('HMGET', 'holdfast:node:admission', 'evicted')[1] ~= (string.match(call('INFO', 'stats'), '\nevicted_keys:(%d*)') or '')
  if evicted then call('DEL', 'holdfast:node') end
end
