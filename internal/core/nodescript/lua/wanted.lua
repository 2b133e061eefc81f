-- wanted: a part of extend and extend-shared, in the place of @WANTED@. It runs if other owners have partial grants on
-- this node, so that the node cannot store the caller's lease. If the caller may still rely on its lease, the lease
-- gets a place in the queue, and the other owners get a message. When the last of them has given its grant back, the
-- name goes to this lease before any waiter. The place is minus the token of the lease. Tickets are positive, so this
-- place comes first. A claim is not a grant, so the lease replaces a claim at once.
-- Reads: T, call, flag, key, last, leased, now, others, owner, plain
-- Sets: queue
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
