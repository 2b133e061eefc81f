-- hello: returns the incarnation (run id) and the id of this server, and the time of its clock.
-- Returns time run_id \n version \n id | the error NOINFO: some managed services have renamed INFO
-- The id belongs to the server and its data. It is '' before the first admission.
--
-- Every script reads the guard before it reads a record. Redis deletes an expired key when a script reads it. The
-- guard expires before any record. So if a leap of the clock has deleted a record, the same leap has also deleted the
-- guard, and the script finds that the node does not vote.
redis.pcall('EXISTS', 'holdfast:node') -- Redis Cluster refuses this; admit reports it
local info = redis.pcall('INFO', 'server')
if info['err'] then
  if string.find(info['err'], 'nknown') then return redis.error_reply('@NOINFO@') end
  return info
end
local t = redis.call('TIME')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') end
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
return now .. (field('run_id') or '') .. '\n'
  .. (field('valkey_version') and 'Valkey ' .. field('valkey_version') or 'Redis ' .. (field('redis_version') or '?'))
  .. '\n' .. (redis.pcall('HMGET', 'holdfast:node:admission', 'id')[1] or '')
