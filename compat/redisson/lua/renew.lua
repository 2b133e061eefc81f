-- renew: extends the lock of a field, and never shortens it. It also writes the reentrant count. If a request was lost
-- and the count is wrong, the next request makes it right.
-- KEYS  1 NAME  2 the start of the reader's keys
-- ARGV  1 field  2 TTL in ms  3 count  4 mode: read | write
-- Returns  R: renewed | L: the field does not have the lock
local call = redis.call
if call('TYPE', KEYS[1]).ok ~= 'hash' or call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'L' end
if call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
local function keep(key)
  if call('PTTL', key) < tonumber(ARGV[2]) then call('PEXPIRE', key, ARGV[2]) end
end
if ARGV[4] == 'read' then -- a key for each count, as a reader of Java has
  local i = 1
  while i <= tonumber(ARGV[3]) do
    local key = KEYS[2] .. ':' .. i
    call('SET', key, 1, 'NX', 'PX', ARGV[2])
    keep(key)
    i = i + 1
  end
  while call('DEL', KEYS[2] .. ':' .. i) == 1 do i = i + 1 end
end
keep(KEYS[1])
return 'R'
