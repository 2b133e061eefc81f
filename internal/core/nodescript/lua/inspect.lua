-- inspect: answers the content of a name's keys on this node. It only reads. Clients send the whole text (EVAL),
-- because inspect is not loaded.
-- KEYS  1 record  2 plain key
-- Returns time kind votes pttl record-length(6) record plain-length(3) plain rseen rleased number(6) readers
-- A number in parentheses is the length of a field in characters.
-- A reader is owner-length(3) T expiry owner; at most @LISTED@ of the number, the lowest T first. If the readers are
-- corrupt, rseen consists of C.
-- kind is - none, s string, or t another type. votes is v if the node votes, whatever its configuration, else -. A node
-- that does not vote may have forgotten the name. A node that evicted keys since its admission counts as one that does
-- not vote: see evicted.
local call, sub = redis.call, string.sub
local guard = redis.pcall('GET', 'holdfast:node') -- before the record: see hello
local info = call('INFO', 'server') .. call('INFO', 'stats')
local function field(name) return string.match(info, '\n' .. name .. ':([^\r\n]*)') or '' end
local votes = '-'
if type(guard) == 'string' and string.match(guard, ' ([^ ]*)$') == field('run_id')
  and redis.pcall('HMGET', 'holdfast:node:admission', 'evicted')[1] == field('evicted_keys') then
  votes = 'v'
end
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
local record = redis.pcall('GET', KEYS[1]) or ''
if type(record) == 'table' then record = '?' end
record = sub(record, 1, @LONGEST@ + 1)
local plain, kind = redis.pcall('GET', KEYS[2]), 's'
if not plain then
  plain, kind = '', '-'
elseif type(plain) == 'table' then
  plain, kind = '', 't'
end
local left = call('PTTL', KEYS[2])
if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
@READERS@
local out = { now, kind, votes, left, string.format('%06d', #record), record, string.format('%03d', math.min(#plain, 256)), sub(plain, 1, 256) }
local flag = sub(record, 49, 49)
local ok, no, rseen, rleased, _, live = pcall(read, KEYS[1] .. ':readers')
local shared = flag == '2' or flag == '3'
if not ok or no or not shared then
  rseen, rleased, live = '0000000000000000', '0000000000000000', {}
  if shared and (not ok or no == 'C') then rseen = 'CCCCCCCCCCCCCCCC' end
end
out[#out + 1] = rseen .. rleased .. string.format('%06d', math.min(#live, 999999))
for i = 1, math.min(#live, @LISTED@) do
  out[#out + 1] = string.format('%03d', #live[i][1]) .. live[i][2] .. live[i][3] .. live[i][1]
end
return table.concat(out)
