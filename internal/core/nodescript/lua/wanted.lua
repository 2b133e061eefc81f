-- wanted: a part of extend and extend-shared, in the place of @WANTED@. Others have partial grants where the caller's
-- lease belongs, as long as the caller may still rely on it. When the last of them is given back, the name goes to this
-- lease before any waiter. Its place in the queue is its token below zero. No ticket is negative. The others hear of it.
-- A claim is no grant and gives way at once.
local queue = key .. ':queue'
if leased <= T and now <= last and type(redis.pcall('ZADD', queue, '-' .. T, owner)) == 'number' then
  call('PEXPIRE', queue, '@QUEUEMS@')
  if flag == '0' or flag == '2' then call('SETRANGE', key, '48', flag + 1) end
  for i = 1, math.min(#others, @BATCH@) do
    local has, at = others[i][1], others[i][2]
    local client = at ~= '0000000000000000' and #has <= @OWNER@ and string.match(has, '^[^~\n]*~([^~\n]*)~[^\n]*$')
    if client then redis.pcall('PUBLISH', 'holdfast:inbox:' .. client, at .. has .. '\n' .. (plain and '3' or '2') .. key) end
  end
end
return 'Ll' .. others[1][1]
