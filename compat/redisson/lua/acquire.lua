-- acquire: takes the lock if nobody has it, or, as a reader, if only readers have it. It does what the tryLock of
-- RLock, RFencedLock and RReadWriteLock do, and two things more: it obeys the latch that a cancelled attempt leaves,
-- and it always writes the field mode. Without this field, the scripts of RReadWriteLock take a held lock. KEYS  1 NAME
--  2 the fencing token of RFencedLock  3 the latch of this attempt  4 the start of the reader's keys ARGV  1 field  2
-- TTL in ms  3 token: never | present | always  4 mode: read | write Returns  G and the token: granted (no digits: the
-- name has no token)
--          H ttl count mode LF field: held; ttl is -1 if the key never expires; mode is - if the hash has none
--          K type ttl LF value: the key is of another kind; value is the start of a string
--          C: this attempt was cancelled before the request came
local call = redis.call
if call('EXISTS', KEYS[3]) == 1 then return 'C' end
local type, mode = call('TYPE', KEYS[1]).ok, false
if type == 'hash' then
  mode = call('HGET', KEYS[1], 'mode')
  -- Nobody holds a hash that has only a mode. A lease without a mode leaves it behind when RReadWriteLock came beside it.
  if mode and call('HLEN', KEYS[1]) == 1 then
    call('DEL', KEYS[1])
    type, mode = 'none', false
  end
end
if type == 'none' or (mode == 'read' and ARGV[4] == 'read') then
  local token = ''
  -- INCR comes first, because it fails if that key is no number. Then nothing is locked.
  if ARGV[3] == 'always' or (ARGV[3] == 'present' and call('EXISTS', KEYS[2]) == 1) then
    token = string.format('%.0f', call('INCR', KEYS[2]))
  end
  call('HSET', KEYS[1], 'mode', ARGV[4], ARGV[1], 1)
  if ARGV[4] == 'read' then call('SET', KEYS[4] .. ':1', 1, 'PX', ARGV[2]) end
  if type == 'none' or call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 'G' .. token
end
local left = call('PTTL', KEYS[1])
if type ~= 'hash' then
  local value = ''
  if type == 'string' then value = call('GETRANGE', KEYS[1], 0, 127) end
  return 'K' .. type .. ' ' .. string.format('%.0f', left) .. '\n' .. value
end
-- Any program may have written this hash. So its contents must not look like other words of the answer.
mode = mode and (string.match(mode, '^%a+$') or '?') or '-'
local field, count = '', '0'
if call('HLEN', KEYS[1]) <= 64 then -- a read-write lock may have thousands of readers
  local all = call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    if all[i] ~= 'mode' then
      field, count = string.sub(all[i], 1, 256), string.match(all[i + 1], '^%d+$') or '0'
    end
  end
end
return 'H' .. string.format('%.0f', left) .. ' ' .. count .. ' ' .. mode .. '\n' .. field
