-- release: frees the lock of a field, whatever its reentrant count is, and wakes the waiters of all kinds of locks. It
-- removes nothing that another field has.
-- KEYS  1 NAME  2 the latch of this attempt  3 the start of the reader's keys  4 the queue of RFairLock
--       5 the times at which the waiters in this queue give up
-- ARGV  1 field  2 PUBLISH or SPUBLISH  3 channel of RLock  4 channel of RReadWriteLock
--       5 the time in ms for which the latch stays, 0 for no latch  6 mode: read | write  7 the client's clock in ms
--       8 the start of all readers' keys
-- Returns  R: released | L: the field did not have the lock
local call = redis.call
if ARGV[5] ~= '0' then call('SET', KEYS[2], '1', 'PX', ARGV[5]) end
if ARGV[6] == 'read' then
  local i = 1
  while call('DEL', KEYS[3] .. ':' .. i) == 1 do i = i + 1 end
end
if call('TYPE', KEYS[1]).ok ~= 'hash' or call('HDEL', KEYS[1], ARGV[1]) == 0 then return 'L' end
local mode = call('HGET', KEYS[1], 'mode')
if call('HLEN', KEYS[1]) > (mode and 1 or 0) then -- others have it
  if mode ~= 'read' then return 'R' end
  -- As the unlock of a reader of Java: the lock lasts as long as the reader with the most time left. Without such a reader
  -- the others are dead, and nobody has the lock.
  -- Any program may have written this hash. More than 10,000 questions would stop the server for too long. The lock then
  -- keeps its time.
  if call('HLEN', KEYS[1]) > 10000 then return 'R' end
  local last, asked, all = 0, 0, call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    for k = math.min(tonumber(all[i + 1]) or 0, 1000), 1, -1 do
      asked = asked + 1
      if asked > 10000 then return 'R' end
      last = math.max(last, call('PTTL', ARGV[8] .. ':' .. all[i] .. ':rwlock_timeout:' .. k))
    end
  end
  if last > 0 then
    call('PEXPIRE', KEYS[1], last)
    return 'R'
  end
end
call('DEL', KEYS[1])
call(ARGV[2], ARGV[3], '0')
call(ARGV[2], ARGV[4], ARGV[6] == 'read' and '0' or '1') -- 1 wakes all waiters of a Java process, because readers may share
-- RFairLock wakes the first waiter of its queue, after those whose time is over. Each has a channel of its own.
local queue = redis.pcall('LRANGE', KEYS[4], 0, 99)
for _, waiter in ipairs(queue) do
  call(ARGV[2], ARGV[3] .. ':' .. waiter, '0')
  local over = redis.pcall('ZSCORE', KEYS[5], waiter)
  if type(over) ~= 'string' or tonumber(over) > tonumber(ARGV[7]) then break end
end
return 'R'
