-- handoff: a part of the scripts, in the place of @HANDOFF@. It reserves a free name for the first waiter of its queue by
-- a claim. Only an acquire of the claim's owner turns the claim into a grant. handoff skips a waiter without a
-- connection, because nobody hears the message.
--
-- If the first waiter is a reader, the readers directly behind it get claims, too, up to a bound. While readers have the
-- name (beside), only readers at the front get claims. A reader that takes its claim calls handoff again. So readers
-- beyond the bound need not wait until a claim expires.
--
-- The message begins with the highest token seen: the waiter's next stamp must exceed it. After the owner the message
-- names the lock, so that a client that cannot use the claim can decline it. handoff skips any entry of the queue that
-- is not an owner. Such an entry may contain a line break, and could then forge the name of the lock.
--
-- A lease that waits for its repair comes before all waiters. Its place in the queue is minus its token: see extend.
-- handoff skips it if a later lease may have been on this node.
--
-- above is the token that the waiter's next stamp must exceed. marked says that the record's flag has readers.
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
    local client = not over and #first <= @OWNER@ and string.match(first, '^[^~\n]*~([^~\n]*)~[^\n]*$')
    local heard = client and redis.pcall('PUBLISH', 'holdfast:inbox:' .. client, above .. first .. '\n' .. (plain and '1' or '0') .. key)
    if type(heard) == 'number' and heard > 0 then
      next = next or first
      local ends = string.format('%016.0f', now + @CLAIM@)
      if sub(first, -2) ~= '~r' then
        local flag = call('EXISTS', queue) + (marked and 2 or 0)
        call('SET', key, seen .. '0000000000000000' .. ends .. flag .. leased .. first, 'KEEPTTL')
        if plain then call('SET', plain, first, 'PX', '@CLAIMMS@') end
        return first
      end
      if not marked then
        call('DEL', hash)
        call('HSET', hash, 'seen', '00000000000000000000000000000000')
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
    local flag = call('EXISTS', queue) + 2
    if free then
      call('SET', key, seen .. '00000000000000000000000000000000' .. flag .. leased, 'KEEPTTL')
    else
      call('SETRANGE', key, '48', flag)
    end
  end
  return next
end
