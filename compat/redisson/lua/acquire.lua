-- acquire: takes the lock if nobody has it. It does what the tryLock of RLock and RFencedLock does, and one thing more:
-- it obeys the latch that a cancelled attempt leaves.
-- KEYS  1 NAME  2 the fencing token of RFencedLock  3 the latch of this attempt
-- ARGV  1 field  2 TTL in ms  3 token: never | present | always
-- Returns  G and the token: granted (no digits: the name has no token)
--          H ttl count mode LF field: held; ttl is -1 if the key never expires; mode is - unless a read-write lock
--          K type ttl LF value: the key is of another kind; value is the start of a string
--          C: this attempt was cancelled before the request came
local call = redis.call
if call('EXISTS', KEYS[3]) == 1 then return 'C' end
local type = call('TYPE', KEYS[1]).ok
if type == 'none' then
  local token = ''
  -- INCR comes first, because it fails if that key is no number. Then nothing is locked.
  if ARGV[3] == 'always' or (ARGV[3] == 'present' and call('EXISTS', KEYS[2]) == 1) then
    token = string.format('%.0f', call('INCR', KEYS[2]))
  end
  call('HSET', KEYS[1], ARGV[1], 1)
  call('PEXPIRE', KEYS[1], ARGV[2])
  return 'G' .. token
end
local left = call('PTTL', KEYS[1])
if type ~= 'hash' then
  local value = ''
  if type == 'string' then value = call('GETRANGE', KEYS[1], 0, 127) end
  return 'K' .. type .. ' ' .. string.format('%.0f', left) .. '\n' .. value
end
local mode, field, count = '-', '', '0'
if call('HLEN', KEYS[1]) <= 64 then -- a read-write lock may have thousands of readers
  local all = call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    -- Any program may have written this hash. So its contents must not look like other words of the answer.
    if all[i] == 'mode' then mode = string.match(all[i + 1], '^%a+$') or '?'
    else field, count = string.sub(all[i], 1, 256), string.match(all[i + 1], '^%d+$') or '0' end
  end
end
return 'H' .. string.format('%.0f', left) .. ' ' .. count .. ' ' .. mode .. '\n' .. field
