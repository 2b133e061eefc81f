-- handoff: a part of the scripts, in the place of @HANDOFF@. It reserves a free name for the first waiter in the
-- queue: the waiter gets a claim. Only an acquire by the owner of the claim turns the claim into a grant. If nobody
-- listens to the channel of a waiter, its client is gone, and handoff removes that waiter.
--
-- If the first waiter is a reader, the readers directly behind it get claims, too, up to a limit. If readers have the
-- name (beside), only readers at the front of the queue get claims. A reader that acquires with its claim calls
-- handoff again, so readers beyond the limit get their claims soon.
--
-- The message begins with the highest token that the node has seen, because the waiter's next stamp must be higher.
-- After the owner the message names the lock, so that a client that cannot use the claim can decline it. handoff skips
-- each entry of the queue that is not an owner. Such an entry may contain a line break, and could make the message
-- name another lock.
--
-- A lease that waits for its repair comes before all waiters, because its place in the queue is minus its token: see
-- wanted.lua. handoff skips it if this node may have had a later lease.
--
-- above is the token that the waiter's next stamp must exceed. marked says that the flag of the record says that there
-- are readers.
-- Reads: call, key, now, plain, sub
-- Sets: handoff
local function handoff(seen, leased, above, marked, beside)
  local queue, hash, next, given, free = key .. ':queue', key .. ':readers', nil, 0, not beside
  if marked then
    local ok = redis.pcall('HMGET', hash, 'seen')
    if ok.err or not ok[1] or #ok[1] ~= 32 then return end -- the next acquire says what is wrong
  end
  while given < @BATCH@ do
    if beside then
      local front = redis.pcall('ZRANGE', queue, 0, 0)[1]
      if not front or sub(front, -2) ~= '~r' then break end
    end
    local popped = redis.pcall('ZPOPMIN', queue)
    local first, place = popped[1], popped[2] -- false if the key has another type: nobody waits
    if not first then break end
    local over = sub(place, 1, 1) == '-' and string.format('%016.0f', -place) < leased
    -- No reader gets a claim if the key of their hash has another type, or if it is missing in a hash slot that is being
    -- moved.
    local stale = not marked and sub(first, -2) == '~r' and redis.pcall('HGETALL', hash)
    local client = not over and not (stale and stale.err) and #first <= @OWNER@ and string.match(first, '^[^~\n]*~([^~\n]*)~[^\n]*$')
    local heard = client and redis.pcall('PUBLISH', 'holdfast:inbox:' .. client, above .. first .. '\n' .. (plain and '1' or '0') .. key)
    if type(heard) == 'number' and heard > 0 then
      next = next or first
      local ends = string.format('%016.0f', now + @CLAIM@)
      if sub(first, -2) ~= '~r' then
        local flag = (redis.pcall('EXISTS', queue) == 1 and 1 or 0) + (marked and 2 or 0)
        call('SET', key, seen .. '0000000000000000' .. ends .. flag .. leased .. first, 'KEEPTTL')
        if plain then call('SET', plain, first, 'PX', '@CLAIMMS@') end
        return first
      end
      if not marked then
        call('HSET', hash, 'seen', '00000000000000000000000000000000')
        for i = 1, #stale, 2 do -- somebody has deleted only the record
          if stale[i] ~= 'seen' then call('HDEL', hash, stale[i]) end
        end
        call('PEXPIRE', hash, '@STAYMS@')
        marked = true
      end
      local had = call('HMGET', hash, 'seen', first)
      local T = had[2] and #had[2] == 32 and not string.find(had[2], '%D') and sub(had[2], 1, 16) or '0000000000000000'
      if T == '0000000000000000' or now >= sub(had[2], 17) then -- a partial grant is worth more than a claim
        if T > sub(had[1], 17) then call('HSET', hash, 'seen', sub(had[1], 1, 16) .. T) end
        call('HSET', hash, first, '0000000000000000' .. ends)
      end
      if plain and free and given == 0 then
        call('SET', plain, '@MARKER@', 'PX', '@CLAIMMS@')
      elseif plain then
        call('PEXPIRE', plain, '@CLAIMMS@', 'GT')
      end
      given, beside = given + 1, true
    end
  end
  if next then
    local flag = redis.pcall('EXISTS', queue) == 1 and 3 or 2
    if free then
      call('SET', key, seen .. '00000000000000000000000000000000' .. flag .. leased, 'KEEPTTL')
    else
      call('SETRANGE', key, '48', flag)
    end
  end
  return next
end
