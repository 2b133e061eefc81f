-- hello: which incarnation of which server is this, and what does its clock say?
-- Returns time run_id \n version \n id: of the server and what it keeps; '' before its first admission
-- Whatever a client sends reads the guard before a record: what is over by a clock that leapt is deleted
-- when it is read, and the guard must not outlive a record.
redis.pcall('EXISTS', 'holdfast:node') -- refused in Redis Cluster, of which admit tells
local info = redis.call('INFO', 'server')
local t = redis.call('TIME')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') end
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
return now .. (field('run_id') or '') .. '\n'
  .. (field('valkey_version') and 'Valkey ' .. field('valkey_version') or 'Redis ' .. (field('redis_version') or '?'))
  .. '\n' .. (redis.pcall('HMGET', 'holdfast:node:admission', 'id')[1] or '')
