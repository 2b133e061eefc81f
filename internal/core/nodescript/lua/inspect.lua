-- inspect: answers the content of a name's keys on this node. It only reads. Clients send it as text.
-- KEYS  1 record  2 plain key
-- Returns time kind pttl record-length(6) record plain; kind is - none, s string, or t another type
local call = redis.call
call('EXISTS', 'holdfast:node') -- see hello
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
return now .. kind .. left
  .. string.format('%06d', #record) .. record .. string.sub(plain, 1, 256)
