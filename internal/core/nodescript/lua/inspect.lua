-- inspect: answers the content of a name's keys on this node. It only reads. Clients send the whole text (EVAL),
-- because inspect is not loaded.
-- KEYS  1 record  2 plain key
-- Returns time kind votes pttl record-length(6) record plain
-- kind is - none, s string, or t another type. votes is v if the node votes, whatever its configuration, else -. A node
-- that does not vote may have forgotten the name. A node that evicted keys since its admission counts as one that does
-- not vote: see evicted.
local call = redis.call
local guard = redis.pcall('GET', 'holdfast:node') -- before the record: see hello
local info = call('INFO', 'server') .. call('INFO', 'stats')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local votes = '-'
if type(guard) == 'string' and string.match(guard, ' ([^ ]*)$') == field('run_id')
  and redis.pcall('HMGET', 'holdfast:node:admission', 'evicted')[1] == field('evicted_keys') then
  votes = 'v'
end
local t = call('TIME')
local now = t[1] .. string.sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
local record = redis.pcall('GET', KEYS[1]) or ''
if type(record) == 'table' then record = '?' end
record = string.sub(record, 1, @LONGEST@ + 1)
local plain, kind = redis.pcall('GET', KEYS[2]), 's'
if not plain then
  plain, kind = '', '-'
elseif type(plain) == 'table' then
  plain, kind = '', 't'
end
local left = call('PTTL', KEYS[2])
if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
return now .. kind .. votes .. left
  .. string.format('%06d', #record) .. record .. string.sub(plain, 1, 256)
