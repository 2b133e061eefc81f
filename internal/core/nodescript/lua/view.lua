-- view: a part of inspect and look, in the place of @VIEW@. The function `view` returns the content of a name's keys
-- as text. It names at most `most` readers.
--
-- memory identifies the memory of the node. It changes after a loss of keys: a restart, FLUSHALL, or an eviction.
-- Reads: read
-- Sets: admission, call, field, gone, guard, info, memory, now, run, sub, t, view, votes
local call, sub = redis.call, string.sub
local guard = redis.pcall('GET', 'holdfast:node') -- before the record: see hello
local info = call('INFO', 'server') .. call('INFO', 'stats')
local function field(name) -- a plain search: a pattern would be tried at each byte of the 6 KB
  local _, colon = string.find(info, '\n' .. name .. ':', 1, true)
  return colon and string.match(info, '^[^\r\n]*', colon + 1) or ''
end
local run, gone = field('run_id'), field('evicted_keys')
local admission = redis.pcall('HMGET', 'holdfast:node:admission', 'evicted', 'since', 'id')
local votes = '-'
if type(guard) == 'string' and string.match(guard, ' ([^ ]*)$') == run and admission[1] == gone then
  votes = 'v'
end
local memory = table.concat({ run, gone, admission[2] or '', admission[3] or '' }, ' ')
local t = call('TIME')
local now = t[1] .. sub('00000' .. t[2], -6)
if #now ~= 16 then now = @CLAMP@ end
@READERS@
local function view(key, plainkey, most)
  local record = redis.pcall('GET', key) or ''
  if type(record) == 'table' then record = '?' end
  record = sub(record, 1, @LONGEST@ + 1)
  local plain, kind = redis.pcall('GET', plainkey), 's'
  if not plain then
    plain, kind = '', '-'
  elseif type(plain) == 'table' then
    plain, kind = '', 't'
  end
  local left = kind ~= '-' and call('PTTL', plainkey) or -1
  if left < 0 or left > 9e12 then left = '9999999999999999' else left = string.format('%016.0f', left * 1000) end
  local out = { now, kind, votes, left, string.format('%06d', #record), record, string.format('%03d', math.min(#plain, 256)), sub(plain, 1, 256) }
  local rseen, rleased, live = '0000000000000000', '0000000000000000', {}
  local flag = sub(record, 49, 49)
  if flag == '2' or flag == '3' then
    local ok, no, seen, leased, _, list = pcall(read, key .. ':readers')
    if ok and not no then
      rseen, rleased, live = seen, leased, list
    elseif not ok or no == 'C' then
      rseen = 'CCCCCCCCCCCCCCCC'
    end
  end
  out[#out + 1] = rseen .. rleased .. string.format('%06d', math.min(#live, 999999))
  for i = 1, math.min(#live, most) do
    out[#out + 1] = string.format('%03d', #live[i][1]) .. live[i][2] .. live[i][3] .. live[i][1]
  end
  return table.concat(out)
end
